"""Reading and writing tables: formats, and the traps that CSV files hold."""

import gzip
import io
import os
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from auctor.cli.tables import open_table, stem, write_table


def write(path: Path, text: str | bytes) -> str:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return str(path)


def read_all(path: str, delimiter: str | None = None) -> pa.Table:
    source = open_table(path, delimiter)
    return source.read(source.columns)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_delimiter_is_recognised(tmp_path: Path, delimiter: str) -> None:
    text = "a,b,c\n1,2,x\n3,4,y\n".replace(",", delimiter)
    table = read_all(write(tmp_path / "t.csv", text))
    assert table.to_pydict() == {"a": [1, 3], "b": [2, 4], "c": ["x", "y"]}


def test_delimiter_must_fit_the_first_row(tmp_path: Path) -> None:
    # A comma splits this header as often as the semicolon does.
    path = write(tmp_path / "t.csv", "income, yearly;age, years;y\n1;2;3\n")
    assert open_table(path).columns == ("income, yearly", "age, years", "y")


def test_delimiter_can_be_given(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", "a:b\n1:2\n")
    assert open_table(path, ":").columns == ("a", "b")
    assert open_table(path).columns == ("a:b",)


def test_quoted_names_values_and_byte_order_mark(tmp_path: Path) -> None:
    text = '\ufeff"a, b","c"\n1,"x\ny"\n2,"say ""hi"""\n'
    table = read_all(write(tmp_path / "t.csv", text))
    assert table.to_pydict() == {"a, b": [1, 2], "c": ["x\ny", 'say "hi"']}


def test_line_breaks_in_values_across_blocks(tmp_path: Path) -> None:
    value = "\n" * 50_000  # wherever a block of 1 MB ends, it ends between two of these
    table = read_all(write(tmp_path / "t.csv", "a,b\n" + f'1,"{value}"\n' * 60))
    assert table.to_pydict() == {"a": [1] * 60, "b": [value] * 60}


def test_gzip_and_stdin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = b"a,b\n1,2\n"
    expected = {"a": [1], "b": [2]}
    assert read_all(write(tmp_path / "t.csv.gz", gzip.compress(text))).to_pydict() == expected
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert read_all("-").to_pydict() == expected


def test_missing_values_in_numbers_and_text(tmp_path: Path) -> None:
    table = read_all(write(tmp_path / "t.csv", "a,b\n1,x\nNA,NA\n,\nNaN,NaN\n"))
    assert table.to_pydict() == {"a": [1, None, None, None], "b": ["x", None, None, None]}


def test_empty_line_of_a_single_column_is_a_row(tmp_path: Path) -> None:
    assert read_all(write(tmp_path / "t.csv", "a\n1\n\n3\n")).to_pydict() == {"a": [1, None, 3]}


@pytest.mark.parametrize(("first", "last"), [("1", "x"), ("1", "2.5"), ("", "7"), ("true", "no")])
def test_whole_column_decides_its_type(tmp_path: Path, first: str, last: str) -> None:
    # pyarrow reads blocks of 1 MB; the last row is in the third.
    n = 2_500_000 // (len(first) + 3)
    table = read_all(write(tmp_path / "t.csv", "a,b\n" + f"{first},1\n" * n + f"{last},1\n"))
    expected = {"x": "x", "2.5": 2.5, "7": 7, "no": "no"}[last]
    assert table.num_rows == n + 1
    assert table["a"][-1].as_py() == expected
    assert table["a"][0].as_py() == {"1": "1" if last == "x" else 1.0, "": None}.get(first, first)


def test_header_and_rows_longer_than_a_block(tmp_path: Path) -> None:
    names = [f"{'n' * 700}{j}" for j in range(2000)]
    numbers = ",".join(["1.5"] * 2000)
    table = read_all(write(tmp_path / "h.csv", f"{','.join(names)}\n{numbers}\n{numbers}\n"))
    assert table.shape == (2, 2000) and table[names[-1]].to_pylist() == [1.5, 1.5]
    long = "t" * 3_000_000
    table = read_all(write(tmp_path / "r.csv", f"a,b\n1,{long}\n2,{long}\n"))
    assert table.to_pydict() == {"a": [1, 2], "b": [long, long]}


def test_columns_read_as_text_and_verbatim(tmp_path: Path) -> None:
    source = open_table(write(tmp_path / "t.csv", "a,b,c\n007,1.50,NA\n"))
    assert source.read(["b", "a"], text=["a"]).to_pydict() == {"b": [1.5], "a": ["007"]}
    assert source.read_verbatim(["c", "b"]).to_pydict() == {"c": ["NA"], "b": ["1.50"]}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("t.csv", "", "the file is empty"),
        ("t.csv", "\n\n", "the file is empty"),
        ("t.csv", "a,b\n", "a header but no rows"),
        ("t.csv", "a,b,a\n1,2,3\n", "more than one column named 'a'"),
        ("t.csv", "a,b\n1,2\n1,2,3\n", "Row #3: Expected 2 columns, got 3"),
        ("t.csv", "a,b\n1,2\n\n3\n", "Expected 2 columns, got 1"),
        ("t.csv", "a,é\n1,2\n".encode("latin-1"), "not UTF-8"),
        ("t.csv", b"a,b\n" + b"1,x\n" * 9000 + b"1,\xe9\n", "column 'b' is not UTF-8"),
        ("t.csv", "a,b\n1,2\n".encode("utf-16"), "not UTF-8"),
        ("t.csv.gz", "a,b\n1,2\n", "t.csv.gz"),
        ("t.csv.gz", gzip.compress(b"a,b\n1,2\n" * 999, mtime=0)[:-20], "t.csv.gz"),
        ("t.parquet", "a,b\n1,2\n", "t.parquet: Parquet"),
        ("t.xlsx", "a,b\n1,2\n", "cannot be read as an Excel file"),
        ("t", "a,b\n1,2\n", "unknown file extension; give .csv"),
    ],
)
def test_bad_files_are_value_errors(
    tmp_path: Path, name: str, text: str | bytes, words: str
) -> None:
    path = write(tmp_path / name, text)
    with pytest.raises(ValueError) as caught:
        read_all(path)
    assert words in str(caught.value)
    assert str(path) in str(caught.value)


def test_verbatim_text_must_be_utf8(tmp_path: Path) -> None:
    source = open_table(write(tmp_path / "t.csv", b"a,b\n" + b"1,x\n" * 9000 + b"1,\xe9\n"))
    with pytest.raises(ValueError, match="not UTF-8"):
        source.read_verbatim(["b"])


def test_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        open_table(str(tmp_path / "t.csv"))
    with pytest.raises(ValueError, match="has no Parquet files; give one with files that end in"):
        open_table(str(tmp_path))


def test_missing_column_names_the_nearest(tmp_path: Path) -> None:
    source = open_table(write(tmp_path / "t.csv", "Income,age\n1,2\n"))
    with pytest.raises(ValueError, match=r"no column 'incme'; did you mean 'Income'\?"):
        source.require(["age", "incme"])
    with pytest.raises(ValueError, match="no column 'zzz'; it has 'Income', 'age'"):
        source.require(["zzz"])


def test_parquet(tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    table = pa.table({"a.b": [1, 2], "b": ["x", None], "__index_level_0__": [7, 8]})
    pq.write_table(table, path)
    source = open_table(path)
    assert source.columns == ("a.b", "b")
    assert source.read(["b", "a.b"]).to_pydict() == {"b": ["x", None], "a.b": [1, 2]}


def test_parquet_with_a_name_twice(tmp_path: Path) -> None:
    path = str(tmp_path / "t.parquet")
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), path)
    with pytest.raises(ValueError, match="more than one column named 'a'"):
        open_table(path)


@pytest.mark.parametrize("name", ["s.csv", "s.csv.gz", "s.parquet"])
def test_what_is_written_reads_back(tmp_path: Path, name: str) -> None:
    columns = {"t": ["a,b", 'c"d', "é"], "x": [0.1, 1e-300, 1 / 3]}
    write_table(columns, tmp_path / name)
    assert read_all(str(tmp_path / name)).to_pydict() == columns
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_stem() -> None:
    names = ["a/train.csv", "train.csv.gz", "train.2020.parquet", "TRAIN.CSV", "odd"]
    assert [stem(name) for name in names] == ["train", "train", "train.2020", "TRAIN", "odd"]


@pytest.mark.parametrize("ending", [".csv", ".csv.gz"])
def test_a_named_pipe_is_read_once(tmp_path: Path, ending: str) -> None:
    path, text = tmp_path / f"pipe{ending}", b"a,y\n1,0\n2,1\n"
    os.mkfifo(path)
    content = gzip.compress(text) if ending.endswith(".gz") else text
    writer = threading.Thread(target=path.write_bytes, args=(content,), daemon=True)
    writer.start()
    source = open_table(str(path))
    for _ in range(2):  # as `score --keep` does
        assert source.read(source.columns).to_pydict() == {"a": [1, 2], "y": [0, 1]}
    writer.join(10)


def test_a_pipe_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "pipe.parquet"
    os.mkfifo(path)
    threading.Thread(target=path.write_bytes, args=(b"",), daemon=True).start()
    with pytest.raises(ValueError, match="is a pipe; only CSV"):
        open_table(str(path))
