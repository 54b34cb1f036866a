"""Weak rankers that order the codes of one feature."""

from collections.abc import Callable
from dataclasses import dataclass

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
        self._categories = [j for j, feature in enumerate(features) if feature.is_category]
        self._numbers = [j for j, feature in enumerate(features) if not feature.is_category]

    def best(self, histogram: Histogram) -> CodeRanker | None:
        """The ranker of largest AUC on class histograms; None where none has an edge."""
        aucs = np.full((len(self._n_bins), 2), 0.5)
        totals = histogram[:, 0].sum(axis=1).tolist()
        feature_aucs(histogram[0], histogram[1], *totals, self._n_bins, aucs)
        rankers = {}
        for j in self._categories:
            rankers[j] = _by_share(j, histogram[:, j], int(self._n_bins[j]) + 1)
            aucs[j] = rankers[j].auc
        gain = np.abs(aucs - 0.5)
        # The first of all that are as good as the best, up to rounding.
        j, high = divmod(int(np.argmax(gain >= gain.max() - LEAST_GAIN)), 2)
        if gain[j, high] <= LEAST_GAIN:
            return None
        if j in rankers:
            return rankers[j]
        n_codes = histogram.shape[2]
        return _by_value(j, int(self._n_bins[j]), n_codes, bool(high), float(aucs[j, high]))


class StumpRanking:
    """The best stump as a ranker: two scores."""

    def __init__(self, features: tuple[Feature, ...]) -> None:
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


# Weak rankers over codes by the name that users give.
RANKINGS: dict[str, Callable[[tuple[Feature, ...]], FeatureRanking | StumpRanking]] = {
    "feature": FeatureRanking,
    "stump": StumpRanking,
}


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
