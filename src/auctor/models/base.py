"""What all forms of model share: labels, threshold, calibration, and how they are scored."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from auctor._checks import check_number
from auctor._typing import Floats, Ints
from auctor.data import Category, Table, read_table, select
from auctor.metrics.thresholds import Threshold, threshold_at
from auctor.models.fields import Fields

_LARGEST = 9e299  # of a threshold: files hold numbers below 1e300


class Calibration(NamedTuple):
    """Score to probability: 1 / (1 + exp(-(slope * score + offset))), slope > 0."""

    slope: float
    offset: float


@dataclass(frozen=True, eq=False)
class Model(ABC):
    """A fitted scoring function as data: frozen, and it needs no estimator to score."""

    classes: tuple[Category, Category]  # (negative, positive)
    threshold: float
    calibration: Calibration

    form: ClassVar[str]

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """The columns that the model was fitted on, in order."""

    @property
    def text_features(self) -> tuple[str, ...]:
        """Features whose categories are text: "1" must not be read as a number there."""
        return tuple(
            column.name
            for column in self._columns
            if column.is_category and any(isinstance(value, str) for value in column.categories)
        )

    @property
    def _columns(self) -> tuple[Any, ...]:
        """What is known of each feature: a `Feature`, or a term of a linear model."""
        found: tuple[Any, ...] = getattr(self, "features", ())
        return found

    @abstractmethod
    def _score(self, table: Table, columns: Ints) -> Floats:
        """Score of each row; feature j stands in column ``columns[j]`` of the table."""

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """The form's own part of the file, as plain JSON values."""

    @classmethod
    @abstractmethod
    def from_body(cls, fields: Fields, shared: "Shared") -> "Model":
        """The model of a file's own and shared parts; ValueError where they are wrong."""

    def decision_function(self, X: Any) -> Floats:
        """The score of each row of any table: larger means more likely positive.

        Columns are matched by name where the table has names; others are ignored.
        """
        table = read_table(X, accept_sparse=True)
        return self._score(table, select(table, self.feature_names, type(self).__name__))

    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probability of each class, in the order of ``classes``."""
        return self.probabilities(self.decision_function(X))

    def probabilities(self, scores: Floats) -> Floats:
        """Calibrated probability of each class for scores already computed."""
        with np.errstate(over="ignore"):  # an infinite z is a probability of 0 or 1
            z = self.calibration.slope * scores + self.calibration.offset
        # Each column by its own formula: 1 - p would lose what is left of a small p.
        return np.column_stack([_logistic(-z), _logistic(z)])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row: positive where the score is above the threshold."""
        return np.asarray(self.classes)[(self.decision_function(X) > self.threshold).astype(int)]

    def threshold_at(self, X: Any, y: Any, **wish: Any) -> Threshold:
        """The threshold that meets a criterion on labelled rows; see `metrics.threshold_at`.

        Parameters
        ----------
        X, y
            Labelled rows; on those of the fit every rate is too good.
        **wish
            One of ``fpr``, ``tpr``, ``budget`` and ``cost``, and what else
            :func:`auctor.metrics.threshold_at` takes, such as ``confidence=0.95``.
        """
        return threshold_at(y, self.decision_function(X), pos_label=self.classes[1], **wish)

    def with_threshold(self, threshold: "Threshold | float") -> Self:
        """The same model with another threshold; one from ``threshold_at`` flags as it says.

        A model flags scores above its threshold, a `Threshold` those at it as well.
        """
        if isinstance(threshold, Threshold):
            number = float(np.nextafter(threshold.value, -np.inf))
        else:
            number = check_number(threshold, "threshold")
        # An infinite one flags all rows or none, as does any beyond the scores; files have a bound.
        return replace(self, threshold=min(max(number, -_LARGEST), _LARGEST))

    def explain(self, X: Any) -> Any:
        """Why rows have the scores they have; for models whose score is a sum of terms."""
        raise ValueError(
            f"this is a {self.form} model, whose score is not a sum with a part for each feature; "
            "rows are explained by additive and linear models. str(model) says what this one does"
        )

    def save(self, path: str | Path) -> None:
        """Write the model as JSON; the file is complete or not there at all."""
        from auctor.models.file import save

        save(self, path)


class Shared(NamedTuple):
    """The part of a model file that every form has."""

    classes: tuple[Category, Category]
    threshold: float
    calibration: Calibration


def _logistic(z: Floats) -> Floats:
    # exp of a negative number only, so that nothing overflows
    decayed = np.exp(-np.abs(z))
    return np.where(z >= 0, 1.0, decayed) / (1.0 + decayed)
