"""A small tree as a weak ranker, for AUCBoost and MartiRank.

Both cut the scores of a weak ranker at one threshold. LeafRank's split of the whole table is suited
to that: of all ways to divide the leaves of the tree into an upper and a lower group, it takes the
one with the smallest sum of the error rates of the two classes.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats
from auctor.data import Feature, Partition, RankingData, Workers
from auctor.data.weights import frequency_weights
from auctor.kernels.trees import leaves_of
from auctor.learners.trees.grower import Rules
from auctor.learners.trees.grown_tree import GrownTree
from auctor.learners.trees.growth import grow

# Smallest fraction of the weight in a leaf. If features matter only together, no first cut is
# better than another, and without a minimum the best by chance cuts off a few rows at one end: in
# one of 12 draws of y = sign(x0 x1 + noise), AUCBoost with trees of depth 3 then had an AUC of
# 0.52. With a minimum of 1, 5 or 10 % this did not occur.
_LEAST_FRACTION = 0.01


class WeakTree:
    """A tree of ``depth`` over rows of codes (rows, features), which scores rows 2 or 1.

    It has the methods of a scikit-learn estimator that weak rankers need.
    """

    tree_: GrownTree

    def __init__(self, features: tuple[Feature, ...], depth: int) -> None:
        self.features, self.depth = features, depth

    def fit(self, Z: Floats, y: npt.NDArray[Any], sample_weight: Floats) -> "WeakTree":
        data = self._data(Z, y == 1, sample_weight)
        least = _LEAST_FRACTION * sum(data.class_weights)
        rules = Rules(max_depth=1, min_samples_leaf=least, leaf_depth=self.depth)
        self.tree_ = grow(data, rules, Workers(1))
        leaves, ranks = self.tree_.leaves()
        self.value_ = np.zeros(len(self.tree_.counts))
        self.value_[leaves] = ranks
        return self

    def decision_function(self, Z: Floats) -> Floats:
        """The rank of each row's leaf."""
        return self.value_[leaves_of(self._codes(Z), self.tree_.nodes)]

    def _data(self, Z: Floats, positive: Bools, weight: Floats) -> RankingData:
        order = np.argsort(~positive, kind="stable")
        multiples, _ = frequency_weights(weight[order], len(order))
        codes = np.ascontiguousarray(self._codes(Z)[:, order])
        part = Partition(codes, multiples, np.arange(len(order)), int(positive.sum()))
        # The minimum is a fraction of the weight, so that a unit of weight counts as one row.
        return RankingData(self.features, (part,), np.array([0, 1]), (1.0, 1.0))

    def _codes(self, Z: Floats) -> npt.NDArray[Any]:
        widest = max(feature.n_bins for feature in self.features)
        return np.ascontiguousarray(Z.T.astype(np.uint8 if widest < 256 else np.uint16))

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """No parameters: nothing is random, and there is nothing to set."""
        return {}

    def set_params(self, **parameters: Any) -> "WeakTree":
        return self

    def __sklearn_clone__(self) -> "WeakTree":
        return WeakTree(self.features, self.depth)
