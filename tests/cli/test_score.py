"""`auctor score`: the model's own numbers, with the columns that one keeps."""

import csv
import io
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.parquet as pq
import pytest

import auctor

from .conftest import NO_CV, Run, files, make_table


@pytest.fixture
def fresh() -> pa.Table:
    return make_table(30, seed=1)


@pytest.fixture
def new(tmp_path: Path, fresh: pa.Table) -> Path:
    path = tmp_path / "new.csv"
    arrow_csv.write_csv(fresh, path)
    return path


def expected(model: Path, table: pa.Table) -> dict[str, list[object]]:
    loaded = auctor.load(model)
    X = table.select(list(loaded.feature_names))
    return {
        "score": loaded.decision_function(X).tolist(),
        "probability": loaded.predict_proba(X)[:, 1].tolist(),
        "prediction": loaded.predict(X).tolist(),
    }


def test_scores_are_those_of_the_model(run: Run, model: Path, new: Path, fresh: pa.Table) -> None:
    done = run("score", model, new, "--digits", 17)
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("score,probability,prediction\n")
    rows = list(csv.DictReader(io.StringIO(done.out)))
    result = {
        "score": [float(row["score"]) for row in rows],
        "probability": [float(row["probability"]) for row in rows],
        "prediction": [row["prediction"] for row in rows],
    }
    assert result == expected(model, fresh)
    assert len(set(result["prediction"])) == 2


def test_prediction_is_positive_from_the_threshold_on(run: Run, train: Path, new: Path) -> None:
    command = ("fit", train, "--target", "y", "--drop", "id", "--drop", "w", *NO_CV)
    assert run(*command).code == 0
    scores = run("score", "train.model.json", new, "--json").json["score"]
    cut = sorted(scores)[15]
    assert run(*command, "--param", f"threshold={cut!r}").code == 0
    facts = run("score", "train.model.json", new, "--json").json
    assert facts["threshold"] == cut
    assert facts["prediction"] == ["yes" if score >= cut else "no" for score in scores]


def test_json_is_one_object(run: Run, model: Path, new: Path, fresh: pa.Table) -> None:
    facts = run("score", model, new, "--json", "--keep", "id").json
    assert {key: facts[key] for key in ("score", "probability", "prediction")} == expected(
        model, fresh
    )
    assert facts["keep"] == {"id": fresh["id"].to_pylist()}
    assert (facts["rows"], facts["positive"], facts["threshold"]) == (30, "yes", 0.0)


def test_kept_columns_stand_in_front_as_they_were(run: Run, model: Path, new: Path) -> None:
    out = run("score", model, new, "--keep", "id", "--keep", "city", "--keep", "id").out
    lines = list(csv.reader(io.StringIO(out)))
    assert lines[0] == ["id", "city", "score", "probability", "prediction"]
    assert lines[1][0] == "0000"  # no number was made of it
    with new.open(newline="") as file:
        assert [line[1] for line in lines[1:]] == [row["city"] for row in csv.DictReader(file)]


@pytest.mark.parametrize("name", ["s.csv", "s.csv.gz", "s.parquet"])
def test_out_file(run: Run, model: Path, new: Path, fresh: pa.Table, name: str) -> None:
    before = files(Path())
    done = run("score", model, new, "--out", name, "--keep", "x", "--digits", 17)
    assert (done.code, done.out) == (0, f"30 scores written to {name}\n")
    table = pq.read_table(name) if name.endswith("parquet") else arrow_csv.read_csv(name)
    assert table.column_names == ["x", "score", "probability", "prediction"]
    assert table.drop_columns(["x"]).to_pydict() == expected(model, fresh)
    assert files(Path()) == before | {name}
    assert run("score", model, new, "--out", name, "--json").json["out"] == name


def test_parquet_in(run: Run, model: Path, new: Path, fresh: pa.Table) -> None:
    day = pa.array(np.datetime64("2024-01-01") + np.arange(30))
    pq.write_table(fresh.append_column("day", day), "new.parquet")
    assert run("score", model, "new.parquet").out == run("score", model, new).out
    assert "\n2024-01-02," in run("score", model, "new.parquet", "--keep", "day").out


def test_stdin(run: Run, model: Path, new: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from_file = run("score", model, new, "--keep", "id").out
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(new.read_bytes())))
    assert run("score", model, "-", "--keep", "id").out == from_file


def test_text_category_stays_text(run: Run, table: pa.Table) -> None:
    """A column of "1" and "A" is text; in a new file that has only "1" it still is."""
    codes = ["01" if city == "Oslo" else "A" for city in table["city"].to_pylist()]
    arrow_csv.write_csv(table.select(["x", "y"]).append_column("code", [codes]), "t.csv")
    assert run("fit", "t.csv", "--target", "y", *NO_CV).code == 0
    Path("one.csv").write_text("x,code\n0.5,01\n0.5,02\n")
    scores = run("score", "t.model.json", "one.csv", "--json").json["score"]
    X = pa.table({"x": [0.5, 0.5], "code": ["01", "02"]})
    assert scores == auctor.load("t.model.json").decision_function(X).tolist()
    assert scores[0] != scores[1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--keep", "idd"], "no column 'idd'; did you mean 'id'?"),
        (["--out", "s.xlsx"], "is an Excel file, which can only be read; give .csv"),
        (["--out", "no/s.csv"], "there is no folder no"),
        (["--out", "new.csv"], "the command reads this file"),
        (["--out", "train.model.json"], "unknown file extension; give .csv"),
        (["--delimiter", ";"], "lacks 4 columns that the model needs: 'x', 'z', 'flag', 'city'"),
    ],
)
def test_errors(run: Run, model: Path, new: Path, arguments: list[str], words: str) -> None:
    before = files(Path())
    done = run("score", model, new, *arguments)
    assert done.code == 1
    assert words in done.error
    assert files(Path()) == before


def test_missing_feature_is_named(run: Run, model: Path, fresh: pa.Table) -> None:
    arrow_csv.write_csv(fresh.rename_columns(["id", "x", "Z", "flag", "city", "w", "y"]), "n.csv")
    assert "n.csv has no column 'z'; did you mean 'Z'?" in run("score", model, "n.csv").error


def test_keep_must_not_clash(run: Run, model: Path, fresh: pa.Table) -> None:
    arrow_csv.write_csv(fresh.append_column("score", fresh["w"]), "n.csv")
    assert "--keep 'score'" in run("score", model, "n.csv", "--keep", "score").error


def test_text_where_numbers_were(run: Run, model: Path, new: Path) -> None:
    Path("bad.csv").write_text("x,z,flag,city\nlots,1,true,Rome\n")
    done = run("score", model, "bad.csv")
    assert done.code == 1 and "column 'x' holds text" in done.error


def test_damaged_and_wrong_models(run: Run, model: Path, new: Path) -> None:
    Path("half.json").write_text(model.read_text()[:200])
    assert "half.json: model file: it is not valid JSON" in run("score", "half.json", new).error
    assert "new.csv: model file" in run("score", new, model).error
    assert run("score", "none.json", new).error == "none.json: No such file or directory"


@pytest.mark.parametrize(
    "learner",
    [
        ("--learner", "margin-ranker", "--param", "epsilon=0.9"),
        ("--learner", "dmks", "--metric", "ks"),
    ],
)
@pytest.mark.parametrize("kind", ["codes", "dates"])
def test_linear_models_read_text_as_text(run: Run, learner: tuple[str, ...], kind: str) -> None:
    """Numbers and dates among the categories: a table that has no other cells is read likewise."""
    rng = np.random.default_rng(0)
    words = {"codes": ["1", "2", "A"], "dates": ["2020-01-01", "2021-05-06", "none"]}[kind]
    text, x = rng.choice(words, size=60), rng.normal(size=60)
    y = (x + (text == words[0]) + rng.normal(size=60) > 0.5).astype(int)
    table = pa.table({"text": text.tolist(), "x": x, "y": y})
    arrow_csv.write_csv(table, "all.csv")
    plain = np.flatnonzero(text != words[2])
    arrow_csv.write_csv(table.take(plain), "plain.csv")
    fit = ("fit", "all.csv", "--target", "y", "--cv", "2", "--quiet")
    done = run(*fit, *learner, "--out", "m.json")
    assert done.code == 0, done.err
    scores = run("score", "m.json", "all.csv", "--json").json["score"]
    done = run("score", "m.json", "plain.csv", "--json")
    assert done.code == 0, done.err
    assert done.json["score"] == [scores[i] for i in plain]
    assert run("evaluate", "m.json", "plain.csv", "--target", "y").code == 0
    page = ("report", "m.json", "plain.csv", "--target", "y", "--out", "p.html", "--quiet")
    assert run(*page).code == 0


class TestReasons:
    def test_are_those_of_the_model(
        self, run: Run, model: Path, new: Path, fresh: pa.Table
    ) -> None:
        done = run("score", model, new, "--keep", "id", "--reasons", 2)
        assert (done.code, done.err) == (0, "")
        rows = list(csv.DictReader(io.StringIO(done.out)))
        assert list(rows[0]) == ["id", "score", "probability", "prediction", "reason_1", "reason_2"]
        loaded = auctor.load(model)
        explanation = loaded.explain(fresh.select(list(loaded.feature_names)))
        for row, one in zip(rows, explanation, strict=True):
            for k in range(2):
                part = f"({one.contributions[k]:+.3g})" if one.contributions[k] else ""
                assert row[f"reason_{k + 1}"].endswith(part)
                assert row[f"reason_{k + 1}"].startswith(f"{one.names[k]}=" if part else "")

    def test_blocks_of_rows_do_not_show(
        self, run: Run, model: Path, new: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        whole = run("score", model, new, "--reasons", 9, "--json").json
        monkeypatch.setattr("auctor.cli.score_columns.MOST_CELLS", 30)
        assert run("score", model, new, "--reasons", 9, "--json").json == whole
        assert set(whole["reason_9"]) == {""}  # of four features

    def test_of_one_direction(self, run: Run, model: Path, new: Path) -> None:
        done = run("score", model, new, "--reasons", 1, "--direction", "up", "--json")
        reasons = [reason for reason in done.json["reason_1"] if reason]
        assert reasons and all(" (+" in reason for reason in reasons)

    def test_mistakes(self, run: Run, model: Path, new: Path, train: Path) -> None:
        assert "--direction needs --reasons" in run("score", model, new, "--direction", "up").error
        assert run("score", model, new, "--reasons", 0).code == 2
        fit = ("fit", train, "--target", "y", "--drop", "id", "--drop", "w", "--cv", "2")
        assert run(*fit, "--learner", "treerank", "--out", "tree.json").code == 0
        assert (
            "is a tree model; only additive" in run("score", "tree.json", new, "--reasons", 2).error
        )
        table = arrow_csv.read_csv(new)
        arrow_csv.write_csv(table.append_column("reason_1", table["id"]), "clash.csv")
        clash = ("score", model, "clash.csv", "--keep", "reason_1")
        assert "--keep 'reason_1' has the name" in run(*clash, "--reasons", 1).error
        assert run(*clash).code == 0


FORMULAS = [
    "=1+1",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "@SUM(A1)",
    "\tx",
    "＝1",
    "-5.2",
    "+3e5",
    "",
    "a=b",
]
SAFE = [f"'{text}" for text in FORMULAS[:6]] + FORMULAS[6:]


@pytest.fixture
def formulas(table: pa.Table, train: Path) -> Path:
    path = train.with_name("formulas.csv")
    cells = FORMULAS * (table.num_rows // len(FORMULAS))
    arrow_csv.write_csv(table.append_column("=note", pa.array(cells)), path)
    return path


def kept_cells(text: str) -> list[str]:
    return [row[0] for row in csv.reader(text.splitlines())][: len(FORMULAS) + 1]


def test_texts_that_a_spreadsheet_would_run(run: Run, model: Path, formulas: Path) -> None:
    command = ("score", model, formulas, "--keep", "=note")
    assert kept_cells(run(*command).out) == ["=note", *FORMULAS]  # unless it is asked for
    safe = run(*command, "--spreadsheet-safe")
    assert kept_cells(safe.out) == ["'=note", *SAFE]
    assert run(*command, "--spreadsheet-safe", "--out", "safe.csv").code == 0
    assert Path("safe.csv").read_text(encoding="utf-8") == safe.out
    # Scores are numbers, also those below zero.
    scores = [float(row[1]) for row in list(csv.reader(safe.out.splitlines()))[1:]]
    assert min(scores) < 0 < max(scores)


@pytest.mark.parametrize("more", [("--json",), ("--out", "scores.parquet")])
def test_only_csv_needs_it(run: Run, model: Path, train: Path, more: tuple[str, ...]) -> None:
    done = run("score", model, train, "--spreadsheet-safe", *more)
    assert done.code == 2 and "--spreadsheet-safe works for CSV only" in done.error
