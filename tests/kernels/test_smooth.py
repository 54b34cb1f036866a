"""The kernels of the smoothed AUC: a grid of polynomials of degree 7, and sums of whole numbers."""

import numpy as np
import pytest
from scipy.special import ndtr

from auctor.kernels.arrays import read_only
from auctor.kernels.smooth import (
    add_pulls,
    add_scores,
    count_slopes,
    deposit,
    deposit_rest,
    derivatives_along,
    gather,
)

PER_UNIT = 4.0
LOW = -1.5
N_NODES = 40
NODES = LOW + (np.arange(N_NODES) - 3) / PER_UNIT
# Either side of what is scored and counted at a time.
AROUND_A_BLOCK = [2047, 2048, 2049]


def draw_scores(seed, n_rows):
    """Scores over the whole grid, both ends and some nodes among them."""
    rng = np.random.default_rng(seed)
    last = LOW + (N_NODES - 8) / PER_UNIT
    scores = LOW + (last - LOW) * rng.random(n_rows)
    scores[: min(n_rows, 4)] = [LOW, last, LOW + 1 / PER_UNIT, LOW + 7 / PER_UNIT][:n_rows]
    return scores


def spread(scores, weight, start, stop, scale, finer=0.0):
    grid = np.zeros(N_NODES, dtype=np.int64)
    weight = read_only(np.asarray(weight, dtype=np.uint32))
    rows = scores, weight, start, stop, LOW, PER_UNIT, scale
    if finer:
        deposit_rest(*rows, finer, grid)
    else:
        deposit(*rows, grid)
    return grid


@pytest.mark.parametrize("degree", range(8))
def test_a_polynomial_known_at_the_nodes_is_known_everywhere(degree):
    scores = draw_scores(degree, 30)
    result = np.full(30, np.nan)
    gather(scores, 0, 30, LOW, PER_UNIT, NODES**degree, result)
    assert result == pytest.approx(scores**degree, rel=1e-9, abs=1e-9)


def test_one_degree_more_is_not_exact():
    scores = draw_scores(0, 30)
    result = np.empty(30)
    gather(scores, 0, 30, LOW, PER_UNIT, NODES**8, result)
    assert np.abs(result - scores**8).max() > 1e-4


@pytest.mark.parametrize("degree", range(8))
def test_moments_of_the_deposits_are_those_of_the_rows(degree):
    rng = np.random.default_rng(degree)
    scores, weight = draw_scores(degree, 30), rng.integers(1, 6, size=30)
    scale = 2.0**40
    grid = spread(scores, weight, 0, 30, scale) / scale
    assert grid @ NODES**degree == pytest.approx(weight @ scores**degree, rel=1e-8, abs=1e-8)


def test_gather_reads_what_deposit_spreads():
    scores, values = draw_scores(1, 20), np.sin(NODES)
    read = np.empty(20)
    gather(scores, 0, 20, LOW, PER_UNIT, values, read)
    for i in range(20):
        grid = spread(scores, np.ones(20), i, i + 1, 2.0**50)
        assert np.flatnonzero(grid).size <= 8
        assert grid @ values / 2.0**50 == pytest.approx(read[i], abs=1e-12)


@pytest.mark.parametrize("scale", [1.0, 2.0**10, 2.0**28])
def test_deposits_of_a_row_add_up_to_its_weight_whatever_is_rounded(scale):
    scores, largest = draw_scores(2, 20), 2**31
    for i in range(20):
        assert spread(scores, np.full(20, largest), i, i + 1, scale).sum() == largest * int(scale)


def test_a_row_on_a_node_goes_there_whole():
    scores = np.array([LOW, LOW + 5 / PER_UNIT])
    assert np.flatnonzero(spread(scores, [1, 1], 0, 1, 2.0**30)).tolist() == [3]
    assert np.flatnonzero(spread(scores, [1, 1], 1, 2, 2.0**30)).tolist() == [8]


@pytest.mark.parametrize("bits", [4, 10, 20])
def test_the_rest_brings_the_error_down_by_its_bits(bits):
    scale = finer = 2.0**bits
    scores, weight = draw_scores(3, 25), np.arange(1, 26)
    exact = spread(scores, weight, 0, 25, 2.0**50) / 2.0**50
    coarse = spread(scores, weight, 0, 25, scale) / scale
    rest = spread(scores, weight, 0, 25, scale, finer) / (scale * finer)
    # Half a unit of each row is rounded away at most: first of one scale, then of both.
    assert np.abs(coarse - exact).max() > 1 / scale
    assert np.abs(coarse + rest - exact).max() <= weight.sum() / (2 * scale * finer) + 1e-12


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("n_rows", [1, *AROUND_A_BLOCK])
def test_scores_are_sums_over_the_tables(n_rows, dtype):
    rng = np.random.default_rng(n_rows)
    codes = rng.integers(0, 5, size=(2, n_rows)).astype(dtype)
    tables, before = rng.normal(size=(2, 5)), rng.normal(size=n_rows)
    scores = before.copy()
    ends = add_scores(read_only(codes), tables, 0, n_rows, scores)
    assert np.array_equal(scores, before + tables[0][codes[0]] + tables[1][codes[1]])
    assert ends == (scores.min(), scores.max())


def test_scores_outside_the_range_stay():
    codes, tables = np.ones((1, 6), dtype=np.uint8), np.array([[0.0, 2.0]])
    scores = np.array([9.0, 0.0, 1.0, -1.0, -9.0, 9.0])
    assert add_scores(read_only(codes), tables, 1, 4, scores) == (1.0, 3.0)
    assert scores.tolist() == [9.0, 2.0, 3.0, 1.0, -9.0, 9.0]


def slow_counts(codes, weight, values, n_codes):
    out = np.zeros((len(codes), n_codes), dtype=np.int64)
    for codes_of_feature, bins in zip(codes, out, strict=True):
        np.add.at(bins, codes_of_feature, weight.astype(np.int64) * values.astype(np.int64))
    return out


@pytest.mark.parametrize("finer", [0.0, 2.0**20])
@pytest.mark.parametrize(("start", "stop"), [(0, n) for n in AROUND_A_BLOCK] + [(3, 2053)])
def test_slopes_are_summed_by_code(start, stop, finer):
    rng = np.random.default_rng(stop)
    codes = rng.integers(0, 4, size=(2, 2060)).astype(np.uint8)
    weight = rng.integers(1, 9, size=2060).astype(np.uint32)
    slopes, scale = rng.normal(size=2060), 2.0**12
    exact = slopes * scale
    values = np.rint((exact - np.rint(exact)) * finer) if finer else np.rint(exact)
    rows = slice(start, stop)
    expected = slow_counts(codes[:, rows], weight[rows], values[rows], 4)
    result = np.ones((2, 4), dtype=np.int64)  # what is counted is added to what is there
    count_slopes(read_only(codes), read_only(weight), slopes, scale, finer, start, stop, result)
    assert np.array_equal(result, 1 + expected)


def test_empty_ranges_leave_everything_as_it_is():
    codes, weight = np.zeros((1, 3), dtype=np.uint8), np.ones(3, dtype=np.uint32)
    scores = np.zeros(3)
    assert add_scores(read_only(codes), np.ones((1, 1)), 2, 2, scores) == (np.inf, -np.inf)
    assert not scores.any()
    assert not spread(scores, weight, 1, 1, 2.0**20).any()
    assert not spread(scores, weight, 1, 1, 2.0**20, 2.0**20).any()
    gather(scores, 3, 3, LOW, PER_UNIT, np.ones(N_NODES), scores)
    assert not scores.any()
    histogram = np.zeros((1, 1), dtype=np.int64)
    count_slopes(read_only(codes), read_only(weight), np.ones(3), 1.0, 0.0, 0, 0, histogram)
    assert not histogram.any()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 2047, 2048, 3000])
def test_one_score_that_is_not_finite_makes_both_ends_nan(row, bad):
    codes = np.zeros((1, 3001), dtype=np.uint8)
    codes[0, row] = 1
    ends = add_scores(read_only(codes), np.array([[1.0, bad]]), 0, 3001, np.zeros(3001))
    assert np.isnan(ends).all()
    scores = np.zeros(3001)
    scores[row] = bad  # of an offset
    assert np.isnan(add_scores(read_only(codes), np.zeros((1, 2)), 0, 3001, scores)).all()
    others = (0, row) if row else (1, 3001)
    assert add_scores(read_only(codes), np.zeros((1, 2)), *others, scores) == (0.0, 0.0)


def test_derivatives_along_a_line_are_those_of_the_pairs():
    rng = np.random.default_rng(3)
    gaining, losing = rng.random((2, 33))
    z = np.arange(-16, 17) / 16

    def value(alpha):
        return (gaining * ndtr(z + alpha)).sum() + (losing * ndtr(z - alpha)).sum()

    for alpha in (0.0, 0.7, -1.3):
        first, second = derivatives_along(gaining, losing, 16.0, alpha)
        h = 1e-4
        assert first == pytest.approx((value(alpha + h) - value(alpha - h)) / (2 * h), rel=1e-6)
        bend = (value(alpha + h) - 2 * value(alpha) + value(alpha - h)) / h**2
        assert second == pytest.approx(bend, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("width", [2, 3])
def test_pulls_are_the_gradient_of_the_squares(width):
    rng = np.random.default_rng(width)
    factors, weight = rng.normal(size=(width, 3, 7)), rng.random((3, 7))
    f, start = rng.normal(size=(3, 7)), rng.normal(size=(3, 7))

    def value(f):
        n = 7 - width + 1
        sums = sum(factors[a, :, :n] * f[:, a : a + n] for a in range(width))
        return (weight[:, :n] * sums**2).sum()

    out = start.copy()
    add_pulls(factors, weight, f, out)
    for j, c in np.ndindex(3, 7):
        step = np.zeros((3, 7))
        step[j, c] = 0.5  # a central difference of a quadratic form is exact
        assert out[j, c] - start[j, c] == pytest.approx(value(f + step) - value(f - step))


def test_lines_shorter_than_a_square_have_no_pull():
    out = np.zeros((2, 2))
    add_pulls(np.ones((3, 2, 2)), np.ones((2, 2)), np.ones((2, 2)), out)
    assert not out.any()
