"""What a forest draws: rows for each tree, features for each node."""

from math import ceil, log2, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor.data import RankingData
from auctor.learners.tree_grower import Allowed

Counts = npt.NDArray[np.uint32]

# Rows that are drawn one by one, for each row of the table.
_MOST_DRAWS = 8


class BagDraws:
    """How often each row is in the bag of a tree; rows are known by their place in the table.

    As many rows of each class are drawn as there are (times ``share``), so that no tree lacks a
    class and AUC, which is about pairs of one row of each, is the same quantity in every bag. A
    row of weight 2 is drawn with twice the chance; the number of draws is the effective number
    of rows, so that the scale of the weights does not matter.
    """

    def __init__(self, data: RankingData, share: float | None) -> None:
        self._data, self._share = data, share
        self._class_rows = data.class_rows
        self._n_places = 1 + max(int(rows[-1]) for rows in self._class_rows)
        weight = np.zeros(self._n_places, dtype=np.int64)
        for part in data.partitions:
            weight[part.rows] = part.weight
        self._weights = [weight[rows] for rows in self._class_rows]

    def draw(self, rng: np.random.Generator) -> list[Counts]:
        """Counts of the rows of each partition."""
        counts = np.zeros(self._n_places, dtype=np.int64)
        for label, rows in enumerate(self._class_rows):
            counts[rows] = self._draw_class(label, rng)
        return [counts[part.rows].astype(np.uint32) for part in self._data.partitions]

    def seen(self, counts: list[Counts]) -> list[npt.NDArray[np.bool_]]:
        """Which rows a bag has seen: those drawn, and copies of them where most rows are such."""
        copies = self._data.copy_groups
        if copies is None:
            return [count > 0 for count in counts]
        known = np.zeros(len(copies), dtype=np.bool_)
        for part, count in zip(self._data.partitions, counts, strict=True):
            known[copies[part.rows[count > 0]]] = True
        return [known[copies[part.rows]] for part in self._data.partitions]

    def _draw_class(self, label: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        weight = self._weights[label]
        total = int(weight.sum())
        size = max(1, round(self._data.effective_rows[label] * (self._share or 1.0)))
        # Draws one by one take up memory: weights that count copies may ask for any number.
        if size <= _MOST_DRAWS * len(weight) and bool((weight == weight[0]).all()):
            drawn = rng.integers(len(weight), size=size)
            return np.bincount(drawn, minlength=len(weight))
        return rng.multinomial(size, weight / total)


def feature_draws(n_features: int, n_drawn: int, rng: np.random.Generator) -> Allowed | None:
    """Draws ``n_drawn`` features for each node of a level; None where that is all of them."""
    if n_drawn >= n_features:
        return None

    def draw(n_nodes: int) -> npt.NDArray[np.bool_]:
        allowed = np.zeros((n_nodes, n_features), dtype=np.bool_)
        drawn = np.argsort(rng.random((n_nodes, n_features)), axis=1, kind="stable")[:, :n_drawn]
        np.put_along_axis(allowed, drawn, True, axis=1)
        return allowed

    return draw


def number_of_features(max_features: Any, n_features: int) -> int:
    """The number that ``max_features`` stands for; a share is rounded up.

    Examples
    --------
    >>> [number_of_features(asked, 20) for asked in ("sqrt", "log2", None, 0.3, 7)]
    [5, 5, 20, 6, 7]
    """
    if max_features is None:
        return n_features
    if max_features == "sqrt":
        return ceil(sqrt(n_features))
    if max_features == "log2":
        return max(1, ceil(log2(n_features)))
    if isinstance(max_features, (int, np.integer)) and not isinstance(max_features, bool):
        if not 1 <= max_features <= n_features:
            raise ValueError(
                f"max_features is {max_features}, but X has {n_features} features; give a number "
                f"from 1 to {n_features}, a share, 'sqrt', 'log2' or None for all"
            )
        return int(max_features)
    if isinstance(max_features, (float, np.floating)) and 0.0 < max_features <= 1.0:
        return ceil(max_features * n_features - 1e-9)
    raise ValueError(
        f"max_features is {max_features!r}; give a number of features, a share above 0 and up to "
        "1, 'sqrt', 'log2' or None for all"
    )
