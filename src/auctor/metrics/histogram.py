"""Histograms of the scores of the two classes with common bins."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._checks import check_whole
from auctor._typing import Bools, Floats, Indices
from auctor.metrics.sample import Sample, read_sample

# Quantiles of each class at the outer edges. Scores beyond them are counted in the end bins:
# otherwise one extreme score in a thousand would put all others into a single bin.
_ENDS = (0.005, 0.995)


@dataclass(frozen=True, repr=False, eq=False)
class ScoreHistogram:
    """Histograms of the scores of both classes, returned by :func:`score_histogram`.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Edges of the bins in increasing order. A bin includes its left edge; the first and the last
        bin also include all scores beyond them.
    pos, neg : ndarray of shape (n_bins,)
        Number of positive and of negative rows in each bin; with weights, their weight.

    Examples
    --------
    >>> from auctor.metrics import score_histogram
    >>> histogram = score_histogram([0, 0, 1, 0, 1, 1], [0, 1, 2, 3, 4, 5], n_bins=2)
    >>> histogram.edges.tolist(), histogram.pos.tolist(), histogram.neg.tolist()
    ([0.0, 2.5, 5.0], [1.0, 2.0], [2.0, 1.0])
    """

    edges: Floats
    pos: Floats
    neg: Floats

    def __repr__(self) -> str:
        return (
            f"histogram of scores in {len(self.pos)} bins from {self.edges[0]:.4g} to "
            f"{self.edges[-1]:.4g}: {self.pos.sum():g} positives, {self.neg.sum():g} negatives"
        )


def score_histogram(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    n_bins: int = 40,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> ScoreHistogram:
    """Histograms of the scores of both classes, with common bins of equal width.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    n_bins : int, default=40
        Number of bins. They reach from the smaller of the 0.5% quantiles of the two classes to
        the larger of their 99.5% quantiles (of finite scores), so that a rare class is not cut off.
        Scores beyond, including infinite ones, are counted in the first and the last bin.

    Returns
    -------
    ScoreHistogram

    Examples
    --------
    >>> from auctor.metrics import score_histogram
    >>> histogram = score_histogram([0, 0, 1, 1], [0.0, 1.0, 1.0, 2.0], n_bins=2)
    >>> histogram.edges.tolist(), histogram.pos.tolist(), histogram.neg.tolist()
    ([0.0, 1.0, 2.0], [0.0, 2.0], [1.0, 1.0])
    """
    n_bins = check_whole(n_bins, "n_bins")
    scores = {"y_score": y_score}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    edges = _edges(sample, n_bins)
    bins = np.searchsorted(edges[1:-1], sample.scores[0], side="right")
    weight = np.ones(len(bins)) if sample.weight is None else sample.weight
    rows = sample.positive
    return ScoreHistogram(
        edges, _sums(bins[rows], weight[rows], n_bins), _sums(bins[~rows], weight[~rows], n_bins)
    )


def _sums(bins: Indices, weight: Floats, n_bins: int) -> Floats:
    """The weight of the rows in each bin."""
    return np.bincount(bins, weights=weight, minlength=n_bins).astype(np.float64)


def _edges(sample: Sample, n_bins: int) -> Floats:
    """Equally spaced edges from the lowest to the highest quantile of both classes."""
    ends = [_ends_of(sample, rows) for rows in (sample.positive, ~sample.positive)]
    known = [pair for pair in ends if pair is not None]
    if not known:
        return _even(-0.5, 0.5, n_bins)
    low, high = min(pair[0] for pair in known), max(pair[1] for pair in known)
    edges = _even(low, high, n_bins)
    if (edges[1:] > edges[:-1]).all():  # compared without a difference, which could overflow
        return edges
    # All scores are (nearly) equal: put the edges around them.
    half = max(0.5, 0.05 * abs(low))
    most = float(np.finfo(np.float64).max)
    return _even(max(low - half, -most), min(low + half, most), n_bins)


def _ends_of(sample: Sample, rows: Bools) -> tuple[float, float] | None:
    """The outer quantiles of the finite scores of a class; None if it has none."""
    score = sample.scores[0]
    finite = rows & np.isfinite(score)
    if not finite.any():
        return None
    weight = None if sample.weight is None else sample.weight[finite]
    low, high = np.quantile(score[finite], _ENDS, method="inverted_cdf", weights=weight).tolist()
    return low, high


def _even(low: float, high: float, n_bins: int) -> Floats:
    """Equally spaced edges, also if ``high - low`` overflows."""
    part = np.arange(n_bins + 1) / n_bins
    return low * (1 - part) + high * part
