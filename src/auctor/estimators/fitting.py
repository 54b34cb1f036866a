"""The input of ``fit``, read and checked once, and the result of a learner."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats
from auctor.data import Table, read_weights
from auctor.learners.certificate import Certificate
from auctor.models import Model


@dataclass(frozen=True, eq=False)
class FitInput:
    """The arguments of ``fit``: the table as it was read, the labels as an array."""

    table: Table
    X: Any  # as the caller gave it, for estimators that hand it on to other estimators
    y: npt.NDArray[Any]
    sample_weight: Any = None

    @cached_property
    def weight(self) -> Floats | None:
        """The weight of each row; None where all rows weigh the same."""
        return read_weights(self.sample_weight, len(self.y))

    def pick(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The values of the rows whose weight is above 0: the others count as absent."""
        return values if self.weight is None else np.asarray(values[self.weight > 0])


@dataclass(frozen=True, eq=False)
class FitResult:
    """The result of a learner, from which ``fit`` sets the fitted attributes.

    ``attributes`` are further fitted attributes by name, such as ``n_iter_``.
    """

    model: Model
    history: Any
    certificate: Certificate
    classes: npt.NDArray[Any]  # (negative, positive)
    attributes: dict[str, Any] = field(default_factory=dict)
