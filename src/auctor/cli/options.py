"""Groups of options that several commands share, typed."""

import argparse
from dataclasses import dataclass
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
    """Which column of a table is the target, the weight or the group; which are not features."""

    target: str
    weight: str | None = None
    group: str | None = None
    positive: str | None = None  # the positive label, as it was typed
    drop: tuple[str, ...] = ()
    categorical: tuple[str, ...] = ()

    @classmethod
    def for_training(cls, args: argparse.Namespace) -> Self:
        """The options of ``fit`` and ``compare``."""
        return cls(
            target=args.target,
            weight=args.weight,
            group=args.group,
            positive=args.positive,
            drop=tuple(args.drop),
            categorical=tuple(args.categorical),
        )

    @classmethod
    def for_evaluation(cls, args: argparse.Namespace) -> Self:
        """The options of ``evaluate`` and ``report``, whose model knows its features and labels."""
        return cls(target=args.target, weight=args.weight, group=args.group)

    @property
    def special(self) -> dict[str, str]:
        """The columns that are not features, by their role: target, weight, group."""
        roles = {"target": self.target, "weight": self.weight, "group": self.group}
        return {role: name for role, name in roles.items() if name is not None}
