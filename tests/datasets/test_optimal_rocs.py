"""Distributions with a known ROC*: against formulae, simulation and each other."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from auctor.datasets import (
    discrete_roc,
    exponential_roc,
    gaussian_pair_roc,
    gaussian_roc,
    make_gaussian_pair,
    make_r_of_k,
    make_t_pair,
    power_roc,
    quadratic_roc,
    r_of_k_roc,
    t_pair_roc,
)
from auctor.metrics import auc

ALPHA = np.linspace(0, 1, 41)
SMOOTH = {
    "gaussian": (gaussian_roc(1.5), lambda a: stats.norm.cdf(1.5 + stats.norm.ppf(a))),
    "linear": (quadratic_roc(0.8), lambda a: a + 0.8 * a * (1 - a)),
    "steepest linear": (quadratic_roc(1.0), lambda a: 2 * a - a**2),
    "exponential": (exponential_roc(3.0), lambda a: np.expm1(-3 * a) / np.expm1(-3)),
    "power": (power_roc(0.3), lambda a: a**0.3),
}
PAIRS = {"gaussian pair": gaussian_pair_roc(), "t pair": t_pair_roc(), "t, 4": t_pair_roc(4.0)}
SMALLEST_P = 1e-3


@pytest.mark.parametrize(("distribution", "roc"), SMOOTH.values(), ids=SMOOTH)
def test_roc_is_its_formula(distribution, roc):
    np.testing.assert_allclose(distribution.tpr(ALPHA), roc(ALPHA), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "distribution", [distribution for distribution, _ in SMOOTH.values()], ids=SMOOTH
)
def test_the_integral_for_the_auc_is_the_formula(distribution):
    assert replace(distribution, known_auc=None).optimal_auc == pytest.approx(
        distribution.optimal_auc, abs=1e-12
    )


@pytest.mark.parametrize("shift", [0.2, 1.0, 3.0])
def test_gaussian_auc(shift):
    assert gaussian_roc(shift).optimal_auc == stats.norm.cdf(shift / math.sqrt(2))


@pytest.mark.parametrize(
    "distribution",
    [*PAIRS.values(), *(distribution for distribution, _ in SMOOTH.values())],
    ids=[*PAIRS, *SMOOTH],
)
def test_the_slope_is_the_likelihood_ratio(distribution):
    low, high = max(distribution.low, -3.0), min(distribution.high, 3.0)
    t = np.linspace(low, high, 13)[1:-1] + 0.01
    (alpha, beta), (alpha_next, beta_next) = (
        distribution.rates(t - 1e-4),
        distribution.rates(t + 1e-4),
    )
    np.testing.assert_allclose((beta - beta_next) / (alpha - alpha_next), np.exp(t), rtol=1e-4)


@pytest.mark.parametrize("distribution", PAIRS.values(), ids=PAIRS)
def test_pairs_rise_from_corner_to_corner(distribution):
    for rate in distribution.rates(np.linspace(distribution.low - 1, distribution.high + 1, 201)):
        assert rate[0] == 1 and rate[-1] < 1e-12
        assert np.diff(rate).max() < 1e-12
    # ROC* has an unbounded slope at 0 for one of them, so its end is off by more than rounding.
    np.testing.assert_allclose(distribution.tpr([0.0, 1.0]), [0, 1], atol=1e-4)


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("df", [None, 0.5, 8.0])
def test_pairs_are_what_is_drawn(df, label):
    if df is None:
        distribution, sample = gaussian_pair_roc(), make_gaussian_pair(2000, 2000, random_state=1)
        # F_N is twice the log likelihood ratio and 1.25.
        score = (sample.optimal_score(sample.X) - 1.25) / 2
    else:
        distribution, sample = t_pair_roc(df), make_t_pair(2000, 2000, df=df, random_state=1)
        score = sample.optimal_score(sample.X)
    drawn = score[sample.y == label]
    assert stats.kstest(drawn, lambda t: 1 - distribution.rates(t)[label]).pvalue > SMALLEST_P


@pytest.mark.parametrize("df", [1.0, 8.0])
def test_t_auc_is_that_of_a_simulation(df):
    sample = make_t_pair(200_000, 200_000, df=df, random_state=2)
    simulated = auc(sample.y, sample.optimal_score(sample.X))
    # The standard error is below 0.5 / sqrt(200,000) = 0.0011.
    assert t_pair_roc(df).optimal_auc == pytest.approx(simulated, abs=0.004)


def test_gaussian_pair_auc_is_that_of_make_gaussian_pair():
    assert gaussian_pair_roc().optimal_auc == pytest.approx(0.8456, abs=5e-5)


def test_many_degrees_of_freedom_come_near_the_gaussian():
    gaussian = gaussian_pair_roc().optimal_auc
    gaps = [gaussian - t_pair_roc(df).optimal_auc for df in (3, 10, 30)]
    assert gaps[0] > gaps[1] > gaps[2] > 0
    assert gaps[2] < 0.003


def test_discrete_roc_is_a_broken_line():
    distribution = discrete_roc([1, 2, 3, 0, 0], [5, 1, 0, 2, 0])
    np.testing.assert_allclose(
        distribution.tpr([0, 1 / 12, 1 / 6, 1 / 3, 1 / 2, 0.75, 1]),
        [2 / 8, 4.5 / 8, 7 / 8, 7.5 / 8, 1, 1, 1],
        atol=1e-12,
    )
    assert distribution.optimal_auc == pytest.approx((4.5 / 8 + 2 * 7.5 / 8 + 3) / 6)


def test_negatives_alone_lie_below_every_threshold():
    distribution = discrete_roc([1, 2], [1, 0])
    assert [float(rate) for rate in distribution.rates(-5.0)] == [pytest.approx(1 / 3), 1.0]
    assert distribution.tpr(2 / 3) == pytest.approx(1.0)


def test_classes_apart_and_classes_alike():
    assert discrete_roc([1, 0], [0, 1]).optimal_auc == 1
    alike = discrete_roc([1, 3], [1, 3])
    np.testing.assert_allclose(alike.tpr(ALPHA), ALPHA, atol=1e-12)


def test_r_of_k_distribution_is_what_is_drawn():
    distribution = r_of_k_roc(noise=0.15, positive_fraction=0.7)
    sample = make_r_of_k(100_000, positive_fraction=0.7, noise=0.15, random_state=0)
    assert distribution.optimal_auc == pytest.approx(auc(sample.y, sample.y_clean), abs=0.01)
    assert r_of_k_roc(noise=0.0).optimal_auc == 1


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: gaussian_roc(0), "shift is 0; give a finite number above 0"),
        (lambda: gaussian_roc("far"), "shift is 'far'; give a finite number"),
        (lambda: quadratic_roc(1.5), "bend is 1.5; give a number above 0 and at most 1"),
        (lambda: exponential_roc(-1), "rate is -1; give a finite number above 0"),
        (lambda: power_roc(1.0), "power is 1.0; give a fraction strictly between"),
        (lambda: t_pair_roc(0.01), "df is 0.01; give a number of at least 0.1"),
        (lambda: t_pair_roc(100), "df is 100; give a number of at most 30"),
        (lambda: discrete_roc([1, 2], [1]), "neg has 2 values and pos has 1"),
        (lambda: discrete_roc([1, -2], [1, 1]), "neg has values that are not probabilities"),
        (lambda: discrete_roc([1, 2], [0, 0]), "pos has values that are not probabilities"),
        (lambda: discrete_roc([[1]], [1]), "neg has shape"),
        (lambda: r_of_k_roc(noise=0.5), "noise is 0.5; give a probability"),
        (lambda: r_of_k_roc(positive_fraction=1), "positive_fraction is 1; give a fraction"),
        (lambda: gaussian_roc().tpr(1.2), r"fpr has values outside \[0, 1\] or NaN"),
        (lambda: gaussian_roc().tpr(math.nan), r"fpr has values outside \[0, 1\] or NaN"),
    ],
)
def test_errors_say_what_would_do(make, words):
    with pytest.raises(ValueError, match=words):
        make()
