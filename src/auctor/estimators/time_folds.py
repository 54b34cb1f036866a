"""Folds in the order of time: a period is predicted by a model of the rows before it."""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._checks import is_whole
from auctor._typing import Bools, Floats, Ints
from auctor.data import read_vector
from auctor.data.times import read_moments
from auctor.estimators.folds import Fold


def time_blocks(time: Any, positive: Bools, weight: Floats | None, cv: int) -> Ints:
    """The period of each row, from 0: ``cv`` + 1 periods of about equally many rows.

    Rows of the same time are in the same period.

    Examples
    --------
    >>> months, positive = np.array([3, 3, 1, 1, 1, 1, 2, 2, 2, 2, 4, 4]), np.arange(12) % 2 == 0
    >>> time_blocks(months, positive, None, 2).tolist()
    [2, 2, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2]
    """
    if not is_whole(cv) or cv < 2:
        raise ValueError(f"cv is {cv!r}; give a whole number of folds, 2 or more")
    values = read_vector(time, "time")
    if len(values) != len(positive):
        raise ValueError(
            f"time has {len(values)} values for {len(positive)} rows; give one for each row"
        )
    moments, codes = read_moments(values, "time")
    present = np.ones(len(codes)) if weight is None else (weight > 0).astype(np.float64)
    counts = np.bincount(codes, weights=present, minlength=len(moments))
    middle = (np.cumsum(counts) - counts / 2) / counts.sum()
    block_of = np.minimum((middle * (cv + 1)).astype(np.int64), cv)
    blocks = np.asarray(block_of[codes])
    for k in range(cv + 1):
        rows = (blocks == k) & (present > 0)
        n_pos = int(positive[rows].sum())
        n_neg = int(rows.sum()) - n_pos
        if min(n_pos, n_neg) < 2:
            raise ValueError(
                f"period {k + 1} of {cv + 1} in the order of time has {n_pos} positive and {n_neg} "
                f"negative row(s), and every period needs two of each (time has {len(moments)} "
                "different values, which are not divided); give fewer folds"
            )
    return blocks


def folds_of_blocks(blocks: Ints, groups: npt.NDArray[Any] | None) -> list[Fold]:
    """Each period but the first as a fold, whose training rows are those before it.

    Rows of a group that is tested in a fold do not train the model of that fold.
    """
    folds = []
    for k in range(1, int(blocks.max()) + 1):
        train, test = np.flatnonzero(blocks < k), np.flatnonzero(blocks == k)
        if groups is not None:
            train = train[~np.isin(groups[train], groups[test])]
        folds.append((train, test))
    return folds
