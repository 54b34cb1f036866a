"""Which rows each tree of a forest has seen, and the scores of rows by trees that have not."""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from auctor.data import RankingData, Workers
from auctor.metrics import AucInterval, auc, auc_ci
from auctor.models.forest import Walker, aggregated

Floats = npt.NDArray[np.float64]

# Rows at a time; whole bytes of the bits that say who has seen whom.
_BLOCK = 512

# A tree's bag: for each partition a bit per row, set where the tree has seen the row.
Bag = list[npt.NDArray[np.uint8]]


def pack_bag(seen: list[npt.NDArray[np.bool_]]) -> Bag:
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
    n_trees: list[npt.NDArray[np.int64]]

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
        ranks = walker.ranks(part.codes, start, size)
        out.scores[k][start : start + size] = aggregated(ranks, aggregate, counts)
        out.n_trees[k][start : start + size] = counts.sum(axis=0)

    parts = enumerate(data.partitions)
    workers.map(score, [(k, s) for k, part in parts for s in range(0, part.n_rows, _BLOCK)])
    return out


def out_of_bag_auc(
    data: RankingData, scores: list[Floats], copies: npt.NDArray[np.int64] | None = None
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
