"""Rounds of ExactBoost on top of a smooth model: scores, corrections, and what the folds choose."""

from dataclasses import replace

import numpy as np
import pytest
from learners.three_strata import make_strata

from auctor.data import prepare
from auctor.learners.exact.fit import ExactBoostSettings, fit_exactboost
from auctor.learners.exact.paired_metric import PairedMetric
from auctor.learners.exact.refine import (
    RefinementSettings,
    correction,
    importances,
    obstacle,
    range_of,
    refine,
    round_numbers,
    run_rounds,
    scores_by_row,
    top_region,
)
from auctor.learners.smooth.fit import fit_smooth
from auctor.learners.smooth.settings import SmoothSettings
from auctor.testing import contracts

KS = RefinementSettings(
    SmoothSettings(max_iter=50),
    ExactBoostSettings("ks", n_runs=4, n_estimators=8),
    PairedMetric("ks"),
)


def make_folds(n_rows, n_folds=3):
    folds = np.arange(n_rows) % n_folds
    return [(folds != k, folds == k) for k in range(n_folds)]


def fit(data, settings=KS, n_folds=3):
    first, history, _ = fit_smooth(data, settings.smooth)
    return refine(data, settings, make_folds(data.n_rows, n_folds), first, history)


@pytest.mark.parametrize("interactions", [0, 3])
def test_scores_by_row_are_those_of_the_model(interactions):
    X, y = contracts.messy_table(0)
    data = prepare(X, y, categorical_features=[4])
    model, _, _ = fit_smooth(data, SmoothSettings(interactions=interactions))
    assert (len(model.surfaces) > 0) == (interactions > 0)
    scores = scores_by_row(model, data.split(3))
    np.testing.assert_array_equal(scores, model.decision_function(X))


def test_the_first_rounds_of_long_runs_are_short_runs():
    X, y = make_strata(300)
    data = prepare(X, y)
    scores = X[:, 0] - 0.3 * X[:, 1]
    long, short = (replace(KS.exact, n_estimators=n) for n in (8, 3))
    result = []
    for settings in (long, short):
        table, runs = run_rounds(data, settings, scores)
        result.append(correction(data, table, runs, 3, range_of(data, scores)))
    np.testing.assert_allclose(*result, rtol=1e-9, atol=1e-12)
    assert np.ptp(result[0]) > 0


def test_a_correction_leads_from_the_start_to_the_runs_own_score():
    X, y = make_strata(300)
    data = prepare(X, y)
    scores = 5.0 * X[:, 0] - 1.0
    settings = replace(KS.exact, n_runs=1)
    table, runs = run_rounds(data, settings, scores)
    tables = correction(data, table, runs, settings.n_estimators, range_of(data, scores))
    codes = data.partitions[0].codes
    added = np.empty(300)
    added[data.partitions[0].rows] = sum(t[c] for t, c in zip(tables, codes, strict=True))
    # ExactBoost's own model of the same run is the same score on another scale.
    plain, history, _ = fit_exactboost(data, settings, scores)
    total = plain.decision_function(X) + history.start_weight * scores / np.ptp(scores)
    ours = scores + added
    np.testing.assert_allclose(
        (ours - ours.mean()) / ours.std(), (total - total.mean()) / total.std(), atol=1e-6
    )


def test_rounds_are_kept_where_they_help_and_the_model_is_one():
    X, y = make_strata(600)
    data = prepare(X, y)
    model, history, certificate = fit(data)
    chosen = history.chosen
    assert chosen.n_rounds > 0 and len(history.runs) == 4
    assert chosen.gain.value > 2 * chosen.gain.error > 0
    values = certificate.values
    assert values["chosen_mean"] == pytest.approx(values["smooth_mean"] + values["gain"])
    assert "rounds of ExactBoost added" in certificate.statement
    assert importances(model, data).sum() == pytest.approx(1.0)


def test_same_bits_for_any_partition_and_any_number_of_threads():
    X, y = make_strata(1000)
    data = prepare(X, y)
    expected, history, _ = fit(data)
    assert history.chosen.n_rounds > 0  # else little is compared
    threads = replace(KS, smooth=replace(KS.smooth, n_jobs=2), exact=replace(KS.exact, n_jobs=2))
    for other, settings in ((data.split(3), KS), (data, threads)):
        assert contracts.same_model(fit(other, settings)[0], expected)


@pytest.mark.parametrize("metric", ["ks", "precision_at_k"])
def test_the_scale_of_the_weights_does_not_matter(metric):
    X, y = make_strata(400)
    weight = np.random.default_rng(0).integers(1, 4, size=400)
    settings = RefinementSettings(
        SmoothSettings(penalty=1e-3, shrinkage=1e-3, ridge=1e-3, adaptive=False, max_iter=20),
        replace(KS.exact, metric=metric, k=0.3),
        PairedMetric(metric, 0.3 if metric != "ks" else 0.0),
    )
    result = [fit(prepare(X, y, sample_weight=weight * f), settings) for f in (1.0, 0.25, 8.0)]
    for model, history, _ in result[1:]:
        assert history.candidates == result[0][1].candidates
        # The climb of the smooth model may end a step of 2^-32 beside.
        np.testing.assert_allclose(
            model.decision_function(X), result[0][0].decision_function(X), rtol=0, atol=1e-8
        )


def test_without_folds_the_smooth_model_stays():
    data = prepare(*make_strata(100))
    first, history, _ = fit_smooth(data, KS.smooth)
    model, _, certificate = refine(data, KS, [], first, history)
    assert model is first
    assert "too few rows for inner folds" in certificate.statement


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"smooth": SmoothSettings(signs=(1, 0, 0))}, "could violate monotonic_cst"),
        ({"exact": ExactBoostSettings("precision_at_k", 0.001)}, "which is more than k"),
    ],
)
def test_rounds_that_cannot_be_tried_are_reported(changed, why):
    X, y = make_strata(200)
    data = prepare(X[:, :3], y)
    settings = replace(KS, **changed)
    assert why in obstacle(data, settings)
    _, history, certificate = fit(data, settings)
    assert history.chosen.n_rounds == 0
    assert f"no rounds were tried ({obstacle(data, settings)})" in certificate.statement


def test_constant_columns_leave_nothing_to_try():
    data = prepare(np.ones((40, 2)), np.arange(40) % 2)
    model, _, certificate = fit(data)
    assert "all features are constant" in certificate.statement
    assert not np.ptp(scores_by_row(model, data))


def test_the_region_of_the_top_is_twice_its_false_positive_rates():
    y = np.arange(200) % 4 == 0
    data = prepare(np.arange(200.0)[:, None], y)
    # Of the top 40 rows 30 are negative, of 150.
    low, high = top_region(data, np.arange(200.0), 0.2)
    assert (low, high) == (0.0, pytest.approx(2 * 30 / 150))
    assert top_region(data, y.astype(float), 0.1) == (0.0, pytest.approx(5 / 150))
    assert top_region(data, np.arange(200.0), 0.9) is None


def test_numbers_of_rounds():
    assert round_numbers(20) == [5, 20]
    assert round_numbers(1) == [1]
