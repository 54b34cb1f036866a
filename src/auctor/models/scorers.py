"""ScorerModel: a weighted sum of given scorers. It cannot be saved as JSON."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from auctor.data import Table
from auctor.models.base import Model, Shared
from auctor.models.fields import Fields
from auctor.models.linear import round_scores

Floats = npt.NDArray[np.float64]


def scorer_values(scorer: Any, X: Any, positive: Any) -> Floats:
    """The values of a scorer: 2 p - 1 of a probability, else its decision function or itself.

    A classifier's values grow towards ``positive``, whichever of its classes that is.
    """
    is_first = list(getattr(scorer, "classes_", ()))[:1] == [positive]
    if hasattr(scorer, "predict_proba"):
        values = 2.0 * np.asarray(scorer.predict_proba(X), dtype=np.float64) - 1.0
        if values.ndim == 2 and values.shape[1] == 2:
            values = values[:, 0 if is_first else 1]
    elif hasattr(scorer, "decision_function"):
        values = np.asarray(scorer.decision_function(X), dtype=np.float64)
        values = -values if is_first and getattr(scorer, "pos_label_", None) != positive else values
    else:
        values = np.asarray(scorer(X), dtype=np.float64)
    return values


def scorer_name(scorer: Any) -> str:
    """How a scorer is called in messages."""
    return str(getattr(scorer, "__name__", type(scorer).__name__))


@dataclass(frozen=True, eq=False)
class ScorerModel(Model):
    """score = intercept + sum of weight * scorer(X); scorers get X as it is given."""

    names: tuple[str, ...]
    scorers: tuple[Any, ...]
    weights: Floats
    intercept: float

    form: ClassVar[str] = "scorers"

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.names

    def decision_function(self, X: Any) -> Floats:
        """The score of each row: larger means more likely positive."""
        used = [
            (scorer, weight)
            for scorer, weight in zip(self.scorers, self.weights.tolist(), strict=True)
            if weight
        ]
        positive = self.classes[1]
        parts = [weight * scorer_values(scorer, X, positive) for scorer, weight in used]
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        # The intercept last: rounding must not move a score across Youden's point.
        return round_scores(np.sum([np.zeros(n_rows), *parts], axis=0)) + self.intercept

    def _score(self, table: Table, columns: npt.NDArray[np.int64]) -> Floats:
        raise NotImplementedError  # scorers take X itself, not columns

    def body(self) -> dict[str, Any]:
        raise ValueError(
            "this model holds scorers that were given, which a model file cannot; pickle the "
            "estimator, or fit with hypotheses='features' or 'stumps'"
        )

    @classmethod
    def from_body(cls, fields: Fields, shared: Shared) -> "ScorerModel":
        raise ValueError("model file: a sum of scorers is never written to a file")

    def __str__(self) -> str:
        lines = [
            f"ScorerModel: score = {self.intercept:+.4g} + a weighted sum of "
            f"{int(np.count_nonzero(self.weights))} scorers (of {len(self.scorers)})",
            f"{self.classes[1]!r} is predicted where score > {self.threshold:g}, "
            f"{self.classes[0]!r} elsewhere",
        ]
        for scorer, weight in zip(self.scorers, self.weights.tolist(), strict=True):
            if weight:
                lines.append(f"  {weight:+.4g} * {scorer_name(scorer)}")
        return "\n".join(lines)
