"""Periods of time: days, weeks, months, quarters or years of dates, or blocks of numbers."""

import re
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._checks import check_choice
from auctor._text import count
from auctor._typing import Ints
from auctor.data import read_vector
from auctor.data.missing import count_missing
from auctor.data.times import read_moments

PERIODS = ("day", "week", "month", "quarter", "year")
_MOST_PERIODS = 24
_TYPICAL_ROWS = 100  # the median number of rows that a period should have
_N_BLOCKS = 10
_DATE = re.compile(r"(\d{4})[-/.]?(\d{2})(?:[-/.]?(\d{2})(?:[T ].*)?)?")


class Periods(NamedTuple):
    """The period of every row: names in the order of time, and the index of each row's."""

    unit: str  # "month", "week", ..., or "value" and "block" where times are no dates
    names: tuple[str, ...]
    codes: Ints


def read_periods(time: Any, n_rows: int, period: str | None = None) -> Periods:
    """Divide rows into periods.

    Dates (of any library, or text such as 2024-01-31 and 2024-01, or whole numbers such as
    20240131 and 202401) are divided into days, weeks, months, quarters or years: ``period``, or the
    shortest of them that gives at most 24 periods of typically 100 rows or more. Of other times
    each value is a period, or a tenth of the rows where there are many values.

    Examples
    --------
    >>> read_periods(["2024-01-31", "2024-03-01", "2024-03-09"], 3, "month").names
    ('2024-01', '2024-03')
    >>> read_periods([2, 2, 1], 3)
    Periods(unit='value', names=('1', '2'), codes=array([1, 1, 0]))
    """
    values = read_vector(time, "time")
    if len(values) != n_rows:
        raise ValueError(f"time has {len(values)} values for {n_rows} rows; give one for each row")
    n_missing = count_missing(values)
    if n_missing:
        raise ValueError(f"time has {count(n_missing, 'missing value')}; give a time for each row")
    if period is not None:
        check_choice(period, PERIODS, "period")
    days = _as_days(values)
    if days is not None:
        return _of_days(days, period)
    if period is not None:
        raise ValueError(
            f"period is {period!r} and time has values that are not dates, such as "
            f"{str(values[0])!r}; give dates such as 2024-01-31, or leave out period"
        )
    return _of_values(values)


def _as_days(values: npt.NDArray[Any]) -> npt.NDArray[np.datetime64] | None:
    """The days of dates; None where the values are no dates."""
    if values.dtype.kind == "M":
        return values.astype("datetime64[D]")
    if values.dtype.kind == "O" and all(hasattr(value, "toordinal") for value in values):
        return np.array([np.datetime64(value, "D") for value in values])
    if values.dtype.kind in "iuOUT":
        distinct, codes = _distinct(values)
        days = [_day_of(str(value)) for value in distinct.tolist()]
        if all(day is not None for day in days):
            return np.array(days, dtype="datetime64[D]")[codes]
    return None


def _day_of(text: str) -> np.datetime64 | None:
    """The day of a text such as 2024-01-31, 2024-01 or 20240131."""
    match = _DATE.fullmatch(text.strip())
    if match is None:
        return None
    year, month, day = match.groups(default="01")
    try:
        return np.datetime64(f"{year}-{month}-{day}", "D")
    except ValueError:
        return None


def _of_days(days: npt.NDArray[np.datetime64], period: str | None) -> Periods:
    if period is not None:
        return _divide(days, period)
    divided = [_divide(days, unit) for unit in PERIODS]
    few = [one for one in divided if 1 < len(one.names) <= _MOST_PERIODS] or divided[-1:]
    for one in few:
        if np.median(np.bincount(one.codes)) >= _TYPICAL_ROWS:
            return one
    return few[-1]


def _divide(days: npt.NDArray[np.datetime64], unit: str) -> Periods:
    """The periods of one unit that have rows."""
    if unit == "day":
        starts, codes = np.unique(days, return_inverse=True)
        names = [str(start) for start in starts]
    elif unit == "week":
        # The epoch was a Thursday: three days later weeks begin on Mondays.
        weeks, codes = np.unique((days.astype(np.int64) + 3) // 7, return_inverse=True)
        names = [f"week of {np.datetime64(int(week) * 7 - 3, 'D')}" for week in weeks]
    elif unit == "quarter":
        months = days.astype("datetime64[M]").astype(np.int64)
        quarters, codes = np.unique(months // 3, return_inverse=True)
        names = [f"{1970 + int(quarter) // 4}-Q{int(quarter) % 4 + 1}" for quarter in quarters]
    else:
        starts, codes = np.unique(
            days.astype("datetime64[M]" if unit == "month" else "datetime64[Y]"),
            return_inverse=True,
        )
        names = [str(start) for start in starts]
    return Periods(unit, tuple(names), codes.astype(np.int64))


def _of_values(values: npt.NDArray[Any]) -> Periods:
    distinct, codes = read_moments(values, "time")  # refuses texts that sort in another order
    if len(distinct) <= _MOST_PERIODS:
        return Periods("value", tuple(str(value) for value in distinct.tolist()), codes)
    counts = np.bincount(codes, minlength=len(distinct))
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    blocks, block_of = np.unique((middle * _N_BLOCKS).astype(np.int64), return_inverse=True)
    names = []
    for k in range(len(blocks)):
        own = distinct[block_of == k].tolist()
        names.append(f"{own[0]} to {own[-1]}" if len(own) > 1 else str(own[0]))
    return Periods("block", tuple(names), block_of[codes].astype(np.int64))


def _distinct(values: npt.NDArray[Any]) -> tuple[npt.NDArray[Any], Ints]:
    try:
        distinct, codes = np.unique(values, return_inverse=True)
    except TypeError:
        raise ValueError("time has values of several types; give dates, numbers or texts") from None
    return distinct, codes.astype(np.int64)
