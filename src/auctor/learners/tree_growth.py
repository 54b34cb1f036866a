"""TreeRank's recursion (paper 002, section 4.1), all cells of a level at once."""

import numpy as np

from auctor.data import RankingData, Workers
from auctor.learners.leafrank import Unions
from auctor.learners.progress import Progress
from auctor.learners.tree import GrownTree
from auctor.learners.tree_grower import Allowed, Grower, Rules
from auctor.learners.tree_rows import Lists


def grow(
    data: RankingData,
    rules: Rules,
    workers: Workers,
    *,
    weights: list[Lists] | None = None,
    allowed: Allowed | None = None,
    progress: Progress | None = None,
) -> GrownTree:
    """Grow a tree level by level.

    ``weights`` are those of the rows of each partition, in units, in place of the data's own:
    rows of weight 0 are passed over. ``allowed`` draws the features of each node.
    """
    kind = _Stumps if rules.leaf_depth is None else Unions
    grower = kind(data, rules, workers, weights, allowed)
    for depth in range(rules.max_depth):
        if not grower.grow_level(is_last=depth + 1 == rules.max_depth):
            break
        if progress is not None:
            progress.step()
    tree = grower.builder.build()
    return tree.pruned(np.ones(len(tree.splits), dtype=np.bool_))  # drops what nothing leads to


class _Stumps(Grower):
    """Cells are split by orthogonal cuts (Remark 11)."""

    def grow_level(self, is_last: bool) -> bool:
        gains = self.is_gain(self.splits.worth, self.totals) & (self.splits.feature >= 0)
        chosen = np.flatnonzero(gains)
        self.search.free(self.slots[~gains])
        if len(chosen) == 0:
            return False
        left = self.splits.left[chosen]
        pair = np.stack([left, self.totals[chosen] - left], axis=1)  # (cell, side, class)
        children = []
        tests = self.tests(self.splits, chosen)
        for cell, test, sides in zip(
            self.cells[chosen].tolist(), tests, pair.tolist(), strict=True
        ):
            self.builder.test(cell, *test)
            upper, lower = (self.builder.add(side, is_cell=True) for side in sides)
            self.builder.lead(cell, 0, upper)
            self.builder.lead(cell, 1, lower)
            self.builder.order(cell, upper, lower)
            children += [upper, lower]
        if not is_last:
            self.rows.take(self.places[chosen])
            self.rows.send(self.splits.feature[chosen], self.splits.goes_left[chosen])
            parents = np.repeat(self.slots[chosen], 2)
            self.begin_level(np.array(children), pair.reshape(-1, 2), parents)
        return not is_last
