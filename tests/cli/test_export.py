"""`auctor export`: the files are those of Python, and what they compute is what `score` prints."""

import sys
from pathlib import Path

import pytest

import auctor

from .conftest import Run


@pytest.mark.parametrize("to", ["sql", "python", "js"])
def test_the_file_is_that_of_the_method(run: Run, model: Path, to: str) -> None:
    loaded = auctor.load(model)
    text = {"sql": loaded.to_sql, "python": loaded.to_python, "js": loaded.to_js}[to]()
    assert run("export", model, "--to", to, "--out", "-").out == text
    done = run("export", model, "--to", to, "--out", "out.txt", "--json")
    assert (done.json["out"], done.json["bytes"]) == ("out.txt", len(text.encode()))
    assert Path("out.txt").read_text(encoding="utf-8") == text


def test_onnx_is_a_file_and_not_text(run: Run, model: Path) -> None:
    done = run("export", model, "--to", "onnx", "--out", "model.onnx", "--json")
    data = auctor.load(model).to_onnx().SerializeToString()
    assert Path("model.onnx").read_bytes() == data
    assert done.json["bytes"] == len(data)
    done = run("export", model, "--to", "onnx", "--out", "-")
    assert (done.code, "ONNX is not text; give --out a file name" in done.error) == (2, True)


def test_onnx_without_its_package(run: Run, model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    done = run("export", model, "--to", "onnx", "--out", "model.onnx")
    assert (done.code, "pip install 'auctor[export]'" in done.error) == (1, True)
    assert not Path("model.onnx").exists()


def test_options_of_sql(run: Run, model: Path) -> None:
    options = ("--dialect", "postgres", "--table", "bank.loans", "--keep", "id,day", "--boolean")
    done = run("export", model, "--to", "sql", *options, "flag", "--out", "-")
    expected = auctor.load(model).to_sql(
        "postgres", ("bank", "loans"), keep=["id", "day"], booleans=["flag"]
    )
    assert done.out == expected
    assert 'FROM "bank"."loans"' in done.out


def test_the_file_is_named_after_the_model(run: Run, model: Path) -> None:
    done = run("export", model, "--to", "python")
    name = f"{model.name.partition('.')[0]}.py"
    assert done.out.startswith(f"wrote {name}: Python code of ")
    assert "def score_row" in Path(name).read_text(encoding="utf-8")


def test_wrong_usage(run: Run, model: Path) -> None:
    assert (
        "--to is 'pmml'; give one of sql, python, js, onnx"
        in run("export", model, "--to", "pmml").error
    )
    done = run("export", model, "--to", "js", "--dialect", "sqlite")
    assert (done.code, "--dialect is an option of --to sql" in done.error) == (2, True)
    done = run("export", model, "--to", "sql", "--dialect", "db3")
    assert (done.code, "--dialect is 'db3'; give one of duckdb, " in done.error) == (2, True)
    done = run("export", model, "--to", "sql", "--table", "data/loans.csv", "--out", "-")
    assert (done.code, done.out) == (2, "")
    assert "--table is 'data/loans.csv', a file; give the name of a table" in done.error
    assert "such as loans" in done.error
    assert "reads this file" in run("export", model, "--to", "sql", "--out", model).error
