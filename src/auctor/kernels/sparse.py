"""A round of RankBoost over sparse codes: only rows without the default code are visited."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.kernels.jit import kernel
from auctor.kernels.stumps import LEAST_GAIN


@kernel
def reweight(
    column: npt.NDArray[Any],
    weight: npt.NDArray[np.uint32],
    factor: Floats,
    change: Floats,
    scale: float,
    start: int,
    stop: int,
    quantised: Ints,
) -> Any:
    """Multiply the factor of each row by the change of its code, and write its weight as integer.

    The arithmetic is that of ``auctor.kernels.stumps.reweight_and_count``. ``column`` has the
    codes of the feature of the last round. Returns the sum of the weights of rows start..stop.
    """
    total = np.int64(0)
    for i in range(start, stop):
        value = factor[i] * change[column[i]]
        factor[i] = value
        quantised[i] = np.int64(weight[i]) * np.int64(value * scale + 0.5)
        total += quantised[i]
    return total


@kernel
def count_sparse(
    first: Ints,
    default: Ints,
    starts: Ints,
    middles: Ints,
    rows: npt.NDArray[np.uint32],
    quantised: Ints,
    total_neg: int,
    total_pos: int,
    begin: int,
    end: int,
    negative: Ints,
    positive: Ints,
) -> None:
    """Add the weights of all rows to the histograms of features begin..end.

    The arrays are those of ``SparseCodes``. Rows with the default code are not listed: their weight
    is that of the class minus that of the others, which is exact for whole numbers.
    """
    # One unsigned cursor goes through all lists, which takes half the time of a loop for each list.
    k = np.uint64(starts[first[begin]])
    for j in range(begin, end):
        rest_neg = np.int64(total_neg)
        rest_pos = np.int64(total_pos)
        for cell in range(first[j], first[j + 1]):
            middle, stop = np.uint64(middles[cell]), np.uint64(starts[cell + 1])
            if k == stop:  # an empty list: the default code, and usually the missing values
                continue
            sum_pos = np.int64(0)
            while k < middle:
                sum_pos += quantised[rows[k]]
                k += np.uint64(1)
            sum_neg = np.int64(0)
            while k < stop:
                sum_neg += quantised[rows[k]]
                k += np.uint64(1)
            positive[cell] += sum_pos
            negative[cell] += sum_neg
            rest_pos -= sum_pos
            rest_neg -= sum_neg
        positive[first[j] + default[j]] += rest_pos
        negative[first[j] + default[j]] += rest_neg


@kernel
def best_ragged_stump(
    negative: Ints,
    positive: Ints,
    first: Ints,
    default: Ints,
    total_neg: int,
    total_pos: int,
    is_category: Bools,
) -> tuple[int, int, bool, float]:
    """``best_stump`` for histograms in which feature j has the cells first[j]..first[j + 1].

    Stumps are tried in the same order and with the same arithmetic as in ``best_stump``, so that
    both choose the same among nearly equal ones. A feature that cannot win is skipped: a stump and
    its opposite have the same |r|, and one of them has the default code below the cut, so that no
    |r| exceeds the larger fraction of a class without the default code.
    """
    feature, cut, missing_above, best = -1, 0, False, 0.0
    limit_neg, limit_pos = 0.0, 0.0  # |best| in the units of the histograms
    for j in range(len(is_category)):
        low = first[j]
        usual = low + default[j]
        # Rounding errors are far below LEAST_GAIN.
        if total_pos - positive[usual] <= limit_pos and total_neg - negative[usual] <= limit_neg:
            continue
        n_bins = first[j + 1] - low - 1
        missing = 0.0
        if (
            positive[low] != 0 or negative[low] != 0
        ):  # usually there are none, and divisions are slow
            missing = positive[low] / total_pos - negative[low] / total_neg
        if is_category[j]:
            gain = 0.0
            for cell in range(low, low + n_bins + 1):
                gain += max(0.0, positive[cell] / total_pos - negative[cell] / total_neg)
            if gain > abs(best) + LEAST_GAIN:
                feature, cut, missing_above, best = j, 0, missing > LEAST_GAIN, gain
                limit_neg, limit_pos = gain * total_neg, gain * total_pos
            continue
        if abs(missing) > abs(best) + LEAST_GAIN:
            feature, cut, missing_above, best = j, n_bins, True, missing
        above_neg = np.int64(0)
        above_pos = np.int64(0)
        for c in range(n_bins - 1, 0, -1):
            above_neg += negative[low + c + 1]
            above_pos += positive[low + c + 1]
            r = above_pos / total_pos - above_neg / total_neg
            if abs(r) > abs(best) + LEAST_GAIN:
                feature, cut, missing_above, best = j, c, False, r
            if abs(r + missing) > abs(best) + LEAST_GAIN:
                feature, cut, missing_above, best = j, c, True, r + missing
        limit_neg, limit_pos = abs(best) * total_neg, abs(best) * total_pos
    return feature, cut, missing_above, best
