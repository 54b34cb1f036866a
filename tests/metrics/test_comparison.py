"""Comparisons of two AUCs."""

import math

import numpy as np
import pytest

from auctor import metrics
from tests.reference import metrics as slow


@pytest.fixture
def paired(normal_scores):
    y, a = normal_scores(80, 120, shift=1.2)
    return y, a, a * 0.5 + np.random.default_rng(9).normal(size=200)


def test_prints_as_a_sentence():
    numbers = (0.1042, 0.0371, 0.1713, 3.041, 0.00236, "paired DeLong", 0.95, 0.7861, 0.6819)
    result = metrics.AucComparison(*numbers, degrees_of_freedom=math.inf, n_pos=80, n_neg=1)
    assert str(result) == repr(result)
    assert str(result) == (
        "AUC: 0.786 (A) and 0.682 (B), difference (A - B) +0.104 (95% CI 0.037 to 0.171), "
        "z = 3.04, p = 0.0024 (paired DeLong, 80 positives, 1 negative)"
    )


def test_a_tiny_p_value_is_printed_as_a_bound():
    y, score = np.repeat([0, 1], 300), np.arange(600.0)
    for result in (
        metrics.compare_auc(y, score, -score),
        metrics.compare_auc(y, score, -score % 7, method="delong"),
        metrics.compare_metric(y, score, -score % 7, metric="ks"),
    ):
        assert "p < 0.0001 (" in str(result)


def test_paired_delong_equals_the_matrix_of_pairs(paired):
    y, a, b = paired
    covariance = slow.delong_covariance(y, a, b)
    error = math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1])
    result = metrics.compare_auc(y, a, b, level=0.9, method="delong")
    assert result.difference == result.auc_a - result.auc_b == slow.auc(y, a) - slow.auc(y, b)
    assert result.statistic == pytest.approx(result.difference / error, rel=1e-12)
    assert result.p_value == pytest.approx(math.erfc(result.statistic / math.sqrt(2)), rel=1e-12)
    assert result.high - result.low == pytest.approx(2 * 1.6448536269514722 * error, rel=1e-12)


def test_bootstrap_agrees_with_delong(paired):
    y, a, b = paired
    delong = metrics.compare_auc(y, a, b)
    boot = metrics.compare_auc(y, a, b, method="bootstrap", n_resamples=4000, random_state=0)
    assert boot.method == "paired stratified bootstrap, MOVER limits"
    assert boot.difference == delong.difference
    assert boot.statistic == pytest.approx(delong.statistic, rel=0.05)
    assert (boot.low, boot.high) == pytest.approx((delong.low, delong.high), abs=0.01)


def test_unpaired_bootstrap_agrees_with_delong(paired):
    y, a, b = paired
    rows = np.random.default_rng(2).permutation(200)[:150]
    delong = metrics.compare_auc(y, a, b[rows], y_true_b=y[rows])
    boot = metrics.compare_auc(
        y, a, b[rows], y_true_b=y[rows], method="bootstrap", n_resamples=4000, random_state=0
    )
    assert boot.method == "unpaired stratified bootstrap, MOVER limits"
    assert boot.statistic == pytest.approx(delong.statistic, rel=0.05)
    assert boot.n_pos == 80 + y[rows].sum()


def test_cluster_bootstrap_of_tiled_rows_sees_through_them(paired):
    y, a, b = (np.tile(values, 3) for values in paired)
    groups = np.tile(np.arange(200), 3)
    one = metrics.compare_auc(*paired)
    result = metrics.compare_auc(y, a, b, groups=groups)
    assert result.method == "paired by groups, MOVER limits"
    assert result.statistic == pytest.approx(one.statistic, rel=0.01)
    arguments = {"groups": groups, "method": "bootstrap", "random_state": 0}
    drawn = metrics.compare_auc(y, a, b, **arguments)
    assert drawn.method == "paired cluster bootstrap, MOVER limits"
    assert drawn.statistic == pytest.approx(one.statistic, rel=0.1)


def test_bootstrap_takes_weights(paired):
    y, a, b = paired
    w = np.arange(200) % 4.0
    options = {"method": "bootstrap", "n_resamples": 100, "random_state": 1}
    result = metrics.compare_auc(y, a, b, sample_weight=w, **options)
    assert result.auc_b == metrics.auc(y, b, sample_weight=w)
    apart = metrics.compare_auc(
        y, a, b, y_true_b=y, sample_weight=w, sample_weight_b=w[::-1], **options
    )
    assert apart.auc_b == metrics.auc(y, b, sample_weight=w[::-1])


@pytest.mark.parametrize("method", ["delong", "bootstrap"])
def test_identical_scores_show_no_difference(paired, method):
    y, a, _ = paired
    result = metrics.compare_auc(y, a, a**3, method=method, n_resamples=20)
    assert (result.difference, result.low, result.high) == (0, 0, 0)
    assert (result.statistic, result.p_value) == (0, 1)


def test_perfect_against_perfect_unpaired_and_against_hopeless():
    y, s = np.array([0, 0, 1, 1]), np.array([1.0, 2, 3, 4])
    same = metrics.compare_auc(y, s, s, y_true_b=y)
    assert (same.difference, same.statistic, same.p_value) == (0, 0, 1)
    for y_true_b in (None, y):
        far = metrics.compare_auc(y, -s, s, y_true_b=y_true_b, method="delong")
        assert (far.difference, far.statistic, far.p_value) == (-1, -math.inf, 0)
        # Two rows of a class in order are no proof.
        doubted = metrics.compare_auc(y, -s, s, y_true_b=y_true_b)
        assert doubted.low == doubted.difference == -1 and 0.01 < doubted.p_value < 0.5


@pytest.mark.parametrize("method", ["delong", "bootstrap"])
def test_fields_are_plain(paired, method):
    result = metrics.compare_auc(*paired, method=method, n_resamples=20)
    names = ("difference", "low", "high", "statistic", "p_value", "level", "auc_a", "auc_b")
    assert {type(getattr(result, name)) for name in names} == {float}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 1}, "give a number between 0 and 1, such as 0.95"),
        ({"method": "exact"}, "method is 'exact'; give 'wilson', 'delong' or 'bootstrap'"),
        ({"sample_weight": np.ones(200), "method": "delong"}, "give method='wilson'"),
        (
            {"sample_weight_b": np.ones(200), "method": "bootstrap"},
            "sample_weight_b is given without y_true_b",
        ),
        ({"y_true_b": [0, 1] * 100, "groups": np.arange(200)}, "groups only for a paired"),
        ({"y_true_b": [0, 1]}, "score_b has 200 values for 2 labels"),
        ({"y_true_b": [0] * 199 + [1]}, "y_true_b has 1 positive and 199 negatives"),
        ({"n_resamples": 2.5}, "n_resamples is 2.5; give a whole number"),
    ],
)
def test_bad_arguments(paired, options, message):
    with pytest.raises(ValueError, match=message):
        metrics.compare_auc(*paired, **options)


def test_folds_average_the_differences_within_them(paired):
    y, a, b = paired
    folds = np.arange(200) % 4
    comparison = metrics.compare_auc(y, a, b, folds=folds, instability=0.5)
    parts = [metrics.compare_auc(y[folds == k], a[folds == k], b[folds == k]) for k in range(4)]
    errors = [part.difference / part.statistic for part in parts]
    assert comparison.method == (
        "paired within folds, MOVER limits, variance multiplied by 1.50 for overlapping training "
        "sets"
    )
    assert comparison.difference == pytest.approx(np.mean([part.difference for part in parts]))
    assert comparison.difference / comparison.statistic == pytest.approx(
        math.sqrt(1.5 * sum(error**2 for error in errors)) / 4
    )


def test_folds_by_bootstrap_agree_with_delong(paired):
    y, a, b = paired
    folds = np.arange(200) % 4
    plain = metrics.compare_auc(y, a, b, folds=folds)
    drawn = metrics.compare_auc(y, a, b, folds=folds, method="bootstrap", random_state=0)
    assert drawn.method.startswith("paired stratified bootstrap within folds, MOVER limits")
    assert drawn.difference == pytest.approx(plain.difference)
    assert drawn.high - drawn.low == pytest.approx(plain.high - plain.low, rel=0.1)


def test_folds_go_with_paired_rows_only(paired):
    y, a, b = paired
    with pytest.raises(ValueError, match="folds only for a paired comparison"):
        metrics.compare_auc(y, a, b, y_true_b=y, folds=np.arange(200) % 4)


def test_a_difference_that_rounds_to_zero_has_no_sign(paired):
    y, a, _ = paired
    almost = a.copy()
    almost[np.argsort(a)[:2]] = almost[np.argsort(a)[1::-1]]
    assert "difference (A - B) 0.000 (" in str(metrics.compare_auc(y, a, almost))
    assert "-0.000" not in str(metrics.compare_auc(y, almost, a))


@pytest.mark.parametrize("method", ["wilson", "bootstrap"])
def test_a_perfect_score_with_weights(method):
    """Sums of fractional weights are rounded: an AUC above 1 has no limits."""
    y = np.repeat([0, 1], 30)
    for seed in range(30):
        rng = np.random.default_rng(seed)
        scores, weight = (5 * y + rng.random(60), rng.random(60)), rng.random(60) + 0.1
        arguments = {
            "sample_weight": weight,
            "method": method,
            "n_resamples": 20,
            "random_state": 0,
        }
        comparison = metrics.compare_auc(y, *scores, **arguments)
        assert (
            comparison.auc_a == pytest.approx(1.0)
            and comparison.auc_a <= 1.0
            and comparison.p_value < 0.05
        )
        folds = np.arange(60) % 5
        assert metrics.auc_ci(y, scores[0], folds=folds, sample_weight=weight).value <= 1.0
