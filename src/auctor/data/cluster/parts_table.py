"""PartsTable: the rows of one member of a group, which come in numbered partitions.

The members agree on what a table in one piece would have: the names of the columns, which of them
are text, the categories of each, and the index of every row when the partitions follow each other
in the order of their numbers.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from auctor._text import first_few
from auctor._typing import Bools, Floats, Ints
from auctor.data.columns import Categories
from auctor.data.features import Category
from auctor.data.group import Group
from auctor.data.stored.column_types import CATEGORY, NUMBER, TEXT
from auctor.data.stored.table import MOST_CATEGORIES
from auctor.data.table import Buffer, ColumnTable, Table, read_table


class TablePart(NamedTuple):
    """A partition: its number among those of all members, and its rows."""

    number: int
    table: Table

    @property
    def name(self) -> str:
        """What the partition is called in messages."""
        return f"partition {self.number}"


def read_part(number: int, X: Any) -> TablePart | None:
    """A partition of any table type; None for one without rows. Errors name the partition."""
    if getattr(X, "shape", (1,))[0] == 0:
        return None
    try:
        return TablePart(number, read_table(X))
    except (TypeError, ValueError) as error:
        raise type(error)(f"partition {number}: {error}") from error


class PartsTable(Table):
    """The partitions of one member of a group as a table.

    Parameters
    ----------
    parts : sequence of TablePart
        The partitions of this member that have rows, in the order of their numbers.
    group : Group
        The members that hold the whole table.
    """

    def __init__(self, parts: Sequence[TablePart], group: Group) -> None:
        self.group, self._parts = group, list(parts)
        self.n_rows = sum(part.table.n_rows for part in self._parts)
        self.names, self.has_names = self._agree_on_names()
        self._order = [_order_of(part, self.names, self.has_names) for part in self._parts]
        self._kinds = self._agree_on_kinds()
        self._values: dict[int, list[Category]] = {}

    def is_text(self, j: int) -> bool:
        return self._kinds[j] != NUMBER

    def _numbers(self, j: int, buffer: Buffer) -> Floats:
        values = np.empty(self.n_rows) if buffer is None else buffer
        start = 0
        for part, order in zip(self._parts, self._order, strict=True):
            stop = start + part.table.n_rows
            values[start:stop] = part.table.numbers(order[j])
            start = stop
        return values

    def categories(self, j: int) -> Categories:
        """Column j as categories; the first call for a column must be made by all members."""
        parts = [
            part.table.categories(order[j])
            for part, order in zip(self._parts, self._order, strict=True)
        ]
        if j not in self._values:
            own = {value for categories in parts for value in categories.values}
            everyone: set[Category] = set().union(*self.group.gather(own))
            self._check_number(j, len(everyone))
            self._values[j] = sorted(everyone)
        values = self._values[j]
        index_of = {value: index for index, value in enumerate(values)}
        indices = [
            # Index -1, a missing value, refers to the last entry.
            np.array([*(index_of[value] for value in own), -1], dtype=np.int64)[rows]
            for own, rows in parts
        ]
        return Categories(values, np.concatenate([np.empty(0, dtype=np.int64), *indices]))

    def positions(self, kept: Bools | None) -> Ints:
        """The index of each kept row among the kept rows of all members."""
        kept = np.ones(self.n_rows, dtype=np.bool_) if kept is None else kept
        ends = np.cumsum([part.table.n_rows for part in self._parts])
        own = [int(rows.sum()) for rows in np.split(kept, ends[:-1])] if self._parts else []
        counts = {part.number: n for part, n in zip(self._parts, own, strict=True)}
        everyone: dict[int, int] = {}
        for sizes in self.group.gather(counts):
            everyone.update(sizes)
        first, n_before = {}, 0
        for number in sorted(everyone):
            first[number] = n_before
            n_before += everyone[number]
        ranges = [first[number] + np.arange(n) for number, n in counts.items()]
        return np.concatenate([np.empty(0, dtype=np.int64), *ranges])

    def _agree_on_names(self) -> tuple[tuple[str, ...], bool]:
        """The columns of the first partition that has rows."""
        own = None
        if self._parts:
            first = self._parts[0]
            own = first.number, first.table.names, first.table.has_names
        found = [names for names in self.group.gather(own) if names is not None]
        if not found:
            raise ValueError("X has no rows; auctor needs rows of two classes")
        _, names, has_names = min(found)
        return names, has_names

    def _agree_on_kinds(self) -> list[str]:
        """The kind of each column, on which all partitions must agree."""
        own: list[_Kind | None] = [None] * len(self.names)
        for part, order in zip(self._parts, self._order, strict=True):
            for j in range(len(self.names)):
                own[j] = self._common_kind(j, [own[j], _kind_of(part, order[j])])
        everyone = self.group.gather(own)
        agreed = [
            self._common_kind(j, found) for j, found in enumerate(zip(*everyone, strict=True))
        ]
        return [NUMBER if kind is None else kind.kind for kind in agreed]

    def _common_kind(self, j: int, found: Sequence["_Kind | None"]) -> "_Kind | None":
        """The kind that all partitions with values agree on; None if there is no partition."""
        known = sorted((kind for kind in found if kind is not None), key=lambda kind: kind.number)
        sure = [kind for kind in known if kind.has_values]
        for other in sure[1:]:
            first = sure[0]
            if other.kind != first.kind:
                raise ValueError(
                    f"column {self.names[j]!r} holds {first.kind} in {first.part} and {other.kind} "
                    f"in {other.part}; give it one type"
                )
        return next(iter(sure or known), None)

    def _check_number(self, j: int, n_categories: int) -> None:
        if n_categories > MOST_CATEGORIES:
            raise ValueError(
                f"column {self.names[j]!r} has more than {MOST_CATEGORIES:,} categories, as a "
                "column of identifiers has; leave it out, or group its values"
            )


class PartsRows(NamedTuple):
    """What one member holds: its rows as a table, their labels and their weights."""

    table: PartsTable
    y: npt.NDArray[Any]
    weight: npt.NDArray[Any] | None


def _order_of(part: TablePart, names: tuple[str, ...], has_names: bool) -> list[int]:
    """Where each of the agreed columns is in a partition; an error if the columns differ."""
    own = part.table.names
    if not (has_names and part.table.has_names):
        if len(own) != len(names):
            raise ValueError(
                f"{part.name} has {len(own)} columns where others have {len(names)}; give all "
                "partitions the same columns"
            )
        return list(range(len(names)))
    index = {name: j for j, name in enumerate(own)}
    missing = [name for name in names if name not in index]
    odd = [name for name in own if name not in names]
    if missing or odd:
        what = "lacks the column" if missing else "has the additional column"
        raise ValueError(
            f"{part.name} {what} {first_few(missing or odd)}; give all partitions the same columns"
        )
    return [index[name] for name in names]


class _Kind(NamedTuple):
    """The kind of a column in a partition, and whether it has a value that is not missing."""

    kind: str
    part: str
    number: int  # of the partition
    has_values: bool


def _kind_of(part: TablePart, j: int) -> _Kind:
    if isinstance(part.table, ColumnTable):
        kind = part.table.arrow_type(j)
        if pa.types.is_null(kind):
            return _Kind(NUMBER, part.name, part.number, False)
        if pa.types.is_dictionary(kind):
            is_text = pa.types.is_large_string(kind.value_type)
            has_values = len(part.table.categories(j).values) > 0
            return _Kind(TEXT if is_text else CATEGORY, part.name, part.number, has_values)
    return _Kind(NUMBER, part.name, part.number, part.table.has_values(j))
