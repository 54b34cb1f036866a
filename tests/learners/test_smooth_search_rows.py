"""Penalties that are searched on a part of the rows of a large table."""

import numpy as np
import pytest

from auctor import SmoothAUCBoost, SmoothAUCBoostCV
from auctor.data import prepare
from auctor.learners.smooth.search import find_amounts
from auctor.learners.smooth.search_rows import draw_search_rows, find_amounts_on_part
from auctor.learners.smooth.settings import SmoothSettings, auto_amounts
from auctor.models import to_json

N = 2400


@pytest.fixture(scope="module")
def sample():
    """One in eight rows is positive."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 3))
    score = X[:, 0] - 0.5 * X[:, 1] ** 2 + rng.normal(size=N)
    return X, score > np.quantile(score, 7 / 8), rng.integers(1, 4, N).astype(float)


@pytest.fixture(scope="module")
def data(sample):
    X, y, weight = sample
    return prepare(X, y, sample_weight=weight, max_bins=16)


@pytest.fixture(scope="module")
def folds():
    return [(np.arange(N) % 3 != k, np.arange(N) % 3 == k) for k in range(3)]


@pytest.mark.parametrize(("most", "n_pos"), [(1000, 300), (400, 200)])
def test_the_smaller_class_is_kept_up_to_half(sample, data, folds, most, n_pos):
    rows = draw_search_rows(data, folds, most, 0)
    assert (rows.sum(), rows[sample[1]].sum()) == (most, n_pos)
    again, other = (draw_search_rows(data, folds, most, seed) for seed in (0, 1))
    assert np.array_equal(rows, again) and not np.array_equal(rows, other)


def test_all_rows_where_a_part_is_of_no_use(sample, data, folds):
    assert draw_search_rows(data, folds, N, 0) is None
    assert draw_search_rows(data, [], 1000, 0) is None
    first = np.flatnonzero(sample[1])[0]
    one = np.arange(N) % 4 == 0
    one[sample[1]], one[first] = False, True  # tests on a single positive, which may not be drawn
    drawn = [draw_search_rows(data, [(~one, one)], 100, seed) for seed in range(8)]
    assert any(rows is None for rows in drawn)
    assert all(rows is None or rows[first] for rows in drawn)


def test_amounts_are_carried_over_as_multiples_of_the_automatic_ones(data, folds):
    settings, rows = SmoothSettings(), draw_search_rows(data, folds, 1000, 0)
    part = data.take(rows)
    expected = find_amounts(part, settings, folds, rule="best", surfaces=0)
    search = find_amounts_on_part(data, settings, folds, rows, rule="best", surfaces=0)
    ratio = np.divide(auto_amounts(data, settings), auto_amounts(part, settings))
    assert 0.5 < ratio[0] < 0.95  # all positives, and some of the negatives
    assert search.chosen.amounts == pytest.approx(np.multiply(expected.chosen.amounts, ratio))
    pairs = zip(search.candidates, expected.candidates, strict=True)
    for own, other in pairs:
        assert own.aucs == other.aucs
        assert own.amounts == pytest.approx(np.multiply(other.amounts, ratio))


def test_the_last_fit_has_all_rows_and_threads_do_not_show(sample):
    X, y, weight = sample
    options = {"cv": 2, "max_bins": 16, "interactions": 0, "search_samples": 1000}
    one, two = (
        SmoothAUCBoostCV(**options, n_jobs=n).fit(X, y, sample_weight=weight) for n in (1, 2)
    )
    assert to_json(one.model_) == to_json(two.model_)
    assert one.penalty_ in one.cv_results_["penalty"]
    amounts = {"penalty": one.penalty_, "shrinkage": one.shrinkage_, "ridge": one.ridge_}
    plain = SmoothAUCBoost(**amounts, max_bins=16).fit(X, y, sample_weight=weight)
    assert np.array_equal(plain.decision_function(X), one.decision_function(X))
    whole = SmoothAUCBoostCV(**{**options, "search_samples": None}).fit(X, y, sample_weight=weight)
    assert whole.best_score_ != one.best_score_


@pytest.mark.parametrize(
    "options",
    [
        {"penalties": [1e-3]},
        {"shrinkages": [1e-3]},
        {"fpr_range": (0, 0.5)},
        {"solver": "stagewise", "n_estimators": 3},
    ],
    ids=lambda options: next(iter(options)),
)
def test_searches_that_need_all_rows(sample, options):
    X, y, _ = sample
    scores = [
        SmoothAUCBoostCV(**options, cv=2, max_bins=8, interactions=0, search_samples=most)
        .fit(X, y)
        .best_score_
        for most in (1000, None)
    ]
    assert scores[0] == scores[1]
