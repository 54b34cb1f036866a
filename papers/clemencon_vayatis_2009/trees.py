"""Figures 2 and 3: a fitted TreeRank, its nodes as the paper numbers them, and its partition."""

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from auctor import TreeRank
from auctor._typing import Floats, Ints
from auctor.metrics import roc_curve
from auctor.models import TreeModel
from papers.clemencon_vayatis_2009.feature_distributions import DISTRIBUTIONS
from papers.experiment import Case, CaseResults, Result, Setup
from papers.page import Page

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FIGURE2_DEPTH, FIGURE3_DEPTH = 3, 5


class Fitted(NamedTuple):
    """A tree and the rows it was fitted on."""

    ranker: TreeRank
    X: Floats
    y: Ints


def fit_tree(n_rows: int, depth: int, seed: int) -> Fitted:
    """TreeRank with perpendicular splits (Remark 11) on rows with diagonal level sets."""
    X, y = DISTRIBUTIONS["diagonals"]().draw(n_rows, np.random.default_rng([seed, 3]))
    ranker = TreeRank(max_depth=depth, min_samples_leaf=20, max_bins=64)
    return Fitted(ranker.fit(X, y), X, y)


def tree_model(ranker: TreeRank) -> TreeModel:
    """The fitted tree of the estimator."""
    assert isinstance(ranker.model_, TreeModel)
    return ranker.model_


def number_nodes(n_rows: int, seed: int) -> Result:
    """The nodes to draw, and the leaves from left to right with the training ROC curve."""
    from auctor.display import TreeDisplay

    ranker, X, y = fit_tree(n_rows, FIGURE2_DEPTH, seed)
    drawing = TreeDisplay.from_model(tree_model(ranker))
    leaves = np.flatnonzero(~np.isin(np.arange(len(drawing.x)), drawing.parent))
    leaves = leaves[np.argsort(drawing.x[leaves])]
    scores = ranker.decision_function(X)
    curve = roc_curve(y, scores)
    # Cells of the drawing are the cells of the model in their order, here all of its nodes.
    knots = [np.cumsum(w[leaves]) for w in (drawing.weight_neg, drawing.weight_pos)]
    return {
        "x": drawing.x.tolist(),
        "depth": drawing.depth.tolist(),
        "parent": drawing.parent.tolist(),
        "weight_neg": drawing.weight_neg.tolist(),
        "weight_pos": drawing.weight_pos.tolist(),
        "test": drawing.test,
        "leaf_value": tree_model(ranker).value[leaves].tolist(),
        "knots_neg": [0.0, *knots[0].tolist()],
        "knots_pos": [0.0, *knots[1].tolist()],
        "curve_neg": curve.false_positives.tolist(),
        "curve_pos": curve.true_positives.tolist(),
        "training_auc": curve.auc(),
    }


def find_numbers(depth: list[int], parent: list[int], x: list[float]) -> list[int]:
    """k of each cell C_{d,k}: its upper part is C_{d+1,2k}, the lower one C_{d+1,2k+1}."""
    number = [0] * len(depth)
    for cell in sorted(range(len(depth)), key=lambda c: depth[c]):
        if parent[cell] >= 0:
            number[cell] = 2 * number[parent[cell]] + (x[cell] > x[parent[cell]])
    return number


def cases_figure2(setup: Setup) -> list[Case]:
    """One tree."""
    n_rows = setup.pick(2000, 2000, 600)
    return [Case("tree", partial(number_nodes, n_rows, setup.seed), cost=1)]


def report_figure2(page: Page, results: CaseResults, setup: Setup) -> None:
    """Report the tree with the paper's numbering, and its order."""
    result = results["tree"]
    page.text(
        f"TreeRank of depth {FIGURE2_DEPTH} on {sum(result['curve_neg'][-1:]):g} negatives and "
        f"{sum(result['curve_pos'][-1:]):g} positives of two features. Nodes have the paper's "
        "numbers C(d,k): the better part of each stands on the left."
    )
    caption = "Numbering of the nodes, and the ranks from left to right"
    page.figure("figure2", partial(_draw_tree, result), caption)
    values = result["leaf_value"]
    falls = [a - b for a, b in pairwise(values)]
    page.must_hold(
        "Remark 8: read from left to right, the leaves are the ranking (the score falls)",
        min(falls, default=1.0) > 0,
        f"{len(values)} leaves with scores {', '.join(f'{v:g}' for v in values)}",
    )
    page.check(
        "Output step: the score of leaf C(D,k) is 2^D - k",
        values == _paper_scores(result),
        f"{len(values)} leaves",
    )
    same = (result["knots_neg"], result["knots_pos"]) == (result["curve_neg"], result["curve_pos"])
    page.must_hold(
        "Proposition 13: the training ROC curve has its knots at the leaves and nowhere else",
        same,
        f"{len(values)} pieces, training AUC {result['training_auc']:.4f}",
    )


def _paper_scores(result: Result) -> list[float]:
    """2^D - k of each leaf; one that is not split on is C_{d+1,2k} of itself (Remark 9)."""
    number = find_numbers(result["depth"], result["parent"], result["x"])
    leaves = sorted(set(range(len(number))) - set(result["parent"]), key=lambda c: result["x"][c])
    last = max(result["depth"])
    return [2.0**last - number[c] * 2 ** (last - result["depth"][c]) for c in leaves]


def _draw_tree(result: Result, figure: "Figure") -> None:
    from auctor.display import TreeDisplay

    figure.set_size_inches(9.5, 6)
    ax = figure.subplots()
    drawing = TreeDisplay(
        x=np.array(result["x"]),
        depth=np.array(result["depth"]),
        parent=np.array(result["parent"]),
        weight_neg=np.array(result["weight_neg"]),
        weight_pos=np.array(result["weight_pos"]),
        test=result["test"],
    )
    drawing.plot(ax)
    _spread_colours(ax, drawing.weight_neg, drawing.weight_pos)
    number = find_numbers(result["depth"], result["parent"], result["x"])
    for k, x, depth in zip(number, result["x"], result["depth"], strict=True):
        above = (0, 16 if depth else 22)  # the root is drawn largest
        ax.annotate(f"C({depth},{k})", (x, -depth), above, textcoords="offset points",
                    ha="center", fontsize=8, fontweight="bold")  # fmt: skip


def _spread_colours(ax: "Axes", neg: Floats, pos: Floats) -> None:
    """Use the full colour range between the smallest and the largest fraction of positives."""
    fraction = pos / (neg + pos)
    for drawn in ax.collections:
        drawn.set_clim(float(fraction.min()), float(fraction.max()))


def split_plane(n_rows: int, seed: int) -> Result:
    """The partition of a tree over two features."""
    from auctor.display import PartitionDisplay

    ranker, _, _ = fit_tree(n_rows, FIGURE3_DEPTH, seed)
    drawing = PartitionDisplay.from_model(tree_model(ranker))
    return {
        "x_edges": drawing.x_edges.tolist(),
        "y_edges": drawing.y_edges.tolist(),
        "rank": drawing.rank.ravel().tolist(),
        "n_leaves": len(tree_model(ranker).leaves),
    }


def cases_figure3(setup: Setup) -> list[Case]:
    """One tree."""
    n_rows = setup.pick(5000, 5000, 800)
    return [Case("partition", partial(split_plane, n_rows, setup.seed), cost=1)]


def report_figure3(page: Page, results: CaseResults, setup: Setup) -> None:
    """Report the partition of the plane beside the level sets of the likelihood ratio."""
    rank = _rank_grid(results["partition"])
    page.text(
        f"TreeRank of depth {FIGURE3_DEPTH} on rows whose likelihood ratio falls with x0 + x1. On "
        "the right, the same number of level sets of the likelihood ratio, each with the same "
        "fraction of the negatives."
    )
    caption = "The partition by perpendicular splits, and the level sets of the likelihood ratio"
    page.figure("figure3", partial(_draw_partition, results["partition"]), caption)
    n_leaves = results["partition"]["n_leaves"]
    page.check(
        "Perpendicular splits: every cell is a rectangle, and the cells fill the plane",
        all(_is_rectangle(rank == r) for r in range(1, n_leaves + 1)),
        f"{n_leaves} cells",
    )
    page.text(
        "The first cut is never taken back: everything on its better side is ranked above "
        "everything on the other, across the level sets. What that costs is in Theorem 21 below."
    )


def _rank_grid(result: Result) -> np.ndarray:
    return np.reshape(result["rank"], (len(result["y_edges"]) - 1, len(result["x_edges"]) - 1))


def _is_rectangle(inside: np.ndarray) -> bool:
    """Whether a set of boxes of a grid fills the smallest rectangle around it."""
    rows, columns = np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))
    if len(rows) == 0:
        return False
    return bool(inside[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1].all())


def _draw_partition(result: Result, figure: "Figure") -> None:
    from auctor.display import PartitionDisplay

    figure.set_size_inches(10, 5)
    left, right = figure.subplots(1, 2)
    edges = np.array(result["x_edges"]), np.array(result["y_edges"])
    drawing = PartitionDisplay(*edges, _rank_grid(result), ("x0", "x1"))
    drawing.plot(left, x_limits=(0, 1), y_limits=(0, 1))
    distribution, n_sets = DISTRIBUTIONS["diagonals"](), result["n_leaves"]
    axis = np.linspace(0, 1, 300)
    x0, x1 = np.meshgrid(axis, axis)
    ratio = distribution.log_ratio(np.column_stack([x0.ravel(), x1.ravel()]))
    level = (distribution.roc.rates(ratio)[0] * n_sets).reshape(x0.shape)
    between = np.arange(n_sets + 1)
    right.contourf(x0, x1, level, levels=between, cmap="coolwarm_r")
    right.contour(x0, x1, level, levels=between, colors="black", linewidths=0.6)
    right.set(xlabel="x0", ylabel="x1")
    right.set_title("level sets of the likelihood ratio", fontsize=10)
    for ax in (left, right):
        ax.set_aspect("equal")
