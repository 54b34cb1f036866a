"""What ExactBoost starts from: scores of the training rows, and how they enter the model."""

from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats
from auctor.data import Table, read_labels
from auctor.models import AdditiveModel, Model, ScorerModel, add_terms, on_grid
from auctor.models.unsaved import scorer_values


@dataclass(frozen=True, eq=False)
class Start:
    """Scores of all training rows, and the model that they come from, if any."""

    scores: Floats
    source: Any = None  # an AdditiveModel, a fitted estimator, or None

    @property
    def is_array(self) -> bool:
        """Whether the scores were given as such."""
        return self.source is None

    def join(self, model: AdditiveModel, weight: float, low: float) -> Model:
        """The model of the steps together with weight * (scores - low)."""
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


def read_start(
    init: Any, X: Any, table: Table, y: npt.NDArray[Any], pos_label: Any
) -> Start | None:
    """The scores to start from, checked before any long work."""
    if init is None:
        return None
    model = init if isinstance(init, AdditiveModel) else getattr(init, "model_", None)
    labels = read_labels(y, pos_label=pos_label).classes.tolist()
    if isinstance(model, AdditiveModel):
        _check_labels(model, labels)
        return Start(_checked(_scores_of(model, table), table.n_rows), model)
    if any(hasattr(init, name) for name in ("decision_function", "predict_proba")):
        return Start(_checked(_foreign_scores(init, X, labels), table.n_rows), init)
    return Start(_checked(init, table.n_rows))


def _foreign_scores(init: Any, X: Any, labels: list[Any]) -> Floats:
    """Scores of an estimator that is not ours, larger for the positive label."""
    known = list(getattr(init, "classes_", labels))
    if sorted(map(str, known)) != sorted(map(str, labels)):
        raise ValueError(
            f"init was fitted to the labels {known}, but y has {labels}; give a model of the same"
        )
    try:
        return scorer_values(init, X, labels[1])
    except Exception as error:
        raise ValueError(
            f"init could not score X ({error}); give a fitted model, and where it is cloned a "
            "FrozenEstimator"
        ) from error


def _check_labels(model: AdditiveModel, labels: list[Any]) -> None:
    if labels != list(model.classes):
        raise ValueError(
            f"init ranks {model.classes[1]!r} above {model.classes[0]!r}, but y and pos_label say "
            f"{labels[1]!r} above {labels[0]!r}; give a model of the same labels"
        )


def _scores_of(model: AdditiveModel, table: Table) -> Floats:
    pairs = zip_longest(model.feature_names, table.names, fillvalue="no column")
    for own, other in pairs:
        if own != other:
            raise ValueError(
                f"init has {own!r} where X has {other!r}; give a model of the same columns in the "
                "same order"
            )
    return model.decision_function(table)


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
