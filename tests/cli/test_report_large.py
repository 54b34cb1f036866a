"""`auctor report` in batches: a page of a sample of the rows, with the measures of all of them."""

import re
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from auctor.cli.row_sample import RowSample

from .conftest import Run, make_table

MEMORY = ("--max-memory", "1GB")


def test_page_has_the_sample_and_the_measures_of_all_rows(
    run: Run, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auctor.cli.large._MOST_ROWS", 25)
    monkeypatch.setattr("auctor.cli.report.SAMPLE_ROWS", 90)
    pq.write_table(make_table(150, seed=2), tmp_path / "rows.parquet")
    command = ("report", model, "rows.parquet", "--target", "y", "--by", "city")
    done = run(*command, *MEMORY, "--out", "page.html", "--json")
    assert done.code == 0
    measured = run("evaluate", model, "rows.parquet", "--target", "y")
    own = done.json["all_rows"]
    assert own[0] == "rows.parquet: 150 rows, 75 of them positive"
    assert own[1:] == measured.out.splitlines()[1:]
    page = Path("page.html").read_text()
    assert "90 rows, drawn at random from the 150 rows of rows.parquet" in page
    assert f"Of all 150 rows: {own[1].split(' (')[0]}" in page
    counts = re.findall(r"(\d+) (?:posi|nega)tives", done.json["headline"]["sentence"])
    assert sum(map(int, counts)) == 90


def test_page_of_all_rows_is_that_of_the_table_in_memory(
    run: Run, model: Path, tmp_path: Path
) -> None:
    pq.write_table(make_table(100, seed=2), tmp_path / "rows.parquet")
    command = ("report", model, "rows.parquet", "--target", "y", "--json", "--out")
    once, batched = run(*command, "a.html").json, run(*command, "b.html", *MEMORY).json
    assert once["headline"] == batched["headline"]


def test_weights_are_refused(run: Run, model: Path, train: Path) -> None:
    done = run("report", model, train, "--target", "y", "--weight", "w", *MEMORY)
    assert "--weight needs all rows in memory" in done.error


def test_sample_does_not_depend_on_the_batches() -> None:
    table = pa.table({"a": range(500)})
    drawn = []
    for size in (1, 7, 500):
        sample = RowSample(20, seed=3)
        for start in range(0, 500, size):
            sample.add(table.slice(start, size))
        drawn.append(sample.table()["a"].to_pylist())
    assert drawn[0] == drawn[1] == drawn[2] == sorted(drawn[0])
    assert len(drawn[0]) == 20
    assert max(drawn[0]) > 250  # from all of the table
