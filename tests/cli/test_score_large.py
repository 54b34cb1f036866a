"""`auctor score` in batches: the result of the table in memory, whatever the batches."""

from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

from .conftest import Run, make_table

MEMORY = ("--max-memory", "1GB")
KEEP = ("--keep", "id", "--keep", "x", "--keep", "city")


@pytest.fixture
def rows() -> pa.Table:
    """New rows, some of which are unlike the training rows."""
    table = make_table(40, seed=1)
    city = table["city"].to_pylist()
    city[35:] = ["Lima", "Kyiv", "Kyiv", None, "Lima"]
    x = table["x"].to_pylist()
    x[3], x[30] = 1e6, -1e6
    changed = {"city": pa.array(city), "x": pa.array(x)}
    for name, column in changed.items():
        table = table.set_column(table.column_names.index(name), name, column)
    return table


@pytest.fixture
def whole(rows: pa.Table, tmp_path: Path) -> Path:
    """The rows in a CSV file, a Parquet file, and a folder of Parquet files."""
    csv.write_csv(rows, tmp_path / "rows.csv")
    pq.write_table(rows, tmp_path / "rows.parquet")
    folder = tmp_path / "rows"
    folder.mkdir()
    for k in range(3):
        pq.write_table(rows.slice(14 * k, 14), folder / f"{k}.parquet")
    return tmp_path


@pytest.fixture(autouse=True)
def _few_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Several batches for a table of 40 rows."""
    monkeypatch.setattr("auctor.cli.large._MOST_ROWS", 9)


@pytest.mark.parametrize("options", [(), ("--reasons", "2", *KEEP, "--spreadsheet-safe")])
@pytest.mark.parametrize(
    ("source", "same_as"),
    [("rows.csv", "rows.csv"), ("rows.parquet", "rows.parquet"), ("rows", "rows.parquet")],
)
def test_result_is_that_of_the_table_in_memory(
    run: Run, model: Path, whole: Path, source: str, same_as: str, options: tuple[str, ...]
) -> None:
    once = run("score", model, whole / same_as, *options)
    batched = run("score", model, whole / source, *options, *MEMORY)
    assert (batched.code, batched.out, batched.err) == (0, once.out, once.err)
    assert once.out.count("\n") == 41
    assert "'Lima'" in once.err.replace('"', "'")  # there is something to warn about


@pytest.mark.parametrize("out", ["s.csv", "s.csv.gz", "s.parquet", "s.feather"])
def test_files_are_equal(run: Run, model: Path, whole: Path, out: str) -> None:
    facts = {}
    for name, options in (("once", ()), ("batched", MEMORY)):
        command = (
            "score",
            model,
            whole / "rows.parquet",
            *KEEP,
            "--json",
            "--out",
            f"{name}.{out}",
        )
        facts[name] = run(*command, "--out", f"{name}.{out}", *options).json | {"out": None}
    assert facts["once"] == facts["batched"]
    once, batched = Path(f"once.{out}"), Path(f"batched.{out}")
    if out.startswith("s.csv"):
        assert once.read_bytes() == batched.read_bytes()
    else:
        read = pq.read_table if out.endswith("parquet") else feather.read_table
        assert read(once).equals(read(batched))


def test_scorecard(run: Run, model: Path, whole: Path) -> None:
    assert run("export", model, "--to", "scorecard", "--out", "card.json").code == 0
    command = ("score", "card.json", whole / "rows.csv", "--keep", "id", "--reasons", "2")
    once = run(*command)
    assert once.out.startswith("id,points,probability,reason_1,reason_2\n")
    assert run(*command, *MEMORY).out == once.out


def test_strict_leaves_no_file(run: Run, model: Path, whole: Path) -> None:
    command = ("score", model, whole / "rows.parquet", "--strict", "--out", "s.csv")
    error = run(*command).error
    assert "the rows differ from the training rows" in error
    assert run(*command, *MEMORY).error == error
    assert not Path("s.csv").exists()
    assert not list(whole.glob(".*"))


def test_text_among_numbers_is_named(run: Run, model: Path, rows: pa.Table) -> None:
    cells = [str(value) for value in rows["z"].to_pylist()]
    cells[25] = "many"
    csv.write_csv(rows.set_column(rows.column_names.index("z"), "z", pa.array(cells)), "bad.csv")
    error = run("score", model, "bad.csv", "--out", "s.csv", *MEMORY).error
    assert "'z' holds numbers in the model, and 'many' in row 26 (line 27 of the file)" in error
    assert not Path("s.csv").exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--json", *MEMORY), "--json prints all scores as one object"),
        (("--strict", *MEMORY), "needs --out"),
        (("--max-memory", "250MB"), "--max-memory is 250 MB, and this command needs about"),
        (("--max-memory", "much"), "--max-memory is 'much'"),
    ],
)
def test_what_cannot_be_is_refused(
    run: Run, model: Path, whole: Path, options: tuple[str, ...], words: str
) -> None:
    assert words in run("score", model, whole / "rows.csv", *options).error


def test_other_commands_name_the_folder(run: Run, model: Path, whole: Path) -> None:
    assert "is a folder, which this command cannot read" in (
        run("monitor", model, whole / "rows").error
    )
