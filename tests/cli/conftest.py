"""A small table with every kind of column, and a way to run the command in process."""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

from auctor.cli.main import main

# Tests of all but the default learner: its cross-validation within folds takes seconds.
FAST = ("--learner", "rankboost", "--param", "n_estimators=10", "--cv", "2")
# For tests that only need the model.
NO_CV = (*FAST, "--cv", "0")


@dataclass(frozen=True)
class Result:
    """What a command left: exit code, stdout, stderr."""

    code: int
    out: str
    err: str  # without the lines of progress
    log: str = ""  # all of stderr

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line of a failed command, without its beginning; nothing else was printed."""
        assert self.out == ""
        assert self.err.startswith("auctor: error: ") and self.err.endswith("\n"), self.err
        assert self.err.count("\n") == 1, self.err
        return self.err.removeprefix("auctor: error: ").rstrip("\n")


_DOING = "reading|cross-validating|fitting|writing|computing"
PROGRESS = re.compile(
    rf"^auctor: ({_DOING})( .*)?\n|^auctor: (?!warning|error)[\w-]+: .*\(95% CI .*\n|"
    r"^[\w-]+ \[#* *\] .*\n|^[\w-]+ \d+ rounds .*\n",
    re.MULTILINE,
)
# The table's labels are words, and most tests are not about that.
USUAL = re.compile(r"auctor: warning: 'yes' is taken as the positive label, .*\n")


def without_progress(log: str) -> str:
    """What a command had to say on stderr besides what it was doing."""
    return USUAL.sub("", PROGRESS.sub("", log))


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command line in an empty folder."""
    monkeypatch.chdir(tmp_path)

    def run_command(*arguments: object) -> Result:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Result(code, captured.out, without_progress(captured.err), captured.err)

    return run_command


def make_table(n: int = 80, seed: int = 0) -> pa.Table:
    """Numbers, whole numbers, text and truth values, with missing values; 'y' is yes or no."""
    rng = np.random.default_rng(seed)
    x, z = rng.normal(size=n), rng.integers(0, 5, size=n)
    flag = rng.random(n) < 0.5
    city = rng.choice(["Rome", "Oslo", "Bonn"], size=n)
    risk = x + 0.5 * z + (city == "Oslo") + rng.normal(scale=0.5, size=n)
    holes = rng.random(n) < 0.1
    return pa.table(
        {
            "id": [f"{i:04d}" for i in range(n)],
            "x": pa.array(x, mask=holes),
            "z": z,
            "flag": pa.array(flag, mask=holes),
            "city": pa.array(city, mask=holes, type=pa.string()),
            "w": rng.integers(1, 4, size=n),
            "y": np.where(risk > np.median(risk), "yes", "no"),
        }
    )


@pytest.fixture
def table() -> pa.Table:
    return make_table()


@pytest.fixture
def train(tmp_path: Path, table: pa.Table) -> Path:
    path = tmp_path / "train.csv"
    csv.write_csv(table, path)
    return path


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The file of a model of the table, fitted by the command; once for all tests."""
    folder = tmp_path_factory.mktemp("fitted")
    csv.write_csv(make_table(), folder / "train.csv")
    command = ["fit", str(folder / "train.csv"), "--target", "y", "--drop", "id", "--drop", "w"]
    assert main([*command, *FAST, "--out", str(folder / "m.json")]) == 0
    return (folder / "m.json").read_text()


@pytest.fixture
def model(run: Run, train: Path, fitted: str) -> Path:
    """A model of the table, beside it."""
    path = Path("train.model.json")
    path.write_text(fitted)
    return path


def files(folder: Path) -> set[str]:
    """All names in a folder, hidden ones too."""
    return {path.name for path in folder.iterdir()}
