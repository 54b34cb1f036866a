"""RankingData: what every learner works on."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor.data.features import Feature
from auctor.data.sparse_codes import SparseCodes


@dataclass(frozen=True, eq=False)
class Partition:
    """A block of rows, the positives in front.

    With the classes apart, a histogram of one class is a run over neighbouring rows:
    no kernel has to look up a row's class.
    """

    # An array (features, rows) of uint8 or uint16; SparseCodes for the learners that ask for
    # them, which is why the others need not look.
    codes: Any
    weight: npt.NDArray[np.uint32]  # in units of RankingData.weight_unit
    rows: npt.NDArray[np.int64]  # the row's place in the table, absent rows not counted
    n_pos: int

    def __post_init__(self) -> None:
        for array in (self.weight, self.rows):
            array.flags.writeable = False
        if not self.is_sparse:
            self.codes.flags.writeable = False

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    @property
    def is_sparse(self) -> bool:
        """Whether the codes are ``SparseCodes``."""
        return isinstance(self.codes, SparseCodes)

    @property
    def positive(self) -> npt.NDArray[np.bool_]:
        """The class of each row."""
        return np.arange(self.n_rows) < self.n_pos

    def take(self, chosen: npt.NDArray[np.bool_]) -> "Partition":
        """The chosen rows as a partition of their own."""
        if self.is_sparse:
            codes = self.codes.take(chosen)
        else:
            codes = np.ascontiguousarray(self.codes[:, chosen])
        n_pos = int(chosen[: self.n_pos].sum())
        return Partition(codes, self.weight[chosen], self.rows[chosen], n_pos)


@dataclass(frozen=True, eq=False)
class RankingData:
    """A validated, binned table of two classes, in partitions of rows."""

    features: tuple[Feature, ...]
    partitions: tuple[Partition, ...]
    classes: npt.NDArray[Any]  # (negative, positive)
    weight_unit: float

    def __post_init__(self) -> None:
        self.classes.flags.writeable = False

    @cached_property
    def n_pos(self) -> int:
        return sum(part.n_pos for part in self.partitions)

    @cached_property
    def n_rows(self) -> int:
        return sum(part.n_rows for part in self.partitions)

    @property
    def n_neg(self) -> int:
        return self.n_rows - self.n_pos

    @property
    def n_features(self) -> int:
        return len(self.features)

    @property
    def is_sparse(self) -> bool:
        """Whether the codes are ``SparseCodes``, which only some learners can use."""
        return self.partitions[0].is_sparse

    @cached_property
    def class_weights(self) -> tuple[int, int]:
        """Weight of the negatives and of the positives, in units."""
        positive = sum(int(p.weight[: p.n_pos].sum(dtype=np.int64)) for p in self.partitions)
        everything = sum(int(p.weight.sum(dtype=np.int64)) for p in self.partitions)
        return everything - positive, positive

    @cached_property
    def row_unit(self) -> float:
        """The unit of weights, scaled up where all of them count for less than their rows.

        For rules that take weights for numbers of rows: weights that add up to 1 would say that
        there are no rows. Whole weights are never less than the rows, and stay.
        """
        return self.weight_unit * max(
            1.0, self.n_rows / (sum(self.class_weights) * self.weight_unit)
        )

    @cached_property
    def class_rows(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Places in the table of the negatives and of the positives, in order."""
        negative = np.concatenate([part.rows[part.n_pos :] for part in self.partitions])
        positive = np.concatenate([part.rows[: part.n_pos] for part in self.partitions])
        return np.sort(negative), np.sort(positive)

    @cached_property
    def n_codes(self) -> int:
        """Number of codes of the feature that has most, that of missing values included."""
        return 1 + max(feature.n_bins for feature in self.features)

    def split(self, n_partitions: int) -> "RankingData":
        """The same rows cut into ``n_partitions`` blocks by their place in the table."""
        if n_partitions < 1:
            raise ValueError(f"n_partitions is {n_partitions}; it must be 1 or more")
        edges = np.linspace(0, self._last_row + 1, n_partitions + 1)
        blocks = [
            part.take((part.rows >= low) & (part.rows < high))
            for low, high in pairwise(edges)
            for part in self.partitions
        ]
        return replace(self, partitions=tuple(blocks))

    def take(self, chosen: npt.NDArray[np.bool_]) -> "RankingData":
        """The rows whose place in the table is marked in ``chosen``."""
        return replace(
            self, partitions=tuple(part.take(chosen[part.rows]) for part in self.partitions)
        )

    def take_features(self, kept: npt.NDArray[np.intp]) -> "RankingData":
        """The same rows with some of the features, given by their positions; not for sparse codes.

        Examples
        --------
        >>> from auctor.data import prepare
        >>> data = prepare([[1.0, 5.0], [2.0, 5.0], [3.0, 6.0]], [0, 1, 1])
        >>> data.take_features(np.array([1])).features[0].name
        'x1'
        """
        features = tuple(self.features[j] for j in kept)
        parts = tuple(
            replace(part, codes=np.ascontiguousarray(part.codes[kept])) for part in self.partitions
        )
        return replace(self, features=features, partitions=parts)

    @property
    def _last_row(self) -> int:
        return max(int(part.rows.max(initial=-1)) for part in self.partitions)
