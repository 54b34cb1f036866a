"""Fixtures of the metrics: samples of two normal classes."""

import numpy as np
import pytest


@pytest.fixture
def normal_scores():
    """A maker of samples of two normal classes, with ties if rounded."""

    def make(n_pos, n_neg, shift=1.0, seed=0, decimals=None):
        rng = np.random.default_rng(seed)
        y = np.repeat([1, 0], [n_pos, n_neg])
        s = rng.normal(size=len(y)) + shift * y
        return y, (s if decimals is None else s.round(decimals))

    return make
