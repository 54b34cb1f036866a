"""Repetitions of sections 4.2 and 4.3: cases in blocks, and tables of their results."""

from collections.abc import Callable, Sequence
from functools import partial
from statistics import mean
from typing import NamedTuple

import numpy as np

from auctor.metrics import auc
from papers.experiment import Case, CaseResults, Result, Setup, Size
from papers.komori_2010.cross_validation import choose, cross_validate
from papers.komori_2010.distributions import FEATURES, Labelled, draw
from papers.komori_2010.methods import (
    ADABOOST,
    AUCBOOST,
    BY_AUC,
    BY_AUC_CV,
    ESTIMATED,
    ESTIMATED_FULL,
    GAM,
    GAM_QUANTILES,
    GLM,
    GRID,
    N_QUANTILES,
    OPTIMAL,
    OURS,
    PACKAGES,
    STUMPS,
    Effort,
    Fitted,
    effort,
    fit,
    fit_aucboost,
    is_reduced,
)
from papers.komori_2010.verdicts import REDUCED, Finding, Printed, same_figure
from papers.page import Cause, Headline, Page, Verdict
from papers.statistics import differences, mean_se, standard_error, t_interval
from papers.verdicts import over_rows

TOTAL = "total"
COLUMNS = (*FEATURES, TOTAL)


class Plan(NamedTuple):
    """Repetitions of a method in the full, quick and tiny size; a block of them is a case."""

    full: int
    quick: int
    tiny: int
    block: int
    seconds: float  # approximate seconds of one repetition


# The paper has 1,000 repetitions; the cross-validation of AUCBoost takes long and has 20.
PLANS = {
    AUCBOOST: Plan(1000, 3, 1, 20, 0.1),
    OURS: Plan(1000, 6, 2, 20, 0.11),
    OPTIMAL: Plan(1000, 30, 4, 100, 0.002),
    ESTIMATED: Plan(1000, 30, 4, 100, 0.003),
    ESTIMATED_FULL: Plan(1000, 30, 4, 100, 0.003),
    ADABOOST: Plan(1000, 8, 2, 20, 0.13),
    GAM: Plan(1000, 3, 1, 10, 2.6),
    GAM_QUANTILES: Plan(1000, 30, 4, 100, 0.02),
    GLM: Plan(1000, 30, 4, 100, 0.01),
    STUMPS: Plan(200, 6, 1, 50, 0.06),
}
TUNED = Plan(20, 1, 1, 1, 6.0)
_TUNED = "tuned"  # the cases that fit AUCBoost by both criteria of cross-validation
_CRITERION = {BY_AUC_CV: "penalised", BY_AUC: "auc"}


def cases(setup: Setup, distribution: str, methods: Sequence[str]) -> list[Case]:
    """Blocks of repetitions of each method; methods get the same time if a run is stopped."""
    out, spent = [], effort(setup)
    for method in [m for m in methods if m in PLANS]:
        plan = PLANS[method]
        fraction = spent.n_rounds / 200 if method == AUCBOOST else 1.0
        work = partial(repeat, method, distribution, setup.seed, spent)
        out += _blocks(setup, plan, method, work, fraction)
    if BY_AUC_CV in methods:
        fraction = spent.n_rounds * spent.n_folds / 2000
        work = partial(repeat_tuned, distribution, setup.seed, spent)
        out += _blocks(setup, TUNED, _TUNED, work, fraction, first_turn=100)
    return out


def _blocks(
    setup: Setup,
    plan: Plan,
    name: str,
    work: Callable[[int, int], Result],
    fraction: float,
    first_turn: int = 0,
) -> list[Case]:
    count = setup.pick(plan.full, plan.quick, plan.tiny)
    out = []
    for start in range(0, count, plan.block):
        stop = min(start + plan.block, count)
        seconds, packages = plan.seconds * fraction, PACKAGES.get(name, ())
        out.append(
            Case(
                f"{name} {start}",
                partial(work, start, stop),
                packages=packages,
                cost=(stop - start) * seconds,
                turn=first_turn + int(start * seconds),
            )
        )
    return out


def repeat(
    method: str, distribution: str, seed: int, effort: Effort, start: int, stop: int
) -> Result:
    """AUCs of the test rows, by the score and by each feature's part, of some repetitions."""
    result: Result = {}
    for repetition in range(start, stop):
        train, test = draw(distribution, seed, repetition)
        _measure(result, fit(method, distribution, train, effort), test)
    return result


def repeat_tuned(distribution: str, seed: int, effort: Effort, start: int, stop: int) -> Result:
    """The same for AUCBoost with lambda and T by cross-validation: one search, two criteria."""
    result: Result = {method: {"lambda": [], "T": []} for method in _CRITERION}
    for repetition in range(start, stop):
        train, test = draw(distribution, seed, repetition)
        curves = cross_validate(train, GRID, effort.n_rounds, effort.n_folds, N_QUANTILES)
        for method, criterion in _CRITERION.items():
            best = choose(curves, criterion)
            _measure(result[method], fit_aucboost(train, best.penalty, best.n_rounds), test)
            result[method]["lambda"].append(best.penalty)
            result[method]["T"].append(best.n_rounds)
    return result


def _measure(result: Result, fitted: Fitted, test: Labelled) -> None:
    """Append the AUCs of a repetition."""
    result.setdefault(TOTAL, []).append(float(auc(test.y, fitted.score(test.X))))
    if fitted.parts is not None:
        parts = fitted.parts(test.X)
        for k, feature in enumerate(FEATURES):
            result.setdefault(feature, []).append(float(auc(test.y, parts[:, k])))


class Aucs:
    """Results of the cases: method -> column -> repetition -> AUC."""

    def __init__(self, results: CaseResults) -> None:
        self._values: dict[str, dict[str, dict[int, float]]] = {}
        for name, result in results.items():
            method, _, start = name.rpartition(" ")
            by_method = result if method == _TUNED else {method: result}
            for known, own in by_method.items():
                columns = self._values.setdefault(known, {})
                for column, values in own.items():
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


def print_choices(page: Page, aucs: Aucs) -> None:
    """How often cross-validation takes each lambda, and the median T."""
    rows = []
    for method in (BY_AUC_CV, BY_AUC):
        penalties, rounds = aucs.values(method, "lambda"), aucs.values(method, "T")
        if penalties:
            taken = [f"{penalties.count(penalty)}" for penalty in GRID]
            rows.append([method, *taken, f"{np.median(rounds):g}"])
    if rows:
        page.text("How often cross-validation takes each lambda, and the median of its T:")
        page.table(["method", *(f"lambda {penalty:g}" for penalty in GRID), "T"], rows)


def claim_row(
    page: Page, aucs: Aucs, table: str, method: str, headline: tuple[str, Cause] | None = None
) -> None:
    """Judge a row of the paper's table: its mean AUC first, then its four score AUCs.

    ``headline`` is the short text for the first page and why the row may differ. Our GAM is not
    that of S-Plus, and the paper does not give the number of cuts of AUCBoost.
    """
    why = Cause.SETUP if method in (AUCBOOST, GAM) else Cause.UNKNOWN
    total = f"{method}, with full covariance matrices" if method == ESTIMATED else method
    findings = row_findings(page, aucs, table, method)
    parts = [findings[feature] for feature in FEATURES]
    figure = page.expected[table][method][TOTAL]
    told = None
    if headline is not None:
        ours = mean_interval(aucs.values(method))
        told = Headline(headline[0], f"{figure[0]:.3f}", ours, headline[1])
    verdict, number = findings[TOTAL]
    page.claim(f"{total}: mean AUC {figure[0]:.3f}", verdict, number, headline=told, cause=why)
    n_met = sum(finding.verdict in (Verdict.REPRODUCED, Verdict.BETTER) for finding in parts)
    off = [
        f"{feature} {findings[feature].number}"
        for feature in FEATURES
        if findings[feature].verdict == Verdict.NOT_REPRODUCED
    ]
    verdict = over_rows([finding.verdict for finding in parts])
    number = "; ".join([f"{n_met} of {len(parts)} met", *off])
    page.claim(f"{method}: score AUCs of x1 to x4", verdict, number, cause=why)


def row_findings(page: Page, aucs: Aucs, table: str, method: str) -> dict[str, Finding]:
    """Each figure of a row of the paper's table beside ours."""
    out = {}
    for column in COLUMNS:
        theirs, values = printed(page, table, method, column), aucs.values(method, column)
        if column == TOTAL and method == ESTIMATED:  # F_N is printed with whole matrices
            values = aucs.values(ESTIMATED_FULL)
        is_proposed = method == AUCBOOST
        out[column] = REDUCED if theirs is None else same_figure(values, theirs, is_proposed)
    return out


def mean_interval(values: Sequence[float]) -> str:
    """``0.828 (0.825, 0.831)``: mean and its 95 % interval."""
    if len(values) < 2:
        return f"{values[0]:.3f}" if values else "not run"
    interval = t_interval(values)
    return f"{interval.value:.3f} ({interval.low:.3f}, {interval.high:.3f})"


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
    left = {
        method: PLANS[method].seconds * (PLANS[method].full - len(aucs.values(method)))
        for method in methods
        if method in PLANS
    }
    minutes = sum(left.values()) / 60
    cost = ""
    if page.setup.size == Size.FULL and minutes > 1:
        longest = max(left, key=left.__getitem__)
        cost = (
            f" The rest of the paper's 1,000 would take some {minutes:.0f} minutes of one core, of "
            f"which {left[longest] / 60:.0f} for {longest}."
        )
    without = f"; none of {' / '.join(counts[0])}" if 0 in counts else ""
    page.text(
        "Repetitions that were run, each a fresh sample that is the same for every method: "
        f"{words}{without}. Methods with fewer repetitions have seen only a part of the samples: "
        "compare paired differences, which are over the samples that both have seen, not means."
        + cost
    )
