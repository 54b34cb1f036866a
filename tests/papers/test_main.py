"""`python -m papers`: listing, running, what is missing, what failed; on a toy paper."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from toy_paper import make_paper

from papers import catalogue
from papers.__main__ import main


@dataclass(frozen=True)
class Result:
    """Exit code, stdout and stderr of a run."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    """Call ``python -m papers`` in this process."""

    def run_papers(*arguments: str) -> Result:
        capsys.readouterr()
        code = main(arguments)
        return Result(code, *capsys.readouterr())

    return run_papers


@pytest.fixture(autouse=True)
def toy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The toy in the place of all papers, and a folder of its own to work in."""
    paper = make_paper(tmp_path / "toy")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(catalogue, "load_paper", lambda name: paper)
    for module in ("catalogue", "summary"):
        monkeypatch.setattr(f"papers.{module}.NAMES", ("toy",))


def test_without_a_name_it_lists_what_there_is(run: Run) -> None:
    done = run()
    assert done.code == 0
    assert "toy: Nobody (1900)" in done.out
    assert "  squares  Table 1: squares" in done.out
    assert run("--json").json["papers"][0]["experiments"].keys() == {
        "squares",
        "other",
    }


def test_a_run_says_what_it_found_and_what_it_wrote(run: Run) -> None:
    done = run("toy", "--quick", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert "reproduced: 1 x 1 = 1 (1)" in done.out
    assert "no_such_table.csv not found" in done.out
    assert "wrote papers-output/toy.md, papers-output/index.md" in done.out
    assert "| Table 1 | squares grow | reproduced | – | 3 of them |" in Path(
        "papers-output/claims.md"
    ).read_text(encoding="utf-8")
    facts = run("toy", "--quick", "--quiet", "--json").json
    assert {claim["verdict"] for claim in facts["claims"]} == {"reproduced"}
    assert len(facts["not_run"]) == 4


def test_progress_goes_to_stderr(run: Run) -> None:
    done = run("toy/squares", "--quick")
    assert "toy [####################] 3/3" in done.err


def test_an_unknown_name_is_wrong_usage(run: Run) -> None:
    done = run("toy/sqares")
    assert done.code == 2
    assert "did you mean 'squares'?" in done.err


def test_what_is_asked_for_by_name_and_cannot_run_is_an_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    only_data = make_paper(tmp_path / "toy", only_missing=True)
    monkeypatch.setattr(catalogue, "load_paper", lambda name: only_data)
    done = run("toy/squares", "--quiet")
    assert done.code == 1
    assert "no_such_table.csv not found: " in done.err


def test_a_proved_claim_that_fails_ends_in_an_error(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = make_paper(tmp_path / "toy", one=2)
    monkeypatch.setattr(catalogue, "load_paper", lambda name: broken)
    done = run("toy", "--quick", "--quiet")
    assert done.code == 1
    assert "a proved claim did not hold: '1 x 1 = 1'" in done.err


def test_a_case_that_fails_is_reported_at_the_end(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOY_FAIL", "2")
    done = run("toy/squares", "--quick", "--quiet")
    assert done.code == 1
    assert "1 case failed, the first: toy/squares: 2 failed with RuntimeError" in done.err
    assert Path("papers-output/toy.md").exists()


def test_interrupted_it_says_that_it_can_go_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOY_STOP", "2")
    done = run("toy", "--quick", "--quiet")
    assert done.code == 130
    assert "the same command continues" in done.err
    monkeypatch.delenv("TOY_STOP")
    assert run("toy", "--quick", "--quiet").code == 0
