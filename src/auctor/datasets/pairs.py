"""Two Gaussian or multivariate t classes: Komori (2010), sections 4.2 and 4.3."""

import math
from functools import partial

import numpy as np
import numpy.typing as npt

from auctor._checks import check_finite, check_whole
from auctor._typing import Floats
from auctor.datasets.arguments import RandomState, check_noise, check_random_state, check_rows
from auctor.datasets.draws import draw_flips, draw_labels
from auctor.datasets.sample import Sample, ScoreFunction

# Row 0 is class 0, row 1 is class 1: mu_0, mu_1 and the diagonals of Sigma_0, Sigma_1.
MEAN = np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.5]])
VARIANCE = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 4.0, 0.25]])
N_FEATURES = 4
# With fewer degrees of freedom, chi-square draws underflow to zero and make infinite values.
_SMALLEST_DF = 0.1


def make_gaussian_pair(
    n_neg: int = 250,
    n_pos: int = 250,
    *,
    noise: float = 0.0,
    random_state: RandomState = 0,
) -> Sample:
    """Draw the two Gaussian classes of Komori (2010), whose optimal score is quadratic.

    Negatives are N(0, I) in four dimensions, positives N((0, 0.5, 0, 0.5), diag(1, 1, 4, 0.25)).
    The first feature carries no information; in the positive class the second one is shifted, the
    third one is more spread out, and the fourth one is shifted and less spread out.

    Parameters
    ----------
    n_neg, n_pos : int, default=250
        Number of rows of each class before label noise. The paper trains on 250 and 250 rows and
        tests on 100 and 100. The rows are in random order.
    noise : float, default=0.0
        Probability with which each label is flipped, independently of the others; 0 in the paper.
    random_state : int, Generator or None, default=0
        Seed. The same seed gives the same rows and clean labels for any noise. Results are
        reproducible by default; None gives new random numbers in every call.

    Returns
    -------
    Sample
        A sample with labels 0 and 1. The optimal score is F_N of section 4.2, with an AUC of
        0.8456 on clean labels.

    Notes
    -----
    F_N(x) = x'(S0^-1 - S1^-1)x + 2(mu1'S1^-1 - mu0'S0^-1)x is twice the log likelihood ratio, up
    to a constant. With label noise, a larger likelihood ratio still makes a positive label more
    likely, so that F_N remains optimal.

    Examples
    --------
    >>> from auctor.datasets import make_gaussian_pair
    >>> sample = make_gaussian_pair()
    >>> sample
    Sample(500 rows, 4 features, 250 positive, 250 negative, 0 labels flipped)
    >>> sample.optimal_score([[0, 0, 0, 0], [0, 0.5, 2, 0.5]]).tolist()
    [0.0, 4.75]
    """
    return _make_pair(n_neg, n_pos, None, noise, random_state, _gaussian_score)


def make_t_pair(
    n_neg: int = 250,
    n_pos: int = 250,
    *,
    df: float = 1.0,
    noise: float = 0.0,
    random_state: RandomState = 0,
) -> Sample:
    """Draw the two classes of Komori (2010) with outliers, from multivariate t distributions.

    Location and shape are those of `make_gaussian_pair`. The deviation of a row from its mean is
    a Gaussian one divided by sqrt(chi2 / df), with one draw of chi2 for all of its features.

    Parameters
    ----------
    n_neg, n_pos : int, default=250
        Number of rows of each class before label noise. The rows are in random order.
    df : float, default=1.0
        Degrees of freedom, at least 0.1. The paper has 1, for which the mean does not exist.
    noise : float, default=0.0
        Probability with which each label is flipped, independently of the others; 0 in the paper.
    random_state : int, Generator or None, default=0
        Seed. The same seed gives the same rows and clean labels for any noise. Results are
        reproducible by default; None gives new random numbers in every call.

    Returns
    -------
    Sample
        A sample with labels 0 and 1. The optimal score is the log ratio of the two densities, with
        an AUC of 0.825 on clean labels for ``df=1``.

    Examples
    --------
    >>> from auctor.datasets import make_t_pair
    >>> sample = make_t_pair(n_neg=100, n_pos=100, df=1)
    >>> sample
    Sample(200 rows, 4 features, 100 positive, 100 negative, 0 labels flipped)
    >>> sample.optimal_score([[0, 0, 0, 0]]).round(3).tolist()
    [-2.027]
    """
    df = check_df(df)
    return _make_pair(n_neg, n_pos, df, noise, random_state, partial(_t_score, df=df))


def check_df(df: float) -> float:
    """Return degrees of freedom that are large enough for finite rows."""
    number = check_finite(df, "df")
    if number < _SMALLEST_DF:
        raise ValueError(f"df is {df!r}; give a number of at least {_SMALLEST_DF}")
    return number


def _make_pair(
    n_neg: int,
    n_pos: int,
    df: float | None,
    noise: float,
    random_state: RandomState,
    score: ScoreFunction,
) -> Sample:
    """Draw both classes; ``df`` is None for Gaussian classes."""
    n_neg, n_pos = check_whole(n_neg, "n_neg"), check_whole(n_pos, "n_pos")
    noise = check_noise(noise)
    rng = check_random_state(random_state)

    y_clean = draw_labels(n_neg, n_pos, rng)
    deviation = rng.standard_normal((len(y_clean), N_FEATURES))
    if df is not None:
        deviation /= np.sqrt(rng.chisquare(df, size=(len(y_clean), 1)) / df)
    return Sample(
        X=MEAN[y_clean] + np.sqrt(VARIANCE)[y_clean] * deviation,
        y=y_clean ^ draw_flips(len(y_clean), noise, rng),
        y_clean=y_clean,
        feature_names=("x1", "x2", "x3", "x4"),
        optimal_score=score,
    )


def _gaussian_score(X: npt.ArrayLike) -> Floats:
    """F_N of section 4.2; the covariances are diagonal, so that its forms are plain sums."""
    rows = check_rows(X, N_FEATURES)
    precision = 1 / VARIANCE
    slope = 2 * (MEAN[1] * precision[1] - MEAN[0] * precision[0])
    return rows**2 @ (precision[0] - precision[1]) + rows @ slope


def _t_score(X: npt.ArrayLike, *, df: float) -> Floats:
    """log g_1(x) - log g_0(x) for the density g of section 4.3."""
    rows = check_rows(X, N_FEATURES)
    distance = [((rows - MEAN[c]) ** 2 / VARIANCE[c]).sum(axis=1) for c in (0, 1)]
    log_volume = 0.5 * math.log(VARIANCE[0].prod() / VARIANCE[1].prod())
    spread = np.log1p(distance[0] / df) - np.log1p(distance[1] / df)
    return log_volume + 0.5 * (N_FEATURES + df) * spread
