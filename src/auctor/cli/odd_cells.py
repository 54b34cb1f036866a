"""Numeric columns that are read as text because of a few cells: which cells these are."""

import re
from collections.abc import Callable

import numpy as np

from auctor.data import Categories
from auctor.models.explanation import shorten

# The line of the file in which a row begins, both counted from 1; None where it is not known.
LineOf = Callable[[int], int | None]

_NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*")
_LARGEST_FRACTION = 0.1  # of odd cells: a column with more of them is probably meant as text
_FEWEST = 20  # known cells that are needed to judge the fraction
_MOST_SHOWN = 3


def odd_cells(column: Categories, line_of: LineOf) -> str | None:
    """The few cells of a column that are not numbers, in words; None if it is not such a column."""
    is_number = np.array([_NUMBER.fullmatch(str(v)) is not None for v in column.values], dtype=bool)
    rows = np.flatnonzero(column.indices >= 0)
    if len(rows) < _FEWEST or not is_number.any() or is_number.all():
        return None
    codes = column.indices[rows]
    is_odd = ~is_number[codes]
    n_odd = int(np.count_nonzero(is_odd))
    if n_odd > _LARGEST_FRACTION * len(rows):
        return None
    _, first = np.unique(codes[is_odd], return_index=True)
    shown = [
        f"{shorten(str(column.values[codes[is_odd][k]]))!r} in {_where(int(row) + 1, line_of)}"
        for k, row in sorted((k, rows[is_odd][k]) for k in first)[:_MOST_SHOWN]
    ]
    more = ", ..." if len(first) > _MOST_SHOWN else ""
    return f"{n_odd:,} of {len(column.indices):,} cells: {', '.join(shown)}{more}"


def _where(row: int, line_of: LineOf) -> str:
    line = line_of(row)
    return f"row {row:,}" if line is None else f"row {row:,} (line {line:,} of the file)"
