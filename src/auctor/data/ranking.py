"""RankingData: what every learner works on."""

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Indices, Ints
from auctor.data.copies import mostly_copies
from auctor.data.features import Feature
from auctor.data.sparse import SparseCodes
from auctor.data.weights import effective_rows


@dataclass(frozen=True, eq=False)
class Partition:
    """A block of rows, the positives in front.

    With the classes apart, a histogram of one class is a run over neighbouring rows:
    no kernel has to look up a row's class.
    """

    # An array (features, rows) of uint8 or uint16; SparseCodes for the learners that ask for
    # them, which is why the others need not look.
    codes: Any
    weight: npt.NDArray[np.uint32]  # whole numbers: only their proportions count
    rows: Ints  # the row's place in the table, absent rows not counted
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
    def class_slices(self) -> tuple[slice, slice]:
        """(slice of the positives, slice of the negatives), in the order of the rows.

        Examples
        --------
        >>> from auctor.data import prepare
        >>> part = prepare([[1.0], [2.0], [3.0]], [0, 1, 1]).partitions[0]
        >>> positive, negative = part.class_slices
        >>> part.rows[positive].tolist(), part.rows[negative].tolist()
        ([1, 2], [0])
        """
        return slice(0, self.n_pos), slice(self.n_pos, self.n_rows)

    @property
    def positive(self) -> Bools:
        """The class of each row."""
        return np.arange(self.n_rows) < self.n_pos

    def take(self, chosen: Bools) -> "Partition":
        """The chosen rows as a partition of their own."""
        if self.is_sparse:
            codes = self.codes.take(chosen)
        else:
            codes = np.ascontiguousarray(self.codes[:, chosen])
        n_pos = int(chosen[: self.n_pos].sum())
        return Partition(codes, self.weight[chosen], self.rows[chosen], n_pos)


@dataclass(frozen=True, eq=False)
class RankingData:
    """A validated, binned table of two classes, in partitions of rows.

    ``rows_per_unit`` is the number of rows that a unit of weight of each class (negative,
    positive) stands for, where weights count copies of a row; None where they say how much a
    row matters. ``copies`` has for each place in the table that of the row's first copy, None
    where there are none.
    """

    features: tuple[Feature, ...]
    partitions: tuple[Partition, ...]
    classes: npt.NDArray[Any]  # (negative, positive)
    rows_per_unit: tuple[float, float] | None = None
    copies: Ints | None = None

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
        positive, negative = (
            sum(int(part.weight[rows].sum(dtype=np.int64)) for part, rows in slices)
            for slices in self._class_slices
        )
        return negative, positive

    @cached_property
    def effective_rows(self) -> tuple[float, float]:
        """How many negatives and positives of equal weight would tell as much (Kish).

        For rules that ask for numbers of rows: noise, automatic penalties, smallest leaves. The
        scale of the weights does not show. Where at least half of a class are copies of other
        rows, each group of copies is one row of their weight.
        """
        if self.rows_per_unit is not None:
            units = zip(self.class_weights, self.rows_per_unit, strict=True)
            negative, positive = (weight * unit for weight, unit in units)
            return negative, positive
        return self._effective_rows(0), self._effective_rows(1)

    def _effective_rows(self, label: int) -> float:
        slices = self._class_slices[0 if label else 1]
        if self.copies is None or not self.is_copied[label]:
            return effective_rows(part.weight[rows] for part, rows in slices)
        group_weight = np.zeros(len(self.copies), dtype=np.int64)
        for part, rows in slices:
            group = self.copies[part.rows[rows]]
            np.add.at(group_weight, group, part.weight[rows].astype(np.int64))
        return effective_rows([group_weight])

    @cached_property
    def is_copied(self) -> tuple[bool, bool]:
        """Whether at least half of the negatives, and of the positives, are copies of others."""
        negative, positive = (mostly_copies(self.copies, rows) for rows in self.class_rows)
        return negative, positive

    @cached_property
    def copy_groups(self) -> Ints | None:
        """``copies`` of the classes that are mostly copies, other rows alone; None without such."""
        if self.copies is None or not any(self.is_copied):
            return None
        groups = self.copies.copy()
        for rows, is_copied in zip(self.class_rows, self.is_copied, strict=True):
            groups[rows] = groups[rows] if is_copied else rows
        return groups

    @cached_property
    def row_units(self) -> tuple[float, float]:
        """Effective rows that a unit of weight of the negatives and the positives stands for."""
        pairs = zip(self.effective_rows, self.class_weights, strict=True)
        negative, positive = (rows / weight if weight else 1.0 for rows, weight in pairs)
        return negative, positive

    @cached_property
    def row_unit(self) -> float:
        """The same of both classes together, for what depends on their proportion."""
        return sum(self.effective_rows) / sum(self.class_weights)

    @property
    def mean_unit(self) -> float:
        """Rows of the table to a unit of weight: k of n rows are the share k / n of the weight."""
        if self.rows_per_unit is not None:
            return self.rows_per_unit[0]
        return self.n_rows / sum(self.class_weights)

    @cached_property
    def class_rows(self) -> tuple[Ints, Ints]:
        """Places in the table of the negatives and of the positives, in order."""
        positive, negative = (
            np.sort(np.concatenate([part.rows[rows] for part, rows in slices]))
            for slices in self._class_slices
        )
        return negative, positive

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

    def take(self, chosen: Bools) -> "RankingData":
        """The rows whose place in the table is marked in ``chosen``."""
        return replace(
            self, partitions=tuple(part.take(chosen[part.rows]) for part in self.partitions)
        )

    def take_features(self, kept: Indices) -> "RankingData":
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
    def _class_slices(self) -> tuple[list[tuple[Partition, slice]], list[tuple[Partition, slice]]]:
        """The partitions with their slice of the positives, and with that of the negatives."""
        pairs = [(part, part.class_slices) for part in self.partitions]
        return [(part, pos) for part, (pos, _) in pairs], [(part, neg) for part, (_, neg) in pairs]

    @property
    def _last_row(self) -> int:
        return max(int(part.rows.max(initial=-1)) for part in self.partitions)
