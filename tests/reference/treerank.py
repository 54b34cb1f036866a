"""TreeRank as in Clémençon & Vayatis (2009), section 4.1: every cut, in exact fractions."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SlowTable:
    """Codes (rows, features) with 0 for missing, classes, whole weights, kinds of features."""

    codes: npt.NDArray[np.int64]
    positive: npt.NDArray[np.bool_]
    weight: npt.NDArray[np.int64]
    is_category: npt.NDArray[np.bool_]

    def weights(self, rows: Rows) -> tuple[int, int]:
        """Weight of the negatives and of the positives among some rows."""
        weight, positive = self.weight[rows], self.positive[rows]
        return int(weight[~positive].sum()), int(weight[positive].sum())


def parts(table: SlowTable, rows: Rows) -> Iterator[Rows]:
    """Yield every part of a cell that one test can separate; the first of ties is kept.

    Numbers: up to each code, missing values left out, then with them. Categories: all subsets.
    """
    for j, is_category in enumerate(table.is_category):
        codes = table.codes[rows, j]
        present = np.unique(codes).tolist()
        if is_category:
            for size in range(1, len(present)):
                for chosen in combinations(present, size):
                    yield rows[np.isin(codes, chosen)]
            continue
        for cut in (code for code in present if code > 0):
            yield rows[(codes > 0) & (codes <= cut)]
            if 0 in present:
                yield rows[codes <= cut]


def ent(table: SlowTable, cell: Rows, part: Rows) -> Fraction:
    """Ent(C') = alpha(C) beta(C') - beta(C) alpha(C')."""
    total_neg, total_pos = table.weights(np.arange(len(table.codes)))
    neg, pos = table.weights(cell)
    part_neg, part_pos = table.weights(part)
    return Fraction(neg * part_pos - pos * part_neg, total_neg * total_pos)


def best_part(table: SlowTable, cell: Rows, least: int) -> Rows | None:
    """Return the part of largest Ent in either direction; of ties the larger, then the first."""
    best, chosen = (Fraction(0), 0), None
    for part in parts(table, cell):
        for upper in (part, np.setdiff1d(cell, part)):
            size = sum(table.weights(upper))
            if min(size, sum(table.weights(cell)) - size) < least:
                continue
            gain = ent(table, cell, upper), size
            if gain[0] > 0 and gain > best:
                best, chosen = gain, upper
    return chosen


def treerank_cells(
    table: SlowTable, cell: Rows, depth: int, least: int, leaf_depth: int | None = None
) -> list[Rows]:
    """Return the cells below a cell, best first, each with its rows."""
    if depth == 0:
        return [cell]
    if leaf_depth is None:
        upper = best_part(table, cell, least)
    else:
        upper = best_union(table, cell, least, leaf_depth)
    if upper is None:
        return [cell]
    lower = np.setdiff1d(cell, upper)
    return [
        *treerank_cells(table, upper, depth - 1, least, leaf_depth),
        *treerank_cells(table, lower, depth - 1, least, leaf_depth),
    ]


def best_union(table: SlowTable, cell: Rows, least: int, leaf_depth: int) -> Rows | None:
    """The union of the leaves of a small tree with more than their part of the cell's positives."""
    if min(table.weights(cell)) == 0:
        return None
    leaves = small_tree(table, cell, cell, least, leaf_depth)
    above = [leaf for leaf in leaves if ent(table, cell, leaf) >= 0]
    upper = np.sort(np.concatenate(above))
    return upper if ent(table, cell, upper) > 0 else None


def small_tree(table: SlowTable, cell: Rows, box: Rows, least: int, depth: int) -> list[Rows]:
    """Leaves of the classification tree in a cell, by the Gini index with balanced classes."""
    if depth == 0 or min(table.weights(box)) == 0:
        return [box]
    best, chosen = (Fraction(0), 0), None
    for part in parts(table, box):
        rest = np.setdiff1d(box, part)
        if min(sum(table.weights(part)), sum(table.weights(rest))) < least:
            continue
        fall = _impurity(table, cell, box)
        fall -= _impurity(table, cell, part) + _impurity(table, cell, rest)
        upper = (
            part
            if _positive_fraction(table, cell, part) > _positive_fraction(table, cell, rest)
            else rest
        )
        gain = fall, sum(table.weights(upper))
        if fall > 0 and gain > best:
            best, chosen = gain, part
    if chosen is None:
        return [box]
    return [
        *small_tree(table, cell, chosen, least, depth - 1),
        *small_tree(table, cell, np.setdiff1d(box, chosen), least, depth - 1),
    ]


def _even(table: SlowTable, cell: Rows, rows: Rows) -> tuple[Fraction, Fraction]:
    """Fractions of the cell's negatives and of its positives."""
    of_rows, of_cell = table.weights(rows), table.weights(cell)
    return Fraction(of_rows[0], of_cell[0]), Fraction(of_rows[1], of_cell[1])


def _positive_fraction(table: SlowTable, cell: Rows, rows: Rows) -> Fraction:
    neg, pos = _even(table, cell, rows)
    return pos / (neg + pos)


def _impurity(table: SlowTable, cell: Rows, rows: Rows) -> Fraction:
    neg, pos = _even(table, cell, rows)
    return neg * pos / (neg + pos)


def leaf_midranks(counts: list[tuple[int, int]]) -> list[float]:
    """Rank of each leaf, best first, from its (negatives, positives); each class has weight 1/2.

    Examples
    --------
    >>> leaf_midranks([(0, 3), (2, 1)])
    [0.8125, 0.3125]
    """
    totals = [sum(pair[label] for pair in counts) for label in (0, 1)]
    mass = [(Fraction(neg, totals[0]) + Fraction(pos, totals[1])) / 2 for neg, pos in counts]
    return [float(sum(mass[k + 1 :]) + mass[k] / 2) for k in range(len(mass))]
