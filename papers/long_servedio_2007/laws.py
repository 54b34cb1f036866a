"""The distributions that the experiments draw from, and what is known of them."""

from collections.abc import Callable
from functools import partial
from math import comb

import numpy as np

from auctor.datasets import Sample, make_long_servedio, make_r_of_k

Draw = Callable[[int, float, np.random.Generator], Sample]


def majority(
    n_rows: int,
    noise: float,
    rng: np.random.Generator,
    *,
    k: int,
    n_features: int,
    positive_fraction: float = 0.5,
) -> Sample:
    """Rows of -1 and +1 whose label is the majority of the first k (odd) features."""
    return make_r_of_k(
        n_rows,
        n_features=n_features,
        k=k,
        r=(k + 1) // 2,
        positive_fraction=positive_fraction,
        noise=noise,
        random_state=rng,
    )


def convex_trap(n_rows: int, noise: float, rng: np.random.Generator) -> Sample:
    """The distribution on which noise defeats every booster of a convex potential."""
    return make_long_servedio(n_rows, noise=noise, random_state=rng)


NOISY_LAWS: dict[str, Draw] = {
    "majority of 9 of 20": partial(majority, k=9, n_features=20),
    "majority of 9 of 20, 10 % positive": partial(
        majority, k=9, n_features=20, positive_fraction=0.1
    ),
    "Long and Servedio's distribution": convex_trap,
}


def least_edge(k: int) -> float:
    """The advantage gamma that the best feature has under any distribution: 1 / (2 k).

    The k features add up to 1 at least on positives and to -1 at most on negatives, so that one
    of them has means that differ by 2 / k: v - u = 1 / k at its cut, and AUC = 1/2 + 1 / (2 k).
    """
    return 1.0 / (2 * k)


def first_advantage(k: int) -> float:
    """The two-sided advantage of one feature under the distribution itself, all 2^k rows alike.

    The other k - 1 features are split evenly in comb(k - 1, (k - 1) / 2) / 2^(k - 1) of the rows,
    and only then the feature decides.
    """
    return comb(k - 1, (k - 1) // 2) / 2**k
