"""The curve object: its sentence, its arrays, its points."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from auctor.metrics import roc_curve


@pytest.fixture
def curve():
    return roc_curve([0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.6, 0.9])


def test_prints_as_a_sentence(curve):
    sentence = "ROC curve of 2 positives (label 1) and 3 negatives: 5 points, AUC 0.917"
    assert str(curve) == repr(curve) == sentence
    point = "tpr 1.000 at fpr 0.333, precision 0.667, 3 flagged, threshold 0.6"
    assert str(curve.youden()) == point


def test_begins_with_nothing_flagged_and_ends_with_everything(curve):
    assert curve.thresholds.tolist() == [np.inf, 0.9, 0.6, 0.2, 0.1]
    assert curve.flagged.tolist() == [0, 1, 3, 4, 5]
    assert curve.fpr[-1] == curve.tpr[-1] == 1


def test_arrays_cannot_be_written(curve):
    for array in (curve.thresholds, curve.true_positives, curve.hull().false_positives):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 3


@pytest.mark.parametrize(
    "make", [pd.Series, pl.Series, np.array, list], ids=["pandas", "polars", "numpy", "list"]
)
def test_takes_any_table_column_and_any_labels(curve, make):
    scores = [0.1, 0.2, 0.6, 0.6, 0.9]
    labels = ["bad" if y else "good" for y in (0, 0, 0, 1, 1)]
    other = roc_curve(make(labels), make(scores), pos_label="bad")
    assert other.auc() == curve.auc()
    assert other.pos_label == "bad" and other.n_pos == 2


def test_pos_label_turns_the_curve(curve):
    turned = roc_curve([0, 0, 0, 1, 1], [0.1, 0.2, 0.6, 0.6, 0.9], pos_label=0)
    assert turned.auc() == pytest.approx(1 - curve.auc(), abs=1e-15)
    assert turned.pos_label == 0 and isinstance(turned.pos_label, int)


def test_rates_are_met_by_the_quantile_of_the_class():
    """As many are flagged as an fpr allows, as few as a tpr needs; the other class has no say."""
    curve = roc_curve([1, 0, 0, 1, 0], [5, 4, 3, 2, 1])
    assert curve.at(fpr=0.9).threshold == 2
    assert curve.at(fpr=0.5).threshold == 4  # a third of the negatives, and no more positives
    assert curve.at(tpr=0.5).threshold == 5
    assert roc_curve([0, 1, 1, 1], [4, 3, 2, 1]).at(tpr=0.3).threshold == 3


def test_nothing_flagged_has_no_precision(curve):
    nothing = curve.at(budget=0)
    assert nothing.threshold == math.inf and math.isnan(nothing.precision)
    assert curve.at(threshold=1).flagged == 0
    assert curve.at(threshold=-math.inf).flagged == 5


def test_budget_is_a_number_or_a_fraction_and_never_gone_over(curve):
    assert curve.at(budget=2).flagged == 1
    assert curve.at(budget=0.4).flagged == 1
    assert curve.at(budget=1000).flagged == 5
    halfway = curve.at(budget=2, interpolate=True)
    assert (halfway.flagged, halfway.tpr) == (2, 0.75)
    assert math.isnan(halfway.threshold)


def test_interpolation_that_hits_a_threshold_names_it(curve):
    assert curve.at(fpr=1 / 3, interpolate=True).threshold == 0.6
    assert curve.at(tpr=0.5, interpolate=True).threshold == 0.9
    assert curve.at(tpr=0, interpolate=True).threshold == math.inf


def test_an_infinite_score_is_flagged_at_infinity():
    curve = roc_curve([0, 1, 1], [0.0, 1.0, np.inf])
    assert curve.at(threshold=math.inf).flagged == 1
    assert curve.at(budget=0).flagged == 0


def test_youden_of_a_score_worse_than_chance_flags_nothing():
    assert roc_curve([1, 1, 0, 0], [1, 2, 3, 4]).youden().flagged == 0
    assert roc_curve([1, 1, 0, 0], [1, 2, 3, 4]).ks() == 0


def test_youden_and_ks_are_plain_floats(curve):
    point = curve.youden()
    values = (point.fpr, point.tpr, point.threshold, point.precision, point.flagged, point.youden)
    assert {type(value) for value in (*values, curve.ks(), curve.auc())} == {float}
    assert point.specificity == 1 - point.fpr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "none of fpr, tpr, threshold, budget is given; give exactly one"),
        ({"fpr": 0.1, "tpr": 0.2}, "fpr and tpr are given; give exactly one of fpr, tpr"),
        ({"fpr": 1.5}, "fpr is 1.5; give a number from 0 to 1"),
        ({"tpr": math.nan}, "tpr is nan; give a number from 0 to 1"),
        ({"threshold": "high"}, "threshold is 'high'; give a number"),
        ({"threshold": 0.5, "interpolate": True}, "interpolate is True and threshold is given"),
        ({"budget": -1}, "budget is -1; give a whole number of at least 0"),
        ({"budget": 2.5}, "budget is 2.5; give a whole number"),
    ],
)
def test_bad_arguments_of_at(curve, arguments, message):
    with pytest.raises(ValueError, match=message):
        curve.at(**arguments)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "none of fpr_range, tpr_range is given"),
        (
            {"fpr_range": (0, 1), "tpr_range": (0, 1)},
            "fpr_range and tpr_range are given; give exactly one",
        ),
        ({"fpr_range": 0.1}, r"fpr_range is 0.1; give a pair \(low, high\)"),
        ({"fpr_range": (0.2, 0.1)}, r"fpr_range is \(0.2, 0.1\); give a pair"),
        ({"tpr_range": (0.5, 0.5)}, r"tpr_range is \(0.5, 0.5\); give a pair"),
        ({"tpr_range": (0.5, 1.1)}, r"tpr_range is \(0.5, 1.1\); give a pair"),
        ({"fpr_range": (0, 0.1, 0.2)}, r"fpr_range is \(0, 0.1, 0.2\); give a pair"),
    ],
)
def test_bad_regions(curve, arguments, message):
    with pytest.raises(ValueError, match=message):
        curve.partial_auc(**arguments)


def test_it_unpacks_like_the_function_of_scikit_learn(curve):
    from sklearn.metrics import roc_curve as of_scikit_learn

    y, s = [0, 1, 0, 1, 1, 0], [1.0, 1.0, 2.0, 3.0, 3.0, 0.5]
    weight = [1.0, 2.0, 0.5, 1.0, 3.0, 1.0]
    ours = roc_curve(y, s, sample_weight=weight)
    theirs = of_scikit_learn(y, s, sample_weight=weight, drop_intermediate=False)
    for a, b in zip(ours, theirs, strict=True):
        assert np.allclose(a, b)
