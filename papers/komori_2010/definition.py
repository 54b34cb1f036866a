"""Figure 1: FPR and TPR of a threshold, the ROC curve, and the area under it (section 2.1)."""

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtr

from auctor._typing import Floats
from papers.experiment import Case, CaseResults, Result, Setup
from papers.page import Page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# F(x) is N(0, 1) in class 0 and N(SHIFT, 1) in class 1.
SHIFT, THRESHOLD = 1.5, 1.0


def figure1_cases(setup: Setup) -> list[Case]:
    """One case: the area computed in three ways."""
    return [Case("areas", areas, cost=0.1)]


def _rates(c: Floats) -> tuple[Floats, Floats]:
    """FPR(c) and TPR(c), equation (1)."""
    return np.asarray(ndtr(-c)), np.asarray(ndtr(SHIFT - c))


def areas() -> Result:
    """Equation (2) from infinity down, P(F(X1) >= F(X0)), and its closed form."""
    fpr, tpr = _rates(np.linspace(12, -12, 200_001))
    curve = float((np.diff(fpr) * (tpr[1:] + tpr[:-1]) / 2).sum())
    x = np.linspace(-12, 14, 200_001)
    density = np.exp(-((x - SHIFT) ** 2) / 2) / np.sqrt(2 * np.pi)
    pairs = float((density * ndtr(x)).sum() * (x[1] - x[0]))
    return {"curve": curve, "pairs": pairs, "closed": float(ndtr(SHIFT / 2**0.5))}


def report_figure1(page: Page, results: CaseResults, setup: Setup) -> None:
    """Draw the curve, and check that its area is the fraction of pairs."""
    result = results["areas"]
    page.figure(
        "figure1",
        _draw,
        "Left: densities of F(x) in both classes and a threshold c; right: the ROC curve, with the "
        "point of c",
    )
    apart = max(abs(result[name] - result["closed"]) for name in ("curve", "pairs"))
    page.must_hold(
        "the integral of TPR over FPR from c = infinity down to minus infinity is "
        "P(F(X1) >= F(X0)) (equation (2), whose printed limits are equal)",
        apart < 1e-8,
        f"{result['curve']:.9f}, {result['pairs']:.9f}, Phi(1.5 / sqrt 2) = {result['closed']:.9f}",
    )


def _draw(figure: "Figure") -> None:
    left, right = figure.subplots(1, 2)
    x = np.linspace(-3.5, 5, 400)
    for label, colour, style, shift in ((0, "black", "-", 0.0), (1, "C1", "--", SHIFT)):
        density = np.exp(-((x - shift) ** 2) / 2) / np.sqrt(2 * np.pi)
        left.plot(x, density, color=colour, linestyle=style, label=f"class {label}")
        above = x >= THRESHOLD
        left.fill_between(x[above], density[above], color=colour, alpha=0.2, linewidth=0)
    left.axvline(THRESHOLD, color="C0", linewidth=1)
    left.text(THRESHOLD + 0.1, 0.45, "c", color="C0")
    left.set(xlabel="F(x)", ylabel="density", ylim=(0, 0.49), title="shaded: FPR(c) and TPR(c)")
    left.legend(loc="upper left", frameon=False)
    fpr, tpr = _rates(np.linspace(8, -8, 600))
    right.plot(fpr, tpr, color="black")
    point = _rates(np.array([THRESHOLD]))
    right.plot(*point, "o", color="C0")
    right.annotate("(FPR(c), TPR(c))", (point[0][0], point[1][0]), (0.2, 0.66), color="C0")
    right.plot([0, 1], [0, 1], color="0.6", linestyle=":", linewidth=1)
    right.set(xlabel="FPR", ylabel="TPR", aspect="equal", title="ROC curve")
