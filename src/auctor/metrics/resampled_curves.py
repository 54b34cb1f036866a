"""ROC curves of resampled rows.

Rows of equal weight without groups are drawn step by step of the curve, others row by row.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Indices
from auctor.metrics.bootstrap import Draw, make_draws
from auctor.metrics.curve import RocCurve
from auctor.metrics.sample import Sample, split


def resampled_curves(
    curve: RocCurve, sample: Sample, groups: Any, rng: np.random.Generator, *, max_steps: int
) -> tuple[Iterator[RocCurve], str]:
    """An endless iterator of curves of resampled rows, and the name of the method.

    If steps of the curve are drawn instead of rows, there are about ``max_steps`` of them at most.
    """
    if groups is None and sample.weight is None:
        return _class_draws(thin(curve, max_steps), rng), "stratified bootstrap"
    draws, method = make_draws(sample, groups, rng)
    steps = step_of_rows(curve, sample)
    return (redrawn(curve, steps, draw) for draw in draws), method


def thin(curve: RocCurve, max_steps: int) -> RocCurve:
    """The curve at about ``max_steps`` thresholds at most, evenly spaced in flagged rows."""
    n = len(curve.thresholds)
    if n <= max_steps:
        return curve
    wanted = np.linspace(0, curve.flagged[-1], max_steps)
    kept = np.unique(np.append(np.searchsorted(curve.flagged, wanted), [0, n - 1]).clip(0, n - 1))
    return at_thresholds(curve, kept)


def at_thresholds(curve: RocCurve, kept: Indices) -> RocCurve:
    """The curve at the thresholds of these indices, which include the first and the last."""
    steps = curve.true_positives[kept], curve.false_positives[kept]
    return _with_steps(replace(curve, thresholds=curve.thresholds[kept]), steps)


def _class_draws(curve: RocCurve, rng: np.random.Generator) -> Iterator[RocCurve]:
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
