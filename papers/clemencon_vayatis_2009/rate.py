"""Proposition 15: the rate and the constant with which the recursion approaches ROC*."""

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from auctor.datasets import OptimalRoc, approximate_roc
from papers.clemencon_vayatis_2009.feature_distributions import distances
from papers.clemencon_vayatis_2009.roc_curves import RATIO, ROC_CURVES
from papers.experiment import Case, CaseResults, Result, Setup
from papers.page import Cause, Headline, Page, Verdict
from papers.statistics import log_slope

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DISTANCES = ("d1", "d_inf")
_TITLES = {"d1": "d1", "d_inf": "d-infinity"}
# Number of last depths from which the exponent is estimated.
N_FITTED = 5
# Tolerance of the exponent at a finite depth, in addition to its standard error.
ALLOWANCE = 0.01
_N_GRID = 4096
_STYLES = (("o-", "C0"), ("v-", "C3"), ("s--", "C1"), ("^-.", "C2"), ("D:", "C4"))


class Exponent(NamedTuple):
    """The power of N with which a distance falls, and its standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ± {self.error:.3f}"

    def reaches(self, wanted: float = -2.0) -> bool:
        """Whether the distance falls at least this fast, within error."""
        return self.value <= wanted + 2 * self.error + ALLOWANCE


def fit_exponent(values: list[float]) -> Exponent:
    """Slope of log distance over log N at the last depths; ``values`` are for depths 1, 2, ..."""
    n_cells = [2.0**depth for depth in range(1, len(values) + 1)]
    fitted = log_slope(n_cells[-N_FITTED:], values[-N_FITTED:])
    return Exponent(fitted.value, fitted.error)


def measure(name: str, deepest: int) -> Result:
    """Both distances at each depth, of the recursion's knots and of as many equidistant ones."""
    roc = ROC_CURVES[name].make()
    result: Result = {f"{kind}_{d}": [] for kind in ("tree", "even") for d in DISTANCES}
    result["widest"] = []
    for depth in range(1, deepest + 1):
        ideal = approximate_roc(roc, depth=depth)
        even = np.linspace(0, 1, 2**depth + 1)
        for key, value in zip(DISTANCES, (ideal.d1, ideal.d_inf), strict=True):
            result[f"tree_{key}"].append(value)
        for key, value in zip(DISTANCES, distances(roc, even, roc.tpr(even)), strict=True):
            result[f"even_{key}"].append(value)
        result["widest"].append(float(np.diff(ideal.alpha).max()))
    return result | (_best_constants(roc) if ROC_CURVES[name].meets else {})


def _best_constants(roc: OptimalRoc) -> Result:
    """C of the best possible knots: (int |f''|^(1/3))^3 / 12 and (int |f''|^(1/2))^2 / 8."""
    curvature = -np.diff(roc.tpr(np.linspace(0, 1, _N_GRID + 1)), 2) * _N_GRID**2
    curvature = np.maximum(curvature, 0)  # negative only by rounding
    best = (curvature ** (1 / 3)).mean() ** 3 / 12, np.sqrt(curvature).mean() ** 2 / 8
    return {f"best_{key}": float(value) for key, value in zip(DISTANCES, best, strict=True)}


def cases(setup: Setup) -> list[Case]:
    """One case per distribution; nothing is drawn, so all sizes have the same depth."""
    deepest = setup.pick(12, 11, 10)
    return [Case(name, partial(measure, name, deepest), cost=0.5) for name in ROC_CURVES]


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """Report exponents, constants where the assumptions hold, and verdicts."""
    shown = {name: results[name] for name in ROC_CURVES if name in results}
    page.text(
        "No data are needed: the recursion of section 3.4 runs on the distribution itself, N = "
        "2^depth cells. The exponent is the slope of log distance over log N at the last "
        f"{N_FITTED} depths with its standard error; the proposition says at most -2 where ROC*'' "
        "is bounded and bounded away from 0. Beside it, the exponent with equidistant knots."
    )
    page.table(*_exponent_table(shown, page.expected["proposition15"]))
    page.figure(
        "proposition15",
        partial(_draw, shown),
        "Distances from ROC* times N^2 against the number N of cells: level where they fall like "
        "N^-2, rising where they fall more slowly",
    )
    page.text(
        "The constant C in C / N^2 at the last depth, where the assumptions hold, beside that of "
        "equidistant knots and of the best knots there are, (int |ROC*''|^(1/3))^3 / 12 for d1 and "
        "(int |ROC*''|^(1/2))^2 / 8 for d-infinity:"
    )
    page.table(*_constant_table(shown))
    _judge_rate(page, shown)
    _judge_bounds_alone(page, shown)
    _judge_constants(page, shown)
    _judge_bounds(page, shown)


def _exponent_table(shown: CaseResults, paper: Result) -> tuple[list[str], list[list[str]]]:
    head = ["distribution", "assumptions"]
    head += [f"{_TITLES[d]} (paper {paper[f'{d}_exponent']})" for d in DISTANCES]
    head += [f"{_TITLES[d]}, equidistant" for d in DISTANCES]
    rows = []
    for name, result in shown.items():
        keys = [f"{kind}_{d}" for kind in ("tree", "even") for d in DISTANCES]
        fitted = [str(fit_exponent(result[key])) for key in keys]
        rows.append([ROC_CURVES[name].title, _assumption(name), *fitted])
    return head, rows


def _assumption(name: str) -> str:
    roc = ROC_CURVES[name]
    if not roc.meets:
        return "not met"
    if roc.is_smooth:
        return "met"
    return "met, not Lipschitz" if name == "fading" else "bounds met, not Lipschitz"


def _constant_table(shown: CaseResults) -> tuple[list[str], list[list[str]]]:
    head = ["distribution"]
    head += [f"{_TITLES[d]}, {word}" for d in DISTANCES for word in ("tree", "equidistant", "best")]
    rows = []
    for name in _meeting(shown):
        cells = [ROC_CURVES[name].title]
        for d in DISTANCES:
            tree, even = (constant(shown[name][f"{kind}_{d}"]) for kind in ("tree", "even"))
            cells += [f"{tree:.4f}", f"{even:.4f}", f"{shown[name][f'best_{d}']:.4f}"]
        rows.append(cells)
    return head, rows


def constant(values: list[float]) -> float:
    """C of C / N^2 at the last depth."""
    return values[-1] * 4.0 ** len(values)


def _meeting(shown: CaseResults) -> list[str]:
    """Distributions within the assumptions with a Lipschitz curvature, so that constants exist."""
    return [name for name in shown if ROC_CURVES[name].meets and ROC_CURVES[name].is_smooth]


def judge_rate(exponents: list[Exponent]) -> Verdict:
    """Judge by whether all distances, or some, fall at least like N^-2, within error."""
    reached = [exponent.reaches() for exponent in exponents]
    if not reached:
        return Verdict.NOT_RUN
    if all(reached):
        return Verdict.REPRODUCED
    return Verdict.PARTLY if any(reached) else Verdict.NOT_REPRODUCED


def _judge_rate(page: Page, shown: CaseResults) -> None:
    for d in DISTANCES:
        exponents = [fit_exponent(shown[name][f"tree_{d}"]) for name in _meeting(shown)]
        slowest = max(exponents, default=None)
        page.claim(
            f"Proposition 15: {_TITLES[d]} of the recursion falls like N^-2 where ROC*'' is "
            "bounded, away from 0 and smooth",
            judge_rate(exponents),
            f"slowest exponent {slowest}, {len(exponents)} distributions",
            headline=Headline(
                f"Proposition 15: {_TITLES[d]} falls like 1/N² in the number N of cells",
                "N^-2",
                f"slowest exponent {slowest}, {len(exponents)} smooth distributions",
            )
            if d == "d1"
            else None,
        )


def _judge_bounds_alone(page: Page, shown: CaseResults) -> None:
    """The proof of Proposition 15 by Lemma 23 assumes only the bounds."""
    found = [name for name in ("fading", "octaves") if name in shown]
    if not found:
        return
    page.text(
        "Two curves meet the bounds without a Lipschitz second derivative. Where the waves fade, "
        "ROC*'' is continuous on [0, 1], and the recursion splits the cell at 0 of level k at 1/2 "
        "+ 1/(k + 32) of its width: d-infinity times N^2 grows like the fourth power of the depth. "
        "Where the pattern repeats in octaves, ROC*'' has no limit at 0, and the cell at 0 keeps "
        f"{RATIO} of its width at each level: d-infinity falls no faster than {RATIO}^(2D). Lemma "
        "23 gives a fraction C below 1; the rate needs fractions whose product stays below a "
        "constant times 2^-D. The proposition, which only says that some knots reach the rate, "
        "stands: equidistant ones do."
    )
    trees, evens = (
        {name: fit_exponent(shown[name][f"{kind}_d_inf"]) for name in found}
        for kind in ("tree", "even")
    )
    first = found[0]
    page.claim(
        "Proof of Proposition 15: the recursion itself has the rate N^-2 in d-infinity wherever "
        "ROC*'' is bounded and away from 0",
        judge_rate(list(trees.values())),
        "; ".join(
            f"{ROC_CURVES[name].title}: exponent {trees[name]}, equidistant knots {evens[name]}"
            for name in found
        ),
        headline=Headline(
            "Proof of Proposition 15: the recursion has this rate under bounds on ROC*'' alone",
            "N^-2 in d-infinity",
            f"exponent {trees[first]} on a curve that meets them and has a "
            f"{'continuous' if first == 'fading' else 'bounded'} ROC*''; equidistant knots "
            f"{evens[first]}",
            Cause.PAPER,
        ),
    )


def judge_constants(ratios: list[float]) -> Verdict:
    """Judge by ratios of constants: none larger and some smaller is reproduced."""
    smaller = [ratio < 1 - ALLOWANCE for ratio in ratios]
    larger = [ratio > 1 + ALLOWANCE for ratio in ratios]
    if not ratios:
        return Verdict.NOT_RUN
    if not any(smaller):
        return Verdict.NOT_REPRODUCED
    return Verdict.PARTLY if any(larger) else Verdict.REPRODUCED


def _judge_constants(page: Page, shown: CaseResults) -> None:
    for d in DISTANCES:
        ratios = [
            constant(shown[name][f"tree_{d}"]) / constant(shown[name][f"even_{d}"])
            for name in _meeting(shown)
        ]
        span = f"{min(ratios):.3f} to {max(ratios):.3f} of it" if ratios else "–"
        page.claim(
            f"Adaptive knots possibly yield a sharper constant C than equidistant ones: "
            f"{_TITLES[d]}",
            judge_constants(ratios),
            f"{span}, {len(ratios)} distributions; a constant curvature gives the same knots",
        )


def _judge_bounds(page: Page, shown: CaseResults) -> None:
    """max |f''| / 8 h^2 and / 12 h^2 for cells of width h: the first inequality of the proof."""
    use = {name: result for name, result in shown.items() if ROC_CURVES[name].meets}
    if not use:
        return
    for kind, words in (("tree", "the recursion's knots"), ("even", "equidistant knots")):
        ratio = max(_bound_ratio(name, r, kind) for name, r in use.items())
        page.must_hold(
            f"With cells of width at most h, d-infinity is at most max |ROC*''| h^2 / 8 and d1 at "
            f"most max |ROC*''| h^2 / 12: {words}",
            ratio <= 1 + 1e-6,
            f"at most {ratio:.3f} of the bound, {len(use)} distributions",
        )


def _bound_ratio(name: str, result: Result, kind: str) -> float:
    """The largest ratio of a distance to its bound, over depths."""
    depth = np.arange(1, len(result["widest"]) + 1)
    width = np.array(result["widest"]) if kind == "tree" else 0.5**depth
    bound = ROC_CURVES[name].most * width**2
    parts = [np.array(result[f"{kind}_{d}"]) * by for d, by in (("d1", 12), ("d_inf", 8))]
    return float(max((part / bound).max() for part in parts))


def _draw(shown: CaseResults, figure: "Figure") -> None:
    names = ("exponential_2", "fading", "octaves", "power", "gaussian_1")
    drawn = [name for name in names if name in shown]
    axes = figure.subplots(1, 2)
    for ax, d in zip(axes, DISTANCES, strict=True):
        for name, (mark, colour) in zip(drawn, _STYLES, strict=False):
            values = np.array(shown[name][f"tree_{d}"])
            N = 2.0 ** np.arange(1, len(values) + 1)
            ax.plot(
                N, values * N**2, mark, ms=4, lw=1.1, color=colour, label=ROC_CURVES[name].title
            )
        ax.set(
            xscale="log", xlabel="cells, N", title=_TITLES[d], ylabel=f"{_TITLES[d]} times $N^2$"
        )
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylim(0, None)
    axes[1].set_yscale("log")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=2, frameon=False, fontsize=9)
