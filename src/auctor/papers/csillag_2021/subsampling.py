"""Proposition 1: what a stump chosen on k rows of each class costs on all rows."""

from functools import partial
from math import e, log, sqrt
from statistics import mean
from typing import TYPE_CHECKING

import numpy as np

from auctor.papers.experiment import Case, Found, Result, Setup
from auctor.papers.page import Page, Verdict
from auctor.papers.statistics import mean_se, standard_error
from auctor.papers.tables import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

METRICS = ("AUC", "KS")
N_FEATURES = 50
N_ROWS = 20_000  # of each class
LEAD = 2.0  # of the one feature that says something, over sqrt(k)
STYLES = {"AUC": ("C1", "s"), "KS": ("C0", "o")}
Excess = dict[str, dict[int, list[float]]]  # metric -> k -> excess loss of each draw


def sizes(setup: Setup) -> tuple[int, ...]:
    """Values of k."""
    return setup.pick((25, 50, 100, 200, 400, 800, 1600), (25, 100, 400, 1600), (25, 100, 400))


def make_table(k: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Positives and negatives with 50 features of 0 and 1, all noise but for the first.

    Its lead is about what chance gives to the best of the others in a sample of k rows a class.
    """
    shares = np.full((2, N_FEATURES), 0.5)
    lead = min(0.9, LEAD / sqrt(k))
    shares[:, 0] += lead / 2, -lead / 2
    pos, neg = ((rng.random((N_ROWS, N_FEATURES)) < s).astype(np.float64) for s in shares)
    return pos, neg


def stump_losses(metric: str, above_pos: FloatArray, above_neg: FloatArray) -> FloatArray:
    """Equations (1) and (2) of all stumps, added to scores of 0: upwards, then downwards.

    ``above`` is the share of a class that a feature has above the cut.
    """
    if metric == "AUC":
        up, down = above_pos * (1 - above_neg), (1 - above_pos) * above_neg
    else:
        up, down = np.maximum(above_pos - above_neg, 0), np.maximum(above_neg - above_pos, 0)
    return 1.0 - np.concatenate([up, down])


def work(k: int, seed: int, n_draws: int) -> Result:
    """L(S + h_R) - L(S + h*) with S = 0, on all rows, for draws of k rows of each class."""
    rng = np.random.default_rng([seed, 4, k])
    classes = make_table(k, rng)
    whole = {m: stump_losses(m, *(rows.mean(axis=0) for rows in classes)) for m in METRICS}
    found: Result = {metric: [] for metric in METRICS}
    for _ in range(n_draws):
        drawn = [rows[rng.choice(N_ROWS, k, replace=False)].mean(axis=0) for rows in classes]
        for metric, losses in whole.items():
            chosen = int(np.argmin(stump_losses(metric, *drawn)))
            found[metric].append(float(losses[chosen] - losses.min()))
    return found


def cases(setup: Setup) -> list[Case]:
    """One k each."""
    n_draws = setup.pick(1000, 200, 40)
    fit = partial(work, seed=setup.seed, n_draws=n_draws)
    return [
        Case(f"proposition 1, k = {k}", partial(fit, k), cost=n_draws * k / 4e5)
        for k in sizes(setup)
    ]


def collect(found: Found) -> Excess:
    """The excess losses of all cases."""
    excess: Excess = {metric: {} for metric in METRICS}
    for name, result in found.items():
        if name.startswith("proposition 1"):
            for metric in METRICS:
                excess[metric][int(name.split("= ")[1])] = result[metric]
    return {metric: dict(sorted(of.items())) for metric, of in excess.items() if of}


def corrected(k: int) -> float:
    """sqrt(log N / k) for N stumps, which the mean excess cannot pass.

    h_R is best on the sample, so the excess is at most what chance adds to the best of N sample
    losses. Each of the 2 k rows moves a loss by 1 / k at most: its deviation is sub-Gaussian with
    variance 1 / (2 k), and the mean of the largest of N is at most sqrt(2 log N / (2 k)).
    """
    return sqrt(log(2 * N_FEATURES) / k)


def exceeding(excess: dict[int, list[float]]) -> list[int]:
    """The k at which the mean excess is above e / k by more than three standard errors."""
    return [k for k, v in excess.items() if mean(v) - 3 * standard_error(v) > e / k]


def slope(excess: dict[int, list[float]]) -> float:
    """The power of k that the mean excess falls with."""
    means = [mean(values) for values in excess.values()]
    if len(means) < 2 or min(means) <= 0:
        return float("nan")
    return float(np.polyfit(np.log(list(excess)), np.log(means), 1)[0])


def judge_rate(excess: dict[int, list[float]]) -> Verdict:
    """Of Proposition 1: one k beyond the bound is enough against it."""
    if not excess:
        return Verdict.NOT_RUN
    return Verdict.NOT_REPRODUCED if exceeding(excess) else Verdict.REPRODUCED


def report(page: Page, found: Found) -> None:
    """Excess against e / k, and against what can be proved."""
    excess = collect(found)
    if not excess:
        return
    page.text("### Proposition 1: the cost of choosing a stump on a sample")
    page.text(
        "The proposition says that the best stump of k rows of each class loses at most e / k "
        "against the best stump of all rows, in the mean over draws. A counter-example: "
        f"{N_ROWS:,} rows of each class, {N_FEATURES} features of 0 and 1, of which one has the "
        f"shares 1/2 + 1/sqrt(k) among positives and 1/2 - 1/sqrt(k) among negatives, and the "
        "others 1/2 in both. The best of the others then often looks better in the sample, and "
        "costs the whole lead. S = 0. Mean excess loss over "
        f"{_n_draws(excess)} draws ± standard error:"
    )
    rows = []
    for k in next(iter(excess.values())):
        cells = [mean_se(excess[metric][k]) if metric in excess else "–" for metric in METRICS]
        rows.append([k, *cells, f"{e / k:.4f}", f"{corrected(k):.4f}"])
    page.table(["k", *METRICS, "e / k", "sqrt(log N / k)"], rows)
    page.figure(
        "proposition1",
        partial(_draw, excess=excess),
        "Mean excess loss of a stump chosen on k rows of each class, ± 2 standard errors",
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
    page.claim(text, judge_rate(excess), number)
    shares = [(mean(v) - 4 * standard_error(v)) / corrected(k) for k, v in excess.items()]
    page.must_hold(
        f"Proposition 1 with sqrt(log N / k) for N stumps, {metric}",
        max(shares) <= 1,
        f"mean excess at most {max(mean(v) / corrected(k) for k, v in excess.items()):.2f} of it",
    )


def _n_draws(excess: Excess) -> int:
    return max(len(values) for of in excess.values() for values in of.values())


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
