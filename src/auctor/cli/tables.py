"""Tables on disk: CSV (also gzipped, or from stdin), Parquet and Feather by pyarrow, and Excel."""

import csv
import hashlib
import io
import os
import re
import stat
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

import pyarrow as pa
import pyarrow.csv as arrow_csv
import pyarrow.feather as feather
import pyarrow.parquet as pq

from auctor._files import complete_file
from auctor.cli.excel import ExcelFile
from auctor.cli.output import read_stdin, write_csv_file
from auctor.cli.table_file import TableFile
from auctor.data.stored.csv_blocks import find_types
from auctor.data.stored.sources import open_parquet

STDIN = "-"
DELIMITERS = (",", ";", "\t", "|")

_CSV_EXTENSIONS = (".csv", ".tsv", ".txt")
_PARQUET_EXTENSIONS = (".parquet", ".pq")
_FEATHER_EXTENSIONS = (".feather", ".arrow", ".ipc")
_EXCEL_EXTENSIONS = (".xlsx", ".xlsm")

# pandas stores the index of a data frame under such a name; it is not a column of the table.
_PANDAS_INDEX = re.compile(r"__index_level_\d+__")

# Python's default limit of 128 KB for a field is too small for a wide header that is read with a
# delimiter that does not occur in it: the whole header is then one field.
_LONGEST_FIELD = 2**24

# A block of pyarrow, by default 1 MB, must hold a whole row; a very wide table needs more.
_WIDE_BLOCK = 2**28
# A block where rows are read in batches: rows of any width in practice, and little memory.
_STREAM_BLOCK = 2**24
# Parts of pyarrow's errors about a row and about a header that is longer than a block.
_TOO_WIDE = ("straddling", "Empty CSV file or block")


class CsvFile(TableFile):
    """A CSV file, or CSV text from stdin."""

    def __init__(self, name: str, source: str | bytes, delimiter: str | None) -> None:
        self.name = name
        self._source = source
        with _name_in_errors(name):
            self._delimiter, header = self._recognise(delimiter)
        self.columns = tuple(header)
        self._refuse_duplicates()

    def sha256(self) -> str:
        if isinstance(self._source, bytes):
            return hashlib.sha256(self._source).hexdigest()
        return super().sha256()

    def _stream(self) -> Any:
        if isinstance(self._source, str):
            return pa.input_stream(self._source)  # decompresses according to the file extension
        compression = "gzip" if self.name.lower().endswith(".gz") else None
        return pa.input_stream(pa.py_buffer(self._source), compression=compression)

    def _recognise(self, delimiter: str | None) -> tuple[str, list[str]]:
        """The delimiter and the header.

        The delimiter is the one that splits the header and the first row into the most cells, the
        same number in both.
        """
        candidates = (delimiter,) if delimiter else DELIMITERS
        rows = {candidate: self._first_rows(candidate) for candidate in candidates}
        if not rows[candidates[0]]:
            raise ValueError("the file is empty")

        def split(candidate: str) -> int:
            header, *rest = rows[candidate]
            return len(header) if all(len(row) == len(header) for row in rest) else 0

        best = max(candidates, key=split)
        if split(best) <= 1:  # one column, or a first row that does not match the header
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
        """The rows as lists of text; Python's reader counts the lines of the file."""
        with io.TextIOWrapper(self._stream(), encoding="utf-8-sig", newline="") as file:
            default = csv.field_size_limit(_LONGEST_FIELD)
            try:
                yield csv.reader(file, delimiter=delimiter)
            finally:
                csv.field_size_limit(default)

    def line_of(self, row: int) -> int | None:
        # A cell may contain line breaks and an empty line is not a row, so that we have to count.
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

    def batches(
        self, names: Sequence[str], text: Collection[str], n_rows: int
    ) -> Iterator[pa.Table]:
        # The file is read twice, because the type of a column is known only at its end.
        types = {name: pa.string() for name in names}
        numbers = [name for name in names if name not in text]
        with _name_in_errors(self.name):
            kinds = find_types(self._blocks(numbers, types, nullable=True), numbers)
        return self._tables(names, types | kinds, n_rows, nullable=True)

    def verbatim_batches(self, names: Sequence[str], n_rows: int) -> Iterator[pa.Table]:
        return self._tables(names, dict.fromkeys(names, pa.string()), n_rows, nullable=False)

    def _tables(
        self, names: Sequence[str], types: dict[str, pa.DataType], n_rows: int, *, nullable: bool
    ) -> Iterator[pa.Table]:
        with _name_in_errors(self.name):
            for block in self._blocks(names, types, nullable=nullable):
                table = pa.Table.from_batches([block])
                self._refuse_bytes(table)
                yield from self._divided(table, n_rows)

    def _blocks(
        self, names: Sequence[str], types: dict[str, pa.DataType], *, nullable: bool
    ) -> Iterator[pa.RecordBatch]:
        """Blocks of the file; ``nullable`` is whether texts such as NA are missing values."""
        if not names:
            return
        yield from arrow_csv.open_csv(
            self._stream(),
            arrow_csv.ReadOptions(block_size=_STREAM_BLOCK),
            parse_options=self._parse_options(),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=names,
                column_types={name: types[name] for name in names},
                strings_can_be_null=nullable,
            ),
        )

    def _convert(self, options: arrow_csv.ConvertOptions) -> pa.Table:
        with _name_in_errors(self.name):
            try:
                table = self._parse(options)
            except pa.ArrowInvalid as error:
                if any(words in str(error) for words in _TOO_WIDE):
                    table = self._parse(options, block_size=_WIDE_BLOCK)
                else:
                    # Without threads the error message names the row.
                    table = self._parse(options, use_threads=False)
        self._refuse_bytes(table)
        return table

    def _parse(self, options: arrow_csv.ConvertOptions, **read: Any) -> pa.Table:
        return arrow_csv.read_csv(
            self._stream(),
            arrow_csv.ReadOptions(**read),
            parse_options=self._parse_options(),
            convert_options=options,
        )

    def _parse_options(self) -> arrow_csv.ParseOptions:
        return arrow_csv.ParseOptions(
            delimiter=self._delimiter,
            newlines_in_values=True,
            # In a table of one column an empty line is a row with a missing value.
            ignore_empty_lines=len(self.columns) > 1,
        )

    def _refuse_bytes(self, table: pa.Table) -> None:
        """Raise an error for cells that pyarrow could not decode and returned as bytes."""
        for field in table.schema:
            if pa.types.is_binary(field.type) or pa.types.is_large_binary(field.type):
                raise ValueError(
                    f"{self.name}: column {field.name!r} is not UTF-8 text; save it as UTF-8"
                )


class ParquetFile(TableFile):
    """A Parquet file."""

    def __init__(self, path: str) -> None:
        self.name = path
        with _name_in_errors(path):
            self._file = pq.ParquetFile(path)
        names = self._file.schema_arrow.names
        self.columns = tuple(name for name in names if not _PANDAS_INDEX.fullmatch(name))
        self._refuse_duplicates()

    def _read(self, names: Sequence[str], text: Collection[str]) -> pa.Table:
        with _name_in_errors(self.name):
            return self._file.read(columns=list(names)).select(list(names))

    def read_verbatim(self, names: Sequence[str]) -> pa.Table:
        return self._read(names, ())

    def batches(
        self, names: Sequence[str], text: Collection[str], n_rows: int
    ) -> Iterator[pa.Table]:
        with _name_in_errors(self.name):
            for batch in self._file.iter_batches(n_rows, columns=list(names), use_threads=False):
                yield pa.Table.from_batches([batch]).select(list(names))

    def verbatim_batches(self, names: Sequence[str], n_rows: int) -> Iterator[pa.Table]:
        return self.batches(names, (), n_rows)


class ParquetFolder(TableFile):
    """A folder of Parquet files with the same columns, which is read in batches only."""

    def __init__(self, path: str) -> None:
        self.name = path
        self._store = open_parquet(path)
        self.columns = self._store.names
        self._refuse_duplicates()

    def _read(self, names: Sequence[str], text: Collection[str]) -> NoReturn:
        raise ValueError(f"{self.name} is a folder, which this command cannot read; give a file")

    def read_verbatim(self, names: Sequence[str]) -> NoReturn:
        self._read(names, ())

    def batches(
        self, names: Sequence[str], text: Collection[str], n_rows: int
    ) -> Iterator[pa.Table]:
        with _name_in_errors(self.name):
            self._store.kinds(tuple(names))  # an error if the files differ
            for batch in self._store.batches(names, n_rows):
                yield pa.Table.from_batches([batch]).select(list(names))

    def verbatim_batches(self, names: Sequence[str], n_rows: int) -> Iterator[pa.Table]:
        return self.batches(names, (), n_rows)

    def sha256(self) -> str:
        """Of the SHA-256 of each file in turn."""
        digest = hashlib.sha256()
        for path in self._store.paths:
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()


class FeatherFile(TableFile):
    """A Feather file."""

    def __init__(self, path: str) -> None:
        self.name = path
        with _name_in_errors(path), pa.memory_map(path) as file:
            names = pa.ipc.open_file(file).schema.names
        self.columns = tuple(name for name in names if not _PANDAS_INDEX.fullmatch(name))
        self._refuse_duplicates()

    def _read(self, names: Sequence[str], text: Collection[str]) -> pa.Table:
        with _name_in_errors(self.name):
            return feather.read_table(self.name, columns=list(names)).select(list(names))

    def read_verbatim(self, names: Sequence[str]) -> pa.Table:
        return self._read(names, ())


def open_table(path: str, delimiter: str | None = None) -> TableFile:
    """The table at a path, in the format of its file extension; ``-`` is CSV from stdin."""
    if path == STDIN:
        return CsvFile("standard input", read_stdin(), delimiter)
    if Path(path).is_dir():
        return ParquetFolder(path)
    with Path(path).open("rb") as file:  # Python's "no such file" is shorter than pyarrow's
        kind = table_kind(path)
        is_pipe = not stat.S_ISREG(os.fstat(file.fileno()).st_mode)
        if is_pipe and kind != "csv":
            raise ValueError(f"{path} is a pipe; only CSV can be read from a pipe")
        # A pipe can be read only once.
        content = file.read() if is_pipe else None
    if kind == "parquet":
        return ParquetFile(path)
    if kind == "feather":
        return FeatherFile(path)
    if kind == "excel":
        return ExcelFile(path)
    if delimiter is None and ".tsv" in path.lower():
        delimiter = "\t"
    return CsvFile(path, path if content is None else content, delimiter)


def table_kind(path: str) -> str:
    """The format that a file extension stands for: "parquet", "feather", "excel" or "csv"."""
    name = path.lower()
    if name.endswith(_PARQUET_EXTENSIONS):
        return "parquet"
    if name.endswith(_FEATHER_EXTENSIONS):
        return "feather"
    if name.endswith(_EXCEL_EXTENSIONS):
        return "excel"
    if name.removesuffix(".gz").endswith(_CSV_EXTENSIONS):
        return "csv"
    raise ValueError(
        f"{path} has an unknown file extension; give .csv, .csv.gz, .tsv, .txt, .parquet, "
        ".feather or .xlsx"
    )


def check_output_kind(path: str) -> str:
    """The format of a table that is to be written; Excel files can only be read."""
    kind = table_kind(path)
    if kind == "excel":
        raise ValueError(
            f"{path} is an Excel file, which can only be read; give .csv, .parquet or .feather"
        )
    return kind


def stem(path: str) -> str:
    """The name of a table without folder and file extension; its model is named after it.

    Examples
    --------
    >>> stem("data/loans.csv.gz")
    'loans'
    """
    name = Path(path).name
    extensions = (
        *_PARQUET_EXTENSIONS,
        *_FEATHER_EXTENSIONS,
        *_EXCEL_EXTENSIONS,
        *(f"{end}{gz}" for end in _CSV_EXTENSIONS for gz in (".gz", "")),
    )
    for extension in extensions:
        if name.lower().endswith(extension):
            return name[: -len(extension)]
    return name


def write_table(columns: Mapping[str, Sequence[Any]], path: Path) -> None:
    """Write columns to a file in the format of its extension; an error leaves no file behind."""
    kind = check_output_kind(str(path))
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
def _name_in_errors(name: str) -> Iterator[None]:
    """Put the name of the table in front of pyarrow's errors."""
    try:
        yield
    except UnicodeDecodeError:
        raise ValueError(f"{name} is not UTF-8 text; save it as UTF-8") from None
    except (pa.ArrowException, ValueError, OSError) as error:
        if "invalid UTF8" in str(error):
            raise ValueError(f"{name} is not UTF-8 text; save it as UTF-8") from None
        raise ValueError(f"{name}: {error}") from None
