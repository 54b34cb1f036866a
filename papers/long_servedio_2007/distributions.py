"""The distributions from which the experiments draw, and their known properties."""

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


NOISY_DISTRIBUTIONS: dict[str, Draw] = {
    "majority of 9 of 20": partial(majority, k=9, n_features=20),
    "majority of 9 of 20, 10 % positive": partial(
        majority, k=9, n_features=20, positive_fraction=0.1
    ),
    "Long and Servedio's distribution": convex_trap,
}


def least_edge(k: int) -> float:
    """The advantage gamma that the best feature has under any distribution: 1 / (2 k).

    The k features add up to at least 1 on positives and at most -1 on negatives, so that for one
    of them the class means differ by 2 / k: v - u = 1 / k at its cut, and AUC = 1/2 + 1 / (2 k).
    """
    return 1.0 / (2 * k)


def first_advantage(k: int) -> float:
    """The two-sided advantage of one feature if all 2^k rows are equally likely.

    The feature decides only if the other k - 1 features are balanced, which has probability
    comb(k - 1, (k - 1) / 2) / 2^(k - 1).
    """
    return comb(k - 1, (k - 1) // 2) / 2**k
