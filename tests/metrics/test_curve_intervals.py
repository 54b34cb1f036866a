"""Intervals of KS, precision at k and partial AUC: values, coverage, folds, groups, weights."""

from math import isnan

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri
from scipy.stats import norm, rankdata

from auctor.metrics import (
    auc_ci,
    ks,
    ks_ci,
    partial_auc,
    partial_auc_ci,
    precision_at_k,
    precision_at_k_ci,
)

SHIFT = 1.0
FUNCTIONS = {
    "ks": (ks, ks_ci, {}),
    "precision_at_k": (precision_at_k, precision_at_k_ci, {"k": 0.2}),
    "partial_auc": (partial_auc, partial_auc_ci, {"fpr_range": (0, 0.3)}),
    "scaled": (partial_auc, partial_auc_ci, {"fpr_range": (0, 0.3), "scaled": True}),
    "by_tpr": (partial_auc, partial_auc_ci, {"tpr_range": (0.5, 1.0)}),
}
each_function = pytest.mark.parametrize("name", FUNCTIONS)


def draw(seed, n_pos=40, n_neg=60):
    rng = np.random.default_rng(seed)
    y = np.repeat([1, 0], [n_pos, n_neg])
    return y, rng.normal(size=n_pos + n_neg) + SHIFT * y


@each_function
def test_the_value_is_that_of_the_metric(name):
    metric, interval, options = FUNCTIONS[name]
    y, s = draw(0)
    estimate = interval(y, s, **options, n_resamples=50, random_state=0)
    assert estimate.value == pytest.approx(metric(y, s, **options), rel=1e-12)
    assert estimate.low < estimate.value < estimate.high
    assert (estimate.n_pos, estimate.n_neg, estimate.n_folds) == (40, 60, None)
    assert estimate.standard_error > 0
    assert estimate == interval(y, s, **options, n_resamples=50, random_state=0)
    wider = interval(y, s, **options, level=0.999, n_resamples=50, random_state=0)
    assert wider.low < estimate.low and estimate.high < wider.high


@each_function
def test_folds_are_pooled_by_rank(name):
    metric, interval, options = FUNCTIONS[name]
    y, s = draw(1, 60, 90)
    folds = np.arange(150) % 3
    s = s + 100.0 * folds  # models whose scores cannot be compared
    estimate = interval(y, s, **options, folds=folds, n_resamples=50, random_state=0)
    ranks = np.empty(150)
    for k in range(3):
        ranks[folds == k] = rankdata(s[folds == k])
    pooled = metric(y, ranks, **options)
    if name == "ks":  # what it has too much is gone
        assert 0.5 * pooled < estimate.value < pooled
    else:
        assert estimate.value == pytest.approx(pooled, rel=1e-9)
    said = "within 3 folds, variance multiplied by 2.00 for overlapping training sets"
    assert estimate.n_folds == 3 and said in str(estimate)
    fixed = interval(y, s, **options, folds=folds, instability=0, n_resamples=50, random_state=0)
    assert fixed.standard_error < estimate.standard_error
    assert fixed.value == estimate.value
    assert estimate.low < estimate.value < estimate.high


def test_a_number_of_rows_is_its_fraction_of_every_fold():
    y, s = draw(2, 60, 90)
    folds = np.arange(150) % 3
    interval = precision_at_k_ci(y, s, k=30, folds=folds, n_resamples=20, random_state=0)
    fraction = precision_at_k_ci(y, s, k=0.2, folds=folds, n_resamples=20, random_state=0)
    assert interval.value == pytest.approx(fraction.value)


@each_function
def test_rows_that_go_together_vary_more(name):
    _, interval, options = FUNCTIONS[name]
    y, s = draw(3, 20, 20)
    rows = np.repeat(np.arange(40), 8)
    alone = interval(y[rows], s[rows], **options, n_resamples=200, random_state=0)
    together = interval(y[rows], s[rows], **options, groups=rows, n_resamples=200, random_state=0)
    assert together.method.startswith(("cluster bootstrap", "variance of the group contributions"))
    assert together.value == pytest.approx(alone.value)
    assert together.high - together.low > 1.5 * (alone.high - alone.low)


@each_function
def test_weights_count_as_rows_in_the_value(name):
    metric, interval, options = FUNCTIONS[name]
    y, s = draw(4)
    weight = np.random.default_rng(5).integers(0, 4, size=100)
    estimate = interval(y, s, **options, sample_weight=weight, n_resamples=50, random_state=0)
    repeated = np.repeat(np.arange(100), weight)
    assert estimate.value == pytest.approx(metric(y[repeated], s[repeated], **options), rel=1e-9)
    assert estimate.low < estimate.value < estimate.high


def true_values():
    """Of normal scores SHIFT apart with equal classes, in the population."""
    top = brentq(lambda t: (norm.sf(t - SHIFT) + norm.sf(t)) / 2 - 0.2, -10, 10)
    return {
        "ks": 2 * norm.cdf(SHIFT / 2) - 1,
        "precision_at_k": norm.sf(top - SHIFT) / 2 / 0.2,
        "partial_auc": quad(lambda f: norm.sf(norm.isf(f) - SHIFT), 0, 0.3)[0],
    }


@pytest.mark.parametrize("n_folds", [1, 5])
@pytest.mark.parametrize("name", ["ks", "precision_at_k", "partial_auc"])
def test_the_interval_holds_the_true_value_nearly_as_often_as_it_says(name, n_folds):
    """Also in folds, each of which has few rows and so too large a KS."""
    _, interval, options = FUNCTIONS[name]
    truth = true_values()[name]
    folds = np.arange(120) % n_folds
    intervals = [
        interval(*draw(seed, 60, 60), **options, folds=folds, n_resamples=60, random_state=seed)
        for seed in range(150)
    ]
    # Of 95 %; three standard deviations of 150 draws are 0.053, and small samples cost some.
    assert np.mean([one.low <= truth <= one.high for one in intervals]) >= 0.87


@each_function
@pytest.mark.parametrize("shift", [-3.0, -0.15, 0.0])
def test_scores_no_better_than_chance_have_an_interval_that_holds_the_value(name, shift):
    _, interval, options = FUNCTIONS[name]
    for seed in range(15):
        rng = np.random.default_rng(seed)
        y = np.repeat([1, 0], 40)
        s = rng.normal(size=80) + shift * y
        for folds in (None, np.arange(80) % 4):
            estimate = interval(y, s, **options, folds=folds, n_resamples=30, random_state=0)
            assert estimate.low <= estimate.value <= estimate.high
            assert estimate.low >= (0 if name != "scaled" else (1 - 0.045 / 0.255) / 2)


def test_perfect_order_is_not_certain():
    y, s = np.repeat([0, 1], 20), np.arange(40.0)
    interval = ks_ci(y, s, random_state=0)
    assert interval.value == interval.high == 1.0 and 0.7 < interval.low < 0.95
    interval = precision_at_k_ci(y, s, k=10, random_state=0)
    assert interval.value == interval.high == 1.0 and 0.6 < interval.low < 0.8
    nothing = precision_at_k_ci(1 - y, s, k=10, random_state=0)
    assert nothing.value == nothing.low == 0.0 and 0.2 < nothing.high < 0.4


@pytest.mark.parametrize(
    ("function", "more"),
    [(ks_ci, {}), (precision_at_k_ci, {"k": 300})],
    ids=["KS", "precision at k"],
)
def test_perfect_order_of_few_groups_is_less_certain(function, more):
    """Where no resample varies, it is groups that count, or rows that weigh."""
    y, s = np.repeat([0, 1], 500), np.arange(1000.0)
    groups, options = np.arange(1000) // 100, {"n_resamples": 30, "random_state": 0}
    alone = function(y, s, **more, **options)
    together = function(y, s, **more, **options, groups=groups)
    assert alone.value == together.value == 1.0
    assert alone.low > 0.97 and together.low < 0.75
    weight = np.where(np.arange(1000) % 100 == 0, 1e4, 1.0)  # 5 rows of a class outweigh all
    heavy = function(y, s, **({"k": 0.3} if more else {}), **options, sample_weight=weight)
    assert heavy.value == 1.0 and heavy.low < 0.75


def test_a_score_of_ties():
    y = np.repeat([0, 1], 20)
    assert ks_ci(y, np.zeros(40), random_state=0).value == 0.0
    interval = precision_at_k_ci(y, np.zeros(40), k=10, random_state=0)
    assert interval.value == 0.5 and not isnan(interval.low)


def test_the_top_is_resampled_in_fine_steps():
    """Of many rows, a short top keeps its own."""
    rng = np.random.default_rng(0)
    y = (np.arange(200_000) % 2).astype(int)
    s = rng.normal(size=200_000) + y
    interval = precision_at_k_ci(y, s, k=20, n_resamples=200, random_state=0)
    p = interval.value
    assert interval.standard_error == pytest.approx(np.sqrt(p * (1 - p) / 20), rel=0.5)


def test_sentences():
    y, s = draw(0)
    said = str(precision_at_k_ci(y, s, k=0.125, n_resamples=20, random_state=0))
    assert said.startswith("precision 0.") and " in the top 12.5% (95% CI 0." in said
    assert " in the top 7 (" in str(precision_at_k_ci(y, s, k=7, n_resamples=20))
    assert " in the top 0.01% (" in str(precision_at_k_ci(y, s, k=1e-4, n_resamples=20))
    assert str(ks_ci(y, s, n_resamples=20, random_state=0)).startswith("KS 0.")
    area = str(partial_auc_ci(y, s, fpr_range=(0, 0.1), scaled=True, n_resamples=20))
    assert area.startswith("scaled partial AUC 0.") and " over fpr 0 to 0.1 (" in area
    perfect = partial_auc_ci([0, 0, 1, 1], [1, 2, 3, 4], fpr_range=(0, 0.5))
    assert perfect.value == perfect.high == 0.5 and perfect.low < 0.25
    assert said.endswith(
        "stratified bootstrap, Clopper-Pearson limits, 40 positives, 60 negatives)"
    )


def test_what_is_wrong_is_named():
    y, s = draw(0)
    with pytest.raises(ValueError, match="level is 95; give a number between 0 and 1"):
        ks_ci(y, s, level=95)
    with pytest.raises(ValueError, match="give a whole number of at least 2"):
        ks_ci(y, s, n_resamples=0.5)
    with pytest.raises(ValueError, match="k is 101, but there are 100 rows"):
        precision_at_k_ci(y, s, k=101)
    with pytest.raises(ValueError, match=r"k is 1\.5; give a whole number"):
        precision_at_k_ci(y, s, k=1.5)
    with pytest.raises(ValueError, match="none of fpr_range, tpr_range is given"):
        partial_auc_ci(y, s)
    with pytest.raises(ValueError, match="needs at least 2 of each"):
        ks_ci([0, 0, 1], [1, 2, 3])
    with pytest.raises(ValueError, match="fold 0 has"):
        ks_ci(y, s, folds=np.arange(100) // 2)


@pytest.mark.parametrize(
    ("n_pos", "n_neg", "shift"), [(10, 20, 2.66), (20, 200, 2.66), (50, 50, 1.81)]
)
def test_the_interval_of_a_partial_area_holds_the_true_one(n_pos, n_neg, shift):
    """Cells where percentiles of a bootstrap cover in 73 to 89 % of samples."""
    fpr = (np.arange(2000) + 0.5) / 20_000
    truth, n_samples, held = 0.1 * float(ndtr(shift + ndtri(fpr)).mean()), 400, 0
    for seed in range(n_samples):
        rng = np.random.default_rng(seed)
        y = np.repeat([1, 0], [n_pos, n_neg])
        interval = partial_auc_ci(y, rng.normal(size=len(y)) + shift * y, fpr_range=(0, 0.1))
        held += interval.low <= truth <= interval.high
    # Three standard errors of a fraction of 0.95 below it.
    assert held / n_samples > 0.95 - 3 * np.sqrt(0.95 * 0.05 / n_samples)


@pytest.mark.parametrize("shift", [0.0, 0.95])
def test_the_interval_of_ks_holds_the_true_one_in_small_samples(shift):
    """5 + 200 rows, where a normal interval covers in 85 % of samples."""
    truth, n_samples, held = 2 * float(ndtr(shift / 2)) - 1, 150, 0
    for seed in range(n_samples):
        rng = np.random.default_rng(seed)
        y = np.repeat([1, 0], [5, 200])
        scores = rng.normal(size=len(y)) + shift * y
        interval = ks_ci(y, scores, n_resamples=60, random_state=seed)
        held += interval.low <= truth <= interval.high
    assert held / n_samples > 0.95 - 3 * np.sqrt(0.95 * 0.05 / n_samples)


def test_a_region_of_the_true_positive_rate_is_one_of_the_other_class():
    y, s = draw(0)
    one = partial_auc_ci(y, s, tpr_range=(0.6, 1.0))
    other = partial_auc_ci(1 - y, -s, fpr_range=(0.0, 0.4))
    assert (one.low, one.value, one.high) == pytest.approx(
        (other.low, other.value, other.high), abs=1e-12
    )


def test_the_whole_region_is_the_auc():
    y, s = draw(0)
    part, whole = partial_auc_ci(y, s, fpr_range=(0.0, 1.0)), auc_ci(y, s)
    assert part.value == pytest.approx(whole.value, abs=1e-12)
    assert part.standard_error == pytest.approx(whole.standard_error, rel=1e-9)


@each_function
def test_equal_weights_are_none(name):
    _, interval, options = FUNCTIONS[name]
    y, s = draw(0)
    intervals = [
        interval(y, s, **options, sample_weight=weight, n_resamples=20, random_state=0)
        for weight in (None, np.full(len(y), 7.0))
    ]
    assert intervals[0].low == pytest.approx(intervals[1].low, abs=1e-12)
    assert intervals[0].high == pytest.approx(intervals[1].high, abs=1e-12)


def test_groups_and_rows_of_weight_zero():
    y, s = draw(0)
    weight = np.where(np.arange(len(y)) % 7 == 0, 0.0, 1.0 + np.arange(len(y)) % 3)
    options = {"groups": np.arange(len(y)) // 4, "sample_weight": weight}
    interval = partial_auc_ci(
        y, s, fpr_range=(0, 0.3), method="bootstrap", n_resamples=20, **options
    )
    assert interval.low < interval.value < interval.high
