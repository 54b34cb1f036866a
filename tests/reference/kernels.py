"""Slow and obvious versions of the boosting kernels: one row, one code, one stump at a time."""

from typing import Any

import numpy as np
import numpy.typing as npt


def weight_histogram(
    codes: npt.NDArray[Any],
    weight: npt.NDArray[Any],
    factor: npt.NDArray[np.float64],
    scale: float,
    n_codes: int,
) -> list[list[int]]:
    """Sum of weight * round(factor * scale) per feature and code, in Python integers."""
    histogram = [[0] * n_codes for _ in range(len(codes))]
    for j in range(len(codes)):
        for i in range(codes.shape[1]):
            amount = int(weight[i]) * int(float(factor[i]) * scale + 0.5)
            histogram[j][int(codes[j, i])] += amount
    return histogram


def edge_of_codes(
    negative: npt.NDArray[Any], positive: npt.NDArray[Any], above: npt.NDArray[np.bool_]
) -> float:
    """r of the stump that ranks the codes in ``above`` above the others."""
    above_neg = sum(int(n) for n, up in zip(negative, above, strict=True) if up)
    above_pos = sum(int(n) for n, up in zip(positive, above, strict=True) if up)
    return above_pos / sum(map(int, positive)) - above_neg / sum(map(int, negative))


def largest_edge(
    negative: npt.NDArray[Any],
    positive: npt.NDArray[Any],
    n_bins: npt.NDArray[Any],
    is_category: npt.NDArray[np.bool_],
) -> float:
    """The largest |r| over every feature, cut, missing side and set of categories."""
    best = 0.0
    n_codes = negative.shape[1]
    for j in range(len(n_bins)):
        for above in _stumps(int(n_bins[j]), bool(is_category[j]), n_codes):
            best = max(best, abs(edge_of_codes(negative[j], positive[j], above)))
    return best


def _stumps(n_bins: int, is_category: bool, n_codes: int) -> list[npt.NDArray[np.bool_]]:
    code = np.arange(n_codes)
    if is_category:
        masks = range(2 ** (n_bins + 1))
        return [np.array([bool(mask >> c & 1) for c in code]) for mask in masks]
    cuts = [(code > cut) & (code > 0) for cut in range(1, n_bins + 1)]
    return [above | (code == 0) for above in cuts] + cuts


def order_of_pairs(
    scores: npt.NDArray[np.float64], positive: npt.NDArray[np.bool_], weight: npt.NDArray[Any]
) -> tuple[float, float]:
    """Weight of the pairs in the wrong order, and of the tied ones, by forming every pair."""
    gap = scores[positive][:, None] - scores[~positive][None, :]
    pairs = np.outer(weight[positive], weight[~positive]).astype(float)
    return float(pairs[gap < 0].sum()), float(pairs[gap == 0].sum())


def best_youden(
    scores: npt.NDArray[np.float64], positive: npt.NDArray[np.bool_], weight: npt.NDArray[Any]
) -> float:
    """The largest fraction of positives above a cut minus that of negatives, over all cuts."""
    distinct = np.unique(scores)
    gaps = [youden_gap(scores > low, positive, weight) for low in distinct[:-1]]
    return max(gaps, default=0.0)


def youden_gap(
    above: npt.NDArray[np.bool_], positive: npt.NDArray[np.bool_], weight: npt.NDArray[Any]
) -> float:
    above_pos = weight[above & positive].sum() / weight[positive].sum()
    above_neg = weight[above & ~positive].sum() / weight[~positive].sum()
    return float(above_pos - above_neg)
