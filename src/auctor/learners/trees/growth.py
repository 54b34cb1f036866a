"""Growing a tree: each cell is split by a stump, or by a small tree (LeafRank).

``grow`` makes a tree level by level. ``_Stumps`` splits a cell at one feature where Ent is largest
(Clémençon & Vayatis 2009, Remark 11).

``Unions`` is LeafRank. Inside a cell C the rows have class-balanced weights: 1 / beta(C) for a
positive and 1 / alpha(C) for a negative. A classification tree of depth ``leaf_depth`` grows on
them by the Gini index. (Ent would see no gain in a cut with more positives than negatives on both
sides, although a later cut may need it.) Then its leaves, called boxes, are divided into two
groups: those with more weight of positives than of negatives form the upper part C', and no other
union of boxes has a larger Ent(C').
"""

from typing import NamedTuple

import numpy as np

from auctor._progress import Progress
from auctor._typing import Bools, Floats, Ints
from auctor.data import RankingData, Workers
from auctor.kernels.stumps import LEAST_GAIN
from auctor.kernels.trees import Splits
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.trees.grower import Allowed, Grower, Rules
from auctor.learners.trees.grown_tree import GrownTree
from auctor.learners.trees.node_rows import Lists


class _Boxes(NamedTuple):
    """The leaves of all small trees; list i of the rows belongs to box i.

    Box i is the left (``side`` 0) or right (1) child of ``node``. Side -1 is for the cell itself,
    side -2 for the empty box to the right of a box that was not split.
    """

    cell: Ints  # index of its cell in the level
    totals: Ints  # (box, class)
    node: Ints
    side: Ints


class _Test(NamedTuple):
    """A node of a small tree below its root: its number, its parent, and the side of the parent."""

    number: int
    parent: int
    side: int


class Unions(Grower):
    """Splits each cell into two unions of boxes (LeafRank)."""

    by_gini = True

    def grow_level(self, is_last: bool) -> bool:
        if len(self.cells) == 0:
            return False
        self.rows.take(self.lists)
        boxes, tested = self._grow_boxes(is_last)
        is_upper, r = self._sort_boxes(boxes)
        gains = self.is_gain(r, self.totals)
        chosen = np.flatnonzero(gains)
        self.search.free(self.slots[~gains])
        for cell in self.cells[~gains].tolist():
            self.builder.untest(cell)
        if len(chosen) == 0:
            return False
        # The child cell of each box: twice the index of its cell, plus 1 if it is the lower child.
        index = np.full(len(gains), -1)
        index[chosen] = np.arange(len(chosen))
        group = np.where(gains[boxes.cell], 2 * index[boxes.cell] + ~is_upper, -1)
        totals = np.zeros((2 * len(chosen), 2), dtype=np.int64)
        np.add.at(totals, group[group >= 0], boxes.totals[group >= 0])
        children = self._split_cells(boxes, group, totals, chosen)
        self._skip_needless(tested)
        if is_last:
            return False
        self.rows.take(np.flatnonzero(group >= 0))
        self.rows.merge(group[group >= 0])
        self.begin_level(children, totals, np.repeat(self.slots[chosen], 2))
        return True

    def _grow_boxes(self, is_last: bool) -> tuple[_Boxes, list[_Test]]:
        """The boxes of all cells after ``leaf_depth`` levels, and the tests below the roots."""
        tested: list[_Test] = []
        n_cells, n_levels = len(self.cells), self.rules.leaf_depth or 1
        boxes = _Boxes(np.arange(n_cells), self.totals, self.cells, np.full(n_cells, -1))
        scale = 1.0 / self.totals  # class-balanced weights in each cell
        live, splits, slots = np.arange(n_cells), self.splits, self.slots
        for depth in range(n_levels):
            is_end = depth + 1 == n_levels
            is_split = splits.feature >= 0
            send = not (is_end and is_last)
            boxes, new = self._split_boxes(boxes, live, splits, send)
            tested += new
            parents = np.full(len(boxes.cell), -1)
            children = (2 * live[is_split, None] + np.arange(2)).ravel()
            parents[children] = np.repeat(slots[is_split], 2)
            able = np.intersect1d(children, self.can_split(boxes.totals))
            is_end = is_end or len(able) == 0
            if not is_end:
                level = self.level(able, boxes.totals, scale[boxes.cell], parents)
                best = self.search.best(level)
            if depth > 0:  # the histograms of the cells are needed for the next level of cells
                self.search.free(slots)
            if is_end:
                break
            live, (splits, slots) = able, best
        return boxes, tested

    def _split_boxes(
        self, boxes: _Boxes, live: Ints, splits: Splits, send: bool
    ) -> tuple[_Boxes, list[_Test]]:
        """Two boxes for each box, the right one empty if it is not split; also the new tests."""
        tested: list[_Test] = []
        chosen = np.flatnonzero(splits.feature >= 0)
        at = live[chosen]
        n_boxes = len(boxes.cell)
        if send:
            feature = np.full(n_boxes, -1)
            goes_left = np.zeros((n_boxes, self.data.n_codes), dtype=np.uint8)
            feature[at], goes_left[at] = splits.feature[chosen], splits.goes_left[chosen]
            self.rows.send(feature, goes_left)
        left = boxes.totals.copy()
        left[at] = splits.left[chosen]
        node = np.repeat(boxes.node, 2)
        side = np.column_stack([boxes.side, np.full(n_boxes, -2)]).ravel()
        for i, test in zip(at.tolist(), self.tests(splits, chosen), strict=True):
            number = int(boxes.node[i])
            if boxes.side[i] >= 0:
                number = self.builder.add(boxes.totals[i].tolist(), is_cell=False)
                self.builder.lead(int(boxes.node[i]), int(boxes.side[i]), number)
                tested.append(_Test(number, int(boxes.node[i]), int(boxes.side[i])))
            self.builder.test(number, *test)
            node[2 * i : 2 * i + 2], side[2 * i : 2 * i + 2] = number, (0, 1)
        totals = np.stack([left, boxes.totals - left], axis=1).reshape(-1, 2)
        return _Boxes(np.repeat(boxes.cell, 2), totals, node, side), tested

    def _sort_boxes(self, boxes: _Boxes) -> tuple[Bools, Floats]:
        """Whether each box belongs to the upper part of its cell, and r of that part.

        A box with equal weights of both classes does, so that of two equally good upper parts the
        larger one is taken (Clémençon & Vayatis 2009, Remark 9).
        """
        neg, pos = (boxes.totals / self.totals[boxes.cell]).T
        is_upper = pos - neg > -LEAST_GAIN
        r = np.zeros(len(self.cells))
        np.add.at(r, boxes.cell[is_upper], (pos - neg)[is_upper])
        return is_upper, r

    def _split_cells(self, boxes: _Boxes, group: Ints, totals: Ints, chosen: Ints) -> Ints:
        """Make two new cells for each chosen cell, and let its boxes lead to them."""
        children = np.array([self.builder.add(pair, is_cell=True) for pair in totals.tolist()])
        for i, cell in enumerate(self.cells[chosen].tolist()):
            self.builder.order(cell, int(children[2 * i]), int(children[2 * i + 1]))
        for i in np.flatnonzero((group >= 0) & (boxes.side >= 0)).tolist():
            target = int(children[group[i]])
            self.builder.lead(int(boxes.node[i]), int(boxes.side[i]), target)
        return children

    def _skip_needless(self, tested: list[_Test]) -> None:
        """Skip the tests whose two sides lead to the same cell, the last ones first."""
        for number, parent, side in reversed(tested):
            left, right = self.builder.children(number)
            if left == right:
                self.builder.lead(parent, side, left)


def grow(
    data: RankingData,
    rules: Rules,
    workers: Workers,
    *,
    weights: list[Lists] | None = None,
    allowed: Allowed | None = None,
    progress: Progress | None = None,
    journal: Journal = NO_JOURNAL,
) -> GrownTree:
    """Grow a tree level by level.

    ``weights`` replace the weights of the rows of each partition, in units; rows of weight 0 are
    left out. ``allowed`` draws the features that may split each node; then there is no journal,
    because the draws of an earlier run would not be repeated.
    """
    kind = _Stumps if rules.leaf_depth is None else Unions
    grower = kind(data, rules, workers, weights, allowed, journal)
    for depth in range(rules.max_depth):
        data.group.begin_round(depth + 1)
        if not grower.grow_level(is_last=depth + 1 == rules.max_depth):
            break
        if progress is not None:
            progress.step()
    tree = grower.builder.build()
    # Pruning with all splits kept removes the nodes that cannot be reached.
    return tree.pruned(np.ones(len(tree.splits), dtype=np.bool_))


class _Stumps(Grower):
    """Splits each cell at one feature."""

    def grow_level(self, is_last: bool) -> bool:
        gains = self.is_gain(self.splits.gain, self.totals) & (self.splits.feature >= 0)
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
            self.rows.take(self.lists[chosen])
            self.rows.send(self.splits.feature[chosen], self.splits.goes_left[chosen])
            parents = np.repeat(self.slots[chosen], 2)
            self.begin_level(np.array(children), pair.reshape(-1, 2), parents)
        return not is_last
