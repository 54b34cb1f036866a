"""Boosted trees: draws, packed histograms and the best splits, on small sizes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from auctor.kernels.arrays import read_only
from auctor.kernels.boost_rows import (
    count_packed,
    draw_features,
    draw_rows,
    gather_packed,
    mix,
    send_packed,
    subtract_packed,
)
from auctor.kernels.boost_scores import add_tree, tree_steps
from auctor.kernels.boost_slopes import HALF, pack_slopes
from auctor.kernels.boost_splits import (
    BoostFeatures,
    BoostNodes,
    BoostRule,
    find_boost_splits,
    leaf_value,
    no_boost_splits,
)
from auctor.kernels.boosted_trees import (
    RowLists,
    allow_features,
    boost_level,
    feature_groups,
    send_children,
)
from auctor.kernels.trees import TreeNodes, leaves_of
from tests.reference import tree_boost as slow

# Random numbers are meant to overflow, which numpy says where kernels run without compilation.
pytestmark = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
over_seeds = given(seed=st.integers(0, 2**32 - 1))
fewer_seeds = settings(max_examples=25)

SLOW_RULE = slow.Rule(l2=1.5, category_l2=4.0, category_smooth=3.0, min_curvature=0.6)
UNIT = np.array([0.75, 1.5])  # the factor u of the negatives and of the positives
SCALE = 2.0**10  # of packed slopes and curvatures


def test_random_numbers_are_those_of_splitmix64():
    """The first outputs for the seeds 0 and 1234567, as published with its code."""
    first = [int(mix(np.uint64(0), np.uint64(k))) for k in range(2)]
    assert first == [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4]
    second = [int(mix(np.uint64(1234567), np.uint64(k))) for k in range(2)]
    assert second == [6457827717110365317, 3203168211198807973]


def drawn(rows, start, stop, seed, fraction):
    order = np.zeros(stop - start, dtype=np.uint32)
    limit = np.uint64(fraction * 2.0**64)
    count = draw_rows(read_only(rows), start, stop, np.uint64(seed), limit, order)
    return order[: int(count)]


@pytest.mark.parametrize("fraction", [0.0, 0.25, 0.6, 0.99])
def test_each_row_is_drawn_with_the_given_probability(fraction):
    rows = np.arange(2000)
    counts = [len(drawn(rows, 0, 2000, seed, fraction)) for seed in range(3)]
    noise = (2000 * fraction * (1 - fraction)) ** 0.5
    assert all(abs(count - 2000 * fraction) <= 4 * noise for count in counts)


def test_the_draw_of_a_row_depends_on_its_index_and_the_seed_alone():
    rows = np.random.default_rng(0).permutation(200)
    whole = rows[drawn(rows, 0, 200, 7, 0.5)]
    pieces = [rows[drawn(rows, a, b, 7, 0.5)] for a, b in ((0, 3), (3, 150), (150, 200))]
    assert np.array_equal(np.concatenate(pieces), whole)
    in_order = drawn(np.arange(200), 0, 200, 7, 0.5)
    assert np.array_equal(np.sort(whole), in_order)
    assert not np.array_equal(drawn(np.arange(200), 0, 200, 8, 0.5), in_order)


@over_seeds
@fewer_seeds
def test_features_are_drawn_without_replacement(seed):
    rng = np.random.default_rng(seed)
    before = rng.random((5, 8)) < 0.6
    n_drawn = int(rng.integers(1, 9))
    after, again = before.copy(), before.copy()
    draw_features(np.uint64(seed), n_drawn, after)
    assert not (after & ~before).any()
    assert np.array_equal(after.sum(axis=1), np.minimum(before.sum(axis=1), n_drawn))
    draw_features(np.uint64(seed), n_drawn, again)
    assert np.array_equal(after, again)


def test_every_feature_is_drawn_equally_often():
    allowed = np.ones((1500, 5), dtype=np.bool_)
    draw_features(np.uint64(3), 2, allowed)
    assert np.abs(allowed.mean(axis=0) - 0.4).max() < 4 * (0.24 / 1500) ** 0.5
    pairs = np.unique(allowed, axis=0, return_counts=True)[1]
    assert len(pairs) == 10 and pairs.min() > 100


def test_groups_of_features_bound_what_may_split_a_node():
    level = boost_level(2, has_groups=True)
    groups = feature_groups([(1, 0), (1, 2), (3,)], 5)
    level.path[:4] = [[-1, -1], [1, -1], [1, 2], [0, 3]]

    def allow(level, groups, n_drawn, n_nodes=4):
        return allow_features(level, n_nodes, 5, groups, n_drawn, np.uint64(0))

    everything = allow(level, groups, 0)
    rows = ["11110", "11100", "01100", "00000"]  # the last feature is in no group
    assert ["".join(map(str, row)) for row in everything.astype(int)] == rows
    some = allow(level, groups, 1)
    assert some.sum(axis=1).tolist() == [1, 1, 1, 0] and not (some & ~everything).any()
    level, groups = boost_level(2), feature_groups([], 5)
    assert allow(level, groups, 0, 3).shape == (0, 5)
    assert allow(level, groups, 2, 3).sum(axis=1).tolist() == [2, 2, 2]


@over_seeds
@fewer_seeds
def test_groups_are_those_that_contain_the_whole_path(seed):
    rng = np.random.default_rng(seed)
    groups = [tuple(np.flatnonzero(rng.random(6) < 0.4).tolist()) for _ in range(4)] + [(0, 5)]
    level = boost_level(3, has_groups=True)
    paths = [rng.integers(0, 6, size=rng.integers(1, 4)).tolist() for _ in range(8)]
    for k, path in enumerate(paths):
        level.path[k, : len(path)] = path
    allowed = allow_features(level, 8, 6, feature_groups(groups, 6), 0, np.uint64(0))
    for own, path in zip(allowed, paths, strict=True):
        fitting = [group for group in groups if set(path) <= set(group)]
        assert set(np.flatnonzero(own).tolist()) == set().union(*fitting)


class Table:
    """Random rows of one node: codes (0 is missing), and whole slopes and curvatures."""

    def __init__(self, seed, n_rows=24, n_bins=(5, 3, 4), categories=(2,), missing=0.2):
        rng = np.random.default_rng(seed)
        self.n_bins = np.array(n_bins)
        self.codes = rng.integers(1, self.n_bins + 1, size=(n_rows, len(n_bins)))
        self.codes[rng.random(self.codes.shape) < missing] = 0
        self.codes = np.ascontiguousarray(self.codes.astype(np.uint8))
        self.positive = rng.random(n_rows) < 0.4
        weight = rng.integers(1, 4, size=n_rows)
        self.slope = weight * rng.integers(0, int(SCALE), size=n_rows)
        self.curvature = weight * rng.integers(1, int(SCALE), size=n_rows)
        self.packed = (self.slope << HALF) + self.curvature
        is_category = np.isin(np.arange(len(n_bins)), categories)
        first = np.cumsum(self.n_bins + 1) - self.n_bins - 1
        self.features = BoostFeatures(first, self.n_bins, is_category, np.zeros(len(n_bins), int))

    @property
    def width(self):
        return int((self.n_bins + 1).sum())

    def histograms(self, chosen=slice(None)):
        """(negative, positive) histograms of one slot."""
        out = np.zeros((2, 1, self.width), dtype=np.int64)
        codes, packed = self.codes[chosen], self.packed[chosen]
        for j, first in enumerate(self.features.first_bin):
            for label in (0, 1):
                own = self.positive[chosen] == label
                np.add.at(out[label, 0], first + codes[own, j].astype(int), packed[own])
        return out

    def totals(self):
        return np.array([[self.packed[self.positive == label].sum() for label in (0, 1)]])

    def slow_rows(self):
        unit = UNIT[self.positive.astype(int)] / SCALE
        sign = np.where(self.positive, 1.0, -1.0)
        return slow.Rows(self.codes.astype(int), sign * unit * self.slope, unit * self.curvature)


def packed_rule(rule=SLOW_RULE):
    per_unit = UNIT / SCALE
    penalties = rule.l2, rule.category_l2, rule.category_smooth
    return BoostRule(per_unit, per_unit, *penalties, rule.min_curvature)


def search(table, bounds=slow.FREE, signs=(0, 0, 0), allowed=None, rule=SLOW_RULE):
    negative, positive = table.histograms()
    allowed = np.ones((0, 3), dtype=np.bool_) if allowed is None else np.array([allowed])
    slot = np.zeros(1, dtype=np.int64)
    nodes = BoostNodes(slot, table.totals(), np.array([bounds], dtype=float), allowed)
    splits = no_boost_splits(1, int(table.n_bins[table.features.is_category].max(initial=0)) + 1)
    features = table.features._replace(sign=np.array(signs))
    find_boost_splits(negative, positive, nodes, features, packed_rule(rule), splits)
    return splits


def sides(splits, k, n_codes):
    """Whether each code goes left at node k."""
    if splits.cut[k] == 0:  # a category
        return splits.goes_left[k] == 1
    out = np.arange(n_codes) <= splits.cut[k]
    out[0] = splits.missing[k]
    return out


def assert_best(table, bounds=slow.FREE, signs=(0, 0, 0), allowed=None, rule=SLOW_RULE):
    """The split must be that of the slow search, and what it writes must be true of the rows."""
    split = search(table, bounds, signs, allowed, rule)
    rows, is_category = table.slow_rows(), table.features.is_category
    features = None if allowed is None else np.flatnonzero(allowed).tolist()
    best = slow.find_split(rows, is_category, np.array(signs), rule, bounds, features)
    if best is None:
        assert split.feature[0] == -1
        return None
    j = split.feature[0]
    gain = split.gain[0] - split.parent[0]
    assert gain == pytest.approx(best.gain, rel=1e-9, abs=1e-10)
    assert j == best.feature
    side = sides(split, 0, table.n_bins[j] + 1)[table.codes[:, j].astype(int)]
    assert np.array_equal(side, np.isin(table.codes[:, j], list(best.left)))
    assert split.value[0] == pytest.approx(best.values, abs=1e-12)
    assert (split.cut[0] == 0) == is_category[j]
    if is_category[j]:
        assert split.missing[0] == split.goes_left[0, 0]
    left = [table.packed[side & (table.positive == label)].sum() for label in (0, 1)]
    assert split.left[0].tolist() == left
    return best


@over_seeds
def test_the_best_split_is_that_of_a_search_of_all(seed):
    assert_best(Table(seed))


@over_seeds
@fewer_seeds
def test_few_rows_and_empty_bins(seed):
    assert_best(Table(seed, n_rows=6, missing=0.4))


def test_both_sides_of_missing_values_and_missing_values_alone_are_found():
    sides = set()
    for seed in range(60):
        table = Table(seed, n_bins=(3, 2, 2), missing=0.35)
        best = assert_best(table)
        if best is not None and best.feature != 2:
            everything = set(range(1, table.n_bins[best.feature] + 1))
            sides.add("alone" if best.left == everything else 0 in best.left)
    assert sides == {True, False, "alone"}


@over_seeds
@fewer_seeds
def test_the_best_split_within_bounds(seed):
    low, high = np.sort(np.random.default_rng(seed).normal(scale=0.5, size=2))
    assert_best(Table(seed), bounds=(low, high))
    assert_best(Table(seed), bounds=(-np.inf, high))


@over_seeds
@fewer_seeds
def test_monotone_splits(seed):
    for signs in ((1, -1, 0), (-1, 1, 0)):
        table = Table(seed)
        best = assert_best(table, signs=signs)
        if best is not None and best.feature < 2:
            is_ordered = best.left != set(table.codes[:, best.feature].tolist()) - {0}
            assert not is_ordered or signs[best.feature] * (best.values[1] - best.values[0]) >= 0
        assert_best(Table(seed), signs=signs, bounds=(-0.2, 0.1))


@over_seeds
@fewer_seeds
def test_only_allowed_features_are_searched(seed):
    allowed = np.random.default_rng(seed).random(3) < 0.5
    assert_best(Table(seed), allowed=allowed)


@over_seeds
@fewer_seeds
def test_the_least_curvature_of_a_side(seed):
    table = Table(seed)
    splits = [assert_best(table, rule=slow.Rule(min_curvature=least)) for least in (0.0, 2.0, 4.0)]
    gains = [0.0 if split is None else split.gain for split in splits]
    assert gains == sorted(gains, reverse=True)
    assert assert_best(table, rule=slow.Rule(min_curvature=1e6)) is None


def test_a_constant_feature_has_no_split():
    table = Table(0, missing=0.0)
    table.codes[:] = 1
    assert search(table).feature.tolist() == [-1]
    table.codes[:] = 0
    assert search(table).feature.tolist() == [-1]


def test_of_equal_features_the_first_splits():
    table = Table(1, n_bins=(4, 4, 4), categories=())
    table.codes[:, 1:] = table.codes[:, :1]
    assert assert_best(table).feature == 0
    assert assert_best(table, allowed=[False, True, True]).feature == 1


def test_missing_values_that_fill_the_sums():
    """Most rows of both classes lack the value, and the sums are as large as they can be."""
    # (class, code): missing, 1, 2. Missing rows belong with code 1, and apart from code 2.
    slopes = np.array([[1_500_000_000, 4_000_000, 300_000_000], [1_800_000_000, 5_000_000, 0]])
    histograms = ((slopes << HALF) + slopes)[:, None, :]
    totals = histograms.sum(axis=2).T
    nodes = BoostNodes(
        np.zeros(1, dtype=np.int64), totals, np.array([slow.FREE]), np.ones((0, 1), dtype=np.bool_)
    )
    one = np.array([1])
    features = BoostFeatures(0 * one, 2 * one, one == 0, 0 * one)
    unit = np.full(2, 1e-6)
    splits = no_boost_splits(1, 1)
    rule = BoostRule(unit, unit, 1.0, 1.0, 1.0, 0.05)
    find_boost_splits(histograms[0], histograms[1], nodes, features, rule, splits)
    assert sides(splits, 0, 3).tolist() == [True, True, False]
    assert splits.left.tolist() == [histograms[:, 0, :2].sum(axis=1).tolist()]


def test_the_value_of_a_leaf():
    table = Table(4)
    negative, positive = table.totals()[0]
    rows, rule = table.slow_rows(), packed_rule()
    free = leaf_value(negative, positive, rule, *slow.FREE)
    assert free == pytest.approx(slow.best_value(rows, SLOW_RULE.l2))
    assert leaf_value(negative, positive, rule, free + 0.1, free + 0.2) == free + 0.1
    assert leaf_value(negative, positive, rule, free - 0.2, free - 0.1) == free - 0.1
    assert leaf_value(0, 0, rule, *slow.FREE) == 0.0


def test_lists_of_rows_are_counted_into_their_slots():
    table = Table(5, n_rows=150)
    rng = np.random.default_rng(5)
    order = rng.permutation(150).astype(np.uint32)
    begin, end = np.array([0, 71, 71, 100]), np.array([71, 71, 100, 149])
    lists, slot = np.array([3, 0, 1]), np.array([1, 4, 2])
    histogram = np.zeros((5, table.width), dtype=np.int64)
    amount = np.zeros(150, dtype=np.int64)
    gather_packed(order, table.packed, begin, end, lists, amount)
    assert np.array_equal(amount[:71], table.packed[order][:71])
    assert np.array_equal(amount[100:149], table.packed[order][100:149])
    assert not amount[71:100].any()  # of a list that is not counted
    count_packed(
        table.codes, table.features.first_bin, order, amount, begin, end, lists, slot, histogram
    )
    for own, place in zip(lists, slot, strict=True):
        expected = table.histograms(order[begin[own] : end[own]]).sum(axis=0)[0]
        assert np.array_equal(histogram[place], expected)
    assert not histogram[[0, 3]].any()


def test_children_sum_to_their_parent():
    table = Table(6, n_rows=80)
    order = np.arange(80, dtype=np.uint32)
    new, buffer = np.zeros(80, dtype=np.uint32), np.zeros(80, dtype=np.uint32)
    goes_left = np.array([1, 1, 0, 0, 1, 0], dtype=np.uint8)
    column = np.ascontiguousarray(table.codes[:, 1])
    at = send_packed(column, order, 0, 80, goes_left, new, buffer)
    side = goes_left[table.codes[:, 1].astype(int)] == 1
    assert np.array_equal(new[:at], np.flatnonzero(side))  # in the order of the rows
    assert np.array_equal(new[at:], np.flatnonzero(~side))
    histogram = np.zeros((2, table.width), dtype=np.int64)
    histogram[0] = table.histograms().sum(axis=0)[0]
    count_packed(
        table.codes, table.features.first_bin, new, table.packed[new], np.array([0]),
        np.array([at]), np.array([0]), np.array([1]), histogram,
    )  # fmt: skip
    subtract_packed(np.array([0]), np.array([1]), histogram)
    assert np.array_equal(histogram[0], table.histograms(~side).sum(axis=0)[0])
    assert np.array_equal(histogram[1], table.histograms(side).sum(axis=0)[0])


def test_several_nodes_are_split_at_once():
    """Rows of a node may be anywhere in the order; empty nodes have empty children."""
    table = Table(7, n_rows=30)
    order = np.random.default_rng(7).permutation(30).astype(np.uint32)
    begin, end = [2, 12, 12, 29], [12, 12, 29, 30]
    splits = no_boost_splits(4, 5)
    splits.feature[:] = [0, 1, 2, -1]  # the last node is a leaf
    splits.cut[:2], splits.missing[:2] = [3, 1], [1, 0]
    splits.goes_left[2, [1, 3]] = 1  # a category
    new, buffer = np.zeros((2, 30), dtype=np.uint32)
    ends = np.zeros((2, 8), dtype=np.int64)
    ends[:, :4] = begin, end
    lists = RowLists(order, new, buffer, np.zeros(30, dtype=np.int64), *ends)
    codes = np.ascontiguousarray(table.codes.T)
    sent = send_children(read_only(codes), lists, splits, np.arange(3), 3, 6)
    assert sent.order is new and sent.spare is order
    for k in range(3):
        own = order[begin[k] : end[k]]
        side = np.isin(table.codes[own, k], [[0, 1, 2, 3], [1], [1, 3]][k])
        children = [sent.order[sent.begin[i] : sent.end[i]] for i in (2 * k, 2 * k + 1)]
        assert np.array_equal(children[0], own[side])
        assert np.array_equal(children[1], own[~side])


@pytest.mark.parametrize("split", [[2, 3], [3], [1, 3], [0, 3], [1, 2, 3]], ids=str)
def test_children_of_any_nodes_of_a_level_keep_their_rows(split):
    """Nodes before a split node may be leaves: the lists of its children then move forward."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 4, size=(1, 40)).astype(np.uint8)
    order = rng.permutation(40).astype(np.uint32)
    edges = np.array([0, 11, 19, 30, 40])
    splits = no_boost_splits(4, 4)
    splits.feature[split] = 0
    splits.goes_left[:, [0, 2]] = 1
    new, buffer = np.zeros((2, 40), dtype=np.uint32)
    ends = np.zeros((2, 8), dtype=np.int64)
    ends[:, :4] = edges[:-1], edges[1:]
    lists = RowLists(order.copy(), new, buffer, np.zeros(40, dtype=np.int64), *ends)
    sent = send_children(read_only(codes), lists, splits, np.array(split), len(split), 4)
    for i, k in enumerate(split):
        own = order[edges[k] : edges[k + 1]]
        side = np.isin(codes[0, own], [0, 2])
        children = [sent.order[sent.begin[j] : sent.end[j]] for j in (2 * i, 2 * i + 1)]
        assert np.array_equal(children[0], own[side])
        assert np.array_equal(children[1], own[~side])


@pytest.mark.parametrize("has_category", [True, False])
def test_rows_take_the_steps_of_the_tree(has_category):
    """Numbers with missing values on both sides, a category, and leaves at different depths."""
    rng = np.random.default_rng(8)
    columns = [[0, 1, 2, -1, -1, -1, -1], [2, 3, 2, 0, 0, 0, 0], [0] * 7, [1, 0, 1, 0, 0, 0, 0]]
    start, table = [-1, -1, 0 if has_category else -1, -1, -1, -1, -1], [1, 0, 1, 0, 0, 1]
    left, right = [1, 3, 5, -1, -1, -1, -1], [2, 4, 6, -1, -1, -1, -1]
    nodes = TreeNodes(*map(np.array, (*columns, start, table, left, right)))
    codes = rng.integers(0, 6, size=(3, 200)).astype(np.uint8)
    leaf = leaves_of(codes, nodes)
    weight, value = rng.integers(1, 4, size=200).astype(np.uint32), np.arange(7) / 4.0
    scores, cover = np.ones(200), np.zeros(7, dtype=np.int64)
    tile = np.ascontiguousarray(codes.T)
    add_tree(tile, 10, 189, tree_steps(nodes), value, read_only(weight), scores, cover)
    expected = np.ones(200)
    expected[10:189] += value[leaf[10:189]]
    assert np.array_equal(scores, expected)
    assert np.array_equal(cover, np.bincount(leaf[10:189], weight[10:189], 7))


@pytest.mark.parametrize("is_whole", [True, False])
def test_packed_slopes_are_cubic_polynomials_of_the_score(is_whole):
    rng = np.random.default_rng(9)
    scores, weight = rng.uniform(-2.0, 3.0, size=50), rng.integers(1, 5, size=50)
    low, per_unit = float(scores.min()), 4.0
    n_nodes = int((scores.max() - low) * per_unit) + 4
    at = low + (np.arange(n_nodes) - 1) / per_unit
    slope, curvature = (lambda x: 40.0 + x**3, lambda x: 5.0 + x * x)  # cubic at most: no error
    nodes = np.column_stack([slope(at), curvature(at)])
    packed, amount = np.zeros((2, 50), dtype=np.int64)
    scales = 2.0**20, 2.0**18
    order = rng.permutation(50).astype(np.uint32)
    rows = scores, read_only(weight.astype(np.uint32)), order, 40, low, per_unit
    drawn_sum = pack_slopes(*rows, nodes, *scales, is_whole, packed, amount)
    assert np.array_equal(amount[:40], packed[order[:40]]) and not packed[order[40:]].any()
    assert drawn_sum == packed.sum()
    pack_slopes(*rows[:3], 50, *rows[4:], nodes, *scales, is_whole, packed, amount)
    upper, lower = packed >> HALF, packed & (2**HALF - 1)
    error = weight if is_whole else np.ones(50)  # half a unit, before or after the weight
    assert (np.abs(upper - weight * slope(scores) * scales[0]) <= 0.5 * error + 1e-3).all()
    assert (np.abs(lower - weight * curvature(scores) * scales[1]) <= 0.5 * error + 1e-3).all()
    if is_whole:
        assert (upper % weight == 0).all()
        assert (lower % weight == 0).all()


@pytest.mark.parametrize("loss", ["logistic", "auc"])
def test_rounds_without_compilation_or_with_checked_indices(loss):
    """Some whole rounds with all kernels, on a few rows."""
    from auctor.data import Workers, prepare
    from auctor.kernels.trees import leaves_of
    from auctor.learners.tree_boost.rounds import Booster, sum_up
    from auctor.learners.tree_boost.settings import TreeBoostSettings
    from auctor.testing.contracts import messy_table

    X, y = messy_table(1, n_rows=40)
    data = prepare(X, y, categorical_features=[4], max_bins=6).split(2)
    chosen = TreeBoostSettings(3, 0.5, loss=loss, max_depth=3, subsample=0.8, max_features=3)
    booster = Booster(data, chosen, Workers(1))
    expected = [np.zeros(part.n_rows) for part in data.partitions]
    for _ in range(3):
        tree, of_leaves = booster.add()
        (cover,) = sum_up(data, [tree], [of_leaves])
        n_leaves = np.zeros(len(tree.value), dtype=np.int64)
        for part, scores in zip(data.partitions, expected, strict=True):
            leaf = leaves_of(part.dense_codes, tree.nodes)
            scores += tree.value[leaf]
            n_leaves += np.bincount(leaf, minlength=len(n_leaves))
        is_leaf = tree.nodes.feature < 0
        assert cover[0] == 40 and np.array_equal(cover[is_leaf], n_leaves[is_leaf])
    assert tree.n_leaves > 1
    for scores, own in zip(booster.scores.values, expected, strict=True):
        assert np.array_equal(scores, own)
