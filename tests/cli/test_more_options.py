"""Folds in the order of time, a holdout table, monotone features, digits, Excel, missing peers."""

import shutil
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

import auctor
from auctor.cli import compare as compare_command
from auctor.metrics import auc_ci

from .conftest import FAST, Run, make_table
from .test_report import facts_of

FIT = ("--target", "y", "--drop", "id,w", *FAST)


@pytest.fixture
def timed(tmp_path: Path, run: Run) -> Path:
    """The table with a month, ten rows in each, in no order."""
    table = make_table()
    month = [f"2024-{1 + (7 * i) % 80 // 10:02d}" for i in range(80)]
    csv.write_csv(table.append_column("month", [month]), tmp_path / "timed.csv")
    return tmp_path / "timed.csv"


def test_time_gives_folds_of_the_past(run: Run, timed: Path) -> None:
    done = run("fit", timed, *FIT, "--time", "month", "--json")
    facts = done.json
    assert facts["cross_validation"]["in_time_order"] and facts["features"] == 4
    record = auctor.load("timed.model.json").training
    assert record is not None
    assert record.validations[0].description == "2 folds in the order of 'month'"
    assert 40 <= record.validations[0].counts.sum() <= 60


def test_time_is_said_and_works_with_report_and_compare(run: Run, timed: Path) -> None:
    done = run("fit", timed, *FIT, "--time", "month", "--report")
    assert "2 folds in the order of 'month': each is predicted by a model of the rows" in done.out
    page = Path("timed.report.html").read_text("utf-8")
    assert "The earliest rows are only trained on." in page
    # The importances are those of all training rows, as in the record, not of the tested ones.
    shown = facts_of(Path("timed.report.html"))["features"]["rows"]
    training = auctor.load("timed.model.json").training
    assert training is not None
    kept = {column.name: column.importance for column in training.columns}
    assert {row["name"]: row["importance"] for row in shown} == pytest.approx(kept)
    assert "of the same rows, each by a model of the rows before it (2 folds in the order" in page
    assert "each by a model fitted without it" not in page
    assert "variance multiplied by 1.00" not in done.out + page
    learners = ("--learner", "rankboost", "--learner", "logistic", "--cv", "2")
    done = run("compare", timed, "--target", "y", "--drop", "id,w", *learners, "--time", "month")
    assert done.code == 0 and "the same 2 folds in the order of 'month'" in done.out


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        ([f"{i % 12 + 1}/2024" for i in range(80)], "does not sort in the order of time"),
        ([f"2024-W{i % 20 + 1}" for i in range(80)], "the text '2024-W1', which does not sort"),
        ([None, *["2024-01"] * 79], "column 'month' has 1 missing value; every row needs a time"),
        (["2024-01"] * 80, "time has 1 different values, which are not divided"),
    ],
    ids=["text", "weeks", "missing", "one"],
)
def test_times_that_cannot_be_used(run: Run, tmp_path: Path, cells: list[str], words: str) -> None:
    csv.write_csv(make_table().append_column("month", pa.array([*cells])), tmp_path / "t.csv")
    done = run("fit", "t.csv", *FIT, "--time", "month")
    assert done.code == 1 and words in done.error


def test_holdout_is_measured_by_the_final_model(run: Run, train: Path, tmp_path: Path) -> None:
    other = make_table(60, seed=1)
    csv.write_csv(other, tmp_path / "other.csv")
    done = run("fit", train, *FIT, "--holdout", "other.csv", "--json")
    model = auctor.load("train.model.json")
    scores = model.decision_function(other.select(list(model.feature_names)))
    positive = np.array(other["y"].to_pylist()) == "yes"
    expected = auc_ci(positive, scores)
    facts = done.json["holdout"]
    assert (facts["auc"], facts["auc_low"]) == (expected.value, expected.low)
    assert model.training is not None
    held = model.training.validations[1]
    assert (held.kind, held.description, held.counts.sum()) == ("holdout", "other.csv", 60)
    assert held.metrics["auc"].value == expected.value
    text = run("fit", train, *FIT, "--holdout", "other.csv").out
    assert (
        f"RankBoost on other.csv (60 rows, 30 of them positive): AUC {expected.value:.3f}" in text
    )


@pytest.mark.parametrize(
    ("held", "words"),
    [
        (make_table(30).drop_columns(["x"]), "other.csv has no column 'x'"),
        (make_table(30).set_column(6, "y", [["no", "maybe"] * 15]), "labels that the model does"),
    ],
    ids=["column", "label"],
)
def test_a_holdout_that_does_not_fit(
    run: Run, train: Path, tmp_path: Path, held: pa.Table, words: str
) -> None:
    csv.write_csv(held, tmp_path / "other.csv")
    done = run("fit", train, *FIT, "--holdout", "other.csv")
    assert done.code == 1 and words in done.error
    assert "cross-validating" not in done.log


def test_monotone_features(run: Run, train: Path) -> None:
    command = ("fit", train, "--target", "y", "--drop", "id,w", "--cv", "0", "--no-baseline")
    learner = ("--learner", "smooth-aucboost")
    done = run(*command, *learner, "--monotone", "x=-,z=+", "--json")
    assert done.json["params"]["monotonic_cst"] == {"x": -1, "z": 1}
    model = auctor.load("train.model.json")
    falling = model.steps[model.feature_names.index("x")][1:]  # type: ignore[attr-defined]
    assert (np.diff(falling) <= 0).all()
    assert "'xx' is not a feature column" in run(*command, *learner, "--monotone", "xx=+").error
    assert "give x=+ (rising) or x=- (" in run(*command, *learner, "--monotone", "x=up").error
    wrong = run(*command, *learner, "--monotone", "city=+").error
    assert wrong.startswith("--monotone 'city' holds categories, which have no order")
    coded = ("--categorical", "z", "--monotone", "z=+")
    assert "--monotone 'z' holds categories" in run(*command, *learner, *coded, "--quiet").error
    assert "rankboost has no --monotone" in run(*command, *FAST, "--monotone", "x=+").error


def test_lists_of_columns(run: Run, tmp_path: Path, train: Path, model: Path) -> None:
    assert run("fit", train, *FIT, "--json").json["features"] == 4
    table = make_table().rename_columns(["id", "x", "z", "flag", "city", "a,b", "y"])
    csv.write_csv(table, tmp_path / "comma.csv")
    done = run("fit", "comma.csv", "--target", "y", "--drop", "id,x", "--drop", "a,b", *FAST,
               "--json")  # fmt: skip
    assert done.json["features"] == 3
    assert run("score", model, train, "--keep", "id,w").out.startswith("id,w,score,")
    assert "has no column 'nothing'" in run("fit", train, *FIT, "--drop", "z,nothing").error


def test_digits(run: Run, train: Path, model: Path) -> None:
    def first(*options: object) -> str:
        return run("score", model, train, *options).out.splitlines()[1].split(",")[0]

    exact = auctor.load(model).decision_function(make_table())[0]
    assert float(first("--digits", 17)) == exact
    assert first() == f"{exact:.6g}" and first("--digits", 3) == f"{exact:.3g}"
    assert run("score", model, train, "--json").json["score"][0] == exact


class TestExcel:
    @pytest.fixture
    def book(self, tmp_path: Path) -> Path:
        from openpyxl import Workbook

        table = make_table(40, seed=1)
        workbook = Workbook()
        workbook.active.append(table.column_names)
        for row in table.to_pylist():
            workbook.active.append(list(row.values()))
        workbook.save(tmp_path / "book.xlsx")
        csv.write_csv(table, tmp_path / "book.csv")
        return tmp_path / "book.xlsx"

    def test_it_is_read_like_csv(self, run: Run, model: Path, book: Path) -> None:
        scores = [run("score", model, name, "--keep", "id").out for name in (book, "book.csv")]
        assert scores[0] == scores[1] and scores[0].startswith("id,score,")
        done = run("fit", book, *FIT, "--json")
        assert done.json["rows"] == 40 and done.json["categorical"] == 1
        assert Path("book.model.json").exists()

    def test_what_cannot_be_read_or_written(self, run: Run, model: Path, tmp_path: Path) -> None:
        (tmp_path / "bad.xlsx").write_text("no zip")
        assert "cannot be read as an Excel file" in run("score", model, "bad.xlsx").error
        (tmp_path / "t.csv").write_text("x\n1\n")
        assert (
            "can only be read; give .csv" in run("score", model, "t.csv", "--out", "o.xlsx").error
        )

    def test_without_openpyxl(
        self, run: Run, model: Path, book: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
        assert "install it with pip install 'auctor[excel]'" in run("score", model, book).error


def test_compare_names_missing_peers(
    run: Run, train: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compare_command, "installed_peers", lambda: ["logistic"])
    monkeypatch.setattr(compare_command, "DEFAULT_LEARNER", "rankboost")
    monkeypatch.setattr(compare_command, "default_learner", lambda metric: "rankboost")
    command = ("compare", train, "--target", "y", "--drop", "id,w", "--cv", "2")
    text = run(*command).out
    assert (
        "not compared, because not installed: hist-gradient-boosting, lightgbm, xgboost, ebm "
        "(pip install scikit-learn lightgbm xgboost interpret-core)" in text
    )
    facts = run(*command, "--json").json
    assert {"name": "ebm", "install": "pip install interpret-core"} in facts["missing_peers"]


def test_the_model_file_has_no_names_of_folders(run: Run, train: Path) -> None:
    Path("private").mkdir()
    shutil.copy(train, "private/people.csv")
    done = run("fit", "private/people.csv", "--target", "y", "--learner", "rankboost", "--cv", 0)
    assert done.code == 0, done.err
    text = Path("people.model.json").read_text()
    assert '"people.csv"' in text and "private" not in text
