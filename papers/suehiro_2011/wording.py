"""The format of table cells, and rules for verdicts."""

import json
from collections.abc import Sequence
from statistics import mean
from typing import Any, Self

from papers.experiment import Setup, Size
from papers.page import Page
from papers.statistics import standard_error

MISSING = "–"


class Printed(float):
    """A figure of the paper that keeps the digits it is printed with: 0.9290 is not 0.929."""

    text: str

    def __new__(cls, text: str) -> Self:
        """From its digits."""
        self = super().__new__(cls, text)
        self.text = text
        return self

    def __str__(self) -> str:
        return self.text


def printed(page: Page, table: str) -> dict[str, Any]:
    """The figures of a table in expected.json, with their digits."""
    text = (page.paper.folder / "expected.json").read_text(encoding="utf-8")
    result: dict[str, Any] = json.loads(text, parse_float=Printed)[table]
    return result


def beside(setup: Setup, figures: Sequence[float | None]) -> list[float | None]:
    """The paper's figures, if our run has the paper's size; none in a reduced run."""
    return list(figures) if setup.size == Size.FULL else [None] * len(figures)


def say_beside(setup: Setup) -> str:
    """Describe the brackets of a table."""
    if setup.size == Size.FULL:
        return "the paper's figure is in brackets"
    return "the paper's figures belong to the full size and are not set beside these"


def bracket(figure: float | None) -> str:
    """The paper's figure behind ours, if there is one."""
    return "" if figure is None else f" ({figure!s})"


def cell(values: Sequence[float], paper: float | None) -> str:
    """``0.9313 ± 0.0021 (0.9384)``: mean, standard error, and the paper's figure."""
    ours = MISSING if not values else f"{mean(values):.4f}"
    if len(values) > 1:
        ours += f" ± {standard_error(values):.4f}"
    return ours + bracket(paper)


# Names of the columns; the paper calls the heuristic of section 4.2 "our method".
_TITLES = {
    "pairs": "LP-Pair",
    "heuristic": "heuristic",
    "reduced": "reduced",
    "SoftRankBoost": "SoftRankBoost (ours)",
}


def title_of(column: str) -> str:
    """The name of a column: the method, ± if negations are allowed, and its rounds."""
    method, negations, rest = column.partition(", negations")
    return _TITLES.get(method, method) + (f" ±{rest}" if negations else "")
