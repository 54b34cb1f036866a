"""Tables of the same columns read as one, so that bins may come from several batches."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor.data import Categories, Table, select


class Stack(Table):
    """Tables of the same columns, one below the other, down to a row."""

    def __init__(self, tables: list[Table], n_rows: int | None = None) -> None:
        self._tables = tables
        self.names, self.has_names = tables[0].names, tables[0].has_names
        self.n_rows = sum(table.n_rows for table in tables) if n_rows is None else n_rows
        self._columns = [select(table, self.names, "the oracle") for table in tables]

    def is_text(self, j: int) -> bool:
        return any(table.is_text(int(at[j])) for table, at in self._parts())

    def _numbers(self, j: int, room: Any) -> npt.NDArray[np.float64]:
        values = np.concatenate([table.numbers(int(at[j])) for table, at in self._parts()])
        return values[: self.n_rows]

    def categories(self, j: int) -> Categories:
        place_of: dict[Any, int] = {}
        places = []
        for table, at in self._parts():
            part = table.categories(int(at[j]))
            new = [place_of.setdefault(value, len(place_of)) for value in part.values]
            places.append(np.array([*new, -1])[part.places])  # -1, missing, finds the last entry
        return Categories(list(place_of), np.concatenate(places)[: self.n_rows])

    def _parts(self) -> Iterable[tuple[Table, npt.NDArray[np.int64]]]:
        return zip(self._tables, self._columns, strict=True)
