"""RankBoost (Freund et al. 2003) over given hypotheses, the same as those of the margins.

The hypotheses h_k lie in [-1, 1], and the weight of a pair is a product of two weights of rows.
The edge r_k is half the weighted mean of h_k over positives minus that over negatives. A round
takes the hypothesis of the largest edge and adds 1/2 ln((1 + r) / (1 - r)) to its weight. Without
negations a hypothesis may only point upwards, as in the linear programs of the paper.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from auctor._typing import Floats, Indices, Ints

# A hypothesis that orders every pair would get an infinite weight.
_LARGEST_EDGE = 1 - 1e-10
# Below this edge no hypothesis is better than chance and the weights no longer change.
_SMALLEST_EDGE = 1e-12


class Scaling(NamedTuple):
    """How columns become hypotheses: range and mean of the training rows, and missing values."""

    low: Floats
    width: Floats
    mean: Floats
    has_missing: Ints  # columns with missing values among the training rows

    def hypotheses(self, X: Floats) -> Floats:
        """Each column in [-1, 1] by its range; a missing value counts as the mean, and is told."""
        filled = np.where(np.isnan(X), self.mean, X)
        scaled = np.clip(2 * (filled - self.low) / self.width - 1, -1, 1)
        told = np.where(np.isnan(X[:, self.has_missing]), 1.0, -1.0)
        return np.hstack([scaled, told])


def find_scaling(X: Floats) -> Scaling:
    """Range and mean of each column; a constant column becomes a constant hypothesis."""
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    width = np.where(high > low, high - low, 1.0)
    return Scaling(low, width, np.nanmean(X, axis=0), np.flatnonzero(np.isnan(X).any(axis=0)))


def boost(H: Any, y: Ints, rounds: Sequence[int], negations: bool) -> Iterator[tuple[int, Floats]]:
    """(number of rounds, weights of the hypotheses), for increasing numbers of rounds."""
    pos, neg = H[y == 1], H[y == 0]
    if issparse(H):
        pos, neg = pos.tocsc(), neg.tocsc()
    d_pos, d_neg = np.full(pos.shape[0], 1 / pos.shape[0]), np.full(neg.shape[0], 1 / neg.shape[0])
    weights, done = np.zeros(H.shape[1]), 0
    for n_rounds in sorted(rounds):
        for _ in range(done, n_rounds):
            edges = (d_pos @ pos - d_neg @ neg) / 2
            k = int(np.argmax(np.abs(edges) if negations else edges))
            edge = float(np.clip(edges[k], -_LARGEST_EDGE, _LARGEST_EDGE))
            if abs(edge) < _SMALLEST_EDGE or (edge < 0 and not negations):
                break
            alpha = 0.5 * np.log((1 + edge) / (1 - edge))
            weights[k] += alpha
            d_pos, d_neg = _update(d_pos, pos, k, -alpha / 2), _update(d_neg, neg, k, alpha / 2)
        done = n_rounds
        yield n_rounds, weights.copy()


def _update(d: Floats, H: Any, k: int, step: float) -> Floats:
    """Row weights times exp(step h_k), normalised."""
    d = d.copy()
    if issparse(H):
        inside = slice(H.indptr[k], H.indptr[k + 1])
        d[H.indices[inside]] *= np.exp(step * H.data[inside])
    else:
        d *= np.exp(step * H[:, k])
    return np.asarray(d / d.sum())


def score_hypotheses(
    X: Any, y: Ints, train: Indices, rounds: Sequence[int], negations: bool = False
) -> Iterator[tuple[str, Floats]]:
    """RankBoost after several numbers of rounds, fitted to the training rows: scores of all rows.

    A sparse X holds words of 0 and 1, which are hypotheses as they are.
    """
    H = X if issparse(X) else find_scaling(X[train]).hypotheses(X)
    for n_rounds, weights in boost(H[train], y[train], rounds, negations):
        yield f"{n_rounds}", H @ weights
