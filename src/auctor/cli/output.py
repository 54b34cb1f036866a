"""Standard streams, and what a command prints: text, JSON for programs, CSV for scores."""

import csv
import gzip
import io
import json
import math
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from auctor._files import complete_file
from auctor._text import one_line, without_controls

STDOUT = "-"

# Rows converted to text at a time: a broken pipe is noticed soon, and memory use stays small.
_ROWS = 10_000


def emit(facts: Mapping[str, Any], text: str, as_json: bool, to_stderr: bool = False) -> None:
    """Print the result of a command: the facts as JSON, or the text.

    ``to_stderr`` is for a command whose standard output already holds a file.
    """
    # A table or a model file of someone else must not control the terminal.
    shown = to_json(facts) if as_json else without_controls(text)
    print(shown, file=sys.stderr if to_stderr else sys.stdout)


def to_json(facts: Mapping[str, Any]) -> str:
    """One JSON object; NaN and infinity, which JSON does not have, become null."""
    return json.dumps(_plain(facts), allow_nan=False, indent=2, default=str)


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value


def note(text: str, quiet: bool) -> None:
    """Print a line of progress to stderr, unless ``--quiet`` was given."""
    if not quiet:
        print(f"auctor: {text}", file=sys.stderr, flush=True)


def warn(sentences: Sequence[str]) -> None:
    """Print warnings to stderr, one on each line; ``--quiet`` does not hide them."""
    for sentence in sentences:
        print(f"auctor: warning: {one_line(sentence)}", file=sys.stderr)


def data_stdout() -> TextIO:
    """Standard output for data: always UTF-8, as in a file."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="strict", newline="")
    return sys.stdout


def write_csv(columns: Mapping[str, Sequence[Any]], file: TextIO) -> None:
    """Write columns of Python values as CSV; missing values are empty cells."""
    write_csv_header(columns, file)
    write_csv_rows(columns, file)


def write_csv_header(names: Iterable[str], file: TextIO) -> None:
    """Write the names of columns as CSV."""
    csv.writer(file, lineterminator="\n").writerow(names)


def write_csv_rows(columns: Mapping[str, Sequence[Any]], file: TextIO) -> None:
    """Write the rows of columns as CSV, without a header."""
    # Python's writer quotes only where needed; pyarrow's would quote every text and the header.
    writer = csv.writer(file, lineterminator="\n")
    n_rows = len(next(iter(columns.values())))
    for start in range(0, n_rows, _ROWS):
        block = slice(start, start + _ROWS)
        writer.writerows(zip(*(values[block] for values in columns.values()), strict=True))


def write_csv_file(columns: Mapping[str, Sequence[Any]], path: Path, compressed: bool) -> None:
    """Write a CSV file; after an error there is no file, rather than a part of one."""
    with complete_file(path) as temporary, open_csv_file(temporary, compressed) as file:
        write_csv(columns, file)


@contextmanager
def open_csv_file(path: Path, compressed: bool) -> Iterator[TextIO]:
    """A file for CSV, which may be compressed by gzip."""
    if not compressed:
        with path.open("w", encoding="utf-8", newline="") as file:
            yield file
        return
    # Without time and file name in the header, the same rows give the same bytes.
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
        io.TextIOWrapper(packed, encoding="utf-8", newline="") as text,
    ):
        yield text


def prepare_streams() -> None:
    """Make sure that a command can print; raise an error before any work if it cannot."""
    # A stream that was closed before Python started is None. Printing to it would use the other
    # stream, or print nothing at all.
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise OSError("standard output is closed; redirect it to a file or a pipe")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names of files and columns may have characters that the terminal cannot show.
        sys.stdout.reconfigure(errors="backslashreplace")


def read_stdin() -> bytes:
    """All of standard input; an error if it is closed."""
    if sys.stdin is None:
        raise ValueError("standard input is closed; give the table as a file, or pipe it in")
    return sys.stdin.buffer.read()


def drop_output() -> None:
    """Discard what could not be printed, so that Python does not try again when it exits."""
    for stream in (sys.stdout, sys.stderr):
        # A stream that is not a real file cannot be redirected, and need not be.
        with suppress(OSError, ValueError, AttributeError):
            try:
                stream.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
