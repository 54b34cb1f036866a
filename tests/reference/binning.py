"""Slow and obvious binning: fractions and lists, with all counts computed again at each step.

Nothing here is fast, and nothing here shares code with ``auctor.kernels.binning``.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise


def midpoint(low: float, high: float) -> float:
    """The float nearest to the middle that still separates the two: low <= cut < high."""
    cut = float((Fraction(low) + Fraction(high)) / 2)
    return cut if low <= cut < high else low


def run_weights(values: Sequence[float], weights: Sequence[int]) -> dict[float, int]:
    """Weight of each distinct value, smallest value first; rows of weight 0 are left out."""
    mass: dict[float, int] = {}
    for value, weight in zip(values, weights, strict=True):
        if weight > 0:
            mass[value] = mass.get(value, 0) + weight
    return dict(sorted(mass.items()))


def heavy_values(mass: dict[float, int], max_bins: int) -> set[float]:
    """Values whose weight alone fills a bin, removed one after the other until none is left."""
    light = dict(mass)
    while True:
        least = Fraction(sum(light.values()), max_bins - (len(mass) - len(light)))
        heavy = [value for value, weight in light.items() if weight >= least]
        if not heavy:
            return set(mass) - set(light)
        for value in heavy:
            del light[value]


def bins_of_values(mass: dict[float, int], max_bins: int) -> list[list[float]]:
    """Split the distinct values into at most ``max_bins`` bins of about equal weight."""
    values = list(mass)
    if len(values) <= max_bins:
        return [[value] for value in values]
    heavy = heavy_values(mass, max_bins)
    bins: list[list[float]] = [[]]
    for k, value in enumerate(values):
        bins[-1].append(value)
        ahead = values[k + 1 :]
        if ahead and _closes(bins, ahead, mass, heavy, max_bins):
            bins.append([])
    return bins


def _closes(
    bins: list[list[float]],
    ahead: list[float],
    mass: dict[float, int],
    heavy: set[float],
    max_bins: int,
) -> bool:
    """Whether to close the last bin, given the remaining values."""
    current, left = bins[-1], max_bins - len(bins)  # number of bins that can still be opened
    heavy_ahead = sum(value in heavy for value in ahead)
    if left == 0:
        return False
    if current[-1] in heavy:
        return True
    if ahead[0] in heavy:
        return left >= heavy_ahead
    stretches = sum(a in heavy and b not in heavy for a, b in pairwise(ahead))
    held = sum(mass[value] for value in current if value not in heavy)
    light = held + sum(mass[value] for value in ahead if value not in heavy)
    is_full = held * (left + 1 - heavy_ahead) >= light
    return is_full and left > heavy_ahead + stretches


def cuts(values: Sequence[float], weights: Sequence[int], max_bins: int) -> list[float]:
    """Cuts between the bins of ``bins_of_values``."""
    mass = run_weights(values, weights)
    if not mass:
        return []
    bins = bins_of_values(mass, max_bins)
    return [midpoint(a[-1], b[0]) for a, b in pairwise(bins)]


def code(value: float, cuts: Sequence[float]) -> int:
    """0 for NaN, else 1 + the number of cuts below the value."""
    return 0 if value != value else 1 + sum(cut < value for cut in cuts)


def codes(values: Sequence[float], cuts: Sequence[float]) -> list[int]:
    """The code of each value."""
    return [code(value, cuts) for value in values]


def centres(values: Sequence[float], weights: Sequence[int], cuts: Sequence[float]) -> list[float]:
    """Weighted median of each bin (the smaller one of two); 0 for an empty bin."""
    centre_list = []
    for bin_ in range(1, len(cuts) + 2):
        mass = {v: w for v, w in run_weights(values, weights).items() if code(v, cuts) == bin_}
        below = {v: sum(mass[u] for u in mass if u <= v) for v in mass}
        centre_list.append(
            min((v for v in mass if 2 * below[v] >= sum(mass.values())), default=0.0)
        )
    return centre_list


def score(values: Sequence[float], cuts: Sequence[float], steps: Sequence[float]) -> list[float]:
    """The step of each value; ``steps[0]`` is for NaN."""
    return [steps[code(value, cuts)] for value in values]
