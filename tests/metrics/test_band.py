"""The band of a ROC curve: its formula walked point by point, what it covers, and the edges."""

import time

import numpy as np
import pytest
from hypothesis import given
from scipy.stats import norm

from auctor.metrics import roc_band, roc_curve
from auctor.testing.strategies import labelled_scores
from tests.reference import metrics as slow


def draw(n_pos, n_neg, seed, shift=1.0):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n_pos, n_neg])
    return y, rng.normal(size=len(y)) + shift * y


def highest(points, fpr):
    """The tpr at an fpr, off the line through the points; the upper end of a jump."""
    at = [y for x, y in points if x == fpr]
    return max(at) if at else slow.line_height(points, fpr)


@given(labelled_scores())
def test_the_curve_is_read_off_the_points(drawn):
    y, s, _ = drawn
    points = slow.roc_points(y, s)
    band = roc_band(y, s, n_points=5, n_resamples=5, random_state=0)
    assert band.tpr == pytest.approx([highest(points, x) for x in band.fpr])
    assert (band.low <= band.tpr).all() and (band.tpr <= band.high).all()
    assert band.low.min() >= 0 and band.high.max() <= 1


def test_the_asymptotic_band_is_its_formula():
    y, s = draw(30, 40, 0)
    points = slow.roc_points(y, s)
    band = roc_band(y, s, method="asymptotic", n_points=11)
    z, half = norm.ppf(0.975), 40 ** (-1 / 3) / 2
    for fpr, tpr, low, high in list(zip(band.fpr, band.tpr, band.low, band.high, strict=True))[:-1]:
        left, right = max(fpr - half, 0), min(fpr + half, 1)
        slope = (highest(points, right) - highest(points, left)) / (right - left)
        proportion = (30 * tpr + z**2 / 2) / (30 + z**2)
        spread = proportion * (1 - proportion) / (30 + z**2) + slope**2 * fpr * (1 - fpr) / 40
        assert low == pytest.approx(max(tpr - z * spread**0.5, 0))
        assert high == pytest.approx(min(tpr + z * spread**0.5, 1))
    assert band.low[-1] == band.high[-1] == 1.0


@pytest.mark.parametrize("method", ["combined", "bootstrap", "asymptotic"])
def test_the_band_covers_the_curve_of_the_population(method):
    """tpr(fpr) = Phi(1 + Phi^-1(fpr)) for N(1, 1) against N(0, 1)."""
    inside = np.zeros(3)
    grid = np.array([0.1, 0.3, 0.6])
    truth = norm.cdf(1 + norm.ppf(grid))
    for seed in range(100):
        y, s = draw(80, 120, seed)
        band = roc_band(y, s, method=method, n_points=11, n_resamples=150, random_state=seed)
        low, high = (ends[[1, 3, 6]] for ends in (band.low, band.high))
        inside += (low <= truth) & (truth <= high)
    assert inside.min() >= 85  # 95 are expected; fewer than 86 have a chance below 1e-4


@pytest.mark.parametrize(("n_pos", "n_neg"), [(5, 5), (20, 20), (100, 10)])
def test_the_band_covers_where_the_curve_is_near_one_and_rows_are_few(n_pos, n_neg):
    """A bootstrap holds 0.06 at fpr 0 and 0.1 to 0.6 from fpr 0.5 on."""
    grid = np.linspace(0, 1, 6)
    truth = norm.cdf(2 + norm.ppf(grid))
    inside = np.zeros(6)
    for seed in range(200):
        band = roc_band(*draw(n_pos, n_neg, seed, shift=2.0), n_points=6)
        inside += (band.low <= truth) & (truth <= band.high)
    assert inside.min() >= 180  # 190 are expected


def test_resampled_rows_give_the_band_that_resampled_steps_give():
    """Weights of one and the same size make the bootstrap draw rows."""
    y, s = draw(60, 90, 3)
    options = {"method": "bootstrap", "n_resamples": 2000}
    by_step = roc_band(y, s, **options, random_state=0)
    by_row = roc_band(y, s, **options, sample_weight=np.full(150, 2.0), random_state=1)
    assert np.array_equal(by_step.tpr, by_row.tpr)
    assert np.abs(by_step.low - by_row.low).max() < 0.04
    assert np.abs(by_step.high - by_row.high).max() < 0.04


@pytest.mark.parametrize(
    ("method", "name"),
    [
        ("combined", "combined intervals at the effective number of rows"),
        ("bootstrap", "cluster bootstrap"),
    ],
)
def test_groups_that_are_copies_widen_the_band(method, name):
    y, s = draw(50, 60, 1)
    y, s, groups = np.tile(y, 8), np.tile(s, 8), np.tile(np.arange(110), 8)
    alone = roc_band(y, s, method=method, random_state=0)
    together = roc_band(y, s, method=method, groups=groups, random_state=0)
    assert together.method == name and np.array_equal(together.tpr, alone.tpr)
    assert (together.high - together.low).mean() > 2 * (alone.high - alone.low).mean()


def test_a_perfect_score_is_not_certain_of_itself():
    y = np.repeat([0, 1], 8)
    sure = roc_band(y, np.arange(16), method="bootstrap", random_state=0)
    assert (sure.low == 1).all()  # which the docstring says
    for method in ("combined", "asymptotic"):
        assert roc_band(y, np.arange(16), method=method).low[0] < 0.8


def test_infinite_scores_ties_and_absent_rows():
    y = [0, 0, 0, 1, 1, 1]
    s = [-np.inf, 0, np.inf, 0, np.inf, np.inf]
    weight = [1, 2, 1, 0, 1, 2]
    for options in ({}, {"sample_weight": weight}, {"groups": [0, 1, 2, 0, 1, 2]}):
        band = roc_band(y, s, n_points=4, n_resamples=20, random_state=0, **options)
        assert np.isfinite(band.low).all()
    kept = roc_band(y[:3] + y[4:], s[:3] + s[4:], n_points=4, random_state=0)
    absent = roc_band(y, s, sample_weight=weight, n_points=4, random_state=0)
    twice = roc_curve([0, 0, 0, 0, 1, 1, 1], [-np.inf, 0, 0, np.inf, np.inf, np.inf, np.inf])
    assert absent.tpr.tolist() == np.interp(absent.fpr, twice.fpr, twice.tpr).tolist()
    assert kept.tpr[-1] == absent.tpr[-1] == 1


def test_a_million_rows_take_seconds():
    rng = np.random.default_rng(0)
    y = rng.random(1_000_000) < 0.1
    s = rng.normal(size=1_000_000) + y
    start = time.perf_counter()
    band = roc_band(y, s, random_state=0)
    assert time.perf_counter() - start < 20
    middle = 10
    spread = roc_band(y, s, method="asymptotic")
    width, expected = (b.high[middle] - b.low[middle] for b in (band, spread))
    assert width == pytest.approx(expected, rel=0.2)


def test_it_prints_as_a_sentence_and_repeats():
    y, s = draw(20, 30, 0)
    first, second = (roc_band(y, s, method="bootstrap", random_state=5) for _ in range(2))
    assert np.array_equal(first.low, second.low)
    assert repr(first).startswith("95% pointwise band of a ROC curve at 101 values of fpr")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (
            {"method": "delong"},
            "method is 'delong'; give 'combined', 'bootstrap' or 'asymptotic'",
        ),
        ({"n_points": 1}, "n_points is 1; give a whole number of at least 2"),
        ({"level": 95}, "give a number between 0 and 1, such as 0.95"),
        ({"n_resamples": 0}, "n_resamples"),
        (
            {"method": "asymptotic", "groups": [1, 2, 3, 4]},
            "groups is given and method is 'asymptotic'",
        ),
        (
            {"method": "asymptotic", "sample_weight": [1, 2, 3, 4]},
            "sample_weight is given and method",
        ),
    ],
)
def test_bad_arguments_are_named(options, says):
    with pytest.raises(ValueError, match=says):
        roc_band([0, 1, 0, 1], [1, 2, 3, 4], **options)


def test_one_class_and_nan_are_refused():
    with pytest.raises(ValueError, match="y_true"):
        roc_band([1, 1], [1, 2])
    with pytest.raises(ValueError, match="y_score"):
        roc_band([0, 1], [1, np.nan])
