"""Missing values among Python objects: None, NaN, NaT and pandas.NA."""

from typing import Any

import numpy as np
import numpy.typing as npt


def is_missing(value: Any) -> bool:
    """Whether a value is missing.

    Examples
    --------
    >>> is_missing(None), is_missing(float("nan")), is_missing("nan")
    (True, True, False)
    """
    if value is None:
        return True
    try:
        return bool(value != value)
    except TypeError:  # the result of comparing pandas.NA is neither true nor false
        return True
    except ValueError:  # an array
        return False


def count_missing(array: npt.NDArray[Any]) -> int:
    """Number of missing values in a vector of any type."""
    if array.dtype.kind in "fcmM":
        return int((array != array).sum())
    if array.dtype.kind != "O":
        return 0
    try:
        # Usually few values are distinct, and their set is built without a Python loop.
        if not any(map(is_missing, set(array.tolist()))):
            return 0
    except TypeError:  # a set cannot hold lists
        pass
    return sum(map(is_missing, array.tolist()))


def unmask(array: np.ma.MaskedArray[Any, Any]) -> npt.NDArray[Any]:
    """A masked array as a plain array, with NaN or None for masked values."""
    is_number = array.dtype.kind in "buif"
    plain: npt.NDArray[Any] = np.ma.getdata(array).astype(np.float64 if is_number else object)
    plain[np.ma.getmaskarray(array)] = np.nan if is_number else None
    return plain
