"""Errors of the command line: which ones are printed as one line, and in which words."""

import os
from collections.abc import Iterable
from difflib import get_close_matches

from auctor._text import first_few
from auctor._text import one_line as in_one_line

# An error can quote a row of a table, which may be very long.
_LONGEST = 600


class UsageError(Exception):
    """Wrong usage that was noticed only after parsing; the exit code is 2."""


def is_expected(error: BaseException) -> bool:
    """Whether the user's files and options can cause the error, so that it is not a bug.

    If the environment variable AUCTOR_DEBUG is set, every error keeps its traceback.
    """
    if os.environ.get("AUCTOR_DEBUG"):
        return False
    # pyarrow's errors are recognised by their module: main does not import pyarrow.
    from_arrow = any(kind.__module__.startswith("pyarrow") for kind in type(error).__mro__)
    return from_arrow or isinstance(error, (ValueError, TypeError, OSError))


def one_line(error: BaseException) -> str:
    """The message of an error on one line, after the name of its file if there is one."""
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        text = f"{error.filename}: {error.strerror}"
    text = in_one_line(text) or type(error).__name__
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of an error about an unknown name: the most similar known name, or all of them."""
    names = list(known)
    near = get_close_matches(name.casefold(), names, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(sorted(names))}"


def missing_column(name: str, known: Iterable[str], where: str) -> ValueError:
    """The error for a column that the table does not have, with the most similar one."""
    names = list(known)
    # Upper and lower case are confused most often, so that they are ignored here.
    by_folded = {other.casefold(): other for other in names}
    near = get_close_matches(name.casefold(), by_folded, n=1)
    if near:
        return ValueError(f"{where} has no column {name!r}; did you mean {by_folded[near[0]]!r}?")
    return ValueError(f"{where} has no column {name!r}; it has {first_few(names, 8)}")
