"""``estimator.save`` and what ``auctor.load`` returns."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import auctor
from auctor.cli.main import main
from auctor.models import compare_rows


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    return X, np.where(X[:, 0] + rng.normal(size=80) > 0, "yes", "no")


@pytest.mark.parametrize(
    "estimator",
    [
        auctor.RankBoost(5, pos_label="no"),
        auctor.SmoothAUCBoost(threshold=0.5),
        auctor.MartiRank(n_layers=3),
        auctor.TreeRank(max_depth=2),
        auctor.DMKS(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_a_loaded_model_does_what_the_estimator_does(estimator, table, tmp_path):
    X, y = table
    fitted = estimator.fit(X, y)
    fitted.save(tmp_path / "model.json")
    model = auctor.load(tmp_path / "model.json")
    assert np.array_equal(model.decision_function(X), fitted.decision_function(X))
    assert np.array_equal(model.predict(X), fitted.predict(X))
    order = [model.classes.index(label) for label in fitted.classes_]
    assert np.array_equal(model.predict_proba(X)[:, order], fitted.predict_proba(X))
    weight = np.arange(1.0, 81.0)
    assert model.score(X, y, weight) == fitted.score(X, y, weight) != fitted.score(X, y)


def test_a_loaded_model_explains_rows(table, tmp_path):
    X, y = table
    fitted = auctor.RankBoost(5).fit(X, y)
    fitted.save(tmp_path / "model.json")
    explained = auctor.load(tmp_path / "model.json").explain(X)
    assert np.array_equal(explained.contributions, fitted.explain(X).contributions)


def test_what_cannot_be_saved_says_so(table, tmp_path):
    X, y = table
    with pytest.raises(NotFittedError):
        auctor.RankBoost().save(tmp_path / "model.json")
    ranker = auctor.AUCBoost(LogisticRegression(), n_estimators=2).fit(X, y)
    with pytest.raises(ValueError, match="pickle the estimator"):
        ranker.save(tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "estimator",
    [
        auctor.RankBoost(5, pos_label="no"),
        auctor.SmoothAUCBoost(fpr_range=(0, 0.4)),
        auctor.TreeRank(max_depth=2),
        auctor.DMKS(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_training_rows_are_recorded_in_aggregate(estimator, table, tmp_path):
    X, y = table
    weight = np.arange(80.0)  # the first row is absent
    estimator.fit(X, y, sample_weight=weight).save(
        tmp_path / "model.json", X, y, sample_weight=weight
    )
    model = auctor.load(tmp_path / "model.json")
    assert np.array_equal(model.decision_function(X), estimator.decision_function(X))
    record = model.training
    n_pos = int((y[1:] == estimator.pos_label_).sum())
    assert (record.n_rows, record.n_pos) == (79, n_pos) and record.has_weights
    assert [column.high for column in record.columns] == X[1:].max(axis=0).tolist()
    assert record.origin.learner == type(estimator).__name__
    expected = {"SmoothAUCBoost": "pauc:0-0.4", "DMKS": "ks"}
    assert record.origin.metric == expected.get(type(estimator).__name__, "auc")
    kinds = {
        (finding.column, finding.kind) for finding in compare_rows(model, X + np.array([0, 1e4, 0]))
    }
    assert kinds == {("x1", "above range")}


def test_a_cross_validation_is_recorded_as_the_command_line_does(tmp_path):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=120), "z": rng.integers(0, 4, 120)})
    frame["y"] = (frame.x + rng.normal(size=120) > 0).astype(int)
    frame.to_csv(tmp_path / "t.csv", index=False)
    X, y, ranker = frame[["x", "z"]], frame["y"], auctor.RankBoost(5)
    validation = auctor.cross_val_auc(ranker, X, y, cv=3)
    ranker.fit(X, y).save(tmp_path / "python.json", X, y, validation=validation)
    out = ["--out", str(tmp_path / "command.json"), "--cv", "3", "--no-baseline", "--quiet"]
    learner = ["--learner", "rankboost", "--param", "n_estimators=5"]
    assert main(["fit", str(tmp_path / "t.csv"), "--target", "y", *learner, *out]) == 0
    ours, other = (
        auctor.load(tmp_path / f"{name}.json").training for name in ("python", "command")
    )
    origin = {"date": "", "table": None, "sha256": None, "parameters": {}}
    plain = [replace(r, origin=replace(r.origin, **origin)).body() for r in (ours, other)]
    assert plain[0] == plain[1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"X": np.ones((80, 3))}, "only one of X and y"),
        ({"sample_weight": np.ones(80)}, "without X and y"),
        ({"X": np.ones((80, 3)), "y": ["a", "b"] * 40}, "pos_label=.*is not among"),
        ({"X": np.ones((80, 3)), "y": ["yes", "b"] * 40}, "and the model was fitted to"),
        ({"X": np.ones((79, 3)), "y": ["yes", "no"] * 40}, "79"),
        ({"X": np.ones((80, 3)), "y": ["yes", "no"] * 40, "validation": 1}, "of type int"),
    ],
)
def test_rows_that_are_not_those_of_the_fit(given, words, table, tmp_path):
    fitted = auctor.RankBoost(2).fit(*table)
    with pytest.raises(ValueError, match=words):
        fitted.save(tmp_path / "model.json", **given)
    assert not (tmp_path / "model.json").exists()
