"""Report on Lemma 4, with Figure 1 drawn on a real ROC curve."""

from typing import TYPE_CHECKING

import numpy as np

from papers.experiment import CaseResults, Result, Setup
from papers.long_servedio_2007.lemma4 import EMBEDDED, TABLE
from papers.page import Headline, Page

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ROUNDING = 1e-9


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """The picture and the two claims of the lemma."""
    name = next((name for name in (TABLE, EMBEDDED) if name in results), None)
    if name is not None:
        _report_curve(page, name, results[name])
    drawn = [result for case, result in results.items() if case.startswith("draws")]
    if drawn:
        _report_draws(page, drawn, page.expected["lemma4_divisor"])


def _report_curve(page: Page, name: str, result: Result) -> None:
    edge = result["auc"] - 0.5
    page.text(
        f"The best single feature of `{name}` ({result['n_rows']} rows) has an AUC of "
        f"{result['auc']:.3f}, gamma = {edge:.3f}. Point (a) is the cut with the largest v - u: "
        f"p- = {result['p_neg']:.3f}, p+ = {result['p_pos']:.3f}. The coin leads along the dashed "
        f"line to point (b), where both errors are {result['epsilon']:.3f}; the two-sided "
        f"advantage is {0.5 - result['epsilon']:.3f}, of at least gamma/4 = {edge / 4:.3f}."
    )
    page.figure(
        "figure1",
        lambda figure: _draw_curve(figure, result),
        f"Figure 1 on a real curve: the best feature of {name}. Solid: ROC curve of h. Dashed: h', "
        "which separates nothing on the far side of (a). (b) is where it meets y = 1 - x",
    )


def _draw_curve(figure: "Figure", result: Result) -> None:
    figure.set_size_inches(5.2, 5.0)
    ax = figure.subplots()
    a, e = (result["p_neg"], 1 - result["p_pos"]), result["epsilon"]
    ax.plot(result["fpr"], result["tpr"], color="C0", label="h")
    # The coin applies to the rows below the cut if p- <= p+, otherwise to those above it.
    end = (1.0, 1.0) if result["p_neg"] <= result["p_pos"] else (0.0, 0.0)
    ax.plot(*zip(a, end, strict=True), color="C1", linestyle="--", linewidth=2, label="h'")
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.8)
    ax.plot([0, 1], [1, 0], color="0.3", linestyle=":", linewidth=1.2, label="y = 1 - x")
    _mark(ax, "(a)", a)
    _mark(ax, "(b)", (e, 1 - e))
    ax.set(
        xlim=(-0.01, 1.01),
        ylim=(-0.01, 1.01),
        aspect="equal",
        xlabel="false positive rate u",
        ylabel="true positive rate v",
    )
    # The empty space between the two straight lines.
    ax.legend(loc="center right", bbox_to_anchor=(1.0, 0.5), frameon=False)
    ax.spines[["top", "right"]].set_visible(False)


def _mark(ax: "Axes", name: str, at: tuple[float, float]) -> None:
    ax.plot(*at, "o", color="black", markersize=7, zorder=3)
    ax.annotate(name, at, xytext=(9, -14), textcoords="offset points")


def _report_draws(page: Page, drawn: list[Result], divisor: float) -> None:
    n_draws = sum(result["n_draws"] for result in drawn)
    page.figure(
        "lemma4",
        lambda figure: _draw_advantages(figure, drawn),
        "Two-sided advantage of the classifier against the advantage of the ranker that it is made "
        "of; each point a ranker and a distribution drawn at random",
    )
    difference = max(result["largest_difference"] for result in drawn)
    page.must_hold(
        "Lemma 4: the error rates on both classes are equal",
        difference < _ROUNDING,
        f"{n_draws:,} rankers and distributions, largest difference {difference:.1g}",
    )
    # Cases store the advantage divided by gamma/4; here it is divided by gamma.
    ratio = min(result["least_ratio"] for result in drawn) / 4
    page.must_hold(
        f"Lemma 4: the two-sided advantage is at least gamma/{divisor:g}",
        ratio * divisor > 1 - 1e-6,  # gamma may be as small as that
        f"smallest advantage divided by gamma: {ratio:.4f}",
        headline=Headline(
            "Lemma 4: a ranker of advantage gamma becomes a two-sided classifier",
            f"advantage ≥ gamma/{divisor:g} on each class",
            f"smallest advantage {ratio:.4f} gamma, {n_draws:,} rankers and distributions",
        ),
    )
    nearest = min(result["least_over_sharp"] for result in drawn)
    page.check(
        "sharper than Lemma 4: with r = √(1 - 2 gamma) it is at least (1 - r)/(2 (1 + r)), since "
        "AUC ≤ 1/2 + J - J²/2 for a largest gap J = v - u, and (1) gives J/(2 (2 - J))",
        min(nearest, *(result["least_over_gap"] for result in drawn)) > -_ROUNDING,
        f"smallest excess over it: {nearest:.1g}",
    )


def _draw_advantages(figure: "Figure", drawn: list[Result]) -> None:
    ax = figure.subplots()
    edges = np.concatenate([result["edges"] for result in drawn])
    advantages = np.concatenate([result["advantages"] for result in drawn])
    ax.plot(edges, advantages, ".", color="0.5", markersize=4, label="drawn")
    gamma = np.linspace(0, 0.5, 200)
    root = np.sqrt(1 - 2 * gamma)
    ax.plot(gamma, gamma / 4, color="C1", linestyle="--", label="gamma/4 (Lemma 4)")
    ax.plot(gamma, (1 - root) / (2 * (1 + root)), color="C0", label="(1 - r)/(2 (1 + r)), sharper")
    ax.set(xlabel="gamma = AUC - 1/2 of the ranker", ylabel="two-sided advantage")
    ax.legend(frameon=False, loc="upper left")
    ax.spines[["top", "right"]].set_visible(False)
