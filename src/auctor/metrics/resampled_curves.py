"""ROC curves of resampled rows: drawn step by step where rows count alike, else row by row."""

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
    curve: RocCurve, sample: Sample, groups: Any, rng: np.random.Generator, *, most_steps: int
) -> tuple[Iterator[RocCurve], str]:
    """Curves of resampled rows, without end, and how they are drawn.

    Steps of the curve are joined to ``most_steps`` where they are drawn and not the rows.
    """
    if groups is None and sample.weight is None:
        return _class_draws(thin(curve, most_steps), rng), "stratified bootstrap"
    draws, method = make_draws(sample, groups, rng)
    places = row_places(curve, sample)
    return (redrawn(curve, places, draw) for draw in draws), method


def thin(curve: RocCurve, most: int) -> RocCurve:
    """The curve at no more than about ``most`` of its thresholds, evenly among the flagged."""
    n = len(curve.thresholds)
    if n <= most:
        return curve
    wanted = np.linspace(0, curve.flagged[-1], most)
    kept = np.unique(np.append(np.searchsorted(curve.flagged, wanted), [0, n - 1]).clip(0, n - 1))
    return at_thresholds(curve, kept)


def at_thresholds(curve: RocCurve, kept: Indices) -> RocCurve:
    """The curve at some of its thresholds, by place; the first and the last must be among them."""
    steps = curve.true_positives[kept], curve.false_positives[kept]
    return _with_steps(replace(curve, thresholds=curve.thresholds[kept]), steps)


def _class_draws(curve: RocCurve, rng: np.random.Generator) -> Iterator[RocCurve]:
    """As many rows of each class as there are, drawn step by step and not row by row."""
    shares = [np.diff(total) / total[-1] for total in (curve.true_positives, curve.false_positives)]
    sizes = curve.n_pos, curve.n_neg
    while True:
        counts = (rng.multinomial(n, share) for n, share in zip(sizes, shares, strict=True))
        yield _with_steps(curve, tuple(_cumulated(count) for count in counts))


def row_places(curve: RocCurve, sample: Sample) -> tuple[Indices, ...]:
    """For each row of a class, its step on the curve."""
    classes = split(sample.scores[0], sample.positive)
    # Without the first threshold, which flags nothing: a score may be infinite as well.
    return tuple(np.searchsorted(-curve.thresholds[1:], -scores) for scores in classes)


def redrawn(curve: RocCurve, places: tuple[Indices, ...], draw: Draw) -> RocCurve:
    """The curve of the rows with the weights of a draw."""
    n = len(curve.thresholds) - 1
    counts = (np.bincount(p, weights=w, minlength=n) for p, w in zip(places, draw, strict=True))
    return _with_steps(curve, tuple(_cumulated(count) for count in counts))


def _cumulated(counts: npt.NDArray[Any]) -> Floats:
    return np.concatenate(([0.0], np.cumsum(counts, dtype=np.float64)))


def _with_steps(curve: RocCurve, steps: Any) -> RocCurve:
    true_positives, false_positives = steps
    return replace(curve, true_positives=true_positives, false_positives=false_positives)
