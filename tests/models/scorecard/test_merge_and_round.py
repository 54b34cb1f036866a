"""Merging by dynamic programming and rounding with one cut, against trying everything."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pytest import approx

from auctor.models.scorecard.labels import interval_texts, short_cut
from auctor.models.scorecard.merge_bins import best_groups, best_segments
from auctor.models.scorecard.rounding import round_together


def loss(values, weight, segment):
    """Sum of weight * (value - mean of its segment)^2, where each column has its own mean."""
    total = 0.0
    for own in set(segment.tolist()):
        v, w = values[segment == own], weight[segment == own]
        total += (w * (v - (w * v).sum(axis=0) / w.sum(axis=0)) ** 2).sum()
    return total


def all_runs(n, k):
    """Every division of n bins into at most k runs of neighbours."""
    for size in range(k):
        for starts in combinations(range(1, n), size):
            yield np.cumsum(np.isin(np.arange(n), starts))


@st.composite
def cells(draw, max_columns):
    n, m = draw(st.integers(1, 6)), draw(st.integers(1, max_columns))
    value = st.one_of(st.integers(-5, 5).map(float), st.floats(-100, 100))
    values = draw(st.lists(value, min_size=n * m, max_size=n * m))
    weight = draw(st.lists(st.integers(1, 9), min_size=n * m, max_size=n * m))
    return np.array(values).reshape(n, m), np.array(weight, dtype=float).reshape(n, m)


@settings(max_examples=60, deadline=None)
@given(cells=cells(max_columns=2), k=st.integers(1, 5))
def test_no_division_into_runs_loses_less(cells, k):
    values, weight = cells
    segment = best_segments(values, weight, k)
    assert (np.diff(segment) >= 0).all() and segment[0] == 0 and segment[-1] < k
    least = min(loss(values, weight, own) for own in all_runs(len(values), k))
    assert loss(values, weight, segment) == approx(least, rel=1e-9, abs=1e-9)


@settings(max_examples=40, deadline=None)
@given(cells=cells(max_columns=1), k=st.integers(1, 3))
def test_no_grouping_of_categories_loses_less(cells, k):
    values, weight = cells
    every = (np.array(own) for own in product(range(k), repeat=len(values)))
    least = min(loss(values, weight, own) for own in every)
    assert loss(values, weight, best_groups(values, weight, k)) == approx(least, abs=1e-9)


def test_bins_without_rows_join_those_of_similar_points():
    values, weight = np.array([[0.0], [0.1], [5.0], [5.1]]), np.array([[9.0], [0.0], [0.0], [9.0]])
    assert best_segments(values, weight, 2).tolist() == [0, 0, 1, 1]


def test_thousands_of_bins():
    values = np.sort(np.random.default_rng(0).normal(size=(5000, 1)), axis=0)
    segment = best_segments(values, np.ones((5000, 1)), 4)
    assert segment.max() == 3 and np.bincount(segment).min() > 300


def cut_roundings(points):
    """Every rounding with one fraction from which on numbers are rounded up."""
    whole = np.floor(points)
    for cut in {*np.unique(points - whole).tolist(), 1.0} - {0.0}:
        yield whole + (points - whole >= cut)


@settings(max_examples=60, deadline=None)
@given(
    points=st.lists(st.floats(0, 30), min_size=1, max_size=8),
    weight=st.lists(st.integers(1, 5), min_size=8, max_size=8),
)
def test_no_cut_rounds_with_less_variance(points, weight):
    points, weight = np.array([0.0, *points]), np.array([1.0, *weight[: len(points)]])
    rounded, error = round_together(points, weight)
    assert (rounded == np.rint(rounded)).all() and rounded[0] == 0
    assert np.ptp(rounded - points) < 1
    assert (np.diff(rounded[np.argsort(points)]) >= 0).all()  # the order is kept
    assert error == approx(np.average(rounded - points, weights=weight), abs=1e-12)

    def variance(own):
        mean = np.average(own - points, weights=weight)
        return np.average((own - points - mean) ** 2, weights=weight)

    assert variance(rounded) <= min(map(variance, cut_roundings(points))) + 1e-11


def test_bins_without_rows_are_rounded_to_a_number_nearby():
    points, weight = np.array([0.0, 5.1, 7.02, 9.9]), np.array([9.0, 0.0, 0.0, 0.0])
    rounded, error = round_together(points, weight)
    assert rounded.tolist() == [0, 5, 7, 10] and error == 0
    assert round_together(points, 0 * weight)[0].tolist() == [0, 5, 7, 10]


def belongs(text, value):
    """Whether a value is in an interval, by what the text says."""
    if text == "any":
        return True
    if text[0] in "<>":
        sign, number = text.split()
        end = float(number)
        return {"<": value < end, "<=": value <= end, ">": value > end, ">=": value >= end}[sign]
    low, high = map(float, text[1:-1].split(", "))
    left = value >= low if text[0] == "[" else value > low
    return left and (value <= high if text[-1] == "]" else value < high)


@settings(max_examples=60, deadline=None)
@given(st.sets(st.floats(-1e308, 1e308), min_size=1, max_size=4), st.booleans())
def test_intervals_say_what_the_model_does(cuts, just_below):
    cuts = np.unique([np.nextafter(cut, -np.inf) if just_below else cut for cut in cuts])
    texts = interval_texts(cuts)
    for cut in cuts:
        for value in (cut, np.nextafter(cut, -np.inf), np.nextafter(cut, np.inf)):
            inside = [belongs(text, value) for text in texts]
            assert inside.index(True) == np.searchsorted(cuts, value) and sum(inside) == 1


@settings(max_examples=60, deadline=None)
@given(st.tuples(st.floats(-1e12, 1e12), st.floats(-1e12, 1e12)).filter(lambda p: p[0] != p[1]))
def test_a_short_cut_lies_between(pair):
    below, above = sorted(pair)
    assert below <= short_cut(below, above) < above


@pytest.mark.parametrize(
    ("below", "above", "text"),
    [
        (24, 25, "< 25"),
        (38, 42, "< 40"),
        (0.1, 0.2, "< 0.2"),
        (-0.5, 0.5, "< 0"),
        (99, 101, "< 100"),
    ],
)
def test_short_cuts(below, above, text):
    assert interval_texts(np.array([short_cut(below, above)]))[0] == text
