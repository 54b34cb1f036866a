"""Groups of options that several commands share, typed."""

import argparse
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Self


@dataclass(frozen=True)
class Execution:
    """How a command does its work: the random seed, the threads, and whether it shows progress."""

    seed: int = 0
    jobs: int = 1
    quiet: bool = False

    @classmethod
    def from_args(cls, args: argparse.Namespace) -> Self:
        """The options of ``fit`` and ``compare``."""
        return cls(seed=args.seed, jobs=args.jobs, quiet=args.quiet)


@dataclass(frozen=True)
class ColumnRoles:
    """Which column is the target, the weight, the group or the time; which are not features."""

    target: str
    weight: str | None = None
    group: str | None = None
    time: str | None = None
    positive: str | None = None  # the positive label, as it was typed
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()  # values that stand for missing ones, as typed

    @classmethod
    def for_training(cls, args: argparse.Namespace) -> Self:
        """The options of ``fit`` and ``compare``."""
        return cls(
            target=args.target,
            weight=args.weight,
            group=args.group,
            time=args.time,
            positive=args.positive,
            drop=tuple(args.drop),
            categorical=tuple(args.categorical),
            missing=tuple(args.missing),
        )

    @classmethod
    def for_evaluation(cls, args: argparse.Namespace) -> Self:
        """The options of ``evaluate`` and ``report``, whose model knows its features and labels."""
        return cls(target=args.target, weight=args.weight, group=args.group)

    @property
    def evaluated(self) -> "ColumnRoles":
        """The roles of columns that an evaluation needs."""
        return ColumnRoles(target=self.target, weight=self.weight, group=self.group)

    @property
    def special(self) -> dict[str, str]:
        """The columns that are not features, by their role: target, weight, group, time."""
        roles = {
            "target": self.target,
            "weight": self.weight,
            "group": self.group,
            "time": self.time,
        }
        return {role: name for role, name in roles.items() if name is not None}

    def with_lists(self, columns: Sequence[str]) -> "ColumnRoles":
        """The roles with lists such as ``--drop a,b`` split into names of ``columns``."""
        drop, categorical = (split_names(names, columns) for names in (self.drop, self.categorical))
        return replace(self, drop=drop, categorical=categorical)


def split_names(names: Sequence[str], columns: Collection[str]) -> tuple[str, ...]:
    """Names of columns from an option that may hold several, with commas between them.

    A text that is the name of a column as a whole is not split.

    Examples
    --------
    >>> split_names(["a,b", "x,y"], ["a", "b", "x,y"])
    ('a', 'b', 'x,y')
    """
    parts = ([name] if name in columns else name.split(",") for name in names)
    return tuple(dict.fromkeys(part for few in parts for part in few))
