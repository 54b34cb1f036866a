"""`auctor evaluate` in batches: the numbers of the table in memory, to the last digit."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

from .conftest import Run, make_table

MEMORY = ("--max-memory", "1GB")
AT = ("--at", "fpr=0.1", "--at", "budget=500", "--at", "cost=3", "--at", "precision=0.6")


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several batches and runs for a table of 120 rows."""
    monkeypatch.setattr("auctor.cli.large._MOST_ROWS", 25)
    monkeypatch.setattr("auctor.cli.evaluate_batches.RUN_ROWS", 40)


@pytest.fixture
def new(tmp_path: Path) -> Path:
    """New rows in a CSV file, a Parquet file, and a folder."""
    rows = make_table(120, seed=2)
    csv.write_csv(rows, tmp_path / "rows.csv")
    pq.write_table(rows, tmp_path / "rows.parquet")
    (tmp_path / "rows").mkdir()
    for k in range(2):
        pq.write_table(rows.slice(60 * k, 60), tmp_path / "rows" / f"{k}.parquet")
    return tmp_path


@pytest.mark.parametrize(
    ("source", "same_as"),
    [("rows.csv", "rows.csv"), ("rows.parquet", "rows.parquet"), ("rows", "rows.parquet")],
)
def test_numbers_are_those_of_the_table_in_memory(
    run: Run, model: Path, new: Path, source: str, same_as: str
) -> None:
    command = ("--target", "y", *AT, "--seed", "3", "--json")
    once = run("evaluate", model, new / same_as, *command)
    batched = run("evaluate", model, new / source, *command, *MEMORY)
    assert batched.code == 0
    assert batched.json | {"table": None} == once.json | {"table": None}
    assert batched.err == once.err
    assert "--at budget=500 is more than the 120 rows" in once.err


def test_training_rows_are_noticed(run: Run, model: Path, train: Path) -> None:
    once = run("evaluate", model, train, "--target", "y")
    assert run("evaluate", model, train, "--target", "y", *MEMORY).err == once.err
    assert "this is the table that the model was fitted to" in once.err
    rows = csv.read_csv(train)
    pq.write_table(rows, "other.parquet")  # the same rows in another file
    once = run("evaluate", model, "other.parquet", "--target", "y")
    assert run("evaluate", model, "other.parquet", "--target", "y", *MEMORY).err == once.err
    assert "these look like the rows that the model was fitted to" in once.err


def test_no_files_are_left(run: Run, model: Path, new: Path, tmp_path: Path) -> None:
    (tmp_path / "spill").mkdir()
    command = ("evaluate", model, new / "rows.csv", "--target", "y", "--spill-dir", "spill")
    assert run(*command, *MEMORY).code == 0
    assert not list((tmp_path / "spill").iterdir())


def test_rows_of_one_class_are_refused(run: Run, model: Path, tmp_path: Path) -> None:
    rows = make_table(60, seed=2)
    same = rows.filter(pa.compute.equal(rows["y"], "yes"))
    pq.write_table(same, tmp_path / "same.parquet")
    command = ("evaluate", model, "same.parquet", "--target", "y")
    assert run(*command, *MEMORY).error == run(*command).error


def test_missing_labels_of_all_batches_are_counted(run: Run, model: Path, tmp_path: Path) -> None:
    rows = make_table(120, seed=2)
    labels = rows["y"].to_pylist()
    labels[3] = labels[50] = labels[110] = None
    rows = rows.set_column(rows.column_names.index("y"), "y", pa.array(labels))
    pq.write_table(rows, tmp_path / "gaps.parquet")
    command = ("evaluate", model, "gaps.parquet", "--target", "y")
    assert "column 'y' has 3 missing values" in run(*command, *MEMORY).error
    assert run(*command, *MEMORY).error == run(*command).error


@pytest.mark.parametrize("option", ["--weight", "--group", "--by"])
def test_options_that_need_all_rows_are_refused(
    run: Run, model: Path, new: Path, option: str
) -> None:
    command = ("evaluate", model, new / "rows.csv", "--target", "y", option, "w", *MEMORY)
    assert f"{option} needs all rows in memory" in run(*command).error


def test_too_little_memory_is_named_as_it_was_given(run: Run, model: Path, new: Path) -> None:
    command = ("evaluate", model, new / "rows.csv", "--target", "y", "--max-memory")
    error = run(*command, "200MB").error
    assert "--max-memory is 200 MB, and this command needs about" in error
    enough = error.split("needs about ")[1].split(" for")[0].replace(" ", "")
    assert run(*command, enough).code == 0
