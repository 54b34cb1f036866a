"""Data with known answers: generators that know their optimal score, and one small real table.

Every function here returns a `Sample`, which unpacks as ``X, y`` and keeps beside them the
labels before noise and, where the law is known, the score that no other score can beat.
"""

from auctor.datasets.kyphosis import load_kyphosis
from auctor.datasets.long_servedio import make_long_servedio
from auctor.datasets.pairs import make_gaussian_pair, make_t_pair
from auctor.datasets.r_of_k import make_r_of_k
from auctor.datasets.sample import Sample

__all__ = [
    "Sample",
    "load_kyphosis",
    "make_gaussian_pair",
    "make_long_servedio",
    "make_r_of_k",
    "make_t_pair",
]
