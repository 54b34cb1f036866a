"""What ExactBoost starts from: scores of the training rows, and how they enter the model."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor.data import Table, read_labels
from auctor.models import AdditiveModel, Model, ScorerModel, add_terms, on_grid
from auctor.models.scorers import scorer_values

Floats = npt.NDArray[np.float64]


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
    positive = read_labels(y, pos_label=pos_label).classes.tolist()[1]
    if isinstance(model, AdditiveModel):
        _check_labels(model, y, pos_label)
        return Start(_checked(_scores_of(model, table), len(y)), model)
    if any(hasattr(init, name) for name in ("decision_function", "predict_proba")):
        try:
            scores = scorer_values(init, X, positive)
        except Exception as error:
            raise ValueError(f"init could not score X ({error}); give a fitted model") from error
        return Start(_checked(scores, len(y)), init)
    return Start(_checked(init, len(y)))


def _check_labels(model: AdditiveModel, y: npt.NDArray[Any], pos_label: Any) -> None:
    labels = read_labels(y, pos_label=pos_label).classes.tolist()
    if labels != list(model.classes):
        raise ValueError(
            f"init ranks {model.classes[1]!r} above {model.classes[0]!r}, but y and pos_label say "
            f"{labels[1]!r} above {labels[0]!r}; give a model of the same labels"
        )


def _scores_of(model: AdditiveModel, table: Table) -> Floats:
    if model.feature_names != tuple(table.names):
        raise ValueError(
            f"init has the columns {', '.join(model.feature_names[:5])}, and X has "
            f"{', '.join(table.names[:5])}; give a model of the same columns in the same order"
        )
    return model.decision_function(table)


def _checked(scores: Any, n_rows: int) -> Floats:
    """One finite number for each row."""
    wanted = "give a fitted model, or one number for each row of X"
    try:
        array = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"init is {type(scores).__name__}; {wanted}") from error
    if array.shape != (n_rows,):
        raise ValueError(f"init has shape {array.shape} for {n_rows} rows; {wanted}")
    if not np.isfinite(array).all():
        raise ValueError(f"init has scores that are not finite; {wanted}")
    return array
