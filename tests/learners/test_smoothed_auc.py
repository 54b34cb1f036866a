"""The smoothed AUC and its gradient against the double sum over pairs, and what must not matter."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtr

from auctor.data import Workers, prepare
from auctor.learners.common import blocks
from auctor.learners.smooth.smoothed_auc import LARGEST_RANGE, SmoothedAUC

N_CODES = 6
# Slopes are summed to 36 bits or more: where positives and negatives cancel, this is left.
ROUNDING = 2.0**-36
WEIGHTS = {
    "none": lambda rng, n: None,
    "whole": lambda rng, n: rng.integers(1, 9, size=n),
    "halves": lambda rng, n: rng.integers(1, 9, size=n) / 4,
    "fractions": lambda rng, n: rng.random(n) + 1e-3,
    "huge": lambda rng, n: rng.integers(1, 2**31, size=n),
    "mixed": lambda rng, n: np.where(rng.random(n) < 0.5, 1, 2**31 - 1),
    "tiny": lambda rng, n: (rng.random(n) + 0.5) * 1e-9,
}


def table_of(codes):
    """Columns of numbers whose bins are 1, 2, ... and where 0 is missing."""
    return np.where(codes == 0, np.nan, codes).astype(float)


def draw_rows(rng, n_rows, n_features=2):
    """Codes of a few values, so that many rows tie, and labels of both classes."""
    codes = rng.integers(0, N_CODES, size=(n_rows, n_features))
    y = rng.integers(0, 2, size=n_rows)
    y[:2] = 0, 1
    return codes, y


def draw_tables(rng, data, scale):
    return scale * rng.normal(size=(data.n_features, data.n_codes))


def evaluate(data, *tables, n_jobs=1, **options):
    with Workers(n_jobs) as workers:
        return SmoothedAUC(data, workers, **options).evaluate(tables)


def scores_of(part, table):
    return sum(entries[codes] for entries, codes in zip(table, part.codes, strict=True))


def sum_pairs(part, table):
    """Value over all pairs, and the slope of each row."""
    weight = part.weight.astype(float)
    n_pos, scores = part.n_pos, scores_of(part, table)
    difference = scores[:n_pos, None] - scores[None, n_pos:]
    pairs = weight[:n_pos, None] * weight[None, n_pos:]
    pairs = pairs / pairs.sum()
    slope = pairs * np.exp(-(difference**2) / 2) / np.sqrt(2 * np.pi)
    of_rows = np.concatenate([slope.sum(axis=1), -slope.sum(axis=0)])
    return float((pairs * ndtr(difference)).sum()), of_rows


def by_code(part, table, of_rows):
    out = np.zeros_like(table)
    for entries, codes in zip(out, part.codes, strict=True):
        np.add.at(entries, codes, of_rows)
    return out


def assert_is_double_sum(data, table, rel=1e-8):
    (part,) = data.partitions
    result = evaluate(data, table)
    value, of_rows = sum_pairs(part, table)
    gradient, mass = (by_code(part, table, each) for each in (of_rows, np.abs(of_rows)))
    assert result.value == pytest.approx(value, rel=rel, abs=ROUNDING)
    assert result.gradient[0] == pytest.approx(gradient, rel=rel, abs=ROUNDING)
    assert result.mass[0] == pytest.approx(mass, rel=rel, abs=ROUNDING)


@given(
    seed=st.integers(0, 10**6),
    n_rows=st.integers(2, 25),
    weights=st.sampled_from(sorted(WEIGHTS)),
    scale=st.sampled_from([1e-6, 1e-3, 0.1, 1.0, 3.0, 10.0, 100.0]),
)
def test_equals_the_double_sum(seed, n_rows, weights, scale):
    rng = np.random.default_rng(seed)
    codes, y = draw_rows(rng, n_rows)
    data = prepare(table_of(codes), y, sample_weight=WEIGHTS[weights](rng, n_rows))
    assert_is_double_sum(data, draw_tables(rng, data, scale))


@pytest.mark.parametrize("apart", [0.0, 8.9, 9.0, 9.1, 50.0, 1020.0, 1030.0, 6e4])
@pytest.mark.parametrize("sign", [-1, 1])
def test_two_heaps_far_apart(apart, sign):
    """Beyond the reach of the kernel, and where the convolution goes over to Fourier's."""
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, size=(40, 1)), rng.integers(0, 2, size=40)
    data = prepare(X, y)
    near = rng.normal(size=2)
    table = sign * np.array([[0.0, near[0], apart + near[1], near[0] / 2, apart]])
    assert_is_double_sum(data, table)


@pytest.mark.parametrize("difference", [-3.0, -0.2, 0.0, 1e-9, 0.7, 12.0])
def test_one_row_of_each_class(difference):
    data = prepare([[0.0], [1.0]], [0, 1])
    result = evaluate(data, np.array([[0.0, 0.0, difference]]))
    density = np.exp(-(difference**2) / 2) / np.sqrt(2 * np.pi)
    assert result.value == pytest.approx(ndtr(difference), rel=1e-10, abs=1e-15)
    assert result.gradient[0][0] == pytest.approx([0.0, -density, density], rel=1e-10, abs=1e-15)


def test_equal_scores_are_half_and_scores_too_far_apart_are_none():
    data = prepare([[0.0], [1.0], [0.0]], [0, 1, 1])
    assert evaluate(data, np.zeros((1, 3))).value == 0.5
    table = np.array([[0.0, 0.0, 1.0]])
    assert evaluate(data, table * (LARGEST_RANGE - 1)).value == pytest.approx(0.75, abs=1e-12)
    for too_far in (LARGEST_RANGE, -LARGEST_RANGE, 1e300, np.inf, -np.inf, np.nan):
        assert evaluate(data, np.where(table > 0, too_far, 0.0)) is None
        assert evaluate(data, np.where(table > 0, 0.0, too_far)) is None


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 7, 19])
def test_one_score_that_is_not_finite_is_enough(row, bad):
    """Wherever it stands among the rows, threads and partitions."""
    data = prepare(np.arange(20.0)[:, None], np.arange(20) % 2).split(3)
    table = np.zeros((1, 21))
    table[0, 1 + row] = bad
    for n_jobs in (1, 2):
        assert evaluate(data, table, n_jobs=n_jobs) is None
        assert evaluate(data, table, n_jobs=n_jobs, fpr_range=(0.0, 0.5)) is None
    offset = table[0, 1:]
    assert evaluate(data, np.zeros((1, 21)), offset=offset) is None


def test_an_offset_adds_to_the_scores():
    """The offset is by the index of the row in the table, for any partitions."""
    rng = np.random.default_rng(8)
    codes, y = draw_rows(rng, 30, n_features=3)
    whole, two = prepare(table_of(codes), y), prepare(table_of(codes[:, :2]), y)
    table = draw_tables(rng, whole, 1.0)
    together = evaluate(whole, table)
    offset = table[2][codes[:, 2]]
    for data in (two, two.split(3)):
        apart = evaluate(data, table[:2], offset=offset)
        assert apart.value == pytest.approx(together.value, rel=1e-13)
        assert apart.gradient[0] == pytest.approx(together.gradient[0][:2], rel=1e-12)
    part = whole.split(3).take(np.arange(30) % 3 > 0)
    assert evaluate(two.split(3).take(np.arange(30) % 3 > 0), table[:2], offset=offset).value == (
        pytest.approx(evaluate(part, table).value, rel=1e-13)
    )


def test_other_lines_add_to_the_score_beside_the_features():
    rng = np.random.default_rng(3)
    codes, y = draw_rows(rng, 30, n_features=3)
    both = prepare(table_of(codes), y).split(2)
    table = draw_tables(rng, both, 1.0)
    together = evaluate(both, table)
    features = prepare(table_of(codes[:, :2]), y).split(2)
    cells = [part.codes[2:] for part in both.partitions]
    apart = evaluate(features, table[:2], table[2:], cells=cells)
    assert apart.value == pytest.approx(together.value, rel=1e-13)
    assert np.concatenate(apart.gradient) == pytest.approx(together.gradient[0], rel=1e-12)


@given(seed=st.integers(0, 10**6), scale=st.sampled_from([0.1, 1.0, 20.0]))
def test_turning_the_scores_around_turns_the_value_around(seed, scale):
    rng = np.random.default_rng(seed)
    codes, y = draw_rows(rng, 20)
    data = prepare(table_of(codes), y, sample_weight=rng.random(20) + 0.1)
    table = draw_tables(rng, data, scale)
    there, back = evaluate(data, table), evaluate(data, -table)
    assert there.value + back.value == pytest.approx(1, abs=1e-11)
    assert there.gradient[0] == pytest.approx(back.gradient[0], rel=1e-8, abs=ROUNDING)


@given(seed=st.integers(0, 10**6), constant=st.floats(-50, 50))
def test_a_constant_added_to_a_table_changes_nothing(seed, constant):
    rng = np.random.default_rng(seed)
    codes, y = draw_rows(rng, 20)
    data = prepare(table_of(codes), y)
    table = draw_tables(rng, data, 1.0)
    shifted = table + np.array([[constant], [0.0]])
    usual, moved = evaluate(data, table), evaluate(data, shifted)
    assert moved.value == pytest.approx(usual.value, rel=1e-11)
    assert moved.gradient[0] == pytest.approx(usual.gradient[0], rel=1e-8, abs=1e-12)
    # That the gradient knows it too: no feature gains by a constant.
    assert usual.gradient[0].sum(axis=1) == pytest.approx([0, 0], abs=1e-12)


def assert_same_bits(a, b):
    assert a.value == b.value
    assert np.array_equal(a.gradient[0], b.gradient[0])


@given(seed=st.integers(0, 10**6), heavy=st.booleans())
def test_weight_two_is_the_row_twice_bit_for_bit(seed, heavy):
    rng = np.random.default_rng(seed)
    codes, y = draw_rows(rng, 20)
    times = rng.integers(1, 4, size=20)
    # Totals above 2^24 are summed in two layers.
    unit = 2**22 if heavy else 1
    copies = np.repeat(np.arange(20), times)
    by_weight = prepare(table_of(codes), y, sample_weight=times * unit)
    by_copies = prepare(
        table_of(codes[copies]), y[copies], sample_weight=np.full(len(copies), unit)
    )
    table = draw_tables(rng, by_weight, 1.0)
    assert_same_bits(evaluate(by_weight, table), evaluate(by_copies, table))


@given(seed=st.integers(0, 10**6), fpr_range=st.sampled_from([None, (0.0, 0.3), (0.2, 0.75)]))
def test_the_order_of_the_rows_and_partitions_do_not_show(seed, fpr_range):
    rng = np.random.default_rng(seed)
    codes, y = draw_rows(rng, 25)
    weight, order = rng.random(25) + 0.1, rng.permutation(25)
    data = prepare(table_of(codes), y, sample_weight=weight)
    turned = prepare(table_of(codes[order]), y[order], sample_weight=weight[order])
    table = draw_tables(rng, data, 1.0)
    usual = evaluate(data, table, fpr_range=fpr_range)
    assert_same_bits(evaluate(turned, table, fpr_range=fpr_range), usual)
    assert_same_bits(evaluate(turned.split(3), table, fpr_range=fpr_range), usual)


@pytest.mark.parametrize("fpr_range", [None, (0.1, 0.4)])
@pytest.mark.parametrize("n_partitions", [1, 40])
def test_threads_do_not_show(n_partitions, fpr_range, monkeypatch):
    monkeypatch.setattr(blocks, "CELLS_PER_WORKER", 10)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(500, 2)), rng.integers(0, 2, size=500)
    data = prepare(X, y, sample_weight=rng.random(500) + 0.1)
    table = draw_tables(rng, data, 1.0)
    usual = evaluate(data, table, fpr_range=fpr_range)
    cut = data.split(n_partitions)
    assert len(blocks.class_blocks(cut, 3)) == 3
    assert_same_bits(evaluate(cut, table, n_jobs=3, fpr_range=fpr_range), usual)


def untied(seed, n_neg, scale=1.0):
    """One feature with a bin for each row, and a table in which no two bins tie."""
    rng = np.random.default_rng(seed)
    n_rows = n_neg + 12
    data = prepare(rng.normal(size=(n_rows, 1)), np.arange(n_rows) < 12)
    return data, draw_tables(rng, data, scale)


def test_the_gradient_is_that_of_the_value():
    data, table = untied(6, 40)
    gradient = evaluate(data, table).gradient[0]
    rng, step = np.random.default_rng(0), 1e-5
    for _ in range(5):
        way = rng.normal(size=table.shape)
        ends = [evaluate(data, table + side * way).value for side in (-step, step)]
        assert (ends[1] - ends[0]) / (2 * step) == pytest.approx((gradient * way).sum(), rel=1e-6)
