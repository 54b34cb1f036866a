"""The page, the command line and Python agree: KS, thresholds with ties, and importance."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import auctor
from auctor import RankBoost, SmoothAUCBoost, cross_val_auc
from auctor.cli.main import main
from auctor.data import read_table
from auctor.display import KSDisplay, ScorePlotDisplay, ScoreROCDisplay
from auctor.models.importance import term_importances

FAST = ["--learner", "rankboost", "--param", "n_estimators=8", "--cv", "2", "--no-baseline"]


@pytest.fixture(scope="module")
def table():
    """Few distinct values, so that many rows have the same score, and some on every threshold."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"x": rng.integers(0, 4, 160), "z": rng.integers(0, 3, 160)})
    frame["town"] = rng.choice(["here", "there", "nowhere"], 160)
    frame["y"] = (frame.x + (frame.town == "here") + rng.normal(size=160) > 2).astype(int)
    return frame


def test_the_learner_has_one_name(told):
    named = {
        told["fit"]["learner"],
        told["model"].training.origin.learner,
        *(told[page]["about"]["learner"] for page in ("fit_page", "report_page")),
    }
    assert named == {"RankBoost"}


@pytest.fixture(scope="module")
def told(table, tmp_path_factory):
    """What the command line says, and the facts of its two pages."""
    folder = tmp_path_factory.mktemp("truth")
    rows, model, page = (str(folder / name) for name in ("t.csv", "t.model.json", "fit.html"))
    table.to_csv(rows, index=False)

    def run(*arguments):
        out = folder / "out.txt"
        with out.open("w") as file, pytest.MonkeyPatch.context() as patch:
            patch.setattr("sys.stdout", file)
            assert main(list(map(str, arguments))) == 0
        return out.read_text()

    goal, end = ["--target", "y"], ["--json", "--quiet"]
    fit = json.loads(run("fit", rows, *goal, *FAST, "--out", model, "--report", page, *end))
    facts, html = str(folder / "facts.json"), str(folder / "report.html")
    run("report", model, rows, *goal, "--out", html, "--facts", facts, *end)
    embedded = re.search(r'id="facts">(.*?)</script>', Path(page).read_text(), re.DOTALL)
    assert embedded is not None
    return {
        "fit": fit,
        "evaluate": json.loads(run("evaluate", model, rows, *goal, "--json")),
        "score": lambda *more: json.loads(run("score", model, rows, "--json", *more)),
        "fit_page": json.loads(embedded[1]),
        "report_page": json.loads(Path(facts).read_text()),
        "model": auctor.load(model),
    }


def test_ks_is_one_number(open_page, table, told):
    X, y = table.drop(columns="y"), table.y
    folds = cross_val_auc(RankBoost(8), X, y, cv=2, random_state=0)
    displayed = KSDisplay.from_predictions(y, folds.scores, folds=folds.folds).ks
    measured = KSDisplay.from_predictions(y, told["model"].decision_function(X)).ks
    for page, wanted, python in (
        ("fit_page", told["fit"]["cross_validation"]["ks"], displayed),
        ("report_page", told["evaluate"]["ks"], measured),
    ):
        opened = open_page(told[page]).page
        tile = opened.locator(".tiles div", has_text="KS").locator("dd").inner_text()
        chart = opened.locator("#ks svg text", has_text="KS").text_content()
        assert python == pytest.approx(wanted, abs=1e-12), page
        assert tile.startswith(f"{wanted:.3f}") and chart == f"KS {wanted:.3f}", page


def test_a_threshold_flags_the_same_rows_everywhere(open_page, table, told):
    X, model, opened = table.drop(columns="y"), told["model"], open_page(told["report_page"])
    assert (
        opened.value("threshold")
        == model.threshold
        == told["evaluate"]["at_threshold"]["threshold"]
    )
    assert round(opened.value("flagged"), 9) == told["evaluate"]["at_threshold"]["flagged"]
    assert (
        round(opened.value("flagged"), 9)
        == model.predict(X).sum()
        == sum(told["score"]()["prediction"])
    )
    thresholds = told["report_page"]["roc"]["threshold"]
    scores = model.decision_function(X)
    assert all((scores == t).sum() > 1 for t in thresholds[1:4]), "no ties: nothing is tested"
    for k in (1, 3, len(thresholds) - 2):
        opened.page.evaluate(f"moveTo({k})")
        threshold = opened.value("threshold")
        flagged = round(opened.value("flagged"), 9)
        assert flagged == (scores >= threshold).sum()
        assert flagged == model.with_threshold(threshold).predict(X).sum()
        assert flagged == sum(told["score"](f"--threshold={threshold!r}")["prediction"])
    text = opened.page.inner_text("body")
    assert "at or above" in text and "score >" not in text
    assert f"score >= {model.threshold:g}" in str(model)


def test_importance_has_one_order(open_page, table, told):
    X, y, model = table.drop(columns="y"), table.y, told["model"]
    printed = [(one["feature"], one["importance"]) for one in told["fit"]["importances"]]
    page = [(row["name"], row["importance"]) for row in told["fit_page"]["features"]["rows"]]
    names = [name for name, _ in printed]
    assert printed == page[: len(printed)]
    kept = {column.name: column.importance for column in model.training.columns}
    assert printed == [(name, pytest.approx(kept[name], abs=1e-12)) for name in names]
    assert open_page(told["fit_page"]).page.locator("#cards h3").all_text_contents() == names
    assert [panel.name for panel in ScorePlotDisplay.from_model(model, X, y).panels] == names
    assert [curve.name for curve in ScoreROCDisplay.from_model(model, X, y).curves] == names


def test_importance_is_that_of_the_smooth_learner(table):
    X, y = table.drop(columns="y"), table.y
    ranker = SmoothAUCBoost().fit(X, y)
    positive, weight = y.to_numpy() == 1, np.ones(len(y))
    own = term_importances(ranker.model_, read_table(X), np.arange(3), positive, weight)
    assert own == pytest.approx(ranker.feature_importances_, abs=1e-9)
