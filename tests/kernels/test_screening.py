"""Tests of single features against SciPy."""

import numpy as np
import pytest
from scipy import stats

from auctor.kernels import screening


def class_counts(codes, y, n_codes):
    return np.array([np.bincount(codes[y == label], minlength=n_codes) for label in (0, 1)])


def test_the_trend_is_wilcoxons_statistic():
    rng = np.random.default_rng(0)
    y, codes = rng.integers(0, 2, 200), rng.integers(1, 8, 200)
    codes = np.minimum(codes + y, 7)
    neg, pos = class_counts(codes, y, 8).astype(float)[:, 1:]
    u = stats.mannwhitneyu(codes[y == 1], codes[y == 0]).statistic
    # The variance of U with ties; the normal deviate without the correction for continuity.
    n_pos, n_neg = pos.sum(), neg.sum()
    ranks = stats.rankdata(codes)
    variance = n_pos * n_neg * ranks.var() / len(y)
    expected = (u - n_pos * n_neg / 2) ** 2 / variance
    assert screening.trend_tests(neg, pos) == pytest.approx(expected, rel=1e-9)


def test_missing_values_are_compared_as_fractions():
    neg, pos = np.array([10.0, 40.0]), np.array([30.0, 20.0])
    table = np.array([neg, pos])
    expected = stats.chi2_contingency(table, correction=False).statistic
    assert screening.missing_test(neg, pos) == pytest.approx(expected)


def test_categories_are_compared_by_chi_squared():
    neg, pos = np.array([0.0, 30.0, 20.0, 10.0]), np.array([0.0, 18.0, 20.0, 20.0])
    p_value = stats.chi2_contingency(np.array([neg[1:], pos[1:]]), correction=False).pvalue
    deviate = np.sqrt(screening.category_test(neg, pos))
    assert stats.norm.sf(deviate) == pytest.approx(p_value, rel=0.1)


def test_a_feature_high_at_both_ends_is_found():
    counts = np.array([2.0, 6.0, 10.0, 6.0, 2.0])
    assert screening.trend_tests(counts, counts[::-1].copy()) == pytest.approx(0.0, abs=1e-12)
    assert screening.trend_tests(counts, np.array([10.0, 5.0, 1.0, 5.0, 10.0])) > 15.0


def test_features_without_a_say_have_none():
    histogram = np.zeros((2, 3, 3), dtype=np.int64)
    histogram[:, 0, 1] = 5, 7  # constant
    histogram[:, 1, 0] = 5, 7  # always missing
    histogram[:, 2, 1] = 5, 7  # one category
    is_category = np.array([False, False, True])
    result = screening.separations(histogram, np.array([2, 1, 2]), is_category, 1.0)
    assert result.tolist() == [0.0, 0.0, 0.0]
