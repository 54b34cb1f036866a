"""The learner that `auctor fit` takes where none is named."""

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

import auctor
from auctor import SmoothAUCBoostCV
from auctor._text import count
from auctor.cli.make_learner import DEFAULT_LEARNER
from auctor.estimators.registry import LEARNERS

from .conftest import Run, files

FEATURES = ["x", "z", "flag", "city"]


def with_positives(table: pa.Table, n: int) -> pa.Table:
    """All negative rows, and the first of the positive ones."""
    y = table["y"].to_numpy()
    return table.take(np.concatenate([np.flatnonzero(y == "no"), np.flatnonzero(y == "yes")[:n]]))


def test_default_is_known_and_named_in_the_help(run: Run) -> None:
    assert LEARNERS[DEFAULT_LEARNER] is SmoothAUCBoostCV
    assert f"(default: {DEFAULT_LEARNER}," in " ".join(run("fit", "--help").out.split())
    assert DEFAULT_LEARNER in run("learners", "--json").json["learners"]


def test_default_writes_the_model_of_the_library(run: Run, train: Path, table: pa.Table) -> None:
    options = ["--drop", "id", "--drop", "w", "--cv", 0, "--seed", 3, "--jobs", 2]
    done = run("fit", train, "--target", "y", *options, "--json")
    assert (done.code, done.err) == (0, "")
    X, y = table.select(FEATURES), table["y"].to_numpy()
    ranker = SmoothAUCBoostCV(random_state=3).fit(X, y)
    scores = auctor.load("train.model.json").decision_function(X)
    np.testing.assert_array_equal(scores, ranker.decision_function(X))
    facts = done.json
    assert facts["learner"] == "SmoothAUCBoostCV"
    assert facts["certificate"]["statement"] == ranker.certificate_.statement
    assert facts["params"]["random_state"] == 3


def test_default_says_for_people_what_it_did(run: Run, train: Path) -> None:
    # One amount of each: the text is the same, and sooner there.
    few = ["--param", "penalties=[0.1]", "--param", "shrinkages=[0.1]", "--param", "interactions=0"]
    done = run("fit", train, "--target", "y", "--drop", "id", "--cv", 2, *few)
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[1].startswith("SmoothAUCBoostCV: cross-validated AUC 0.")
    assert lines[2].startswith("SmoothAUCBoostCV: KS 0.")
    assert lines[3].startswith("logistic regression on the same folds: AUC 0.")
    assert lines[4].startswith("difference (ours - logistic regression): ")
    assert lines[5].startswith("training certificate: The smoothed AUC ")
    assert lines[6].startswith("most important features: ")
    assert lines[7:] == ["model written to train.model.json"]


def test_default_on_all_kinds_of_columns(run: Run, table: pa.Table) -> None:
    """Categories, missing values, and columns that say nothing: constant or empty."""
    n = table.num_rows
    table = (
        table.select([*FEATURES, "y"])
        .append_column("same", [[7] * n])
        .append_column("word", [["a"] * n])
        .append_column("none", pa.nulls(n, pa.float64()))
    )
    csv.write_csv(table, "t.csv")
    done = run("fit", "t.csv", "--target", "y", "--cv", 0, "--json")
    assert (done.code, done.err) == (0, "")
    assert (done.json["features"], done.json["categorical"]) == (7, 2)
    assert {one["feature"] for one in done.json["importances"]} <= set(FEATURES)
    assert run("evaluate", "t.model.json", "t.csv", "--target", "y", "--json").json["auc"] > 0.9


def test_default_on_columns_that_say_nothing(run: Run, table: pa.Table) -> None:
    csv.write_csv(pa.table({"x": [7] * table.num_rows, "y": table["y"]}), "t.csv")
    done = run("fit", "t.csv", "--target", "y", "--cv", 2, "--json")
    assert (done.code, done.err) == (0, "")
    assert done.json["cross_validation"]["auc"] == 0.5
    assert done.json["importances"] == []


@pytest.mark.parametrize(("n", "remedy"), [(1, "--cv 0"), (3, "--cv 0"), (4, "--cv 2")])
def test_default_on_a_handful_of_positives(run: Run, table: pa.Table, n: int, remedy: str) -> None:
    csv.write_csv(with_positives(table.select([*FEATURES, "y"]), n), "t.csv")
    refused = run("fit", "t.csv", "--target", "y")
    assert refused.code == 1
    assert (
        f"label 'yes' has {count(n, 'row')}, but" in refused.error
        and f"use {remedy}" in refused.error
    )
    assert files(Path()) == {"t.csv"}
    done = run("fit", "t.csv", "--target", "y", *remedy.split(), "--json")
    assert (done.code, done.err) == (0, "")
    assert (done.json["n_pos"], done.json["n_neg"]) == (n, 40)
    scores = np.array(run("score", "t.model.json", "t.csv", "--json").json["score"])
    assert np.isfinite(scores).all() and len(set(scores)) > 1


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ("interactions=-1", "'interactions' parameter"),
        ("rule=worst", "'rule' parameter"),
        ("penalties=1", "'penalties' parameter"),
        ("penalties=[-1]", "penalties is [-1]; give one or more numbers of 0 or more"),
        ("cv=50", "cv=50 folds need 50 rows of each class, and one class has 40"),
    ],
)
def test_wrong_settings_of_the_default(run: Run, train: Path, setting: str, words: str) -> None:
    done = run("fit", train, "--target", "y", "--drop", "id", "--cv", 0, "--param", setting)
    assert done.code == 1
    assert words in done.error
    assert files(Path()) == {"train.csv"}
