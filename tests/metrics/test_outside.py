"""The metrics against numbers from elsewhere: pROC (stored), scikit-learn, scipy."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
import scipy.stats
import sklearn.metrics

from auctor import metrics

TO_TEN_PLACES = {"abs": 1e-10, "rel": 1e-10}


PROC = json.loads((Path(__file__).parents[1] / "reference_values" / "proc.json").read_text())
over_proc_cases = pytest.mark.parametrize("case", PROC, ids=[case["name"] for case in PROC])


@over_proc_cases
def test_proc_areas(case):
    y, s = case["y"], case["s1"]
    assert metrics.auc(y, s) == pytest.approx(case["auc1"], **TO_TEN_PLACES)
    assert metrics.auc(y, case["s2"]) == pytest.approx(case["auc2"], **TO_TEN_PLACES)
    curve = metrics.roc_curve(y, s)
    over_fpr, over_tpr = (
        curve.partial_auc(fpr_range=(0, 0.1)),
        curve.partial_auc(tpr_range=(0.8, 1)),
    )
    assert over_fpr == pytest.approx(case["pauc_fpr_0_0.1"], **TO_TEN_PLACES)
    assert over_tpr == pytest.approx(case["pauc_tpr_0.8_1"], **TO_TEN_PLACES)
    assert curve.ks() == pytest.approx(case["best_youden"], **TO_TEN_PLACES)


@over_proc_cases
def test_proc_scaled_area(case):
    scaled = metrics.partial_auc(case["y"], case["s1"], fpr_range=(0, 0.1), scaled=True)
    stored = case["pauc_fpr_0_0.1_mcclish"]
    # pROC gives NA below chance, where the formula goes on below one half.
    if stored == "NA":
        assert scaled < 0.5
    else:
        assert scaled == pytest.approx(stored, **TO_TEN_PLACES)


@over_proc_cases
def test_proc_delong(case):
    y, a, b = (np.array(case[key]) for key in ("y", "s1", "s2"))
    result = metrics.auc_ci(y, a, method="delong")
    ends = (result.low, result.value, result.high)
    assert ends == pytest.approx(case["ci1"], **TO_TEN_PLACES)
    assert result.standard_error**2 == pytest.approx(case["delong_var1"], **TO_TEN_PLACES)
    comparison = metrics.compare_auc(y, a, b, method="delong")
    assert comparison.statistic == pytest.approx(case["paired_z"], **TO_TEN_PLACES)
    assert comparison.p_value == pytest.approx(case["paired_p"], **TO_TEN_PLACES)
    variances = [metrics.auc_ci(y, s).standard_error ** 2 for s in (a, b)]
    reach = (comparison.high - comparison.low) / 2  # of a normal 95 % interval
    of_difference = (reach / scipy.stats.norm.ppf(0.975)) ** 2
    covariance = (sum(variances) - of_difference) / 2
    assert covariance == pytest.approx(case["cov12"], **TO_TEN_PLACES)


@pytest.mark.parametrize("decimals", [None, 1])
def test_scikit_learn_areas(normal_scores, decimals):
    y, s = normal_scores(300, 700, decimals=decimals)
    w = np.random.default_rng(1).exponential(size=len(y))
    for weight in (None, w):
        ours = metrics.auc(y, s, sample_weight=weight)
        theirs = sklearn.metrics.roc_auc_score(y, s, sample_weight=weight)
        assert ours == pytest.approx(theirs, abs=1e-13)
        for bound in (0.03, 0.1, 0.5):
            ours = metrics.partial_auc(
                y, s, fpr_range=(0, bound), scaled=True, sample_weight=weight
            )
            theirs = sklearn.metrics.roc_auc_score(y, s, max_fpr=bound, sample_weight=weight)
            assert ours == pytest.approx(theirs, abs=1e-13)


@pytest.mark.parametrize("decimals", [None, 1])
def test_scikit_learn_curve(normal_scores, decimals):
    y, s = normal_scores(60, 140, decimals=decimals)
    w = np.random.default_rng(1).integers(1, 5, size=len(y)).astype(float)
    curve = metrics.roc_curve(y, s, sample_weight=w)
    fpr, tpr, thresholds = sklearn.metrics.roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    np.testing.assert_array_equal(curve.thresholds, thresholds)
    np.testing.assert_allclose(curve.fpr, fpr, rtol=0, atol=1e-15)
    np.testing.assert_allclose(curve.tpr, tpr, rtol=0, atol=1e-15)


@pytest.mark.parametrize("shift", [1.0, 0.0, -1.0])
def test_scipy_ks_and_mann_whitney(normal_scores, shift):
    y, s = normal_scores(80, 120, shift=shift, decimals=1)
    # The distribution function of the positives lies below: one direction only.
    one_sided = scipy.stats.ks_2samp(s[y == 1], s[y == 0], alternative="less")
    assert metrics.ks(y, s) == pytest.approx(one_sided.statistic, abs=1e-15)
    u = scipy.stats.mannwhitneyu(s[y == 1], s[y == 0]).statistic
    assert metrics.auc(y, s) == u / (80 * 120)


def test_unpaired_delong_is_welch_on_the_two_variances(normal_scores):
    y_a, a = normal_scores(40, 90, seed=1, decimals=1)
    y_b, b = normal_scores(70, 50, shift=0.3, seed=2)
    result = metrics.compare_auc(y_a, a, b, y_true_b=y_b, method="delong")
    one, other = metrics.auc_ci(y_a, a), metrics.auc_ci(y_b, b)
    welch = scipy.stats.ttest_ind_from_stats(
        one.value,
        one.standard_error * math.sqrt(len(y_a)),
        len(y_a),
        other.value,
        other.standard_error * math.sqrt(len(y_b)),
        len(y_b),
        equal_var=False,
    )
    assert result.statistic == pytest.approx(welch.statistic, rel=1e-12)
    assert result.p_value == pytest.approx(welch.pvalue, rel=1e-10)
    reach = scipy.stats.t.ppf(0.975, result.degrees_of_freedom)
    error = math.hypot(one.standard_error, other.standard_error)
    assert result.high - result.difference == pytest.approx(reach * error, rel=1e-10)
    assert result.method == "unpaired DeLong" and "t = " in str(result)
