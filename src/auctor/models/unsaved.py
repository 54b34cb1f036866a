"""Models that hold fitted estimators or functions, and so can be pickled but not saved as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Ints
from auctor.data import Feature, Table
from auctor.models.base import Model, Shared
from auctor.models.features import code_columns
from auctor.models.fields import Fields
from auctor.models.linear import round_scores

CANNOT_SAVE = (
    "this model holds fitted estimators or trees as weak rankers, which a model file cannot; "
    "pickle the estimator, or fit with estimator='feature' or estimator='stump'"
)


class Voter(Protocol):
    """What a member of the vote can do."""

    def labels(self, Z: Floats) -> Floats: ...


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

    def _score(self, table: Table, columns: Ints) -> Floats:
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


class Gate(NamedTuple):
    """A node: the voter that sends rows on, or None, and the value of rows that end there."""

    voter: Voter | None
    value: float


@dataclass(frozen=True, eq=False)
class RowProgram(Model):
    """As ProgramModel, with an estimator at each node; score = intercept + expected end value."""

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
        """Expected end value of rows given by their codes (features, rows)."""
        return expected_end(self.layers, self.final, np.ascontiguousarray(codes.T, dtype=float))

    def body(self) -> dict[str, Any]:
        raise ValueError(CANNOT_SAVE)

    @classmethod
    def from_body(cls, fields: Fields, shared: Shared) -> "RowProgram":
        raise ValueError("model file: a program of estimators is never written to a file")

    def __str__(self) -> str:
        gates = [gate for layer in self.layers for gate in layer]
        frozen = sum(gate.voter is None for gate in gates)
        return (
            f"RowProgram: {len(self.layers)} layers, {len(gates)} nodes with an estimator each, "
            f"{frozen} of them frozen; score = {self.intercept:+.4g} + the expected value of the "
            f"end\n{self.classes[1]!r} is predicted where score > {self.threshold:g}, "
            f"{self.classes[0]!r} elsewhere"
        )


def expected_end(layers: Sequence[Sequence[Gate]], final: Floats, Z: Floats) -> Floats:
    """Carry the chance of being at each node down the layers, all rows at a time."""
    total = np.zeros(len(Z))
    chance = [np.ones(len(Z))]
    for layer in layers:
        below = [np.zeros(len(Z)) for _ in range(len(layer) + 1)]
        for i, (gate, here) in enumerate(zip(layer, chance, strict=True)):
            if gate.voter is None:
                total += here * gate.value
            elif here.any():
                right = here * (1.0 + gate.voter.labels(Z)) / 2.0
                below[i] += here - right
                below[i + 1] += right
        chance = below
    for here, value in zip(chance, final, strict=True):
        total += here * value
    return total


class Member(NamedTuple):
    """A voter and its weight."""

    voter: Voter
    alpha: float


@dataclass(frozen=True, eq=False)
class VoteModel(Model):
    """score = intercept + sum of alpha * expected label over the members."""

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
        """Score of rows given by their codes (features, rows), without the intercept."""
        Z = np.ascontiguousarray(codes.T, dtype=np.float64)
        out = np.zeros(len(Z))
        for voter, alpha in self.members:
            out += alpha * voter.labels(Z)
        return out

    def body(self) -> dict[str, Any]:
        raise ValueError(CANNOT_SAVE)

    @classmethod
    def from_body(cls, fields: Fields, shared: Shared) -> "VoteModel":
        raise ValueError("model file: a vote of estimators is never written to a file")

    def __str__(self) -> str:
        kinds = sorted(
            {type(getattr(m.voter, "estimator", m.voter)).__name__ for m in self.members}
        )
        return (
            f"VoteModel: score = {self.intercept:+.4g} + the weighted vote of {len(self.members)} "
            f"estimators ({', '.join(kinds)})\n"
            f"{self.classes[1]!r} is predicted where score > {self.threshold:g}, "
            f"{self.classes[0]!r} elsewhere"
        )
