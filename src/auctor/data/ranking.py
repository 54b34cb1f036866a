"""RankingData: the binned table that every learner works on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from auctor._cached import cached
from auctor._checks import check_whole
from auctor._typing import Bools, Indices, Ints
from auctor.data.copies import mostly_copies
from auctor.data.features import Feature
from auctor.data.group import ALONE, Group
from auctor.data.row_arrays import EmptyArray, row_blocks, take_rows
from auctor.data.sparse import SparseCodes
from auctor.data.weights import effective_rows


class Codes(Protocol):
    """Codes (features, rows): an array of uint8 or uint16, or `SparseCodes`.

    Only learners that ask for sparse codes get them. Dense codes can be indexed like any array,
    sparse codes only by a feature.
    """

    @property
    def shape(self) -> tuple[int, ...]: ...
    def __getitem__(self, key: Any, /) -> npt.NDArray[Any]: ...


@dataclass(frozen=True, eq=False)
class Partition:
    """A block of rows, positives first.

    The rows of each class are contiguous, so that a kernel which makes the histogram of a class
    need not look up the class of each row.

    Attributes
    ----------
    codes : array of shape (n_features, n_rows), or SparseCodes
        The number of the bin of each value; 0 for missing values.
    weight : ndarray of shape (n_rows,)
        Whole weights; only their proportions matter.
    rows : ndarray of shape (n_rows,)
        The index of each row in the table, not counting rows of weight 0.
    n_pos : int
        Number of positives.
    empty : function
        Makes an array for a copy of dense codes, as ``np.empty`` does. Codes in a file are copied
        to another file, so that holding out rows needs no memory for them.
    empty_rows : function
        Makes an array with a number for each row, which is in a file if memory is short. Learners
        ask ``new_rows`` for such arrays.
    """

    codes: Codes
    weight: npt.NDArray[np.uint32]
    rows: Ints
    n_pos: int
    empty: EmptyArray = np.empty
    empty_rows: EmptyArray = np.empty

    def __post_init__(self) -> None:
        for array in (self.weight, self.rows, self.codes):
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    @property
    def n_rows(self) -> int:
        return len(self.rows)

    def new_rows(self, dtype: npt.DTypeLike, value: float | None = None) -> npt.NDArray[Any]:
        """An array with a number for each row: ``value``, or not initialised if it is None."""
        out = self.empty_rows((self.n_rows,), dtype)
        if value is not None:
            out[:] = value
        return out

    @property
    def is_sparse(self) -> bool:
        """Whether the codes are ``SparseCodes``."""
        return isinstance(self.codes, SparseCodes)

    @property
    def dense_codes(self) -> npt.NDArray[Any]:
        """``codes`` as an array; a TypeError if they are sparse."""
        if isinstance(self.codes, np.ndarray):
            return self.codes
        raise TypeError("the codes are sparse; prepare the data with keep_sparse=False")

    @property
    def sparse_codes(self) -> SparseCodes:
        """``codes`` as `SparseCodes`; a TypeError if they are dense."""
        if isinstance(self.codes, SparseCodes):
            return self.codes
        raise TypeError("the codes are dense; prepare a sparse matrix with keep_sparse=True")

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
        """Whether each row is positive."""
        return np.arange(self.n_rows) < self.n_pos

    def take(self, chosen: Bools) -> "Partition":
        """A partition of the chosen rows."""
        codes: Codes
        if isinstance(self.codes, SparseCodes):
            codes = self.codes.take(chosen)
        else:
            codes = self._copy(range(len(self.dense_codes)), chosen)
        weight, rows = (take_rows(a, chosen, self.empty_rows) for a in (self.weight, self.rows))
        n_pos = int(chosen[: self.n_pos].sum())
        return replace(self, codes=codes, weight=weight, rows=rows, n_pos=n_pos)

    def take_features(self, kept: Indices) -> "Partition":
        """A partition of all rows with some of the features; not for sparse codes."""
        return replace(self, codes=self._copy(kept.tolist(), None))

    def _copy(self, features: Sequence[int], chosen: Bools | None) -> npt.NDArray[Any]:
        """The codes of some features and of the chosen rows; None chooses all rows."""
        codes, start = self.dense_codes, 0
        n_rows = self.n_rows if chosen is None else int(np.count_nonzero(chosen))
        out = self.empty((len(features), n_rows), codes.dtype)
        for rows in row_blocks(self.n_rows):
            own = np.arange(rows.stop - rows.start) if chosen is None else chosen[rows].nonzero()[0]
            for i, j in enumerate(features):
                out[i, start : start + len(own)] = codes[j, rows][own]
            start += len(own)
        return out


@dataclass(frozen=True, eq=False)
class RankingData:
    """A validated, binned table of two classes, in one or more partitions of rows.

    Attributes
    ----------
    features : tuple of Feature
        The columns with their bins.
    partitions : tuple of Partition
        Blocks of rows.
    classes : ndarray of shape (2,)
        The labels (negative, positive).
    rows_per_unit : tuple of float or None
        For frequency weights: the number of rows that a unit of weight of each class (negative,
        positive) counts for. None for other weights.
    copies : ndarray or None
        For each row of the table the index of the first row that is a copy of it (see
        ``auctor.data.copies``); None if there are no copies.
    group : Group
        The processes that hold the rows. ``partitions`` are those of this process; all numbers of
        rows and all weights are those of the whole table.
    """

    features: tuple[Feature, ...]
    partitions: tuple[Partition, ...]
    classes: npt.NDArray[Any]
    rows_per_unit: tuple[float, float] | None = None
    copies: Ints | None = None
    group: Group = ALONE

    def __post_init__(self) -> None:
        self.classes.flags.writeable = False
        if self.group.size > 1:
            # Now, because all members of a group must ask for them at the same time, and threads
            # may ask for them later.
            _ = self._counts

    @cached
    def _counts(self) -> tuple[int, int, int, int]:
        """Rows and weight of the negatives, rows and weight of the positives."""
        counts = np.zeros((2, 2), dtype=np.int64)
        for label, slices in enumerate(reversed(self._class_slices)):
            for part, rows in slices:
                counts[label] += rows.stop - rows.start, part.weight[rows].sum(dtype=np.int64)
        n_neg, weight_neg, n_pos, weight_pos = self.group.sum(counts).ravel().tolist()
        return n_neg, weight_neg, n_pos, weight_pos

    @property
    def n_pos(self) -> int:
        return self._counts[2]

    @property
    def n_rows(self) -> int:
        return self._counts[0] + self._counts[2]

    @property
    def n_own_rows(self) -> int:
        """The number of rows of this process."""
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

    @property
    def class_weights(self) -> tuple[int, int]:
        """Weight of the negatives and of the positives, in units."""
        return self._counts[1], self._counts[3]

    @cached
    def effective_rows(self) -> tuple[float, float]:
        """Kish's effective number of negatives and of positives.

        It is used wherever a rule depends on a number of rows: noise, automatic penalties, smallest
        leaves. It does not depend on the scale of the weights. If at least half of a class are
        copies of other rows, each group of copies counts as one row with their total weight;
        groups of different sizes reduce the number of groups to a half at most.
        """
        if self.rows_per_unit is not None:
            units = zip(self.class_weights, self.rows_per_unit, strict=True)
            negative, positive = (weight * unit for weight, unit in units)
            return negative, positive
        return self._effective_rows(0), self._effective_rows(1)

    def _effective_rows(self, label: int) -> float:
        slices = self._class_slices[0 if label else 1]
        if self.copies is None or not self.is_copied[label]:
            return effective_rows((part.weight[rows] for part, rows in slices), self.group)
        weight_and_size = np.zeros((2, len(self.copies)), dtype=np.int64)
        for part, rows in slices:
            own_rows, own_weight = part.rows[rows], part.weight[rows]
            for block in row_blocks(len(own_rows)):
                group = self.copies[own_rows[block]]
                np.add.at(weight_and_size[0], group, own_weight[block].astype(np.int64))
                np.add.at(weight_and_size[1], group, 1)
        weight, size = self.group.sum(weight_and_size)
        # Oversampling makes groups of similar sizes. A few groups far larger than the others are
        # rows that are frequent in the population, and their weight must not outweigh all others.
        mean_weight = weight // np.maximum(size, 1)
        return max(effective_rows([weight]), effective_rows([mean_weight]) / 2)

    @cached
    def is_copied(self) -> tuple[bool, bool]:
        """Whether at least half of the negatives, and of the positives, are copies of others."""
        negative, positive = (mostly_copies(self.copies, rows) for rows in self.class_rows)
        return negative, positive

    @cached
    def copy_groups(self) -> Ints | None:
        """``copies`` within the classes that are mostly copies; None if no class is.

        Each row of another class is a group of its own.
        """
        if self.copies is None or not any(self.is_copied):
            return None
        groups = self.copies.copy()
        for rows, is_copied in zip(self.class_rows, self.is_copied, strict=True):
            groups[rows] = groups[rows] if is_copied else rows
        return groups

    @cached
    def row_units(self) -> tuple[float, float]:
        """Number of effective rows per unit of weight, of the negatives and of the positives."""
        pairs = zip(self.effective_rows, self.class_weights, strict=True)
        negative, positive = (rows / weight if weight else 1.0 for rows, weight in pairs)
        return negative, positive

    @cached
    def row_unit(self) -> float:
        """Number of effective rows per unit of weight, of both classes together."""
        return sum(self.effective_rows) / sum(self.class_weights)

    @property
    def mean_unit(self) -> float:
        """Rows of the table per unit of weight, so that k of n rows have k / n of the weight."""
        if self.rows_per_unit is not None:
            return self.rows_per_unit[0]
        return self.n_rows / sum(self.class_weights)

    @cached
    def class_rows(self) -> tuple[Ints, Ints]:
        """Indices in the table of the negatives and of the positives, in increasing order.

        They are those of all processes: 8 bytes for each row of the whole table.
        """
        own = [_join([part.rows[rows] for part, rows in slices]) for slices in self._class_slices]
        positive, negative = (
            _in_order(_join(rows)) for rows in zip(*self.group.gather(own), strict=True)
        )
        return negative, positive

    @cached
    def n_codes(self) -> int:
        """Largest number of codes of a feature, including the code of missing values."""
        return 1 + max(feature.n_bins for feature in self.features)

    def split(self, n_partitions: int) -> "RankingData":
        """The same rows in ``n_partitions`` blocks of neighbouring rows of the table."""
        check_whole(n_partitions, "n_partitions")
        edges = np.linspace(0, self._last_row + 1, n_partitions + 1)
        blocks = [
            part.take((part.rows >= low) & (part.rows < high))
            for low, high in pairwise(edges)
            for part in self.partitions
        ]
        return replace(self, partitions=tuple(blocks))

    def take(self, chosen: Bools) -> "RankingData":
        """The rows of the table for which ``chosen`` is True."""
        return replace(
            self, partitions=tuple(part.take(chosen[part.rows]) for part in self.partitions)
        )

    def take_features(self, kept: Indices) -> "RankingData":
        """The same rows with some of the features, given by their indices; not for sparse codes.

        Examples
        --------
        >>> from auctor.data import prepare
        >>> data = prepare([[1.0, 5.0], [2.0, 5.0], [3.0, 6.0]], [0, 1, 1])
        >>> data.take_features(np.array([1])).features[0].name
        'x1'
        """
        features = tuple(self.features[j] for j in kept)
        parts = tuple(part.take_features(kept) for part in self.partitions)
        return replace(self, features=features, partitions=parts)

    @property
    def _class_slices(self) -> tuple[list[tuple[Partition, slice]], list[tuple[Partition, slice]]]:
        """The partitions with their slice of the positives, and with that of the negatives."""
        pairs = [(part, part.class_slices) for part in self.partitions]
        return [(part, pos) for part, (pos, _) in pairs], [(part, neg) for part, (_, neg) in pairs]

    @property
    def _last_row(self) -> int:
        return max(int(part.rows.max(initial=-1)) for part in self.partitions)


def _join(arrays: Sequence[Ints]) -> Ints:
    """The arrays one after the other; a single one is not copied."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _in_order(rows: Ints) -> Ints:
    """The rows in increasing order; rows of one partition of a table are not copied."""
    return rows if bool((rows[1:] > rows[:-1]).all()) else np.sort(rows)
