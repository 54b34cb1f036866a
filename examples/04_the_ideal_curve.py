"""The ideal curve: how fast a tree can approach ROC*, and how close TreeRank comes on samples.

First without data: the tree of Clémençon and Vayatis (section 3.4) for a known distribution. It
splits a cell at the point of ROC* whose slope is that of the cell's chord. The area d1 between the
two curves falls by a factor of four with each level (Proposition 15). So does the largest distance
d-infinity if the curvature of ROC* is bounded as the proposition requires; otherwise it falls more
slowly.

Then TreeRank on more and more rows of two Gaussian classes. By Theorem 21 both distances go to
zero. Its proof orders the leaves by their fraction of positives (the plug-in of Remark 7). If the
leaves are ordered from left to right, as in the tree, the distances stop falling: rows that an
early split ranked too low stay there. Writes demo-output/ideal_curve.png; needs matplotlib.

Run it with ``python examples/04_the_ideal_curve.py [ROWS]``; the default is up to 512,000 rows.
"""

import math
import sys
from pathlib import Path
from typing import Any

import numpy as np

from auctor import TreeRank
from auctor.datasets import (
    OptimalRoc,
    RocApproximation,
    Sample,
    approximate_roc,
    exponential_roc,
    gaussian_pair_roc,
    make_gaussian_pair,
)
from auctor.metrics import roc_curve, roc_distance

FOLDER = Path("demo-output")
DEPTHS = range(9)
SEEDS = range(3)
N_UNSEEN = 200_000
ORDERS = ("left to right", "by fraction of positives")
Distances = dict[str, np.ndarray]


def levels(optimal: OptimalRoc) -> list[RocApproximation]:
    """The ideal tree at each depth; prints both distances."""
    print(f"\n{optimal}\ndepth       AUC         d1  ratio   d-infinity  ratio")
    trees = [approximate_roc(optimal, depth=depth) for depth in DEPTHS]
    for k, now in enumerate(trees):
        row = [f"{now.depth:>5}  {now.auc:.6f}"]
        for name, width in (("d1", 9), ("d_inf", 11)):
            value = getattr(now, name)
            ratio = f"{getattr(trees[k - 1], name) / value:>5.2f}" if k else "     "
            row.append(f"{value:>{width}.2e}  {ratio}")
        print("  ".join(row))
    return trees


def one_fit(n_rows: int, seed: int, unseen: Sample, ideal: Any) -> np.ndarray:
    """Distances from ROC* on unseen rows, one row for each order of the leaves."""
    train = make_gaussian_pair(n_rows // 2, n_rows // 2, random_state=seed)
    # Cells must become smaller but hold more rows: about sqrt(n) cells of sqrt(n) / 2 rows or more.
    depth, least = round(math.log2(n_rows)) - 2, math.sqrt(n_rows) / 2
    options = {"max_depth": depth, "min_samples_leaf": least}
    rankers = [TreeRank(order=order, **options) for order in ("tree", "rate")]
    scores = [ranker.fit(train.X, train.y).decision_function(unseen.X) for ranker in rankers]
    return np.array([roc_distance(roc_curve(unseen.y, score), ideal) for score in scores])


def samples(sizes: list[int], n_unseen: int) -> Distances:
    """Mean (d1, d-infinity) over the seeds for each order of the leaves and each size."""
    # At depth 12 the error is far below the noise of the unseen rows.
    ideal = approximate_roc(gaussian_pair_roc(), depth=12).knots
    unseen = make_gaussian_pair(n_unseen // 2, n_unseen // 2, random_state=1_000_000)
    assert unseen.optimal_score is not None
    best = roc_distance(roc_curve(unseen.y, unseen.optimal_score(unseen.X)), ideal)
    print(f"\nTreeRank on two Gaussian classes, {len(SEEDS)} samples of each size")
    print(f"            {ORDERS[0]:>20} {ORDERS[1]:>24}")
    print(f"{'rows':>9}  {'d1':>8} {'d-infinity':>11} {'d1':>12} {'d-infinity':>11}")
    means = []
    for n_rows in sizes:
        means.append(np.mean([one_fit(n_rows, s, unseen, ideal) for s in SEEDS], axis=0))
        (a, b), (c, d) = means[-1]
        print(f"{n_rows:>9,}  {a:>8.4f} {b:>11.4f} {c:>12.4f} {d:>11.4f}", flush=True)
    print(f"The optimal score itself, on these {n_unseen:,} unseen rows: {best.l1:.4f}", end=" ")
    print(f"and {best.sup:.4f}")
    by_order = dict(zip(ORDERS, np.array(means).transpose(1, 0, 2), strict=True))
    return {**by_order, "optimal score": np.array(best)}


def draw(
    pair: list[RocApproximation],
    bent: list[RocApproximation],
    sizes: list[int],
    distances: Distances,
) -> Path:
    """Three panels: the piecewise linear curves, their errors by depth, TreeRank's by rows."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(14, 4.4), layout="constrained")
    draw_curves(axes[0], pair)
    draw_levels(axes[1], pair, bent)
    draw_samples(axes[2], sizes, distances)
    # Each legend is where its panel has no curves.
    for ax, anchor in zip(axes, ((0.98, 0.2), (0.26, 0.17), (0.33, 0.25)), strict=True):
        ax.spines[["top", "right"]].set_visible(False)
        loc = "center right" if ax is axes[0] else "center"
        ax.legend(frameon=False, fontsize=8.5, loc=loc, bbox_to_anchor=anchor)
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / "ideal_curve.png"
    figure.savefig(path, dpi=110)
    plt.close(figure)
    return path


def draw_curves(ax: Any, pair: list[RocApproximation]) -> None:
    """ROC* and its first piecewise linear approximations."""
    ax.plot(*pair[-1].knots, color="black", lw=2, label="ROC*")
    for level, colour in zip(pair[1:4], ("#b3532f", "#e0a458", "#5fa8d3"), strict=True):
        ax.plot(*level.knots, "o-", ms=4, lw=1.2, color=colour, label=f"depth {level.depth}")
    ax.plot([0, 1], [0, 1], color="#bbbbbb", lw=0.8)
    ax.set(xlabel="alpha", ylabel="beta", title="The ideal tree for two Gaussian classes")
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), aspect="equal")


def draw_levels(ax: Any, pair: list[RocApproximation], bent: list[RocApproximation]) -> None:
    """Both distances of both distributions by depth, with the rate of Proposition 15."""
    for trees, colour, name in (
        (bent, "#1b4965", "bounded curvature"),
        (pair, "#b3532f", "Gaussian classes"),
    ):
        depth = [tree.depth for tree in trees]
        for mark, key, word in (("o-", "d1", "d1"), ("s--", "d_inf", "d-infinity")):
            values = [getattr(tree, key) for tree in trees]
            ax.semilogy(depth, values, mark, ms=4, lw=1.2, color=colour, label=f"{name}, {word}")
    rate = 0.05 * 4.0 ** -np.array(list(DEPTHS))
    ax.semilogy(list(DEPTHS), rate, color="#888888", lw=1, ls=":", label="$4^{-D}$")
    ax.set(
        xlabel="depth D",
        ylabel="distance from ROC*",
        title="d1 falls by a factor of 4 with each level",
    )


def draw_samples(ax: Any, sizes: list[int], distances: Distances) -> None:
    """TreeRank's distances by the number of rows, for both orders of its leaves."""
    for order, colour in zip(ORDERS, ("#b3532f", "#1b4965"), strict=True):
        for column, mark, word in ((0, "o-", "d1"), (1, "s--", "d-infinity")):
            values = distances[order][:, column]
            ax.loglog(sizes, values, mark, ms=4, lw=1.2, color=colour, label=f"{order}, {word}")
    for value, word in zip(distances["optimal score"], ("d1", "d-infinity"), strict=True):
        ax.axhline(value, color="#888888", lw=1, ls=":")
        ax.text(sizes[0], value * 1.08, f"optimal score, {word}", fontsize=8)
    ax.set(xlabel="training rows", ylabel="distance from ROC*, unseen rows")
    ax.set(title="TreeRank as the sample grows")


def main(n_rows: int = 512_000, n_unseen: int = N_UNSEEN) -> Distances:
    sizes = [n_rows // 4**k for k in range(5, -1, -1) if n_rows // 4**k >= 500]
    print("The ideal tree for a known distribution")
    bent, pair = levels(exponential_roc(2.0)), levels(gaussian_pair_roc())
    distances = samples(sizes, n_unseen)
    print(f"\nwritten to {draw(pair, bent, sizes, distances)}")
    return distances


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 512_000)
