"""Every command with a sum of an additive model and boosted trees."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

import auctor
from auctor.cli.make_learner import TRAINS_FOR
from auctor.models import SumModel

from .conftest import Run
from .test_report import facts_of

DROP = ("--drop", "id", "--drop", "w")
PARAMETERS = ("n_estimators=6", "max_depth=3", "early_stopping=false")
TREES = ("--learner", "smooth-tree-boost", "--cv", "2", *(f"--param={p}" for p in PARAMETERS))


@pytest.fixture
def model(run: Run, train: Path) -> str:
    done = run("fit", train, "--target", "y", *DROP, *TREES, "--out", "m.json", "--no-baseline")
    assert done.code == 0, done.err
    assert isinstance(auctor.load("m.json"), SumModel)
    return "m.json"


def test_fit_and_report_write_pages_with_both_parts(run: Run, train: Path, model: str) -> None:
    done = run("fit", train, "--target", "y", *DROP, *TREES, "--report", "p.html", "--json")
    assert (done.code, done.err) == (0, "")
    features = facts_of(Path("p.html"))["features"]
    assert features["kind"] == "trees"
    assert {row["name"] for row in features["rows"]} == {"x", "z", "flag", "city"}
    assert "not cross-validated" in Path("p.html").read_text(encoding="utf-8")
    done = run("report", model, train, "--target", "y", "--out", "q.html", "--facts", "f.json")
    assert done.code == 0, done.err
    assert json.loads(Path("f.json").read_text())["features"] == features


def test_the_model_is_printed_and_rows_are_explained(run: Run, train: Path, model: str) -> None:
    text = run("explain", model).out
    assert text.startswith("SumModel: ") and "* AdditiveModel" in text and "* ForestModel" in text
    scores = run("score", model, train, "--json").json["score"]
    done = run("explain", model, train, "--row", 3, "--json")
    assert done.json["reference"] == "the average training row"
    (one,) = done.json["rows"]
    total = one["base"] + sum(part["adds"] for part in one["contributions"])
    assert one["score"] == scores[2] == pytest.approx(total, abs=1e-12)


def test_scores_have_reasons(run: Run, train: Path, model: str, table: pa.Table) -> None:
    done = run("score", model, train, "--reasons", 3, "--json")
    assert done.code == 0, done.err
    loaded = auctor.load(model)
    assert isinstance(loaded, SumModel)
    explained = loaded.explain_rows(table.select(list(loaded.feature_names)))
    first = explained[0]
    assert done.json["reason_1"][0].startswith(f"{first.names[0]}=")
    assert f"({first.contributions[0]:+.3g})" in done.json["reason_1"][0]
    assert all(reason for reason in done.json["reason_2"])


def test_it_is_compared_by_name(run: Run, train: Path) -> None:
    learners = ("--learner", "rankboost", "--learner", "smooth-tree-boost", "--cv", "2")
    done = run("compare", train, "--target", "y", *DROP, *learners, "--json")
    assert done.code == 0, done.err
    assert [one["name"] for one in done.json["learners"]] == ["rankboost", "smooth-tree-boost"]


def test_it_is_trained_for_a_partial_auc(run: Run, train: Path) -> None:
    assert "smooth-tree-boost" in TRAINS_FOR["pauc"]
    metric = ("--metric", "pauc:0-0.3", "--json")
    done = run("fit", train, "--target", "y", *DROP, *TREES, *metric)
    assert done.code == 0, done.err
    assert "partial AUC" in done.json["certificate"]["statement"]
    done = run("fit", train, "--target", "y", *DROP, *TREES, "--metric", "ks")
    assert "smooth-tree-boost cannot be trained for ks" in done.error
