"""The random draws of a forest, and the out-of-bag scores that they make possible.

``BagDraws`` draws the training rows ("bag") of each tree and ``feature_draws`` the features of each
node. ``score_out_of_bag`` scores each row by the trees that were not trained on it.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.data import RankingData, Workers
from auctor.learners.trees.grower import Allowed
from auctor.metrics import AucInterval, auc, auc_ci
from auctor.models.forest import Walker, aggregated

Counts = npt.NDArray[np.uint32]

# Up to this many draws per row of a class are made one by one; more are drawn as counts.
_MOST_DRAWS = 8

# Number of rows that are scored at a time; a multiple of 8, because bags have a bit for each row.
_BLOCK = 512

# The bag of a tree: for each partition a bit per row, set if the tree was trained on the row.
Bag = list[npt.NDArray[np.uint8]]


class BagDraws:
    """Draws how often each row is in the bag of a tree.

    From each class as many rows are drawn as it has (times ``fraction``), so that no tree lacks a
    class and the AUC has the same meaning in every bag. A row of weight 2 is drawn with twice the
    probability. The number of draws is the effective number of rows, so that the scale of the
    weights does not matter. Draws depend on the position of a row in the table.
    """

    def __init__(self, data: RankingData, fraction: float | None) -> None:
        self._data, self._fraction = data, fraction
        self._class_rows = data.class_rows
        self._n_positions = 1 + max(int(rows[-1]) for rows in self._class_rows)
        weight = np.zeros(self._n_positions, dtype=np.int64)
        for part in data.partitions:
            weight[part.rows] = part.weight
        self._weights = [weight[rows] for rows in self._class_rows]

    def draw(self, rng: np.random.Generator) -> list[Counts]:
        """How often each row of each partition is drawn."""
        counts = np.zeros(self._n_positions, dtype=np.int64)
        for label, rows in enumerate(self._class_rows):
            counts[rows] = self._draw_class(label, rng)
        return [counts[part.rows].astype(np.uint32) for part in self._data.partitions]

    def seen(self, counts: list[Counts]) -> list[Bools]:
        """Whether each row is in a bag; copies of drawn rows are, if most rows are copies."""
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
        size = max(1, round(self._data.effective_rows[label] * (self._fraction or 1.0)))
        # Single draws need memory, and weights that count copies may require any number of them.
        if size <= _MOST_DRAWS * len(weight) and bool((weight == weight[0]).all()):
            drawn = rng.integers(len(weight), size=size)
            return np.bincount(drawn, minlength=len(weight))
        return rng.multinomial(size, weight / total)


def feature_draws(n_features: int, n_drawn: int, rng: np.random.Generator) -> Allowed | None:
    """A function that draws ``n_drawn`` features for each node; None if all features are used."""
    if n_drawn >= n_features:
        return None

    def draw(n_nodes: int) -> Bools:
        allowed = np.zeros((n_nodes, n_features), dtype=np.bool_)
        drawn = np.argsort(rng.random((n_nodes, n_features)), axis=1, kind="stable")[:, :n_drawn]
        np.put_along_axis(allowed, drawn, True, axis=1)
        return allowed

    return draw


def pack_bag(seen: list[Bools]) -> Bag:
    """The bag as bits: 1e6 rows and 200 trees need 25 MB."""
    return [np.packbits(rows) for rows in seen]


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """Scores of the rows by the trees that were not trained on them.

    ``scores`` and ``n_trees`` have an array for each partition, in the order of its rows. A row
    that all trees were trained on has the score NaN and 0 trees. The scores do not include the
    intercept of the model.
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

    def by_row(self, data: RankingData) -> Floats:
        """The scores in the order of the table's rows."""
        out = np.full(1 + max(int(rows[-1]) for rows in data.class_rows), np.nan)
        for part, scores in zip(data.partitions, self.scores, strict=True):
            out[part.rows] = scores
        return out


def score_out_of_bag(
    data: RankingData, bags: list[Bag], walker: Walker, aggregate: str, workers: Workers
) -> OutOfBag:
    """Send all rows down all trees, and combine the ranks of the trees not trained on the row."""
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
    """Out-of-bag AUC and its confidence interval; None if they are not defined.

    An interval needs at least two rows of each class that are not copies of each other. As in
    cross-validation, each row is scored by trees that were trained on the others, which adds to the
    variance. The bags do not show by how much, so that the worst case is taken: the variance is
    doubled, as if the trees of different rows were independent. If the signal is strong, the
    interval is up to 1.4 times too wide. ``copies`` has the group of each row of the table if most
    rows are copies (``RankingData.copy_groups``); a group counts as one row in the interval.
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
    method = f"DeLong{by}, variance multiplied by 2 for overlapping training sets"
    return interval.value, replace(interval, method=method, n_folds=None)
