"""Validated labels, scores and weights, and the sorted scores of the two classes."""

import sys
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.data.labels import read_labels, read_scores, read_vector, read_weights
from auctor.data.missing import count_missing
from auctor.kernels import roc


class Sample(NamedTuple):
    """Validated rows, without those of weight zero."""

    positive: Bools
    scores: tuple[Floats, ...]
    weight: Floats | None
    pos_label: Any
    kept: Bools | None  # which of the given rows remain; None means all

    @property
    def n_pos(self) -> int:
        """Number of positive rows."""
        return int(np.count_nonzero(self.positive))

    @property
    def n_neg(self) -> int:
        """Number of negative rows."""
        return len(self.positive) - self.n_pos

    @property
    def total(self) -> float:
        """Number of rows; with weights, their weight."""
        return float(len(self.positive)) if self.weight is None else float(self.weight.sum())


class SortedClasses(NamedTuple):
    """Scores of the two classes, each ascending, with their weights in that order."""

    pos: Floats
    neg: Floats
    weight_pos: Floats | None
    weight_neg: Floats | None

    @property
    def n_pairs(self) -> int:
        """Number of pairs of a positive and a negative row."""
        return len(self.pos) * len(self.neg)


def read_sample(
    y_true: Any,
    scores: Mapping[str, Any],
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    names: tuple[str, str] = ("y_true", "sample_weight"),
) -> Sample:
    """Validate labels, scores (by argument name) and weights; drop the rows of weight zero.

    ``names`` are the names of ``y_true`` and ``sample_weight`` in error messages. Text labels
    without ``pos_label`` whose scores rank the other way round are warned of.
    """
    labels = read_labels(y_true, pos_label=pos_label, name=names[0])
    n_rows = len(labels.positive)
    read = tuple(read_scores(values, n_rows, name=name) for name, values in scores.items())
    weight = read_weights(sample_weight, n_rows, name=names[1])
    positive_label = labels.classes[1:].tolist()[0]
    sample = Sample(labels.positive, read, weight, positive_label, None)
    if weight is not None:
        sample = _drop_zero_weights(sample, weight, names)
    if pos_label is None and isinstance(positive_label, str):
        _warn_of_direction(sample, labels.classes.tolist(), tuple(scores), names[0])
    return sample


def _warn_of_direction(
    sample: Sample, classes: Sequence[str], score_names: Sequence[str], name: str
) -> None:
    """Warn of a score that is high for the smaller text label, which is then the negative class.

    Which of two texts is the positive class is seldom a matter of the alphabet. An AUC of three
    standard errors below 0.5 (those of a score without information) is no chance.
    """
    weight = np.ones(len(sample.positive)) if sample.weight is None else sample.weight
    parts = split(weight, sample.positive)
    n_pos, n_neg = (part.sum() ** 2 / (part**2).sum() for part in parts)  # effective rows
    error = np.sqrt((n_pos + n_neg + 1) / (12 * n_pos * n_neg))
    negative, positive = classes
    for score_name, values in zip(score_names, sample.scores, strict=True):
        area = _area(values, sample.positive, weight)
        if area < 0.5 - 3 * error:
            warnings.warn(
                f"{score_name} is lower for {positive!r} than for {negative!r} (AUC {area:.3f}), "
                f"and {positive!r} is the positive class because it is the larger label of "
                f"{name}; if high scores mean {negative!r}, give pos_label={negative!r}",
                stacklevel=_levels_to_caller(),
            )
            return


def _area(scores: Floats, positive: Bools, weight: Floats) -> float:
    """The weighted AUC, up to rounding."""
    distinct, position = np.unique(scores, return_inverse=True)
    pos, neg = (
        np.bincount(position[rows], weight[rows], len(distinct)) for rows in (positive, ~positive)
    )
    return float((pos * (np.cumsum(neg) - neg / 2)).sum() / (pos.sum() * neg.sum()))


def _levels_to_caller() -> int:
    """How many frames above the one that asks is the first outside of this package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("auctor."):
        frame, level = frame.f_back, level + 1
    return level


def _drop_zero_weights(sample: Sample, weight: Floats, names: tuple[str, str]) -> Sample:
    """The sample without the rows of weight zero; rows of both classes must remain."""
    kept = weight > 0
    if kept.all():
        return sample
    positive = sample.positive[kept]
    for is_positive, noun in ((True, "positive"), (False, "negative")):
        if not (positive == is_positive).any():
            raise ValueError(
                f"{names[1]} is zero for every {noun} row of {names[0]}; "
                "give a positive weight to at least one row of each class"
            )
    scores = tuple(score[kept] for score in sample.scores)
    return Sample(positive, scores, weight[kept], sample.pos_label, kept)


def split(values: Floats, positive: Bools) -> tuple[Floats, Floats]:
    """Split values into those of the positive and those of the negative rows."""
    pos, neg = roc.split_classes(values, positive, int(np.count_nonzero(positive)))
    return pos, neg


def sort_classes(sample: Sample, which: int = 0) -> SortedClasses:
    """Sort the scores of each class, with their weights if there are any."""
    pos, neg = split(sample.scores[which], sample.positive)
    if sample.weight is None:
        pos.sort()
        neg.sort()
        return SortedClasses(pos, neg, None, None)
    weight_pos, weight_neg = split(sample.weight, sample.positive)
    order_pos, order_neg = np.argsort(pos), np.argsort(neg)
    return SortedClasses(
        pos[order_pos], neg[order_neg], weight_pos[order_pos], weight_neg[order_neg]
    )


def read_sorted(y_true: Any, y_score: Any, sample_weight: Any, pos_label: Any) -> SortedClasses:
    """Validate labels, one score and weights, and sort the scores of each class."""
    scores = {"y_score": y_score}
    return sort_classes(
        read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    )


def read_codes(values: Any, sample: Sample, name: str) -> tuple[npt.NDArray[Any], Ints]:
    """The distinct values of groups or folds, and the index of each remaining row's value."""
    array = read_vector(values, name)
    n_rows = len(sample.positive) if sample.kept is None else len(sample.kept)
    if len(array) != n_rows:
        raise ValueError(f"{name} has {len(array)} values for {n_rows} rows; give one per row")
    if count_missing(array):
        raise ValueError(f"{name} has missing values (NaN or None); give a value for every row")
    if sample.kept is not None:
        array = array[sample.kept]
    try:
        distinct, codes = np.unique(array, return_inverse=True)
    except TypeError:
        raise ValueError(f"{name} has values of several types; give one type") from None
    return distinct, codes.astype(np.int64)


def group_codes(groups: Any, sample: Sample) -> Ints:
    """The group of each row as a whole number; at least two groups are needed."""
    distinct, codes = read_codes(groups, sample, "groups")
    if len(distinct) < 2:
        raise ValueError("groups has only one group; give two or more, or leave groups out")
    return codes
