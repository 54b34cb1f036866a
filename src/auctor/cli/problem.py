"""The training data of `fit` and `compare`: read from a table, and checked before any work."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from auctor._text import count
from auctor._typing import Bools, Floats, Indices
from auctor.cli.labels import (
    Label,
    LineOf,
    choose_positive,
    read_target,
    read_time,
    read_weight_and_group,
    two_labels,
)
from auctor.cli.missing import Codes, parse_missing, recode
from auctor.cli.options import ColumnRoles
from auctor.cli.table_file import TableColumns, TableFile
from auctor.data import find_categorical, read_table


class Problem(NamedTuple):
    """Features, labels, weights and groups of a table, and how many of each there are."""

    table: str  # the name of the table
    target: str  # the column of the labels
    X: pa.Table
    y: npt.NDArray[Any]
    weight: Floats | None
    groups: npt.NDArray[Any] | None
    labels: tuple[Label, Label]  # (negative, positive)
    n_pos: int
    n_neg: int
    n_categorical: int
    line_of: LineOf = lambda row: None
    time: npt.NDArray[Any] | None = None  # the order of the rows in time
    time_name: str | None = None
    missing_codes: Codes = {}  # noqa: RUF012  (never changed)

    @property
    def positive(self) -> Bools:
        """Which rows are positive."""
        return np.asarray(self.y == self.labels[1])

    def take(self, rows: Indices | None) -> "Problem":
        """The problem of some of the rows; None takes all of them."""
        if rows is None:
            return self
        return self._replace(
            X=self.X.take(pa.array(rows)),
            y=self.y[rows],
            weight=None if self.weight is None else self.weight[rows],
            groups=None if self.groups is None else self.groups[rows],
        )

    def facts(self) -> dict[str, Any]:
        """The table in plain values."""
        return {
            "table": self.table,
            "target": self.target,
            "rows": self.X.num_rows,
            "positive": self.labels[1],
            "negative": self.labels[0],
            "n_pos": self.n_pos,
            "n_neg": self.n_neg,
            "features": self.X.num_columns,
            "categorical": self.n_categorical,
        }

    def __str__(self) -> str:
        """The table in one line of text."""
        return (
            f"{self.table}: {self.X.num_rows} rows, {self.n_pos} of them positive "
            f"({self.target} = {self.labels[1]}), {count(self.X.num_columns, 'feature')}, "
            f"{self.n_categorical} of them categorical"
        )


def feature_names(source: TableColumns, roles: ColumnRoles) -> list[str]:
    """The columns to learn from: all but target, weight, group, time and those of ``--drop``."""
    others = [*roles.special.values(), *roles.drop]
    source.require([*others, *roles.categorical])
    _check_roles(roles)
    names = [name for name in source.columns if name not in others]
    if not names:
        raise ValueError(
            f"{source.name} has no feature columns: the options name all of its columns; give a "
            "table with features"
        )
    if "" in names:
        position = source.columns.index("") + 1
        raise ValueError(
            f"{source.name}: column {position} has no name (is it a row number?); "
            "name it in the header, or leave it out with --drop ''"
        )
    for name in roles.categorical:
        if name not in names:
            raise ValueError(
                f"--categorical {name!r} is not a feature column; leave out this option or --drop"
            )
    return names


def _check_roles(roles: ColumnRoles) -> None:
    """A column can have one role only."""
    role_of: dict[str, str] = {}
    for role, name in roles.special.items():
        if name in role_of:
            raise ValueError(f"column {name!r} cannot be both {role_of[name]} and {role}")
        role_of[name] = role
    for name in roles.drop:
        if name in role_of:
            raise ValueError(
                f"--drop {name!r} is the {role_of[name]} column; leave it out of --drop"
            )


def read_problem(
    source: TableFile, names: Sequence[str], roles: ColumnRoles, n_folds: int
) -> Problem:
    """Read the table; whatever is wrong with it is an error here and not during the fit."""
    table = source.read([*names, *roles.special.values()])
    y = read_target(table[roles.target], roles.target)
    labels = two_labels(y, roles.target)
    positive = choose_positive(labels, roles.positive, roles.target)
    negative = labels[0] if positive == labels[1] else labels[1]
    weight, groups = read_weight_and_group(table, roles, source.line_of)
    counted = y if weight is None else y[weight > 0]
    n_pos = int(np.count_nonzero(counted == positive))
    n_neg = len(counted) - n_pos
    _check_counts({positive: n_pos, negative: n_neg}, n_folds)
    X = _dates_as_text(table.select(list(names)))
    X, missing_codes = recode(X, parse_missing(roles.missing, names))
    return Problem(
        table=source.name,
        target=roles.target,
        X=X,
        y=y,
        weight=weight,
        groups=groups,
        labels=(negative, positive),
        n_pos=n_pos,
        n_neg=n_neg,
        n_categorical=_count_categorical(X, roles.categorical),
        line_of=source.line_of,
        time=None if roles.time is None else read_time(table[roles.time], roles.time),
        time_name=roles.time,
        missing_codes=missing_codes,
    )


def _dates_as_text(X: pa.Table) -> pa.Table:
    """Dates and times as text, which a warning mentions: no learner takes them as they are."""
    for j, field in enumerate(X.schema):
        if pa.types.is_temporal(field.type):
            X = X.set_column(j, field.name, X.column(j).cast(pa.string()))
    return X


def _check_counts(counts: dict[Label, int], n_folds: int) -> None:
    """Each class needs two rows in every fold, or its AUC has no confidence interval."""
    needed = max(1, 2 * n_folds)
    for label, number in counts.items():
        if number >= needed:
            continue
        if number == 0:
            raise ValueError(
                f"every row with label {label!r} has weight 0; give some of them a positive weight"
            )
        most_folds = min(counts.values()) // 2
        remedy = f"--cv {most_folds}" if most_folds >= 2 else "--cv 0 (no cross-validation)"
        raise ValueError(
            f"label {label!r} has {count(number, 'row')}, but {n_folds} folds need at least "
            f"{needed}, two in each; use {remedy}"
        )


def _count_categorical(X: pa.Table, chosen: Sequence[str]) -> int:
    """The number of categorical features; a column that no learner can use is an error."""
    table = read_table(X)
    try:
        table.check_columns()
    except TypeError as error:
        raise TypeError(f"{error}; leave the column out with --drop") from None
    declared = find_categorical(list(chosen), table)
    return sum(table.is_text(j) or j in declared for j in range(table.n_columns))
