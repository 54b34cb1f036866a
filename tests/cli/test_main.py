"""Help, version, usage errors and exit codes of every command."""

import re
import subprocess
import sys
from argparse import _SubParsersAction
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pytest

import auctor
from auctor.cli import fit, output, score, validation
from auctor.cli.errors import is_expected, one_line
from auctor.cli.parser import build_parser

from .conftest import FAST, Run, files, make_table

# Seconds after which a command that hangs is killed; imports took 50 on a busy machine.
_LIMIT = 600
HEAVY = ("numpy", "numba", "sklearn", "pyarrow", "scipy", "narwhals")


@pytest.mark.parametrize("arguments", [["--help"], ["fit", "--help"], ["report", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    script = (
        "import sys; from auctor.cli.main import main; "
        f"code = main({arguments}); "
        f"print([name for name in {HEAVY} if name in sys.modules], code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=_LIMIT
    )
    assert done.stdout.splitlines()[-1] == "[] 0"


def test_commands_that_only_use_a_model_import_no_estimator() -> None:
    # In one process: what none of them imports is there after none of them.
    commands = ", ".join(
        f"auctor.cli.{name}" for name in ("score", "explain", "evaluate", "report")
    )
    script = (
        f"import sys, {commands}; "
        "print([name for name in ('auctor.estimators', 'sklearn') if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=_LIMIT
    )
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    "command", ["fit", "score", "evaluate", "compare", "report", "explain", "learners"]
)
def test_every_command_shows_an_example(run: Run, command: str) -> None:
    done = run(command, "--help")
    assert done.code == 0
    assert f"\n  auctor {command}" in done.out


def test_a_log_has_lines_of_progress_unless_quiet(run: Run, train: Path) -> None:
    command = ["fit", train, "--target", "y", "--positive", "yes", "--drop", "id", *FAST]
    lines = run(*command).log.splitlines()
    assert lines[0] == f"auctor: reading {train}"
    assert lines[1] == "auctor: cross-validating RankBoost"
    # Before it there is a line of the first fold, where kernels have to be compiled.
    assert any(line.startswith("folds [####################] 2/2") for line in lines[2:4])
    assert "auctor: fitting on all rows" in lines
    assert run(*command, "--quiet").log == ""


def test_nothing_typed_prints_the_help(run: Run) -> None:
    done = run()
    assert done.code == 2 and done.out.startswith("usage: auctor")


def test_version(run: Run) -> None:
    done = run("--version")
    assert (done.code, done.out) == (0, f"auctor {auctor.__version__}\n")


def test_module_runs_as_command() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "auctor", "--version"],
        capture_output=True,
        text=True,
        timeout=_LIMIT,
    )
    assert (done.returncode, done.stdout) == (0, f"auctor {auctor.__version__}\n")


def test_learners_are_listed(run: Run) -> None:
    assert "boosted decision stumps" in run("learners").out
    assert "rankboost" in run("learners", "--json").json["learners"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["guess"], "invalid choice: 'guess'"),
        (["fit", "t.csv"], "--target"),
        (["fit", "t.csv", "--targ", "y"], "--targ y; did you mean --target? (see auctor fit"),
        (
            ["fit", "t.csv", "--target", "y", "--learner", "lightgbm"],
            "only `auctor compare` can run it",
        ),
        (["evaluate", "m.json", "t.csv", "--target", "y", "--at", "fpr=2"], "between 0 and 1"),
        (["evaluate", "m.json", "t.csv", "--target", "y", "--at", "cost=0"], "above 0"),
        (["fit", "--target", "y"], "TABLE is missing"),
        (["fit", "t.csv", "--target", "y", "--metric", "gini"], "give auc, ks, p@k:100"),
        (["fit", "t.csv", "--target", "y", "--metric", "pauc:0.2-0.1"], "pauc:0-0.1"),
        (["fit", "t.csv", "--target", "y", "--metric", "p@k:0"], "p@k:0.1"),
        (["fit", "t.csv", "--target", "y", "--metric", "ks", "--learner", "rankboost"], "dmks"),
        (["fit", "t.csv", "--target", "y", "--learner", "rankbost"], "did you mean 'rankboost'?"),
        (["compare", "t.csv", "--target", "y", "--learner", "lightgmb"], "'lightgbm'?"),
        (["evaluate", "m.json", "t.csv", "--target", "y", "--at", "fpr"], "fpr=0.1, tpr=0.9"),
        (["fit", "t.csv", "--target", "y", "--cv", "1"], "0 or at least 2"),
        (["fit", "t.csv", "--target", "y", "--cv", "many"], "'many'"),
        (["fit", "t.csv", "--target", "y", "--jobs", "0"], "other than 0"),
        (["fit", "t.csv", "--target", "y", "--seed", "-1"], "between 0 and"),
        (["fit", "t.csv", "--target", "y", "--param", "n_estimators"], "NAME=VALUE"),
        (["fit", "t.csv", "--target", "y", "--delimiter", ";;"], "one character"),
        (
            ["fit", "t.csv", "--target", "y", "--learner", "guess"],
            "known: aucboost, dmks, ",
        ),
        (["fit", "t.csv", "--target", "y", "--param", "depth=3"], "n_estimators"),
        (["fit", "t.csv", "--target", "y", "--param", "n_jobs=3"], "use --jobs"),
        (["fit", "-", "--target", "y"], "--out"),
    ],
)
def test_wrong_usage_is_one_line_and_code_2(run: Run, arguments: list[str], words: str) -> None:
    # The table is not there: usage is checked before it is opened.
    done = run(*arguments)
    assert done.code == 2
    assert words in done.error


def test_interrupt_leaves_nothing(run: Run, train: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(validation, "cross_val_auc", interrupted)
    before = files(train.parent)
    done = run("fit", train, "--target", "y", "--drop", "id", *FAST)
    assert (done.code, done.out, done.err) == (130, "", "auctor: interrupted\n")
    assert files(train.parent) == before


def test_interrupt_while_writing_leaves_nothing(
    run: Run, train: Path, model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half(columns: object, file: object) -> None:
        file.write("half a")  # type: ignore[attr-defined]
        raise KeyboardInterrupt

    assert score.write_csv is output.write_csv  # imported before the patch, which must not stick
    monkeypatch.setattr(output, "write_csv", half)
    before = files(train.parent)
    done = run("score", model, train, "--out", "scores.csv")
    assert done.code == 130
    assert files(train.parent) == before


def test_a_bug_keeps_its_traceback(run: Run, train: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def buggy(*_: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(fit, "open_table", buggy)
    with pytest.raises(RuntimeError, match="a bug"):
        run("fit", train, "--target", "y")


def test_closed_pipe_is_no_error(run: Run, model: Path, tmp_path: Path) -> None:
    long = tmp_path / "long.csv"
    csv.write_csv(make_table(20_000), long)
    command = [sys.executable, "-m", "auctor", "score", str(model), str(long)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        assert process.stdout.readline() == b"score,probability,prediction\n"
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=_LIMIT) == 141


def test_which_errors_are_expected() -> None:
    expected = [ValueError(), TypeError(), OSError(), pa.ArrowInvalid(), pa.ArrowKeyError()]
    assert all(is_expected(error) for error in expected)
    assert not any(is_expected(error) for error in (RuntimeError(), KeyError(), AssertionError()))


def test_errors_are_put_on_one_line() -> None:
    assert one_line(ValueError("two\n  lines")) == "two lines"
    assert one_line(FileNotFoundError(2, "No such file", "a.csv")) == "a.csv: No such file"
    assert one_line(ValueError()) == "ValueError"
    assert len(one_line(ValueError("x" * 5000))) < 1000


def test_the_guide_has_every_option() -> None:
    guide = (Path(__file__).parents[2] / "docs/command_line.md").read_text(encoding="utf-8")
    commands = next(a for a in build_parser()._actions if isinstance(a, _SubParsersAction))
    options = {
        option
        for command in commands.choices.values()
        for action in command._actions
        for option in action.option_strings
        if option.startswith("--") and option != "--help"
    }
    assert len(options) > 30
    missing = [option for option in sorted(options) if not re.search(rf"{option}(?![\w-])", guide)]
    assert missing == []
    assert all(f"auctor {name}" in guide for name in commands.choices)
