"""The parameter ``init``: the scores that a fit starts from, and the model that they come from."""

from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np

from auctor._typing import Floats
from auctor.data import RankingData, Table, read_labels
from auctor.estimators.fit_input import FitInput
from auctor.models import AdditiveModel, Model, ScorerModel, add_terms, on_grid
from auctor.models.unsaved import scorer_values


@dataclass(frozen=True, eq=False)
class Init:
    """The scores of the training rows of positive weight, and the model that made them, if any."""

    scores: Floats
    source: Any = None  # an AdditiveModel, a fitted estimator of another kind, or None

    @property
    def is_array(self) -> bool:
        """Whether the scores were given as an array."""
        return self.source is None

    def join(self, model: AdditiveModel, weight: float) -> Model:
        """The sum of ``model`` and weight * (score - smallest score) of the source as one model."""
        low = float(self.scores.min())
        if self.is_array:
            return model
        if isinstance(self.source, AdditiveModel):
            first = replace(
                self.source,
                steps=tuple(on_grid(weight * steps) for steps in self.source.steps),
                intercept=weight * (self.source.intercept - low),
                surfaces=tuple(
                    replace(surface, values=on_grid(weight * surface.values))
                    for surface in self.source.surfaces
                ),
                reference=None,  # of other rows; that of these follows at the end of the fit
            )
            return add_terms(model, first)
        return ScorerModel(
            model.classes,
            model.threshold,
            model.calibration,
            model.feature_names,
            (self.source, model.decision_function),
            np.array([weight, 1.0]),
            -weight * low,
        )


def read_init(
    init: Any, given: FitInput, pos_label: Any, *, additive_only: bool = False
) -> Init | None:
    """The scores to start from: those of a fitted model of any kind, or an array of them.

    With ``additive_only`` the model must be additive, and arrays are refused.
    """
    if init is None:
        return None
    model = init if isinstance(init, AdditiveModel) else getattr(init, "model_", None)
    if additive_only and not isinstance(model, AdditiveModel):
        raise ValueError(
            f"init is {type(init).__name__} without an additive model; give an AdditiveModel, or a "
            "fitted RankBoost, AUCBoost, SoftRankBoost or SmoothAUCBoost"
        )
    labels = read_labels(given.pick(given.y), pos_label=pos_label).classes.tolist()
    scores, source = init, None
    if isinstance(model, AdditiveModel):
        scores, source = _additive_scores(model, given.table, labels), model
    elif any(hasattr(init, name) for name in ("decision_function", "predict_proba")):
        scores, source = _foreign_scores(init, given.X, labels), init
    return Init(given.pick(_checked(scores, given.table.n_rows)), source)


def check_same_features(
    model: AdditiveModel, data: RankingData, signs: tuple[int, ...] = ()
) -> None:
    """The columns of ``init`` must be of the same kind as those of X.

    Where ``monotonic_cst`` makes a feature rise or fall, ``init`` must do the same.
    """
    for own, feature in zip(model.features, data.features, strict=True):
        if own.kind != feature.kind:
            raise ValueError(
                f"init has {own.name!r} as a {own.kind}, but in X it is a {feature.kind}; give a "
                "model of the same columns"
            )
    for sign, feature, steps in zip(signs, model.features, model.steps, strict=False):
        if sign != 0 and (sign * np.diff(steps[1:]) < 0).any():
            raise ValueError(
                f"monotonic_cst is {sign} for {feature.name!r}, but the model in init does not "
                "satisfy this constraint; give a model that does, or 0 for this feature"
            )


def _additive_scores(model: AdditiveModel, table: Table, labels: list[Any]) -> Floats:
    """Scores of a model that must have the same labels and columns."""
    if labels != list(model.classes):
        raise ValueError(
            f"init ranks {model.classes[1]!r} above {model.classes[0]!r}, but y and pos_label ask "
            f"for {labels[1]!r} above {labels[0]!r}; give a model of the same labels"
        )
    _check_names(model, table)
    try:
        return model.decision_function(table)
    except ValueError as error:
        raise ValueError(
            f"init does not fit X: {error}; give a model of the same columns"
        ) from error


def _check_names(model: AdditiveModel, table: Table) -> None:
    pairs = zip_longest(model.feature_names, table.names, fillvalue="no column")
    for own, other in pairs:
        if own != other:
            raise ValueError(
                f"init has {own!r} where X has {other!r}; give a model of the same columns in the "
                "same order"
            )


def _foreign_scores(init: Any, X: Any, labels: list[Any]) -> Floats:
    """Scores of an estimator that is not ours, larger for the positive label."""
    known = list(getattr(init, "classes_", labels))
    if sorted(map(str, known)) != sorted(map(str, labels)):
        raise ValueError(
            f"init was fitted to the labels {known}, but y has {labels}; give a model of the same "
            "labels"
        )
    try:
        return scorer_values(init, X, labels[1])
    except Exception as error:
        raise ValueError(
            f"init could not score X ({error}); give a fitted model, wrapped in a FrozenEstimator "
            "where scikit-learn clones it"
        ) from error


def _checked(scores: Any, n_rows: int) -> Floats:
    """One finite number for each row."""
    wanted = "give a model with decision_function or predict_proba, or a number for each row of X"
    try:
        array = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"init is {scores!r}; {wanted}") from error
    if array.shape != (n_rows,):
        raise ValueError(f"init has shape {array.shape} for {n_rows} rows; {wanted}")
    if not np.isfinite(array).all():
        raise ValueError(f"init has scores that are not finite; {wanted}")
    return array
