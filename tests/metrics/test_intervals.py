"""Intervals of one AUC: DeLong, bootstraps, folds."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from auctor import metrics
from auctor.metrics import bootstrap
from auctor.metrics.sample import read_sample
from tests.reference import metrics as slow

FIELDS = ("value", "low", "high", "level", "standard_error")


def test_prints_as_a_sentence():
    result = metrics.AucInterval(0.8421, 0.8112, 0.873, 0.95, "DeLong", 0.016, 151, 3012)
    sentence = "AUC 0.842 (95% CI 0.811 to 0.873, DeLong, 151 positives, 3012 negatives)"
    assert str(result) == repr(result) == sentence


@pytest.mark.parametrize("method", ["delong", "bootstrap"])
def test_fields_are_plain(normal_scores, method):
    result = metrics.auc_ci(*normal_scores(20, 30), method=method, n_resamples=50)
    assert {type(getattr(result, field)) for field in FIELDS} == {float}
    assert (result.n_pos, result.n_neg, result.n_folds) == (20, 30, None)
    assert result.value == metrics.auc(*normal_scores(20, 30))


def test_level_widens_and_the_ends_stay_inside(normal_scores):
    y, s = normal_scores(10, 10, shift=1.5)
    narrow, wide = metrics.auc_ci(y, s, level=0.5), metrics.auc_ci(y, s, level=0.999)
    assert wide.low < narrow.low < narrow.value < narrow.high < wide.high <= 1.0
    assert "50% CI" in str(narrow) and "99.9% CI" in str(wide)


def test_perfect_score_has_no_width_by_delong():
    result = metrics.auc_ci([0, 0, 1, 1], [1, 2, 3, 4], method="delong")
    assert (result.low, result.value, result.high, result.standard_error) == (1, 1, 1, 0)


@pytest.mark.parametrize("n", [5, 50, 500])
def test_perfect_score_is_not_certain(n):
    """Where all pairs are in order the lower limit follows the number of rows."""
    result = metrics.auc_ci([0] * n + [1] * n, range(2 * n))
    assert (result.value, result.high, result.standard_error) == (1, 1, 0)
    # 1 - A of about 3 / n would leave n rows in order with probability 0.05.
    assert 1 / n < 1 - result.low < 4 / n


@pytest.mark.parametrize(
    ("n_pos", "n_neg", "shift"), [(10, 10, 2.66), (10, 200, 1.81), (5, 300, 0.95)]
)
def test_the_interval_holds_the_true_auc(normal_scores, n_pos, n_neg, shift):
    """Cells where the interval of DeLong as printed covers in 69 to 84 % of samples."""
    truth, n_samples = float(ndtr(shift / np.sqrt(2))), 400
    held = 0
    for seed in range(n_samples):
        interval = metrics.auc_ci(*normal_scores(n_pos, n_neg, shift=shift, seed=seed))
        held += interval.low <= truth <= interval.high
    # Three standard errors of a fraction of 0.95 below it.
    assert held / n_samples > 0.95 - 3 * np.sqrt(0.95 * 0.05 / n_samples)


def test_weights_are_relative(normal_scores):
    rng = np.random.default_rng(0)
    """Only proportions count, and equal weights are no weights."""
    y, s = normal_scores(20, 40)
    weight = rng.integers(1, 5, len(y)).astype(float)
    one, many = (metrics.auc_ci(y, s, sample_weight=k * weight) for k in (1.0, 1024.0))
    assert (one.low, one.value, one.high) == (many.low, many.value, many.high)
    plain, equal = metrics.auc_ci(y, s), metrics.auc_ci(y, s, sample_weight=np.full(len(y), 7.0))
    assert (equal.low, equal.high) == pytest.approx((plain.low, plain.high), abs=1e-12)


def test_unequal_weights_count_by_kish(normal_scores):
    """Lognormal weights of sigma 1 leave one effective row in e, so that variances are e times."""
    rng = np.random.default_rng(0)
    weighted, plain = 0.0, 0.0
    for seed in range(40):
        y, s = normal_scores(100, 100, seed=seed)
        weight = rng.lognormal(sigma=1.0, size=len(y))
        weighted += metrics.auc_ci(y, s, sample_weight=weight).standard_error ** 2
        plain += metrics.auc_ci(y, s).standard_error ** 2
    assert weighted / plain == pytest.approx(np.e, rel=0.2)


def test_bootstrap_agrees_with_delong(normal_scores):
    y, s = normal_scores(150, 300, decimals=1)
    delong = metrics.auc_ci(y, s)
    boot = metrics.auc_ci(y, s, method="bootstrap", n_resamples=4000, random_state=0)
    assert boot.method == "stratified bootstrap, Wilson's limits"
    # The standard deviation of 4000 values is known to about one part in ninety.
    assert boot.standard_error == pytest.approx(delong.standard_error, rel=0.04)
    assert boot.low == pytest.approx(delong.low, abs=0.2 * delong.standard_error)
    assert boot.high == pytest.approx(delong.high, abs=0.2 * delong.standard_error)


def test_every_draw_equals_the_rows_taken_that_often(normal_scores):
    y, s = normal_scores(6, 9, decimals=0)
    sample = read_sample(y, {"y_score": s})
    ranked = bootstrap.rank(sample)
    draws = bootstrap.stratified_draws(sample, np.random.default_rng(3))
    for _ in range(20):
        pos, neg = next(draws)
        assert pos.sum() == 6 and neg.sum() == 9
        times = np.empty(len(y), dtype=int)
        times[y == 1], times[y == 0] = pos, neg
        assert ranked.auc((pos, neg)) == slow.auc(np.repeat(y, times), np.repeat(s, times))


def test_cluster_draws_take_whole_groups_and_both_classes():
    y = np.array([1, 1, 0, 0, 0, 1])
    codes = np.array([0, 0, 0, 1, 1, 2])
    sample = read_sample(y, {"y_score": np.arange(6.0)})
    draws = bootstrap.cluster_draws(sample, codes, np.random.default_rng(0))
    for _ in range(200):
        pos, neg = next(draws)
        assert pos.any() and neg.any()
        assert pos[0] == pos[1] == neg[0]  # rows 0, 1 and 2 are one group
        assert neg[1] == neg[2]


def test_seed_decides_and_any_kind_of_seed_goes(normal_scores):
    y, s = normal_scores(20, 20)

    def run(seed):
        return metrics.auc_ci(y, s, method="bootstrap", n_resamples=50, random_state=seed)

    assert run(3) == run(3) == run(np.random.default_rng(3))
    assert run(3) != run(4)
    assert run(np.random.RandomState(1)) == run(np.random.RandomState(1))


def test_groups_widen_the_interval_of_repeated_rows(normal_scores):
    y, s = normal_scores(60, 60)
    y, s = np.tile(y, 4), np.tile(s, 4)
    groups = np.tile(np.arange(120), 4)
    by_row = metrics.auc_ci(y, s)
    by_group = metrics.auc_ci(y, s, groups=groups)
    assert by_group.method == "Obuchowski's variance over groups, Wilson's limits"
    # Four copies of each row halve the error of the rows and tell nothing of the groups.
    assert by_group.standard_error == pytest.approx(2 * by_row.standard_error, rel=0.1)


def test_groups_of_one_row_are_the_rows(normal_scores):
    y, s = normal_scores(100, 100)
    names = [f"customer {row}" for row in range(200)]
    by_group = metrics.auc_ci(y, s, groups=names, n_resamples=4000, random_state=0)
    assert by_group.standard_error == pytest.approx(metrics.auc_ci(y, s).standard_error, rel=0.05)


def test_bootstrap_takes_weights_and_weight_zero_is_no_row(normal_scores):
    y, s = normal_scores(30, 40)
    w = np.arange(70) % 3.0
    options = {"method": "bootstrap", "n_resamples": 100, "random_state": 0}
    result = metrics.auc_ci(y, s, sample_weight=w, **options)
    assert result.value == metrics.auc(y, s, sample_weight=w)
    kept = w > 0
    same = metrics.auc_ci(y[kept], s[kept], sample_weight=w[kept], **options)
    assert result == same
    groups = np.arange(70) // 2
    by_group = metrics.auc_ci(y, s, sample_weight=w, groups=groups, n_resamples=100, random_state=0)
    assert by_group.value == result.value


def test_folds_average_aucs_and_their_variance(normal_scores):
    parts = [normal_scores(30, 20, seed=1), normal_scores(25, 40, shift=0.5, seed=2)]
    y = np.concatenate([y for y, _ in parts])
    s = np.concatenate([s + 100 * fold for fold, (_, s) in enumerate(parts)])
    folds = np.repeat([7, 3], [50, 65])
    result = metrics.auc_ci(y, s, folds=folds, method="delong")
    alone = [metrics.auc_ci(*part) for part in parts]
    assert result.value == pytest.approx(sum(one.value for one in alone) / 2, abs=1e-15)
    error = math.hypot(*(one.standard_error for one in alone)) / 2
    assert result.standard_error == pytest.approx(error, rel=1e-12)
    assert result.method == "DeLong within folds" and result.n_folds == 2
    assert str(result).startswith(f"cross-validated AUC {result.value:.3f} (95% CI ")
    assert str(result).endswith("DeLong within folds, 2 folds, 55 positives, 60 negatives)")


def test_folds_of_one_size_are_as_sure_as_all_rows_together(normal_scores):
    y, s = normal_scores(200, 300)
    folds = np.arange(500) % 5
    whole, within = metrics.auc_ci(y, s), metrics.auc_ci(y, s, folds=folds, instability=0)
    assert within.standard_error == pytest.approx(whole.standard_error, rel=0.05)


def test_delong_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    truth = 0.5 * math.erfc(-0.5)  # of two unit normals one apart: Phi(1 / sqrt(2))
    y = np.repeat([1, 0], [60, 90])
    inside = 0
    for _ in range(600):
        result = metrics.auc_ci(y, rng.normal(size=150) + y, level=0.9)
        inside += result.low <= truth <= result.high
    assert 0.87 <= inside / 600 <= 0.93


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"level": 95}, "level is 95; give a number between 0 and 1, such as 0.95"),
        ({"level": "high"}, "level is 'high'; give a number"),
        ({"method": "wald"}, "method is 'wald'; give 'wilson', 'delong' or 'bootstrap'"),
        (
            {"method": "delong", "sample_weight": np.ones(8)},
            "not defined with sample_weight; give method='wilson'",
        ),
        (
            {"method": "delong", "groups": [0, 1] * 4},
            "not defined with groups; give method='wilson'",
        ),
        ({"n_resamples": 1}, "n_resamples is 1; give a whole number of at least 2"),
        ({"groups": [0] * 8}, "groups has only one group"),
        ({"groups": [0] * 3}, "groups has 3 values for 8 rows"),
        ({"groups": [0, 1, 2, None] * 2}, "groups has missing values"),
        ({"groups": np.array(["a", 1] * 4, dtype=object)}, "groups has values of several types"),
        ({"folds": [0, 1, 2, math.nan] * 2}, "folds has missing values"),
        ({"folds": [0] * 8, "groups": [1] * 8}, "groups has only one group"),
        ({"folds": ["a"] * 7 + ["b"]}, "fold 'b' has 1 positive and 0 negatives"),
    ],
)
def test_bad_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        metrics.auc_ci([0, 1] * 4, np.arange(8.0), **options)


@pytest.mark.parametrize("method", ["delong", "bootstrap"])
def test_one_row_of_a_class_is_too_few(method):
    with pytest.raises(ValueError, match="y_true has 1 positive and 3 negatives; an interval"):
        metrics.auc_ci([0, 0, 0, 1], [1, 2, 3, 4], method=method)


def test_folds_by_bootstrap_agree_with_delong(normal_scores):
    y, s = normal_scores(300, 200, 1.0, seed=3)
    folds = np.arange(500) % 5
    plain = metrics.auc_ci(y, s, folds=folds)
    drawn = metrics.auc_ci(y, s, folds=folds, method="bootstrap", random_state=0)
    assert drawn.method == (
        "stratified bootstrap within folds, variance multiplied by 2.00 for overlapping training "
        "sets, Wilson's limits"
    )
    assert drawn.value == pytest.approx(plain.value)
    assert drawn.standard_error == pytest.approx(plain.standard_error, rel=0.1)


def test_groups_within_folds_are_drawn_whole(normal_scores):
    """Each row ten times, in one group: as unsure as once, not as a tenth of it."""
    y, s = normal_scores(60, 60, 1.0, seed=4)
    folds, groups = np.arange(120) % 3, np.arange(120)
    once = metrics.auc_ci(y, s, folds=folds)
    many = {
        name: np.repeat(value, 10) for name, value in {"folds": folds, "groups": groups}.items()
    }
    arguments = {"method": "bootstrap", "random_state": 0, "n_resamples": 500}
    together = metrics.auc_ci(np.repeat(y, 10), np.repeat(s, 10), **many, **arguments)
    assert together.method.startswith("cluster bootstrap within folds, variance multiplied by 2.00")
    assert together.standard_error == pytest.approx(once.standard_error, rel=0.15)
    alone = metrics.auc_ci(np.repeat(y, 10), np.repeat(s, 10), folds=many["folds"], **arguments)
    assert alone.standard_error < once.standard_error / 2


def test_weights_within_folds_count_rows_as_often(normal_scores):
    y, s = normal_scores(60, 60, 1.0, seed=5)
    folds, weight = np.arange(120) % 3, np.random.default_rng(0).integers(0, 3, 120)
    weight[:6] = 2
    arguments = {"method": "bootstrap", "random_state": 0}
    weighted = metrics.auc_ci(y, s, folds=folds, sample_weight=weight, **arguments)
    copied = metrics.auc_ci(*(np.repeat(v, weight) for v in (y, s)), folds=np.repeat(folds, weight))
    assert weighted.value == pytest.approx(copied.value)
    assert weighted.standard_error > copied.standard_error  # copies are not more rows
