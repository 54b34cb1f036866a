"""Possible explanations of the figures of Table 1: ceilings, ties, readings."""

from collections.abc import Sequence
from statistics import mean
from typing import NamedTuple

from papers.experiment import CaseResults, Setup
from papers.page import Page
from papers.suehiro_2011.artificial import Cell, case_name, find_size, repetitions
from papers.suehiro_2011.artificial_figures import (
    ceiling,
    columns_of,
    heads_of,
    label_of,
    luck,
    values_of,
)
from papers.suehiro_2011.judging import read, settings_of
from papers.suehiro_2011.wording import MISSING, beside, cell

READINGS = {
    "test": "held-out rows, noisy labels, ties half",
    "clean": "held-out rows, clean labels, ties half",
    "train": "training rows, noisy labels, ties half",
    "ties_right": "held-out rows, noisy labels, ties counted as right",
}


class Distance(NamedTuple):
    """Distance of our figures from the paper's under one reading."""

    reading: str
    by_method: dict[str, float | None]


def reading_distances(
    results: CaseResults, setup: Setup, paper: dict[Cell, list[float]]
) -> list[Distance]:
    """Mean absolute difference from the paper over the rows, by reading and column."""
    out = []
    for name in READINGS:
        by_method: dict[str, float | None] = {}
        for k, (method, setting) in enumerate(columns_of(setup)[:-2]):
            gaps = [
                abs(mean(ours) - figures[k])
                for c, figures in paper.items()
                if (ours := values_of(results, setup, 1, c, method, setting, name))
            ]
            by_method[heads_of(setup)[k]] = mean(gaps) if gaps else None
        out.append(Distance(name, by_method))
    return out


def print_ceilings(
    page: Page, results: CaseResults, setup: Setup, paper: dict[Cell, list[float]]
) -> None:
    """Report the best possible AUC and the paper's figures above it."""
    page.text(
        "**The ceiling.** With noise q each label is wrong with probability q, independently of "
        "the row, and the best score on noisy labels is the clean label: with equal classes its "
        "AUC is 1 - q. A figure above that is, except by chance in one sample (its standard "
        "deviation is given for 1000 rows), no AUC of noisy held-out labels with ties counted "
        "half. On clean labels the ceiling is 1. With ties counted as right the clean label would "
        "have 1 - q², and any constant 1."
    )
    rows = []
    for c, figures in paper.items():
        tops = [str(f) for f in figures if f > ceiling(c)]
        clean = [
            cell(values_of(results, setup, 1, c, m, "best", "clean"), None)
            for m in ("pairs", "heuristic")
        ]
        above = ", ".join(tops) or MISSING
        rows.append(
            [
                label_of(c),
                f"{ceiling(c):.3f} ± {luck(c):.4f}",
                f"{1 - c.noise**2:.4f}",
                above,
                *clean,
            ]
        )
    page.table(
        [
            "positives, r, noise",
            "ceiling, noisy labels",
            "clean label, ties right",
            "the paper's figures above the ceiling",
            "LP-Pair on clean labels",
            "heuristic on clean labels",
        ],
        rows,
    )


def print_constants(page: Page, results: CaseResults, setup: Setup, cells: list[Cell]) -> None:
    """Report how often all scores are equal, because epsilon is too small for the noise."""
    page.text(
        "**No margin.** With the constant among the hypotheses the soft margin is never negative. "
        "Where epsilon is too small for the noise it is 0, all weight goes to the constant, and "
        "all scores are equal: an AUC of one half, of 0 by the paper's definition (strictly "
        "greater), and of 1 where ties count as right. Fraction of fits (data sets and folds) "
        "without a margin:"
    )
    epsilons = [f"{e:g}" for e in find_size(setup).epsilons]
    rows = []
    for method, title in (
        ("pairs", "LP-Pair"),
        ("heuristic", "heuristic"),
        ("reduced", "reduced"),
    ):
        for noise in sorted({c.noise for c in cells}):
            mine = [c for c in cells if c.noise == noise]
            fractions = [_constant_fraction(results, setup, mine, method, e) for e in epsilons]
            rows.append([title, f"{noise:.0%}", *fractions])
    page.table(["", "noise", *(f"epsilon {e}" for e in epsilons)], rows)


def _constant_fraction(
    results: CaseResults, setup: Setup, cells: list[Cell], method: str, setting: str
) -> str:
    is_constant: list[bool] = []
    for c in cells:
        for repetition in range(repetitions(setup, 1, method)):
            result = results.get(case_name(c, method, repetition))
            if result is not None and setting in settings_of(result, method):
                right = read(result, method, setting, "ties_right")
                is_constant += [value == 1.0 for value in right]
    return f"{mean(is_constant):.0%}" if is_constant else MISSING


def print_readings(
    page: Page, results: CaseResults, setup: Setup, paper: dict[Cell, list[float]]
) -> None:
    """Report our distance from the paper by reading, and the rows of r = 1."""
    page.text(
        "**Which reading gives the paper's figures?** The mean absolute difference between ours "
        "and the paper's over the rows, by what is measured:"
    )
    rows = [
        [READINGS[name], *(MISSING if v is None else f"{v:.4f}" for v in by_method.values())]
        for name, by_method in reading_distances(results, setup, paper)
    ]
    page.table(["measured on", *heads_of(setup)[:-2]], rows)
    row1 = [c for c in paper if c.r == 1]
    rows = [
        [
            label_of(c),
            READINGS[name],
            *(
                cell(values_of(results, setup, 1, c, m, "best", name), beside(setup, paper[c])[k])
                for m, k in (("pairs", 4), ("heuristic", 5))
            ),
        ]
        for c in row1
        for name in READINGS
    ]
    page.text("The rows of r = 1, where the paper's figures stand out, under each reading:")
    page.table(["positives, r, noise", "measured on", "LP-Pair", "heuristic"], rows)


def tell_ceiling(page: Page, paper: dict[Cell, list[float]], table: int) -> None:
    """A statement about the paper's figures that no run can change, and therefore not a claim."""
    excess = [(figures[k] - ceiling(c), luck(c)) for c, figures in paper.items() for k in (4, 5)]
    page.text(
        f"Of the {len(excess)} figures of LP-Pair and the heuristic in Table {table} that belong "
        f"to these rows, {sum(e > 0 for e, _ in excess)} lie above the best possible AUC on noisy "
        f"labels, {sum(e > 3 * sd for e, sd in excess)} by more than 3 standard deviations of its "
        f"sampling error in 1000 rows; the farthest by {max(e for e, _ in excess):.3f}. "
        + judge_excess(excess)
    )


def judge_excess(excess: Sequence[tuple[float, float]]) -> str:
    """Judge by (excess over the ceiling, sampling error): none, some within chance, or beyond."""
    if any(e > 3 * sd for e, sd in excess):
        return "Those cannot all be AUCs on noisy held-out labels with ties counted half."
    if any(e > 0 for e, _ in excess):
        return "Luck may have put them there."
    return "All of them can be AUCs on noisy held-out labels."
