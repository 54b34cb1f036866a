"""Data with known answers: generators that know their optimal score, and one small real table.

Every ``make_`` and ``load_`` function returns a `Sample`, which unpacks as ``X, y`` and keeps
beside them the labels before noise and, where the law is known, the score that no other score
can beat. Every ``_law`` function returns a `Law`, which knows the optimal ROC curve;
`approximate_roc` runs the tree of paper 002 on it.
"""

from auctor.datasets.ideal import RocApproximation, approximate_roc
from auctor.datasets.kyphosis import load_kyphosis
from auctor.datasets.law import Law
from auctor.datasets.long_servedio import make_long_servedio
from auctor.datasets.pair_laws import gaussian_pair_law, t_pair_law
from auctor.datasets.pairs import make_gaussian_pair, make_t_pair
from auctor.datasets.r_of_k import make_r_of_k
from auctor.datasets.sample import Sample
from auctor.datasets.simple_laws import (
    discrete_law,
    exponential_law,
    gaussian_law,
    linear_law,
    power_law,
    r_of_k_law,
)

__all__ = [
    "Law",
    "RocApproximation",
    "Sample",
    "approximate_roc",
    "discrete_law",
    "exponential_law",
    "gaussian_law",
    "gaussian_pair_law",
    "linear_law",
    "load_kyphosis",
    "make_gaussian_pair",
    "make_long_servedio",
    "make_r_of_k",
    "make_t_pair",
    "power_law",
    "r_of_k_law",
    "t_pair_law",
]
