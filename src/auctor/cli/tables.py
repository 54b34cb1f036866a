"""Tables on disk: CSV (also gzipped, or from stdin), Parquet and Feather, by pyarrow."""

import csv
import io
import os
import re
import stat
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.feather as feather
import pyarrow.parquet as pq

from auctor._files import complete_file
from auctor.cli.errors import missing_column
from auctor.cli.output import write_csv_file
from auctor.cli.streams import read_stdin

STDIN = "-"
DELIMITERS = (",", ";", "\t", "|")

_CSV_ENDINGS = (".csv", ".tsv", ".txt")
_PARQUET_ENDINGS = (".parquet", ".pq")
_FEATHER_ENDINGS = (".feather", ".arrow", ".ipc")

# pandas keeps the index of a frame under such a name; it is no column of the table.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")

# Python's usual limit of 128 KB to a field is less than a wide header, which is a single
# field to a delimiter that does not occur in it.
_LONGEST_FIELD = 2**24

# pyarrow's usual block of 1 MB must hold a whole row; a very wide table needs more.
_WIDE_BLOCK = 2**28
_TOO_WIDE = ("straddling", "Empty CSV file or block")  # what it says of a row, of a header


class TableFile(ABC):
    """A table that can be read: its name for messages, and its columns."""

    name: str
    columns: tuple[str, ...]

    @abstractmethod
    def _read(self, names: Sequence[str], text: Collection[str]) -> pa.Table:
        """The named columns in that order; those in ``text`` as text where the file allows."""

    @abstractmethod
    def read_verbatim(self, names: Sequence[str]) -> pa.Table:
        """The named columns as they stand in the file: nothing parsed, nothing missing."""

    def read(self, names: Sequence[str], text: Collection[str] = ()) -> pa.Table:
        """The named columns in that order, with at least one row.

        A CSV file has no types, so that a column of ``text`` ("007", or "1" where other
        files also have "A") is not taken for numbers.
        """
        table = self._read(names, text)
        if table.num_rows == 0:
            raise ValueError(f"{self.name} has a header but no rows")
        return table

    def line_of(self, row: int) -> int | None:
        """The line of the file in which a row begins, both counted from 1; None without lines."""
        return None

    def require(self, names: Collection[str]) -> None:
        """An error for the first name that is not a column."""
        for name in names:
            if name not in self.columns:
                raise missing_column(name, self.columns, self.name)

    def _refuse_duplicates(self) -> None:
        twice = [name for name, count in Counter(self.columns).items() if count > 1]
        if twice:
            raise ValueError(f"{self.name} has more than one column named {twice[0]!r}; rename it")


class CsvFile(TableFile):
    """A CSV file, or CSV text from stdin."""

    def __init__(self, name: str, source: str | bytes, delimiter: str | None) -> None:
        self.name = name
        self._source = source
        with _told_of(name):
            self._delimiter, header = self._recognise(delimiter)
        self.columns = tuple(header)
        self._refuse_duplicates()

    def _stream(self) -> Any:
        if isinstance(self._source, str):
            return pa.input_stream(self._source)  # which decompresses by the ending of the name
        compression = "gzip" if self.name.lower().endswith(".gz") else None
        return pa.input_stream(pa.py_buffer(self._source), compression=compression)

    def _recognise(self, delimiter: str | None) -> tuple[str, list[str]]:
        """The delimiter and the header: the one that splits header and first row most, alike."""
        candidates = (delimiter,) if delimiter else DELIMITERS
        rows = {candidate: self._first_rows(candidate) for candidate in candidates}
        if not rows[candidates[0]]:
            raise ValueError("the file is empty")

        def split(candidate: str) -> int:
            header, *rest = rows[candidate]
            return len(header) if all(len(row) == len(header) for row in rest) else 0

        best = max(candidates, key=split)
        if split(best) <= 1:  # one column, or a first row that fits no delimiter
            best = max(candidates, key=lambda candidate: len(rows[candidate][0]))
        return best, rows[best][0]

    def _first_rows(self, delimiter: str) -> list[list[str]]:
        """The header and the first row, where there are any."""
        try:
            with self._reader(delimiter) as reader:
                return list(islice(filter(None, reader), 2))
        except csv.Error as error:
            raise ValueError(f"this is not CSV ({error})") from None

    @contextmanager
    def _reader(self, delimiter: str) -> Iterator[Any]:
        """The rows as lists of text, by Python's own reader, which counts lines."""
        with io.TextIOWrapper(self._stream(), encoding="utf-8-sig", newline="") as file:
            usual = csv.field_size_limit(_LONGEST_FIELD)
            try:
                yield csv.reader(file, delimiter=delimiter)
            finally:
                csv.field_size_limit(usual)

    def line_of(self, row: int) -> int | None:
        # Cells may hold line ends, and empty lines are no rows: only counting tells.
        count, last_line = -1, 0  # the header is row 0
        with suppress(csv.Error, UnicodeError), self._reader(self._delimiter) as reader:
            for cells in reader:
                count += bool(cells) or len(self.columns) == 1
                if count == row:
                    return last_line + 1
                last_line = reader.line_num
        return None

    def _read(self, names: Sequence[str], text: Collection[str]) -> pa.Table:
        types = {name: pa.string() for name in text}
        return self._convert(
            arrow_csv.ConvertOptions(
                include_columns=names, column_types=types, strings_can_be_null=True
            )
        )

    def read_verbatim(self, names: Sequence[str]) -> pa.Table:
        types = {name: pa.string() for name in names}
        return self._convert(arrow_csv.ConvertOptions(include_columns=names, column_types=types))

    def _convert(self, options: arrow_csv.ConvertOptions) -> pa.Table:
        with _told_of(self.name):
            try:
                table = self._parse(options)
            except pa.ArrowInvalid as error:
                if any(words in str(error) for words in _TOO_WIDE):
                    table = self._parse(options, block_size=_WIDE_BLOCK)
                else:
                    # Threads do not count rows; once more without, for the row in the message.
                    table = self._parse(options, use_threads=False)
        self._refuse_bytes(table)
        return table

    def _parse(self, options: arrow_csv.ConvertOptions, **read: Any) -> pa.Table:
        parse = arrow_csv.ParseOptions(
            delimiter=self._delimiter,
            newlines_in_values=True,
            # In a table of one column an empty line is a row with a missing value.
            ignore_empty_lines=len(self.columns) > 1,
        )
        return arrow_csv.read_csv(
            self._stream(),
            arrow_csv.ReadOptions(**read),
            parse_options=parse,
            convert_options=options,
        )

    def _refuse_bytes(self, table: pa.Table) -> None:
        """What is neither a number nor UTF-8 text comes out of pyarrow as bytes."""
        for field in table.schema:
            if pa.types.is_binary(field.type) or pa.types.is_large_binary(field.type):
                raise ValueError(
                    f"{self.name}: column {field.name!r} is not UTF-8 text; save it as UTF-8"
                )


class ParquetFile(TableFile):
    """A Parquet file."""

    def __init__(self, path: str) -> None:
        self.name = path
        with _told_of(path):
            self._file = pq.ParquetFile(path)
        names = self._file.schema_arrow.names
        self.columns = tuple(name for name in names if not _PANDAS_INDEX.fullmatch(name))
        self._refuse_duplicates()

    def _read(self, names: Sequence[str], text: Collection[str]) -> pa.Table:
        with _told_of(self.name):
            return self._file.read(columns=list(names)).select(list(names))

    def read_verbatim(self, names: Sequence[str]) -> pa.Table:
        return self._read(names, ())


class FeatherFile(TableFile):
    """A Feather file, which is Arrow's own format."""

    def __init__(self, path: str) -> None:
        self.name = path
        with _told_of(path), pa.memory_map(path) as file:
            names = pa.ipc.open_file(file).schema.names
        self.columns = tuple(name for name in names if not _PANDAS_INDEX.fullmatch(name))
        self._refuse_duplicates()

    def _read(self, names: Sequence[str], text: Collection[str]) -> pa.Table:
        with _told_of(self.name):
            return feather.read_table(self.name, columns=list(names)).select(list(names))

    def read_verbatim(self, names: Sequence[str]) -> pa.Table:
        return self._read(names, ())


def open_table(path: str, delimiter: str | None = None) -> TableFile:
    """The table at a path, its kind told by the ending of the name; "-" is CSV from stdin."""
    if path == STDIN:
        return CsvFile("standard input", read_stdin(), delimiter)
    with Path(path).open("rb") as file:  # Python says "no such file" in fewer words than pyarrow
        kind = table_kind(path)
        is_pipe = not stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        if is_pipe and kind != "csv":
            raise ValueError(f"{path} is a pipe; only CSV can be read from one")
        # A pipe is opened and read once: then it is empty.
        content = file.read() if is_pipe else None
    if kind == "parquet":
        return ParquetFile(path)
    if kind == "feather":
        return FeatherFile(path)
    usual = "\t" if ".tsv" in path.lower() else None
    return CsvFile(path, path if content is None else content, delimiter or usual)


def table_kind(path: str) -> str:
    """ "parquet", "feather" or "csv" by the ending of a name; an error where it is none."""
    name = path.lower()
    if name.endswith(_PARQUET_ENDINGS):
        return "parquet"
    if name.endswith(_FEATHER_ENDINGS):
        return "feather"
    if name.removesuffix(".gz").endswith(_CSV_ENDINGS):
        return "csv"
    raise ValueError(
        f"{path}: unknown kind of table; the name must end in .csv, .csv.gz, .tsv, .txt, .parquet "
        "or .feather"
    )


def stem(path: str) -> str:
    """The name of a table without folder and endings: that of its model, for instance."""
    name = Path(path).name
    endings = (
        *_PARQUET_ENDINGS,
        *_FEATHER_ENDINGS,
        *(f"{end}{gz}" for end in _CSV_ENDINGS for gz in (".gz", "")),
    )
    for ending in endings:
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return name


def write_table(columns: Mapping[str, Sequence[Any]], path: Path) -> None:
    """Columns to a file of the kind that its name says, complete or not there at all."""
    kind = table_kind(str(path))
    if kind == "csv":
        write_csv_file(columns, path, compressed=path.name.lower().endswith(".gz"))
        return
    with complete_file(path) as temporary:
        table = pa.table(dict(columns))
        if kind == "parquet":
            pq.write_table(table, temporary)
        else:
            feather.write_feather(table, str(temporary))


@contextmanager
def _told_of(name: str) -> Iterator[None]:
    """Put the table's name in front of what pyarrow has to say about it."""
    try:
        yield
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not UTF-8 text; save it as UTF-8") from None
    except (pa.ArrowException, ValueError, OSError) as error:
        if "invalid UTF8" in str(error):
            raise ValueError(f"{name} is not UTF-8 text; save it as UTF-8") from None
        raise ValueError(f"{name}: {error}") from None
