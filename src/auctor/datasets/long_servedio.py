"""The law of Long and Servedio on which noise defeats boosting with a convex potential."""

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats
from auctor.datasets.arguments import (
    RandomState,
    check_noise,
    check_random_state,
    check_rows,
    check_whole,
)
from auctor.datasets.draws import draw_flips, draw_subsets
from auctor.datasets.sample import Sample

_N_FIRST, _N_LAST = 11, 10
_N_FEATURES = _N_FIRST + _N_LAST
# Large margin, puller, penalizer: which share of rows each kind has, and how many of the first
# 11 and of the last 10 features equal the label. In each at least 11 of 21 do.
_SHARE = np.array([0.25, 0.25, 0.5])
_AGREE_FIRST = np.array([11, 11, 5])
_AGREE_LAST = np.array([10, 0, 6])


def make_long_servedio(
    n_samples: int, *, noise: float = 0.0, random_state: RandomState = None
) -> Sample:
    """Draw rows of 21 features in {-1, +1} whose majority is the label, until noise comes in.

    Labels are -1 or +1 with equal probability. With probability 1/4 all features equal the
    label ("large margin"); with 1/4 the first 11 do and the last 10 are its opposite ("puller");
    with 1/2 five random ones of the first 11 and six random ones of the last 10 equal it and the
    rest are its opposite ("penalizer"). Then each label is flipped with probability ``noise``.

    Parameters
    ----------
    n_samples : int
        Number of rows, at least 2. Labels are drawn independently, so a very small sample may
        hold one class.
    noise : float, default 0
        Probability with which each label is flipped, independently.
    random_state : int, numpy Generator or None
        A seed gives the same rows and clean labels whatever the noise.

    Returns
    -------
    Sample
        With labels -1 and +1; the optimal score is the sum of the features, whose sign is the
        clean label.

    References
    ----------
    P. M. Long and R. A. Servedio, Random classification noise defeats all convex potential
    boosters, Machine Learning 78, 2010.

    Examples
    --------
    >>> from auctor.datasets import make_long_servedio
    >>> sample = make_long_servedio(1000, noise=0.1, random_state=0)
    >>> (np.sign(sample.optimal_score(sample.X)) == sample.y_clean).all()
    np.True_
    """
    n_samples = check_whole("n_samples", n_samples, minimum=2)
    noise = check_noise(noise)
    rng = check_random_state(random_state)

    y_clean = 2 * rng.integers(0, 2, size=n_samples) - 1
    kind = rng.choice(len(_SHARE), size=n_samples, p=_SHARE)
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
    """The sum of the features: one vote each."""
    return check_rows(X, _N_FEATURES).sum(axis=1)
