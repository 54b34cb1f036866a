"""What a paper is to this room: experiments, made of cases, told by a report."""

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
Result = dict[str, Any]  # of one case; only what JSON can hold


class Size(Enum):
    """How much of an experiment is run: the paper's own size, minutes, or a test's seconds."""

    FULL = "full"
    QUICK = "quick"
    TINY = "tiny"


@dataclass(frozen=True)
class Setup:
    """What all cases of a run share."""

    size: Size = Size.FULL
    seed: int = 0

    def pick(self, full: T, quick: T, tiny: T) -> T:
        """The one of three that belongs to the size."""
        return {Size.FULL: full, Size.QUICK: quick, Size.TINY: tiny}[self.size]


@dataclass(frozen=True)
class Case:
    """One piece of work, done or not done; its result is kept under its name.

    ``work`` goes to another process, so that it is a function of a module or a ``partial`` of one.
    """

    name: str
    work: Callable[[], Result]
    tables: tuple[str, ...] = ()  # in the folder that AUCTOR_DATA names
    packages: tuple[str, ...] = ()  # that auctor itself does without
    cost: float = 1.0  # seconds or so, for the time left
    # Those of a lower turn run first: a run that is stopped has something of everything.
    turn: int = 0

    def obstacle(self) -> str | None:
        """Why it cannot be run here."""
        files = missing_files(self.tables)
        if files:
            return f"{', '.join(files)} not found: {where_looked()}"
        absent = [name for name in self.packages if find_spec(name) is None]
        if absent:
            return f"{', '.join(absent)} not installed: pip install 'auctor[papers]'"
        return None


Found = Mapping[str, Result]  # case name -> result; only the cases that were run


@dataclass(frozen=True)
class Experiment:
    """A table or figure of a paper."""

    name: str
    title: str
    cases: Callable[[Setup], Iterable[Case]]
    report: Callable[["Page", Found, Setup], None]
    # Times are wrong while other cases run: such an experiment has the machine to itself.
    is_timed: bool = False


@dataclass(frozen=True)
class Paper:
    """A paper and its experiments; ``folder`` holds README.md, run.py and expected.json."""

    name: str
    citation: str
    folder: Path
    experiments: tuple[Experiment, ...]

    def expected(self) -> dict[str, Any]:
        """The paper's own figures."""
        return json.loads((self.folder / "expected.json").read_text(encoding="utf-8"))
