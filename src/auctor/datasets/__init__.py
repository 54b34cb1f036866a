"""Simulated data whose optimal score is known, optimal ROC curves, and one small real table.

`make_loans` returns a table of loans with categories and missing values, and labels. Every other
``make_`` and ``load_`` function returns a `Sample`. It unpacks as ``X, y`` and also has the
labels before label noise was added and, if the distribution is known, the optimal score, which no
other score exceeds in AUC. Every ``_roc`` function returns an `OptimalRoc`, the optimal ROC curve
of a distribution with two classes. `approximate_roc` approximates such a curve by the ideal tree
of Clemencon and Vayatis (2009).
"""

from auctor.datasets.ideal import RocApproximation, approximate_roc
from auctor.datasets.kyphosis import load_kyphosis
from auctor.datasets.loans import make_loans
from auctor.datasets.long_servedio import make_long_servedio
from auctor.datasets.optimal_roc import OptimalRoc
from auctor.datasets.pair_rocs import gaussian_pair_roc, t_pair_roc
from auctor.datasets.pairs import make_gaussian_pair, make_t_pair
from auctor.datasets.r_of_k import make_r_of_k
from auctor.datasets.sample import Sample
from auctor.datasets.simple_rocs import (
    discrete_roc,
    exponential_roc,
    gaussian_roc,
    power_roc,
    quadratic_roc,
    r_of_k_roc,
)

__all__ = [
    "OptimalRoc",
    "RocApproximation",
    "Sample",
    "approximate_roc",
    "discrete_roc",
    "exponential_roc",
    "gaussian_pair_roc",
    "gaussian_roc",
    "load_kyphosis",
    "make_gaussian_pair",
    "make_loans",
    "make_long_servedio",
    "make_r_of_k",
    "make_t_pair",
    "power_roc",
    "quadratic_roc",
    "r_of_k_roc",
    "t_pair_roc",
]
