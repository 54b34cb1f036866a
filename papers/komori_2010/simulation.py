"""Repetitions of sections 4.2 and 4.3: cases in blocks, and tables of their results."""

from collections.abc import Sequence
from functools import partial
from statistics import mean
from typing import NamedTuple

import numpy as np

from auctor.metrics import auc
from papers.experiment import Case, CaseResults, Result, Setup
from papers.komori_2010.distributions import FEATURES, draw
from papers.komori_2010.methods import (
    ADABOOST,
    ADABOOST_SKLEARN,
    AUCBOOST,
    EBM,
    ESTIMATED,
    ESTIMATED_FULL,
    GAM,
    GAM_QUANTILES,
    GLM,
    OPTIMAL,
    OURS,
    OURS_BINS,
    PACKAGES,
    STUMPS,
    Effort,
    effort,
    fit,
    is_reduced,
)
from papers.komori_2010.verdicts import Printed
from papers.page import Page
from papers.statistics import differences, mean_se, standard_error

TOTAL = "total"
COLUMNS = (*FEATURES, TOTAL)


class Plan(NamedTuple):
    """Repetitions of a method in the full, quick and tiny size; a block of them is a case."""

    full: int
    quick: int
    tiny: int
    block: int
    seconds: float  # approximate seconds of one repetition


# The paper has 1,000 repetitions; methods that are not the paper's and are slow have fewer here.
PLANS = {
    AUCBOOST: Plan(1000, 3, 1, 2, 8.0),
    OURS: Plan(1000, 6, 2, 20, 0.35),
    OURS_BINS: Plan(200, 2, 0, 20, 0.4),
    OPTIMAL: Plan(1000, 30, 4, 100, 0.002),
    ESTIMATED: Plan(1000, 30, 4, 100, 0.003),
    ESTIMATED_FULL: Plan(1000, 30, 4, 100, 0.003),
    ADABOOST: Plan(1000, 8, 2, 20, 0.25),
    ADABOOST_SKLEARN: Plan(200, 0, 0, 2, 6.0),
    GAM: Plan(1000, 3, 1, 10, 0.6),
    GAM_QUANTILES: Plan(1000, 30, 4, 100, 0.02),
    GLM: Plan(1000, 30, 4, 100, 0.01),
    STUMPS: Plan(1000, 6, 1, 50, 0.06),
    EBM: Plan(20, 0, 0, 2, 4.0),
}


def cases(setup: Setup, distribution: str, methods: Sequence[str]) -> list[Case]:
    """Blocks of repetitions of each method."""
    out = []
    for method in methods:
        plan, spent = PLANS[method], effort(setup)
        count = setup.pick(plan.full, plan.quick, plan.tiny)
        fraction = spent.n_rounds * spent.n_folds / 2000 if method == AUCBOOST else 1.0
        for start in range(0, count, plan.block):
            stop = min(start + plan.block, count)
            work = partial(repeat, method, distribution, setup.seed, start, stop, spent)
            cost = (stop - start) * plan.seconds * fraction
            packages = PACKAGES.get(method, ())
            turn = 100 * start // count
            out.append(Case(f"{method} {start}", work, packages=packages, cost=cost, turn=turn))
    return out


def repeat(
    method: str, distribution: str, seed: int, start: int, stop: int, effort: Effort
) -> Result:
    """AUCs of the test rows, by the score and by each feature's part, of some repetitions."""
    result: dict[str, list[float]] = {TOTAL: []}
    for repetition in range(start, stop):
        train, test = draw(distribution, seed, repetition)
        fitted = fit(method, distribution, train, effort)
        result[TOTAL].append(float(auc(test.y, fitted.score(test.X))))
        if fitted.parts is not None:
            parts = fitted.parts(test.X)
            for k, feature in enumerate(FEATURES):
                result.setdefault(feature, []).append(float(auc(test.y, parts[:, k])))
    return result


class Aucs:
    """Results of the cases: method -> column -> repetition -> AUC."""

    def __init__(self, results: CaseResults) -> None:
        self._values: dict[str, dict[str, dict[int, float]]] = {}
        for name, result in results.items():
            method, _, start = name.rpartition(" ")
            columns = self._values.setdefault(method, {})
            for column, values in result.items():
                columns.setdefault(column, {}).update(enumerate(values, start=int(start)))

    def by_repetition(self, method: str, column: str = TOTAL) -> dict[int, float]:
        """Repetition -> AUC; empty if the method was not run or has no such column."""
        return self._values.get(method, {}).get(column, {})

    def values(self, method: str, column: str = TOTAL) -> list[float]:
        """In the order of repetitions."""
        result = self.by_repetition(method, column)
        return [result[repetition] for repetition in sorted(result)]

    def less(self, method: str, other: str, column: str = TOTAL) -> list[float]:
        """Differences (method - other) on the samples that both have seen."""
        mine, theirs = self.paired(method, other, column)
        return differences(mine, theirs)

    def paired(
        self, method: str, other: str, column: str = TOTAL
    ) -> tuple[list[float], list[float]]:
        """The values of both on the samples that both have seen."""
        mine, theirs = self.by_repetition(method, column), self.by_repetition(other, column)
        common = sorted(mine.keys() & theirs.keys())
        return [mine[r] for r in common], [theirs[r] for r in common]

    def steps(self, method: str, lower: str, higher: str) -> list[float]:
        """Differences of two columns of the same method and samples."""
        low, high = self.by_repetition(method, lower), self.by_repetition(method, higher)
        return [high[r] - low[r] for r in sorted(low.keys() & high.keys())]


def printed(page: Page, table: str, method: str, column: str) -> Printed | None:
    """The paper's figure, if there is one and the method has the paper's settings."""
    if is_reduced(page.setup, method):
        return None
    row = page.expected[table].get(method)
    return Printed(*row[column]) if row is not None else None


def print_totals(
    page: Page, aucs: Aucs, methods: Sequence[str], table: str, reference: str
) -> None:
    """AUC of the whole score, with its band and the paired difference to a reference."""
    rows = []
    for method in methods:
        values, theirs = aucs.values(method), printed(page, table, method, TOTAL)
        cells = [*_summary(values), _mean_error(aucs.less(method, reference)), len(values)]
        rows.append([method, *cells, "" if theirs is None else f"[{theirs}]"])
    page.table(
        ["method", "AUC ± s.e.", "95 % of the repetitions", f"minus {reference} ± s.e.",
         "repetitions", "[the paper's, 1,000 repetitions]"],
        rows,
    )  # fmt: skip


def print_parts(page: Page, aucs: Aucs, methods: Sequence[str], table: str) -> None:
    """Score AUCs: each feature's part alone ranks the test rows."""
    rows = []
    for method in methods:
        cells = []
        for feature in FEATURES:
            values, theirs = aucs.values(method, feature), printed(page, table, method, feature)
            shown = f" [{theirs}]" if theirs is not None else ""
            cells.append(_band(values) + shown if values else "–")
        rows.append([method, *cells])
    page.text(
        "Score AUCs: mean (95 % of the repetitions) [the paper's]. A score that is not a sum over "
        "features has none."
    )
    page.table(["method", *FEATURES], rows)


def _summary(values: Sequence[float]) -> list[str]:
    if not values:
        return ["–", "–"]
    low, high = np.percentile(values, [2.5, 97.5])
    shown = mean_se(values) if len(values) > 1 else f"{values[0]:.4f}"
    return [shown, f"{low:.3f} to {high:.3f}"]


def _mean_error(values: Sequence[float]) -> str:
    return f"{mean(values):+.4f} ± {standard_error(values):.4f}" if len(values) > 1 else "–"


def _band(values: Sequence[float]) -> str:
    low, high = np.percentile(values, [2.5, 97.5])
    return f"{mean(values):.3f} ({low:.3f}, {high:.3f})"


def tell_repetitions(page: Page, aucs: Aucs, methods: Sequence[str]) -> None:
    """Describe how many repetitions were run."""
    counts: dict[int, list[str]] = {}
    for method in methods:
        counts.setdefault(len(aucs.values(method)), []).append(method)
    words = "; ".join(f"{n} of {' / '.join(counts[n])}" for n in sorted(counts, reverse=True) if n)
    without = f"; none of {' / '.join(counts[0])}" if 0 in counts else ""
    page.text(
        "Repetitions that were run, each a fresh sample that is the same for every method: "
        f"{words}{without}. Methods with fewer repetitions have seen only a part of the samples: "
        "compare paired differences, which are over the samples that both have seen, not means."
    )
