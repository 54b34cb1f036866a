"""The stump that separates two weighted classes best, from their histograms."""

import numpy as np
import numpy.typing as npt

from auctor.kernels.jit import kernel


@kernel
def best_cut(
    negative: npt.NDArray[np.int64],
    positive: npt.NDArray[np.int64],
    n_bins: npt.NDArray[np.int64],
    is_category: npt.NDArray[np.bool_],
) -> tuple[int, int, bool, float]:
    """(feature, cut, missing above, r) with the largest |r| among all stumps.

    r = share of the positives above minus share of the negatives above (RankBoost's r
    for h in {0, 1}). For a number the rows above have codes > cut; for a category they
    have the code ``cut`` and no other. Missing values (code 0) are tried on both sides,
    and by themselves. On equal |r| the first stump in this order stays; feature -1 says
    that no stump tells the classes apart.
    """
    best = (-1, 0, False, 0.0)
    total_neg = np.float64(negative[0].sum())
    total_pos = np.float64(positive[0].sum())
    for j in range(len(n_bins)):
        missing = positive[j, 0] / total_pos - negative[j, 0] / total_neg
        if abs(missing) > abs(best[3]):
            best = (j, 0 if is_category[j] else n_bins[j], not is_category[j], missing)
        if is_category[j]:
            for code in range(1, n_bins[j] + 1):
                r = positive[j, code] / total_pos - negative[j, code] / total_neg
                if abs(r) > abs(best[3]):
                    best = (j, code, False, r)
            continue
        above_neg = np.int64(0)
        above_pos = np.int64(0)
        for cut in range(n_bins[j] - 1, 0, -1):
            above_neg += negative[j, cut + 1]
            above_pos += positive[j, cut + 1]
            r = above_pos / total_pos - above_neg / total_neg
            if abs(r) > abs(best[3]):
                best = (j, cut, False, r)
            if abs(r + missing) > abs(best[3]):
                best = (j, cut, True, r + missing)
    return best
