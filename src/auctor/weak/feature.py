"""Weak rankers that order the codes of one feature."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Feature
from auctor.kernels.stumps import LEAST_GAIN, feature_aucs
from auctor.weak.stump import StumpSearch

# Weights of the rows, in whole numbers.
Histogram = Ints  # (class, feature or node, code)
Counts = Ints  # (class, feature, node, code)


@dataclass(frozen=True, eq=False)
class CodeRanker:
    """One feature and a score for each of its codes; equal scores tie."""

    feature: int
    ranks: Ints  # of each code, from 0 without gaps
    auc: float


class FeatureRanking:
    """The single feature with the best weighted AUC, in either direction.

    Numeric features rank rows by value, with missing values below or above all others. Categorical
    features rank them by the fraction of positives in the category.
    """

    def __init__(self, features: tuple[Feature, ...]) -> None:
        self._n_bins = np.array([feature.n_bins for feature in features], dtype=np.int64)
        self._is_category = [feature.is_category for feature in features]

    def best(self, histogram: Histogram) -> CodeRanker | None:
        """The ranker with the largest AUC on class histograms; None if no AUC is above 1/2."""
        gains = self.gains(0, histogram[:, :, None], 1)[:, 0]
        # Of features that are equally good up to rounding, the first.
        j = int(np.argmax(gains >= gains.max() - LEAST_GAIN))
        return self.of_feature(j, histogram[:, j]) if gains[j] > LEAST_GAIN else None

    def gains(self, first: int, counts: Counts, n_nodes: int) -> Floats:
        """AUC - 1/2 of each feature, from ``first`` on, at each node: (feature, node)."""
        last = first + counts.shape[1]
        gains = np.abs(_aucs(counts, n_nodes, self._n_bins[first:last]) - 0.5).max(axis=2)
        for j in range(first, last):
            if self._is_category[j]:
                own = counts[:, j - first, :n_nodes]
                for i in np.flatnonzero((own.sum(axis=2) > 0).all(axis=0)).tolist():
                    gains[j - first, i] = self.of_feature(j, own[:, i]).auc - 0.5
        return gains

    def of_feature(self, j: int, counts: Ints) -> CodeRanker:
        """The best order of the codes of feature j, from the weights (class, code)."""
        return self.of_nodes(np.array([j]), counts[:, None])[0]

    def of_nodes(self, features: Ints, counts: Histogram) -> list[CodeRanker]:
        """The ranker of each node on its feature, from the weights (class, node, code)."""
        n_bins = self._n_bins[features]
        aucs = _aucs(counts[:, :, None], 1, n_bins)[:, 0].tolist()
        rankers = []
        for i, (j, bins) in enumerate(zip(features.tolist(), n_bins.tolist(), strict=True)):
            if self._is_category[j]:
                rankers.append(_by_positive_fraction(j, counts[:, i], bins + 1))
                continue
            low, high = aucs[i]
            missing_high = abs(high - 0.5) > abs(low - 0.5) + LEAST_GAIN
            auc = high if missing_high else low
            rankers.append(_by_value(j, bins, counts.shape[2], missing_high, auc))
        return rankers


class StumpRanking:
    """The best stump as a ranker with two scores."""

    def __init__(self, features: tuple[Feature, ...]) -> None:
        self._features = features
        self._search = StumpSearch(features)

    def best(self, histogram: Histogram) -> CodeRanker | None:
        """The stump with the largest AUC, which for two scores is (1 + |r|) / 2."""
        stump = self._search.best(histogram)
        if stump is None:
            return None
        above = stump.above(histogram.shape[2])
        counts = histogram[:, stump.feature]
        fractions = counts[:, above].sum(axis=1) / counts.sum(axis=1)
        r = float(fractions[1] - fractions[0])
        ranks = (above if r > 0 else ~above).astype(np.int64)
        return CodeRanker(stump.feature, ranks, (1.0 + abs(r)) / 2.0)

    def gains(self, first: int, counts: Counts, n_nodes: int) -> Floats:
        """AUC - 1/2 of the best stump of each feature, from ``first`` on: (feature, node)."""
        gains = np.zeros((counts.shape[1], n_nodes))
        for k, i in np.ndindex(*gains.shape):
            ranker = self._on(first + k, counts[:, k, i])
            gains[k, i] = 0.0 if ranker is None else ranker.auc - 0.5
        return gains

    def of_nodes(self, features: Ints, counts: Histogram) -> list[CodeRanker]:
        """The ranker of each node on its feature, from the weights (class, node, code)."""
        tied = np.zeros(counts.shape[2], dtype=np.int64)
        return [
            self._on(j, counts[:, i]) or CodeRanker(j, tied, 0.5)
            for i, j in enumerate(features.tolist())
        ]

    def _on(self, j: int, counts: Ints) -> CodeRanker | None:
        """The best stump on feature j, from the weights (class, code)."""
        if not (counts.sum(axis=1) > 0).all():
            return None
        ranker = StumpRanking((self._features[j],)).best(counts[:, None])
        return None if ranker is None else replace(ranker, feature=j)


# Weak rankers over codes, by the value of the parameter ``estimator``.
RANKINGS: dict[str, Callable[[tuple[Feature, ...]], FeatureRanking | StumpRanking]] = {
    "feature": FeatureRanking,
    "stump": StumpRanking,
}


def _aucs(counts: Counts, n_nodes: int, n_bins: Ints) -> Floats:
    """AUC of features ranked by value, missing values lowest and highest: (feature, node, 2)."""
    aucs = np.empty((len(n_bins), n_nodes, 2))
    feature_aucs(np.ascontiguousarray(counts), n_nodes, n_bins, aucs)
    return aucs


def _by_value(j: int, n_bins: int, n_codes: int, missing_high: bool, auc: float) -> CodeRanker:
    ranks = np.arange(n_codes)  # missing, code 0, is lowest
    if missing_high:
        ranks[0] = n_bins + 1
        ranks -= 1
    if auc < 0.5:
        ranks = n_bins - ranks
        auc = 1.0 - auc
    # Codes beyond those of the feature do not occur and must not get a rank of their own.
    return CodeRanker(j, np.clip(ranks, 0, n_bins), auc)


def _by_positive_fraction(j: int, counts: Ints, n_codes: int) -> CodeRanker:
    """Categories ordered by pos / (pos + neg), the order with the largest AUC."""
    neg, pos = counts / counts.sum(axis=1, keepdims=True)
    both = pos + neg
    fraction = np.divide(pos, both, out=np.full(len(both), 0.5), where=both > 0)
    order = np.argsort(fraction[:n_codes], kind="stable")
    ranks = np.zeros(len(both), dtype=np.int64)
    ranks[order] = np.arange(n_codes)
    below = np.concatenate([[0.0], np.cumsum(neg[order])[:-1]])
    return CodeRanker(j, ranks, float((pos[order] * (below + neg[order] / 2)).sum()))
