"""Quality by group: against pairs one by one, scipy and auc_ci; what must not matter; bad input."""

import json
import math
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx
from reference import by_group as slow
from sklearn.metrics import roc_auc_score

from auctor.metrics import auc_ci, by_group, compare_auc
from auctor.metrics.group_rows import GroupedRows
from auctor.metrics.group_tests import holm
from auctor.metrics.group_values import GroupValues
from auctor.metrics.limits import auc_limits, degrees
from auctor.metrics.sample import read_sample

T = 0.5


def draw(sizes=(60, 45, 50), seed=0, shifts=(1.0, 0.2, 1.5), decimals=1):
    """Labels, scores with ties, groups and probabilities; every group has both classes."""
    rng = np.random.default_rng(seed)
    groups = np.repeat([f"g{k}" for k in range(len(sizes))], sizes)
    y = rng.random(len(groups)) < 0.4
    shift = np.repeat(shifts, sizes)
    s = np.round(rng.normal(size=len(y)) + shift * y, decimals)
    return y, s, groups, 1 / (1 + np.exp(0.3 - s))


@pytest.fixture(scope="module")
def rows():
    return draw()


@pytest.fixture(scope="module")
def table(rows):
    y, s, groups, p = rows
    return by_group(y, s, groups, threshold=T, probability=p)


def test_estimates_are_those_of_scipy_sklearn_and_auc_ci(rows, table):
    y, s, groups, p = rows
    assert [group.name for group in table.groups] == ["g0", "g2", "g1"]  # the largest first
    for group in (*table.groups, table.overall):
        own = np.ones(len(y), bool) if group is table.overall else groups == group.name
        assert (group.n_rows, group.n_pos) == (own.sum(), y[own].sum())
        area = auc_ci(y[own], s[own])
        assert vars(group.auc) == {"value": area.value, "low": area.low, "high": area.high}
        assert group.auc.value == approx(roc_auc_score(y[own], s[own]), abs=1e-12)
        flagged = s >= T
        rates = {
            "flagged": flagged[own],
            "tpr": flagged[own & y],
            "fpr": flagged[own & ~y],
        }
        for name, of in rates.items():
            found = getattr(group, name)
            assert (found.value, found.low, found.high) == approx(slow.rate_limits(of, 0.95)), name
        found = group.calibration
        expected = slow.calibration_limits(y[own], p[own], 0.95)
        assert (found.value, found.low, found.high) == approx(expected)


def test_tests_are_those_of_levels_tried_one_by_one(rows, table):
    y, s, groups, p = rows
    flagged = s >= T
    for name in ("g1",):
        own = groups == name
        tests = {test.measure: test for test in table.tests if test.group == name}
        assert {test.other for test in tests.values()} == {"the other groups"}
        assert tests["auc"].other_value == approx(slow.auc_within(y[~own], s[~own], groups[~own]))
        cases = {
            "tpr": [
                lambda level, of=of: slow.rate_limits(flagged[of & y], level) for of in (own, ~own)
            ],
            "fpr": [
                lambda level, of=of: slow.rate_limits(flagged[of & ~y], level) for of in (own, ~own)
            ],
            "calibration": [
                lambda level, of=of: slow.calibration_limits(y[of], p[of], level)
                for of in (own, ~own)
            ],
        }
        for measure, limits in cases.items():
            test = tests[measure]
            expected = slow.difference(*limits, 0.95)
            assert (test.difference, test.low, test.high) == approx(expected, abs=1e-12), measure
            assert test.p_value == approx(slow.p_value(*limits), abs=1e-6), measure


def test_the_auc_of_the_other_groups_has_the_variance_of_a_weighted_mean(rows, table):
    y, s, groups, _ = rows
    test = next(t for t in table.tests if (t.group, t.measure) == ("g1", "auc"))
    others = [auc_ci(y[own], s[own]) for own in (groups == "g0", groups == "g2")]
    pairs = np.array([one.n_pos * one.n_neg for one in others], dtype=float)
    fraction = pairs / pairs.sum()
    variance = sum(f**2 * one.standard_error**2 for f, one in zip(fraction, others, strict=True))
    n_rows = min(sum(one.n_pos for one in others), sum(one.n_neg for one in others))
    mean = sum(f * one.value for f, one in zip(fraction, others, strict=True))
    low, high = auc_limits(mean, variance, n_rows, n_rows, 0.95, freedom=degrees(n_rows, 2))
    own = slow.area_limits(y[groups == "g1"], s[groups == "g1"], 0.95)
    expected = slow.difference(lambda _: own, lambda _: (mean, low, high), 0.95)
    assert (test.difference, test.low, test.high) == approx(expected)


def test_two_groups_are_compared_once_as_compare_auc_does(rows):
    y, s, groups, _ = rows
    two = groups != "g2"
    result = by_group(y[two], s[two], groups[two], threshold=T)
    assert [(t.group, t.other, t.measure) for t in result.tests] == [
        ("g0", "g1", name) for name in ("auc", "tpr", "fpr")
    ]
    a, b = (groups == name for name in ("g0", "g1"))
    outside = compare_auc(y[a], s[a], s[b], y_true_b=y[b])
    test = result.tests[0]
    found = test.difference, test.low, test.high, test.p_value
    assert found == approx((outside.difference, outside.low, outside.high, outside.p_value))


def test_all_pairs(rows):
    y, s, groups, _ = rows
    tests = by_group(y, s, groups, threshold=T, compare="pairs").tests
    assert len(tests) == 3 * 3
    assert {(t.group, t.other) for t in tests} == {("g0", "g2"), ("g0", "g1"), ("g2", "g1")}
    assert [t.p_adjusted for t in tests] == approx(holm([t.p_value for t in tests]))


@settings(max_examples=40)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.001, 0.999))
def test_holm_is_the_step_down_procedure(p_values, alpha):
    adjusted = holm(p_values)
    if np.abs(adjusted - alpha).min() > 1e-12:
        assert (adjusted <= alpha).tolist() == slow.holm_rejects(p_values, alpha)
    assert (adjusted >= p_values).all() and (adjusted <= 1).all()


def same(a, b, rel=1e-9):
    """Whether two tables have the same numbers."""
    plain = [json.dumps(table.to_dict()["groups"]) for table in (a, b)]
    numbers = [[float(x) for x in _numbers(json.loads(text))] for text in plain]
    assert numbers[0] == approx(numbers[1], rel=rel, abs=1e-9)
    pairs = [{(t.group, t.measure): t.p_adjusted for t in table.tests} for table in (a, b)]
    assert pairs[0] == approx(pairs[1], abs=1e-7)


def _numbers(value):
    if isinstance(value, dict):
        return [n for item in value.values() for n in _numbers(item)]
    if isinstance(value, list):
        return [n for item in value for n in _numbers(item)]
    return [value] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


@settings(max_examples=6)
@given(seed=st.integers(0, 1000))
def test_what_must_not_matter(seed):
    y, s, groups, p = draw((30, 25, 40), seed)
    w = np.random.default_rng(seed).integers(1, 4, len(y)).astype(float)
    order = np.random.default_rng(seed).permutation(len(y))
    options = {"threshold": T, "probability": p}
    plain = by_group(y, s, groups, **options)
    shuffled = by_group(y[order], s[order], groups[order], threshold=T, probability=p[order])
    same(plain, shuffled)
    same(plain, by_group(y, np.exp(s), groups, threshold=math.exp(T), probability=p))
    same(plain, by_group(y, s, groups, sample_weight=np.full(len(y), 7.0), **options))
    weighted = by_group(y, s, groups, sample_weight=w, **options)
    same(weighted, by_group(y, s, groups, sample_weight=w * 1e6, **options))
    for test in (*plain.tests, *weighted.tests):
        assert (test.p_value < 0.05) == (not test.low <= 0 <= test.high)


def test_weights_change_values_as_copies_do_and_zero_is_absent(rows):
    y, s, groups, p = rows
    w = np.arange(len(y)) % 3
    once = by_group(y, s, groups, threshold=T, probability=p, sample_weight=w)
    copied = (np.repeat(of, w) for of in (y, s, groups, p))
    y2, s2, groups2, p2 = copied
    twice = by_group(y2, s2, groups2, threshold=T, probability=p2)
    by_name = {group.name: group for group in twice.groups}
    for group in once.groups:
        for name in ("auc", "calibration", "flagged", "tpr", "fpr"):
            alone, copies = getattr(group, name), getattr(by_name[group.name], name)
            assert alone.value == approx(copies.value)
            assert alone.high - alone.low > copies.high - copies.low  # copies are no evidence
        assert group.n_rows == (groups[w > 0] == group.name).sum()


def test_clusters_widen_the_intervals(rows):
    y, s, groups, p = rows
    y, s, groups, p = (np.repeat(of, 3) for of in (y, s, groups, p))
    clusters = np.arange(len(y)) // 3
    free = by_group(y, s, groups, threshold=T, probability=p)
    tied = by_group(y, s, groups, threshold=T, probability=p, clusters=clusters)
    for a, b in zip(free.groups, tied.groups, strict=True):
        for name in ("auc", "tpr", "calibration"):
            one, other = getattr(a, name), getattr(b, name)
            assert one.value == approx(other.value)
            assert other.high - other.low > 1.3 * (one.high - one.low)
        assert b.effective_pos == a.n_pos / 3
    assert min(t.p_value for t in tied.tests) > min(t.p_value for t in free.tests)
    loose = by_group(y, s, groups, threshold=T, instability=1.0)
    assert loose.groups[0].auc.low < free.groups[0].auc.low
    assert loose.groups[0].tpr == free.groups[0].tpr


def test_clusters_that_are_in_several_groups_count_once(rows):
    """Four groups with the same customers say no more than one of them."""
    y, s, groups, _ = rows
    a, b = (np.flatnonzero(groups == name) for name in ("g0", "g1"))
    index = np.concatenate([a, *[b] * 4])
    names = np.repeat(["a", "b", "c", "d", "e"], [len(a), *[len(b)] * 4])
    one, many = (
        by_group(y[at], s[at], of, threshold=T, clusters=at).tests[0]
        for at, of in ((np.concatenate([a, b]), groups[groups != "g2"]), (index, names))
    )
    assert (one.measure, many.measure) == ("auc", "auc")
    assert (many.low, many.high) == approx((one.low, one.high), abs=0.02)
    free = by_group(y[index], s[index], names, threshold=T).tests[0]
    assert free.high - free.low < 0.85 * (many.high - many.low)


def test_the_mean_auc_does_not_count_pairs_of_different_groups():
    """Scores without any signal within groups, and groups that differ in both means."""
    rng = np.random.default_rng(3)
    groups = np.repeat(["a", "b", "c"], 400)
    level = np.repeat([0.0, 2.0, 4.0], 400)
    y = rng.random(1200) < np.repeat([0.1, 0.5, 0.9], 400)
    table = by_group(y, rng.normal(size=1200) + level, groups, threshold=2.0)
    assert table.overall.auc.value > 0.8
    assert all(abs(test.other_value - 0.5) < 0.06 for test in table.tests if test.measure == "auc")
    assert not [test for test in table.differing if test.measure == "auc"]


def test_small_one_sided_and_missing_groups(rows):
    y, s, groups, _ = rows
    groups = groups.astype(object)
    groups[:3] = None
    groups[3:7] = "few"
    y = y.copy()
    y[3:7] = True
    table = by_group(y, s, groups, threshold=T)
    *_, few, missing = table.groups
    assert (few.name, few.n_rows, few.n_neg) == ("few", 4, 0)
    assert math.isnan(few.auc.value) and math.isnan(few.fpr.value) and few.tpr.value >= 0
    assert missing.name == "(missing)" and missing.is_small
    assert {test.group for test in table.tests} == {"g0", "g1", "g2"}
    assert (
        "2 groups are too small to be compared in some measures: 'few' (4 of 4 rows positive) in "
        "all of them; '(missing)'" in str(table)
    )
    assert table.to_dict()["groups"][-2]["auc"] == {"value": None, "low": None, "high": None}
    nobody = by_group(y, s, groups, threshold=T, min_rows=1000)
    assert nobody.tests == () and "No groups were compared" in str(nobody)
    one_sided = by_group(y, s, np.where(y, "yes", "no"), threshold=T, min_rows=0.5)
    assert one_sided.tests == () and len(one_sided.small) == 2


def test_a_group_is_compared_in_the_measures_for_which_it_is_large_enough(rows):
    y, s, groups, p = rows
    y = np.where(groups == "g1", np.arange(len(y)) % 6 == 0, y)
    table = by_group(y, s, groups, threshold=T, probability=p)
    own = table.groups[-1]
    assert own.name == "g1" and 0 < own.n_pos < 10 <= own.n_neg
    assert own.too_small == ("auc", "tpr") and own.is_small and own.to_dict()["is_small"]
    assert [t.measure for t in table.tests if t.group == "g1"] == ["calibration", "fpr"]
    # Two groups are left for the AUC: one comparison. The other measures have three.
    assert [t.other for t in table.tests if t.measure == "auc"] == ["g2"]
    assert len([t for t in table.tests if t.measure == "fpr"]) == 3
    line = next(line for line in str(table).splitlines() if line.startswith("g1"))
    assert line.count("*") == 2
    scarce = by_group(y, s, groups, threshold=T, min_rows=own.n_rows + 1)
    assert scarce.groups[-1].too_small == ("auc", "flagged", "tpr", "fpr")


def weights_and_clusters(rng, groups, kind):
    """Weights, or None, and clusters, or None, that are hard in different ways."""
    n = len(groups)
    weight = {
        "none": None,
        "exponential": rng.exponential(size=n),
        "wild": np.exp(8 * rng.normal(size=n)),
        "one group": np.where(groups == groups[0], 1e12, 1.0) * rng.exponential(size=n),
    }[kind]
    clusters = (None, np.arange(n) // 3, rng.integers(0, n // 2, n), groups * 10 + np.arange(n) % 4)
    return weight, clusters[rng.integers(len(clusters))]


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["none", "exponential", "wild", "one group"]),
    decimals=st.sampled_from([0, 1, 8]),
)
def test_the_other_groups_by_subtraction_are_those_of_their_rows(seed, kind, decimals):
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 3, rng.integers(30, 120))
    _, groups = np.unique(groups, return_inverse=True)
    y = rng.random(len(groups)) < 0.4
    s = np.round(rng.normal(size=len(y)) + y, decimals)
    weight, clusters = weights_and_clusters(rng, groups, kind)
    sample = read_sample(y, {"y": s, "p": 1 / (1 + np.exp(-s))}, sample_weight=weight)
    names = tuple(f"g{k}" for k in range(groups.max() + 1))
    grouped = GroupedRows(sample, GroupValues(names, groups), clusters, T)
    for k in range(len(names)):
        sizes, rates = grouped._without(k)
        part = grouped.take(groups != k)
        assert sizes == approx(part.sizes, rel=1e-8)
        for name in ("tpr", "fpr", "calibration"):
            assert rates[name].value == approx(part.rates[name].value, abs=1e-9, nan_ok=True)
            expected = part.rates[name].limits(0.9)
            assert rates[name].limits(0.9) == approx(expected, rel=1e-7, abs=1e-9, nan_ok=True)


def test_numbers(rows):
    y, s, _, _ = rows
    n = len(y)
    few = by_group(y, s, np.arange(n) % 3 + 8, threshold=T)
    assert [group.name for group in few.groups] == ["8", "9", "10"]
    values = np.arange(n) / 2
    values[0] = np.nan
    many = by_group(y, s, values, threshold=T, n_bins=3)
    assert [group.name for group in many.groups] == [
        "0.5 to 25.5",
        "26 to 51.5",
        "52 to 77",
        "(missing)",
    ]
    assert many.n_distinct == n - 1 and "154 distinct values were cut into bins" in str(many)
    series = pd.Series(pd.Categorical(np.where(values > 40, "old", "young")))
    assert {g.name for g in by_group(y, s, series, threshold=T).groups} == {"old", "young"}
    truths = by_group(y, s, values > 40, threshold=T)
    assert {group.name for group in truths.groups} == {"True", "False"}


@pytest.mark.parametrize("kind", ["datetime64[D]", "datetime64[ns]", "date", "Timestamp"])
def test_dates_are_in_the_order_of_time(rows, kind):
    y, s, _, _ = rows
    days = np.datetime64("2024-01-31") + np.arange(len(y))
    few = np.datetime64("2024-03-01") - np.arange(len(y)) % 3
    makers = {"date": lambda of: of.astype(object), "Timestamp": lambda of: list(pd.Series(of))}
    make = makers.get(kind, lambda of: of.astype(kind))
    names = [group.name for group in by_group(y, s, make(few), threshold=T).groups]
    assert names == ["2024-02-28", "2024-02-29", "2024-03-01"]
    days[-1] = np.datetime64("NaT")
    table = by_group(y, s, make(days), threshold=T, n_bins=2)
    first, last = f"2024-01-31 to {days[76]}", f"{days[77]} to {days[153]}"
    assert [group.name for group in table.groups] == [first, last, "(missing)"]
    assert "The 154 distinct values were cut into bins" in str(table)


def test_times_of_one_day_are_told_apart(rows):
    y, s, _, _ = rows
    times = np.datetime64("2024-01-31T09:00") + np.arange(len(y)) % 2
    names = [group.name for group in by_group(y, s, times, threshold=T).groups]
    assert names == ["2024-01-31 09:00:00", "2024-01-31 09:01:00"]


def test_hundreds_of_groups():
    rng = np.random.default_rng(0)
    y, s = rng.random(12_000) < 0.3, rng.normal(size=12_000)
    groups = [f"branch {k}" for k in rng.integers(0, 200, 12_000)]
    table = by_group(y, s + y, groups, threshold=T)
    assert len(table.groups) == 200 and len(table.tests) > 500
    assert len(str(table).splitlines()) < 60


def test_small_groups_are_named_with_the_numbers_that_make_them_small(rows):
    y, s, groups, _ = rows
    w = np.where((groups == "g1") & (np.arange(len(y)) % 4 > 0), 1e-6, 1.0)
    words = str(by_group(y, s, groups, threshold=T, sample_weight=w))
    n_pos, n_neg = ((w > 0.5) & (groups == "g1") & (y == of) for of in (True, False))
    assert 0 < min(n_pos.sum(), n_neg.sum()) < 10
    assert (
        f"'g1' ({n_pos.sum():.1f} positive and {n_neg.sum():.1f} negative effective rows) in AUC, "
        "tpr, fpr. The tpr needs 10 effective positive rows, the fpr 10 effective negative" in words
    )
    many = by_group(y, s, [f"g{k % 12}" for k in range(len(y))], threshold=T, min_rows=50)
    assert str(many).count("; and 2 more. The tpr needs 50 positive rows") == 1


def test_names_cannot_control_the_terminal(rows):
    y, s, groups, _ = rows
    bad = np.where(groups == "g1", "\x1b[31mred\nline", "x" * 500)
    lines = str(by_group(y, s, bad, threshold=T)).splitlines()
    assert not any("\x1b" in line for line in lines)
    assert lines[2].startswith("�[31mred line") and max(map(len, lines)) < 300


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"groups": ["a", "b"]}, "groups has 2 values for 155 rows"),
        ({"groups": [f"id{k}" for k in range(155)] * 1, "n_bins": 1}, "n_bins is 1"),
        ({"threshold": None}, "threshold is None; give a number"),
        ({"probability": np.full(155, 2.0)}, "give probabilities from 0 to 1"),
        ({"compare": "all"}, "compare is 'all'; give 'rest' or 'pairs'"),
        ({"min_rows": 0}, "min_rows is 0; give a finite number above 0"),
        ({"level": 95}, "level is 95"),
        ({"instability": 2}, "instability"),
        ({"clusters": np.zeros(155)}, "clusters has only one cluster"),
    ],
)
def test_bad_input(rows, change, words):
    y, s, groups, _ = rows
    options = {"groups": groups, "threshold": T} | change
    with pytest.raises(ValueError, match="^.*" + words):
        by_group(y, s, **options)


def test_an_identifier_is_refused():
    n = 1500
    with pytest.raises(ValueError, match="groups has 1,500 distinct values for 1,500 rows"):
        by_group(np.arange(n) % 2, np.arange(n), [f"id{k}" for k in range(n)], threshold=1)


def test_results_are_frozen(table):
    with pytest.raises(AttributeError):
        table.level = 0.5
    assert replace(table, level=0.9).level == 0.9
    json.dumps(table.to_dict(), allow_nan=False)
