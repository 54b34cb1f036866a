"""Bootstrap of AUCs by how often each row is drawn: sorted once, O(n) a resample."""

from collections.abc import Iterator
from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats, Indices, Ints
from auctor.kernels import roc
from auctor.metrics.sample import Sample, read_codes, split

Draw = tuple[Floats, Floats]  # weight of each positive and of each negative row


class Ranked(NamedTuple):
    """The order of a score: what the AUC of any weights of the rows needs."""

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
        return min(float(doubled / (2 * pos.sum() * neg.sum())), 1.0)  # sums are rounded


def rank(sample: Sample, which: int = 0) -> Ranked:
    """Sort one score of the sample for resampling."""
    pos, neg = split(sample.scores[which], sample.positive)
    order_pos, order_neg = np.argsort(pos), np.argsort(neg)
    pos, neg = pos[order_pos], neg[order_neg]
    return Ranked(order_pos, order_neg, roc.count_below(pos, neg), roc.count_at_most(pos, neg))


def whole(sample: Sample) -> Draw:
    """The draw that is the sample itself."""
    weight = np.ones(len(sample.positive)) if sample.weight is None else sample.weight
    return split(weight, sample.positive)


def stratified_draws(sample: Sample, rng: np.random.Generator) -> Iterator[Draw]:
    """Draw as many rows of each class as there are, with replacement, without end."""
    weight_pos, weight_neg = whole(sample)
    while True:
        yield weight_pos * _times(len(weight_pos), rng), weight_neg * _times(len(weight_neg), rng)


def cluster_draws(sample: Sample, codes: Ints, rng: np.random.Generator) -> Iterator[Draw]:
    """Draw whole groups with replacement, without end; each draw holds both classes."""
    weight_pos, weight_neg = whole(sample)
    code_pos, code_neg = codes[sample.positive], codes[~sample.positive]
    n_groups = int(codes.max()) + 1
    while True:
        times = _times(n_groups, rng)
        pos, neg = weight_pos * times[code_pos], weight_neg * times[code_neg]
        # With one class only there is no AUC: draw again. Even with each class in
        # a single group, about two draws in five hold both, so this always ends.
        if pos.any() and neg.any():
            yield pos, neg


def make_draws(sample: Sample, groups: Any, rng: np.random.Generator) -> tuple[Iterator[Draw], str]:
    """Draws by group if there are groups, else by class; with the name of the method."""
    if groups is None:
        return stratified_draws(sample, rng), "stratified bootstrap"
    distinct, codes = read_codes(groups, sample, "groups")
    if len(distinct) < 2:
        raise ValueError("groups has only one group; the cluster bootstrap needs two or more")
    return cluster_draws(sample, codes, rng), "cluster bootstrap"


class Resampling(NamedTuple):
    """How often to draw, and whether rows or whole groups."""

    groups: Any
    n_resamples: int
    rng: np.random.Generator

    @property
    def name(self) -> str:
        """What the method is called."""
        return "stratified bootstrap" if self.groups is None else "cluster bootstrap"

    def draws(self, sample: Sample) -> Iterator[Draw]:
        """The draws of one estimate."""
        return islice(make_draws(sample, self.groups, self.rng)[0], self.n_resamples)


def make_generator(random_state: Any) -> np.random.Generator:
    """A generator from None, a seed, a generator, or the older RandomState."""
    if isinstance(random_state, np.random.RandomState):
        random_state = int(random_state.randint(2**31 - 1))
    return np.random.default_rng(random_state)


def percentiles(values: Floats, level: float) -> tuple[float, float]:
    """The middle ``level`` of the resampled values."""
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def _times(n: int, rng: np.random.Generator) -> Floats:
    """How often each of n things comes up in n draws with replacement."""
    return np.bincount(rng.integers(n, size=n), minlength=n).astype(np.float64)
