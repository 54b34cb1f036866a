"""The smallest of all differences between two sorted lists, selected without forming a pair."""

from auctor._typing import Floats
from auctor.kernels.jit import kernel


@kernel
def weight_up_to(
    positive: Floats, weight: Floats, negative: Floats, above: Floats, difference: float
) -> float:
    """Weight of the pairs with positive - negative <= ``difference``.

    Both lists ascend; ``weight`` is that of the positives, and ``above[j]`` that of the
    negatives from j on, with a 0 at the end. A pair weighs the product of its rows.
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
    """The smallest difference up to which the pairs weigh ``nu`` or more.

    Halves an interval until no number lies inside: as a difference of floats is monotone in
    both of them, the answer is exact. ``guess`` is where the search starts.
    """
    low = positive[0] - negative[-1] - 1.0
    high = positive[-1] - negative[0]
    step = 1e-4 * (high - low)
    while low < guess < high and step > 0.0:  # an interval around the guess, ever wider
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
def share_pairs(
    positive: Floats,
    weight_pos: Floats,
    negative: Floats,
    weight_neg: Floats,
    above: Floats,
    below: Floats,
    difference: float,
    nu: float,
    share_pos: Floats,
    share_neg: Floats,
) -> None:
    """What each row has of the pairs below ``difference``, and of a part of those on it.

    The part is what makes all of them weigh ``nu``; shares of each class add up to 1.
    ``below[i]`` is the weight of the positives before i, with their total at the end.
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
        share_pos[i] = weight_pos[i] * (above[k] + part * (above[j] - above[k])) / nu
    j = 0
    k = 0
    for i in range(n_neg):
        while j < n_pos and positive[j] - negative[i] <= difference:
            j += 1
        while k < n_pos and positive[k] - negative[i] < difference:
            k += 1
        share_neg[i] = weight_neg[i] * (below[k] + part * (below[j] - below[k])) / nu
