"""The rounds of boosting: one tree a round, grown on the slopes of the rows."""

from dataclasses import dataclass
from functools import cached_property
from math import floor, log2

import numpy as np

from auctor._typing import DenseCodes, Floats, Ints
from auctor.data import RankingData, Workers
from auctor.kernels.boost_rows import draw_rows, mix
from auctor.kernels.boost_scores import TreeSteps, add_tree, tree_steps
from auctor.kernels.boost_slopes import HALF, pack_slopes
from auctor.kernels.boost_splits import BoostRule
from auctor.kernels.boosted_trees import feature_groups
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.common.max_features import number_of_features
from auctor.learners.tree_boost.grower import Tree, TreeGrower, check_tree
from auctor.learners.tree_boost.pair_slopes import Line, PairSlopes
from auctor.learners.tree_boost.row_blocks import boost_workers, row_codes
from auctor.learners.tree_boost.settings import TreeBoostSettings
from auctor.learners.tree_boost.tiles import Run
from auctor.models import on_grid

# Bits of the sum of the slopes, and of the curvatures, of one class: their sums share an int64.
_SLOPE_BITS, _CURVATURE_BITS = 63 - HALF, HALF
# Up to this weight of a class, rows are rounded before they are multiplied by their weight: a row
# of weight 1 then has at least 10 bits more than its part of the sum needs.
_MOST_WHOLE = 2**21
# Slopes whose mean is below this are rounding errors: every pair is far in the right order.
_NOTHING_LEFT = 1e-9
# The largest value of a leaf before it is multiplied by the learning rate.
_LARGEST_VALUE = 10.0
# After this many trees in a row that are a single leaf there is nothing left that a split gains.
_MOST_SINGLE = 10
# Splits of a category need more evidence, because its order is found on the same rows.
_CATEGORY_L2 = 3.0
_CATEGORY_SMOOTH = 10.0
# Least curvature of a leaf, in the units of the L2 penalty. A row has at most 1/4 in the logistic
# loss, and far less once its pairs are in order: a larger bound would end the fit of classes that
# hardly overlap.
_MIN_CURVATURE = 0.05


def _scales(sums: Floats) -> Floats:
    """Powers of two (class, 2) that make packed sums as large as their bits allow."""
    bits = (_SLOPE_BITS, _CURVATURE_BITS)
    return np.array([[_scale(t, b) for t, b in zip(own, bits, strict=True)] for own in sums])


def _scale(total: float, bits: int) -> float:
    # A bit less than the sum allows: every row may be rounded up.
    return 2.0 ** floor(log2(0.9 * 2.0**bits / total)) if total > 0.0 else 1.0


@dataclass(eq=False)
class Scores:
    """The scores of the rows of some data, by partition, while trees are added."""

    data: RankingData
    values: list[Floats]

    @cached_property
    def tiles(self) -> list[DenseCodes]:
        """The codes of each partition (rows, features), the codes of a row side by side."""
        return row_codes(self.data, Workers(1))

    @classmethod
    def start(cls, data: RankingData, offset: Floats | None) -> "Scores":
        """The scores before the first tree; ``offset`` is by the index of the row in the table."""
        if offset is None:
            return cls(data, [part.new_rows(np.float64, 0.0) for part in data.partitions])
        return cls(data, [on_grid(offset[part.rows]) for part in data.partitions])


class Booster:
    """Adds trees to the scores of the training rows, one in each round."""

    def __init__(
        self,
        data: RankingData,
        settings: TreeBoostSettings,
        workers: Workers,
        offset: Floats | None = None,
        journal: Journal = NO_JOURNAL,
    ) -> None:
        self._data, self._settings = data, settings
        self._workers = boost_workers(data, workers)
        self.scores = Scores.start(data, offset)
        loss = settings.loss
        self.pairs = PairSlopes(data, workers, loss, settings.fpr_range)
        n_drawn = number_of_features(settings.max_features, data.n_features)
        self.grower = TreeGrower(
            data,
            workers,
            max_depth=settings.max_depth,
            n_drawn=0 if n_drawn == data.n_features else n_drawn,
            signs=np.array(settings.signs or [0] * data.n_features, dtype=np.int64),
            groups=feature_groups(settings.groups, data.n_features),
        )
        self._packed = [part.new_rows(np.int64, 0) for part in data.partitions]
        self._n_trees = self._n_single = 0
        self.steps: TreeSteps | None = None  # of the last tree
        self.log = journal.log("trees", Tree, lambda tree: check_tree(tree, data))
        self._draws = settings.subsample < 1.0 or n_drawn < data.n_features

    @property
    def n_balanced(self) -> float:
        """The expected number of class-balanced rows of a tree: gains are sums over them."""
        n_rows = sum(self._data.effective_rows)
        return self._settings.subsample * (n_rows if self._settings.loss == "log" else n_rows / 2.0)

    def add(self) -> tuple[Tree, Ints] | None:
        """Grow a tree and add it to the scores; None if there is nothing left to learn.

        Also returns the weight of the training rows of this process at each leaf.
        """
        self._data.group.begin_round(self._n_trees + 1, self.log.is_known)
        tree = self.log.next(self._grow)
        if tree is None:
            return None
        self._n_trees += 1
        self._n_single = 0 if tree.n_leaves > 1 else self._n_single + 1
        if self._n_single > _MOST_SINGLE or (self._n_single and not self._draws):
            return None
        return tree, self._apply(tree)

    def _grow(self) -> Tree | None:
        """Grow a tree; None if all pairs are in the right order."""
        line = self.pairs.at(self.scores.values)
        totals = np.array(self._data.class_weights, dtype=np.float64)
        if not (line.sums[:, 0] / totals).max() > _NOTHING_LEFT:
            return None
        scales = _scales(line.sums)
        seed = np.uint64(mix(np.uint64(self._settings.seed), np.uint64(self._n_trees)))
        packed_totals = self._pack(line, scales, seed)
        tree = self.grower.grow(self._packed, packed_totals, self._rule(scales), seed)
        # A row that is far in the wrong order has a slope but hardly any curvature.
        value = np.clip(tree.value, -_LARGEST_VALUE, _LARGEST_VALUE)
        value = on_grid(self._settings.learning_rate * value)
        return tree._replace(value=np.where(tree.nodes.feature < 0, value, 0.0))

    def _pack(self, line: Line, scales: Floats, seed: np.uint64) -> Ints:
        """Draw the own rows of the tree and pack their slopes; returns their packed sums."""
        grid = line.low, float(self.pairs.per_unit)

        def pack(run: Run) -> int:
            k, label, _, _ = run.block
            part, lists = self._data.partitions[k], run.lists
            rows = lists.order, self._draw(run, part.rows, seed)
            is_whole = self._data.class_weights[label] <= _MOST_WHOLE
            how = *grid, line.nodes[label], *scales[label], is_whole
            out = self._packed[k], lists.amount
            return int(pack_slopes(self.scores.values[k], part.weight, *rows, *how, *out))

        totals = np.zeros(2, dtype=np.int64)
        parts = self._workers.map(pack, self.grower.runs)
        for run, part in zip(self.grower.runs, parts, strict=True):
            totals[run.block.label] += part
        return totals

    def _draw(self, run: Run, rows: Ints, seed: np.uint64) -> int:
        """Draw the rows of a run for a tree; returns their number."""
        _, _, start, stop = run.block
        if self._settings.subsample < 1.0:
            limit = np.uint64(self._settings.subsample * 2.0**64)
            n_drawn = int(draw_rows(rows, start, stop, seed, limit, run.lists.order))
        else:
            n_drawn = stop - start
            run.lists.order[:] = np.arange(start, stop, dtype=np.uint32)
        run.begin(n_drawn)
        return n_drawn

    def _rule(self, scales: Floats) -> BoostRule:
        """Factors from packed sums to class-balanced rows, and the penalties in their units.

        A class of n effective rows counts as N = (n0 + n1) / 2 rows, so each of its rows as u = N /
        n. A penalty of l2 is meant as that many units of curvature by rows that say nothing: whose
        slopes cancel, because both classes occur among them as often as among all rows. In such a
        group a unit of curvature has a factor of (u0 + u1) / 2 on average. Few positives
        therefore cannot drive a leaf, and neither can their absence from a leaf of few negatives.
        """
        rows = np.array(self._data.effective_rows)
        units = np.array(self._data.row_units)
        # The log loss counts rows, whatever their class.
        factor = np.ones(2) if self._settings.loss == "log" else rows.mean() / rows
        slope_scale, curvature_scale = scales.T
        usual = float(factor.mean())
        l2 = usual * self._settings.l2_regularization
        return BoostRule(
            factor * units / slope_scale,
            factor * units / curvature_scale,
            l2,
            _CATEGORY_L2 * l2,
            _CATEGORY_SMOOTH * usual,
            _MIN_CURVATURE * usual,
        )

    def _apply(self, tree: Tree) -> Ints:
        """Add a tree to the scores of all rows; returns the weight of the own rows at each leaf."""
        codes = self.grower.codes
        self.steps = steps = tree_steps(tree.nodes)

        def apply(run: Run) -> Ints:
            k, _, start, stop = run.block
            cover = np.zeros(len(tree.value), dtype=np.int64)
            weight, scores = self._data.partitions[k].weight, self.scores.values[k]
            add_tree(codes[k], start, stop, steps, tree.value, weight, scores, cover)
            return cover

        covers = self._workers.map(apply, self.grower.runs)
        return np.sum([np.zeros(len(tree.value), dtype=np.int64), *covers], axis=0)


def sum_up(data: RankingData, trees: list[Tree], own: list[Ints]) -> list[Ints]:
    """The weight of all rows at every node of each tree, from that of the own rows at leaves."""
    if not trees:
        return []
    ends = np.cumsum([len(cover) for cover in own])[:-1]
    whole = np.split(data.group.sum(np.concatenate(own)), ends)
    return [_sum_up_tree(*both) for both in zip(trees, whole, strict=True)]


def _sum_up_tree(tree: Tree, cover: Ints) -> Ints:
    """The weight of every node from that of the leaves; children come after their parents."""
    for node in np.flatnonzero(tree.nodes.feature >= 0)[::-1].tolist():
        cover[node] = cover[tree.nodes.left[node]] + cover[tree.nodes.right[node]]
    return cover


def add_to_rows(scores: Scores, tree: Tree, steps: TreeSteps) -> None:
    """Add a tree to the scores of held-out rows."""
    unused = np.zeros(len(tree.value), dtype=np.int64)
    rows = zip(scores.data.partitions, scores.tiles, scores.values, strict=True)
    for part, codes, values in rows:
        add_tree(codes, 0, part.n_rows, steps, tree.value, part.weight, values, unused)
