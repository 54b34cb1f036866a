"""Any table as a matrix of numbers, for the models of other libraries."""

from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import sparse

from auctor.data import Table, find_categorical, read_table

Floats = npt.NDArray[np.float64]

# A category rarer than the first so many of its column is left to the average row.
_MOST_CATEGORIES = 100
_MOST_CELLS = 10**7  # of a dense matrix of 0 and 1


class _Numbers(NamedTuple):
    """A column of numbers: what stands for a missing value, and its scale."""

    middle: float
    mean: float
    spread: float
    has_missing: bool


class _Names(NamedTuple):
    """A column of categories: the frequent ones, each with its place."""

    places: dict[Any, int]


class Encoder:
    """Columns of a table in the form that linear models want.

    Numbers are scaled, missing ones are the median with a column of their own that says so, and
    each frequent category has a column of 0 and 1.
    """

    def __init__(self, categorical_features: Any = "from_dtype") -> None:
        self.categorical_features = categorical_features

    def fit(self, X: Any) -> "Encoder":
        """Learn medians, scales and categories."""
        table = read_table(X)
        by_hand = find_categorical(self.categorical_features, table)
        self._columns: list[_Numbers | _Names] = [
            _learn_names(table, j) if table.is_text(j) or j in by_hand else _learn_numbers(table, j)
            for j in range(table.n_columns)
        ]
        return self

    def transform(self, X: Any) -> Any:
        """A matrix of floats; sparse where it would be large."""
        table = read_table(X)
        parts: list[Any] = [
            _zeros_and_ones(table, j, column.places)
            if isinstance(column, _Names)
            else _scaled(table, j, column)
            for j, column in enumerate(self._columns)
        ]
        if table.n_rows * sum(part.shape[1] for part in parts) <= _MOST_CELLS:
            return np.hstack([p.toarray() if sparse.issparse(p) else p for p in parts])
        return sparse.hstack([sparse.csc_array(part) for part in _runs(parts)], format="csr")


def _runs(parts: list[Any]) -> list[Any]:
    """The same columns with neighbouring dense ones in one array: one sparse array costs as much
    as hundreds of columns."""
    runs = groupby(parts, key=sparse.issparse)
    return [part for is_sparse, run in runs for part in (run if is_sparse else [np.hstack([*run])])]


class CodeEncoder:
    """Columns in the form that trees want: numbers as they are, categories as codes."""

    def __init__(self, categorical_features: Any = "from_dtype") -> None:
        self.categorical_features = categorical_features

    def fit(self, X: Any) -> "CodeEncoder":
        """Learn the categories."""
        table = read_table(X)
        by_hand = find_categorical(self.categorical_features, table)
        chosen = [j for j in range(table.n_columns) if table.is_text(j) or j in by_hand]
        self.names = {j: _learn_names(table, j) for j in chosen}
        others = (j for j in range(table.n_columns) if j not in self.names)
        self._empty = {j for j in others if np.isnan(table.numbers(j)).all()}
        self.n_columns = table.n_columns
        return self

    def transform(self, X: Any) -> Floats:
        """A matrix of floats; a category never seen is missing."""
        table = read_table(X)
        matrix = np.empty((table.n_rows, table.n_columns))
        for j in range(table.n_columns):
            names = self.names.get(j)
            if j in self._empty:  # some libraries fall over a column without any value
                matrix[:, j] = 0.0
                continue
            matrix[:, j] = table.numbers(j) if names is None else _codes(table, j, names.places)
        return matrix


def _learn_numbers(table: Table, j: int) -> _Numbers:
    values = table.numbers(j)
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return _Numbers(0.0, 0.0, 1.0, False)
    return _Numbers(
        float(np.median(known)),
        float(known.mean()),
        float(known.std()) or 1.0,
        len(known) < len(values),
    )


def _learn_names(table: Table, j: int) -> _Names:
    values, places = table.categories(j)
    counts = np.bincount(places[places >= 0], minlength=len(values))
    order = np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]
    return _Names({values[k]: place for place, k in enumerate(order) if counts[k] > 0})


def _scaled(table: Table, j: int, column: _Numbers) -> Floats:
    values = table.numbers(j)
    missing = np.isnan(values)
    filled = np.where(missing, column.middle, values)
    scaled = (filled - column.mean) / column.spread
    return np.column_stack([scaled, missing] if column.has_missing else [scaled])


def _codes(table: Table, j: int, known: dict[Any, int]) -> Floats:
    """The place of each row's category among the known ones; NaN where it is none of them."""
    values, places = table.categories(j)
    codes = np.array([known.get(value, np.nan) for value in values] + [np.nan])
    return codes[places]  # a missing value is place -1, the last


def _zeros_and_ones(table: Table, j: int, known: dict[Any, int]) -> sparse.csc_array:
    codes = _codes(table, j, known)
    rows = np.flatnonzero(~np.isnan(codes))
    columns = codes[rows].astype(np.int64)
    return sparse.csc_array(
        (np.ones(len(rows)), (rows, columns)), shape=(table.n_rows, max(len(known), 1))
    )
