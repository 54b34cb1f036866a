"""The kernels of the metrics against loops over all rows."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.kernels import roc
from tests.reference import metrics as slow

# A coarse grid makes ties, the extremes make overflow and infinities.
FEW = st.integers(-3, 3).map(float)
WILD = st.floats(allow_nan=False)
SCORES = st.lists(st.one_of(FEW, WILD), min_size=1, max_size=12).map(
    lambda values: np.sort(np.array(values))
)
FINITE = st.lists(st.integers(-6, 6).map(lambda i: i / 10), min_size=1, max_size=12).map(
    lambda values: np.sort(np.array(values))
)


@given(st.lists(st.tuples(FEW, st.booleans()), min_size=1, max_size=20))
def test_split_keeps_every_value_in_row_order(rows):
    values = np.array([value for value, _ in rows])
    positive = np.array([flag for _, flag in rows])
    pos, neg = roc.split_classes(values, positive, int(positive.sum()))
    assert pos.tolist() == values[positive].tolist()
    assert neg.tolist() == values[~positive].tolist()


@given(SCORES, SCORES)
def test_counts_equal_counts_of_all_pairs(pos, neg):
    doubled = (neg < pos[:, None]).sum() + (neg <= pos[:, None]).sum()
    assert roc.count_double_wins(pos, neg) == int(doubled)
    assert roc.count_below(pos, neg).tolist() == (neg < pos[:, None]).sum(axis=1).tolist()
    assert roc.count_at_most(pos, neg).tolist() == (neg <= pos[:, None]).sum(axis=1).tolist()


@given(FINITE, FINITE, st.sampled_from([-0.3, 0.0, 0.1, 0.2, 0.30000000000000004, 0.3, 2.0]))
def test_margin_compares_the_rounded_difference(pos, neg, rho):
    expected = (pos[:, None] - neg >= rho).sum(axis=1)
    assert roc.count_margin(pos, neg, rho).tolist() == expected.tolist()


@given(SCORES, SCORES)
def test_placements_equal_the_pairs(pos, neg):
    psi = np.array([[int(2 * slow.kernel_of_pair(a, b)) for b in neg] for a in pos])
    placed_pos, placed_neg = roc.double_placements(pos, neg)
    assert placed_pos.tolist() == psi.sum(axis=1).tolist()
    assert placed_neg.tolist() == psi.sum(axis=0).tolist()


@given(SCORES, SCORES, st.randoms(use_true_random=False))
def test_weighted_wins_equal_the_rows_repeated(pos, neg, random):
    times_pos = np.array([random.randint(0, 3) for _ in pos])
    times_neg = np.array([random.randint(0, 3) for _ in neg])
    doubled = roc.double_weighted_wins(
        roc.count_below(pos, neg),
        roc.count_at_most(pos, neg),
        times_pos.astype(np.float64),
        times_neg.astype(np.float64),
    )
    many_pos, many_neg = np.repeat(pos, times_pos), np.repeat(neg, times_neg)
    pairs = [slow.kernel_of_pair(a, b) for a in many_pos for b in many_neg]
    assert doubled == 2 * sum(pairs)


@given(SCORES, SCORES)
def test_curve_has_one_step_per_distinct_score(pos, neg):
    thresholds, count_pos, count_neg = roc.curve_steps(pos, neg)
    distinct = np.unique(np.concatenate([pos, neg]))[::-1]
    assert thresholds.tolist() == [np.inf, *distinct.tolist()]
    assert count_pos.tolist() == [0, *((pos >= t).sum() for t in distinct)]
    assert count_neg.tolist() == [0, *((neg >= t).sum() for t in distinct)]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=15))
def test_hull_is_the_best_chord_and_bends_at_every_corner(steps):
    x = np.cumsum([0, *(dx for dx, _ in steps)]).astype(np.float64)
    y = np.cumsum([0, *(dy for _, dy in steps)]).astype(np.float64)
    corners = roc.upper_hull(x, y)
    points = list(zip(x.tolist(), y.tolist(), strict=True))
    hull = [points[corner] for corner in corners]
    assert hull[0] == points[0] and hull[-1] == points[-1]
    for at in x:
        assert slow.hull_height(hull, at) == pytest.approx(slow.hull_height(points, at), abs=1e-12)
    for (x0, y0), (x1, y1), (x2, y2) in zip(hull, hull[1:], hull[2:], strict=False):
        assert (y1 - y0) * (x2 - x1) > (y2 - y1) * (x1 - x0)


def test_curve_of_one_row_per_class_is_three_points_or_two():
    apart = roc.curve_steps(np.array([2.0]), np.array([1.0]))
    tied = roc.curve_steps(np.array([1.0]), np.array([1.0]))
    assert apart[1].tolist() == [0, 1, 1] and apart[2].tolist() == [0, 0, 1]
    assert tied[1].tolist() == [0, 1] and tied[2].tolist() == [0, 1]


def test_number_of_pairs_is_exact_past_32_bits():
    pos, neg = np.ones(70_000), np.zeros(70_000)
    assert roc.count_double_wins(pos, neg) == 9_800_000_000


@pytest.mark.parametrize("pos", [[np.nan], [0.0, np.nan], [np.nan, np.nan, 1.0]])
def test_walks_end_where_scores_are_nan(pos):
    """NaN is refused before; were it not, a loop without end would be deaf to Ctrl-C."""
    neg = np.array([np.nan, 0.0, np.nan])
    assert roc.count_double_wins(np.array(pos), neg) >= 0
    assert len(roc.double_placements(np.array(pos), neg)[0]) == len(pos)
