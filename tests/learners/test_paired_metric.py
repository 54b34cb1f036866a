"""KS and precision at k as sums over rows, against the metrics of the package."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from auctor.data import prepare
from auctor.learners.exact.paired_metric import (
    LabelledRows,
    PairedMetric,
    labelled_rows,
    paired_gain,
)
from auctor.metrics import ks, precision_at_k

METRICS = [PairedMetric("ks"), PairedMetric("precision_at_k", 0.23)]
over_metrics = pytest.mark.parametrize("metric", METRICS, ids=lambda m: m.metric)


def make_rows(seed, n=60, weighted=False):
    rng = np.random.default_rng(seed)
    positive = rng.random(n) < 0.4
    positive[:2] = [True, False]
    weight = rng.integers(1, 5, size=n).astype(float) if weighted else np.ones(n)
    return LabelledRows(np.arange(n), positive, weight)


def value_of(metric, rows, scores):
    return metric.value(rows, metric.selected(rows, scores))


@over_metrics
@given(seed=st.integers(0, 10**6), weighted=st.booleans(), n_values=st.sampled_from([2, 5, 10**6]))
def test_values_are_those_of_the_metrics(metric, seed, weighted, n_values):
    rows = make_rows(seed, weighted=weighted)
    scores = np.random.default_rng(seed + 1).integers(0, n_values, size=60).astype(float)
    options = {"sample_weight": rows.weight}
    if metric.metric == "ks":
        expected = ks(rows.positive, scores, **options)
    else:
        expected = precision_at_k(rows.positive, scores, k=metric.fraction, **options)
    assert value_of(metric, rows, scores) == pytest.approx(expected, abs=1e-12)


@over_metrics
@given(seed=st.integers(0, 10**6), factor=st.sampled_from([1.0, 3.0, 0.125]))
def test_a_gain_is_the_mean_difference_whatever_the_scale_of_the_weights(metric, seed, factor):
    folds = [make_rows(seed + k, weighted=True) for k in range(3)]
    rng = np.random.default_rng(seed)
    old, new = ([rng.integers(0, 9, size=60).astype(float) for _ in folds] for _ in range(2))
    heavier = [LabelledRows(r.index, r.positive, r.weight * factor) for r in folds]
    selections = [
        [metric.selected(r, s) for r, s in zip(heavier, scores, strict=True)]
        for scores in (new, old)
    ]
    gain = paired_gain(metric, heavier, *selections)
    expected = np.mean(
        [
            value_of(metric, r, b) - value_of(metric, r, a)
            for r, a, b in zip(folds, old, new, strict=True)
        ]
    )
    assert gain.value == pytest.approx(expected, abs=1e-12)
    assert paired_gain(metric, heavier, selections[1], selections[1]) == (0.0, 0.0, 0.0)


def test_the_standard_error_is_that_of_the_rows_where_folds_agree_by_luck():
    # Of 100 rows a class, 10 positives come above the threshold in each fold: the spread between
    # the folds is 0, that of a count of 10 rows is not.
    positive = np.repeat([True, False], 100)
    rows = [LabelledRows(np.arange(200), positive, np.ones(200))] * 4
    old = np.concatenate([np.repeat([1.0, 0.0], 50), np.zeros(100)])
    new = old.copy()
    new[50:60] = 1.0
    gain = paired_gain(PairedMetric("ks"), rows, [new] * 4, [old] * 4)
    assert gain.value == pytest.approx(0.1)
    assert gain.error == pytest.approx(np.sqrt(4 * 10 + 2) / 100 / 4)
    assert gain.row == pytest.approx(1 / 100 / 4)


def exchange(n_better, n_equal=0, n_worse=0):
    """The gain of a top of 40 rows, 20 of them positive, after some of its rows were exchanged."""
    positive = np.arange(200) % 2 == 0
    rows = LabelledRows(np.arange(200), positive, np.ones(200))
    old = (np.arange(200) < 40).astype(float)
    new = old.copy()
    inside, outside = np.arange(40), np.arange(40, 200)
    for label_out, label_in, count in ((False, True, n_better), (True, False, n_worse)):
        new[inside[positive[inside] == label_out][:count]] = 0.0
        new[outside[positive[outside] == label_in][:count]] = 1.0
    new[inside[positive[inside]][-n_equal:] if n_equal else []] = 0.0
    new[outside[positive[outside]][-n_equal:] if n_equal else []] = 1.0
    return paired_gain(PairedMetric("precision_at_k", 0.2), [rows], [new], [old])


@pytest.mark.parametrize(
    ("better", "worse", "is_sure"),
    [(3, 0, False), (5, 0, False), (7, 0, True), (9, 1, True), (10, 5, False), (18, 5, True)],
)
def test_few_exchanged_rows_prove_nothing(better, worse, is_sure):
    # As a sign test would have it: 5 of 5 have a chance of 1 in 32, 7 of 7 of 1 in 128.
    gain = exchange(better, n_worse=worse)
    assert gain.value == pytest.approx((better - worse) / 40)
    assert (gain.sure(2.0) > 0) == is_sure


def test_exchanging_positives_for_positives_is_no_doubt_about_the_precision():
    alike = exchange(0, n_equal=10)
    assert alike.value == pytest.approx(0.0)
    assert alike.error == pytest.approx(np.sqrt(2) / 40)  # that of the two rows more


def test_rows_stand_in_the_order_of_the_table_in_any_partition():
    rng = np.random.default_rng(0)
    X, y, w = rng.normal(size=(50, 2)), rng.random(50) < 0.5, rng.integers(1, 4, size=50)
    data = prepare(X, y, sample_weight=w)
    for cut in (data, data.split(3)):
        rows = labelled_rows(cut)
        np.testing.assert_array_equal(rows.index, np.arange(50))
        np.testing.assert_array_equal(rows.positive, y)
        np.testing.assert_allclose(rows.weight / rows.weight.sum(), w / w.sum())
