"""The allowed outcomes of an attack: a result, or an error that says what is wrong."""

import linecache
import re
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import auctor
from auctor.estimators.registry import LEARNERS

_PACKAGE = str(Path(auctor.__file__).parent)
# scikit-learn's own checks of parameters and labels are as good as ours.
_CHECKS = ("sklearn/utils/validation.py", "sklearn/utils/_param_validation.py")
_PARAMETERS = {name for learner in LEARNERS.values() for name in learner().get_params()}
_NAMED = re.compile(
    r"\b(X|y|columns?|labels?|class(es)?|rows?|sample_weight|y_score|y_true|target|Complex data|"
    rf"{'|'.join(sorted(_PARAMETERS))})\b"
)


class RefusedError(Exception):
    """The call was refused with an error that names what is wrong."""


def call(what: str, function: Callable[[], Any]) -> Any:
    """The result of a call; RefusedError after a clear error, AssertionError after any other."""
    try:
        with strict():
            return function()
    except (ValueError, TypeError) as error:
        complaint = unclear(error)
        if complaint is None:
            raise RefusedError(str(error)) from None
        raise AssertionError(f"{what}: {complaint}\n{_shown(error)}") from error
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # a panic of a Rust library is no Exception
        raise AssertionError(f"{what}: {type(error).__name__}\n{_shown(error)}") from error


def unclear(error: Exception) -> str | None:
    """Why a user would not understand an error; None if they would."""
    text = str(error)
    frame = traceback.extract_tb(error.__traceback__)[-1]
    if any(frame.filename.endswith(path) for path in _CHECKS):
        return None
    if not frame.filename.startswith(_PACKAGE):
        return "the error comes from another library"
    # Errors raised on purpose come from a line with `raise`; all others are accidents.
    if not linecache.getline(frame.filename, frame.lineno or 0).lstrip().startswith("raise"):
        return "the error was not raised on purpose"
    if not _NAMED.search(text):
        return "the error does not name what is wrong"
    return None


@contextmanager
def strict() -> Iterator[None]:
    """Turn warnings about arithmetic into errors; warnings for the user are ignored."""
    with warnings.catch_warnings(), np.errstate(all="warn", under="ignore"):
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("error", DeprecationWarning)
        yield


def _shown(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)[-6:])
