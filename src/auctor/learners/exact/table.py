"""The table as ExactBoost uses it: one block of codes, and the orders that stumps may cut."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from auctor._typing import DenseCodes, Floats, Ints
from auctor.data import Feature, RankingData

Ranks = npt.NDArray[np.uint32]


@dataclass(frozen=True, eq=False)
class ExactTable:
    """Codes in one block, positives first, each class in the order of the table.

    A view is an order of the codes of a feature; a stump separates the codes before a cut from
    those after it. A numeric feature with missing values has two views: missing values first, and
    missing values last. Categories are ordered by their rate of positives; sums of stumps along
    any order can represent every function of a category.
    """

    codes: DenseCodes  # (features, rows)
    weight: npt.NDArray[np.uint32]
    n_pos: int
    features: Ints  # the feature of each view
    ranks: Ranks  # (view, code)

    @property
    def n_rows(self) -> int:
        return len(self.weight)

    @property
    def n_neg(self) -> int:
        return self.n_rows - self.n_pos

    @property
    def n_views(self) -> int:
        return len(self.features)

    @property
    def is_weighted(self) -> bool:
        """Whether rows have different weights."""
        return bool((self.weight != self.weight[0]).any())

    def code_weights(self, feature: int, n_codes: int) -> Floats:
        """Weight of each class (negative, positive) and code of a feature."""
        codes, cut = self.codes[feature], self.n_pos
        parts = [(codes[cut:], self.weight[cut:]), (codes[:cut], self.weight[:cut])]
        return np.array([np.bincount(c, weights=w, minlength=n_codes) for c, w in parts])


def gather(data: RankingData) -> ExactTable:
    """The rows of all partitions as one table, with all views that can be cut."""
    codes, weight = _in_order(data)
    bare = ExactTable(codes, weight, data.n_pos, np.empty(0, np.int64), np.empty((0, 0), np.uint32))
    views = [
        (j, ranks)
        for j, feature in enumerate(data.features)
        for ranks in _views(feature, bare.code_weights(j, data.n_codes))
    ]
    features = np.array([j for j, _ in views], dtype=np.int64)
    ranks = np.array([rank for _, rank in views], dtype=np.uint32).reshape(-1, data.n_codes)
    return ExactTable(codes, weight, data.n_pos, features, ranks)


def _in_order(data: RankingData) -> tuple[DenseCodes, npt.NDArray[np.uint32]]:
    """Codes and weights, each class in the order of the table for any partitions."""
    if len(data.partitions) == 1:
        part = data.partitions[0]
        return part.dense_codes, part.weight
    rows = np.concatenate([part.rows for part in data.partitions])
    positive = np.concatenate([part.positive for part in data.partitions])
    order = np.lexsort((rows, ~positive))
    codes = np.concatenate([part.codes for part in data.partitions], axis=1)[:, order]
    weight = np.concatenate([part.weight for part in data.partitions])[order]
    return np.ascontiguousarray(codes), weight


def _views(feature: Feature, weights: Floats) -> list[Ints]:
    """The ranks of the codes in each view of a feature; no view if all rows have the same code."""
    seen = np.flatnonzero(weights.sum(axis=0))
    if len(seen) < 2:
        return []
    codes = np.arange(weights.shape[1])
    if feature.is_category:
        fractions = weights[:, seen] / weights.sum(axis=1, keepdims=True)
        ranks = np.zeros_like(codes)
        order = np.argsort(fractions[1] / fractions.sum(axis=0), kind="stable")
        ranks[seen[order]] = np.arange(len(seen))
        return [ranks]
    if seen[0] > 0:
        return [codes]
    last = codes.copy()
    last[0] = len(codes)
    # With two codes both orders have the same stumps, because a step may have either sign.
    return [codes, last] if len(seen) > 2 else [codes]
