"""The table of a learning problem, taken apart and checked before any work."""

import argparse
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from auctor._typing import Bools, Floats
from auctor.cli.labels import (
    Label,
    choose_positive,
    read_group,
    read_target,
    read_weight,
    two_labels,
)
from auctor.cli.odd_cells import LineOf
from auctor.cli.tables import TableFile
from auctor.data import find_categorical, read_table


class Problem(NamedTuple):
    """Features, labels, weights, groups, and what is to be said of them."""

    X: pa.Table
    y: npt.NDArray[Any]
    weight: Floats | None
    groups: npt.NDArray[Any] | None
    labels: tuple[Label, Label]  # (negative, positive)
    n_pos: int
    n_neg: int
    n_categorical: int
    line_of: LineOf = lambda row: None

    @property
    def positive(self) -> Bools:
        """Which rows are positive."""
        return np.asarray(self.y == self.labels[1])

    def facts(self) -> dict[str, Any]:
        """What every command says of its table."""
        return {
            "rows": self.X.num_rows,
            "positive": self.labels[1],
            "negative": self.labels[0],
            "n_pos": self.n_pos,
            "n_neg": self.n_neg,
            "features": self.X.num_columns,
            "categorical": self.n_categorical,
        }


def feature_names(source: TableFile, args: argparse.Namespace) -> list[str]:
    """The columns to learn from: all but target, weight, group and those dropped."""
    special = {"target": args.target, "weight": args.weight, "group": args.group}
    special = {role: name for role, name in special.items() if name is not None}
    others = [*special.values(), *args.drop]
    source.require([*others, *args.categorical])
    _check_roles(special, args.drop)
    names = [name for name in source.columns if name not in others]
    if not names:
        raise ValueError(f"{source.name} has no column left to learn from")
    if "" in names:
        place = source.columns.index("") + 1
        raise ValueError(
            f"{source.name}: column {place} has no name (a row number?); "
            "name it in the header, or leave it out with --drop ''"
        )
    for name in args.categorical:
        if name not in names:
            raise ValueError(f"--categorical {name!r} is not one of the columns to learn from")
    return names


def _check_roles(special: dict[str, str], dropped: list[str]) -> None:
    roles: dict[str, str] = {}
    for role, name in special.items():
        if name in roles:
            raise ValueError(f"column {name!r} cannot be both {roles[name]} and {role}")
        roles[name] = role
    for name in dropped:
        if name in roles:
            raise ValueError(f"--drop names the {roles[name]} {name!r}; leave it out of --drop")


def read_problem(source: TableFile, names: list[str], args: argparse.Namespace) -> Problem:
    """Read the table and check all that could be wrong with it."""
    more = [name for name in (args.target, args.weight, args.group) if name is not None]
    table = source.read([*names, *more])
    y = read_target(table[args.target], args.target)
    labels = two_labels(y, args.target)
    positive = choose_positive(labels, args.positive, args.target)
    negative = labels[0] if positive == labels[1] else labels[1]
    weight = (
        None
        if args.weight is None
        else read_weight(table[args.weight], args.weight, source.line_of)
    )
    groups = None if args.group is None else read_group(table[args.group], args.group)
    present = slice(None) if weight is None else weight > 0
    n_pos = int(np.count_nonzero(y[present] == positive))
    n_neg = len(y[present]) - n_pos
    _check_counts({positive: n_pos, negative: n_neg}, args)
    X = _dates_as_text(table.select(names))
    n_categorical = _count_categorical(X, args.categorical)
    return Problem(
        X, y, weight, groups, (negative, positive), n_pos, n_neg, n_categorical, source.line_of
    )


def _dates_as_text(X: pa.Table) -> pa.Table:
    """Dates and times as text, which a warning tells of: no learner takes them as they are."""
    for place, field in enumerate(X.schema):
        if pa.types.is_temporal(field.type):
            X = X.set_column(place, field.name, X.column(place).cast(pa.string()))
    return X


def _check_counts(counts: dict[Label, int], args: argparse.Namespace) -> None:
    """Both classes must be there, and twice in every fold for an interval of the AUC."""
    least = max(1, 2 * args.folds)
    for label, number in counts.items():
        if number >= least:
            continue
        if number == 0:
            raise ValueError(f"every row with label {label!r} has weight zero")
        most = min(counts.values()) // 2
        remedy = f"--folds {most}" if most >= 2 else "--folds 0 (no cross-validation)"
        raise ValueError(
            f"label {label!r} has {number} row(s), but {args.folds} folds need {least}, two in "
            f"each; use {remedy}"
        )


def _count_categorical(X: pa.Table, chosen: list[str]) -> int:
    """How many features are of categories; a column of no use to a learner is an error."""
    table = read_table(X)
    try:
        table.check_columns()
    except TypeError as error:
        raise TypeError(f"{error}; leave the column out with --drop") from None
    by_hand = find_categorical(chosen, table)
    return sum(table.is_text(j) or j in by_hand for j in range(table.n_columns))
