"""Cost-complexity pruning of ranking trees; the penalty is chosen by the held-out AUC.

The AUC of a tree is 1/2 plus the sum of the gains of its splits. The subtree with the largest AUC -
penalty * leaves is found by collapsing weakest links, as in CART, with the gain in AUC in place of
the decrease of impurity. The same sum holds for held-out rows with their own gains, so that one
pass down the whole tree gives the held-out AUC of all subtrees.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.data import RankingData, Workers
from auctor.data.copies import draw_units
from auctor.kernels.trees import leaves_of
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.trees.grower import Rules
from auctor.learners.trees.grown_tree import GrownTree
from auctor.learners.trees.growth import grow

RowMasks = tuple[Bools, Bools]  # over the rows of the table: to train on, to hold out


@dataclass(frozen=True)
class Subtree:
    """A subtree: its penalty per leaf, its size, and its AUC on held-out rows."""

    penalty: float
    n_leaves: int
    auc: float


def prune(
    data: RankingData,
    tree: GrownTree,
    rules: Rules,
    cv: int | Sequence[RowMasks],
    seed: int,
    workers: Workers,
    order: str = "tree",
    journal: Journal = NO_JOURNAL,
) -> tuple[GrownTree, list[Subtree]]:
    """The subtree whose penalty has the largest mean AUC over the folds; the smallest in a tie.

    ``cv`` is a number of folds, or the masks of the rows to train on and to hold out in each of
    them. ``order`` is that of the leaves, "tree" or "rate".
    """
    if isinstance(cv, int):
        _check_rows(data, cv)
        fold_of = stratified_folds(data, cv, seed)
        cv = [(fold_of != fold, fold_of == fold) for fold in range(cv)]
    levels = collapse_levels(tree)
    penalties = between(levels)
    aucs = np.zeros(len(penalties))
    for train, test in cv:
        held = [test[part.rows] for part in data.partitions]
        weights = [part.weight * train[part.rows] for part in data.partitions]
        own = journal.numbered("fold")
        grown = grow(data, rules, workers, weights=weights, journal=own)
        counts, links = held_counts(data, grown, held), collapse_levels(grown)
        if order == "rate":
            aucs += held_out_rate_aucs(grown, links, counts, penalties) / len(cv)
        else:
            aucs += held_out_aucs(links, grown.gains(counts), penalties) / len(cv)
    sizes = 1 + np.sum(levels[None] > penalties[:, None], axis=1)
    # Splits of small cells hardly change the AUC, which is flat over many penalties. CART's rule of
    # one standard error would take the smallest of these trees, which costs AUC on small tables.
    best = len(aucs) - 1 - int(np.argmax(aucs[::-1]))
    steps = zip(penalties.tolist(), sizes.tolist(), aucs.tolist(), strict=True)
    return tree.pruned(levels > penalties[best]), [Subtree(*step) for step in steps]


def _check_rows(data: RankingData, n_folds: int) -> None:
    """Each fold, and the rows outside of it, must have rows of both classes."""
    if min(data.n_pos, data.n_neg) < n_folds:
        raise ValueError(
            f"cv is {n_folds}, but there are {data.n_pos} positive and {data.n_neg} negative rows, "
            "and each fold needs both classes; give a smaller cv or pruning=None"
        )


def collapse_levels(tree: GrownTree) -> Floats:
    """The smallest penalty per leaf at which each split of the tree is removed.

    The link of a split is the gain of all splits at and below it, divided by their number. The
    weakest link is collapsed first, with all splits below it.
    """
    splits = tree.splits.tolist()
    parent = dict.fromkeys(splits, -1)
    for cell in splits:
        parent |= {int(tree.upper[cell]): cell, int(tree.lower[cell]): cell}
    gain = dict(zip(splits, tree.double_gains(tree.counts), strict=True))
    size = dict.fromkeys(splits, 1)
    for cell in reversed(splits):
        if parent[cell] >= 0:
            gain[parent[cell]] += gain[cell]
            size[parent[cell]] += size[cell]
    pairs = 2 * int(tree.counts[0, 0]) * int(tree.counts[0, 1])
    links = [(gain[cell] / (size[cell] * pairs), cell) for cell in splits]
    heapq.heapify(links)
    level: dict[int, float] = {}
    highest = 0.0
    while links:
        link, cell = heapq.heappop(links)
        if cell in level or link != gain[cell] / (size[cell] * pairs):
            continue  # it was removed, or has another link by now
        highest = max(highest, link)
        for below in _below(tree, cell, level):
            level[below] = highest
        above = parent[cell]
        while above >= 0:
            gain[above] -= gain[cell]
            size[above] -= size[cell]
            heapq.heappush(links, (gain[above] / (size[above] * pairs), above))
            above = parent[above]
    return np.array([level[cell] for cell in splits])


def _below(tree: GrownTree, cell: int, gone: dict[int, float]) -> list[int]:
    """The cell and the splits below it that were not removed before."""
    below, waiting = [], [cell]
    while waiting:
        k = waiting.pop()
        below.append(k)
        children = int(tree.upper[k]), int(tree.lower[k])
        waiting += [c for c in children if tree.upper[c] >= 0 and c not in gone]
    return below


def between(levels: Floats) -> Floats:
    """A penalty for each subtree: the geometric mean of the ends of its range of penalties."""
    distinct = np.unique(levels)
    ends = np.append(distinct[1:], np.inf)
    return np.concatenate([[0.0], np.sqrt(distinct * ends)])


def stratified_folds(data: RankingData, n_folds: int, seed: int) -> Ints:
    """The fold of each row of the table, stratified; copies of a row are in the same fold."""
    rng = np.random.default_rng(seed)
    fold = np.zeros(1 + max(int(rows[-1]) for rows in data.class_rows), dtype=np.int64)
    for rows in data.class_rows:
        first, unit = draw_units(data.copies, rows, n_folds)
        fold[rng.permutation(first)] = np.arange(len(first)) % n_folds
        fold[rows] = fold[first[unit]]
    return fold


def held_counts(data: RankingData, tree: GrownTree, held: list[Bools]) -> Ints:
    """Weight of the held-out rows at each cell: (node, class)."""
    counts = np.zeros((len(tree.counts), 2), dtype=np.int64)
    for part, is_held in zip(data.partitions, held, strict=True):
        leaf = leaves_of(part.dense_codes, tree.nodes)
        weight = part.weight * is_held  # sums below 2^53 are exact in floating point
        for label, rows in zip((1, 0), part.class_slices, strict=True):
            sums = np.bincount(leaf[rows], weight[rows], len(counts))
            counts[:, label] += sums.astype(np.int64)
    counts = data.group.sum(counts)
    for cell in tree.splits[::-1].tolist():
        counts[cell] = counts[tree.upper[cell]] + counts[tree.lower[cell]]
    return counts


def held_out_rate_aucs(tree: GrownTree, levels: Floats, held: Ints, penalties: Floats) -> Floats:
    """Held-out AUC of the subtree for each penalty, its leaves ordered by their training rate.

    A cell is a leaf of the subtree if its own split was removed or never made, and that of its
    parent was not.
    """
    gone, alive = np.full(len(held), -np.inf), np.full(len(held), np.inf)
    gone[tree.splits] = levels
    for children in (tree.upper, tree.lower):
        alive[children[tree.splits]] = levels
    cells = tree.in_order("rate")
    gone, alive, (neg, pos) = gone[cells], alive[cells], held[cells].T.astype(np.float64)
    pairs = float(held[0, 0]) * float(held[0, 1])
    aucs = np.empty(len(penalties))
    for i, penalty in enumerate(penalties.tolist()):
        is_leaf = (gone <= penalty) & (alive > penalty)
        below = held[0, 0] - np.cumsum(neg[is_leaf])
        aucs[i] = (pos[is_leaf] * (below + neg[is_leaf] / 2.0)).sum() / pairs
    return aucs


def held_out_aucs(levels: Floats, gains: Floats, penalties: Floats) -> Floats:
    """Held-out AUC of the subtree for each penalty, from the gains of its splits on these rows."""
    order = np.argsort(levels, kind="stable")
    left = np.concatenate([np.cumsum(gains[order][::-1])[::-1], [0.0]])
    return 0.5 + left[np.searchsorted(levels[order], penalties, side="right")]
