"""The statements of section 4.1 about TreeRank, checked on fitted trees."""

import numpy as np

from auctor import TreeRank
from auctor._typing import Floats, Ints
from auctor.datasets import OptimalRoc, approximate_roc
from auctor.metrics import auc, roc_curve
from papers.clemencon_vayatis_2009.roc_curves import ROC_CURVES
from papers.clemencon_vayatis_2009.trees import find_numbers, tree_model
from papers.experiment import Result


def draw_rows(rng: np.random.Generator) -> tuple[Floats, Ints]:
    """60 to 300 rows of 1 to 4 features with ties."""
    n_rows, n_features = int(rng.integers(60, 301)), int(rng.integers(1, 5))
    X = rng.integers(0, rng.integers(3, 100), size=(n_rows, n_features)).astype(np.float64)
    signal = X @ rng.normal(size=n_features)
    y = (signal + rng.normal(scale=signal.std() + 1, size=n_rows) > np.median(signal)).astype(int)
    y[:2] = 0, 1
    return X, y


def best_ent(X: Floats, y: Ints) -> float:
    """The largest Ent of any cut along a feature, in either direction."""
    neg, pos = 1 / (y == 0).sum(), 1 / (y == 1).sum()
    best = 0.0
    for column in X.T:
        for value in np.unique(column)[:-1]:
            below = column <= value
            ent = pos * (y[below] == 1).sum() - neg * (y[below] == 0).sum()
            best = max(best, abs(float(ent)))
    return best


def tree_misses(rng: np.random.Generator) -> dict[str, float]:
    """One tree on random rows: gains, the root's split, scores and knots."""
    X, y = draw_rows(rng)
    depth = int(rng.integers(1, 9))
    tree = TreeRank(depth, min_samples_leaf=1e-9).fit(X, y)
    score, splits = tree.decision_function(X), tree.history_.splits
    # Weights are in effective rows, in which copies of a row count less: totals are the root's.
    totals = np.add(splits[0].upper, splits[0].lower) if splits else (1.0, 1.0)
    ents = [_ent(s.upper, s.lower, *totals) for s in splits]
    gains = [split.gain for split in splits]
    curve = roc_curve(y, score)
    knots = np.array(tree.certificate_.values["knots"])
    on_curve = np.column_stack([curve.fpr, curve.tpr])
    by_rate = TreeRank(depth, min_samples_leaf=1e-9, order="rate").fit(X, y)
    return {
        "gain": max((abs(g - e / 2) for g, e in zip(gains, ents, strict=True)), default=0.0),
        "sum": abs(0.5 + sum(gains) - auc(y, score)),
        "root": abs(best_ent(X, y) - 2 * (gains[0] if gains else 0.0)),
        "knots": 1.0 if knots.shape != on_curve.shape else float(np.abs(knots - on_curve).max()),
        "scores": _score_miss(tree, depth),
        "rate_below": auc(y, score) - auc(y, by_rate.decision_function(X)),
    }


def _ent(
    upper: tuple[float, float], lower: tuple[float, float], n_neg: float, n_pos: float
) -> float:
    """alpha(C) beta(C') - beta(C) alpha(C') of the part C' that is ranked above."""
    width, rise = (upper[0] + lower[0]) / n_neg, (upper[1] + lower[1]) / n_pos
    return width * upper[1] / n_pos - rise * upper[0] / n_neg


def _score_miss(tree: TreeRank, depth: int) -> float:
    """Values of leaves minus 2^D - k, for the depth D of the tree."""
    from auctor.display import TreeDisplay

    drawing = TreeDisplay.from_model(tree_model(tree), max_depth=depth)
    number = find_numbers(drawing.depth.tolist(), drawing.parent.tolist(), drawing.x.tolist())
    leaves = sorted(set(range(len(number))) - set(drawing.parent.tolist()))
    last = int(drawing.depth.max())  # further levels would split nothing
    wanted = [2.0**last - number[c] * 2.0 ** (last - drawing.depth[c]) for c in leaves]
    return float(np.abs(tree_model(tree).value[leaves] - np.array(wanted)).max())


def check_trees(n_trees: int, seed: int) -> Result:
    """The largest error of each statement over many trees."""
    rng = np.random.default_rng([seed, 7])
    rows = [tree_misses(rng) for _ in range(n_trees)]
    return {key: max(row[key] for row in rows) for key in rows[0]} | {"n": n_trees}


def check_curves() -> Result:
    """Proposition 8 and Definition 9 where ROC* is smooth, by differences and on a grid."""
    names = ("exponential_2", "exponential_5", "gaussian_1", "gaussian_2", "power")
    slopes = [_slope_miss(ROC_CURVES[name].make(), p) for name in names for p in (0.1, 0.5, 0.8)]
    areas = [_area_miss(ROC_CURVES[name].make()) for name in names]
    return {"slope": max(slopes), "area": max(areas), "n": len(names)}


def _slope_miss(roc: OptimalRoc, p: float) -> float:
    """Proposition 8: the slope of ROC* by a difference, relative to (1-p)/p Q* / (1 - Q*)."""
    alpha, step = np.linspace(0.05, 0.95, 19), 1e-4
    slope = (roc.tpr(alpha + step) - roc.tpr(alpha - step)) / (2 * step)
    t = np.linspace(max(roc.low, -30), min(roc.high, 30), 20_001)
    # Q*(alpha) is eta at the threshold that a fraction alpha of the negatives passes.
    threshold = np.interp(alpha, roc.rates(t)[0][::-1], t[::-1])
    Q = p * np.exp(threshold) / (1 - p + p * np.exp(threshold))
    return float(np.abs(slope / ((1 - p) / p * Q / (1 - Q)) - 1).max())


def _area_miss(roc: OptimalRoc) -> float:
    """Definition 9: d1 = AUC* - AUC against the mean gap on a grid, for the ideal tree."""
    ideal = approximate_roc(roc, depth=2)
    u = (np.arange(20_000) + 0.5) / 20_000
    grid = u**2  # with weight 2u: finer where the slope may be unbounded
    gap = roc.tpr(grid) - np.interp(grid, *ideal.knots)
    return abs(float((gap * 2 * u).mean()) - ideal.d1)
