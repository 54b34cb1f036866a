"""The stump that separates two weighted classes best, from their histograms."""

import numpy as np
import numpy.typing as npt

from auctor.kernels.jit import kernel

# A stump replaces another only if its |r| is larger by more than rounding can be:
# which of two equally good stumps is picked must not hang on the last bit.
LEAST_GAIN = 2.0**-40


@kernel
def best_stump(
    negative: npt.NDArray[np.int64],
    positive: npt.NDArray[np.int64],
    total_neg: int,
    total_pos: int,
    n_bins: npt.NDArray[np.int64],
    is_category: npt.NDArray[np.bool_],
) -> tuple[int, int, bool, float]:
    """(feature, cut, missing above, r) with the largest |r| among all stumps.

    The histograms (feature, code) add up to ``total_neg`` and ``total_pos`` per feature.
    r = share of the positives above minus share of the negatives above (RankBoost's r
    for h in {0, 1}). For a number the rows above have codes > cut, and missing values
    (code 0) are tried on both sides and by themselves. For a category the best set above
    is known at once: the codes that hold a larger share of the positives than of the
    negatives; its cut has no meaning. Feature -1 says that no stump has an edge.
    """
    feature, cut, missing_above, best = -1, 0, False, 0.0
    for j in range(len(n_bins)):
        missing = positive[j, 0] / total_pos - negative[j, 0] / total_neg
        if is_category[j]:
            gain = 0.0
            for code in range(n_bins[j] + 1):
                gain += max(0.0, positive[j, code] / total_pos - negative[j, code] / total_neg)
            if gain > abs(best) + LEAST_GAIN:
                feature, cut, missing_above, best = j, 0, missing > LEAST_GAIN, gain
            continue
        if abs(missing) > abs(best) + LEAST_GAIN:
            feature, cut, missing_above, best = j, n_bins[j], True, missing
        above_neg = np.int64(0)
        above_pos = np.int64(0)
        for c in range(n_bins[j] - 1, 0, -1):
            above_neg += negative[j, c + 1]
            above_pos += positive[j, c + 1]
            r = above_pos / total_pos - above_neg / total_neg
            if abs(r) > abs(best) + LEAST_GAIN:
                feature, cut, missing_above, best = j, c, False, r
            if abs(r + missing) > abs(best) + LEAST_GAIN:
                feature, cut, missing_above, best = j, c, True, r + missing
    return feature, cut, missing_above, best
