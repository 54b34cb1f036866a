"""Passes over arrays of one value for each row, in blocks, without copies of the same length."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools

# Makes an array that is not initialised, as ``np.empty`` does; that of a table in files is in a
# file, if memory is short.
EmptyArray = Callable[[tuple[int, ...], npt.DTypeLike], npt.NDArray[Any]]

_BLOCK = 2**18


def row_blocks(n_rows: int) -> Iterator[slice]:
    """The rows in blocks of neighbours.

    Examples
    --------
    >>> list(row_blocks(3))
    [slice(0, 3, None)]
    """
    for start in range(0, n_rows, _BLOCK):
        yield slice(start, min(start + _BLOCK, n_rows))


def row_numbers(n_rows: int, empty: EmptyArray) -> npt.NDArray[Any]:
    """The numbers 0, 1, 2, ... of rows."""
    out = empty((n_rows,), np.int64)
    for rows in row_blocks(n_rows):
        out[rows] = np.arange(rows.start, rows.stop)
    return out


def take_rows(values: npt.NDArray[Any], chosen: Bools, empty: EmptyArray) -> npt.NDArray[Any]:
    """``values[chosen]``, in an array that ``empty`` makes."""
    out = empty((int(np.count_nonzero(chosen)),), values.dtype)
    stop = 0
    for rows in row_blocks(len(values)):
        own = values[rows][chosen[rows]]
        out[stop : stop + len(own)] = own
        stop += len(own)
    return out


def distinct_values(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """``np.unique`` of values of which few are distinct.

    Examples
    --------
    >>> distinct_values(np.array([2, 1, 2])).tolist()
    [1, 2]
    """
    return np.unique(
        np.concatenate([values[:0], *(np.unique(values[rows]) for rows in row_blocks(len(values)))])
    )
