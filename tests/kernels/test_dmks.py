"""The best threshold and the best move of a coefficient, against trying everything."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.kernels.dmks import (
    Bounds,
    Column,
    Cut,
    Rows,
    add_column,
    best_cut,
    best_move,
    crossings,
)
from tests.reference.dmks import Labelled, ks_at, slow_cut, slow_move

GAP = 2.0**-33
CLEARANCE = 2.0**-24

# Few values tie within and between the classes; neighbours lie one bit, or one clearance, apart.
few = st.integers(-3, 3).map(float)
near = st.sampled_from([1.0, float(np.nextafter(1.0, 2)), 1.0 + GAP / 2, 1.0 + 3 * GAP, 1 + 2e-7])
scores_strategy = st.one_of(few, near, st.floats(-4, 4, width=32))
x_strategy = st.one_of(few, near, near.map(lambda v: -v), st.floats(-2, 2, width=16))


def as_rows(n_neg, weight):
    weight = np.array(weight, dtype=np.int64)
    return Rows(weight, n_neg, int(weight[:n_neg].sum()), int(weight[n_neg:].sum()))


def labelled(rows):
    return Labelled(np.arange(len(rows.weight)) >= rows.n_neg, rows.weight)


@st.composite
def problems(draw):
    """Scores, a column with zeros, and weights of one to six rows per class."""
    n_neg, n_pos = draw(st.integers(1, 6)), draw(st.integers(1, 6))
    n = n_neg + n_pos

    def some(strategy):
        return draw(st.lists(strategy, min_size=n, max_size=n))

    scores, x = np.array(some(scores_strategy)), np.array(some(x_strategy), dtype=np.float64)
    return scores, x, as_rows(n_neg, some(st.integers(1, 4)))


def column_of(x):
    position = np.flatnonzero(x)
    return Column(position, x[position])


def fast_cut(scores, rows, gap=GAP):
    return Cut(*best_cut(scores, np.argsort(scores), rows, gap))


def fast_move(scores, cut, x, rows, bounds):
    column = column_of(x)
    crossing = crossings(scores, cut.threshold, column)
    return best_move(crossing, np.argsort(crossing), column, rows, cut, bounds)


@given(problems())
def test_cut_equals_that_of_every_gap(problem):
    scores, _, rows = problem
    cut = fast_cut(scores, rows)
    ks, threshold = slow_cut(scores, labelled(rows), GAP)
    assert cut.ks == ks
    assert cut.threshold == threshold
    assert ks_at(scores, cut.threshold, labelled(rows)) == cut.ks
    above = scores > cut.threshold
    assert cut.above_neg == rows.weight[: rows.n_neg][above[: rows.n_neg]].sum()
    assert cut.above_pos == rows.weight[rows.n_neg :][above[rows.n_neg :]].sum()


@given(problems(), st.floats(0.1, 20.0), st.floats(0.1, 20.0), st.sampled_from([0.25, 1.0]))
def test_move_equals_that_of_every_interval(problem, low, high, step):
    scores, x, rows = problem
    cut = fast_cut(scores, rows)
    value, move = fast_move(scores, cut, x, rows, Bounds(-low, high, step, CLEARANCE))
    slow = slow_move(scores, cut.threshold, x, labelled(rows), -low, high, step, CLEARANCE)
    assert (value, move) == pytest.approx(slow, abs=1e-12)
    if value > -1.0:
        assert -low <= move <= high
        moved = scores + move * x
        assert ks_at(moved, cut.threshold, labelled(rows)) == value
        distance = np.abs(moved - cut.threshold)[x != 0]
        assert (distance > CLEARANCE * (1 - 1e-6)).all()


@given(problems(), st.floats(-5.0, 5.0))
def test_no_other_value_is_better(problem, other):
    scores, x, rows = problem
    cut = fast_cut(scores, rows)
    value, _ = fast_move(scores, cut, x, rows, Bounds(-5.0, 5.0, 1.0, CLEARANCE))
    moved = scores + other * x
    if (np.abs(moved - cut.threshold)[x != 0] > 2 * CLEARANCE).all():
        assert ks_at(moved, cut.threshold, labelled(rows)) <= value


@given(problems())
def test_a_negated_column_makes_the_negated_move(problem):
    scores, x, rows = problem
    cut, bounds = fast_cut(scores, rows), Bounds(-5.0, 5.0, 1.0, CLEARANCE)
    value, _ = fast_move(scores, cut, x, rows, bounds)
    turned, _ = fast_move(scores, cut, -x, rows, bounds)
    assert value == turned


@given(problems(), st.integers(2, 2**20))
def test_the_unit_of_the_weights_does_not_show(problem, unit):
    scores, x, rows = problem
    larger = as_rows(rows.n_neg, rows.weight * unit)
    bounds = Bounds(-5.0, 5.0, 1.0, CLEARANCE)
    cut, other = fast_cut(scores, rows), fast_cut(scores, larger)
    assert (cut.ks, cut.threshold) == (other.ks, other.threshold)
    assert fast_move(scores, cut, x, rows, bounds) == fast_move(scores, other, x, larger, bounds)


def test_scores_that_rounding_parts_hold_no_threshold():
    rows = as_rows(1, [1, 1])
    apart = np.array([1.0, 1.0 + GAP])
    assert fast_cut(apart, rows).ks == 1.0
    cut = fast_cut(np.array([1.0, 1.0 + GAP / 2]), rows)
    assert (cut.ks, cut.threshold) == (0.0, 0.0)
    assert (cut.above_neg, cut.above_pos) == (1, 1)


def test_an_interval_without_end_is_entered_by_a_step():
    rows = as_rows(1, [1, 1])
    scores, x = np.array([0.0, -1.0]), np.array([0.0, 1.0])
    cut = Cut(0.0, 1.0, 0, 0)
    assert fast_move(scores, cut, x, rows, Bounds(-90.0, 90.0, 4.0, 0.0)) == (1.0, 2.0 + 4.0)
    assert fast_move(scores, cut, -x, rows, Bounds(-90.0, 90.0, 4.0, 0.0)) == (1.0, -2.0 - 4.0)
    assert fast_move(scores, cut, x, rows, Bounds(-90.0, 4.0, 4.0, 0.0)) == (1.0, 3.0)


def test_the_widest_of_equal_intervals_is_taken():
    rows = as_rows(2, [1, 1, 1])
    # The positive crosses at 1; negatives follow at 2 and fall back at 3, and rise at 9.
    scores, x = np.array([-2.0, 1.0 - 9.0, -1.0]), np.array([1.0, 1.0, 1.0])
    cut = Cut(0.0, 0.0, 0, 0)
    assert fast_move(scores, cut, x, rows, Bounds(-90.0, 90.0, 1.0, 0.0)) == (1.0, 1.5)
    scores, x = np.array([-2.0, -9.0, 4.0]), np.array([1.0, 1.0, -1.0])
    cut = Cut(1.0, 0.0, 0, 1)
    assert fast_move(scores, cut, x, rows, Bounds(-9.0, 90.0, 8.0, 0.0)) == (1.0, -3.5)


def test_a_blocked_column_has_no_move():
    rows = as_rows(1, [1, 1])
    scores, x = np.array([0.0, 1.0]), np.array([1e-9, 1.0])
    cut = Cut(1.0, 0.5, 0, 1)
    assert fast_move(scores, cut, x, rows, Bounds(-5.0, 5.0, 1.0, 1e9)) == (-1.0, 0.0)


def test_whole_weights_beyond_float_precision_are_exact():
    rows = as_rows(2, [2**31, 1, 2**31, 1])
    scores = np.array([0.0, 2.0, 1.0, 3.0])
    cut = fast_cut(scores, rows)
    assert (cut.above_neg, cut.above_pos) == (1, 2**31 + 1)
    assert cut.ks == slow_cut(scores, labelled(rows), GAP)[0]


def test_columns_are_added_where_they_are_not_zero():
    scores = np.array([1.0, 2.0, 3.0])
    add_column(scores, Column(np.array([0, 2]), np.array([1.0, -1.0])), 0.5)
    assert scores.tolist() == [1.5, 2.0, 2.5]
