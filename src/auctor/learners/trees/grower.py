"""The common part of all ways to grow a tree: the rules, the root, and when to split a node."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.data import RankingData, Workers
from auctor.kernels.stumps import LEAST_GAIN
from auctor.kernels.trees import Splits
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.trees.grown_tree import TreeBuilder
from auctor.learners.trees.node_rows import Lists, NodeRows
from auctor.learners.trees.split_search import Least, Level, SplitSearch

# Draws the features that may split each of a number of nodes: (node, feature).
Allowed = Callable[[int], Bools]


@dataclass(frozen=True)
class Rules:
    """When a cell is split, and how."""

    max_depth: int = 10
    min_samples_leaf: float = 5.0
    min_gain: float = 0.0
    leaf_depth: int | None = None  # of the small tree that splits a cell; None for a stump


class Grower(ABC):
    """Grows a tree level by level; a subclass decides how a cell is split."""

    by_gini = False

    def __init__(
        self,
        data: RankingData,
        rules: Rules,
        workers: Workers,
        weights: list[Lists] | None,
        allowed: Allowed | None,
        journal: Journal = NO_JOURNAL,
    ) -> None:
        self.data, self.rules, self.allowed = data, rules, allowed
        self.rows = NodeRows(data, workers, weights)
        # In effective rows, with a margin for rounding errors.
        units = np.array(data.row_units)
        self.least = Least(rules.min_samples_leaf * (1.0 - 1e-9), units)
        self.search = SplitSearch(data, self.rows, workers, self.least, self.by_gini, journal)
        self.builder = TreeBuilder()
        self.whole = self.rows.totals
        self.is_category = np.array([feature.is_category for feature in data.features])
        cells = np.array([self.builder.add(self.whole.tolist(), is_cell=True)])
        self.begin_level(cells, self.whole[None], np.array([-1]))

    def begin_level(self, cells: Ints, totals: Ints, parents: Ints) -> None:
        """Find the best splits of new cells; list i of the rows belongs to cell i.

        ``parents`` are the slots of the histograms of their parents, which are freed here.
        """
        live = self.can_split(totals)
        self.cells, self.totals, self.lists = cells[live], totals[live], live
        level = self.level(live, totals, 1.0 / np.maximum(totals, 1), parents)
        self.splits, self.slots = self.search.best(level)
        self.search.free(np.unique(parents))

    def level(self, live: Ints, totals: Ints, scale: Floats, parents: Ints) -> Level:
        """The nodes ``live`` among all lists, which are pairs of siblings."""
        allowed = np.empty((0, self.data.n_features), dtype=np.bool_)
        if self.allowed is not None:
            allowed = self.allowed(len(live))
        sibling = live ^ 1 if len(totals) > 1 else np.full(len(live), -1)
        return Level(live, totals[live], scale[live], parents[live], sibling, allowed)

    def can_split(self, totals: Ints) -> Ints:
        """Nodes that have both classes and enough rows for two leaves."""
        rows = totals[:, 0] * self.least.units[0] + totals[:, 1] * self.least.units[1]
        return np.flatnonzero((totals.min(axis=1) > 0) & (rows >= 2.0 * self.least.rows))

    def is_gain(self, r: Floats, totals: Ints) -> Bools:
        """Whether splits increase the AUC enough.

        Ent = alpha(C) beta(C) r with r = beta(C') / beta(C) - alpha(C') / alpha(C), and the
        gain in AUC is half of it.
        """
        gain = (totals / self.whole).prod(axis=1) * r / 2
        return (r > LEAST_GAIN) & (gain > self.rules.min_gain)

    def tests(self, splits: Splits, chosen: Ints) -> list[tuple[list[int], list[int], float]]:
        """(test, sides of the codes of a category, gain) of the chosen splits."""
        columns = splits.feature, splits.cut, splits.above, splits.missing
        tests = np.column_stack(columns)[chosen].tolist()
        gains = splits.gain[chosen].tolist()
        return [
            (test, self._sides(test[0], splits.goes_left[i]), value)
            for i, test, value in zip(chosen.tolist(), tests, gains, strict=True)
        ]

    def _sides(self, feature: int, goes_left: npt.NDArray[np.uint8]) -> list[int]:
        if not self.is_category[feature]:
            return []
        return goes_left[: self.data.features[feature].n_bins + 1].tolist()

    @abstractmethod
    def grow_level(self, is_last: bool) -> bool:
        """Split the cells of the level; False if no cell was split or the level was the last."""
