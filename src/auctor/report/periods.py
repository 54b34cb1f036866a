"""Periods of time: the groups of rows in which the stability of a score is measured."""

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._text import count
from auctor._typing import Ints
from auctor.data import read_vector
from auctor.data.missing import count_missing
from auctor.data.times import read_moments
from auctor.metrics.group_values import GroupValues

# Up to this many distinct times, such as months, are periods of their own.
MOST_TIMES = 12
N_PERIODS = 8


def read_periods(time: Any, n_rows: int, folds: Any = None) -> GroupValues:
    """The period of each row, in the order of time.

    Folds in the order of time are periods. Otherwise few distinct times are periods, and many are
    divided into eight periods with about equally many rows.

    Examples
    --------
    >>> read_periods(["2024-02", "2024-01", "2024-02"], 3)
    GroupValues(names=('2024-01', '2024-02'), codes=array([1, 0, 1]), binned=None)
    """
    values = read_vector(time, "time")
    if len(values) != n_rows:
        raise ValueError(f"time has {len(values)} values for {n_rows} rows; give one for each row")
    n_missing = count_missing(values)
    if n_missing:
        raise ValueError(f"time has {count(n_missing, 'missing value')}; every row needs a time")
    moments, codes = read_moments(values, "time")
    periods = _in_order(codes, folds)
    if periods is None:
        periods = codes if len(moments) <= MOST_TIMES else _even(codes, len(moments))
    kept, periods = np.unique(periods, return_inverse=True)
    names = [_name(moments, codes[periods == k]) for k in range(len(kept))]
    return GroupValues(tuple(names), periods.astype(np.int64))


def _in_order(codes: npt.NDArray[Any], folds: Any) -> Ints | None:
    """The place of each row's fold in time; None if folds overlap, or there are none."""
    if folds is None:
        return None
    _, folds = np.unique(np.asarray(folds), return_inverse=True)
    ends = [(codes[folds == k].min(), codes[folds == k].max()) for k in range(folds.max() + 1)]
    order = np.argsort([low for low, _ in ends], kind="stable")
    if any(ends[a][1] >= ends[b][0] for a, b in pairwise(order)):
        return None
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(len(order))
    return places[folds]


def _even(codes: npt.NDArray[Any], n_moments: int) -> Ints:
    """Periods with about equally many rows; rows of one time stay together."""
    counts = np.bincount(codes, minlength=n_moments)
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    period = np.minimum((middle * N_PERIODS).astype(np.int64), N_PERIODS - 1)
    return np.asarray(period[codes])


def _name(moments: npt.NDArray[Any], codes: npt.NDArray[Any]) -> str:
    """The first and the last time of a period."""
    first, last = _text(moments[codes.min()]), _text(moments[codes.max()])
    return first if first == last else f"{first} to {last}"


def _text(moment: Any) -> str:
    """A time in words: a date without a time of day where it has none."""
    if isinstance(moment, np.datetime64):
        second = str(moment.astype("datetime64[s]"))
        return second.removesuffix("T00:00:00").replace("T", " ")
    return f"{moment:.12g}" if isinstance(moment, (float, np.floating)) else str(moment)
