"""Values that stand for missing ones, such as -9: a table in which they are missing."""

from collections.abc import Mapping

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data.columns import Categories
from auctor.data.features import Category
from auctor.data.table import Buffer, Table

# Name of a column -> the values of it that stand for missing ones.
MissingCodes = Mapping[str, tuple[Category, ...]]


class RecodedTable(Table):
    """A table in which some values of some columns are missing.

    ``codes`` has the values by the index of the column, since a table need not have names.

    Examples
    --------
    >>> from auctor.data import read_table
    >>> RecodedTable(read_table([[1.0], [-9.0]]), {0: (-9,)}).numbers(0).tolist()
    [1.0, nan]
    """

    def __init__(self, table: Table, codes: Mapping[int, tuple[Category, ...]]) -> None:
        self._table, self._codes = table, codes
        self.names, self.has_names, self.n_rows = table.names, table.has_names, table.n_rows

    def is_text(self, j: int) -> bool:
        return self._table.is_text(j)

    def _numbers(self, j: int, buffer: Buffer) -> Floats:
        values = self._table.numbers(j, buffer)
        wanted = [float(code) for code in self._codes.get(j, ()) if not isinstance(code, str)]
        is_code = np.isin(values, wanted)
        return np.where(is_code, np.nan, values) if is_code.any() else values

    def categories(self, j: int) -> Categories:
        values, indices = self._table.categories(j)
        codes = set(self._codes.get(j, ()))
        gone = [k for k, value in enumerate(values) if value in codes]
        return Categories(values, _without(indices, gone))


def _without(indices: Ints, gone: list[int]) -> Ints:
    """Indices of categories with -1, a missing value, in place of some of them."""
    return np.where(np.isin(indices, gone), -1, indices) if gone else indices
