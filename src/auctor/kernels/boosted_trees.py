"""Growing a boosted tree level by level, and adding it to the scores of rows.

``boost_slopes`` makes the slopes of rows, ``boost_rows`` counts and sends the rows of nodes, and
``boost_splits`` finds their best splits.
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
from auctor.kernels.trees import TreeNodes


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


# The parts of the record of a node: cut (bits 0 to 15), shift (16), feature (17 to 48), child.
_CUT, _FEATURE = np.uint64(0xFFFF), np.uint64(0xFFFFFFFF)
_SHIFT_BIT, _FEATURE_BIT, _CHILD_BIT = np.uint64(16), np.uint64(17), np.uint64(49)
_ONE = np.uint64(1)


class TreeSteps(NamedTuple):
    """A tree in the layout of ``add_tree``, with a record of 64 bits for each node.

    The two children of a node are neighbours, and codes above the cut go to the second one. With
    shift 1 the codes are reduced by one, so that a missing value (code 0) becomes the largest
    number and goes with the codes above the cut. A leaf is its own child, so that every row takes
    the same number of steps and the processor has no branch to predict.
    """

    record: npt.NDArray[np.uint64]
    start: Ints  # of the sides of the codes of a category in ``table``; -1 for numbers
    table: Ints
    depth: int
    has_categories: bool


@inner_kernel
def _child(record: np.uint64, tile: npt.NDArray[Any], row: np.uint64) -> Any:
    """The number of the node that a row goes to, by a test of a number."""
    code = np.uint64(tile[row, (record >> _FEATURE_BIT) & _FEATURE])
    is_above = code - ((record >> _SHIFT_BIT) & _ONE) > (record & _CUT)
    return (record >> _CHILD_BIT) + np.uint64(is_above)


@inner_kernel
def _leaf_by_table(tile: npt.NDArray[Any], row: np.uint64, steps: TreeSteps) -> Any:
    """The leaf of a row in a tree that tests categories too."""
    k = np.uint64(0)
    for _ in range(steps.depth):
        record = steps.record[k]
        if steps.start[k] >= 0:
            code = np.int64(tile[row, (record >> _FEATURE_BIT) & _FEATURE])
            is_right = 1 - steps.table[steps.start[k] + code]
            k = (record >> _CHILD_BIT) + np.uint64(is_right)
        else:
            k = _child(record, tile, row)
    return k


@kernel
def add_tree(
    tile: npt.NDArray[Any],
    start: int,
    stop: int,
    steps: TreeSteps,
    value: Floats,
    weight: npt.NDArray[np.uint32],
    scores: Floats,
    cover: Ints,
) -> None:
    """Add the value of its leaf to the score of each of the rows start..stop of a tile.

    ``cover`` receives the weight of the rows in each leaf. Four rows walk at the same time: one
    row waits for memory at every step, and the others use that time.
    """
    records = steps.record
    i, end = np.uint64(start), np.uint64(stop)
    while i < end:
        if steps.has_categories or i + np.uint64(3) >= end:
            k = _leaf_by_table(tile, i, steps)
            scores[i] += value[k]
            cover[k] += np.int64(weight[i])
            i += _ONE
            continue
        a = b = c = d = records[0]
        for _ in range(steps.depth):
            a = records[_child(a, tile, i)]
            b = records[_child(b, tile, i + np.uint64(1))]
            c = records[_child(c, tile, i + np.uint64(2))]
            d = records[_child(d, tile, i + np.uint64(3))]
        for leaf in (a, b, c, d):  # a leaf is its own child
            k = leaf >> _CHILD_BIT
            scores[i] += value[k]
            cover[k] += np.int64(weight[i])
            i += _ONE


def tree_steps(nodes: TreeNodes) -> TreeSteps:
    """The steps of a tree: ``above`` is 0, and a right child follows its sibling and parent."""
    is_leaf = nodes.feature < 0
    shift = np.where(is_leaf, 0, 1 - nodes.missing)
    cut = np.where(is_leaf, int(_CUT), np.maximum(nodes.cut - shift, 0))
    child = np.where(is_leaf, np.arange(len(is_leaf)), nodes.left)
    record = child << int(_CHILD_BIT) | np.maximum(nodes.feature, 0) << int(_FEATURE_BIT)
    record |= shift << int(_SHIFT_BIT) | cut
    depth = [0] * len(is_leaf)
    inner = np.flatnonzero(~is_leaf)
    for k, left in zip(inner.tolist(), nodes.left[inner].tolist(), strict=True):
        depth[left] = depth[left + 1] = depth[k] + 1
    has_categories = bool((nodes.start >= 0).any())
    return TreeSteps(record.astype(np.uint64), nodes.start, nodes.table, max(depth), has_categories)
