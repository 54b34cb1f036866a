"""r-of-k threshold functions: Suehiro, Hatano and Takimoto (2011), section 5.1."""

from functools import partial

import numpy as np
import numpy.typing as npt

from auctor._checks import check_fraction, check_whole
from auctor._typing import Floats, Ints
from auctor.datasets.arguments import RandomState, check_noise, check_random_state, check_rows
from auctor.datasets.draws import draw_flips, draw_labels, draw_subsets
from auctor.datasets.sample import Sample


def make_r_of_k(
    n_samples: int,
    *,
    n_features: int = 100,
    k: int = 30,
    r: int = 8,
    positive_fraction: float = 0.5,
    noise: float = 0.0,
    random_state: RandomState = 0,
) -> Sample:
    """Draw rows of -1 and +1 that are positive if at least r of the first k features are +1.

    Parameters
    ----------
    n_samples : int
        Number of rows; 1000 in the paper.
    n_features : int, default=100
        Number of features, N in the paper.
    k : int, default=30
        Number of features on which the label depends.
    r : int, default=8
        Minimum number of these features that are +1 in a positive row; 1, 8 and 15 in the paper.
    positive_fraction : float, default=0.5
        Fraction of positive rows before label noise; 0.5, 0.7 and 0.9 in the paper. The number of
        positives is exactly ``round(positive_fraction * n_samples)``.
    noise : float, default=0.0
        Probability with which each label is flipped, independently of the others; 0.05, 0.10 and
        0.15 in the paper.
    random_state : int, Generator or None, default=0
        Seed. The same seed gives the same rows and clean labels for any noise. Results are
        reproducible by default; None gives new random numbers in every call.

    Returns
    -------
    Sample
        A sample with labels 0 and 1. The optimal score is the number of +1 among the first k
        features.

    Notes
    -----
    The paper fixes the ratio of the classes first and adds the label noise last. The ratio is
    therefore exact for ``y_clean`` and approximate for ``y``; a very small noisy sample may even
    have only one class. The paper does not specify which k features are relevant; here they are the
    first k. Nor does it specify how the rows of a class are drawn; here they are drawn uniformly
    from all possible rows of that class, however rare it is. (With r = 1 and k = 30, one row in
    2**30 is negative, so that rejection sampling would not end.)

    The noisy label depends on the row only through the clean label. The optimal score therefore
    ranks noisy labels as well as any score can: with equal classes its AUC is 1 - noise.

    Examples
    --------
    >>> from auctor.datasets import make_r_of_k
    >>> sample = make_r_of_k(1000, r=8, positive_fraction=0.7, noise=0.05)
    >>> sample
    Sample(1000 rows, 100 features, 676 positive, 324 negative, 50 labels flipped)
    >>> sample.optimal_score(sample.X[:4]).tolist(), sample.y_clean[:4].tolist()
    ([15.0, 7.0, 7.0, 6.0], [1, 0, 0, 0])
    """
    n_samples = check_whole(n_samples, "n_samples", minimum=2)
    n_features = check_whole(n_features, "n_features")
    k, r = _check_threshold(k, r, n_features)
    n_pos = _count_positives(n_samples, positive_fraction)
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
    """Return k, at most the number of features, and r, at most k."""
    k = check_whole(k, "k")
    if k > n_features:
        raise ValueError(f"k is {k} and n_features {n_features}; give k of at most n_features")
    r = check_whole(r, "r")
    if r > k:
        raise ValueError(f"r is {r} and k is {k}, so that no row is positive; give r of at most k")
    return k, r


def _count_positives(n_samples: int, positive_fraction: float) -> int:
    """Return the number of positives; both classes need at least one row."""
    fraction = check_fraction(positive_fraction, "positive_fraction")
    n_pos = round(fraction * n_samples)
    if not 0 < n_pos < n_samples:
        raise ValueError(
            f"n_samples is {n_samples} and positive_fraction {positive_fraction}, which makes "
            f"{n_pos} positives and {n_samples - n_pos} negatives; give more rows or a fraction "
            "nearer to one half"
        )
    return n_pos


def _draw_counts(y: Ints, k: int, r: int, rng: np.random.Generator) -> Ints:
    """Number of +1 among the first k features: Binomial(k, 1/2), below r or from r on by class."""
    counts = np.empty(len(y), dtype=np.int64)
    for label, possible in ((0, np.arange(r)), (1, np.arange(r, k + 1))):
        rows = y == label
        counts[rows] = rng.choice(possible, size=rows.sum(), p=truncated_binomial(possible, k))
    return counts


def truncated_binomial(possible: Ints, k: int) -> Floats:
    """Probabilities of Binomial(k, 1/2), conditional on the ``possible`` values."""
    # log C(k, j) for j = 0..k as a cumulative sum of log C(k, j + 1) / C(k, j): no overflow.
    step = np.arange(k)
    log_choose = np.concatenate([[0.0], np.cumsum(np.log((k - step) / (step + 1)))])[possible]
    weight = np.exp(log_choose - log_choose.max())
    return weight / weight.sum()


def _count_ones(X: npt.ArrayLike, *, n_features: int, k: int) -> Floats:
    """The number of +1 among the first k features."""
    return (check_rows(X, n_features)[:, :k] > 0).sum(axis=1, dtype=np.float64)
