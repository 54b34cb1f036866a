"""Models that hold Python objects of the user, and so can be pickled but not saved as JSON.

`ScorerModel` is a weighted sum of scorers, `VoteModel` a weighted vote of fitted weak rankers,
`RowProgram` a branching program with a fitted weak ranker at each node.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, NoReturn, Protocol

import numpy as np
import numpy.typing as npt

from auctor._text import count, prediction_rule
from auctor._typing import Floats, Ints
from auctor.data import Feature, Table
from auctor.models.base import Model
from auctor.models.features import code_columns
from auctor.models.fields import Fields
from auctor.models.linear import round_scores
from auctor.models.serialization import Shared


class Voter(Protocol):
    """A fitted weak ranker: the expected label (-1 to 1) of each row of codes (rows, features)."""

    def labels(self, Z: Floats) -> Floats: ...


@dataclass(frozen=True, eq=False)
class UnsavedModel(Model):
    """The base class of models without a file format; ``save`` raises a ValueError."""

    _why_not: ClassVar[str] = (
        "this model holds fitted estimators or trees as weak rankers, which a model file cannot "
        "hold; pickle the estimator, or fit with estimator='feature' or estimator='stump'"
    )

    def body(self) -> NoReturn:
        raise ValueError(self._why_not)

    def _plan_score(self) -> NoReturn:
        raise ValueError(self._why_not)

    @classmethod
    def from_body(cls, fields: Fields, shared: Shared) -> NoReturn:
        raise ValueError(
            f"model file: field 'form' is {cls.form!r}, but models of this form cannot be saved; "
            "give a file that auctor wrote"
        )


@dataclass(frozen=True, eq=False)
class ScorerModel(UnsavedModel):
    """A weighted sum of scorers: score(X) = intercept + sum of weight * scorer(X).

    Attributes
    ----------
    names : tuple of str
        The columns that the model was fitted on.
    scorers : tuple
        Fitted classifiers, or functions from X to one number per row. They receive X unchanged.
    weights : ndarray of shape (n_scorers,)
    intercept : float

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from auctor import MarginRanker
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> scorers = [LogisticRegression(max_iter=1000).fit(X[:, [k]], y) for k in (0, 2)]
    >>> def by_age(rows):
    ...     return 2 * scorers[0].predict_proba(rows[:, [0]])[:, 1] - 1
    >>> def by_start(rows):
    ...     return 2 * scorers[1].predict_proba(rows[:, [2]])[:, 1] - 1
    >>> model = MarginRanker(epsilon=0.6, hypotheses=[by_age, by_start]).fit(X, y).model_
    >>> type(model).__name__, model.decision_function(X).shape
    ('ScorerModel', (81,))
    """

    names: tuple[str, ...]
    scorers: tuple[Any, ...]
    weights: Floats
    intercept: float

    form: ClassVar[str] = "scorers"
    _why_not: ClassVar[str] = (
        "this model holds the scorers that were given to the estimator, which a model file cannot "
        "hold; pickle the estimator, or fit with hypotheses='features' or 'stumps'"
    )

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.names

    @property
    def _used(self) -> list[tuple[Any, float]]:
        """The scorers whose weight is not 0, with their weights."""
        pairs = zip(self.scorers, self.weights.tolist(), strict=True)
        return [(scorer, weight) for scorer, weight in pairs if weight]

    def decision_function(self, X: Any) -> Floats:
        """The score of each row. A larger score means that the row is more likely positive."""
        positive = self.classes[1]
        parts = [weight * scorer_values(scorer, X, positive) for scorer, weight in self._used]
        n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
        # The intercept is added last: rounding must not move a score across the threshold.
        return round_scores(np.sum([np.zeros(n_rows), *parts], axis=0)) + self.intercept

    def _score(self, table: Table, columns: Ints) -> Floats:
        raise NotImplementedError  # scorers need X itself: decision_function is overridden

    def __str__(self) -> str:
        lines = [
            f"{type(self).__name__}: score = {self.intercept:+.4g} + a weighted sum of "
            f"{len(self._used)} of {count(len(self.scorers), 'scorer')}",
            prediction_rule(self.classes, self.threshold),
            *(f"  {weight:+.4g} * {scorer_name(scorer)}" for scorer, weight in self._used),
        ]
        return "\n".join(lines)


def scorer_values(scorer: Any, X: Any, positive: Any) -> Floats:
    """The values of a scorer for the rows of X.

    These are 2 p - 1 for a classifier with probabilities p, else its decision function, else the
    result of calling the scorer. The values of a classifier grow with the probability of the class
    ``positive``, whether it is the first or the second of its classes.
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
    """The name of a scorer in messages: that of a function, or of the class of an object."""
    return str(getattr(scorer, "__name__", type(scorer).__name__))


class Member(NamedTuple):
    """A weak ranker of a :class:`VoteModel`, and its weight.

    Attributes
    ----------
    voter : object
        The fitted weak ranker: its ``labels(Z)`` are the expected labels, from -1 to 1, of rows of
        codes.
    alpha : float
        How much it counts.

    Examples
    --------
    The rounds of AUCBoost with a classifier of another library:

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from auctor import AUCBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = AUCBoost(DecisionTreeClassifier(max_depth=1), n_estimators=3).fit(X, y).model_
    >>> [round(member.alpha, 3) for member in model.members]
    [0.519, 0.19, 0.238]
    """

    voter: Voter
    alpha: float


@dataclass(frozen=True, eq=False)
class VoteModel(UnsavedModel):
    """A weighted vote: score(x) = intercept + sum of alpha * expected label over the members.

    AUCBoost makes it where its weak rankers are classifiers of another library, or trees.

    Attributes
    ----------
    features : tuple of Feature
        The features with their bins.
    members : tuple of Member
        The weak rankers with their weights.
    intercept : float

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from auctor import AUCBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = AUCBoost(DecisionTreeClassifier(max_depth=1), n_estimators=3).fit(X, y).model_
    >>> print(model)
    VoteModel: score = -0.302 + the weighted vote of 3 estimators (DecisionTreeClassifier)
    1 is predicted where score >= 0, 0 elsewhere
    >>> model.save("model.json")
    Traceback (most recent call last):
    ...
    ValueError: this model holds fitted estimators or trees as weak rankers, ...
    """

    features: tuple[Feature, ...]
    members: tuple[Member, ...]
    intercept: float

    form: ClassVar[str] = "vote"

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    def _score(self, table: Table, columns: Ints) -> Floats:
        return self.intercept + self.score_codes(code_columns(self.features, table, columns))

    def score_codes(self, codes: npt.NDArray[Any]) -> Floats:
        """The score of each row, without the intercept, from codes (features, rows)."""
        Z = np.ascontiguousarray(codes.T, dtype=np.float64)
        out = np.zeros(len(Z))
        for voter, alpha in self.members:
            out += alpha * voter.labels(Z)
        return out

    def __str__(self) -> str:
        kinds = sorted(
            {type(getattr(m.voter, "estimator", m.voter)).__name__ for m in self.members}
        )
        return (
            f"VoteModel: score = {self.intercept:+.4g} + the weighted vote of "
            f"{count(len(self.members), 'estimator')} ({', '.join(kinds)})\n"
            f"{prediction_rule(self.classes, self.threshold)}"
        )


class Gate(NamedTuple):
    """A node of a :class:`RowProgram`: its weak ranker, or None if rows stop there.

    Attributes
    ----------
    voter : object or None
        The fitted weak ranker that sends rows on; None at a node where they stop.
    value : float
        The value of the rows that stop there.

    Examples
    --------
    The two nodes of the second layer, the first of which is frozen:

    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from auctor import MartiRank
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = MartiRank(DecisionTreeClassifier(max_depth=1), n_layers=2).fit(X, y).model_
    >>> [(gate.voter is None, round(gate.value, 3)) for gate in model.layers[1]]
    [(True, 0.179), (False, 0.75)]
    """

    voter: Voter | None
    value: float


@dataclass(frozen=True, eq=False)
class RowProgram(UnsavedModel):
    """A `ProgramModel` with a fitted weak ranker instead of one feature at each node.

    score(x) = intercept + the expected value of the node where the row ends. MartiRank makes it
    where its weak rankers are classifiers of another library, or trees.

    Attributes
    ----------
    features : tuple of Feature
        The features with their bins.
    layers : tuple of tuple of Gate
        The nodes of each layer, from left to right: a row goes on to the same place or to the
        next one of the following layer.
    final : ndarray of shape (n_layers + 1,)
        The values of the nodes below the last layer.
    intercept : float

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from auctor import MartiRank
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = MartiRank(DecisionTreeClassifier(max_depth=1), n_layers=2).fit(X, y).model_
    >>> print(model)
    RowProgram: branching program of 2 layers and 3 nodes with an estimator each, 1 of them
    frozen (rows stop there)
    score = -0.3132 + the expected value of the node where the row ends
    1 is predicted where score >= 0, 0 elsewhere
    """

    features: tuple[Feature, ...]
    layers: tuple[tuple[Gate, ...], ...]
    final: Floats
    intercept: float

    form: ClassVar[str] = "row program"

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    def _score(self, table: Table, columns: Ints) -> Floats:
        return self.intercept + self.score_codes(code_columns(self.features, table, columns))

    def score_codes(self, codes: npt.NDArray[Any]) -> Floats:
        """The expected value of each row, without the intercept, from codes (features, rows)."""
        return expected_end(self.layers, self.final, np.ascontiguousarray(codes.T, dtype=float))

    def __str__(self) -> str:
        gates = [gate for layer in self.layers for gate in layer]
        frozen = sum(gate.voter is None for gate in gates)
        return (
            f"RowProgram: branching program of {count(len(self.layers), 'layer')} and "
            f"{count(len(gates), 'node')} with an estimator each, {frozen} of them frozen (rows "
            f"stop there)\nscore = {self.intercept:+.4g} + the expected value of the node where "
            f"the row ends\n{prediction_rule(self.classes, self.threshold)}"
        )


def expected_end(layers: Sequence[Sequence[Gate]], final: Floats, Z: Floats) -> Floats:
    """The expected value of the node where each row ends, for all rows at the same time.

    The probability of each node is carried down the layers.
    """
    expected = np.zeros(len(Z))
    probability = [np.ones(len(Z))]
    for layer in layers:
        below = [np.zeros(len(Z)) for _ in range(len(layer) + 1)]
        for i, (gate, here) in enumerate(zip(layer, probability, strict=True)):
            if gate.voter is None:
                expected += here * gate.value
            elif here.any():
                right = here * (1.0 + gate.voter.labels(Z)) / 2.0
                below[i] += here - right
                below[i + 1] += right
        probability = below
    for here, value in zip(probability, final, strict=True):
        expected += here * value
    return expected
