"""Two classes from two elliptic laws: paper 003 (Komori), sections 4.2 and 4.3."""

import math
from functools import partial

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats
from auctor.datasets.arguments import (
    RandomState,
    check_noise,
    check_random_state,
    check_real,
    check_rows,
    check_whole,
)
from auctor.datasets.draws import draw_flips, draw_labels
from auctor.datasets.sample import Sample, ScoreFunction

# Row 0 is class 0, row 1 is class 1: mu_0, mu_1 and the diagonals of Sigma_0, Sigma_1.
MEAN = np.array([[0.0, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.5]])
VARIANCE = np.array([[1.0, 1.0, 1.0, 1.0], [1.0, 1.0, 4.0, 0.25]])
N_FEATURES = 4
# Below this a draw of chi-square underflows to zero often enough to make infinite rows.
_SMALLEST_DF = 0.1


def make_gaussian_pair(
    n_neg: int = 250,
    n_pos: int = 250,
    *,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Sample:
    """Draw the two Gaussian classes of paper 003, whose optimal score is quadratic.

    Negatives are N(0, I) in four dimensions, positives N((0, 0.5, 0, 0.5), diag(1, 1, 4, 0.25)):
    the first feature says nothing, the second is shifted, the third is wider, the fourth is
    shifted and narrower.

    Parameters
    ----------
    n_neg, n_pos : int, default 250
        Rows of each class before noise. The paper trains on 250 and 250 and tests on 100 and
        100; the rows come in random order.
    noise : float, default 0
        Probability with which each label is flipped, independently. The paper has none.
    random_state : int, numpy Generator or None
        A seed gives the same rows and clean labels whatever the noise.

    Returns
    -------
    Sample
        With labels 0 and 1; the optimal score is F_N of section 4.2, with an AUC of 0.8456 on
        clean labels.

    Notes
    -----
    F_N(x) = x'(S0^-1 - S1^-1)x + 2(mu1'S1^-1 - mu0'S0^-1)x is twice the log likelihood ratio,
    up to a constant. Noise mixes the classes, but a larger likelihood ratio still makes a
    positive label likelier, so F_N stays optimal.

    Examples
    --------
    >>> from auctor.datasets import make_gaussian_pair
    >>> sample = make_gaussian_pair(random_state=0)
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
    random_state: RandomState = None,
) -> Sample:
    """Draw the two classes of paper 003 with outliers: multivariate t in place of Gaussian.

    Location and shape are those of `make_gaussian_pair`. A row is its Gaussian deviation divided
    by sqrt(chi2 / df), with one draw of chi2 for all of its features.

    Parameters
    ----------
    n_neg, n_pos : int, default 250
        Rows of each class before noise, in random order.
    df : float, default 1
        Degrees of freedom, at least 0.1. The paper has 1, where not even a mean exists.
    noise : float, default 0
        Probability with which each label is flipped, independently. The paper has none.
    random_state : int, numpy Generator or None
        A seed gives the same rows and clean labels whatever the noise.

    Returns
    -------
    Sample
        With labels 0 and 1; the optimal score is the log ratio of the two densities, with an
        AUC of 0.825 on clean labels at ``df=1`` (simulated).

    Examples
    --------
    >>> from auctor.datasets import make_t_pair
    >>> sample = make_t_pair(n_neg=100, n_pos=100, df=1, random_state=0)
    >>> sample
    Sample(200 rows, 4 features, 100 positive, 100 negative, 0 labels flipped)
    >>> sample.optimal_score([[0, 0, 0, 0]]).round(3).tolist()
    [-2.027]
    """
    df = check_df(df)
    return _make_pair(n_neg, n_pos, df, noise, random_state, partial(_t_score, df=df))


def check_df(df: float) -> float:
    """Degrees of freedom with which rows are finite."""
    df = check_real("df", df)
    if df < _SMALLEST_DF:
        raise ValueError(
            f"df={df:g} is too small; degrees of freedom of {_SMALLEST_DF} or more will do"
        )
    return df


def _make_pair(
    n_neg: int,
    n_pos: int,
    df: float | None,
    noise: float,
    random_state: RandomState,
    score: ScoreFunction,
) -> Sample:
    """Draw both classes; ``df`` is None for the Gaussian law."""
    n_neg = check_whole("n_neg", n_neg, minimum=1)
    n_pos = check_whole("n_pos", n_pos, minimum=1)
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
    """F_N of section 4.2; the covariances are diagonal, so its forms are plain sums."""
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
