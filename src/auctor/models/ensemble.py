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
    """A weighted sum of the members of an ensemble, some of which are of other libraries.

    Attributes are those of :class:`ScorerModel`; the scorers are the members.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from auctor import RankBoost, RankEnsemble
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> members = [("stumps", RankBoost(n_estimators=5)), ("bayes", GaussianNB())]
    >>> model = RankEnsemble(members, cv=2, combiner="equal", refit=True).fit(X, y).model_
    >>> print(model)
    MemberModel: score = -0.2958 + a weighted sum of 2 of 2 scorers
    1 is predicted where score >= 0, 0 elsewhere
      +0.5024 * stumps, fitted to all rows
      +1.646 * bayes, fitted to all rows
    """

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

    Examples
    --------
    >>> from auctor import RankBoost, RankEnsemble, TreeRank
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> members = [("stumps", RankBoost(n_estimators=5)), ("tree", TreeRank(max_depth=1))]
    >>> ensemble = RankEnsemble(members, metric="ks", combiner="exactboost", cv=2, refit=True)
    >>> model = ensemble.fit(X, y).model_
    >>> print(model)
    StackedModel: a function of the scores of 2 members
    1 is predicted where score >= 0, 0 elsewhere
      AdditiveModel: score = ... + step functions of 2 of 2 features
    ...
    >>> len(model.members), model.final.decision_function([[1.0, 1.0]]).shape
    (2, (1,))
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
