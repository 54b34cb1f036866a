"""The facts equal what the metrics say, and are plain values whatever the rows are."""

import json
import re
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.metrics import average_precision_score
from sklearn.pipeline import make_pipeline

from auctor import RankBoost, TreeRank, cross_val_auc, load
from auctor.learners.certificate import Certificate
from auctor.metrics import (
    auc_ci,
    calibration_table,
    compare_auc,
    gain_curve,
    ks_ci,
    roc_curve,
    score_histogram,
    threshold_table,
)
from auctor.metrics.rates import clopper_pearson
from auctor.report import render, summarize
from auctor.report.guarantee import guarantee

SECTIONS = {
    "format", "version", "about", "data", "headline", "roc", "separation", "calibration",
    "distributions", "thresholds", "bands", "comparison", "features", "row", "shape", "learning",
    "level", "judged", "guarantee", "subgroups", "periods", "card",
}  # fmt: skip


def plain_values(value):
    """Whether a value is one of JSON's, with finite numbers."""
    if isinstance(value, dict):
        return all(type(k) is str and plain_values(v) for k, v in value.items())
    if isinstance(value, list):
        return all(map(plain_values, value))
    if type(value) is float:
        return np.isfinite(value)
    return value is None or type(value) in (str, int, bool)


def test_facts_are_plain_and_survive_json(facts):
    assert set(facts) == SECTIONS
    assert facts["format"] == 3
    assert plain_values(facts)
    assert json.loads(json.dumps(facts, allow_nan=False)) == facts


def test_headline_is_the_interval(fitted, facts):
    estimator, X, y = fitted
    interval = auc_ci(y, estimator.decision_function(X))
    top = facts["headline"]
    assert (top["auc"], top["low"], top["high"]) == (interval.value, interval.low, interval.high)
    assert top["sentence"] == str(interval)
    assert facts["about"]["certificate"] == str(estimator.certificate_)


def test_curve_has_the_counts_of_every_kept_threshold(fitted, facts):
    estimator, X, y = fitted
    scores, roc = estimator.decision_function(X), facts["roc"]
    curve = roc_curve(y, scores)
    assert roc["n_thresholds"] == len(curve.thresholds) == len(roc["threshold"]) - 1
    # The threshold of the model lies between two scores, and is one more.
    assert roc["threshold"][roc["model"]] == estimator.threshold_
    assert roc["threshold"][0] is None
    for k, threshold in enumerate(roc["threshold"][1:], start=1):
        flagged = scores >= threshold
        assert roc["true_positives"][k] == (flagged & (y == 1)).sum()
        assert roc["false_positives"][k] == (flagged & (y == 0)).sum()
    assert roc["threshold"][roc["youden"]] == curve.youden().threshold
    assert facts["separation"]["ks"] == curve.ks()
    interval = ks_ci(y, scores, random_state=0)
    assert facts["separation"]["ks_low"] == interval.low
    assert facts["separation"]["ks_high"] == interval.high
    assert facts["separation"]["accuracy_ratio"] == gain_curve(y, scores).accuracy_ratio


def test_long_curves_are_thinned_and_keep_what_has_a_name(make_rows):
    X, y = make_rows(5000, 2)
    estimator = RankBoost(n_estimators=2).fit(X, y)
    scores = X[:, 0]  # as many distinct values as rows
    roc = summarize(estimator, X, y, scores=scores)["roc"]
    curve = roc_curve(y, scores)
    assert 300 < len(roc["threshold"]) <= 500 < roc["n_thresholds"] == 5001
    assert roc["threshold"][roc["youden"]] == curve.youden().threshold
    for fraction, mark in zip(roc["fractions"], roc["marks"], strict=True):
        assert roc["threshold"][mark] == curve.at(budget=fraction).threshold, fraction
    rates = np.array(roc["false_positives"]) / curve.n_neg, np.array(roc["true_positives"])
    area = np.trapezoid(rates[1] / curve.n_pos, rates[0])
    assert area == pytest.approx(curve.auc(), abs=1e-3)
    assert np.hypot(np.diff(rates[0]), np.diff(rates[1] / curve.n_pos)).max() < 0.02


def test_tables_are_the_metrics_own(fitted, facts):
    estimator, X, y = fitted
    scores = estimator.decision_function(X)
    for row, own in zip(facts["thresholds"]["rows"], threshold_table(y, scores).rows, strict=True):
        assert row["flagged"] == own.point.flagged
        assert row["tpr"] == [own.point.tpr, *own.tpr]
    table = calibration_table(y, estimator.model_.probabilities(scores)[:, 1])
    assert facts["calibration"]["brier"] == table.brier
    assert facts["calibration"]["observed"] == pytest.approx(table.observed, rel=1e-5)
    assert facts["calibration"]["count"] == table.count.tolist()
    histogram = score_histogram(y, scores)
    assert facts["distributions"]["pos"] == histogram.pos.tolist()
    assert facts["distributions"]["neg"] == histogram.neg.tolist()
    shown, own = facts["comparison"][0], compare_auc(y, scores, X[:, 0])
    assert (shown["difference"], shown["p_value"]) == (own.difference, own.p_value)


def test_out_of_fold_scores_take_the_place_of_the_models_own(make_rows):
    X, y = make_rows()
    estimator = RankBoost(n_estimators=10)
    cv, other = cross_val_auc(estimator, X, y), cross_val_auc(RankBoost(n_estimators=2), X, y)
    estimator.fit(X, y)
    options = {"scores": cv.scores, "folds": cv.folds, "baseline": {"short": other.scores}}
    options |= {"instability": cv.instability, "baseline_instability": {"short": 0.5}}
    facts = summarize(estimator, X, y, **options)
    assert facts["headline"]["auc"] == cv.auc.value
    assert facts["headline"]["low"] == cv.auc.low
    assert facts["headline"]["curve_auc"] == roc_curve(y, cv.scores).auc()
    assert facts["data"]["is_out_of_fold"] and facts["data"]["n_folds"] == 5
    own = compare_auc(y, cv.scores, other.scores, folds=cv.folds, instability=0.5)
    assert facts["comparison"][0]["low"] == own.low
    assert facts["judged"] is None
    metrics = [
        {"metric": "ks"},
        {"metric": "precision_at_k", "k": 0.1},
        {"metric": "partial_auc", "fpr_range": (0, 0.2), "scaled": True},
    ]
    for metric in metrics:
        facts = summarize(estimator, X, y, **options, metric=metric)
        first = facts["comparison"][0]
        assert first["own_value"] == facts["judged"]["value"]
        assert first["in_auc"]["low"] == own.low
        page = render(facts)
        assert f"The model was trained for the {facts['judged']['name']}" in page
        assert re.search(f"(difference in|higher|lower) {facts['judged']['name']}", page)
    with pytest.raises(ValueError, match="folds was given without scores"):
        summarize(estimator, X, y, folds=cv.folds)


def test_what_is_measured_within_folds_takes_the_scores_of_each_folds_own_model(make_rows):
    """On the scale of the final tree rows tie that a fold's tree tells apart."""
    X, y = make_rows()
    estimator = TreeRank()
    cv, other = cross_val_auc(estimator, X, y), cross_val_auc(RankBoost(n_estimators=2), X, y)
    pooled = cv.scores_of(estimator.fit(X, y), X)
    options = {"scores": pooled, "folds": cv.folds, "baseline": {"short": other.scores}}
    facts = summarize(estimator, X, y, fold_scores=cv.scores, **options)
    assert facts["headline"]["auc"] == cv.auc.value
    assert facts["separation"]["ks"] == ks_ci(y, cv.scores, folds=cv.folds, random_state=0).value
    own = compare_auc(y, cv.scores, other.scores, folds=cv.folds)
    assert facts["comparison"][0]["own_auc"] == own.auc_a
    assert facts["headline"]["curve_auc"] == roc_curve(y, pooled).auc()
    assert {row["threshold"] for row in facts["thresholds"]["rows"]} <= {None, *pooled.tolist()}
    with pytest.raises(ValueError, match="fold_scores was given without folds"):
        summarize(estimator, X, y, scores=pooled, fold_scores=cv.scores)


def test_a_row_of_weight_zero_is_absent_and_weight_two_is_the_row_twice(fitted):
    estimator, X, y = fitted
    weight = np.arange(len(y)) % 3
    facts = summarize(estimator, X, y, sample_weight=weight.astype(float))
    twice = np.repeat(np.arange(len(y)), weight)
    same = summarize(estimator, X[twice], y[twice])
    for name in ("threshold", "true_positives", "false_positives"):
        assert facts["roc"][name] == same["roc"][name]
    assert facts["headline"]["auc"] == pytest.approx(same["headline"]["auc"], abs=1e-12)
    assert facts["separation"]["ks"] == pytest.approx(same["separation"]["ks"], abs=1e-12)
    rows, others = facts["features"]["rows"], same["features"]["rows"]
    for row, other in zip(rows, others, strict=True):
        assert row["name"] == other["name"]
        assert row["auc"] == pytest.approx(other["auc"], abs=1e-12)
        assert row.get("plot", {}).get("values") == pytest.approx(
            other.get("plot", {}).get("values"), rel=1e-4
        )
    assert facts["data"]["n_absent"] == (weight == 0).sum()
    assert plain_values(facts)


def test_groups_widen_the_intervals(fitted):
    estimator, X, y = fitted
    groups = [f"g{k}" for k in np.repeat(np.arange(len(y)), 3)]
    tripled = np.repeat(np.arange(len(y)), 3)
    alone = summarize(estimator, X[tripled], y[tripled])
    facts = summarize(estimator, X[tripled], y[tripled], groups=groups)
    assert facts["data"]["n_groups"] == len(y)
    for one, other in ((facts["headline"], alone["headline"]),):
        assert one["high"] - one["low"] > 1.4 * (other["high"] - other["low"])
    assert not facts["roc"]["is_counted"] and alone["roc"]["is_counted"]


def test_labels_of_text_and_a_saved_model(make_rows, tmp_path):
    X, y = make_rows(200)
    words = np.where(y == 1, "good", "bad")
    estimator = RankBoost(n_estimators=5, pos_label="bad").fit(X, words)
    estimator.model_.save(tmp_path / "model.json")
    facts = summarize(load(tmp_path / "model.json"), X, words)
    assert facts["data"]["positive"] == "bad" and facts["data"]["n_pos"] == (y == 0).sum()
    assert facts["headline"]["auc"] == estimator.score(X, words)
    assert "learner" not in facts["about"]


@pytest.mark.parametrize("scores", [np.zeros(6), [-np.inf, 0, 1, 1, np.inf, np.inf]])
def test_ties_and_infinite_scores(scores):
    X, y = np.arange(6.0).reshape(-1, 1), [0, 0, 1, 0, 1, 1]
    estimator = RankBoost(n_estimators=2).fit(X, y)
    facts = summarize(estimator, X, y, scores=scores)
    assert plain_values(facts)
    assert facts["roc"]["true_positives"][-1] == 3
    roc, curve = facts["roc"], roc_curve(y, scores)
    assert roc["true_positives"][roc["youden"]] == 3 * curve.youden().tpr


def test_one_row_of_a_class_has_no_interval():
    X, y = np.arange(5.0).reshape(-1, 1), [0, 0, 0, 0, 1]
    facts = summarize(RankBoost(n_estimators=2).fit(X, y), X, y)
    assert facts["headline"]["low"] is None and facts["headline"]["auc"] == 1.0
    assert facts["separation"]["ks_low"] is None and facts["separation"]["ks"] == 1.0
    assert plain_values(facts)


def test_what_is_wrong_is_named(fitted):
    estimator, X, y = fitted
    with pytest.raises(ValueError, match=r"give its last step, pipeline\[-1\]"):
        summarize(make_pipeline(estimator), X, y)
    with pytest.raises(ValueError, match="model is of type object, which has no auctor model"):
        summarize(object(), X, y)
    with pytest.raises(ValueError, match=r"y has 1 class \(1\); auctor needs exactly two"):
        summarize(estimator, X, np.ones(len(y), dtype=int))
    with pytest.raises(ValueError, match="X has 200 rows and y has 199"):
        summarize(estimator, X, y[1:])
    with pytest.raises(ValueError, match="learning_curve"):
        summarize(estimator, X, y, about={"learning_curve": {"x": [1, 2], "y": [1]}})


def odd_tables(X):
    """Tables of other kinds, and columns that hold next to nothing."""
    frame = pd.DataFrame(X, columns=list("abcd"))
    yield "one column", frame[["a"]]
    yield "all missing", frame.assign(b=np.nan, c=None)
    yield "one value, whole numbers", frame.assign(b=7, c=np.arange(len(X)))
    yield "pyarrow", pa.table({name: frame[name].to_numpy() for name in frame})
    yield "sparse", sparse.csr_array(np.where(np.abs(X) > 1, X, 0.0))
    yield "each its own category", frame.assign(a=[f"c{k}" for k in range(len(X))])


@pytest.mark.parametrize("position", range(6))
def test_odd_tables(make_rows, position):
    X, y = make_rows(80)
    _, table = list(odd_tables(X))[position]
    facts = summarize(RankBoost(n_estimators=10).fit(table, y), table, y)
    assert plain_values(facts)
    assert render(facts).startswith("<!doctype html>")


def test_categories_that_the_model_has_not_seen():
    X, y = pd.DataFrame({"town": list("aabbab") * 5}), [0, 0, 1, 1, 0, 1] * 5
    model = RankBoost(n_estimators=3).fit(X, y).model_
    facts = summarize(model, X.replace("a", "new"), y)
    row = facts["features"]["rows"][0]
    assert row["missing"] == 0 and row["plot"]["missing"] is not None
    assert plain_values(facts)


def test_score_bands_are_counted_row_by_row(fitted, facts):
    estimator, X, y = fitted
    scores, bands = estimator.decision_function(X), facts["bands"]
    assert 2 <= len(bands) <= 10 and sum(band["rows"] for band in bands) == len(y)
    for band in bands:
        inside = (scores >= band["low"]) & (scores <= band["high"])
        assert (band["rows"], band["positives"]) == (inside.sum(), y[inside].sum())
        assert band["rate"] == pytest.approx(
            [y[inside].mean(), *clopper_pearson(y[inside].sum(), inside.sum(), 0.95)]
        )
        assert band["predicted"] == pytest.approx(estimator.predict_proba(X[inside])[:, 1].mean())
        assert band["captured"] == pytest.approx(y[scores >= band["low"]].sum() / y.sum())


def test_average_precision_and_probabilities(fitted, facts):
    estimator, X, y = fitted
    wanted = average_precision_score(y, estimator.decision_function(X))
    assert facts["separation"]["average_precision"] == pytest.approx(wanted)
    histogram = facts["calibration"]["histogram"]
    assert (sum(histogram["pos"]), sum(histogram["neg"])) == (y.sum(), (1 - y).sum())


@pytest.mark.parametrize(("power", "words"), [(1.0, "agree with"), (3.0, "do not agree with")])
def test_the_verdict_on_calibration(power, words):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 1))
    y = (rng.random(2000) < 1 / (1 + np.exp(-X[:, 0]))).astype(int)
    estimator = RankBoost(n_estimators=40).fit(X, y)
    logits = np.log(estimator.predict_proba(X)[:, 1] / estimator.predict_proba(X)[:, 0])
    model = estimator.model_
    scores = (power * logits - model.calibration.offset) / model.calibration.slope
    verdict = summarize(model, X, y, scores=scores)["calibration"]["verdict"]
    assert verdict.startswith(f"The probabilities {words} these rows")


def test_a_guarantee_is_said_only_if_it_says_something():
    def words(**values):
        return guarantee(SimpleNamespace(certificate_=Certificate("", values)))

    assert "at most 0.400" in words(best_bound=0.4, delta=0.05)
    assert words(best_bound=1.3, delta=0.05) is None
    assert "AUC 0.900" in words(auc=0.9, best_bound=None)
    assert guarantee(object()) is None
