"""`auctor monitor`: text, JSON, page, exit codes, and clear errors."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import auctor
from auctor.models import to_json

from .conftest import Run, make_table


@pytest.fixture
def new(tmp_path: Path) -> Path:
    """Rows of the same population, with a date."""
    table = make_table(200, seed=5)
    dates = [f"2024-0{1 + k % 2}-15" for k in range(200)]
    csv.write_csv(table.append_column("date", pa.array(dates)), tmp_path / "new.csv")
    return tmp_path / "new.csv"


@pytest.fixture
def changed(tmp_path: Path) -> Path:
    """Rows with a city that the model does not know, and without any x."""
    table = make_table(200, seed=6)
    table = table.set_column(4, "city", pa.array(["Mars"] * 200))
    table = table.set_column(1, "x", pa.nulls(200, pa.float64()))
    csv.write_csv(table, tmp_path / "changed.csv")
    return tmp_path / "changed.csv"


def test_text_of_unchanged_rows(run: Run, model: Path, new: Path) -> None:
    done = run("monitor", model, new, "--target", "y", "--time", "date")
    assert done.code == 0 and done.err == ""
    assert "200 new rows beside 80 training rows: 0 of 4 features moved" in done.out
    assert "difference" in done.out and "calibration: " in done.out
    assert "2024-01" in done.out and "2024-02" in done.out


def test_json_and_the_page_have_the_same_numbers(run: Run, model: Path, new: Path) -> None:
    done = run("monitor", model, new, "--target", "y", "--json", "--report", "p.html")
    facts, page = done.json, Path("p.html").read_text()
    assert facts["rows"] == 200 and len(facts["features"]) == 4 and facts["failed"] == []
    assert f'<data value="{facts["score"]["psi"]!r}">' in page
    assert f'<data value="{facts["quality"]["auc"]["now"]["value"]!r}">' in page
    run("monitor", model, new, "--report")
    assert Path("new.monitor.html").is_file()


def test_a_broken_limit_has_its_own_exit_code(run: Run, model: Path, changed: Path) -> None:
    limits = "psi=0.25,missing=0.1,new=0.5,auc=-0.03"
    done = run("monitor", model, changed, "--target", "y", "--fail-on", limits)
    assert done.code == 3
    assert "auctor: failed: 'x' has moved" in done.err
    assert "more missing values than in training" in done.err
    assert "'city': 100.0% of the rows" in done.err and "AUC has changed by -" in done.err
    same = run("monitor", model, changed, "--fail-on", "psi=99")
    assert (same.code, same.err) == (0, "")
    facts = run("monitor", model, changed, "--fail-on", "p=0.01", "--json").json
    assert facts["fail_on"] == ["p=0.01"] and len(facts["failed"]) >= 2


def test_small_noise_breaks_no_limit(run: Run, model: Path, new: Path) -> None:
    done = run("monitor", model, new, "--fail-on", "psi=0.0001,p=0.001")
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ("psy=1", "did you mean 'psi'"),
        ("psi", "has no number"),
        ("psi=-1", "is negative"),
        ("auc=0.03", "give a number below 0"),
        ("auc=-0.03", "needs labels; give --target"),
    ],
)
def test_wrong_limits(run: Run, model: Path, new: Path, limits: str, words: str) -> None:
    target = () if words.endswith("--target") else ("--target", "y")
    done = run("monitor", model, new, *target, "--fail-on", limits)
    assert done.code == 2 and words in done.error


def test_what_is_wrong_with_a_table_is_said(run: Run, model: Path, new: Path) -> None:
    def fails(table: pa.Table, *more: str) -> str:
        csv.write_csv(table, "bad.csv")
        done = run("monitor", model, "bad.csv", *more)
        assert done.code == 1
        return done.error

    table = make_table(40, seed=5)
    assert "has no column 'x'" in fails(table.drop_columns(["x"]))
    assert "has no column 'when'" in fails(table, "--time", "when")
    assert "no rows" in fails(table.slice(0, 0))
    text = table.set_column(1, "x", pa.array(["1.5"] * 39 + ["oops"]))
    assert "'oops'" in fails(text)
    blank = table.set_column(6, "y", pa.nulls(40, pa.string()))
    assert "column 'y' has no label" in fails(blank, "--target", "y")
    other = table.set_column(6, "y", pa.array(["maybe"] * 40))
    assert "labels that the model does not know" in fails(other, "--target", "y")
    assert "does not sort in the order of time" in fails(table, "--time", "y")
    assert run("monitor", model, new, "--period", "month").code == 2
    assert run("monitor", model, new, "--target", "y", "--weight", "y").code == 2


def test_one_row_and_one_class(run: Run, model: Path) -> None:
    table = make_table(40, seed=5)
    csv.write_csv(table.slice(0, 1), "one.csv")
    done = run("monitor", model, "one.csv")
    assert done.code == 0 and "too few rows to say for" in done.out
    done = run("monitor", model, "one.csv", "--fail-on", "score=0.1,missing=0.5")
    assert (done.code, done.err.count("was not checked")) == (0, 1)
    assert "--fail-on score=0.1 was not checked for the score: too few rows" in done.err
    csv.write_csv(table.set_column(6, "y", pa.array(["yes"] * 40)), "yes.csv")
    done = run("monitor", model, "yes.csv", "--target", "y", "--fail-on", "auc=-0.1")
    assert done.code == 0 and "too few labelled rows" in done.out
    assert "--fail-on auc=-0.1 was not checked" in done.err


def test_a_model_without_a_record(run: Run, model: Path, new: Path) -> None:
    Path("bare.json").write_text(to_json(replace(auctor.load(model), training=None)))
    assert "bare.json has no record of its training rows" in run("monitor", "bare.json", new).error


def test_limits_of_features_that_the_record_does_not_describe(
    run: Run, model: Path, new: Path
) -> None:
    """The record of a table with thousands of columns has those of the score alone."""
    full = auctor.load(model)
    assert full.training is not None
    bare = replace(full, training=replace(full.training, columns=()))
    Path("bare.json").write_text(to_json(bare))
    limits = "psi=0.2,missing=0.1,new=0.1,p=0.001,score=0.2"
    done = run("monitor", "bare.json", new, "--fail-on", limits)
    assert done.code == 0
    assert done.err.count("was not checked for the features: the model file does not") == 4


def test_the_training_table_is_recognised(run: Run, model: Path, train: Path) -> None:
    assert "this is the table that the model was fitted to" in run("monitor", model, train).err
