"""RowProgram: a branching program whose nodes are fitted estimators. It cannot be saved as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor.data import Feature, Table
from auctor.models.base import Model, Shared
from auctor.models.features import code_columns
from auctor.models.fields import Fields
from auctor.models.vote import CANNOT_SAVE, Voter

Floats = npt.NDArray[np.float64]


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

    def _score(self, table: Table, columns: npt.NDArray[np.int64]) -> Floats:
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
