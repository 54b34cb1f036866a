"""Models of an ensemble that cannot be saved as JSON: a sum of scorers, and a model of scores.

An ensemble whose members can all be saved is a `SumModel`.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from auctor._text import count, prediction_rule
from auctor._typing import Floats, Ints
from auctor.data import Table
from auctor.models.base import Model
from auctor.models.unsaved import ScorerModel, UnsavedModel


@dataclass(frozen=True, eq=False)
class MemberModel(ScorerModel):
    """A weighted sum of the members of an ensemble, some of which are of other libraries."""

    form: ClassVar[str] = "members"
    _why_not: ClassVar[str] = (
        "this ensemble has members that a model file cannot hold; pickle the estimator, or give "
        "members that are estimators of auctor whose models can be saved"
    )


@dataclass(frozen=True, eq=False)
class StackedModel(UnsavedModel):
    """A model of the scores of an ensemble's members: score(X) = final(scores of the members).

    Attributes
    ----------
    names : tuple of str
        The columns that the members were fitted on.
    members : tuple of Model
        Models of these columns.
    final : Model
        A model whose columns are the scores of the members.
    """

    names: tuple[str, ...]
    members: tuple[Model, ...]
    final: Model

    form: ClassVar[str] = "stacked"
    _why_not: ClassVar[str] = (
        "this ensemble is a function of its members' scores that is not a weighted sum, which a "
        "model file cannot hold; pickle the estimator, or fit with combiner='weights'"
    )

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.names

    def decision_function(self, X: Any) -> Floats:
        """The score of each row. A larger score means that the row is more likely positive."""
        scores = [member.decision_function(X) for member in self.members]
        return self.final.decision_function(np.column_stack(scores))

    def _score(self, table: Table, columns: Ints) -> Floats:
        raise NotImplementedError  # members may need X itself: decision_function is overridden

    def __str__(self) -> str:
        lines = [
            f"StackedModel: a function of the scores of {count(len(self.members), 'member')}",
            prediction_rule(self.classes, self.threshold),
            *(f"  {line}" for line in str(self.final).splitlines()),
        ]
        return "\n".join(lines)
