"""Figure 1: the piecewise linear curves of the recursion of section 3.4 below ROC*."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from auctor.datasets import approximate_roc
from papers.clemencon_vayatis_2009.roc_curves import ROC_CURVES
from papers.experiment import Case, CaseResults, Result, Setup
from papers.page import Headline, Page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CURVES = ("exponential_2", "exponential_5", "gaussian_1", "gaussian_2", "power", "octaves")
DRAWN = ("exponential_5", "gaussian_1")
DEPTHS = range(8)
_COLOURS = ("C1", "C2", "C4")
# Sums of up to 2^7 cells, and the bisection behind ROC*.
_ROUNDING = 1e-9


def follow_recursion(name: str) -> Result:
    """The knots at each depth, and their deviation from the statements of section 3.4."""
    roc = ROC_CURVES[name].make()
    levels = [approximate_roc(roc, depth=depth) for depth in DEPTHS]
    between = np.linspace(0, 1, 4001)
    off = [np.abs(roc.tpr(level.alpha) - level.beta).max() for level in levels]
    over = [(np.interp(between, *level.knots) - roc.tpr(between)).max() for level in levels]
    curvatures = [_largest_curvature(*level.knots) for level in levels]
    shown = {f"alpha_{d}": levels[d].alpha.tolist() for d in (1, 2, 3)}
    shown |= {f"beta_{d}": levels[d].beta.tolist() for d in (1, 2, 3)}
    return {
        "auc": [level.auc for level in levels],
        "optimal_auc": roc.optimal_auc,
        "off_curve": float(max(off)),
        "over_curve": float(max(over)),
        "upward_bend": float(max(curvatures)),
        **shown,
    }


def _largest_curvature(alpha: np.ndarray, beta: np.ndarray) -> float:
    """The largest depth of a knot below the chord of its neighbours; at most 0 if concave."""
    (a0, a1, a2), (b0, b1, b2) = ((x[:-2], x[1:-1], x[2:]) for x in (alpha, beta))
    twist = (b2 - b0) * (a1 - a0) - (a2 - a0) * (b1 - b0)
    return float(twist.max(initial=0.0))


def cases(setup: Setup) -> list[Case]:
    """One case per distribution; nothing is drawn, so all sizes are the same."""
    return [Case(name, partial(follow_recursion, name), cost=0.2) for name in CURVES]


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """Report AUC by depth, a picture, and statements that hold for any distribution."""
    page.text(
        "No data are needed: the recursion runs on the distribution itself, up to depth 7. AUC of "
        "its piecewise linear curve:"
    )
    head = ["distribution", *(f"depth {depth}" for depth in DEPTHS), "AUC*"]
    shown = {name: results[name] for name in CURVES if name in results}
    rows = [
        [ROC_CURVES[n].title, *(f"{a:.5f}" for a in r["auc"]), f"{r['optimal_auc']:.5f}"]
        for n, r in shown.items()
    ]
    page.table(head, rows)
    caption = "ROC* and the piecewise linear curves of the recursion after 1, 2 and 3 levels"
    page.figure("figure1", partial(_draw, results), caption)
    _judge(page, list(shown.values()))


def _judge(page: Page, results: list[Result]) -> None:
    """The statements of section 3.4 about the knots, which are proved."""
    off, over, curvature = (
        max(r[key] for r in results) for key in ("off_curve", "over_curve", "upward_bend")
    )
    gains = [b - a for r in results for a, b in zip(r["auc"], r["auc"][1:], strict=False)]
    n_curves = f"{len(results)} distributions, depths 0 to {DEPTHS[-1]}"
    page.must_hold(
        "All knots lie on ROC*",
        off < _ROUNDING,
        f"at most {off:.1e} off, {n_curves}",
        headline=Headline(
            "Figure 1: the tree's knots lie on ROC*, and each level adds to the AUC",
            "on the curve",
            f"at most {off:.1e} off; each level adds {min(gains):.1e} or more, {n_curves}",
        ),
    )
    page.must_hold(
        "Each level adds to the AUC", min(gains) > 0, f"at least {min(gains):.1e}, {n_curves}"
    )
    page.must_hold(
        "The piecewise linear curve is concave and nowhere above ROC*",
        over < _ROUNDING and curvature < _ROUNDING,
        f"at most {max(over, 0):.1e} above, {n_curves}",
    )


def _draw(results: CaseResults, figure: "Figure") -> None:
    axes = figure.subplots(1, 2, sharey=True)
    for ax, name in zip(axes, DRAWN, strict=True):
        roc = ROC_CURVES[name].make()
        alpha = np.linspace(0, 1, 801) ** 2  # finer where the curve is steep
        ax.plot(alpha, roc.tpr(alpha), color="black", linewidth=1.8, label="ROC*")
        for depth, colour in zip((1, 2, 3) if name in results else (), _COLOURS, strict=False):
            knots = results[name][f"alpha_{depth}"], results[name][f"beta_{depth}"]
            ax.plot(*knots, "os^"[depth - 1], ls="--", ms=5, lw=1.1, color=colour,
                    label=f"depth {depth}")  # fmt: skip
        ax.plot([0, 1], [0, 1], color="0.8", linewidth=0.8, zorder=0)
        ax.set(xlabel="false positive rate, alpha", title=ROC_CURVES[name].title, aspect="equal")
        ax.spines[["top", "right"]].set_visible(False)
    axes[0].set_ylabel("true positive rate, beta")
    axes[1].legend(frameon=False, loc="lower right", fontsize=9)
