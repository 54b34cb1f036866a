"""Bootstrap of AUCs and of ROC curves.

Resampled AUCs come from counts of how often each row is drawn: the scores are sorted once, and each
resample then costs O(n). For resampled ROC curves, rows of equal weight without groups are drawn
step by step of the curve, others row by row.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Indices, Ints
from auctor.kernels import roc
from auctor.metrics.curve import RocCurve, axis_of
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


def resampled_curves(
    curve: RocCurve, sample: Sample, groups: Any, rng: np.random.Generator, *, max_steps: int
) -> tuple[Iterator[RocCurve], str]:
    """An endless iterator of curves of resampled rows, and the name of the method.

    If steps of the curve are drawn instead of rows, there are about ``max_steps`` of them at most.
    """
    if groups is None and sample.weight is None:
        return class_draws(thin(curve, max_steps), rng), "stratified bootstrap"
    draws, method = make_draws(sample, groups, rng)
    steps = step_of_rows(curve, sample)
    return (redrawn(curve, steps, draw) for draw in draws), method


def thin(curve: RocCurve, max_steps: int) -> RocCurve:
    """The curve at about ``max_steps`` thresholds at most, evenly spaced in flagged rows."""
    n = len(curve.thresholds)
    if n <= max_steps:
        return curve
    flagged = axis_of(curve, "flagged")
    wanted = np.linspace(0, flagged[-1], max_steps)
    kept = np.unique(np.append(flagged.search(wanted), [0, n - 1]).clip(0, n - 1))
    return at_thresholds(curve, kept)


def at_thresholds(curve: RocCurve, kept: Indices) -> RocCurve:
    """The curve at the thresholds of these indices, which include the first and the last."""
    steps = curve.true_positives[kept], curve.false_positives[kept]
    return _with_steps(replace(curve, thresholds=curve.thresholds[kept]), steps)


def class_draws(curve: RocCurve, rng: np.random.Generator) -> Iterator[RocCurve]:
    """Draw as many rows of each class as there are, by the number of rows in each step."""
    rates = [np.diff(total) / total[-1] for total in (curve.true_positives, curve.false_positives)]
    sizes = curve.n_pos, curve.n_neg
    while True:
        counts = (rng.multinomial(n, rate) for n, rate in zip(sizes, rates, strict=True))
        yield _with_steps(curve, tuple(_cumulated(count) for count in counts))


def step_of_rows(curve: RocCurve, sample: Sample) -> tuple[Indices, ...]:
    """The step of the curve that each positive and each negative row belongs to."""
    classes = split(sample.scores[0], sample.positive)
    # Skip the first threshold, infinity, which flags no row: a score may be infinite as well.
    return tuple(np.searchsorted(-curve.thresholds[1:], -scores) for scores in classes)


def redrawn(curve: RocCurve, steps: tuple[Indices, ...], draw: Draw) -> RocCurve:
    """The curve of the rows with the weights of a draw; ``steps`` is from ``step_of_rows``."""
    n = len(curve.thresholds) - 1
    counts = (np.bincount(s, weights=w, minlength=n) for s, w in zip(steps, draw, strict=True))
    return _with_steps(curve, tuple(_cumulated(count) for count in counts))


def _cumulated(counts: npt.NDArray[Any]) -> Floats:
    return np.concatenate(([0.0], np.cumsum(counts, dtype=np.float64)))


def _with_steps(curve: RocCurve, steps: Any) -> RocCurve:
    true_positives, false_positives = steps
    return replace(curve, true_positives=true_positives, false_positives=false_positives)
