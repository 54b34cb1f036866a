"""Columns that divide the rows of a table: subgroups of `--by`, and the periods of `--time`."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy.typing as npt
import pyarrow as pa

from auctor._text import one_line
from auctor._typing import Indices
from auctor.cli.errors import UsageError
from auctor.cli.labels import read_time
from auctor.cli.options import split_names
from auctor.cli.table_file import TableFile
from auctor.metrics import GroupTable
from auctor.metrics.group_values import read_group_values

Compare = Literal["rest", "pairs"]

_BINS = 5  # of a column of many distinct numbers or dates, as in by_group


@dataclass(frozen=True, eq=False)
class Breakdown:
    """The values of each row in the columns of ``--by``, and its time."""

    by: dict[str, npt.NDArray[Any]] = field(default_factory=dict)
    time: npt.NDArray[Any] | None = None

    def take(self, rows: Indices | None) -> "Breakdown":
        """The values of some of the rows; None takes all of them."""
        if rows is None:
            return self
        by = {name: values[rows] for name, values in self.by.items()}
        return Breakdown(by, None if self.time is None else self.time[rows])


def read_compare(args: argparse.Namespace) -> Compare:
    """Which groups of ``--by`` are tested against each other."""
    if args.compare and not args.by:
        raise UsageError("--compare is about the groups of --by; give --by COL too")
    return args.compare or "rest"


def read_breakdown(
    source: TableFile, X: pa.Table, by: Sequence[str], time: str | None, target: str
) -> Breakdown:
    """Read the columns; features are taken from ``X``, where missing codes are replaced.

    A column that cannot be used is an error here, before any long work.
    """
    names = split_names(by, source.columns)
    if target in names:
        raise UsageError(f"--by {target!r} is the target; give another column")
    source.require([*names, *([] if time is None else [time])])
    columns = {name: _column(source, X, name) for name in names}
    for name, values in columns.items():
        read_group_values(values, _BINS, f"--by: column {name!r}")
    return Breakdown(columns, None if time is None else _times(source, X, time))


def _column(source: TableFile, X: pa.Table, name: str) -> npt.NDArray[Any]:
    return _to_numpy(_read(source, X, name))


def _read(source: TableFile, X: pa.Table, name: str) -> pa.ChunkedArray:
    return X[name] if name in X.column_names else source.read([name])[name]


def _to_numpy(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    return column.to_numpy()


def _times(source: TableFile, X: pa.Table, name: str) -> npt.NDArray[Any]:
    """The time of each row, as values that sort in the order of time."""
    column = _read(source, X, name)
    read_time(column, name)  # refuses values that do not sort
    return _to_numpy(column)


def subgroup_text(tables: dict[str, GroupTable]) -> list[str]:
    """The tables of all columns in lines of text."""
    return [f"\nby {one_line(name)}:\n{table}" for name, table in tables.items()]
