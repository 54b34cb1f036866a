"""A distribution whose best additive model by AUC differs from the best one by KS."""

import numpy as np


def make_strata(n_rows, seed=0, n_noise=1):
    """The first feature has three strata; the second helps in the outer two, harms in the middle.

    Most pairs within a stratum lie in the outer ones, so the best additive AUC has the second
    feature rising; the threshold of KS lies in the middle stratum, where it must fall.
    """
    rng = np.random.default_rng(seed)
    stratum = rng.choice(3, p=[0.4, 0.2, 0.4], size=n_rows)
    X = rng.normal(size=(n_rows, 2 + n_noise))
    X[:, 0] = stratum + rng.uniform(-0.3, 0.3, size=n_rows)
    up = (X[:, 1] > 0).astype(int)
    chance = np.array([[0.05, 0.35], [0.8, 0.2], [0.65, 0.95]])[stratum, up]
    return X, (rng.random(n_rows) < chance).astype(int)
