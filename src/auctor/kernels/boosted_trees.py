"""Growing a boosted tree level by level.

``boost_slopes`` makes the slopes of rows, ``boost_rows`` counts and sends the rows of nodes,
``boost_splits`` finds their best splits, and ``boost_scores`` adds the tree to the scores.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints, RowIndices
from auctor.kernels.boost_rows import (
    clear_slots,
    count_packed,
    draw_features,
    gather_packed,
    mix,
    send_packed,
    subtract_packed,
)
from auctor.kernels.boost_splits import (
    BoostFeatures,
    BoostNodes,
    BoostRule,
    BoostSplits,
    find_boost_splits,
    leaf_value,
    split_sides,
)
from auctor.kernels.jit import inner_kernel, kernel


class FeatureGroups(NamedTuple):
    """Groups of features that may be tested on one path; without groups all features may.

    Lists of lists are one array: list k is ``array[start[k]:start[k + 1]]``.
    """

    member: Ints  # features of each group, in increasing order
    member_start: Ints
    group: Ints  # groups of each feature
    group_start: Ints


class GrowingTree(NamedTuple):
    """The nodes of a tree while it grows, in arrays of the largest size; see `TreeNodes`."""

    feature: Ints
    cut: Ints
    missing: Ints
    start: Ints
    left: Ints
    right: Ints
    value: Floats
    gain: Floats
    table: Ints
    size: Ints  # number of nodes, and number of entries of the table


class BoostLevel(NamedTuple):
    """The nodes of a level, in arrays of the largest size."""

    node: Ints  # their numbers in the tree
    slot: Ints  # of their histograms
    totals: Ints  # (node, class): packed sums of the negatives and of the positives
    bounds: Floats  # (node, 2): between which their values must be
    path: Ints  # (node, depth): features tested above, then -1; without columns if not needed


def growing_tree(max_depth: int, n_codes: int) -> GrowingTree:
    """Arrays for the largest tree of a depth; ``n_codes`` is the largest number of a category."""
    n_nodes = 2 ** (max_depth + 1) - 1
    feature, cut, missing, start, left, right = np.empty((6, n_nodes), dtype=np.int64)
    value, gain = np.empty((2, n_nodes))
    table = np.empty(n_nodes // 2 * n_codes, dtype=np.int64)
    size = np.zeros(2, dtype=np.int64)
    return GrowingTree(feature, cut, missing, start, left, right, value, gain, table, size)


def feature_groups(groups: Sequence[Sequence[int]], n_features: int) -> FeatureGroups:
    """The groups for kernels, from the features of each."""
    sizes = np.array([len(group) for group in groups], dtype=np.int64)
    member = np.fromiter((j for group in groups for j in sorted(group)), np.int64, sizes.sum())
    owner = np.repeat(np.arange(len(groups)), sizes)
    by_feature = np.argsort(member, kind="stable")
    counts = np.bincount(member, minlength=n_features)
    return FeatureGroups(member, _starts(sizes), owner[by_feature], _starts(counts))


def _starts(sizes: Ints) -> Ints:
    return np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])


def boost_level(max_depth: int, has_groups: bool = False) -> BoostLevel:
    """Arrays for the largest level of a depth."""
    size = 2**max_depth
    return BoostLevel(
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
        np.zeros((size, 2), dtype=np.int64),
        np.zeros((size, 2)),
        np.full((size, max_depth if has_groups else 0), -1, dtype=np.int64),
    )


@inner_kernel
def _add_leaf(tree: GrowingTree, value: float) -> int:
    node = tree.size[0]
    tree.feature[node], tree.cut[node], tree.missing[node] = -1, 0, 0
    tree.start[node], tree.left[node], tree.right[node] = -1, -1, -1
    tree.value[node], tree.gain[node] = value, 0.0
    tree.size[0] += 1
    return node


@kernel
def plant(tree: GrowingTree, level: BoostLevel, totals: Ints, rule: BoostRule) -> None:
    """Begin a tree with its root, the only node of the first level."""
    tree.size[0], tree.size[1] = 0, 0
    level.node[0] = _add_leaf(tree, leaf_value(totals[0], totals[1], rule, -np.inf, np.inf))
    level.slot[0] = 0
    level.totals[0, 0], level.totals[0, 1] = totals[0], totals[1]
    level.bounds[0, 0], level.bounds[0, 1] = -np.inf, np.inf
    for depth in range(level.path.shape[1]):
        level.path[0, depth] = -1


@kernel
def allow_features(
    level: BoostLevel,
    n_nodes: int,
    n_features: int,
    groups: FeatureGroups,
    n_drawn: int,
    seed: np.uint64,
) -> Bools:
    """Which features may split each node; no rows if all of them may.

    With groups they are the features of the groups that contain all features tested above the
    node. Of these, ``n_drawn`` are drawn for each node; 0 is all of them.
    """
    has_groups = level.path.shape[1] > 0
    if not has_groups and n_drawn == 0:
        return np.empty((0, n_features), dtype=np.bool_)
    allowed = np.empty((n_nodes, n_features), dtype=np.bool_)
    for k in range(n_nodes):
        for j in range(n_features):
            allowed[k, j] = not has_groups
        if has_groups and level.path[k, 0] < 0:
            for j in groups.member:
                allowed[k, j] = True
        elif has_groups:
            _allow_groups(level.path[k], groups, allowed[k])
    if n_drawn > 0:
        draw_features(seed, n_drawn, allowed)
    return allowed


@inner_kernel
def _allow_groups(path: Ints, groups: FeatureGroups, allowed: Bools) -> None:
    """Allow the members of the groups of the first feature of a path that contain all others."""
    for at in range(groups.group_start[path[0]], groups.group_start[path[0] + 1]):
        g = groups.group[at]
        start, stop = groups.member_start[g], groups.member_start[g + 1]
        is_open = True
        for j in path:
            if j < 0 or not is_open:
                break
            is_open = False
            for m in range(start, stop):
                is_open |= groups.member[m] == j
        if is_open:
            for m in range(start, stop):
                allowed[groups.member[m]] = True


@kernel
def split_level(
    splits: BoostSplits,
    n_nodes: int,
    features: BoostFeatures,
    tree: GrowingTree,
    level: BoostLevel,
    split: Ints,
    children: BoostLevel,
) -> int:
    """Add the children of the split nodes to the tree; returns the number of split nodes.

    ``split`` receives the positions of the split nodes in the level. Where the score must be
    monotone, the mean of the two values bounds both sides from then on; a cut after the last code
    separates only missing values, which have no place in the order.
    """
    count = 0
    for k in range(n_nodes):
        j = splits.feature[k]
        if j < 0:
            continue
        node = level.node[k]
        tree.feature[node], tree.cut[node] = j, splits.cut[k]
        tree.missing[node] = splits.missing[k]
        tree.gain[node] = splits.gain[k] - splits.parent[k]
        if features.is_category[j]:
            tree.start[node] = tree.size[1]
            for c in range(features.n_bins[j] + 1):
                tree.table[tree.size[1] + c] = splits.goes_left[k, c]
            tree.size[1] += features.n_bins[j] + 1
        middle = (splits.value[k, 0] + splits.value[k, 1]) / 2.0
        for side in range(2):
            child = 2 * count + side
            leaf = _add_leaf(tree, splits.value[k, side])
            children.node[child] = leaf
            children.bounds[child, 0] = level.bounds[k, 0]
            children.bounds[child, 1] = level.bounds[k, 1]
            _lengthen(level.path[k], j, children.path[child])
            # The right side has the larger values of the feature.
            if features.sign[j] != 0 and splits.cut[k] < features.n_bins[j]:
                end = 1 if (features.sign[j] > 0) == (side == 0) else 0
                children.bounds[child, end] = middle
            for label in range(2):
                left = splits.left[k, label]
                children.totals[child, label] = left if side == 0 else level.totals[k, label] - left
        tree.left[node], tree.right[node] = children.node[2 * count], children.node[2 * count + 1]
        split[count] = k
        count += 1
    return count


@inner_kernel
def _lengthen(path: Ints, feature: int, longer: Ints) -> None:
    """Copy a path with one more feature at its end."""
    is_new = True
    for depth in range(len(path)):
        longer[depth] = path[depth]
        if is_new and path[depth] < 0:
            longer[depth] = feature
            is_new = False


class CountPlan(NamedTuple):
    """Which lists of a level are counted, and into which slots of the histograms.

    Of two siblings the one with fewer rows is counted into a free slot. The other one takes over
    the slot of the parent, from which the count of its sibling is subtracted.
    """

    lists: Ints
    slot: Ints
    whole: Ints


@kernel
def plan_counts(
    split: Ints, n_split: int, sizes: Ints, level: BoostLevel, children: BoostLevel, plan: CountPlan
) -> None:
    """Assign slots to the children of the split nodes; ``sizes`` are their numbers of rows."""
    is_used = np.zeros(len(level.slot), dtype=np.bool_)
    for i in range(n_split):
        is_used[level.slot[split[i]]] = True
    free = 0
    for i in range(n_split):
        while is_used[free]:
            free += 1
        parent = level.slot[split[i]]
        smaller = 2 * i if sizes[2 * i] <= sizes[2 * i + 1] else 2 * i + 1
        children.slot[smaller], children.slot[4 * i + 1 - smaller] = free, parent
        plan.lists[i], plan.slot[i], plan.whole[i] = smaller, free, parent
        free += 1


class RowLists(NamedTuple):
    """Lists of rows of one class: list k is ``order[begin[k]:end[k]]``.

    ``amount`` has the packed numbers of the lists that are counted next, in their order; ``spare``
    and ``buffer`` are buffers.
    """

    order: RowIndices
    spare: RowIndices
    buffer: RowIndices
    amount: Ints
    begin: Ints
    end: Ints


@kernel
def send_children(
    codes: npt.NDArray[Any],
    lists: RowLists,
    splits: BoostSplits,
    split: Ints,
    n_split: int,
    n_codes: int,
) -> RowLists:
    """Replace the lists of a level by those of the children of its split nodes."""
    side = np.empty(n_codes, dtype=np.uint8)
    begin, middle = np.empty(n_split, np.int64), np.empty(n_split, np.int64)
    end = np.empty(n_split, np.int64)
    for i in range(n_split):
        k = split[i]
        begin[i], end[i] = lists.begin[k], lists.end[k]
        split_sides(splits, k, side)
        middle[i] = send_packed(
            codes[splits.feature[k]],
            lists.order,
            lists.begin[k],
            lists.end[k],
            side,
            lists.spare,
            lists.buffer,
        )
    for i in range(n_split):  # after all of them were read
        lists.begin[2 * i], lists.begin[2 * i + 1] = begin[i], middle[i]
        lists.end[2 * i], lists.end[2 * i + 1] = middle[i], end[i]
    return RowLists(lists.spare, lists.order, lists.buffer, lists.amount, lists.begin, lists.end)


@kernel
def grow_alone(
    tile: npt.NDArray[Any],
    codes: npt.NDArray[Any],
    packed: Ints,
    negative: RowLists,
    positive: RowLists,
    totals: Ints,
    features: BoostFeatures,
    groups: FeatureGroups,
    n_codes: int,
    rule: BoostRule,
    max_depth: int,
    n_drawn: int,
    seed: np.uint64,
    histogram: Ints,
    splits: BoostSplits,
    level: BoostLevel,
    children: BoostLevel,
    tree: GrowingTree,
) -> None:
    """Grow a tree in one thread, from the rows of one partition with all features in one tile.

    It calls the same kernels in the same order as a fit with threads, without the cost of Python
    between them, which would be most of the time for a small table.
    """
    plant(tree, level, totals, rule)
    size = len(level.slot)
    plan = CountPlan(
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
        np.zeros(size, dtype=np.int64),
    )
    split = np.empty(size, dtype=np.int64)
    n_nodes, n_counted = np.int64(1), np.int64(1)
    for depth in range(max_depth):
        lists, slot = plan.lists[:n_counted], plan.slot[:n_counted]
        clear_slots(slot, histogram[0])
        clear_slots(slot, histogram[1])
        count_packed(
            tile, features.first_bin, negative.order, negative.amount, negative.begin, negative.end,
            lists, slot, histogram[0],
        )  # fmt: skip
        count_packed(
            tile, features.first_bin, positive.order, positive.amount, positive.begin, positive.end,
            lists, slot, histogram[1],
        )  # fmt: skip
        if depth > 0:
            subtract_packed(plan.whole[:n_counted], slot, histogram[0])
            subtract_packed(plan.whole[:n_counted], slot, histogram[1])
        allowed = allow_features(
            level, n_nodes, tile.shape[1], groups, n_drawn, mix(seed, np.uint64(depth))
        )
        nodes = BoostNodes(
            level.slot[:n_nodes], level.totals[:n_nodes], level.bounds[:n_nodes], allowed
        )
        find_boost_splits(histogram[0], histogram[1], nodes, features, rule, splits)
        n_split = split_level(splits, n_nodes, features, tree, level, split, children)
        if n_split == 0 or depth + 1 == max_depth:
            break
        negative = send_children(codes, negative, splits, split, n_split, n_codes)
        positive = send_children(codes, positive, splits, split, n_split, n_codes)
        sizes = negative.end - negative.begin + positive.end - positive.begin
        plan_counts(split, n_split, sizes, level, children, plan)
        for rows in (negative, positive):
            gather_packed(
                rows.order, packed, rows.begin, rows.end, plan.lists[:n_split], rows.amount
            )
        level, children = children, level
        n_nodes, n_counted = 2 * n_split, n_split
