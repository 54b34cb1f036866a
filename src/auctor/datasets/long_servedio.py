"""Data of Long and Servedio (2010), on which label noise defeats boosting with a convex loss."""

import numpy as np
import numpy.typing as npt

from auctor._checks import check_whole
from auctor._typing import Floats
from auctor.datasets.arguments import RandomState, check_noise, check_random_state, check_rows
from auctor.datasets.draws import draw_flips, draw_subsets
from auctor.datasets.sample import Sample

_N_FIRST, _N_LAST = 11, 10
_N_FEATURES = _N_FIRST + _N_LAST
# Large margin, puller, penalizer: the probability of each kind of row, and how many of the first
# 11 and of the last 10 features equal the label. In each kind at least 11 of the 21 do.
_PROBABILITY = np.array([0.25, 0.25, 0.5])
_AGREE_FIRST = np.array([11, 11, 5])
_AGREE_LAST = np.array([10, 0, 6])


def make_long_servedio(
    n_samples: int, *, noise: float = 0.0, random_state: RandomState = 0
) -> Sample:
    """Draw rows of 21 features in {-1, +1} whose majority is the label before noise.

    Labels are -1 or +1 with equal probability. With probability 1/4 all features equal the
    label ("large margin"). With probability 1/4 the first 11 features equal it and the last 10 are
    its opposite ("puller"). With probability 1/2 five random features of the first 11 and six
    random ones of the last 10 equal it, and the others are its opposite ("penalizer"). Then each
    label is flipped with probability ``noise``.

    Parameters
    ----------
    n_samples : int
        Number of rows, at least 2. Labels are drawn independently, so that a very small sample may
        have only one class.
    noise : float, default=0.0
        Probability with which each label is flipped, independently of the others.
    random_state : int, Generator or None, default=0
        Seed. The same seed gives the same rows and clean labels for any noise. Results are
        reproducible by default; None gives new random numbers in every call.

    Returns
    -------
    Sample
        A sample with labels -1 and +1. The optimal score is the sum of the features, whose sign is
        the clean label.

    References
    ----------
    P. M. Long and R. A. Servedio, Random classification noise defeats all convex potential
    boosters, Machine Learning 78, 2010.

    Examples
    --------
    >>> from auctor.datasets import make_long_servedio
    >>> sample = make_long_servedio(1000, noise=0.1)
    >>> sample
    Sample(1000 rows, 21 features, 525 positive, 475 negative, 98 labels flipped)
    >>> sample.optimal_score(sample.X[:4]).tolist(), sample.y_clean[:4].tolist()
    ([21.0, 1.0, 1.0, -1.0], [1, 1, 1, -1])
    """
    n_samples = check_whole(n_samples, "n_samples", minimum=2)
    noise = check_noise(noise)
    rng = check_random_state(random_state)

    y_clean = 2 * rng.integers(0, 2, size=n_samples) - 1
    kind = rng.choice(len(_PROBABILITY), size=n_samples, p=_PROBABILITY)
    agrees = np.hstack(
        [
            draw_subsets(_AGREE_FIRST[kind], _N_FIRST, rng),
            draw_subsets(_AGREE_LAST[kind], _N_LAST, rng),
        ]
    )
    flipped = draw_flips(n_samples, noise, rng)
    return Sample(
        X=np.where(agrees, 1.0, -1.0) * y_clean[:, np.newaxis],
        y=np.where(flipped, -y_clean, y_clean),
        y_clean=y_clean,
        feature_names=tuple(f"x{column}" for column in range(1, _N_FEATURES + 1)),
        optimal_score=_sum_features,
    )


def _sum_features(X: npt.ArrayLike) -> Floats:
    """The sum of the features."""
    return check_rows(X, _N_FEATURES).sum(axis=1)
