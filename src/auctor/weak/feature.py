"""Weak rankers that order the codes of one feature."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Feature
from auctor.kernels.stumps import LEAST_GAIN, feature_aucs
from auctor.weak.stump import StumpSearch

Histogram = Ints  # (class, feature or node, code)
Counts = Ints  # (class, feature, node, code)


@dataclass(frozen=True, eq=False)
class CodeRanker:
    """One feature and a score for each of its codes; equal scores tie."""

    feature: int
    ranks: Ints  # of each code, from 0 without gaps
    auc: float


class FeatureRanking:
    """The one feature, in either direction, with the best weighted AUC.

    Numbers rank by value, with missing values below or above all of them; categories by
    their share of the positives.
    """

    def __init__(self, features: tuple[Feature, ...]) -> None:
        self._n_bins = np.array([feature.n_bins for feature in features], dtype=np.int64)
        self._is_category = [feature.is_category for feature in features]

    def best(self, histogram: Histogram) -> CodeRanker | None:
        """The ranker of largest AUC on class histograms; None where none has an edge."""
        gains = self.gains(0, histogram[:, :, None], 1)[:, 0]
        # The first of all that are as good as the best, up to rounding.
        j = int(np.argmax(gains >= gains.max() - LEAST_GAIN))
        return self.of_feature(j, histogram[:, j]) if gains[j] > LEAST_GAIN else None

    def gains(self, first: int, counts: Counts, n_nodes: int) -> Floats:
        """AUC - 1/2 of features from ``first`` on at each node of a program: (feature, node)."""
        last = first + counts.shape[1]
        gains = np.abs(_aucs(counts, n_nodes, self._n_bins[first:last]) - 0.5).max(axis=2)
        for j in range(first, last):
            if self._is_category[j]:
                lines = counts[:, j - first, :n_nodes]
                for i in np.flatnonzero((lines.sum(axis=2) > 0).all(axis=0)).tolist():
                    gains[j - first, i] = self.of_feature(j, lines[:, i]).auc - 0.5
        return gains

    def of_feature(self, j: int, lines: Ints) -> CodeRanker:
        """The better order of the codes of feature j, given the weight of each class in them."""
        return self.of_nodes(np.array([j]), lines[:, None])[0]

    def of_nodes(self, features: Ints, lines: Histogram) -> list[CodeRanker]:
        """The ranker of each node by its feature, given its weights (class, node, code)."""
        n_bins = self._n_bins[features]
        aucs = _aucs(lines[:, :, None], 1, n_bins)[:, 0].tolist()
        rankers = []
        for i, (j, bins) in enumerate(zip(features.tolist(), n_bins.tolist(), strict=True)):
            if self._is_category[j]:
                rankers.append(_by_share(j, lines[:, i], bins + 1))
                continue
            low, high = aucs[i]
            missing_high = abs(high - 0.5) > abs(low - 0.5) + LEAST_GAIN
            auc = high if missing_high else low
            rankers.append(_by_value(j, bins, lines.shape[2], missing_high, auc))
        return rankers


class StumpRanking:
    """The best stump as a ranker: two scores."""

    def __init__(self, features: tuple[Feature, ...]) -> None:
        self._features = features
        self._search = StumpSearch(features)

    def best(self, histogram: Histogram) -> CodeRanker | None:
        """The stump of largest AUC; for two scores AUC = (1 + |r|) / 2."""
        stump = self._search.best(histogram)
        if stump is None:
            return None
        above = stump.above(histogram.shape[2])
        lines = histogram[:, stump.feature]
        shares = lines[:, above].sum(axis=1) / lines.sum(axis=1)
        r = float(shares[1] - shares[0])
        ranks = (above if r > 0 else ~above).astype(np.int64)
        return CodeRanker(stump.feature, ranks, (1.0 + abs(r)) / 2.0)

    def gains(self, first: int, counts: Counts, n_nodes: int) -> Floats:
        """AUC - 1/2 of the best stump on each feature from ``first`` on at each node."""
        gains = np.zeros((counts.shape[1], n_nodes))
        for k, i in np.ndindex(*gains.shape):
            ranker = self._on(first + k, counts[:, k, i])
            gains[k, i] = 0.0 if ranker is None else ranker.auc - 0.5
        return gains

    def of_nodes(self, features: Ints, lines: Histogram) -> list[CodeRanker]:
        """The ranker of each node by its feature, given its weights (class, node, code)."""
        tied = np.zeros(lines.shape[2], dtype=np.int64)
        return [
            self._on(j, lines[:, i]) or CodeRanker(j, tied, 0.5)
            for i, j in enumerate(features.tolist())
        ]

    def _on(self, j: int, lines: Ints) -> CodeRanker | None:
        if not (lines.sum(axis=1) > 0).all():
            return None
        ranker = StumpRanking((self._features[j],)).best(lines[:, None])
        return None if ranker is None else replace(ranker, feature=j)


# Weak rankers over codes by the name that users give.
RANKINGS: dict[str, Callable[[tuple[Feature, ...]], FeatureRanking | StumpRanking]] = {
    "feature": FeatureRanking,
    "stump": StumpRanking,
}


def _aucs(counts: Counts, n_nodes: int, n_bins: Ints) -> Floats:
    """AUC of features by value, with missing values lowest and highest: (feature, node, 2)."""
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
    # Codes beyond those of the feature do not occur; they must not have a rank of their own.
    return CodeRanker(j, np.clip(ranks, 0, n_bins), auc)


def _by_share(j: int, lines: Ints, n_codes: int) -> CodeRanker:
    """Categories in the order of pos / (pos + neg), which no other order beats."""
    neg, pos = lines / lines.sum(axis=1, keepdims=True)
    both = pos + neg
    share = np.divide(pos, both, out=np.full(len(both), 0.5), where=both > 0)
    order = np.argsort(share[:n_codes], kind="stable")
    ranks = np.zeros(len(both), dtype=np.int64)
    ranks[order] = np.arange(n_codes)
    below = np.concatenate([[0.0], np.cumsum(neg[order])[:-1]])
    return CodeRanker(j, ranks, float((pos[order] * (below + neg[order] / 2)).sum()))
