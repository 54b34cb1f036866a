"""Options from a TOML file, which the command line overrides."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pytest

from .conftest import Run

CONFIG = """\
table = "train.csv"
target = "y"
drop = ["id", "w"]
learner = "rankboost"
param = {n_estimators = 7, early_stopping = false}
cv = 2
quiet = true
"""


@pytest.fixture
def config(train: Path) -> Path:
    path = Path("run.toml")
    path.write_text(CONFIG)
    return path


def test_options_of_a_file(run: Run, train: Path, config: Path) -> None:
    done = run("fit", "--config", config, "--json")
    assert (done.code, done.err) == (0, "")
    assert done.json["params"]["n_estimators"] == 7
    assert done.json["cross_validation"]["folds"] == 2
    assert done.json["features"] == 4
    assert Path("train.model.json").exists()


def test_typed_options_override_or_add(run: Run, train: Path, config: Path) -> None:
    typed = ["--cv", 3, "--param", "n_estimators=5", "--drop", "z"]
    done = run("fit", "--config", config, *typed, "--json")
    assert done.json["cross_validation"]["folds"] == 3
    assert done.json["params"]["n_estimators"] == 5
    assert done.json["features"] == 3


def test_a_typed_table_overrides(run: Run, train: Path, config: Path, table: pa.Table) -> None:
    csv.write_csv(table.slice(0, 60), "other.csv")
    for typed in (["other.csv", "--config", config], ["--config", config, "other.csv"]):
        done = run("fit", *typed, "--json")
        assert (done.code, done.err) == (0, "")
        assert (done.json["table"], done.json["rows"]) == ("other.csv", 60)
    assert not Path("train.model.json").exists()


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ('targt = "y"', 2, "unknown option 'targt'; did you mean 'target'?"),
        ("cv = 1", 2, "0 or at least 2"),
        ("target = [", 1, "is not a valid TOML file"),
        ("target = 2024-01-01", 2, "give text or a number"),
        ('config = "other.toml"', 2, "unknown option 'config'"),
        ("", 2, "TABLE is missing"),
        ('table = "train.csv"', 2, "--target is missing"),
    ],
)
def test_mistakes_in_the_file(run: Run, train: Path, text: str, code: int, words: str) -> None:
    Path("run.toml").write_text(text)
    done = run("fit", "--config", "run.toml")
    assert done.code == code
    assert words in done.error


def test_a_file_that_is_not_there(run: Run) -> None:
    done = run("fit", "--config", "nowhere.toml")
    assert (done.code, done.error) == (1, "nowhere.toml: No such file or directory")
