"""When rows were observed: numbers, dates, or texts that sort in the order of time."""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._text import count
from auctor._typing import Ints

_SORTED_TEXT = re.compile(r"\d{4}([-/.]?\d{2}){0,2}([T ].*)?|\d{4}-?[QWHM]\d{1,2}", re.IGNORECASE)
_WHAT_TO_GIVE = "give numbers, or dates such as 2024-01-31"


def read_moments(values: npt.NDArray[Any], name: str) -> tuple[npt.NDArray[Any], Ints]:
    """The different times in order, and the index of each row's among them.

    ``name`` is what errors call the values. Texts must sort in the order of time.
    """
    n_missing = int(np.count_nonzero(values != values))  # NaN and NaT differ from themselves
    if n_missing:
        raise ValueError(f"{name} has {count(n_missing, 'missing value')}; every row needs a time")
    try:
        moments, codes = np.unique(values, return_inverse=True)
    except TypeError:
        raise ValueError(
            f"{name} has values that cannot be sorted, or None; {_WHAT_TO_GIVE}"
        ) from None
    if len(moments) and isinstance(moments[0], str):
        odd = _unsorted(moments.tolist())
        if odd is not None:
            raise ValueError(
                f"{name} has the text {odd[:40]!r}, which does not sort in the order of time; "
                f"{_WHAT_TO_GIVE}"
            )
    return moments, codes.astype(np.int64)


def _unsorted(texts: Sequence[str]) -> str | None:
    """A text that does not sort in the order of time; None if there is none.

    Examples
    --------
    >>> _unsorted(["2024-W01", "2024-W10"]), _unsorted(["2024-W10", "2024-W9"])
    (None, '2024-W9')
    """
    # W10 is sorted before W9: periods need the same number of digits.
    width = max((len(text) for text in texts if "T" not in text and " " not in text), default=0)
    for text in texts:
        is_period = text[-2:-1].isalpha()
        if not _SORTED_TEXT.fullmatch(text) or (is_period and len(text) < width):
            return text
    return None
