"""The format of table cells, and rules for verdicts."""

import json
from collections.abc import Sequence
from statistics import mean
from typing import Any, Self

from papers.experiment import Setup, Size
from papers.page import Page, Verdict
from papers.statistics import Estimate, standard_error

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


def direction(estimate: Estimate) -> Verdict:
    """Judge a difference that is above 0 in the paper, by its interval."""
    if estimate.low > 0:
        return Verdict.REPRODUCED
    return Verdict.NOT_REPRODUCED if estimate.high < 0 else Verdict.UNDECIDED


def fraction_verdict(n_agreeing: int, n_all: int) -> Verdict:
    """Judge a claim on several rows: nearly all of them, most of them, or fewer."""
    if n_all == 0:
        return Verdict.NOT_RUN
    if n_agreeing >= 0.8 * n_all:
        return Verdict.REPRODUCED
    return Verdict.PARTLY if n_agreeing >= 0.4 * n_all else Verdict.NOT_REPRODUCED
