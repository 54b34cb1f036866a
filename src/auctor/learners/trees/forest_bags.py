"""Which rows each tree of a forest has seen, and the scores of rows by trees that have not."""

from dataclasses import dataclass, replace
from math import ceil, log2, sqrt
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.data import RankingData, Workers
from auctor.learners.trees.grower import Allowed
from auctor.metrics import AucInterval, auc, auc_ci
from auctor.models.forest import Walker, aggregated

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

    def seen(self, counts: list[Counts]) -> list[Bools]:
        """Which rows a bag has seen: those drawn, and copies of them where most rows are such."""
        copies = self._data.copy_groups
        if copies is None:
            return [count > 0 for count in counts]
        known = np.zeros(len(copies), dtype=np.bool_)
        for part, count in zip(self._data.partitions, counts, strict=True):
            known[copies[part.rows[count > 0]]] = True
        return [known[copies[part.rows]] for part in self._data.partitions]

    def _draw_class(self, label: int, rng: np.random.Generator) -> Ints:
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

    def draw(n_nodes: int) -> Bools:
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


# Rows at a time; whole bytes of the bits that say who has seen whom.
_BLOCK = 512

# A tree's bag: for each partition a bit per row, set where the tree has seen the row.
Bag = list[npt.NDArray[np.uint8]]


def pack_bag(seen: list[Bools]) -> Bag:
    """A bit per row: 1e6 rows and 200 trees take up 25 MB."""
    return [np.packbits(rows) for rows in seen]


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """Scores of the rows by the trees that have not seen them.

    ``scores`` and ``n_trees`` have a list entry for each partition, in the order of its rows; a
    row that every tree has seen has no score (NaN) and 0 trees. The scores are without the
    model's intercept.
    """

    scores: list[Floats]
    n_trees: list[Ints]

    def rows(self, data: RankingData) -> tuple[RankingData, list[Floats]]:
        """The rows that have a score, and their scores."""
        chosen = np.zeros(1 + max(int(rows[-1]) for rows in data.class_rows), dtype=np.bool_)
        for part, n_trees in zip(data.partitions, self.n_trees, strict=True):
            chosen[part.rows[n_trees > 0]] = True
        pairs = zip(self.scores, self.n_trees, strict=True)
        return data.take(chosen), [scores[n > 0] for scores, n in pairs]

    def by_place(self, data: RankingData) -> Floats:
        """The scores in the order of the table's rows."""
        out = np.full(1 + max(int(rows[-1]) for rows in data.class_rows), np.nan)
        for part, scores in zip(data.partitions, self.scores, strict=True):
            out[part.rows] = scores
        return out


def score_out_of_bag(
    data: RankingData, bags: list[Bag], walker: Walker, aggregate: str, workers: Workers
) -> OutOfBag:
    """Send all rows down all trees, and let those count that have not seen the row."""
    out = OutOfBag(
        [np.empty(part.n_rows) for part in data.partitions],
        [np.empty(part.n_rows, dtype=np.int64) for part in data.partitions],
    )

    def score(block: tuple[int, int]) -> None:
        k, start = block
        part = data.partitions[k]
        size = min(_BLOCK, part.n_rows - start)
        seen = np.stack([bag[k][start // 8 : (start + _BLOCK) // 8] for bag in bags])
        counts = np.unpackbits(seen, axis=1, count=size) == 0
        ranks = walker.ranks(part.dense_codes, start, size)
        out.scores[k][start : start + size] = aggregated(ranks, aggregate, counts)
        out.n_trees[k][start : start + size] = counts.sum(axis=0)

    parts = enumerate(data.partitions)
    workers.map(score, [(k, s) for k, part in parts for s in range(0, part.n_rows, _BLOCK)])
    return out


def out_of_bag_auc(
    data: RankingData, scores: list[Floats], copies: Ints | None = None
) -> tuple[float | None, AucInterval | None]:
    """AUC of rows and its interval; None where they are not defined.

    An interval takes two rows of each class that are no copies of each other. The trees that score
    a row were grown on the others and the other way round, as in cross-validation: what two rows
    do to each other counts twice.
    How much of the variance that is the bags do not tell, so the worst case is taken, as if no two
    forests had anything in common; where the signal is strong the interval is up to 1.4 times as
    wide as it need be. ``copies`` has the group of each place in the table where most rows are
    copies (``RankingData.copy_groups``); a group counts as one row in the interval.
    """
    if min(data.n_pos, data.n_neg) == 0:
        return None, None
    positive = np.concatenate([part.positive for part in data.partitions])
    weight = np.concatenate([part.weight for part in data.partitions])
    values = np.concatenate(scores)
    groups = np.concatenate([part.rows for part in data.partitions])
    if copies is not None:
        groups = copies[groups]
    if min(len(np.unique(groups[positive])), len(np.unique(groups[~positive]))) < 2:
        return auc(positive, values, sample_weight=weight), None
    one_fold = np.zeros(len(values), dtype=np.int64)
    own = None if (weight == weight[0]).all() else weight
    together = None if copies is None else groups
    interval = auc_ci(positive, values, folds=one_fold, sample_weight=own, groups=together)
    by = "" if copies is None else " by groups of copies"
    method = f"DeLong{by}, variance times 2 for the training sets"
    return interval.value, replace(interval, method=method, n_folds=None)
