"""The walk over sorted scores, and their cells, where scores are NaN: it ends, within bounds."""

import numpy as np
import pytest

from auctor.kernels.arrays import read_only
from auctor.kernels.scores import count_cells, sweep

ONE = np.ones(3, dtype=np.uint32)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_walk_over_scores_that_are_not_finite_ends(bad):
    neg, pos = np.sort([0.0, bad, 1.0]), np.sort([bad, bad, 0.5])
    wrong, tied, _ = sweep(neg, ONE, pos, ONE, 3, 3)
    assert 0.0 <= wrong + tied <= 9.0


def test_ties_count_once():
    neg, pos = np.array([0.0, 1.0, 1.0]), np.array([1.0, 2.0, 2.0])
    assert sweep(neg, ONE, pos, ONE, 3, 3) == (0.0, 2.0, 1.5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_every_score_has_a_cell(bad):
    counts = np.zeros(4, dtype=np.int64)
    count_cells(np.array([0.0, bad, 1.0]), read_only(ONE), 0.0, 0.25, counts)
    assert counts.sum() == 3
