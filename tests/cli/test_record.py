"""The training record in a model file: `auctor show`, and warnings about rows unlike those."""

import hashlib
import re
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import auctor
from auctor.models import to_json

from .conftest import FAST, Run, files, make_table


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """Rows with a city that the model does not know, and without any x."""
    table = make_table(30, seed=1)
    table = table.set_column(4, "city", pa.array(["Mars"] * 30))
    csv.write_csv(table.set_column(1, "x", pa.nulls(30, pa.float64())), tmp_path / "changed.csv")
    return tmp_path / "changed.csv"


@pytest.fixture
def bare(model: Path) -> Path:
    """The model without its record."""
    path = Path("bare.model.json")
    path.write_text(to_json(replace(auctor.load(model), training=None)))
    return path


def test_fit_records_the_table_and_the_folds(train: Path, model: Path, table: pa.Table) -> None:
    record = auctor.load(model).training
    assert record is not None
    origin = record.origin
    assert origin.sha256 == hashlib.sha256(train.read_bytes()).hexdigest()
    assert (origin.learner, origin.metric, origin.target) == ("RankBoost", "auc", "y")
    assert origin.parameters["n_estimators"] == 10
    assert origin.version == auctor.__version__
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", str(origin.date))
    assert record.n_rows == 80
    (folds,) = record.validations
    assert (folds.kind, folds.description, folds.counts.sum()) == (
        "cross-validation",
        "2 folds",
        80,
    )
    assert folds.metrics["auc"].low < folds.metrics["auc"].value < folds.metrics["auc"].high
    importances = [column.importance for column in record.columns]
    assert sum(value or 0 for value in importances) == pytest.approx(1)


def test_show_prints_the_record(run: Run, model: Path) -> None:
    done = run("show", model)
    assert (done.code, done.err) == (0, "")
    assert "learner: RankBoost" in done.out and "cross-validation (2 folds): AUC 0." in done.out
    assert re.search(r"^city +\d+\.\d% +\d+\.\d% +3 categories: ", done.out, re.MULTILINE)
    assert "bands of a tenth of the training rows by score, rates of cross-validation:" in done.out


def test_show_says_what_was_read_and_how_rows_count(run: Run, train: Path) -> None:
    command = ("fit", train, "--target", "y", "--drop", "id", "--weight", "w", *FAST)
    run(*command, "--missing", "-9", "--missing", "x=-8")
    shown = run("show", "train.model.json").out
    assert "values read as missing: -9, -8 in 'x'; -9 in " in shown
    assert "rates of cross-validation, each row counting once:" in shown
    facts = run("show", "train.model.json", "--json").json
    assert facts["missing_codes"]["x"] == [-9, -8]


def test_show_explains_the_importance_of_pairs(run: Run, train: Path) -> None:
    smooth = ("--learner", "smooth-aucboost", "--cv", "0")
    for n_pairs, is_said in ((0, False), (1, True)):
        settings = (*smooth, "--param", f"interactions={n_pairs}")
        run("fit", train, "--target", "y", "--drop", "id,w", *settings)
        assert ("importance of a pair" in run("show", "train.model.json").out) == is_said


def test_show_as_json(run: Run, model: Path) -> None:
    facts = run("show", model, "--json").json
    record = auctor.load(model).training
    assert record is not None and facts["training"] == record.body()
    assert facts["classes"] == ["no", "yes"] and len(facts["features"]) == 4


def test_show_without_a_record(run: Run, bare: Path) -> None:
    done = run("show", bare)
    assert done.code == 0 and "There is no record of the training rows" in done.out
    assert run("show", bare, "--json").json["training"] is None


@pytest.mark.parametrize("command", ["score", "evaluate", "report"])
def test_rows_unlike_the_training_rows(run: Run, model: Path, changed: Path, command: str) -> None:
    more = [] if command == "score" else ["--target", "y"]
    done = run(command, model, changed, *more)
    assert done.code == 0
    assert done.err.count("auctor: warning: ") == 2
    assert re.search(r"'x' \(\d+\.\d% of the importance\) is missing in all 30 rows", done.err)
    assert re.search(r"'city'.*30 of 30 rows have a category that the model does not", done.err)


@pytest.mark.parametrize("command", ["score", "evaluate", "report"])
def test_strict_makes_it_an_error(run: Run, model: Path, changed: Path, command: str) -> None:
    more = ["--out", "s.csv"] if command == "score" else ["--target", "y"]
    before = files(Path())
    done = run(command, model, changed, *more, "--strict")
    assert done.code == 1
    assert done.error.startswith("--strict: the rows differ from the training rows: column 'x' (")
    assert files(Path()) == before


def test_strict_passes_rows_of_the_same_kind(run: Run, model: Path, tmp_path: Path) -> None:
    csv.write_csv(make_table(60, seed=3), tmp_path / "same.csv")
    done = run("score", model, tmp_path / "same.csv", "--strict")
    assert (done.code, done.err) == (0, "")


def test_strict_needs_a_record(run: Run, bare: Path, train: Path) -> None:
    assert "bare.model.json has no record" in run("score", bare, train, "--strict").error
    assert run("score", bare, train).code == 0


def test_the_training_table_is_recognised_by_its_hash(run: Run, model: Path, train: Path) -> None:
    done = run("evaluate", model, train, "--target", "y")
    assert "this is the table that the model was fitted to" in done.err


def test_many_columns_are_not_all_printed(run: Run, tmp_path: Path) -> None:
    table = make_table()
    names = [f"c{k}" for k in range(15)]
    wide = pa.table(dict.fromkeys(names, table["z"]) | {"y": table["y"]})
    csv.write_csv(wide, tmp_path / "wide.csv")
    csv.write_csv(
        pa.table({name: pa.nulls(5, pa.int64()) for name in names}), tmp_path / "empty.csv"
    )
    fit = ("--learner", "rankboost", "--param", "n_estimators=3", "--cv", "0")
    assert run("fit", tmp_path / "wide.csv", "--target", "y", *fit).code == 0
    done = run("score", "wide.model.json", tmp_path / "empty.csv")
    assert done.err.count("\n") == 11
    assert done.err.splitlines()[-1].startswith("auctor: warning: and so on: 5 more columns of low")


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("1,5", "30 of 30 cells of new.csv have commas, such as '1,5'"),
        ("oops", "is read as text because of 1 of 30 cells: 'oops' in row 1 (line 2 of the file)"),
    ],
)
def test_text_where_the_model_has_numbers(
    run: Run, model: Path, tmp_path: Path, cell: str, words: str
) -> None:
    cells = [cell] * 30 if "," in cell else [cell, *map(str, range(29))]
    table = make_table(30, seed=1).set_column(2, "z", pa.array(cells))
    csv.write_csv(table, tmp_path / "new.csv")
    error = run("score", model, "new.csv").error
    assert error.startswith("column 'z' holds numbers in the model") and words in error


def test_a_hostile_record_does_not_control_the_terminal(run: Run, model: Path) -> None:
    known = auctor.load(model)
    assert known.training is not None
    origin = replace(known.training.origin, table="t\x1b[31m\nlearner: trusted", learner="x" * 9999)
    record = replace(known.training, origin=origin)
    Path("h.json").write_text(to_json(replace(known, training=record)))
    done = run("show", "h.json")
    assert "table: t\ufffd[31m learner: trusted\n" in done.out and "\x1b" not in done.out
    assert max(map(len, done.out.splitlines())) < 1_100
