"""Figures 3 and 4: score plots with bands over repetitions, and score ROC curves."""

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.metrics import roc_curve
from papers.experiment import Case, CaseResults, Result, Setup
from papers.komori_2010.distributions import FEATURES, draw, log_density, optimal_parts
from papers.komori_2010.methods import (
    ADABOOST,
    AUCBOOST,
    GAM,
    GLM,
    OURS,
    PACKAGES,
    Effort,
    effort,
    fit,
)
from papers.komori_2010.verdicts import NOTHING, Finding
from papers.page import Page, Verdict

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURE3 = (AUCBOOST, OURS)
FIGURE4 = (AUCBOOST, ADABOOST, GAM, GLM)
# Figure 4 is of the same samples as Table 2, which is not of the density printed (section 4.3).
OUTLIERS = "divided"
_GRID3 = np.linspace(-3, 3, 61)
_GRID4 = np.linspace(-6, 6, 61)
_FPR = np.linspace(0, 1, 51)
_BLOCK = 10


def figure3_cases(setup: Setup) -> list[Case]:
    """Blocks of repetitions on the Gaussian distribution."""
    return _cases(setup, "gaussian", FIGURE3)


def figure4_cases(setup: Setup) -> list[Case]:
    """Blocks of repetitions on the distribution that Table 2 comes from."""
    return _cases(setup, OUTLIERS, FIGURE4)


def _cases(setup: Setup, distribution: str, methods: tuple[str, ...]) -> list[Case]:
    out = []
    for method in methods:
        for start in range(0, setup.pick(200, 3, 1), _BLOCK):
            stop = start + setup.pick(_BLOCK, 3, 1)
            work = partial(plot, method, distribution, setup.seed, start, stop, effort(setup))
            name, packages = f"{method} {start}", PACKAGES.get(method, ())
            out.append(Case(name, work, packages=packages, cost=0.4 * _BLOCK, turn=start))
    return out


def plot(
    method: str, distribution: str, seed: int, start: int, stop: int, effort: Effort
) -> Result:
    """Each feature's part along a grid; for the t distribution only x3, with its test ROC curve."""
    names = FEATURES if distribution == "gaussian" else ("x3",)
    grid = _GRID3 if distribution == "gaussian" else _GRID4
    result: Result = {name: [] for name in names} | (
        {} if distribution == "gaussian" else {"roc": []}
    )
    for repetition in range(start, stop):
        train, test = draw(distribution, seed, repetition)
        fitted = fit(method, distribution, train, effort)
        assert fitted.parts is not None  # every one of these is a sum
        along = fitted.parts(np.repeat(grid[:, None], len(FEATURES), axis=1))
        for name in names:
            result[name].append(_centred(along[:, FEATURES.index(name)], distribution, name, grid))
        if "roc" in result:
            curve = roc_curve(test.y, fitted.parts(test.X)[:, FEATURES.index("x3")])
            result["roc"].append(np.round(np.interp(_FPR, curve.fpr, curve.tpr), 4).tolist())
    return result


def _weights(distribution: str, feature: str, grid: Floats) -> Floats:
    """The density of the rows of both classes along the grid."""
    columns = np.array([FEATURES.index(feature)])
    density = sum(
        np.exp(log_density(distribution, grid[:, None], label, columns)) for label in (0, 1)
    )
    return np.asarray(density / np.sum(density))


def _centred(curve: Floats, distribution: str, feature: str, grid: Floats) -> list[float]:
    """Shift to mean 0 over the rows, since a score is determined only up to a constant."""
    return np.round(curve - _weights(distribution, feature, grid) @ curve, 5).tolist()


def gather(results: CaseResults, method: str, key: str) -> Floats:
    """(repetitions, grid) of a method; empty if it was not run."""
    own = [r for name, r in results.items() if name.rpartition(" ")[0] == method and key in r]
    return np.array([curve for result in own for curve in result[key]])


def report_figure3(page: Page, results: CaseResults, setup: Setup) -> None:
    """Score plots on the Gaussian distribution beside F_N."""
    whole = optimal_parts(np.repeat(_GRID3[:, None], len(FEATURES), axis=1))
    truth = dict(zip(FEATURES, whole.T, strict=True))
    for method, name in zip(FIGURE3, ("figure3", "figure3_ours"), strict=True):
        lines = {feature: gather(results, method, feature) for feature in FEATURES}
        if not len(lines["x1"]):
            continue
        fits = {f: compare(lines[f].mean(axis=0), truth[f], f) for f in FEATURES[1:]}
        page.figure(
            name,
            partial(_draw3, lines=lines, truth=truth, fits=fits, seed=setup.seed),
            f"Score plots of {method}: mean (line) and 95 % pointwise band over "
            f"{len(lines['x1'])} repetitions; dashed F_N, times a factor for each feature. Ticks: "
            "positions of the rows",
        )
        judge = page.claim if method == AUCBOOST else page.addition
        for feature, fitted in fits.items():
            judge(f"the score plot of {feature} by {method} tracks F_N", *follows(fitted))
        judge(f"the score plot of x1 by {method} is flat", *is_flat(lines))
        text = f"one factor fits the score plots of all features by {method}, as a sum must have"
        page.addition(text, *one_factor([fitted.factor for fitted in fits.values()]))


class Comparison(NamedTuple):
    """Correlation of a mean score plot with F_N's part, over the middle 95 % of the rows."""

    correlation: float
    factor: float  # the factor that best fits F_N's part


def compare(mean: Floats, truth: Floats, feature: str) -> Comparison:
    """Leave out the tails, where F_N is a parabola that hardly affects the AUC."""
    weight = _weights("gaussian", feature, _GRID3)
    middle = np.abs(np.cumsum(weight) - weight / 2 - 0.5) < 0.475
    weight = np.where(middle, weight, 0.0) / weight[middle].sum()
    ours, theirs = mean - weight @ mean, truth - weight @ truth
    shared, own = float(weight @ (ours * theirs)), float(weight @ theirs**2)
    spread = max(float(weight @ ours**2), 1e-300)
    return Comparison(shared / (own * spread) ** 0.5, shared / own)


def follows(fitted: Comparison) -> Finding:
    """Whether the shape is that of F_N."""
    verdict = Verdict.PARTLY
    if fitted.correlation > 0.95:
        verdict = Verdict.REPRODUCED
    elif fitted.correlation < 0.8:
        verdict = Verdict.NOT_REPRODUCED
    return Finding(verdict, f"correlation {fitted.correlation:.3f} over the middle 95 % of rows")


def one_factor(factors: list[float]) -> Finding:
    """Judge whether one factor fits the parts of all features."""
    verdict, ratio = Verdict.PARTLY, max(factors) / max(min(factors), 1e-9)
    if ratio < 1.5:
        verdict = Verdict.REPRODUCED
    elif ratio > 3:
        verdict = Verdict.NOT_REPRODUCED
    return Finding(verdict, "x2, x3, x4: " + ", ".join(f"{factor:.2f}" for factor in factors))


def is_flat(lines: dict[str, Floats]) -> Finding:
    """Whether x1's mean curve spreads less than a tenth of x4's."""
    spread = {}
    for name in ("x1", "x4"):
        weight, mean = _weights("gaussian", name, _GRID3), lines[name].mean(axis=0)
        spread[name] = float(weight @ mean**2) ** 0.5
    fraction = spread["x1"] / spread["x4"]
    verdict = Verdict.PARTLY
    if fraction < 0.1:
        verdict = Verdict.REPRODUCED
    elif fraction > 0.3:
        verdict = Verdict.NOT_REPRODUCED
    return Finding(verdict, f"its mean curve spreads {fraction:.3f} times as far as that of x4")


def _draw3(
    figure: "Figure",
    lines: dict[str, Floats],
    truth: dict[str, Floats],
    fits: dict[str, Comparison],
    seed: int,
) -> None:
    panels: list[Axes] = list(figure.subplots(2, 2, sharey=True).ravel())
    rows = draw("gaussian", seed, 0).train.X
    for k, (ax, feature) in enumerate(zip(panels, FEATURES, strict=True)):
        _band(ax, _GRID3, lines[feature], "mean and band")
        best = truth[feature] * (fits[feature].factor if feature in fits else 1.0)
        weight = _weights("gaussian", feature, _GRID3)
        best = best - weight @ best + weight @ lines[feature].mean(axis=0)
        ax.plot(_GRID3, best, color="black", linestyle="--", linewidth=1, label="F_N")
        ax.plot(rows[:, k], np.zeros(len(rows)), "|", color="0.4", markersize=6, alpha=0.3,
                transform=ax.get_xaxis_transform())  # fmt: skip
        ax.set(xlabel=feature, xlim=(-3, 3))
    for ax in panels[::2]:
        ax.set_ylabel("score")
    lowest = min(float(np.quantile(v, 0.025, axis=0).min()) for v in lines.values())
    highest = max(float(np.quantile(v, 0.975, axis=0).max()) for v in lines.values())
    panels[0].set_ylim(lowest - 0.3, highest + 0.3)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)


def _band(ax: "Axes", x: Floats, lines: Floats, label: str) -> None:
    low, high = np.quantile(lines, [0.025, 0.975], axis=0)
    ax.fill_between(x, low, high, color="C0", alpha=0.25, linewidth=0)
    ax.plot(x, lines.mean(axis=0), color="C0", linewidth=1.8, label=label)


def report_figure4(page: Page, results: CaseResults, setup: Setup) -> None:
    """Score plots and score ROC curves of x3 under outliers."""
    shown = [method for method in FIGURE4 if len(gather(results, method, "x3"))]
    counts = ", ".join(f"{len(gather(results, m, 'x3'))} of {m}" for m in shown)
    page.figure(
        "figure4",
        partial(_draw4, results=results, shown=shown),
        "x3 under outliers, from the distribution of Table 2: score ROC curves and score plots, "
        "mean and 95 % pointwise band (not of GAM's score plot, as in the paper); repetitions: "
        f"{counts}",
    )
    page.claim(
        "the score plots of AUCBoost and AdaBoost have almost the same shape", *alike(results)
    )


def alike(results: CaseResults) -> Finding:
    """Correlation of the two mean curves over the rows."""
    mine, theirs = gather(results, AUCBOOST, "x3"), gather(results, ADABOOST, "x3")
    if not len(mine) or not len(theirs):
        return NOTHING
    weight = _weights(OUTLIERS, "x3", _GRID4)
    a, b = mine.mean(axis=0), theirs.mean(axis=0)
    spread = float((weight @ a**2) * (weight @ b**2)) ** 0.5
    if spread == 0:  # a method that did not use x3, in a reduced run
        return NOTHING
    shared = float(weight @ (a * b)) / spread
    verdict = Verdict.PARTLY
    if shared > 0.95:
        verdict = Verdict.REPRODUCED
    elif shared < 0.8:
        verdict = Verdict.NOT_REPRODUCED
    return Finding(verdict, f"correlation {shared:.3f}")


def _draw4(figure: "Figure", results: CaseResults, shown: list[str]) -> None:
    panels = figure.subplots(2, len(shown), squeeze=False)
    for k, method in enumerate(shown):
        upper, lower = panels[0][k], panels[1][k]
        _band(upper, _FPR, gather(results, method, "roc"), method)
        upper.plot([0, 1], [0, 1], color="0.6", linestyle=":", linewidth=1)
        upper.set(xlabel="FPR", title=method.partition(",")[0], aspect="equal")
        lines = gather(results, method, "x3")
        lines = lines - lines.mean(axis=0).min()  # the lowest point of the mean curve is 0
        if method == GAM:  # its band would hide the curve; the paper omits it too
            lower.plot(_GRID4, lines.mean(axis=0), color="C0", linewidth=1.8)
        else:
            _band(lower, _GRID4, lines, method)
        lower.set(xlabel="x3")
        lower.locator_params(axis="y", nbins=4)
        upper.set(xticks=(0, 0.5, 1), yticks=(0, 0.5, 1))
        if k:  # the same axis as on the left
            upper.set_yticklabels([])
    panels[0][0].set_ylabel("TPR")
    panels[1][0].set_ylabel("score")
