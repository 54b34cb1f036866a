"""A paper is a tuple of experiments; an experiment is a list of cases and a report on them."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from papers.tables import missing_files, where_looked

if TYPE_CHECKING:
    from papers.page import Page

T = TypeVar("T")
Result = dict[str, Any]  # the result of one case; only values that JSON can represent


class Size(Enum):
    """How much of an experiment is run: the paper's sizes, minutes, or the seconds of a test."""

    FULL = "full"
    QUICK = "quick"
    TINY = "tiny"


@dataclass(frozen=True)
class Setup:
    """Settings that all cases of a run have in common."""

    size: Size = Size.FULL
    seed: int = 0

    def pick(self, full: T, quick: T, tiny: T) -> T:
        """Return the one of the three values that belongs to the size."""
        return {Size.FULL: full, Size.QUICK: quick, Size.TINY: tiny}[self.size]


@dataclass(frozen=True)
class Case:
    """One unit of work, whose result is stored under its name.

    ``work`` is sent to another process and must be picklable: a module-level function or a
    ``partial`` of one.
    """

    name: str
    work: Callable[[], Result]
    tables: tuple[str, ...] = ()  # in the folder that AUCTOR_DATA names
    packages: tuple[str, ...] = ()  # needed besides the dependencies of auctor
    cost: float = 1.0  # approximate seconds, for the estimate of the remaining time
    # Cases of a lower turn run first, so that a stopped run has some results of everything.
    turn: int = 0

    def obstacle(self) -> str | None:
        """Return why the case cannot be run here, or None if it can."""
        files = missing_files(self.tables)
        if files:
            return f"{', '.join(files)} not found: {where_looked()}"
        absent = [name for name in self.packages if find_spec(name) is None]
        if absent:
            return f"{', '.join(absent)} not installed: pip install 'auctor[papers]'"
        return None


CaseResults = Mapping[str, Result]  # case name -> result; only the cases that were run


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper."""

    name: str
    title: str
    cases: Callable[[Setup], Iterable[Case]]
    report: Callable[["Page", CaseResults, Setup], None]
    # An experiment that measures times runs its cases one after the other, in this process.
    is_timed: bool = False


@dataclass(frozen=True)
class Paper:
    """A paper and its experiments; ``folder`` holds README.md, run.py and expected.json."""

    name: str
    citation: str
    folder: Path
    experiments: tuple[Experiment, ...]
    best_figure: str = ""  # the name of the picture that stands for the paper

    def expected(self) -> dict[str, Any]:
        """Read the figures that the paper prints."""
        return json.loads((self.folder / "expected.json").read_text(encoding="utf-8"))
