"""Random parts that several laws share."""

import numpy as np

from auctor._typing import Bools, Ints


def draw_labels(n_neg: int, n_pos: int, rng: np.random.Generator) -> Ints:
    """Zeros and ones, exactly so many of each, in random order."""
    return rng.permutation(np.repeat(np.array([0, 1], dtype=np.int64), (n_neg, n_pos)))


def draw_subsets(sizes: Ints, n_items: int, rng: np.random.Generator) -> Bools:
    """One row per size: which of ``n_items`` items are in, all subsets of that size alike."""
    return rng.permuted(np.arange(n_items) < sizes[:, np.newaxis], axis=1)


def draw_flips(n_rows: int, noise: float, rng: np.random.Generator) -> Bools:
    """Which labels are wrong, each with probability ``noise`` and independently.

    Always drawn last, also without noise: one seed then gives the same rows and clean labels
    under any noise, and what is flipped under little noise is flipped under more.
    """
    return rng.random(n_rows) < noise
