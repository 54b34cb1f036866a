"""Small tables for comparisons with the slow versions of ``tests/reference``."""

import numpy as np

from auctor.data import RankingData


def make_table(seed: int, n: int = 40, weighted: bool = False) -> tuple[np.ndarray, ...]:
    """(X, y, weight): numbers with missing values, a coarse column, and categories in column 3."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    X[:, 1] = np.round(X[:, 1])
    X[:, 3] = rng.integers(0, 4, size=n)
    X[rng.random((n, 4)) < 0.15] = np.nan
    y = np.nan_to_num(X[:, 0]) + rng.normal(size=n) > 0
    y[:2] = False, True
    weight = rng.integers(1, 5, size=n) / 4 if weighted else np.ones(n)
    return X, y, weight


def in_table_order(data: RankingData) -> tuple[np.ndarray, np.ndarray]:
    """Codes (rows, features) in the order of the table, and which features are categories.

    In a partition positives come first; the slow versions take the rows as the user gave them.
    """
    codes = np.empty((data.n_rows, data.n_features), dtype=np.int64)
    for part in data.partitions:
        codes[part.rows] = part.codes.T
    return codes, np.array([feature.is_category for feature in data.features])
