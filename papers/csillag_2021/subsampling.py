"""Proposition 1: the excess loss of a stump chosen on k rows of each class."""

from functools import partial
from math import e, log, nan, sqrt
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np

from auctor._typing import Floats
from papers.experiment import Case, CaseResults, Result, Setup
from papers.page import Cause, Headline, Page, Verdict
from papers.statistics import log_slope, mean_se, standard_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METRICS = ("AUC", "KS")
N_FEATURES = 50
N_ROWS = 20_000  # of each class
LEAD = 2.0  # effect of the informative feature, divided by sqrt(k)
STYLES = {"AUC": ("C1", "s"), "KS": ("C0", "o")}
NAME = "subsampling, k = "  # of a case
Excess = dict[str, dict[int, list[float]]]  # metric -> k -> mean excess loss on each table


def sizes(setup: Setup) -> tuple[int, ...]:
    """Values of k."""
    return setup.pick((25, 50, 100, 200, 400, 800, 1600), (25, 100, 400, 1600), (25, 100, 400))


def make_table(k: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Positives and negatives with 50 features of 0 and 1, all noise except for the first.

    Its lead is about what chance gives to the best of the others in a sample of k rows per class.
    """
    fractions = np.full((2, N_FEATURES), 0.5)
    lead = min(0.9, LEAD / sqrt(k))
    fractions[:, 0] += lead / 2, -lead / 2
    pos, neg = ((rng.random((N_ROWS, N_FEATURES)) < s).astype(np.float64) for s in fractions)
    return pos, neg


def stump_losses(metric: str, above_pos: Floats, above_neg: Floats) -> Floats:
    """Equations (1) and (2) of all stumps, added to scores of 0: upwards, then downwards.

    ``above`` is the fraction of a class that a feature has above the cut.
    """
    if metric == "AUC":
        up, down = above_pos * (1 - above_neg), (1 - above_pos) * above_neg
    else:
        up, down = np.maximum(above_pos - above_neg, 0), np.maximum(above_neg - above_pos, 0)
    return 1.0 - np.concatenate([up, down])


def work(k: int, seed: int, n_tables: int, n_draws: int) -> Result:
    """Mean of L(S + h_R) - L(S + h*) with S = 0 over draws of k rows of each class, by table."""
    result: Result = {metric: [] for metric in METRICS}
    for number in range(n_tables):
        rng = np.random.default_rng([seed, 4, k, number])
        for metric, excess in _excess(k, rng, n_draws).items():
            result[metric].append(mean(excess))
    return result | {"draws": n_draws}


def _excess(k: int, rng: np.random.Generator, n_draws: int) -> dict[str, list[float]]:
    """Of each draw from one table."""
    classes = make_table(k, rng)
    whole = {m: stump_losses(m, *(rows.mean(axis=0) for rows in classes)) for m in METRICS}
    result: dict[str, list[float]] = {metric: [] for metric in METRICS}
    for _ in range(n_draws):
        drawn = [rows[rng.choice(N_ROWS, k, replace=False)].mean(axis=0) for rows in classes]
        for metric, losses in whole.items():
            chosen = int(np.argmin(stump_losses(metric, *drawn)))
            result[metric].append(float(losses[chosen] - losses.min()))
    return result


def cases(setup: Setup) -> list[Case]:
    """One case per k."""
    n_tables, n_draws = setup.pick(100, 10, 3), setup.pick(50, 20, 15)
    fit = partial(work, seed=setup.seed, n_tables=n_tables, n_draws=n_draws)
    cost = n_tables * 0.025
    return [
        Case(f"{NAME}{k}", partial(fit, k), cost=cost + n_tables * n_draws * k / 1.6e6)
        for k in sizes(setup)
    ]


def collect(results: CaseResults) -> Excess:
    """The excess losses of all cases."""
    excess: Excess = {metric: {} for metric in METRICS}
    for name, result in results.items():
        if name.startswith(NAME):
            for metric in METRICS:
                excess[metric][int(name.removeprefix(NAME))] = result[metric]
    return {metric: dict(sorted(of.items())) for metric, of in excess.items() if of}


def corrected(k: int) -> float:
    """sqrt(log N / k) for N stumps: the mean excess cannot pass it for AUC, nor for KS with S = 0.

    h_R is best on the sample, so the excess is at most what chance adds to the best of N sample
    losses. Where these have the right mean, and each of the 2 k rows moves them by 1 / k at most,
    their deviations are sub-Gaussian with variance 1 / (2 k), and the mean of the largest of N is
    at most sqrt(2 log N / (2 k)). An AUC loss is a mean over pairs. A KS loss is a least value over
    thresholds, and too low in the mean by the order of k^(-1/2); but of a stump alone it is 1 minus
    the difference of two fractions, cut at 0, and the cut never matters to the best of the N where
    both directions of a stump are among them.
    """
    return sqrt(log(2 * N_FEATURES) / k)


def exceeding(excess: dict[int, list[float]]) -> list[int]:
    """The k at which the mean excess is above e / k by more than three standard errors."""
    return [k for k, v in excess.items() if mean(v) - 3 * standard_error(v) > e / k]


def slope(excess: dict[int, list[float]]) -> float:
    """The power of k with which the mean excess falls."""
    means = [mean(values) for values in excess.values()]
    return log_slope(list(excess), means).value if len(means) > 1 and min(means) > 0 else nan


def judge_rate(excess: dict[int, list[float]]) -> Verdict:
    """Judge Proposition 1: one k beyond the bound refutes it."""
    if not excess:
        return Verdict.NOT_RUN
    return Verdict.NOT_REPRODUCED if exceeding(excess) else Verdict.REPRODUCED


def report(page: Page, results: CaseResults) -> None:
    """Report the excess against e / k and against the corrected bound."""
    excess = collect(results)
    if not excess:
        return
    page.text("### Proposition 1: the cost of choosing a stump on a sample")
    page.text(
        "The proposition says that the best stump of k rows of each class loses at most e / k "
        "against the best stump of all rows, in the mean over draws. A counter-example: "
        f"{N_ROWS:,} rows of each class, {N_FEATURES} features of 0 and 1, of which one has the "
        "value 1 in fractions 1/2 + 1/sqrt(k) among positives and 1/2 - 1/sqrt(k) among "
        "negatives, and the others 1/2 in both. The best of the others then often looks better in "
        "the sample, and costs the whole lead. S = 0. Mean excess loss over random tables and "
        f"{_n_draws(results)} draws from each, ± standard error over the tables:"
    )
    rows = []
    for k in next(iter(excess.values())):
        cells = [mean_se(excess[metric][k]) if metric in excess else "–" for metric in METRICS]
        n_tables = max(len(of[k]) for of in excess.values())
        rows.append([k, n_tables, *cells, f"{e / k:.4f}", f"{corrected(k):.4f}"])
    page.table(["k", "tables", *METRICS, "e / k", "sqrt(log N / k)"], rows)
    page.figure(
        "proposition1",
        partial(_draw, excess=excess),
        "Mean excess loss of a stump chosen on k rows of each class, ± 2 standard errors "
        "over the tables",
    )
    for metric, of in excess.items():
        _claim(page, metric, of)


def _claim(page: Page, metric: str, excess: dict[int, list[float]]) -> None:
    above, largest = exceeding(excess), max(excess)
    number = (
        f"above e / k at {len(above)} of {len(excess)} k; at k = {largest} "
        f"{mean_se(excess[largest])} against {e / largest:.4f}; falls as k^{slope(excess):.2f}"
    )
    text = f"Proposition 1 as printed, {metric}: the mean excess is at most e / k"
    told = None
    if metric == "AUC":
        told = Headline(
            "Proposition 1: the mean excess loss of a sample of k rows of each class",
            f"at most e/k = {e / largest:.4f} at k = {largest}",
            f"{mean_se(excess[largest])}; falls as k^{slope(excess):.2f}",
            Cause.PAPER,
        )
    page.claim(text, judge_rate(excess), number, headline=told, cause=Cause.PAPER)
    fractions = [(mean(v) - 4 * standard_error(v)) / corrected(k) for k, v in excess.items()]
    limits = ", S = 0 and both directions of a stump among the N" if metric == "KS" else ""
    page.check(
        f"Proposition 1 corrected, {metric}{limits}: the mean excess is at most sqrt(log N / k)",
        max(fractions) <= 1,
        f"mean excess at most {max(mean(v) / corrected(k) for k, v in excess.items()):.2f} of it",
    )


def _n_draws(results: CaseResults) -> int:
    return max(result["draws"] for name, result in results.items() if name.startswith(NAME))


def _draw(figure: "Figure", excess: Excess) -> None:
    axes = figure.subplots()
    ks = list(next(iter(excess.values())))
    for metric, of in excess.items():
        colour, marker = STYLES[metric]
        axes.errorbar(
            list(of),
            [mean(values) for values in of.values()],
            yerr=[2 * standard_error(values) for values in of.values()],
            fmt=f"{marker}-",
            color=colour,
            label=f"{metric}, measured",
        )
    axes.plot(ks, [e / k for k in ks], "k--", label="e / k, as printed")
    axes.plot(ks, [corrected(k) for k in ks], "k:", label="sqrt(log N / k)")
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(ks, [str(k) for k in ks])
    axes.minorticks_off()
    axes.set_xlabel("k, rows of each class in the sample")
    axes.set_ylabel("mean excess loss on all rows")
    axes.grid(alpha=0.3)
    figure.legend(loc="outside right center", frameon=False)
