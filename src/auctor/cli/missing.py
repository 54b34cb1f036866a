"""Values that stand for missing ones: those of ``--missing``, and a warning about others."""

import shlex
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from auctor._typing import Bools, Floats
from auctor.cli.errors import UsageError, nearest
from auctor.data import Category
from auctor.models.new_rows import tail_probability

Codes = dict[str, tuple[Category, ...]]

# What people write for "not asked", "refused", "unknown": -1 to -9 and runs of 7, 8 or 9, with
# 97 and 98 and the like; below 0 also with a minus sign.
_RUNS = [int(digit * n) for digit in "789" for n in range(1, 9)]
_NEAR = [int("9" * n + last) for n in range(1, 8) for last in "5678"]
_USUAL = frozenset([-k for k in range(1, 10)] + [s * k for k in _RUNS + _NEAR for s in (1, -1)])
_GAP = 1.25  # between codes and the other values, in widths of the others' range
_MOST_CODES = 3  # of one column
_FEWEST_ROWS = 5
_FEWEST_MEASURED = 20  # distinct values of a measured number
_STEPS = 5.0  # between 0 and the other values, in distances of neighbouring values
_NEAREST = 0.1  # the smallest of the other values, in medians of them
_FALSE_ALARMS = 0.01  # for all columns of a table together


def parse_missing(texts: Sequence[str], features: Collection[str]) -> Codes:
    """Read ``-9,-8`` for all columns, or ``income=-9`` for one.

    Examples
    --------
    >>> parse_missing(["-9,unknown", "x=0"], ["x", "y"])
    {'x': (-9.0, 'unknown', 0.0), 'y': (-9.0, 'unknown')}
    """
    codes: dict[str, list[Category]] = {name: [] for name in features}
    for part in (part for text in texts for part in text.split(",")):
        column, equals, value = part.rpartition("=")
        if equals and column not in codes:
            raise UsageError(
                f"--missing {column!r} is not a feature column{nearest(column, features)}"
            )
        if not value:
            raise UsageError(f"--missing is {part!r}; give a value such as -9, or column=-9")
        for name in [column] if equals else codes:
            codes[name].append(_value(value))
    return {name: tuple(dict.fromkeys(values)) for name, values in codes.items() if values}


def _value(text: str) -> Category:
    try:
        number = float(text)
    except ValueError:
        return text
    return number if np.isfinite(number) else text


def recode(table: pa.Table, codes: Mapping[str, tuple[Category, ...]]) -> tuple[pa.Table, Codes]:
    """A table without the codes, and the codes that are of the type of their column."""
    used: Codes = {}
    for name, values in codes.items():
        column = table[name]
        is_text = pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
        own = tuple(str(_plain(value)) if is_text else value for value in values)
        if not is_text:
            own = tuple(value for value in own if not isinstance(value, str))
        if not own or pa.types.is_boolean(column.type):
            continue
        compared = column if is_text else column.cast(pa.float64())
        is_code = pc.is_in(compared, pa.array(own, column.type if is_text else pa.float64()))
        cleared = pc.if_else(is_code, pa.scalar(None, column.type), column)
        if is_text and pc.any(is_code).as_py():
            cleared = _as_numbers(cleared)
        table = table.set_column(table.column_names.index(name), name, cleared)
        used[name] = own
    return table, used


def _as_numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of text as numbers, if all of it are numbers; otherwise as it is."""
    try:
        return column.cast(pa.float64())
    except pa.ArrowInvalid:
        return column


def _plain(value: Category) -> Category:
    """A whole number without the decimal point, as a text column has it."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def sentinel_warning(name: str, values: Floats, positive: Bools, n_columns: int) -> str | None:
    """A warning about values that look like codes of missing ones; None if there are none."""
    codes = find_codes(values)
    if not codes:
        return None
    is_code = np.isin(values, codes)
    alpha = _FALSE_ALARMS / n_columns
    differing = [
        code for code in codes if _p_value(values == code, values, is_code, positive) < alpha
    ]
    if not differing and not _is_only_negative(codes, values):
        return None
    shown = ", ".join(f"{code:g}" for code in codes)
    is_one = len(codes) == 1
    option = shlex.quote(f"{name}={f',{name}='.join(f'{code:g}' for code in codes)}")
    why = "is the only negative one"
    if differing:
        rate, near = float(positive[is_code].mean()), _neighbours(values, is_code, differing[0])
        why = (
            f"{'stands' if is_one else 'stand'} apart from the others and "
            f"{'has' if is_one else 'have'} another rate of positives ({rate:.1%}; "
            f"{float(positive[near].mean()):.1%} in the nearest rows)"
        )
    return (
        f"column {name!r}: the {'value' if is_one else 'values'} {shown} ({int(is_code.sum()):,} "
        f"of {len(values):,} rows) {why}; if it means that the value is missing, add --missing "
        f"{option}"
    )


def zero_warning(name: str, values: Floats) -> str | None:
    """A warning about zeros in a column of measured positive numbers, such as a body mass index."""
    n_zero = int(np.count_nonzero(values == 0))
    if not _FEWEST_ROWS <= n_zero <= len(values) / 2 or not _is_apart_from_zero(values):
        return None
    smallest = float(np.min(values[values > 0]))
    return (
        f"column {name!r}: the value 0 ({n_zero:,} of {len(values):,} rows) is far from the "
        f"others, which begin at {smallest:g}; if it means that the value is missing, add "
        f"--missing {shlex.quote(f'{name}=0')}"
    )


def _is_apart_from_zero(values: Floats) -> bool:
    """Whether the other values are positive, begin far from 0, and are no counts.

    The gap below them is compared with the distances of the values themselves, and with their
    median: amounts of money, where 0 means none, begin at a small part of it.
    """
    known = values[~np.isnan(values) & (values != 0)]
    distinct = np.unique(known)
    if len(distinct) < _FEWEST_MEASURED or distinct[0] <= 0:
        return False
    step = float(np.median(np.diff(distinct[: (len(distinct) + 1) // 2])))
    return bool(distinct[0] >= _STEPS * step and distinct[0] >= _NEAREST * float(np.median(known)))


def _is_only_negative(codes: list[float], values: Floats) -> bool:
    """Whether a column has no negative number but -9, -99, -999 or the like.

    That is no measured number, whatever its rate of positives.
    """
    text = f"{codes[0]:.0f}"
    return (
        len(codes) == 1
        and text == "-" + "9" * (len(text) - 1)
        and not bool(((values < 0) & (values != codes[0])).any())
    )


def find_codes(values: Floats) -> list[float]:
    """Usual codes of missing values that are apart from the other values of a column."""
    known = values[~np.isnan(values)]
    distinct, counts = np.unique(known, return_counts=True)
    if len(distinct) < 3:
        return []
    for ends in _ends(distinct):
        codes = [float(distinct[k]) for k in ends]
        rest = np.delete(distinct, ends)
        if len(rest) < 2 or min(counts[ends]) < _FEWEST_ROWS or not set(codes) <= _USUAL:
            continue
        width = float(rest[-1] - rest[0])
        below = codes[0] < rest[0]
        gap = float(rest[0] - codes[-1]) if below else float(codes[0] - rest[-1])
        # The only negative numbers of a column are codes even if they are near.
        if gap >= _GAP * width or (below and codes[-1] < 0 <= rest[0] and width >= 10):
            return codes
    return []


def _ends(distinct: Floats) -> list[list[int]]:
    """The positions of one to three values at an end of the sorted values, the most first."""
    n = len(distinct)
    sizes = range(min(_MOST_CODES, n - 1), 0, -1)
    return [list(range(k)) for k in sizes] + [list(range(n - k, n)) for k in sizes]


def _neighbours(values: Floats, is_code: Bools, code: float) -> Any:
    """The fifth of the other rows whose values are nearest to a code."""
    rows = np.flatnonzero(~is_code & ~np.isnan(values))
    order = np.argsort(np.abs(values[rows] - code), kind="stable")
    return rows[order[: max(20, len(rows) // 5)]]


def _p_value(chosen: Bools, values: Floats, is_code: Bools, positive: Bools) -> float:
    """Fisher's test that a code has the rate of positives of its neighbours; two-sided."""
    near = _neighbours(values, is_code, float(values[chosen][0]))
    n, before = int(chosen.sum()), len(near)
    hits, others = int(positive[chosen].sum()), int(positive[near].sum())
    more = tail_probability(hits, n, others, before)
    fewer = tail_probability(n - hits, n, before - others, before)
    return 2 * min(more, fewer)
