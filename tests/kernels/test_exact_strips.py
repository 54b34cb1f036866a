"""The best stump by strips, against every stump tried and against the search over cells."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctor.kernels.exact import cells, strips
from auctor.kernels.exact.sample import AUC, KS, TOP, Sample, Views
from tests.reference import exactboost as slow

METRICS = {"auc": AUC, "ks": KS, "precision_at_k": TOP}
over_metrics = pytest.mark.parametrize("metric", METRICS)
seeds = st.integers(0, 10**6)


def sample_of(problem):
    given = problem.sample
    return Sample(
        given.pos.astype(np.int64),
        given.neg.astype(np.int64),
        given.weight_pos,
        given.weight_neg,
        given.top,
        given.theta,
        given.reach,
    )


def views_of(problem):
    """Places by rank, and the sorted ranks, in each view."""
    parts = []
    for ranks in (problem.rank_pos, problem.rank_neg):
        parts.append(np.argsort(ranks, axis=1, kind="stable").astype(np.uint32))
        parts.append(np.sort(ranks, axis=1).astype(np.uint32))
    return Views(*parts)


def value_of(metric, problem, view, cut, steps):
    """The metric of stumps by definition."""
    above = problem.rank_pos[view] > cut, problem.rank_neg[view] > cut
    return slow.stump_values(metric, problem.sample, *above, np.atleast_1d(steps))


def largest_value(metric, problem):
    return slow.best_stump(
        metric, problem.sample, problem.rank_pos, problem.rank_neg, problem.largest, whole=True
    )[0]


def search(metric, problem, n_start=8, slack=0.0, max_sweeps=10**6):
    where = METRICS[metric], sample_of(problem), views_of(problem), problem.largest
    return strips.best_stump(*where, n_start, slack, max_sweeps)


def check_best(metric, problem, best):
    """The stump is the best of all, and has the value that the search returns."""
    assert best.gap == 0.0
    assert best.value == largest_value(metric, problem)
    if best.view < 0:
        assert best.value == -1.0
    else:
        assert value_of(metric, problem, best.view, best.cut, best.step)[0] == best.value
        assert abs(best.step) <= problem.largest


@over_metrics
@given(seed=seeds, n_start=st.sampled_from([1, 2, 3, 8]))
def test_the_best_stump_is_the_best_of_all(metric, seed, n_start):
    problem = slow.random_problem(seed)
    check_best(metric, problem, search(metric, problem, n_start))


@over_metrics
@settings(max_examples=15)
@given(seed=seeds)
def test_fine_units_and_more_rows_change_nothing(metric, seed):
    problem = slow.in_finer_units(slow.random_problem(seed, 9, 30, 8, 2), 2**20)
    check_best(metric, problem, search(metric, problem))


@over_metrics
@given(seed=seeds)
def test_strips_and_cells_find_the_same_metric(metric, seed):
    problem = slow.random_problem(seed, 8, 20, 6)
    ranks = problem.rank_pos.astype(np.uint32), problem.rank_neg.astype(np.uint32)
    sample = sample_of(problem)
    best = cells.search_views(METRICS[metric], sample, *ranks, problem.largest, 0.0, 10**6)
    assert search(metric, problem).value == best[0]


@over_metrics
@given(seed=seeds, slack=st.sampled_from([0.5, 1.0, 4.0, 12.0]))
def test_what_is_found_with_slack_is_within_it(metric, seed, slack):
    problem = slow.random_problem(seed, 8, 20, 6)
    best = search(metric, problem, slack=slack)
    assert best.gap == 0.0
    assert best.value >= largest_value(metric, problem) - slack


@over_metrics
@given(seed=seeds, max_sweeps=st.sampled_from([1, 5, 30]), slack=st.sampled_from([0.0, 1.0]))
def test_a_search_cut_short_says_how_much_may_be_hidden(metric, seed, max_sweeps, slack):
    problem = slow.random_problem(seed, 8, 20, 6)
    best = search(metric, problem, n_start=2, slack=slack, max_sweeps=max_sweeps)
    assert best.value <= largest_value(metric, problem)
    assert best.value + max(best.gap, slack) >= largest_value(metric, problem)


@over_metrics
def test_some_searches_are_cut_short(metric):
    gaps = [search(metric, slow.random_problem(s, 8, 20, 6), 2, 0.0, 5).gap for s in range(40)]
    assert 0.0 < max(gaps) < np.inf


@over_metrics
@pytest.mark.parametrize("n_start", [40, 70])
def test_more_open_strips_than_fit_at_first(metric, n_start):
    problem = slow.in_finer_units(slow.random_problem(10, 8, 60, 12, 2), 16)
    check_best(metric, problem, search(metric, problem, n_start))


@over_metrics
@given(seed=seeds, low=st.integers(-28, 28), width=st.integers(0, 20))
def test_a_sweep_bounds_every_stump_of_its_strip(metric, seed, low, width):
    problem = slow.random_problem(seed, n_views=1)
    sample, number = sample_of(problem), METRICS[metric]
    tools = strips.make_tools(number, len(sample.pos), len(sample.neg))
    start = strips.arrange(number, sample, low, low + width, tools)
    bound, cut = strips.sweep_view(number, sample, views_of(problem), 0, start, tools)
    steps = np.arange(low, low + width + 1)
    cuts = [cut for _, cut, *_ in slow.every_cut(problem.rank_pos, problem.rank_neg)]
    values = [value_of(metric, problem, 0, cut, steps) for cut in cuts]
    assert np.max(values, initial=-1.0) <= bound
    if width == 0:
        assert np.max(values, initial=-1.0) == bound
    # No looser than the interval arithmetic of one cut after the other.
    buffers = cells.make_buffers(len(sample.pos), len(sample.neg))
    ranks = problem.rank_pos[0].astype(np.uint32), problem.rank_neg[0].astype(np.uint32)
    bounds = [
        cells.cell_bound(number, sample, *ranks, cells.Cell(c, c, low, low + width), buffers)
        for c in cuts
    ]
    assert bound <= max(bounds, default=-1.0)
    assert cut in cuts or not cuts


@over_metrics
@pytest.mark.parametrize("seed", range(3))
def test_a_sweep_over_samples_of_many_blocks(metric, seed):
    problem = slow.random_problem(seed, n_rows=200, n_scores=300, n_ranks=9, n_views=1)
    sample, number = sample_of(problem), METRICS[metric]
    tools = strips.make_tools(number, len(sample.pos), len(sample.neg))
    for step in (-90, 0, 35):
        start = strips.arrange(number, sample, step, step, tools)
        result, _ = strips.sweep_view(number, sample, views_of(problem), 0, start, tools)
        cuts = slow.every_cut(problem.rank_pos, problem.rank_neg)
        values = [value_of(metric, problem, 0, cut, step)[0] for _, cut, *_ in cuts]
        assert result == max(values, default=-1.0)


@pytest.mark.parametrize("metric", ["ks", "precision_at_k"])
@given(seed=seeds)
def test_a_free_step_bounds_every_view(metric, seed):
    problem = slow.random_problem(seed, 8, 20, 6)
    sample, number = sample_of(problem), METRICS[metric]
    bounds = np.empty(3)
    tools = strips.make_tools(number, len(sample.pos), len(sample.neg))
    value, view, cut, step, *_ = strips.first_look(
        number, sample, views_of(problem), problem.largest, 0.0, tools, bounds
    )
    for v in range(3):
        ranks = problem.rank_pos[v : v + 1], problem.rank_neg[v : v + 1]
        best = slow.best_stump(metric, problem.sample, *ranks, problem.largest, whole=True)[0]
        assert best <= bounds[v] + 1e-9
        # Without a margin some step reaches the bound of KS.
        if metric == "ks" and problem.sample.theta == 0.0:
            assert best == bounds[v]
    if view >= 0:
        assert value == value_of(metric, problem, view, cut, step)[0]


@over_metrics
def test_nothing_to_cut_is_reported(metric):
    problem = slow.random_problem(0, n_ranks=1)
    best = search(metric, problem)
    assert best.view == -1
    assert best.value == -1.0
    assert best.gap == 0.0


def test_of_equally_good_steps_a_small_one_is_taken():
    # Any step from 1 to the largest parts the classes; so does any larger range of them.
    sample = Sample(np.array([0, 0]), np.array([0, 0]), 1.0, 1.0, 2.0, 0.0, 64.0)
    order, low, high = (np.array([[a, b]], dtype=np.uint32) for a, b in ((0, 1), (0, 0), (1, 1)))
    views = Views(order, high, order, low)
    best = strips.best_stump(AUC, sample, views, 128, 8, 0.0, 1000)
    assert best.value == 4.0
    assert 0 < best.step <= 32
