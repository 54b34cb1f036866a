"""Labels and weights of the rows of a table, read and checked together."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools
from auctor.data.group import ALONE, Group
from auctor.data.labels import read_labels, read_vector, read_weights
from auctor.data.ranking import Partition, RankingData
from auctor.data.weights import frequency_weights, relative_weights


class LabelledRows(NamedTuple):
    """The rows of positive weight (the kept rows), in the order of the table."""

    kept: Bools | None  # which rows of the table are kept; None if all are
    positive: Bools
    classes: npt.NDArray[Any]  # (negative, positive)
    weight: npt.NDArray[np.uint32]  # in units
    rows_per_unit: tuple[float, float] | None  # as in RankingData
    is_weighted: bool

    def pick(self, values: Any) -> Any:
        """The values of the kept rows, from a vector or matrix with all rows of the table."""
        return values if self.kept is None else values[self.kept]

    @property
    def row_units(self) -> tuple[float, float]:
        """Number of effective rows per unit of weight, of the negatives and of the positives."""
        return self.without_codes().row_units

    def without_codes(self) -> RankingData:
        """RankingData of these rows without features, with classes and weights only."""
        order = np.argsort(~self.positive, kind="stable")
        codes = np.empty((0, len(order)), dtype=np.uint8)
        part = Partition(codes, self.weight[order], order, int(self.positive.sum()))
        return RankingData((), (part,), self.classes, self.rows_per_unit)


def read_rows(
    y: Any,
    sample_weight: Any,
    pos_label: Any,
    n_rows: int,
    frequency: bool = False,
    group: Group = ALONE,
    name: str = "y",
) -> LabelledRows:
    """Read the labels and weights of ``n_rows`` rows; rows of weight 0 are dropped.

    With ``frequency`` weights count copies of a row, so that their sum is the number of rows. The
    rows of all members of ``group`` have the same classes and the same unit of weight. ``name`` is
    that of the labels in errors.

    Examples
    --------
    >>> rows = read_rows([0, 1, 1], [1, 0, 2], None, 3)
    >>> rows.kept.tolist(), rows.positive.tolist(), rows.weight.tolist()
    ([True, False, True], [False, True], [1, 2])
    """
    y = read_vector(y, name)
    check_lengths(n_rows, len(y))
    weight = read_weights(sample_weight, n_rows, group=group)
    kept = None if weight is None or bool((weight > 0).all()) else weight > 0
    # Rows of weight 0 of another member count as well: all members give the same error.
    is_less = group.any(kept is not None)
    name = f"{name}, without its rows of weight 0," if is_less else name
    if weight is not None and kept is not None:
        y, weight = y[kept], weight[kept]
    labels = read_labels(y, pos_label=pos_label, name=name, group=group)
    units = None
    if frequency:
        multiples, unit = frequency_weights(weight, len(y), group)
        units = unit, unit
    else:
        multiples = relative_weights(weight, len(y), group)
    is_weighted = bool((multiples != 1).any())
    return LabelledRows(kept, labels.positive, labels.classes, multiples, units, is_weighted)


def check_lengths(n_rows: int, n_labels: int) -> None:
    """Raise an error unless there is a label for each row."""
    if n_labels != n_rows:
        raise ValueError(f"X and y have inconsistent numbers of samples: {n_rows} and {n_labels}")
