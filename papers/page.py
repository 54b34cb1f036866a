"""The page of a paper: Markdown with tables, pictures and the verdict on each claim."""

import json
import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from auctor import __version__
from auctor._files import complete_file, write_text_file
from papers.experiment import Experiment, Paper, Setup, Size

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_PACKAGES = (
    "numpy", "scipy", "scikit-learn", "highspy", "lightgbm", "xgboost", "pygam", "interpret-core",
)  # fmt: skip


class Verdict(StrEnum):
    """The verdict on a claim."""

    REPRODUCED = "reproduced"
    BETTER = "better"
    PARTLY = "in part"
    UNDECIDED = "undecided"
    NOT_REPRODUCED = "not reproduced"
    NOT_COMPARABLE = "not comparable"
    NOT_RUN = "not run"


class Cause(StrEnum):
    """Why a claim is not reproduced."""

    NONE = "–"
    PAPER = "the paper"
    SETUP = "our set-up"
    RUNS = "too few runs"
    DATA = "data not to be had"
    UNKNOWN = "not known"


@dataclass(frozen=True)
class Headline:
    """A claim that belongs on the first page: its short text, the paper's figure, and ours.

    ``cause`` is why the claim fails, where it does; the page has the evidence for it.
    """

    text: str
    paper: str
    ours: str
    cause: Cause = Cause.UNKNOWN


@dataclass(frozen=True)
class Claim:
    """A claim of a paper, the verdict on it, and the number that decides.

    ``is_certain`` marks a statement that is proved (a bound, an equality). If it fails, there is an
    error here or in the paper, and the command ends with an error.
    """

    text: str
    verdict: Verdict
    number: str
    experiment: str
    is_certain: bool = False
    # A check of a correction or of this library, or something that the paper does not claim.
    is_ours: bool = False
    headline: Headline | None = None
    why: Cause = Cause.UNKNOWN  # why the claim fails, where it does

    def is_broken(self) -> bool:
        """Whether the claim is proved and did not hold."""
        return self.is_certain and self.verdict != Verdict.REPRODUCED

    def cause(self) -> Cause:
        """Why the claim is not reproduced; nothing if it is."""
        if self.verdict in (Verdict.REPRODUCED, Verdict.BETTER):
            return Cause.NONE
        if self.verdict in (Verdict.UNDECIDED, Verdict.NOT_RUN):
            return Cause.RUNS
        return self.headline.cause if self.headline is not None else self.why


class Page:
    """A page that the reports of a paper's experiments fill section by section."""

    def __init__(self, paper: Paper, setup: Setup, folder: Path) -> None:
        self.paper, self.setup, self.folder = paper, setup, folder
        self.expected = paper.expected()
        self.claims: list[Claim] = []
        self.left_out: dict[str, str] = {}  # experiment -> why nothing of it is here
        self._parts: list[str] = []
        self._where = ""  # the table, figure or theorem of the section

    def begin(self, experiment: Experiment) -> None:
        """Start the section of an experiment."""
        self._where = experiment.title.partition(":")[0]
        self.text(f"## {experiment.title}")
        self.text(f"`{_command(self.setup, f'{self.paper.name}/{experiment.name}')}`")

    def restore(self, section: dict[str, Any]) -> None:
        """Add the text and the claims of an earlier run whose single results were not kept."""
        self.text("*From an earlier run, whose single results were not kept.*")
        for part in section["parts"]:
            self.text(part)
        for facts in section["claims"]:
            headline = facts.get("headline")
            told = facts | {
                "verdict": Verdict(facts["verdict"]),
                "experiment": self._where,
                "headline": None if headline is None else _read_headline(headline),
                "why": Cause(facts.get("why", Cause.UNKNOWN)),
            }
            self.claims.append(Claim(**told))

    def text(self, markdown: str) -> None:
        """Add a paragraph, or any other block between empty lines."""
        self._parts.append(markdown.strip())

    def table(self, head: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Add a table; cells are printed unchanged."""
        lines = [table_row(head), "|---" * len(head) + "|", *(table_row(row) for row in rows)]
        self.text("\n".join(lines))

    def figure(self, name: str, draw: Callable[["Figure"], None], caption: str) -> None:
        """Add a picture drawn by ``draw``; the caption is also its alternative text."""
        if find_spec("matplotlib") is None:
            self.text(f"*{caption}* (not drawn: pip install 'auctor[plot]')")
            return
        from matplotlib.figure import Figure

        path = self.folder / self.paper.name / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        canvas = Figure(figsize=(7, 4.3), layout="constrained")
        draw(canvas)
        with complete_file(path) as temporary:
            canvas.savefig(temporary, dpi=110, metadata={"Software": None})
        self.text(f"![{caption}]({self.paper.name}/{name}.png)\n\n*{caption}*")

    def claim(
        self,
        text: str,
        verdict: Verdict,
        number: str,
        is_certain: bool = False,
        headline: Headline | None = None,
        cause: Cause = Cause.UNKNOWN,
    ) -> None:
        """Add the verdict on a claim of the paper, to this page and to the summary of all.

        ``cause`` is why the claim fails, where it does; a headline has its own.
        """
        where = self._where
        self._add(Claim(text, verdict, number, where, is_certain, headline=headline, why=cause))

    def addition(self, text: str, verdict: Verdict, number: str) -> None:
        """Add a verdict on something that the paper does not claim; it is counted separately."""
        self._add(Claim(text, verdict, number, self._where, is_ours=True))

    def check(self, text: str, holds: bool, number: str) -> None:
        """Add a check of our own, which must hold on every run; it is counted separately."""
        verdict = Verdict.REPRODUCED if holds else Verdict.NOT_REPRODUCED
        self._add(Claim(text, verdict, number, self._where, is_certain=True, is_ours=True))

    def _add(self, claim: Claim) -> None:
        self.claims.append(claim)
        words = f"**{verdict_words(claim).capitalize()}**{_cause_words(claim)}"
        self.text(f"{words}: {claim.text} ({claim.number})")

    def must_hold(
        self, text: str, holds: bool, number: str, headline: Headline | None = None
    ) -> None:
        """Add a claim that is proved and therefore must hold on every run."""
        verdict = Verdict.REPRODUCED if holds else Verdict.NOT_REPRODUCED
        self.claim(text, verdict, number, is_certain=True, headline=headline)

    def not_run(self, reasons: dict[str, str], is_empty: bool) -> None:
        """List the cases that could not be run by reason; ``is_empty`` if none was run."""
        if is_empty:
            why = "; ".join(sorted(set(reasons.values()))) or "not selected yet"
            self.left_out[self._where] = why
        for reason in sorted(set(reasons.values())):
            names = [name for name, why in reasons.items() if why == reason]
            shown = "; ".join(names[:5]) + ("; ..." if len(names) > 5 else "")
            self.text(f"Not run ({reason}): {shown}.")

    def write(self, results_folder: Path) -> Path:
        """Write the page, and its claims to the file that the summary reads."""
        path = self.folder / f"{self.paper.name}.md"
        parts = [*self._head(), *self._parts, self._tail()]
        write_whole(path, "\n\n".join(parts) + "\n")
        facts = {
            "citation": self.paper.citation,
            "best_figure": self._best_figure() and self.paper.best_figure,
            "claims": [asdict(claim) | {"cause": claim.cause()} for claim in self.claims],
            "left_out": self.left_out,
        }
        write_whole(claims_file(results_folder, self.paper.name), json.dumps(facts, indent=1))
        return path

    def _head(self) -> list[str]:
        """Title, what the paper claims, the results, and the best figure."""
        title, _, rest = self._readme().partition("\n")
        parts = [title, rest.partition("\n## ")[0].strip()]
        if self.setup.size != Size.FULL:
            parts.append("**This is a reduced run, smaller than the paper's.**")
        lines = [_headline_line(claim) for claim in self.claims if claim.headline is not None]
        if lines:
            parts += ["## Results", "\n".join(lines)]
        return [*parts, *filter(None, [self._best_figure()])]

    def _best_figure(self) -> str:
        """The picture that stands for the paper, if there is one."""
        name = f"{self.paper.name}/{self.paper.best_figure}.png"
        shown = next((part for part in self._parts if f"]({name})" in part), "")
        return shown.partition("\n")[0]

    def _tail(self) -> str:
        """Set-up, corrections and differences, from the README of the paper."""
        _, mark, rest = self._readme().partition("\n## ")
        return f"{mark}{rest}".strip()

    def _readme(self) -> str:
        return (self.paper.folder / "README.md").read_text(encoding="utf-8").strip()


def verdict_words(claim: Claim) -> str:
    """The verdict, and whether the claim is the paper's or ours."""
    if not claim.is_ours:
        return str(claim.verdict)
    if not claim.is_certain:
        return f"beyond the paper, {holds_words(claim.verdict)}"
    return "check failed" if claim.is_broken() else "checked"


def holds_words(verdict: Verdict) -> str:
    """The verdict on a statement that is ours, and so cannot be reproduced."""
    words = {Verdict.REPRODUCED: "holds", Verdict.NOT_REPRODUCED: "does not hold"}
    return words.get(verdict, str(verdict))


def _headline_line(claim: Claim) -> str:
    """A line of the results at the head of a page."""
    assert claim.headline is not None
    told = claim.headline
    return (
        f"- **{claim.verdict.capitalize()}**{_cause_words(claim)}: {told.text}. "
        f"Paper: {told.paper}. Here: {told.ours}."
    )


def _cause_words(claim: Claim) -> str:
    """Why a claim of the paper is not reproduced; nothing if it is, or if it is ours."""
    cause = claim.cause()
    return "" if claim.is_ours or cause == Cause.NONE else f" (cause: {cause})"


def _read_headline(facts: dict[str, str]) -> Headline:
    return Headline(facts["text"], facts["paper"], facts["ours"], Cause(facts["cause"]))


def versions() -> str:
    """The versions that the figures depend on."""
    texts = [f"auctor {__version__}", f"Python {platform.python_version()}"]
    for name in _PACKAGES:
        try:
            texts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return ", ".join(texts)


def claims_file(results_folder: Path, paper: str) -> Path:
    """The file in which the claims of a paper are stored for the summary."""
    return results_folder / f"{paper}.claims.json"


def write_whole(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text_file(path, text)


def made_by(setup: Setup) -> str:
    """The command that made the pages, and the versions that the figures depend on."""
    return f"Made by `{_command(setup, 'all')}` with {versions()}."


def _command(setup: Setup, name: str) -> str:
    quick = "" if setup.size == Size.FULL else f" --{setup.size.value}"
    return f"python -m papers {name}{quick} --seed {setup.seed}"


def table_row(cells: Sequence[Any]) -> str:
    """A row of a Markdown table; bars within cells are escaped."""
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
