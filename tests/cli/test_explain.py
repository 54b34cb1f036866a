"""`auctor explain`: the model in words, and what each feature adds to a row's score."""

from pathlib import Path

import pyarrow as pa
import pytest

import auctor

from .conftest import FAST, Run


def test_without_a_table_it_prints_the_model(run: Run, model: Path) -> None:
    done = run("explain", model)
    assert done.code == 0
    assert done.out.rstrip("\n") == str(auctor.load(model))
    assert run("explain", model, "--json").json["features"] == ["x", "z", "flag", "city"]


def test_a_row_is_the_sum_of_its_parts(run: Run, model: Path, train: Path) -> None:
    scores = run("score", model, train, "--json").json["score"]
    done = run("explain", model, train, "--row", 3, "--row", 1, "--json")
    assert [one["row"] for one in done.json["rows"]] == [3, 1]
    for one in done.json["rows"]:
        total = one["base"] + sum(part["adds"] for part in one["contributions"])
        assert one["score"] == scores[one["row"] - 1] == pytest.approx(total)


def test_by_default_the_highest_score(run: Run, model: Path, train: Path) -> None:
    scores = run("score", model, train, "--json").json["score"]
    done = run("explain", model, train)
    assert done.out.startswith(f"row {scores.index(max(scores)) + 1}: score +")


def test_mistakes(run: Run, model: Path, train: Path, table: pa.Table) -> None:
    assert "the table has 80 rows" in run("explain", model, train, "--row", 81).error
    assert "--row wants a table" in run("explain", model, "--row", 1).error
    fit = ["fit", train, "--target", "y", "--drop", "id", "--drop", "w", *FAST[4:]]
    done = run(*fit, "--learner", "treerank", "--out", "tree.json")
    assert done.code == 0, done.err
    assert (
        "is a tree model; rows are explained by additive"
        in run("explain", "tree.json", train).error
    )
    assert "cells in order, the best first" in run("explain", "tree.json").out
