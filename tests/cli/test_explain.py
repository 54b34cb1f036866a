"""`auctor explain`: the model in words, and what each feature adds to a row's score."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

import auctor
from auctor.kernels.trees import TreeNodes
from auctor.models import AdditiveModel, ForestModel, SumModel, sum_models

from .conftest import FAST, Run

LINEAR = ("--learner", "dmks", "--metric", "ks", "--cv", "2")


def test_without_a_table_it_prints_the_model(run: Run, model: Path) -> None:
    done = run("explain", model)
    assert done.code == 0
    assert done.out.rstrip("\n") == str(auctor.load(model))
    assert run("explain", model, "--json").json["features"] == ["x", "z", "flag", "city"]


def test_a_row_is_the_sum_of_its_parts(run: Run, model: Path, train: Path) -> None:
    scores = run("score", model, train, "--json").json["score"]
    done = run("explain", model, train, "--row", 3, "--row", 1, "--json")
    assert [one["row"] for one in done.json["rows"]] == [3, 1]
    assert done.json["reference"] == "the average training row"
    for one in done.json["rows"]:
        total = one["base"] + sum(part["adds"] for part in one["contributions"])
        assert one["score"] == scores[one["row"] - 1] == total


@pytest.mark.parametrize("learner", [FAST, LINEAR], ids=["additive", "linear"])
def test_the_same_from_its_table_from_one_row_and_from_python(
    run: Run, train: Path, table: pa.Table, learner: tuple[str, ...]
) -> None:
    fit = ["fit", train, "--target", "y", "--drop", "id", "--drop", "w", *learner]
    done = run(*fit, "--out", "m.json")
    assert done.code == 0, done.err
    csv.write_csv(table.slice(6, 1), "one.csv")
    (together,) = run("explain", "m.json", train, "--row", 7, "--json").json["rows"]
    (alone,) = run("explain", "m.json", "one.csv", "--row", 1, "--json").json["rows"]
    assert alone == {**together, "row": 1}
    loaded = auctor.load("m.json")
    python = loaded.explain(table.slice(6, 1).select(list(loaded.feature_names)))
    adds = [part["adds"] for part in together["contributions"]]
    assert adds == list(python.contributions) and any(adds)
    assert together["base"] == python.base
    assert "compared with the average training row" in run("explain", "m.json", "one.csv").out


def test_another_reference(run: Run, model: Path, train: Path, table: pa.Table) -> None:
    csv.write_csv(table.slice(6, 1), "one.csv")
    done = run("explain", model, train, "--row", 7, "--reference", "one.csv", "--json")
    assert done.json["reference"] == "the average row of one.csv"
    assert {part["adds"] for part in done.json["rows"][0]["contributions"]} == {0.0}


def test_a_model_without_a_reference(run: Run, model: Path, train: Path) -> None:
    """As files of earlier releases are."""
    old = replace(auctor.load(model), reference=None)
    old.save("old.json")
    for command in (("explain", "old.json", train), ("score", "old.json", train, "--reasons", 2)):
        assert "has no reference" in run(*command).error
        assert run(*command, "--reference", train).code == 0


def add_stump(model: Path, cover: bool = True) -> SumModel:
    """The model of a file, with a tree that adds 1 where x is above its first cut."""
    first = auctor.load(model)
    assert isinstance(first, AdditiveModel)
    columns = [[0, -1, -1], [1, 0, 0], [1, 0, 0], [0, 0, 0], [-1, -1, -1], []]
    children = [1, -1, -1], [2, -1, -1]
    forest = ForestModel(
        first.classes,
        0.0,
        first.calibration,
        first.features,
        "sum",
        np.array([0]),
        TreeNodes(*(np.array(column, dtype=np.int64) for column in (*columns, *children))),
        np.array([0.0, 1.0, 0.0]),
        np.eye(len(first.features))[0],
        0.0,
        np.array([80.0, 60.0, 20.0]) if cover else None,
    )
    return sum_models([first, forest], [1.0, 0.5])


def test_a_sum_of_models(run: Run, model: Path, train: Path) -> None:
    both = add_stump(model)
    both.save("sum.json")
    assert run("explain", "sum.json").out.rstrip("\n") == str(both)
    scores = run("score", "sum.json", train, "--json").json["score"]
    done = run("score", "sum.json", train, "--reasons", 2, "--direction", "up", "--json")
    assert done.json["score"] == scores
    assert any(reason.startswith("x=") for reason in done.json["reason_1"])
    (one,) = run("explain", "sum.json", train, "--row", 3, "--json").json["rows"]
    assert one["score"] == scores[2] == one["base"] + sum(p["adds"] for p in one["contributions"])
    done = run("explain", "sum.json", train, "--reference", train, "--json")
    assert done.json["reference"] == f"the average row of {train}"


def test_a_sum_that_cannot_explain_rows(run: Run, model: Path, train: Path) -> None:
    add_stump(model, cover=False).save("sum.json")
    error = run("score", "sum.json", train, "--reasons", 2).error
    assert error.startswith("sum.json: part 2 of this sum cannot explain rows: this forest does")
    assert run("score", "sum.json", train).code == 0


def test_by_default_the_highest_score(run: Run, model: Path, train: Path) -> None:
    scores = run("score", model, train, "--json").json["score"]
    done = run("explain", model, train)
    assert done.out.startswith(f"row {scores.index(max(scores)) + 1}: score +")


def test_mistakes(run: Run, model: Path, train: Path, table: pa.Table) -> None:
    assert "the table has 80 rows" in run("explain", model, train, "--row", 81).error
    assert "--row needs a table" in run("explain", model, "--row", 1).error
    assert "--reference needs a table" in run("explain", model, "--reference", train).error
    fit = ["fit", train, "--target", "y", "--drop", "id", "--drop", "w", *FAST[4:]]
    done = run(*fit, "--learner", "treerank", "--out", "tree.json")
    assert done.code == 0, done.err
    assert (
        "is a tree model; only additive and linear models, forests with the cover"
        in run("explain", "tree.json", train).error
    )
    assert "leaves, from the highest score to the lowest" in run("explain", "tree.json").out
