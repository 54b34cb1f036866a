"""Codes of a sparse table: for each feature, the rows that differ from its usual code."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from auctor.data.features import Feature


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """Codes (features, rows) of which only those are kept that are not their feature's default.

    All codes of all features stand in one line of cells: code c of feature j is cell
    ``first[j] + c``. Features may so differ in their number of codes, and a histogram
    of the cells is no larger than it must be. The rows of a cell are
    ``rows[starts[cell] : starts[cell + 1]]`` in increasing order; the positives, which are
    first in a partition, end at ``middles[cell]``. The cell of a default is empty.
    """

    first: npt.NDArray[np.int64]  # (features + 1)
    default: npt.NDArray[np.int64]  # (features)
    starts: npt.NDArray[np.int64]  # (cells + 1)
    middles: npt.NDArray[np.int64]  # (cells)
    rows: npt.NDArray[np.uint32]
    n_rows: int

    def __post_init__(self) -> None:
        for array in (self.first, self.default, self.starts, self.middles, self.rows):
            array.flags.writeable = False

    @property
    def shape(self) -> tuple[int, int]:
        """(features, rows), as that of dense codes."""
        return len(self.default), self.n_rows

    @property
    def n_cells(self) -> int:
        """Number of codes of all features together."""
        return len(self.middles)

    def __getitem__(self, j: int) -> npt.NDArray[np.uint16]:
        """The code of every row for feature j, as a line of dense codes has it."""
        low, high = self.first[j], self.first[j + 1]
        line = np.full(self.n_rows, self.default[j], dtype=np.uint16)
        sizes = np.diff(self.starts[low : high + 1])
        codes = np.repeat(np.arange(high - low, dtype=np.uint16), sizes)
        line[self.rows[self.starts[low] : self.starts[high]]] = codes
        return line

    def take(self, chosen: npt.NDArray[np.bool_]) -> "SparseCodes":
        """The codes of the chosen rows."""
        kept = chosen[self.rows]
        kept_before = np.concatenate([[0], np.cumsum(kept)])
        place = np.cumsum(chosen) - 1
        return SparseCodes(
            self.first,
            self.default,
            kept_before[self.starts],
            kept_before[self.middles],
            place[self.rows[kept]].astype(np.uint32),
            int(chosen.sum()),
        )


def gather_codes(
    features: Sequence[Feature],
    default: npt.NDArray[np.int64],
    entries: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]],
    n_rows: int,
    n_pos: int,
) -> SparseCodes:
    """Sparse codes from (feature, row, code) of the entries, each row once in a feature.

    Rows are places in the partition. Entries of a default code are dropped.
    """
    first = np.concatenate([[0], np.cumsum([feature.n_bins + 1 for feature in features])])
    feature, row, code = entries
    listed = code != default[feature]
    cell, row = (first[feature] + code)[listed], row[listed]
    order = np.lexsort((row, cell))
    n_cells = int(first[-1])
    starts = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=n_cells))])
    middles = starts[:-1] + np.bincount(cell[row < n_pos], minlength=n_cells)
    return SparseCodes(first, default, starts, middles, row[order].astype(np.uint32), n_rows)
