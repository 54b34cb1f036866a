"""How the scores of the two classes lie: counts on common edges."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Indices
from auctor.metrics.calibration import check_bins
from auctor.metrics.sample import Sample, read_sample

# Shares of a class beyond the outer edges, which the end bins take in: one far score in a
# thousand would otherwise squeeze all others into one bar.
_ENDS = (0.005, 0.995)


@dataclass(frozen=True, repr=False, eq=False)
class ScoreHistogram:
    """Counts of the scores of each class; made by :func:`score_histogram`.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Rising; bins hold their left edge. The end bins also hold what lies beyond.
    pos, neg : ndarray of shape (n_bins,)
        Number (or weight) of the rows of each class.
    """

    edges: Floats
    pos: Floats
    neg: Floats

    def __repr__(self) -> str:
        return (
            f"histogram of scores in {len(self.pos)} bins from {self.edges[0]:.4g} to "
            f"{self.edges[-1]:.4g}: {self.pos.sum():g} positive, {self.neg.sum():g} negative"
        )


def score_histogram(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    n_bins: int = 40,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> ScoreHistogram:
    """Counts of the scores of each class, in bins of equal width.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    n_bins : int, default=40
        Bins from the 0.5 % to the 99.5 % quantile of the finite scores, of each class so that a
        rare one is not cut off. Scores beyond, infinite ones too, are counted in the end bins.

    Returns
    -------
    ScoreHistogram

    Examples
    --------
    >>> found = score_histogram([0, 0, 1, 1], [0.0, 1.0, 1.0, 2.0], n_bins=2)
    >>> found.edges.tolist(), found.pos.tolist(), found.neg.tolist()
    ([0.0, 1.0, 2.0], [0.0, 2.0], [1.0, 1.0])
    """
    n_bins = check_bins(n_bins)
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
    """The weight of the rows of each bin."""
    return np.bincount(bins, weights=weight, minlength=n_bins).astype(np.float64)


def _edges(sample: Sample, n_bins: int) -> Floats:
    """Even edges around the quantiles of both classes; around them if there is one value."""
    ends = [_ends_of(sample, rows) for rows in (sample.positive, ~sample.positive)]
    known = [pair for pair in ends if pair is not None]
    if not known:
        return _even(-0.5, 0.5, n_bins)
    low, high = min(pair[0] for pair in known), max(pair[1] for pair in known)
    edges = _even(low, high, n_bins)
    if (edges[1:] > edges[:-1]).all():  # a difference could overflow
        return edges
    half = max(0.5, 0.05 * abs(low))
    most = float(np.finfo(np.float64).max)
    return _even(max(low - half, -most), min(low + half, most), n_bins)


def _ends_of(sample: Sample, rows: Bools) -> tuple[float, float] | None:
    """The outer quantiles of the finite scores of a class, if it has any."""
    score = sample.scores[0]
    finite = rows & np.isfinite(score)
    if not finite.any():
        return None
    weight = None if sample.weight is None else sample.weight[finite]
    low, high = np.quantile(score[finite], _ENDS, method="inverted_cdf", weights=weight).tolist()
    return low, high


def _even(low: float, high: float, n_bins: int) -> Floats:
    """Even edges, also where the width of all of them is more than a float can hold."""
    share = np.arange(n_bins + 1) / n_bins
    return low * (1 - share) + high * share
