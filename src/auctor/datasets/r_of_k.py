"""r-of-k threshold functions: paper 001 (Suehiro, Hatano and Takimoto), section 5.1."""

from functools import partial

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Ints
from auctor.datasets.arguments import (
    RandomState,
    check_noise,
    check_random_state,
    check_real,
    check_rows,
    check_whole,
)
from auctor.datasets.draws import draw_flips, draw_labels, draw_subsets
from auctor.datasets.sample import Sample


def make_r_of_k(
    n_samples: int,
    *,
    n_features: int = 100,
    k: int = 30,
    r: int = 8,
    positive_share: float = 0.5,
    noise: float = 0.0,
    random_state: RandomState = None,
) -> Sample:
    """Draw rows of -1 and +1; positive are those with at least r of the first k features +1.

    Parameters
    ----------
    n_samples : int
        Number of rows; the paper has 1000.
    n_features : int, default 100
        Number of features, N in the paper.
    k : int, default 30
        How many features the label depends on.
    r : int, default 8
        How many of them must be +1; the paper has 1, 8 and 15.
    positive_share : float, default 0.5
        Share of positive rows before noise; the paper has 0.5, 0.7 and 0.9. The number of
        positives is exactly ``round(positive_share * n_samples)``, a half going to the even
        neighbour.
    noise : float, default 0
        Probability with which each label is flipped, independently; the paper has 0.05, 0.10
        and 0.15.
    random_state : int, numpy Generator or None
        A seed gives the same rows and clean labels whatever the noise.

    Returns
    -------
    Sample
        With labels 0 and 1; the optimal score is the number of +1 among the first k features.

    Notes
    -----
    The paper fixes the ratio of the classes first and adds the noise to the labels last, so
    the ratio holds for ``y_clean`` and only roughly for ``y``; a very small noisy sample may
    even be left with one class. The paper does not say which k variables are relevant: here
    they are the first. Nor does it say how rows of a class are drawn: here uniformly over all
    rows of that class, however rare it is (with r = 1 and k = 30, one row in 2**30 is
    negative, so that drawing and discarding would not end).

    The clean label is the whole of what a row says about its noisy one. So the optimal score
    ranks noisy labels as well as any score can: with equal classes its AUC is 1 - noise.

    Examples
    --------
    >>> from auctor.datasets import make_r_of_k
    >>> sample = make_r_of_k(1000, r=1, positive_share=0.7, noise=0.05, random_state=0)
    >>> int(sample.y_clean.sum())
    700
    >>> ((sample.optimal_score(sample.X) >= 1) == sample.y_clean).all()
    np.True_
    """
    n_samples = check_whole("n_samples", n_samples, minimum=2)
    n_features = check_whole("n_features", n_features, minimum=1)
    k, r = _check_threshold(k, r, n_features)
    n_pos = _count_positives(n_samples, positive_share)
    noise = check_noise(noise)
    rng = check_random_state(random_state)

    y_clean = draw_labels(n_samples - n_pos, n_pos, rng)
    X = np.empty((n_samples, n_features))
    X[:, :k] = draw_subsets(_draw_counts(y_clean, k, r, rng), k, rng)
    X[:, k:] = rng.integers(0, 2, size=(n_samples, n_features - k), dtype=np.int8)
    return Sample(
        X=2 * X - 1,
        y=y_clean ^ draw_flips(n_samples, noise, rng),
        y_clean=y_clean,
        feature_names=tuple(f"x{column}" for column in range(1, n_features + 1)),
        optimal_score=partial(_count_ones, n_features=n_features, k=k),
    )


def _check_threshold(k: int, r: int, n_features: int) -> tuple[int, int]:
    """k within the features, r within k: otherwise one class has no rows at all."""
    k = check_whole("k", k, minimum=1)
    if k > n_features:
        raise ValueError(f"k={k} is more than n_features={n_features}; k up to that will do")
    r = check_whole("r", r, minimum=1)
    if r > k:
        raise ValueError(f"r={r} is more than k={k}, so no row is positive; r in 1..{k} will do")
    return k, r


def _count_positives(n_samples: int, positive_share: float) -> int:
    """The number of positives, with at least one row left for each class."""
    share = check_real("positive_share", positive_share)
    if not 0 < share < 1:
        raise ValueError(f"positive_share={positive_share} is outside (0, 1)")
    n_pos = round(share * n_samples)
    if not 0 < n_pos < n_samples:
        raise ValueError(
            f"n_samples={n_samples} is too small for positive_share={positive_share}: it gives "
            f"{n_pos} positives and {n_samples - n_pos} negatives; more rows, or a share nearer "
            "to one half, will do"
        )
    return n_pos


def _draw_counts(y: Ints, k: int, r: int, rng: np.random.Generator) -> Ints:
    """How many of the first k features are +1: Binomial(k, 1/2) given the side of r."""
    counts = np.empty(len(y), dtype=np.int64)
    for label, possible in ((0, np.arange(r)), (1, np.arange(r, k + 1))):
        rows = y == label
        counts[rows] = rng.choice(possible, size=rows.sum(), p=_binomial_law(possible, k))
    return counts


def _binomial_law(possible: Ints, k: int) -> Floats:
    """Probabilities of Binomial(k, 1/2) given that it is one of the ``possible`` values."""
    # log C(k, j) for j = 0..k as a running sum of log C(k, j + 1) / C(k, j), safe for any k.
    step = np.arange(k)
    log_choose = np.concatenate([[0.0], np.cumsum(np.log((k - step) / (step + 1)))])[possible]
    weight = np.exp(log_choose - log_choose.max())
    return weight / weight.sum()


def _count_ones(X: npt.ArrayLike, *, n_features: int, k: int) -> Floats:
    """The number of +1 among the first k features."""
    return (check_rows(X, n_features)[:, :k] > 0).sum(axis=1, dtype=np.float64)
