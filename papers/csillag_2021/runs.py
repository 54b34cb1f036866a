"""Figure 1, as numbers: train and test loss against the number of runs E."""

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.data import prepare
from auctor.learners.common.finish import finish_additive
from auctor.learners.exact.fit import step_tables
from auctor.learners.exact.table import gather
from papers.csillag_2021.methods import LOSSES, N_FOLDS, OVERLAP, Fold, exactboost, read_fold
from papers.experiment import Case, CaseResults, Experiment, Result, Setup
from papers.page import Cause, Page, Verdict
from papers.statistics import Estimate, differences, mean_sd, t_interval
from papers.verdicts import by_interval, together

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE = "heart"
SIDES = ("train", "test")
COLOURS = {"KS": "C0", "AUC": "C1"}
STYLES = {"train": ("--", "o"), "test": ("-", "s")}


def run_counts(setup: Setup) -> tuple[int, ...]:
    """Values of E; the last is the number of runs that are made."""
    few = (1, 2, 5, 10, 25)
    return setup.pick((*few, 50, 100, 250), few, (1, 2, 4))


class RunScores(NamedTuple):
    """A row of scores for each run, of training and test rows."""

    train: Floats
    test: Floats


def scores_of_runs(metric: str, fold: Fold, seed: int, n_runs: int) -> RunScores:
    """The scores of all rows by each single run."""
    model = exactboost(metric, seed, n_runs).fit(fold.X, fold.y)
    data = prepare(fold.X, fold.y)
    table = gather(data)
    result: list[list[Floats]] = [[], []]
    for run in model.history_.runs:
        single, _ = finish_additive(data, step_tables(data, table, [run]))
        for scores, X in zip(result, (fold.X, fold.X_test), strict=True):
            scores.append(single.decision_function(X) - single.intercept)
    return RunScores(*(np.array(scores) for scores in result))


def work(metric: str, fold_number: int, seed: int, counts: tuple[int, ...]) -> Result:
    """Mean loss of the mean of E runs, over all blocks of E consecutive runs."""
    fold = read_fold(TABLE, fold_number, seed)
    scores = scores_of_runs(metric, fold, seed, counts[-1])
    labels = (fold.y, fold.y_test)
    return {
        side: [block_loss(metric, y, runs, n_runs) for n_runs in counts]
        for side, y, runs in zip(SIDES, labels, scores, strict=True)
    }


def block_loss(metric: str, y: np.ndarray, scores: Floats, n_runs: int) -> float:
    starts = range(0, len(scores) - n_runs + 1, n_runs)
    means = [scores[start : start + n_runs].mean(axis=0) for start in starts]
    return float(np.mean([LOSSES[metric](y, mean) for mean in means]))


def cases(setup: Setup) -> Iterator[Case]:
    """One case per fold."""
    counts = run_counts(setup)
    for metric in COLOURS:
        for fold in range(setup.pick(N_FOLDS, N_FOLDS, 2)):
            yield Case(
                f"{metric}, fold {fold}",
                partial(work, metric, fold, setup.seed, counts),
                tables=(TABLE,),
                cost=4 * counts[-1] / 250,
            )


def fold_losses(results: CaseResults, metric: str, side: str) -> list[list[float]]:
    """The losses of all folds that were run, a list over E each."""
    names = sorted(name for name in results if name.startswith(f"{metric},"))
    return [results[name][side] for name in names]


def gain(folds: list[list[float]], few: int, counts: tuple[int, ...]) -> Estimate:
    """By how much the loss of ``few`` runs is above that of all of them."""
    index = counts.index(few)
    estimate = differences([fold[index] for fold in folds], [fold[-1] for fold in folds])
    return t_interval(estimate, OVERLAP)


def judge_gain(gains: list[Estimate]) -> Verdict:
    """Judge "more runs lead to better losses" on training and test rows."""
    return together([by_interval(estimate) for estimate in gains])


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """A table, the curves, and whether more runs are better."""
    counts = run_counts(setup)
    metrics = [metric for metric in COLOURS if fold_losses(results, metric, "train")]
    n_folds = max(len(fold_losses(results, metric, "train")) for metric in metrics)
    page.text(
        "The paper draws the KS loss over a plane that UMAP makes of the scores of all rows; the "
        "axes of such a plane have no meaning of their own and its parameters are not given, so "
        f"the claim of its caption is measured instead. On {TABLE}: the loss of the mean of E "
        f"runs, averaged over all blocks of E among {counts[-1]} runs, without margin; mean ± "
        f"standard deviation over {n_folds} folds."
    )
    heads = [f"{metric}, {side}" for metric in metrics for side in SIDES]
    rows = [[n, *_cells(results, metrics, index)] for index, n in enumerate(counts)]
    page.table(["E", *heads], rows)
    page.figure(
        "figure1",
        partial(_draw, results=results, counts=counts),
        f"Loss on {TABLE} against the number of runs, mean ± one standard deviation over the "
        "folds; test points are moved a little to the right",
    )
    for metric in metrics:
        for few in [n for n in (1, 10) if n in counts[:-1]]:
            _claim(page, results, metric, few, counts)


def _claim(
    page: Page, results: CaseResults, metric: str, few: int, counts: tuple[int, ...]
) -> None:
    gains = [gain(fold_losses(results, metric, side), few, counts) for side in SIDES]
    number = "; ".join(f"{side} {estimate}" for side, estimate in zip(SIDES, gains, strict=True))
    text = f"More runs lead to better train and test {metric} losses: E = {few} minus {counts[-1]}"
    why = Cause.UNKNOWN if any(estimate.high < 0 for estimate in gains) else Cause.RUNS
    page.claim(text, judge_gain(gains), number, cause=why)


def _cells(results: CaseResults, metrics: list[str], index: int) -> list[str]:
    folds = [fold_losses(results, metric, side) for metric in metrics for side in SIDES]
    return [mean_sd([fold[index] for fold in some]) for some in folds]


def _draw(figure: "Figure", results: CaseResults, counts: tuple[int, ...]) -> None:
    axes = figure.subplots()
    for metric, colour in COLOURS.items():
        for side, (style, marker) in STYLES.items():
            folds = fold_losses(results, metric, side)
            if folds:
                aside = 1.06 if side == "test" else 1.0  # so that bars do not cover each other
                axes.errorbar(
                    [n * aside for n in counts],
                    np.mean(folds, axis=0),
                    yerr=np.std(folds, axis=0, ddof=1) if len(folds) > 1 else None,
                    fmt=f"{marker}{style}",
                    color=colour,
                    markersize=5,
                    elinewidth=0.9,
                    capsize=2,
                    label=f"{metric}, {side}",
                )
    axes.set_xscale("log")
    axes.set_xticks(counts, [str(n) for n in counts])
    axes.minorticks_off()
    axes.set_ylim(bottom=0)
    axes.set_xlabel("runs E")
    axes.set_ylabel("loss (1 - metric)")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right center", frameon=False)


EXPERIMENT = Experiment("figure1", "Figure 1: loss against the number of runs", cases, report)
