"""What a fit is given, and what it returns: every estimator takes the one and makes the other."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._cached import cached
from auctor._typing import Floats
from auctor.data import Table, read_weights
from auctor.data.row_arrays import row_blocks
from auctor.learners.certificate import Certificate
from auctor.learners.checkpoint.checkpoint import Checkpoint
from auctor.models import Model


@dataclass(frozen=True, eq=False)
class FitInput:
    """The arguments of ``fit``: the table as it was read, the labels as an array."""

    table: Table
    X: Any  # as the caller gave it, for estimators that hand it on to other estimators
    y: npt.NDArray[Any]
    sample_weight: Any = None
    checkpoint: Checkpoint | None = None

    @cached
    def weight(self) -> Floats | None:
        """The weight of each row; None where all rows weigh the same."""
        return read_weights(self.sample_weight, len(self.y), group=self.table.group)

    def pick(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The values of the rows whose weight is above 0: the others count as absent."""
        return values if self.weight is None else np.asarray(values[self.weight > 0])

    def count_labels(self) -> list[int]:
        """The number of rows of each class whose weight is above 0."""
        y, own = self.pick(self.y), Counter[str]()
        for rows in row_blocks(len(y)):
            # Texts, because members of a group may hold the same labels as 1 and as 1.0. They take
            # 128 bytes for each, and are made of the distinct labels alone where that is possible.
            labels = y[rows].astype(str) if y.dtype.kind == "O" else y[rows]
            distinct, counts = np.unique(labels, return_counts=True)
            is_number = distinct.dtype.kind in "iuf"
            texts = (distinct.astype(np.float64) if is_number else distinct).astype(str)
            for name, number in zip(texts.tolist(), counts.tolist(), strict=True):
                own[name] += number  # large whole numbers may have the same text
        everyone = self.table.group.gather(own)
        return [sum(c.get(name, 0) for c in everyone) for name in sorted(set().union(*everyone))]


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
