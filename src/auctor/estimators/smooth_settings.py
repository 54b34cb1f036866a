"""What SmoothAUCBoost is told, checked before any long work: signs, range, model to start from."""

from collections.abc import Mapping
from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats
from auctor.data import RankingData, Table, read_labels
from auctor.learners.smooth.smoothed_auc import LARGEST_RANGE
from auctor.models import AdditiveModel


def read_signs(monotonic_cst: Any, data: RankingData) -> tuple[int, ...]:
    """A sign for each feature; empty where there are none."""
    if monotonic_cst is None:
        return ()
    names = [feature.name for feature in data.features]
    if isinstance(monotonic_cst, Mapping):
        unknown = [name for name in monotonic_cst if name not in names]
        if unknown:
            raise ValueError(f"monotonic_cst names {unknown[0]!r}, which is not a column of X")
        given = [monotonic_cst.get(name, 0) for name in names]
    else:
        given = list(np.asarray(monotonic_cst, dtype=object).ravel())
    if len(given) != len(names):
        raise ValueError(
            f"monotonic_cst has {len(given)} entries for {len(names)} features; give -1, 0 or 1 "
            "for each, or a dict by name"
        )
    for feature, sign in zip(data.features, given, strict=True):
        if isinstance(sign, (bool, np.bool_)) or sign not in (-1, 0, 1):
            raise ValueError(f"monotonic_cst is {sign!r} for {feature.name!r}; give -1, 0 or 1")
        if sign != 0 and feature.is_category:
            raise ValueError(
                f"monotonic_cst is {sign} for {feature.name!r}, which holds categories: they have "
                "no order; give 0"
            )
    return tuple(int(sign) for sign in given)


def read_init(init: Any, y: npt.NDArray[Any], pos_label: Any) -> AdditiveModel | None:
    """The model to start from: additive, and of the same two labels."""
    if init is None:
        return None
    model = init if isinstance(init, AdditiveModel) else getattr(init, "model_", None)
    if not isinstance(model, AdditiveModel):
        raise ValueError(
            f"init is {type(init).__name__} without an additive model; give an AdditiveModel, or a "
            "fitted RankBoost, AUCBoost, SoftRankBoost or SmoothAUCBoost"
        )
    labels = read_labels(y, pos_label=pos_label).classes.tolist()
    if labels != list(model.classes):
        raise ValueError(
            f"init ranks {model.classes[1]!r} above {model.classes[0]!r}, but y and pos_label say "
            f"{labels[1]!r} above {labels[0]!r}; give a model of the same labels"
        )
    return model


def score_init(first: AdditiveModel, table: Table) -> Floats:
    """Scores of the model to start from, within a range that leaves room for more."""
    try:
        scores = first.decision_function(table)
    except ValueError as error:
        raise ValueError(
            f"init does not fit X: {error}; give a model of the same columns"
        ) from error
    if not np.ptp(scores) <= LARGEST_RANGE / 2:
        raise ValueError(
            f"init has scores from {scores.min():g} to {scores.max():g}, too far apart; give a "
            f"model whose scores lie within {LARGEST_RANGE / 2:g} of each other"
        )
    return scores


def check_same_features(
    first: AdditiveModel | None, data: RankingData, signs: tuple[int, ...] = ()
) -> None:
    """The model to start from must have the table's columns, in order and of the same kind.

    Where a feature must rise or fall, so must the model to start from.
    """
    if first is None:
        return
    own = [(feature.name, feature.kind) for feature in first.features]
    for (name, kind), feature in zip(own, data.features, strict=False):
        if (name, kind) != (feature.name, feature.kind):
            raise ValueError(
                f"init has {name!r}, a {kind}, where X has {feature.name!r}, a {feature.kind}; "
                "give a model of the same columns in the same order"
            )
    if len(own) != data.n_features:
        raise ValueError(
            f"init has {len(own)} features and X has {data.n_features}; give a model of the same "
            "columns"
        )
    for sign, feature, steps in zip(signs, first.features, first.steps, strict=False):
        if sign != 0 and (sign * np.diff(steps[1:]) < 0).any():
            raise ValueError(
                f"monotonic_cst is {sign} for {feature.name!r}, but init goes the other way there; "
                "give a model that obeys it, or 0"
            )


def read_fpr_range(fpr_range: Any, n_neg: float) -> tuple[float, float] | None:
    """A range of false positive rates that holds two negatives or more."""
    if fpr_range is None:
        return None
    ends = list(fpr_range)
    wanted = "give two numbers with 0 <= low < high <= 1"
    if len(ends) != 2 or not all(isinstance(end, Real) for end in ends):
        raise ValueError(f"fpr_range is {fpr_range!r}; {wanted}")
    low, high = map(float, ends)
    if not 0.0 <= low < high <= 1.0:
        raise ValueError(f"fpr_range is ({low:g}, {high:g}); {wanted}")
    if (high - low) * n_neg < 2:
        raise ValueError(
            f"fpr_range ({low:g}, {high:g}) holds {(high - low) * n_neg:.2g} of {n_neg:g} "
            "negatives; "
            "it needs two or more"
        )
    return None if (low, high) == (0.0, 1.0) else (low, high)
