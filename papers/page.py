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
    NOT_RUN = "not run"


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
    is_ours: bool = False  # a check of our own, of a correction or of this library

    def is_broken(self) -> bool:
        """Whether the claim is proved and did not hold."""
        return self.is_certain and self.verdict != Verdict.REPRODUCED


class Page:
    """A page that the reports of a paper's experiments fill section by section."""

    def __init__(self, paper: Paper, setup: Setup, folder: Path) -> None:
        self.paper, self.setup, self.folder = paper, setup, folder
        self.expected = paper.expected()
        self.claims: list[Claim] = []
        self.left_out: dict[str, str] = {}  # experiment -> why nothing of it is here
        self._parts: list[str] = []
        self._experiment = ""

    def begin(self, experiment: Experiment) -> None:
        """Start the section of an experiment."""
        self._experiment = experiment.name
        self.text(f"## {experiment.title}")
        self.text(f"`{_command(self.setup, f'{self.paper.name}/{experiment.name}')}`")

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

    def claim(self, text: str, verdict: Verdict, number: str, is_certain: bool = False) -> None:
        """Add the verdict on a claim, to this page and to the summary of all papers."""
        self._add(Claim(text, verdict, number, self._experiment, is_certain))

    def check(self, text: str, holds: bool, number: str) -> None:
        """Add a check of our own, which must hold on every run; it is counted separately."""
        verdict = Verdict.REPRODUCED if holds else Verdict.NOT_REPRODUCED
        self._add(Claim(text, verdict, number, self._experiment, is_certain=True, is_ours=True))

    def _add(self, claim: Claim) -> None:
        self.claims.append(claim)
        word = claim.verdict.capitalize() if not claim.is_ours else "Checked"
        if claim.is_ours and claim.is_broken():
            word = "Check failed"
        self.text(f"**{word}**: {claim.text} ({claim.number})")

    def must_hold(self, text: str, holds: bool, number: str) -> None:
        """Add a claim that is proved and therefore must hold on every run."""
        verdict = Verdict.REPRODUCED if holds else Verdict.NOT_REPRODUCED
        self.claim(text, verdict, number, is_certain=True)

    def not_run(self, reasons: dict[str, str], is_empty: bool) -> None:
        """List the cases that could not be run by reason; ``is_empty`` if none was run."""
        if is_empty:
            why = "; ".join(sorted(set(reasons.values()))) or "not selected yet"
            self.left_out[self._experiment] = why
        for reason in sorted(set(reasons.values())):
            names = [name for name, why in reasons.items() if why == reason]
            shown = "; ".join(names[:5]) + ("; ..." if len(names) > 5 else "")
            self.text(f"Not run ({reason}): {shown}.")

    def write(self, results_folder: Path) -> Path:
        """Write the page, and its claims to the file that the summary reads."""
        path = self.folder / f"{self.paper.name}.md"
        write_whole(path, "\n\n".join([*self._head(), *self._parts]) + "\n")
        facts = {
            "citation": self.paper.citation,
            "made": self._made(),
            "claims": [asdict(claim) for claim in self.claims],
            "left_out": self.left_out,
        }
        write_whole(claims_file(results_folder, self.paper.name), json.dumps(facts, indent=1))
        return path

    def _head(self) -> list[str]:
        readme = (self.paper.folder / "README.md").read_text(encoding="utf-8").strip()
        return [readme, self._made()]

    def _made(self) -> str:
        """The command that made the page, and the versions that its figures depend on."""
        reduced = (
            ""
            if self.setup.size == Size.FULL
            else " This is a reduced run, smaller than the paper's."
        )
        return f"Made by `{_command(self.setup, self.paper.name)}` with {versions()}.{reduced}"


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


def _command(setup: Setup, name: str) -> str:
    quick = "" if setup.size == Size.FULL else f" --{setup.size.value}"
    return f"python -m papers {name}{quick} --seed {setup.seed}"


def table_row(cells: Sequence[Any]) -> str:
    """A row of a Markdown table; bars within cells are escaped."""
    return "| " + " | ".join(str(cell).replace("|", "\\|") for cell in cells) + " |"
