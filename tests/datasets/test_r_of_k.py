"""The r-of-k distribution: exact classes, rows given the class, the optimal score."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from auctor.datasets import make_r_of_k
from auctor.datasets.r_of_k import truncated_binomial

SMALLEST_P = 1e-3  # the seeds are fixed, so that a test that passes does so every time


def chi_square_p(observed: np.ndarray, expected: np.ndarray) -> float:
    """p-value of counts against expected counts, cells that expect fewer than 5 made one."""
    rare = expected < 5
    if rare.any():
        observed = np.append(observed[~rare], observed[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    return float(stats.chisquare(observed, expected).pvalue)


@given(
    n_samples=st.integers(2, 60),
    n_features=st.integers(1, 40),
    data=st.data(),
    fraction=st.floats(0.01, 0.99),
    seed=st.integers(0, 2**32),
)
def test_every_row_obeys_the_rule(
    n_samples: int, n_features: int, data: st.DataObject, fraction: float, seed: int
) -> None:
    k = data.draw(st.integers(1, n_features))
    r = data.draw(st.integers(1, k))
    fraction = min(max(fraction, 1 / n_samples), 1 - 1 / n_samples)
    sample = make_r_of_k(
        n_samples, n_features=n_features, k=k, r=r, positive_fraction=fraction, random_state=seed
    )
    assert sample.X.shape == (n_samples, n_features)
    assert np.isin(sample.X, (-1, 1)).all()
    # The paper's formula; its sum is never zero, since k and the sum have the same parity.
    rule = np.sign(sample.X[:, :k].sum(axis=1) + k - 2 * r + 1)
    np.testing.assert_array_equal(rule, 2 * sample.y - 1)
    assert sample.y.sum() == round(fraction * n_samples)
    assert sample.optimal_score is not None
    np.testing.assert_array_equal(sample.optimal_score(sample.X) >= r, sample.y)


@pytest.mark.parametrize("r", [1, 8, 15])
@pytest.mark.parametrize("fraction", [0.5, 0.7, 0.9])
def test_settings_of_the_paper(r: int, fraction: float) -> None:
    sample = make_r_of_k(1000, r=r, positive_fraction=fraction, noise=0.05, random_state=r)
    assert sample.X.shape == (1000, 100)
    assert sample.y_clean.sum() == 1000 * fraction


@pytest.mark.parametrize(("k", "r"), [(1, 1), (30, 1), (30, 8), (30, 15), (30, 30), (1000, 450)])
def test_truncated_binomial_is_that_of_scipy(k: int, r: int) -> None:
    for possible in (np.arange(r), np.arange(r, k + 1)):
        pmf = stats.binom(k, 0.5).pmf(possible)
        np.testing.assert_allclose(truncated_binomial(possible, k), pmf / pmf.sum(), rtol=1e-10)


@pytest.mark.parametrize("r", [1, 2, 8, 15, 29, 30])
def test_counts_follow_the_truncated_binomial(r: int) -> None:
    k, n_rows = 30, 40_000
    sample = make_r_of_k(n_rows, k=k, r=r, random_state=10 + r)
    assert sample.optimal_score is not None
    count = sample.optimal_score(sample.X).astype(int)
    for label, possible in ((0, np.arange(r)), (1, np.arange(r, k + 1))):
        observed = np.bincount(count[sample.y == label], minlength=k + 1)
        assert observed.sum() == observed[possible].sum() == n_rows // 2
        pmf = stats.binom(k, 0.5).pmf(possible)
        expected = n_rows // 2 * pmf / pmf.sum()
        if len(possible) > 1:
            assert chi_square_p(observed[possible], expected) > SMALLEST_P


def test_positions_given_the_count_are_hypergeometric() -> None:
    k, first = 30, 10
    sample = make_r_of_k(60_000, k=k, r=15, n_features=k, random_state=20)
    ones = sample.X > 0
    count = ones.sum(axis=1)
    for size in (12, 15, 18):
        rows = ones[count == size]
        # All positions are equivalent; their counts are dependent only through the fixed row sum.
        frequency = rows.mean(axis=0)
        spread = np.sqrt(size / k * (1 - size / k) / len(rows))
        assert np.abs(frequency - size / k).max() < 4 * spread
        inside = np.bincount(rows[:, :first].sum(axis=1), minlength=first + 1)
        expected = len(rows) * stats.hypergeom(k, size, first).pmf(np.arange(first + 1))
        assert chi_square_p(inside, expected) > SMALLEST_P


def test_other_features_are_fair_and_say_nothing() -> None:
    n_rows = 40_000
    sample = make_r_of_k(n_rows, k=30, r=8, positive_fraction=0.7, random_state=21)
    rest = sample.X[:, 30:]
    for rows in (rest, rest[sample.y == 0], rest[sample.y == 1]):
        # A mean of n signs has standard deviation 1 / sqrt(n); 70 features, so 4.5 of them.
        assert np.abs(rows.mean(axis=0)).max() < 4.5 / np.sqrt(len(rows))


def test_relevant_features_are_alike() -> None:
    sample = make_r_of_k(40_000, k=30, r=8, random_state=22)
    for label in (0, 1):
        means = sample.X[sample.y == label, :30].mean(axis=0)
        assert np.ptp(means) < 9 / np.sqrt(20_000)


def test_noise_brings_the_optimal_auc_to_one_minus_noise() -> None:
    sample = make_r_of_k(40_000, noise=0.15, random_state=23)
    assert sample.optimal_score is not None
    score = sample.optimal_score(sample.X)
    positive = sample.y == 1
    n_pairs = positive.sum() * (~positive).sum()
    auc = stats.mannwhitneyu(score[positive], score[~positive]).statistic / n_pairs
    assert auc == pytest.approx(0.85, abs=0.01)


def test_many_relevant_features() -> None:
    sample = make_r_of_k(50, n_features=5000, k=5000, r=1, random_state=24)
    assert sample.y.sum() == 25
    # Binomial(5000, 1/2) has standard deviation 35.
    ones = (sample.X[sample.y == 1] > 0).sum(axis=1)
    assert np.abs(ones - 2500).max() < 5 * 35.4


@pytest.mark.parametrize(
    ("n_samples", "fraction", "n_pos"), [(1000, 0.7, 700), (7, 0.5, 4), (5, 0.5, 2), (10, 0.29, 3)]
)
def test_positives_are_rounded(n_samples: int, fraction: float, n_pos: int) -> None:
    sample = make_r_of_k(n_samples, positive_fraction=fraction, random_state=0)
    assert sample.y.sum() == n_pos


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_features": 20}, r"k is 30 and n_features 20; give k of at most n_features"),
        ({"k": 0}, r"k is 0; give a whole number of at least 1"),
        ({"r": 0}, r"r is 0; give a whole number of at least 1"),
        ({"r": 31}, r"r is 31 and k is 30, so that no row is positive; give r of at most k"),
        ({"r": 2.0}, r"r is 2\.0; give a whole number"),
        ({"n_features": 0}, r"n_features is 0; give a whole number"),
        ({"positive_fraction": 0}, r"positive_fraction is 0; give a fraction"),
        ({"positive_fraction": 1.0}, r"positive_fraction is 1\.0; give a fraction"),
        (
            {"positive_fraction": float("nan")},
            r"positive_fraction is nan; give a fraction",
        ),
        ({"positive_fraction": 0.01}, r"n_samples is 20 and .* makes 0 positives and 20 negatives"),
        ({"positive_fraction": 0.99}, r"n_samples is 20 and .* makes 20 positives and 0 negatives"),
        ({"n_samples": 1}, r"n_samples is 1; give a whole number of at least 2"),
    ],
)
def test_errors(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_r_of_k(**{"n_samples": 20, **arguments})
