"""Bootstrap of AUCs by counting how often each row is drawn.

The scores are sorted once; each resample then costs O(n).
"""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats, Indices, Ints
from auctor.kernels import roc
from auctor.metrics.sample import Sample, group_codes, split

Draw = tuple[Floats, Floats]  # weight of each positive and of each negative row


class Ranked(NamedTuple):
    """The sorted order of a score, from which the AUC for any weights of the rows is computed."""

    order_pos: Indices
    order_neg: Indices
    below: Ints
    at_most: Ints

    def auc(self, draw: Draw) -> float:
        """The AUC of the rows with the weights of a draw."""
        pos, neg = draw
        doubled = roc.double_weighted_wins(
            self.below, self.at_most, pos[self.order_pos], neg[self.order_neg]
        )
        return min(float(doubled / (2 * pos.sum() * neg.sum())), 1.0)  # rounding can exceed 1


def rank(sample: Sample, which: int = 0) -> Ranked:
    """Sort one score of the sample for resampling."""
    pos, neg = split(sample.scores[which], sample.positive)
    order_pos, order_neg = np.argsort(pos), np.argsort(neg)
    pos, neg = pos[order_pos], neg[order_neg]
    return Ranked(order_pos, order_neg, roc.count_below(pos, neg), roc.count_at_most(pos, neg))


def whole(sample: Sample) -> Draw:
    """The weights of the rows of each class in the sample itself."""
    weight = np.ones(len(sample.positive)) if sample.weight is None else sample.weight
    return split(weight, sample.positive)


def stratified_draws(sample: Sample, rng: np.random.Generator) -> Iterator[Draw]:
    """Endlessly draw as many rows of each class as there are, with replacement."""
    weight_pos, weight_neg = whole(sample)
    while True:
        yield weight_pos * _times(len(weight_pos), rng), weight_neg * _times(len(weight_neg), rng)


def cluster_draws(sample: Sample, codes: Ints, rng: np.random.Generator) -> Iterator[Draw]:
    """Endlessly draw whole groups with replacement; each draw has rows of both classes."""
    weight_pos, weight_neg = whole(sample)
    code_pos, code_neg = codes[sample.positive], codes[~sample.positive]
    n_groups = int(codes.max()) + 1
    while True:
        times = _times(n_groups, rng)
        pos, neg = weight_pos * times[code_pos], weight_neg * times[code_neg]
        # Without one of the classes there is no AUC: draw again. Even if each class is in a single
        # group, about two draws in five have both, so this always ends.
        if pos.any() and neg.any():
            yield pos, neg


def make_draws(sample: Sample, groups: Any, rng: np.random.Generator) -> tuple[Iterator[Draw], str]:
    """Draws of groups if there are groups, else of rows by class; with the name of the method."""
    if groups is None:
        return stratified_draws(sample, rng), "stratified bootstrap"
    return cluster_draws(sample, group_codes(groups, sample), rng), "cluster bootstrap"


class Resampling(NamedTuple):
    """Settings of a bootstrap: the groups (or None for rows), the number of resamples, the rng."""

    groups: Any
    n_resamples: int
    rng: np.random.Generator

    @property
    def name(self) -> str:
        """The name of the method."""
        return "stratified bootstrap" if self.groups is None else "cluster bootstrap"

    def draws(self, sample: Sample) -> Iterator[Draw]:
        """The resamples of a sample."""
        return islice(make_draws(sample, self.groups, self.rng)[0], self.n_resamples)


def make_generator(random_state: Any) -> np.random.Generator:
    """A Generator from None, a seed, a Generator or a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def percentiles(values: Floats, level: float) -> tuple[float, float]:
    """Ends of the central interval that holds a fraction ``level`` of the values."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _times(n: int, rng: np.random.Generator) -> Floats:
    """How often each of n items is drawn in n draws with replacement."""
    return np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64)
