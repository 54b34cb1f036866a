"""Quantiles of the differences of all pairs of two sorted lists, without forming the pairs.

The soft margin of Suehiro, Hatano & Takimoto (2011) is the mean of the smallest differences of a
positive and a negative score.
"""

from auctor._typing import Floats
from auctor.kernels.jit import kernel


@kernel
def weight_up_to(
    positive: Floats, weight: Floats, negative: Floats, above: Floats, difference: float
) -> float:
    """The weight of the pairs with positive - negative <= ``difference``.

    Both lists are in increasing order. ``weight`` has the weights of the positives, ``above[j]``
    the total weight of the negatives from j on, with a 0 at the end. The weight of a pair is the
    product of the weights of its rows.
    """
    total = 0.0
    j = 0
    for i in range(len(positive)):
        while j < len(negative) and positive[i] - negative[j] > difference:
            j += 1
        total += weight[i] * above[j]
    return total


@kernel
def nth_difference(
    positive: Floats, weight: Floats, negative: Floats, above: Floats, nu: float, guess: float
) -> float:
    """The smallest difference such that the pairs up to it have weight ``nu`` or more.

    An interval is halved until it contains no other float. A rounded difference is monotone in
    both numbers, so that the result is exact. The search starts at ``guess``.
    """
    low = positive[0] - negative[-1] - 1.0
    high = positive[-1] - negative[0]
    step = 1e-4 * (high - low)
    while low < guess < high and step > 0.0:  # widen an interval around the guess
        if weight_up_to(positive, weight, negative, above, guess) >= nu:
            high = guess
            guess -= step
        else:
            low = guess
            guess += step
        step *= 8.0
        if high - low <= step:
            break
    while True:
        middle = low + (high - low) / 2.0
        if not low < middle < high:
            return high
        if weight_up_to(positive, weight, negative, above, middle) >= nu:
            high = middle
        else:
            low = middle


@kernel
def pair_fractions(
    positive: Floats,
    weight_pos: Floats,
    negative: Floats,
    weight_neg: Floats,
    above: Floats,
    below: Floats,
    difference: float,
    nu: float,
    fraction_pos: Floats,
    fraction_neg: Floats,
) -> None:
    """The fraction of the pairs of smallest difference that each row belongs to, by weight.

    These are the pairs below ``difference`` and such a part of those equal to it that their weight
    is ``nu``. The fractions of each class add up to 1. ``below[i]`` is the weight of the positives
    before i, with their total at the end.
    """
    n_pos, n_neg = len(positive), len(negative)
    less = 0.0
    up_to = 0.0
    j = 0
    k = 0
    for i in range(n_pos):
        while j < n_neg and positive[i] - negative[j] > difference:
            j += 1
        while k < n_neg and positive[i] - negative[k] >= difference:
            k += 1
        less += weight_pos[i] * above[k]
        up_to += weight_pos[i] * above[j]
    part = (nu - less) / (up_to - less) if up_to > less else 0.0
    j = 0
    k = 0
    for i in range(n_pos):
        while j < n_neg and positive[i] - negative[j] > difference:
            j += 1
        while k < n_neg and positive[i] - negative[k] >= difference:
            k += 1
        fraction_pos[i] = weight_pos[i] * (above[k] + part * (above[j] - above[k])) / nu
    j = 0
    k = 0
    for i in range(n_neg):
        while j < n_pos and positive[j] - negative[i] <= difference:
            j += 1
        while k < n_pos and positive[k] - negative[i] < difference:
            k += 1
        fraction_neg[i] = weight_neg[i] * (below[k] + part * (below[j] - below[k])) / nu
