"""The binned table as rows, for weak rankers that are scikit-learn estimators."""

from typing import NamedTuple

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.data import RankingData


class RowTable(NamedTuple):
    """Codes of each row as numbers, its class and weight, in the order of the table."""

    Z: Floats
    positive: Bools
    weight: Floats  # its sum is the effective number of rows
    rows: Ints  # index in the table
    row_units: tuple[float, float]  # effective rows per unit of weight, of negatives and positives


def row_table(data: RankingData) -> RowTable:
    """The rows of all partitions; the result does not depend on the partitions."""
    rows = np.concatenate([part.rows for part in data.partitions])
    order = np.argsort(rows)
    codes = np.concatenate([part.codes for part in data.partitions], axis=1)
    positive = np.concatenate([part.positive for part in data.partitions])
    weight = np.concatenate([part.weight for part in data.partitions]) * data.row_unit
    Z = np.ascontiguousarray(codes[:, order].T, dtype=np.float64)
    negative, positives = (unit / data.row_unit for unit in data.row_units)
    return RowTable(Z, positive[order], weight[order], rows[order], (negative, positives))
