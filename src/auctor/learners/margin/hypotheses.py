"""Hypotheses: given functions of a row with values in [-1, 1], whose weights are learned.

There are hypotheses given as matrices, and decision stumps at all cuts of a binned table.
"""

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from auctor._typing import Floats
from auctor.data import RankingData
from auctor.data.distinct import distinct_rows
from auctor.kernels.linear import matrix_vector, vector_matrix


class Hypotheses(ABC):
    """The scores of rows under weights of the hypotheses, and edges under distributions of rows.

    Rows are the distinct ones of each class, with the total weight of their copies. A constant may
    be left out of a hypothesis, because margins are differences of scores.
    """

    count: int
    weight_neg: Floats
    weight_pos: Floats

    @abstractmethod
    def scores(self, beta: Floats) -> tuple[Floats, Floats]:
        """sum_k beta_k h_k of the negatives and of the positives."""

    @abstractmethod
    def edges(self, d_neg: Floats, d_pos: Floats) -> Floats:
        """Half the difference of the class means of each hypothesis: (sum d+ h - sum d- h) / 2."""


class MatrixHypotheses(Hypotheses):
    """Hypotheses as the columns of a float64 array or CSR array, for each class."""

    def __init__(self, neg: Any, pos: Any, weight_neg: Floats, weight_pos: Floats) -> None:
        self._neg, self._pos = neg, pos
        self.weight_neg, self.weight_pos = weight_neg, weight_pos
        self.count = int(neg.shape[1])

    def scores(self, beta: Floats) -> tuple[Floats, Floats]:
        return times_vector(self._neg, beta), times_vector(self._pos, beta)

    def edges(self, d_neg: Floats, d_pos: Floats) -> Floats:
        sums = vector_times(d_pos, self._pos), vector_times(d_neg, self._neg)
        return (sums[0] - sums[1]) / 2.0


def times_vector(matrix: Any, vector: Floats) -> Floats:
    """``matrix @ vector`` in a fixed order of summation; SciPy's sparse products have one."""
    product = matrix @ vector if sparse.issparse(matrix) else matrix_vector(matrix, vector)
    return np.asarray(product)


def vector_times(vector: Floats, matrix: Any) -> Floats:
    """``vector @ matrix`` in a fixed order of summation."""
    product = vector @ matrix if sparse.issparse(matrix) else vector_matrix(vector, matrix)
    return np.asarray(product)


class DirectedHypotheses(Hypotheses):
    """Hypotheses with their signs changed so that the mean of the positives is the larger one."""

    def __init__(self, hypotheses: Hypotheses, may_turn: bool) -> None:
        self._given, self.count = hypotheses, hypotheses.count
        self.weight_neg, self.weight_pos = hypotheses.weight_neg, hypotheses.weight_pos
        means = hypotheses.edges(
            self.weight_neg / self.weight_neg.sum(), self.weight_pos / self.weight_pos.sum()
        )
        self.sign = np.where(may_turn & (means < 0.0), -1.0, 1.0)

    def scores(self, beta: Floats) -> tuple[Floats, Floats]:
        return self._given.scores(self.sign * beta)

    def edges(self, d_neg: Floats, d_pos: Floats) -> Floats:
        return self.sign * self._given.edges(d_neg, d_pos)


class StumpHypotheses(Hypotheses):
    """A stump at every cut of every binned feature: 1 above it, -1 up to it, 0 if missing.

    For each category, and for missing values if there are any, a stump is 1 there and -1
    elsewhere. The stumps are never formed: their scores come from a table for each feature, and
    their edges from sums over the rows of each code.
    """

    def __init__(self, data: RankingData) -> None:
        part = data.partitions[0]
        self.features = data.features
        self._n_codes = [feature.n_bins + 1 for feature in data.features]
        self._codes, weights = [], list[Floats]()
        positive, negative = part.class_slices
        for rows, unit in zip((negative, positive), data.row_units, strict=True):
            codes = np.ascontiguousarray(part.codes[:, rows].T, dtype=np.float64)
            chosen, weight = distinct_rows(codes, part.weight[rows])
            self._codes.append(np.ascontiguousarray(part.codes[:, rows][:, chosen]))
            weights.append(np.asarray(weight * unit, dtype=np.float64))
        self.weight_neg, self.weight_pos = weights
        has_missing = [
            bool(any((codes[j] == 0).any() for codes in self._codes))
            for j in range(len(data.features))
        ]
        # (feature, code): for numeric features the stump above the code; for categories and code 0
        # (missing) the stump that is 1 for the code itself.
        self.stumps = [
            (j, code)
            for j, feature in enumerate(data.features)
            for code in range(feature.n_bins + feature.is_category)
            if code > 0 or has_missing[j]
        ]
        self.count = len(self.stumps)
        feature, self._code = np.array(self.stumps, dtype=np.int64).reshape(-1, 2).T
        ends = np.searchsorted(feature, np.arange(len(self._n_codes) + 1))
        self._own = [slice(first, last) for first, last in pairwise(ends.tolist())]

    def tables(self, beta: Floats) -> list[Floats]:
        """The contribution of each code of each feature to the score."""
        tables = [np.zeros(n_codes) for n_codes in self._n_codes]
        for k in np.flatnonzero(beta).tolist():
            j, code = self.stumps[k]
            tables[j] += beta[k] * self._stump(j, code)
        return tables

    def _stump(self, j: int, code: int) -> Floats:
        codes = np.arange(self._n_codes[j])
        if code == 0 or self.features[j].is_category:
            return np.where(codes == code, 1.0, -1.0)
        values = np.where(codes > code, 1.0, -1.0)
        values[0] = 0.0
        return values

    def scores(self, beta: Floats) -> tuple[Floats, Floats]:
        tables = self.tables(beta)
        neg, pos = (self._score(codes, tables) for codes in self._codes)
        return neg, pos

    def _score(self, codes: npt.NDArray[Any], tables: list[Floats]) -> Floats:
        out = np.zeros(codes.shape[1])
        for own, table in zip(codes, tables, strict=True):
            if table.any():
                out += table[own]
        return out

    def edges(self, d_neg: Floats, d_pos: Floats) -> Floats:
        out = np.empty(self.count)
        for j, n_codes in enumerate(self._n_codes):
            neg, pos = (
                np.bincount(codes[j], d, n_codes)
                for codes, d in zip(self._codes, (d_neg, d_pos), strict=True)
            )
            difference = (pos - neg) / 2.0
            total, code = difference.sum(), self._code[self._own[j]]
            edges = 2.0 * difference[code] - total  # of stumps that are 1 for the code itself
            if not self.features[j].is_category:
                # Above the cut minus up to it; missing values count for neither.
                above = np.append(difference[::-1].cumsum()[::-1][1:], 0.0)
                edges = np.where(code == 0, edges, 2.0 * above[code] - (total - difference[0]))
            out[self._own[j]] = edges
        return out
