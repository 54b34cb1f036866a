"""Where the files of a command go: through links, to stdout, never in place of a device."""

import gzip
import json
import os
import stat
from pathlib import Path

import pytest

from auctor.models.file import from_json

from .conftest import FAST, Run, files

OUTPUTS = [
    ("fit", "train.csv", "--target", "y", *FAST, "--quiet", "--out"),
    ("fit", "train.csv", "--target", "y", *FAST, "--quiet", "--report"),
    ("score", "train.model.json", "train.csv", "--out"),
    ("report", "train.model.json", "train.csv", "--target", "y", "--quiet", "--out"),
    ("report", "train.model.json", "train.csv", "--target", "y", "--quiet", "--facts"),
]
IDS = ["fit", "fit-report", "score", "report", "report-facts"]


@pytest.mark.parametrize("command", OUTPUTS, ids=IDS)
def test_a_pipe_is_refused_before_any_work(
    run: Run, model: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    def too_late(*_: object, **__: object) -> None:
        raise AssertionError("the table was opened")

    monkeypatch.setattr(f"auctor.cli.{command[0]}.open_table", too_late)
    os.mkfifo("pipe.csv")
    Path("link.csv").symlink_to("pipe.csv")
    for name in ("pipe.csv", "link.csv"):
        done = run(*command, name)
        assert done.code == 1 and "a named pipe" in done.error
        assert "or - for standard output" in done.error
    assert stat.S_ISFIFO(Path("pipe.csv").stat().st_mode)
    assert files(Path()) == {"pipe.csv", "link.csv", "train.csv", "train.model.json"}


@pytest.mark.parametrize("command", OUTPUTS, ids=IDS)
def test_a_link_is_followed(run: Run, model: Path, command: tuple[str, ...]) -> None:
    Path("there").mkdir()
    Path("link.csv").symlink_to("there/file.csv")
    done = run(*command, "link.csv")
    assert done.code == 0, done.err
    assert Path("link.csv").is_symlink()
    assert Path("there/file.csv").stat().st_size > 100
    assert files(Path("there")) == {"file.csv"}


def test_a_link_into_a_folder_that_is_not_there(run: Run, train: Path) -> None:
    Path("link.json").symlink_to("nowhere/m.json")
    done = run("fit", train, "--target", "y", *FAST, "--out", "link.json")
    assert done.code == 1 and "there is no folder" in done.error and "nowhere" in done.error


def test_a_model_to_standard_output(run: Run, train: Path) -> None:
    done = run("fit", train, "--target", "y", "--drop", "id", *FAST, "--quiet", "--out", "-")
    assert done.code == 0 and "AUC" in done.err
    assert from_json(done.out).classes == ("no", "yes")
    assert files(train.parent) == {"train.csv"}


def test_a_page_and_facts_to_standard_output(run: Run, train: Path, model: Path) -> None:
    command = ("report", model, train, "--target", "y", "--quiet")
    page = run(*command, "--out", "-")
    assert page.out.startswith("<!doctype html>") and "AUC" in page.err
    facts = run(*command, "--out", "page.html", "--facts", "-")
    assert "headline" in json.loads(facts.out) and "page.html" in facts.err
    fit = run("fit", train, "--target", "y", "--drop", "id", *FAST, "--quiet", "--report", "-")
    assert fit.out.startswith("<!doctype html>")


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--out", "-", "--json"), "--out and --json would both go to standard output"),
        (("--out", "-", "--report", "-"), "--out and --report would both go to standard output"),
        (("--out", "same", "--report", "./same"), "--out and --report are the same file"),
    ],
)
def test_two_outputs_in_one_place(run: Run, train: Path, more: tuple[str, ...], words: str) -> None:
    done = run("fit", train, "--target", "y", *FAST, *more)
    assert done.code == 2 and words in done.error


def test_the_config_file_is_not_overwritten(run: Run, train: Path) -> None:
    Path("run.toml").write_text('target = "y"\n')
    done = run("fit", train, "--config", "run.toml", *FAST, "--out", "run.toml")
    assert done.code == 1 and "the command reads this file" in done.error


def test_a_file_that_standard_output_goes_to(
    run: Run, train: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Path("log.json").open("w") as file:
        monkeypatch.setattr("sys.stdout", file)
        done = run("fit", train, "--target", "y", *FAST, "--out", "log.json")
    assert done.code == 1 and "standard output is redirected to this file; give -" in done.error


def test_compressed_scores_are_the_same_every_time(run: Run, train: Path, model: Path) -> None:
    for name in ("a.csv.gz", "b.csv.gz"):
        assert run("score", model, train, "--out", name).code == 0
    assert Path("a.csv.gz").read_bytes() == Path("b.csv.gz").read_bytes()
    assert gzip.decompress(Path("a.csv.gz").read_bytes()).startswith(b"score,")
