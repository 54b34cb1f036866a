"""Weak rankers that order the codes of one feature."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from auctor.data import Feature
from auctor.kernels.feature import feature_aucs
from auctor.kernels.stump import LEAST_GAIN
from auctor.weak.stump import StumpSearch

Histogram = npt.NDArray[np.int64]  # (class, feature, code)


@dataclass(frozen=True, eq=False)
class CodeRanker:
    """One feature and a score for each of its codes; equal scores tie."""

    feature: int
    ranks: npt.NDArray[np.int64]  # of each code, from 0 without gaps
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
        gains = self._gains(histogram, self._n_bins)
        for j in np.flatnonzero(self._is_category).tolist():
            gains[j] = self.of_feature(j, histogram[:, j]).auc - 0.5
        # The first of all that are as good as the best, up to rounding.
        j = int(np.argmax(gains >= gains.max() - LEAST_GAIN))
        return self.of_feature(j, histogram[:, j]) if gains[j] > LEAST_GAIN else None

    def gains(self, j: int, histogram: Histogram) -> npt.NDArray[np.float64]:
        """AUC - 1/2 of feature j at every node of a program: histogram (class, node, code)."""
        n_nodes = histogram.shape[1]
        if not self._is_category[j]:
            return self._gains(histogram, np.full(n_nodes, self._n_bins[j]))
        both = (histogram.sum(axis=2) > 0).all(axis=0)
        gains = [
            self.of_feature(j, histogram[:, i]).auc - 0.5 if both[i] else 0.0
            for i in range(n_nodes)
        ]
        return np.array(gains)

    def of_feature(self, j: int, lines: npt.NDArray[np.int64]) -> CodeRanker:
        """The better order of the codes of feature j, given the weight of each class in them."""
        n_bins = int(self._n_bins[j])
        if self._is_category[j]:
            return _by_share(j, lines, n_bins + 1)
        low, high = _aucs(lines[:, None], np.array([n_bins]))[0]
        missing_high = abs(high - 0.5) > abs(low - 0.5) + LEAST_GAIN
        return _by_value(j, n_bins, lines.shape[1], missing_high, high if missing_high else low)

    def _gains(
        self, histogram: Histogram, n_bins: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.float64]:
        return np.abs(_aucs(histogram, n_bins) - 0.5).max(axis=1)


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

    def gains(self, j: int, histogram: Histogram) -> npt.NDArray[np.float64]:
        """AUC - 1/2 of the best stump on feature j at every node: histogram (class, node, code)."""
        rankers = [self._on(j, histogram[:, i]) for i in range(histogram.shape[1])]
        return np.array([0.0 if ranker is None else ranker.auc - 0.5 for ranker in rankers])

    def of_feature(self, j: int, lines: npt.NDArray[np.int64]) -> CodeRanker:
        """The best stump on feature j, given the weight of each class in its codes."""
        ranker = self._on(j, lines)
        return ranker or CodeRanker(j, np.zeros(lines.shape[1], dtype=np.int64), 0.5)

    def _on(self, j: int, lines: npt.NDArray[np.int64]) -> CodeRanker | None:
        if not (lines.sum(axis=1) > 0).all():
            return None
        ranker = StumpRanking((self._features[j],)).best(lines[:, None])
        return None if ranker is None else replace(ranker, feature=j)


# Weak rankers over codes by the name that users give.
RANKINGS: dict[str, Callable[[tuple[Feature, ...]], FeatureRanking | StumpRanking]] = {
    "feature": FeatureRanking,
    "stump": StumpRanking,
}


def _aucs(histogram: Histogram, n_bins: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """AUC of every line by value, with missing values lowest and highest: (lines, 2)."""
    aucs = np.empty((len(n_bins), 2))
    negative, positive = np.ascontiguousarray(histogram)
    feature_aucs(negative, positive, *histogram.sum(axis=2), n_bins, aucs)
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


def _by_share(j: int, lines: npt.NDArray[np.int64], n_codes: int) -> CodeRanker:
    """Categories in the order of pos / (pos + neg), which no other order beats."""
    neg, pos = lines / lines.sum(axis=1, keepdims=True)
    both = pos + neg
    share = np.divide(pos, both, out=np.full(len(both), 0.5), where=both > 0)
    order = np.argsort(share[:n_codes], kind="stable")
    ranks = np.zeros(len(both), dtype=np.int64)
    ranks[order] = np.arange(n_codes)
    below = np.concatenate([[0.0], np.cumsum(neg[order])[:-1]])
    return CodeRanker(j, ranks, float(pos[order] @ (below + neg[order] / 2)))
