"""Gaussian and t pairs: their distributions, and their optimal scores against scipy's densities."""

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

from auctor.datasets import Sample, make_gaussian_pair, make_t_pair

# Written again from Komori (2010), so that an error in the package shows.
MEANS = ([0, 0, 0, 0], [0, 0.5, 0, 0.5])
COVARIANCES = (np.diag([1, 1, 1, 1]), np.diag([1, 1, 4, 0.25]))
SMALLEST_P = 1e-3


def optimal_auc(sample: Sample) -> float:
    assert sample.optimal_score is not None
    score = sample.optimal_score(sample.X)
    positive = sample.y == 1
    n_pairs = positive.sum() * (~positive).sum()
    return float(stats.mannwhitneyu(score[positive], score[~positive]).statistic / n_pairs)


def test_gaussian_score_is_twice_the_log_likelihood_ratio_and_a_constant() -> None:
    sample = make_gaussian_pair(random_state=0)
    negative, positive = map(stats.multivariate_normal, MEANS, COVARIANCES)
    ratio = positive.logpdf(sample.X) - negative.logpdf(sample.X)
    assert sample.optimal_score is not None
    # The constant is mu1' S1^-1 mu1 = 0.25 + 1, both determinants being 1.
    np.testing.assert_allclose(sample.optimal_score(sample.X) - 2 * ratio, 1.25, atol=1e-10)


@pytest.mark.parametrize("df", [0.1, 1.0, 3.5, 50])
def test_t_score_is_the_log_density_ratio(df: float) -> None:
    sample = make_t_pair(df=df, random_state=1)
    negative, positive = (
        stats.multivariate_t(loc, shape, df=df)
        for loc, shape in zip(MEANS, COVARIANCES, strict=True)
    )
    ratio = positive.logpdf(sample.X) - negative.logpdf(sample.X)
    assert sample.optimal_score is not None
    np.testing.assert_allclose(sample.optimal_score(sample.X), ratio, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("label", [0, 1])
def test_gaussian_law(label: int) -> None:
    sample = make_gaussian_pair(20_000, 20_000, random_state=2)
    rows = sample.X[sample.y == label]
    standard = (rows - MEANS[label]) / np.sqrt(np.diag(COVARIANCES[label]))
    for column in standard.T:
        assert stats.kstest(column, "norm").pvalue > SMALLEST_P
    # Independent features: the length of a row is chi-square, and no two correlate.
    assert stats.kstest((standard**2).sum(axis=1), stats.chi2(4).cdf).pvalue > SMALLEST_P
    correlation = np.corrcoef(standard.T) - np.eye(4)
    assert np.abs(correlation).max() < 4 / np.sqrt(len(rows))


@pytest.mark.parametrize("label", [0, 1])
@pytest.mark.parametrize("df", [0.5, 1.0, 4.0])
def test_t_law(df: float, label: int) -> None:
    sample = make_t_pair(20_000, 20_000, df=df, random_state=3)
    rows = sample.X[sample.y == label]
    standard = (rows - MEANS[label]) / np.sqrt(np.diag(COVARIANCES[label]))
    for column in standard.T:
        assert stats.kstest(column, stats.t(df).cdf).pvalue > SMALLEST_P
    # One chi-square for all features of a row: squared length / 4 is F(4, df).
    assert stats.kstest((standard**2).sum(axis=1) / 4, stats.f(4, df).cdf).pvalue > SMALLEST_P


def exact_gaussian_auc() -> float:
    """P(F_N(x_1) > F_N(x_0)) by inverting the characteristic function of the difference."""

    def square(t: float, scale: float, shift: float) -> complex:
        """Characteristic function of scale * (Z + shift)**2 for a standard normal Z."""
        spread = 1 - 2j * scale * t
        return np.exp(1j * scale * t * shift**2 / spread) / np.sqrt(spread)

    def difference(t: float) -> complex:
        # F_N is x2 + 0.75 x3**2 - 3 (x4 - 2/3)**2 and a constant; x1 plays no part.
        second = np.exp(0.5j * t - t**2)
        third = square(t, 3, 0) * square(t, -0.75, 0)
        fourth = square(t, -0.75, -1 / 3) * square(t, 3, -2 / 3)
        return second * third * fourth

    return 0.5 + integrate.quad(lambda t: difference(t).imag / t, 0, 20, limit=500)[0] / np.pi


def test_gaussian_optimal_auc() -> None:
    exact = exact_gaussian_auc()
    assert exact == pytest.approx(0.84557, abs=1e-5)
    # The standard error is at most sqrt(0.846 * 0.154 / 200,000) = 0.0008.
    sampled = optimal_auc(make_gaussian_pair(200_000, 200_000, random_state=4))
    assert sampled == pytest.approx(exact, abs=0.0025)


def test_t_optimal_auc() -> None:
    # Simulated with 6,000,000 rows. Table 2 has AUCBoost at 0.787, which must be below.
    auc = optimal_auc(make_t_pair(200_000, 200_000, random_state=5))
    assert auc == pytest.approx(0.8251, abs=0.0025)


def test_t_with_many_degrees_of_freedom_ranks_as_the_gaussian() -> None:
    gaussian, heavy = make_gaussian_pair(random_state=6), make_t_pair(df=1e7, random_state=6)
    assert gaussian.optimal_score is not None and heavy.optimal_score is not None
    # The two differ by about d**2 / (2 df) where d, the squared distance, is below 100 here.
    np.testing.assert_allclose(
        2 * heavy.optimal_score(gaussian.X) + 1.25, gaussian.optimal_score(gaussian.X), atol=1e-3
    )


def test_noise_brings_the_optimal_auc_towards_one_half() -> None:
    # Equal classes: AUC - 1/2 shrinks by 1 - 2 * noise.
    noisy = make_gaussian_pair(200_000, 200_000, noise=0.2, random_state=7)
    assert optimal_auc(noisy) == pytest.approx(0.5 + 0.6 * 0.34557, abs=0.003)


@pytest.mark.parametrize("make", [make_gaussian_pair, make_t_pair])
@pytest.mark.parametrize(("n_neg", "n_pos"), [(1, 1), (3, 40), (250, 250)])
def test_class_counts_are_exact(make: Any, n_neg: int, n_pos: int) -> None:
    assert np.bincount(make(n_neg, n_pos, random_state=8).y).tolist() == [n_neg, n_pos]


def test_smallest_df_gives_finite_rows_and_scores() -> None:
    sample = make_t_pair(200_000, 200_000, df=0.1, random_state=9)
    assert sample.optimal_score is not None
    assert np.isfinite(sample.X).all()
    assert np.isfinite(sample.optimal_score(sample.X)).all()


@pytest.mark.parametrize("df", [0, -1.0, 0.05])
def test_small_df_error(df: float) -> None:
    with pytest.raises(ValueError, match=rf"df is {df!r}; give a number of at least 0\.1"):
        make_t_pair(df=df)


@pytest.mark.parametrize("df", [float("nan"), float("inf"), "1", None])
def test_df_is_a_finite_number(df: Any) -> None:
    with pytest.raises(ValueError, match="give a finite number"):
        make_t_pair(df=df)
