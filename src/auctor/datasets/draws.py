"""Random draws that several generators share."""

import numpy as np

from auctor._typing import Bools, Ints


def draw_labels(n_neg: int, n_pos: int, rng: np.random.Generator) -> Ints:
    """Exactly ``n_neg`` zeros and ``n_pos`` ones in random order."""
    return rng.permutation(np.repeat(np.array([0, 1], dtype=np.int64), (n_neg, n_pos)))


def draw_subsets(sizes: Ints, n_items: int, rng: np.random.Generator) -> Bools:
    """Draw a random subset of ``n_items`` items of each size; all subsets are equally likely."""
    return rng.permuted(np.arange(n_items) < sizes[:, np.newaxis], axis=1)


def draw_flips(n_rows: int, noise: float, rng: np.random.Generator) -> Bools:
    """Which labels are flipped, each independently with probability ``noise``.

    The flips are drawn last, also without noise: with one seed, the rows and clean labels are then
    the same for any noise, and labels that are flipped at a low noise are flipped at a higher one.
    """
    return rng.random(n_rows) < noise
