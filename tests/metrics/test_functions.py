"""The plain functions: types, weights, and errors before work starts."""

import math
import subprocess
import sys

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from auctor import metrics

Y = [0, 1, 0, 1]
S = [0.1, 0.4, 0.35, 0.8]

CALLS = {
    "auc": lambda y, s, **kw: metrics.auc(y, s, **kw),
    "partial_auc": lambda y, s, **kw: metrics.partial_auc(y, s, fpr_range=(0, 0.5), **kw),
    "margin_auc": lambda y, s, **kw: metrics.margin_auc(y, s, rho=0.1, **kw),
    "ks": lambda y, s, **kw: metrics.ks(y, s, **kw),
    "precision_at_k": lambda y, s, **kw: metrics.precision_at_k(y, s, k=2, **kw),
    "recall_at_k": lambda y, s, **kw: metrics.recall_at_k(y, s, k=2, **kw),
    "lift": lambda y, s, **kw: metrics.lift(y, s, k=2, **kw),
    "roc_curve": lambda y, s, **kw: metrics.roc_curve(y, s, **kw).auc(),
}
every_metric = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())


@every_metric
@pytest.mark.parametrize("weight", [None, [1, 2, 3, 4]], ids=["no weights", "weights"])
def test_scalars_are_plain_floats(call, weight):
    assert type(call(Y, S, sample_weight=weight)) is float


@every_metric
@pytest.mark.parametrize(
    ("y", "s", "options", "message"),
    [
        ([0, 1, 0], S, {}, "y_score has 4 values for 3 labels"),
        ([0, 1, 0, math.nan], S, {}, "y_true has 1 missing"),
        ([0, 1, 2, 1], S, {}, r"y_true has 3 classes \(0, 1, 2\)"),
        ([1, 1, 1, 1], S, {}, r"y_true has 1 class \(1\)"),
        (Y, [0.1, math.nan, 0.3, 0.2], {}, "y_score has 1 NaN"),
        (Y, ["a", "b", "c", "d"], {}, "y_score has values .*give numbers"),
        (Y, S, {"sample_weight": [1, 1]}, "sample_weight has 2 values for 4 rows"),
        (Y, S, {"sample_weight": [1, -1, 1, 1]}, "sample_weight has negative"),
        (Y, S, {"sample_weight": [1, 0, 1, 0]}, "sample_weight is zero for every positive row"),
        (Y, S, {"sample_weight": [0, 1, 0, 1]}, "sample_weight is zero for every negative row"),
        (Y, S, {"pos_label": "yes"}, "pos_label='yes' is not among the classes"),
    ],
)
def test_bad_input_is_named(call, y, s, options, message):
    with pytest.raises(ValueError, match=message):
        call(y, s, **options)


@every_metric
def test_one_row_per_class(call):
    assert call([0, 1], [1.0, 2.0]) >= 0.5


@pytest.mark.parametrize("metric", [metrics.precision_at_k, metrics.recall_at_k, metrics.lift])
@pytest.mark.parametrize(
    ("k", "message"),
    [
        (0, "k is 0; give a whole number of at least 1"),
        (5, "k is 5, but there are 4 rows"),
        (1.0, "k is 1.0; give a whole number of at least 1 or a fraction strictly between 0 and 1"),
        (-0.2, "k is -0.2; give a whole number"),
        (math.nan, "k is nan; give a whole number"),
        (True, "k is True; give a whole number"),
        ("3", "k is '3'; give a whole number"),
    ],
)
def test_bad_k(metric, k, message):
    with pytest.raises(ValueError, match=message):
        metric(Y, S, k=k)


def test_k_counts_rows_or_weight_or_is_a_fraction():
    y, s = [1, 0, 1, 0, 0], [5, 4, 3, 2, 1]
    assert metrics.precision_at_k(y, s, k=2) == metrics.precision_at_k(y, s, k=0.4) == 0.5
    assert metrics.precision_at_k(y, s, k=np.int64(5)) == 0.4
    assert metrics.precision_at_k(y, s, k=4, sample_weight=[3, 1, 1, 1, 1]) == 0.75
    assert metrics.precision_at_k(y, s, k=0.3) == 2 / 3  # one row and a half
    assert metrics.lift(y, s, k=1) == 2.5


def test_margin_needs_finite_scores_and_a_number():
    with pytest.raises(ValueError, match=r"y_score has 1 infinite value\(s\); give finite scores"):
        metrics.margin_auc(Y, [0, 1, 2, math.inf], rho=0.1)
    with pytest.raises(ValueError, match="rho is nan; give a number"):
        metrics.margin_auc(Y, S, rho=math.nan)


def test_margin_compares_differences_as_computed():
    assert metrics.margin_auc([0, 1], [0.1, 0.3], rho=0.2) == float(0.3 - 0.1 >= 0.2) == 0
    assert metrics.margin_auc([0, 1], [0.0, 0.5], rho=0.5) == 1
    assert metrics.margin_auc([0, 1], [0.5, 0.5], rho=0) == 1


def test_infinite_scores_rank():
    assert metrics.auc([0, 0, 1, 1], [-math.inf, 1, 1, math.inf]) == 0.875
    assert metrics.ks([0, 1], [-math.inf, math.inf]) == 1


def test_distance_to_a_known_curve():
    curve = metrics.roc_curve([0, 1, 0, 1], [4, 3, 2, 1])
    distance = metrics.roc_distance(curve, ([0, 1], [0, 1]))
    assert distance == pytest.approx((0.25, 0.5), abs=1e-15)
    assert {type(value) for value in distance} == {float}
    steps = ([0, 0, 0.5, 0.5, 1], [0, 0.5, 0.5, 1, 1])
    crossing = metrics.roc_distance(steps, ([0, 1], [0, 1]))
    assert crossing == pytest.approx((0.25, 0.5), abs=1e-15)


@pytest.mark.parametrize(
    ("curve", "message"),
    [
        ("curve", "curve_b is a str; give a RocCurve or a pair"),
        (([0, 1], [0, 0.5, 1]), "fpr and tpr of equal length"),
        (([0, 0.6, 0.5, 1], [0, 0.5, 0.6, 1]), "give rates that rise"),
        (([0, 0.9], [0, 1]), "give rates that rise"),
    ],
)
def test_bad_curves(curve, message):
    with pytest.raises(ValueError, match=message):
        metrics.roc_distance(([0, 1], [0, 1]), curve)


def test_import_is_light():
    code = (
        "import sys, auctor.metrics; print('sklearn' in sys.modules, 'scipy.stats' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_unknown_names_are_named():
    with pytest.raises(AttributeError, match="has no attribute 'gini'"):
        _ = metrics.gini
    assert set(metrics.__all__) <= set(dir(metrics))


def test_rounding_does_not_push_an_auc_above_one():
    weight = [
        float.fromhex("0x1.505c58f293aafp-1"),
        float.fromhex("0x1.ab954ef430f08p-2"),
        float.fromhex("0x1.6af688250fb90p-3"),
    ]
    y, scores = [1, 0, 1], [2.0, 0.0, 1.0]
    assert metrics.auc(y, scores, sample_weight=weight) == 1.0
    rng = np.random.default_rng(0)
    for _ in range(200):
        weight = rng.random(6)
        y = [0, 0, 0, 1, 1, 1]
        assert metrics.auc(y, range(6), sample_weight=weight) <= 1.0
        assert metrics.roc_curve(y, range(6), sample_weight=weight).auc() <= 1.0


ANSWERS = np.array(["bad"] * 20 + ["good"] * 30)
RISK = np.arange(50)[::-1] + np.tile([0.0, 25.0], 25)  # high for most of the bad


def test_text_labels_in_the_wrong_order_are_warned_of():
    """The larger label is the positive one, as in scikit-learn's roc_auc_score."""
    says = r"y_score is lower for 'good' than for 'bad' \(AUC 0\.\d+\).* give pos_label='bad'"
    with pytest.warns(UserWarning, match=says) as seen:
        value = metrics.auc(ANSWERS, RISK)
    assert seen[0].filename == __file__  # the line that can be changed
    assert value == pytest.approx(roc_auc_score(ANSWERS, RISK)) and value < 0.2
    with pytest.warns(UserWarning, match="score_b is lower for 'good'"):
        metrics.compare_auc(ANSWERS, -RISK, RISK)


def test_no_warning_where_the_direction_is_known_or_right_or_may_be_chance():
    assert metrics.auc(ANSWERS, RISK, pos_label="bad") > 0.8
    assert metrics.auc(ANSWERS, -RISK) > 0.8
    assert metrics.auc(ANSWERS == "good", RISK) < 0.2  # 1 of 0 and 1 is clear
    assert metrics.auc(["bad", "bad", "good", "good"], [4, 3, 2, 1]) == 0
    kept = (np.median(RISK) < RISK) != (ANSWERS == "bad")  # the others have a weight of zero
    assert metrics.auc(ANSWERS, RISK, sample_weight=kept) > 0.8
    nearly = np.where(kept, 1.0, 1e-3)  # most of the weight is on rows in the right order
    assert metrics.auc(ANSWERS, RISK, sample_weight=nearly) > 0.8


def test_scores_of_two_columns_and_estimators_are_told_what_to_give():
    for odd in (np.zeros((4, 2)), metrics):
        with pytest.raises(ValueError, match=r"one-dimensional array, such as decision_function"):
            metrics.auc(Y, odd)
