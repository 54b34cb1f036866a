"""The rankers of Theorem 21, with cells that shrink as the sample grows."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from auctor import TreeRank, TreeRankForest
from papers.clemencon_vayatis_2009.feature_distributions import (
    DISTRIBUTIONS,
    POSITIVE_FRACTION,
    FeatureDistribution,
    evaluate,
)
from papers.experiment import Result, Setup, Size

FIXED_DEPTH = 2
# Fine enough for one feature; in the plane it would give 16 million boxes.
_BINS = {1: 4095, 2: 255}
_MOST_BINS = 65_535
_N_TREES = 30
# Boxes per side of the plane for the tree on the distribution itself.
_N_SIDE = 64
# Seconds for up to 1,000 rows, and for each further row.
COSTS = {"forest": (1.3, 8e-5), "grown": (0.1, 1.2e-4)}


@dataclass(frozen=True)
class Ranker:
    """A ranker: its title, and an estimator for n rows of a distribution."""

    title: str
    make: Callable[[int, FeatureDistribution], Any]
    is_plane: bool = True  # whether it is also run on two features


def shrink(n_rows: int) -> dict[str, Any]:
    """At least sqrt(n) rows in a cell, so at most sqrt(n) cells: both grow without limit.

    The proof follows Theorem 21.2 of Devroye, Györfi and Lugosi, which wants cells that shrink
    and a number of cells that is o(n / log n).
    """
    return {"max_depth": math.ceil(math.log2(n_rows)), "min_samples_leaf": math.sqrt(n_rows)}


def _tree(order: str) -> Callable[[int, FeatureDistribution], Any]:
    def make(n_rows: int, distribution: FeatureDistribution) -> TreeRank:
        """Cells that shrink as n grows."""
        return TreeRank(order=order, max_bins=_BINS[distribution.n_features], **shrink(n_rows))

    return make


def _unions(n_rows: int, distribution: FeatureDistribution) -> TreeRank:
    """Cells are unions of boxes, and the boxes shrink too."""
    leaf_depth = min(round(math.log2(n_rows) / 2), 10)
    return TreeRank(split="tree", leaf_depth=leaf_depth, **shrink(n_rows))


def _forest(n_rows: int, distribution: FeatureDistribution) -> TreeRankForest:
    return TreeRankForest(_N_TREES, n_jobs=1, **shrink(n_rows))


def _fixed(n_rows: int, distribution: FeatureDistribution) -> TreeRank:
    return TreeRank(FIXED_DEPTH, min_samples_leaf=1, max_bins=_BINS[distribution.n_features])


def _grown(n_rows: int, distribution: FeatureDistribution) -> TreeRank:
    """The smallest cells, each with one class, without a bound on their number."""
    return TreeRank(48, min_samples_leaf=1, order="rate", max_bins=_MOST_BINS)


RANKERS: dict[str, Ranker] = {
    "rate": Ranker("leaves by fraction of positives", _tree("rate")),
    "tree": Ranker("leaves from left to right", _tree("tree")),
    "unions": Ranker("left to right, cells unions of boxes", _unions),
    "forest": Ranker(f"forest of {_N_TREES} trees", _forest),
    "fixed": Ranker(f"depth {FIXED_DEPTH} for any n", _fixed, is_plane=False),
    "grown": Ranker("fully grown, by fraction", _grown, is_plane=False),
}


def sizes(setup: Setup) -> list[int]:
    """Rows of the samples, tenfold each time."""
    return setup.pick([10**k for k in range(2, 7)], [10**3, 10**4, 10**5], [10**2, 10**3])


def repetitions(setup: Setup, distribution: str, ranker: str, n_rows: int) -> int:
    """The number of independent samples; fewer, or none, if a fit takes long."""
    if setup.size == Size.FULL:
        return _full_repetitions(ranker, n_rows)
    if ranker == "forest":  # on one distribution only, for comparison with the tree
        small = distribution == "diagonals" and n_rows <= setup.pick(0, 10**4, 10**2)
        return 2 if small else 0
    if ranker == "grown" and n_rows > 10**4:
        return 0
    return setup.pick(0, 5 if ranker == "grown" else 8, 2)


def _full_repetitions(ranker: str, n_rows: int) -> int:
    if ranker in COSTS:
        return 10 if n_rows <= 10**5 else 0
    return 50 if n_rows <= 10**3 else 20 if n_rows <= 10**5 else 10


def measure(
    distribution_name: str, ranker_name: str, n_rows: int, n_repetitions: int, seed: int
) -> Result:
    """Distances from ROC* in the population, for samples that all rankers share."""
    distribution, ranker = DISTRIBUTIONS[distribution_name](), RANKERS[ranker_name]
    result = []
    for repetition in range(n_repetitions):
        numbers = [seed, list(DISTRIBUTIONS).index(distribution_name), n_rows, repetition]
        X, y = distribution.draw(n_rows, np.random.default_rng(numbers))
        result.append(evaluate(ranker.make(n_rows, distribution).fit(X, y), distribution))
    keys = ("d1", "d_inf", "n_cells", "diameter")
    return {key: [getattr(one, key) for one in result] for key in keys}


def measure_distribution(distribution_name: str, deepest: int) -> Result:
    """TreeRank on the distribution itself: one row of each class per box, weighted by its mass."""
    distribution = DISTRIBUTIONS[distribution_name]()
    edges = [np.linspace(0, 1, _N_SIDE + 1)] * distribution.n_features
    middle = np.meshgrid(*((e[1:] + e[:-1]) / 2 for e in edges), indexing="ij")
    X = np.tile(np.column_stack([m.ravel() for m in middle]), (2, 1))
    y = np.repeat([0, 1], len(X) // 2)
    neg, pos = distribution.masses(edges)
    weight = np.concatenate([(1 - POSITIVE_FRACTION) * neg, POSITIVE_FRACTION * pos])
    result: Result = {"depth": list(range(1, deepest + 1))}
    for order in ("tree", "rate"):
        trees = [TreeRank(d, min_samples_leaf=1e-9, order=order) for d in result["depth"]]
        results = [evaluate(tree.fit(X, y, sample_weight=weight), distribution) for tree in trees]
        result[f"{order}_d1"] = [one.d1 for one in results]
        result[f"{order}_d_inf"] = [one.d_inf for one in results]
    return result
