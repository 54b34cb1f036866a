"""The smoothed partial AUC against its definition by quadrature, and what must not matter."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from learners.blurred import partial_by_quadrature

from auctor.data import Workers, prepare
from auctor.learners.smooth.smoothed_auc import SmoothedAUC
from auctor.metrics import partial_auc

RANGES = [(0.0, 0.1), (0.2, 0.5), (0.05, 0.075), (0.7, 1.0)]


def evaluate(data, table, fpr_range):
    with Workers(1) as workers:
        return SmoothedAUC(data, workers, fpr_range=fpr_range).evaluate((table,))


def draw(seed, n_rows=24, scale=1.0, weighted=True):
    """Two features of a few values, so that some rows tie; labels, weights, and tables."""
    rng = np.random.default_rng(seed)
    codes, y = rng.integers(1, 8, size=(n_rows, 2)) * 1.0, rng.integers(0, 2, size=n_rows) == 1
    y[:2] = False, True
    codes[rng.random(codes.shape) < 0.1] = np.nan
    data = prepare(codes, y, sample_weight=rng.random(n_rows) + 0.1 if weighted else None)
    return data, scale * rng.normal(size=(2, data.n_codes))


def by_quadrature(data, table, fpr_range):
    (part,) = data.partitions
    scores = sum(entries[codes] for entries, codes in zip(table, part.codes, strict=True))
    return partial_by_quadrature(scores, part.positive, fpr_range, part.weight)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    ends=st.tuples(st.integers(0, 99), st.integers(0, 99)),
    scale=st.sampled_from([1e-3, 0.3, 1.0, 5.0]),
    weighted=st.booleans(),
)
def test_equals_its_definition(seed, ends, scale, weighted):
    data, table = draw(seed, 16, scale, weighted)
    fpr_range = min(ends) / 100, (max(ends) + 1) / 100
    result = evaluate(data, table, fpr_range).value
    assert result == pytest.approx(by_quadrature(data, table, fpr_range), rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("fpr_range", [(0.3, 0.3 + 1e-3), (0.3, 0.3 + 1e-6), (0.0, 1e-5)])
def test_a_very_short_range_is_the_curve_at_a_point(fpr_range):
    data, table = draw(3)
    result = evaluate(data, table, fpr_range)
    assert result.value == pytest.approx(by_quadrature(data, table, fpr_range), rel=1e-6)
    # 1e-13 of a threshold, over the length of the range, is what is left of the gradient.
    assert_gradient(data, table, fpr_range, rel=1e-4)


@pytest.mark.parametrize("fpr_range", RANGES)
@pytest.mark.parametrize("scale", [30.0, 300.0])
def test_scores_far_apart(scale, fpr_range):
    data, table = draw(4, 12, scale)
    expected = by_quadrature(data, table, fpr_range)
    assert evaluate(data, table, fpr_range).value == pytest.approx(expected, rel=1e-9, abs=1e-11)


@pytest.mark.parametrize("fpr_range", [*RANGES, (0.125, 0.375)])
@pytest.mark.parametrize("seed", range(3))
def test_so_far_apart_that_no_blurs_meet_it_is_the_partial_auc(seed, fpr_range):
    rng = np.random.default_rng(seed)
    y, weight = np.arange(26) < 10, rng.integers(1, 4, size=26)
    data = prepare(np.arange(26.0)[:, None], y, sample_weight=weight)
    scores = 15.0 * rng.permutation(26)
    result = evaluate(data, np.append(0.0, scores)[None], fpr_range).value
    expected = partial_auc(y, scores, fpr_range=fpr_range, sample_weight=weight)
    assert result == pytest.approx(expected / (fpr_range[1] - fpr_range[0]), abs=1e-10)


@pytest.mark.parametrize("scale", [0.1, 1.0, 20.0])
@pytest.mark.parametrize("seed", range(3))
def test_the_whole_range_equals_none(seed, scale):
    data, table = draw(seed, scale=scale)
    whole, none = evaluate(data, table, (0.0, 1.0)), evaluate(data, table, None)
    assert whole.value == pytest.approx(none.value, abs=1e-9)
    assert whole.gradient[0] == pytest.approx(none.gradient[0], abs=1e-9)
    assert whole.mass[0] == pytest.approx(none.mass[0], abs=1e-9)


@pytest.mark.parametrize("cuts", [[0.1], [0.02, 0.3, 0.31, 0.9]])
@pytest.mark.parametrize("seed", range(3))
def test_ranges_add_up_to_the_whole(seed, cuts):
    data, table = draw(seed, scale=2.0)
    whole = evaluate(data, table, None)
    ends = [0.0, *cuts, 1.0]
    parts = [(high - low, evaluate(data, table, (low, high))) for low, high in pairwise(ends)]
    value = sum(length * part.value for length, part in parts)
    gradient = sum(length * part.gradient[0] for length, part in parts)
    assert value == pytest.approx(whole.value, abs=1e-9)
    assert gradient == pytest.approx(whole.gradient[0], abs=1e-9)


def assert_gradient(data, table, fpr_range, rel=1e-6):
    """Against central differences, which leave about the square of their step."""
    gradient = evaluate(data, table, fpr_range).gradient[0]
    rng, step = np.random.default_rng(0), 1e-4
    for _ in range(4):
        way = rng.normal(size=table.shape)
        ends = [evaluate(data, table + side * way, fpr_range).value for side in (-step, step)]
        slope = (gradient * way).sum()
        assert (ends[1] - ends[0]) / (2 * step) == pytest.approx(slope, rel=rel, abs=1e-7)
    # No feature gains by a constant.
    assert gradient.sum(axis=1) == pytest.approx(0, abs=1e-9 / (fpr_range[1] - fpr_range[0]))


@pytest.mark.parametrize("fpr_range", RANGES)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 4.0])
def test_the_gradient_is_that_of_the_value(scale, fpr_range):
    data, table = draw(6, 40, scale)
    assert_gradient(data, table, fpr_range)


@pytest.mark.parametrize("fpr_range", [*RANGES, (0.0, 1.0), (0.5, 0.5 + 1e-6)])
def test_a_flat_score_has_the_mean_of_the_range(fpr_range):
    data, table = draw(7)
    result = evaluate(data, np.full_like(table, 2.0), fpr_range)
    # Thresholds have an error of 1e-13, which counts relative to the length of a short range.
    rel = max(1e-9, 1e-13 / (fpr_range[1] - fpr_range[0]))
    assert result.value == pytest.approx(sum(fpr_range) / 2, rel=rel)
    # It can be left: the rows of the two classes are not the same.
    assert np.abs(result.gradient[0]).max() > 0.01


@pytest.mark.parametrize("fpr_range", RANGES)
@pytest.mark.parametrize("tied", [0, 1])
@pytest.mark.parametrize("at", [-30.0, 0.0, 0.7, 30.0])
def test_one_class_has_rows_that_all_tie(tied, at, fpr_range):
    """Inside the scores of the other class, below and above them."""
    rng = np.random.default_rng(tied)
    y = np.arange(20) % 2
    X = np.where(y == tied, 0.0, np.arange(20.0) + 1)[:, None]
    data = prepare(X, y)
    table = rng.normal(size=(1, data.n_codes))
    table[0, 1] = at
    result = evaluate(data, table, fpr_range)
    expected = by_quadrature(data, table, fpr_range)
    assert result.value == pytest.approx(expected, rel=1e-9, abs=1e-11)
    assert_gradient(data, table, fpr_range)


@settings(max_examples=25)
@given(
    seed=st.integers(0, 10**6),
    heavy=st.booleans(),
    fpr_range=st.sampled_from([*RANGES, (0.0, 1 / 3)]),
)
def test_weight_two_is_the_row_twice_bit_for_bit(seed, heavy, fpr_range):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(0, 5, size=(20, 2)) * 1.0, rng.permutation(20) % 2
    times = rng.integers(1, 4, size=20)
    unit = 2**22 if heavy else 1  # totals above 2^24 are summed in two layers
    copies = np.repeat(np.arange(20), times)
    by_weight = prepare(X, y, sample_weight=times * unit)
    by_copies = prepare(X[copies], y[copies], sample_weight=np.full(len(copies), unit))
    table = rng.normal(size=(2, by_weight.n_codes))
    a, b = (evaluate(data, table, fpr_range) for data in (by_weight, by_copies))
    assert a.value == b.value
    assert np.array_equal(a.gradient[0], b.gradient[0])


@pytest.mark.parametrize("fpr_range", RANGES)
def test_better_scores_have_a_larger_value_in_every_range(fpr_range):
    y = np.arange(40) % 2
    data = prepare(y[:, None] * 1.0, y)
    values = [
        evaluate(data, np.array([[0.0, 0.0, apart]]), fpr_range).value for apart in range(-3, 9)
    ]
    assert (np.diff(values) > -1e-12).all()  # far apart there is nothing left to gain
    assert (np.diff(values[:7]) > 1e-6).all()
    assert 0 < values[0] < sum(fpr_range) / 2
    assert values[-1] == pytest.approx(1, abs=1e-6)
