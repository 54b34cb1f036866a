"""Bounds of cells and the searches over them, against every stump tried."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctor.kernels.exact import cells
from auctor.kernels.exact.cells import Cell, make_buffers
from auctor.kernels.exact.sample import AUC, KS, TOP, Sample
from tests.reference import exactboost as slow

METRICS = {"auc": AUC, "ks": KS, "precision_at_k": TOP}
over_metrics = pytest.mark.parametrize("metric", METRICS)
seeds = st.integers(0, 10**6)


def for_kernels(problem):
    """(sample, ranks of the positives, ranks of the negatives) as the kernels take them."""
    given = problem.sample
    sample = Sample(
        given.pos.astype(np.int64),
        given.neg.astype(np.int64),
        given.weight_pos,
        given.weight_neg,
        given.top,
        given.theta,
        given.reach,
    )
    return sample, problem.rank_pos.astype(np.uint32), problem.rank_neg.astype(np.uint32)


def value_of(metric, problem, view, cut, steps):
    """The metric of stumps by definition."""
    above = problem.rank_pos[view] > cut, problem.rank_neg[view] > cut
    return slow.stump_values(metric, problem.sample, *above, np.atleast_1d(steps))


def largest_value(metric, problem):
    return slow.best_stump(
        metric, problem.sample, problem.rank_pos, problem.rank_neg, problem.largest, whole=True
    )[0]


def bound_of(metric, problem, view, cell):
    sample, rank_pos, rank_neg = for_kernels(problem)
    buffers = make_buffers(len(sample.pos), len(sample.neg))
    return cells.cell_bound(METRICS[metric], sample, rank_pos[view], rank_neg[view], cell, buffers)


@over_metrics
@given(
    seed=seeds,
    cuts=st.tuples(st.integers(-1, 4), st.integers(0, 3)),
    steps=st.tuples(st.integers(-28, 28), st.one_of(st.just(0), st.integers(0, 20))),
)
def test_no_stump_of_a_cell_exceeds_its_bound(metric, seed, cuts, steps):
    problem = slow.random_problem(seed, n_views=1)
    cell = Cell(cuts[0], cuts[0] + cuts[1], steps[0], steps[0] + steps[1])
    bound = bound_of(metric, problem, 0, cell)
    inside = np.arange(cell.low, cell.high + 1)
    values = [
        value_of(metric, problem, 0, cut, inside)
        for cut in range(cell.first_cut, cell.last_cut + 1)
    ]
    assert np.max(values) <= bound
    if np.size(values) == 1:
        assert np.max(values) == bound


@over_metrics
@given(seed=seeds, cut=st.integers(-1, 4), step=st.integers(-28, 28))
def test_the_bound_of_one_stump_is_its_metric(metric, seed, cut, step):
    problem = slow.random_problem(seed, n_views=1)
    result = bound_of(metric, problem, 0, Cell(cut, cut, step, step))
    assert result == value_of(metric, problem, 0, cut, step)[0]


@over_metrics
@given(seed=seeds, data=st.data())
def test_a_smaller_cell_has_no_larger_bound(metric, seed, data):
    problem = slow.random_problem(seed, n_views=1)
    first, low = data.draw(st.integers(0, 2)), data.draw(st.integers(-20, 20))
    cell = Cell(first, data.draw(st.integers(first, 4)), low, data.draw(st.integers(low, 28)))
    bound = bound_of(metric, problem, 0, cell)
    for quarter in range(4):
        part = cells.part_of(cell, quarter)
        if part.first_cut <= part.last_cut and part.low <= part.high:
            assert bound_of(metric, problem, 0, part) <= bound


@given(
    first=st.integers(0, 5), more=st.integers(0, 4), low=st.integers(-9, 9), wide=st.integers(0, 7)
)
def test_quarters_hold_every_stump_of_a_cell_once(first, more, low, wide):
    cell = Cell(first, first + more, low, low + wide)
    stumps = [
        (cut, step)
        for quarter in range(4)
        for part in [cells.part_of(cell, quarter)]
        for cut in range(part.first_cut, part.last_cut + 1)
        for step in range(part.low, part.high + 1)
    ]
    assert len(stumps) == len(set(stumps)) == (more + 1) * (wide + 1)
    centre = cells.centre_of(cell)
    assert (centre.first_cut, centre.low) in stumps
    assert (centre.first_cut, centre.low) == (centre.last_cut, centre.high)


@over_metrics
@given(seed=seeds)
def test_branch_and_bound_finds_the_best_of_all_stumps(metric, seed):
    problem = slow.random_problem(seed)
    best, view, cut, step, gap = cells.search_views(
        METRICS[metric], *for_kernels(problem), problem.largest, 0.0, 10**6
    )
    assert gap == 0.0
    assert best == largest_value(metric, problem)
    if view < 0:  # nothing to cut in any view
        assert best == -1.0
    else:
        assert value_of(metric, problem, view, cut, step)[0] == best


@over_metrics
@settings(max_examples=6)
@given(seed=seeds)
def test_every_whole_step_tried_finds_no_more_than_the_breakpoints(metric, seed):
    problem = slow.random_problem(seed)
    steps = np.arange(-problem.largest, problem.largest + 1)
    cuts = slow.every_cut(problem.rank_pos, problem.rank_neg)
    values = [
        slow.stump_values(metric, problem.sample, *above, steps).max() for _, _, *above in cuts
    ]
    assert max(values, default=-1.0) == largest_value(metric, problem)


def test_many_open_cells_are_kept():
    problem = slow.in_finer_units(slow.random_problem(10, 14, 60, 12, 2), 2)
    search = AUC, *for_kernels(problem), problem.largest, 0.0
    assert cells.search_views(*search, 400)[4] > 0.0  # more than the heap holds at first
    best, view, cut, step, gap = cells.search_views(*search, 10**6)
    assert gap == 0.0
    assert best == largest_value("auc", problem) == value_of("auc", problem, view, cut, step)[0]


@over_metrics
@given(seed=seeds, slack=st.sampled_from([1.0, 4.0]))
def test_what_is_found_with_slack_is_within_it(metric, seed, slack):
    problem = slow.random_problem(seed)
    best, *_, gap = cells.search_views(
        METRICS[metric], *for_kernels(problem), problem.largest, slack, 10**6
    )
    assert gap == 0.0
    assert best >= largest_value(metric, problem) - slack


@over_metrics
@given(seed=seeds, max_cells=st.sampled_from([1, 10, 40]))
def test_a_search_cut_short_says_how_much_may_be_hidden(metric, seed, max_cells):
    problem = slow.random_problem(seed)
    value, *_, gap = cells.search_views(
        METRICS[metric], *for_kernels(problem), problem.largest, 0.0, max_cells
    )
    best = largest_value(metric, problem)
    assert value <= best <= value + gap


@over_metrics
@given(seed=seeds, width=st.sampled_from([0, 3]))
def test_bisection_never_claims_more_than_its_stump_has(metric, seed, width):
    problem = slow.random_problem(seed)
    best, view, cut, step = cells.bisect_views(
        METRICS[metric], *for_kernels(problem), problem.largest, width
    )
    assert best <= largest_value(metric, problem)
    if view >= 0:
        assert best == value_of(metric, problem, view, cut, step)[0]
    else:
        assert best == -1.0


def test_bisection_can_miss_what_branch_and_bound_finds():
    missed = 0
    for seed in range(40):
        problem = slow.random_problem(seed)
        best = cells.bisect_views(AUC, *for_kernels(problem), problem.largest, 0)
        missed += best[0] < largest_value("auc", problem)
    assert missed > 0


def test_bisection_gives_up_where_another_view_is_as_good():
    problem = slow.random_problem(3)
    sample, rank_pos, rank_neg = for_kernels(problem)
    buffers = make_buffers(len(sample.pos), len(sample.neg))
    views = rank_pos[0], rank_neg[0]
    perfect = float(len(sample.pos) * len(sample.neg))
    best = cells.bisect(AUC, sample, *views, problem.largest, 0, perfect, buffers)
    assert best == (-1.0, 0, 0)


def test_a_view_without_a_cut_is_passed_over():
    sample = Sample(np.array([1, 2]), np.array([0]), 1.0, 1.0, 1.0, 0.25, 2.0)
    rank_pos = np.array([[3, 3], [0, 1]], dtype=np.uint32)
    rank_neg = np.array([[3], [0]], dtype=np.uint32)
    assert cells.search_views(AUC, sample, rank_pos, rank_neg, 4, 0.0, 1000)[1] == 1
    assert cells.bisect_views(AUC, sample, rank_pos, rank_neg, 4, 0)[1] == 1
    alone = cells.search_views(AUC, sample, rank_pos[:1], rank_neg[:1], 4, 0.0, 1000)
    assert alone[:2] == (-1.0, -1)
