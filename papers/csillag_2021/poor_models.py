"""Section 4: ensembles with poor base models among the others."""

from collections.abc import Iterator
from functools import partial
from statistics import mean

import numpy as np

from papers.csillag_2021.ensembling import methods_of
from papers.csillag_2021.methods import (
    ENSEMBLERS,
    EXACT,
    N_FOLDS,
    OURS,
    OUT_OF_FOLD,
    OVERLAP,
    Fold,
    Make,
    exactboost,
    loss_of,
    read_fold,
    stacked,
)
from papers.experiment import Case, CaseResults, Experiment, Result, Setup
from papers.page import Cause, Page, Verdict
from papers.statistics import Estimate, t_interval
from papers.verdicts import TELLING, by_interval, over_rows

METRICS = ("AUC", "KS")
TABLES = ("heart", "ionosphere", "liver")


def added(setup: Setup) -> tuple[int, ...]:
    """Numbers of poor base models beside the six good ones."""
    return setup.pick((0, 6), (0, 6), (0, 2))


def cases(setup: Setup) -> Iterator[Case]:
    """One case per fold."""
    for table in setup.pick(TABLES, ("liver",), ("liver",)):
        for fold in range(setup.pick(N_FOLDS, 2, 1)):
            yield Case(
                f"{table}, fold {fold}",
                partial(work, table, fold, setup.seed, setup.pick(50, 10, 2), setup.pick(5, 2, 2),
                        added(setup)),
                tables=(table,),
                packages=("xgboost",),
                cost=10.0,
                turn=fold,
            )  # fmt: skip


def work(
    table: str, fold: int, seed: int, n_runs: int, n_parts: int, counts: tuple[int, ...]
) -> Result:
    """Losses of all ensemblers of the same base predictions, with more and more noise beside."""
    rows = stacked(read_fold(table, fold, seed), seed, n_parts)[OUT_OF_FOLD]
    return {
        f"{metric}|{n}": _losses(metric, with_poor(rows, n, seed + fold), seed, n_runs)
        for metric in METRICS
        for n in counts
    }


def with_poor(rows: Fold, n_poor: int, seed: int) -> Fold:
    """Predictions of poor models: those of a good one for other rows, so that they know nothing.

    A column is a permutation of the predictions of one of the base models: it has their
    distribution, and an AUC near 1/2.
    """
    rng = np.random.default_rng([seed, 41])
    extra, extra_test = [], []
    for number in range(n_poor):
        column = number % rows.X.shape[1]
        extra.append(rng.permutation(rows.X[:, column]))
        extra_test.append(rng.permutation(rows.X_test[:, column]))
    if not extra:
        return rows
    X = np.column_stack([rows.X, *extra])
    return Fold(X, rows.y, np.column_stack([rows.X_test, *extra_test]), rows.y_test)


def _losses(metric: str, rows: Fold, seed: int, n_runs: int) -> Result:
    ours: dict[str, Make] = {OURS: partial(exactboost, metric, n_runs=n_runs)}
    makes = ours | EXACT[metric] | ENSEMBLERS
    return {m: loss_of(metric, make(seed).fit(rows.X, rows.y), rows) for m, make in makes.items()}


def rises(results: CaseResults, table: str, metric: str, method: str, n: int) -> list[float]:
    """By how much the loss rises with ``n`` poor models, fold by fold."""
    folds = [r for name, r in sorted(results.items()) if name.startswith(f"{table},")]
    return [r[f"{metric}|{n}"][method] - r[f"{metric}|0"][method] for r in folds]


def judge_robust(estimates: list[Estimate]) -> Verdict:
    """Robust where the loss rises by less than 5 % of its range, by the whole interval."""
    verdicts = []
    for estimate in estimates:
        if estimate.high < TELLING:
            verdicts.append(Verdict.REPRODUCED)
        elif estimate.low > TELLING:
            verdicts.append(Verdict.NOT_REPRODUCED)
        else:
            verdicts.append(Verdict.UNDECIDED)
    return over_rows(verdicts)


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """How much the losses rise, and whether ExactBoost's rise less than others'."""
    tables = [t for t in TABLES if any(name.startswith(f"{t},") for name in results)]
    counts = [n for n in added(setup) if n]
    page.text(
        '"It is also robust to noisy features coming from poorly performing base models." To the '
        "six base models of Tables 3 and 4 (predictions out of fold) poor ones are added: "
        "permutations of the predictions of the good ones, which know nothing about the rows. Rise "
        "of the test loss, mean over the folds:"
    )
    for metric in METRICS:
        rows = [
            [t, n, *(f"{mean(rises(results, t, metric, m, n)):+.3f}" for m in methods_of(metric))]
            for t in tables
            for n in counts
        ]
        page.text(f"{metric}:")
        page.table(["table", "poor models", *methods_of(metric)], rows)
    for metric in METRICS:
        for n in counts:
            _claim(page, results, tables, metric, n)


def _claim(page: Page, results: CaseResults, tables: list[str], metric: str, n: int) -> None:
    found = [t_interval(rises(results, t, metric, OURS, n), OVERLAP) for t in tables]
    numbers = "; ".join(f"{t} {estimate}" for t, estimate in zip(tables, found, strict=True))
    page.claim(
        f"ExactBoost is robust to poor base models: with {n} of them its {metric} loss rises by "
        f"less than {TELLING:g}",
        judge_robust(found),
        numbers,
        cause=Cause.UNKNOWN if any(e.low > TELLING for e in found) else Cause.RUNS,
    )
    others, ahead, behind = 0, 0, 0
    for peer in methods_of(metric)[1:]:
        for t in tables:
            pairs = zip(rises(results, t, metric, peer, n), rises(results, t, metric, OURS, n),
                        strict=True)  # fmt: skip
            verdict = by_interval(t_interval([a - b for a, b in pairs], OVERLAP))
            others += 1
            ahead += verdict == Verdict.REPRODUCED
            behind += verdict == Verdict.NOT_REPRODUCED
    page.text(
        f"With {n} poor models the {metric} loss of a peer rises more than that of {OURS} beyond "
        f"chance in {ahead}, less in {behind} of {others} comparisons."
    )


EXPERIMENT = Experiment("poor_models", "Section 4: poor base models in the ensemble", cases, report)
