"""`auctor export --to scorecard`, and `auctor score` with a saved card."""

import csv
import io
from pathlib import Path

import numpy as np
import openpyxl
import pytest
from pyarrow.csv import write_csv

import auctor
from auctor.metrics import auc

CARD = ("--to", "scorecard", "--max-bins", "3")


@pytest.fixture
def card(run, model):
    assert run("export", model, *CARD, "--out", "card.json").code == 0
    return auctor.load_scorecard("card.json")


def test_the_formats_hold_the_same_card(run, model, card):
    for name in ("card.html", "card.csv", "card.xlsx"):
        assert run("export", model, *CARD, "--title", "A <form>", "--out", name).code == 0
    assert Path("card.csv").read_text(encoding="utf-8") == card.to_csv()
    assert Path("card.html").read_text(encoding="utf-8") == card.to_html(title="A <form>")
    sheet = openpyxl.load_workbook("card.xlsx")["Points"]
    assert [cell.value for cell in sheet["A"]][1:] == card.to_dict()["term"]


def test_the_scale_and_the_options_count(run, model, table):
    options = ("--pdo", 40, "--odds", 2, "--base-score", 100, "--direction", "higher_risk")
    more = ("--digits", 1, "--zero", "average", "--out", "c.json")
    assert run("export", model, "--to", "scorecard", *options, *more).code == 0
    made = auctor.load_scorecard("c.json")
    fitted = auctor.load(model)
    exact = fitted.to_scorecard(
        pdo=40, odds=2, base_score=100, direction="higher_risk", digits=1, zero="average"
    )
    assert made.to_json() == exact.to_json()
    assert np.argmax(made.score(table)) == np.argmax(fitted.decision_function(table))


def test_rows_state_the_cost(run, model, train, table):
    rows = ("--rows", train, "--target", "y", "--weight", "w", "--cuts", "short")
    done = run("export", model, *CARD, *rows, "--out", "c.json", "--json")
    made = auctor.load_scorecard("c.json")
    weight = table["w"].to_numpy()
    expected = auc(table["y"].to_pylist(), -made.score(table), sample_weight=weight)
    assert done.json["auc_card"] == expected == made.quality.auc_card
    words = run("export", model, *CARD, *rows, "--out", "c.html").out
    assert f"AUC {expected:.4f} of the card" in words and "written to c.html" in words
    assert "both AUCs are too optimistic" in words and done.json["rows_of_training"]
    write_csv(table.slice(0, table.num_rows - 1), "other.csv")
    other = run("export", model, *CARD, "--rows", "other.csv", "--target", "y", "--out", "c.html")
    assert "AUC" in other.out and "optimistic" not in other.out
    unlabelled = run("export", model, *CARD, "--rows", train, "--out", "c.html")
    assert "Give --rows TABLE and --target COL" in unlabelled.out


def test_score_with_a_saved_card(run, train, table, card):
    done = run("score", "card.json", train, "--keep", "id", "--reasons", 2)
    rows = list(csv.DictReader(io.StringIO(done.out)))
    assert [int(row["points"]) for row in rows] == card.score(table).tolist()
    probability = [float(row["probability"]) for row in rows]
    assert probability == pytest.approx(card.probability(card.score(table)), rel=1e-5)
    reasons = card.reasons(table, 2)
    assert [row["reason_1"] for row in rows] == reasons[0] and rows[3]["id"] == "0003"
    facts = run("score", "card.json", train, "--json").json
    assert facts["points"] == card.score(table).tolist() and facts["positive"] == "yes"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("export", "m.json", "--to", "scorecard", "--out", "c.pdf"), "give a file that ends in"),
        (("export", "m.json", "--to", "scorecard", "--out", "-"), "give a file that ends in"),
        (("export", "m.json", "--to", "scorecard", "--target", "y"), "columns of --rows TABLE"),
        (("export", "m.json", "--to", "scorecard", "--rows", "train.csv", "--weight", "w"),
         "--weight needs --target"),
        (("export", "m.json", "--to", "scorecard", "--cuts", "short"), "which needs rows"),
        (("export", "m.json", "--to", "scorecard", "--pdo", "0"), "pdo is 0.0; give"),
        (("export", "m.json", "--to", "sql", "--max-bins", "3"), "--max-bins is an option of --to"),
        (("export", "m.json", "--to", "scorecard", "--dialect", "duckdb"), "of --to sql, not of"),
        (("export", "card.json", "--to", "scorecard"), "is a scorecard and not a model"),
        (("score", "card.json", "train.csv", "--threshold", "1"), "--threshold works with a model"),
        (("score", "card.json", "train.csv", "--strict"), "--strict works with a model"),
        (("score", "card.json", "train.csv", "--keep", "points"), "no column 'points'"),
    ],
)  # fmt: skip
def test_wrong_usage(run, model, card, options, message):
    done = run(*(model if word == "m.json" else word for word in options))
    assert done.code in (1, 2) and message in done.error


def test_long_cuts_are_explained(run):
    rows = "x,y\n" + "".join(f"{x},{label}\n" for x, label in [(0.1, 0), (0.2, 1)] * 20)
    Path("t.csv").write_text(rows, encoding="utf-8")
    fit = ("fit", "t.csv", "--target", "y", "--learner", "rankboost", "--cv", "0")
    assert run(*fit, "--out", "m.json").code == 0
    export = ("export", "m.json", "--to", "scorecard", "--out", "c.csv")
    assert "--cuts short moves them" in run(*export).out
    assert "<= 0.15000000000000002" in Path("c.csv").read_text(encoding="utf-8")
    assert "--cuts" not in run(*export, "--rows", "t.csv", "--cuts", "short").out
    assert "< 0.2," in Path("c.csv").read_text(encoding="utf-8")
