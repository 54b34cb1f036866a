"""VoteModel: a weighted vote of fitted estimators. It cannot be saved as JSON."""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from auctor.data import Feature, Table
from auctor.models.base import Model, Shared
from auctor.models.features import code_columns
from auctor.models.fields import Fields

Floats = npt.NDArray[np.float64]

CANNOT_SAVE = (
    "this model holds fitted estimators or trees as weak rankers, which a model file cannot; "
    "pickle the estimator, or fit with weak='feature' or weak='stump'"
)


class Voter(Protocol):
    """What a member of the vote can do."""

    def labels(self, Z: Floats) -> Floats: ...


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

    def _score(self, table: Table, columns: npt.NDArray[np.int64]) -> Floats:
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
