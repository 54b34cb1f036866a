"""What a command prints and writes: text for people, one JSON object for machines."""

import csv
import gzip
import json
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO

# Rows turned into text at a time: a broken pipe is noticed soon, and memory stays small.
_ROWS = 10_000


def emit(facts: Mapping[str, Any], text: str, as_json: bool) -> None:
    """Print the result of a command to stdout: the facts as JSON, or the text."""
    print(to_json(facts) if as_json else text)


def to_json(facts: Mapping[str, Any]) -> str:
    """One JSON object; what JSON has no number for (NaN, infinity) is null."""
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
    """A line of progress on stderr: what is being done, for someone who watches or reads a log."""
    if not quiet:
        print(f"auctor: {text}", file=sys.stderr, flush=True)


def warn(sentences: Sequence[str]) -> None:
    """Warnings on stderr, a line each; also where progress is not wanted."""
    for sentence in sentences:
        print(f"auctor: warning: {' '.join(sentence.split())}", file=sys.stderr)


def check_out(path: Path, inputs: Sequence[str]) -> None:
    """Refuse, before any work, an output that could not be written or would destroy an input."""
    folder = path.parent
    if not folder.is_dir():
        raise ValueError(f"cannot write {path}: there is no folder {folder}")
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder; give the name of a file")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"cannot write {path}: the folder {folder} is not writable")
    for name in inputs:
        if path.exists() and Path(name).exists() and path.samefile(name):
            raise ValueError(f"cannot write {path}: the command reads that file")


@contextmanager
def complete_file(path: Path) -> Iterator[Path]:
    """A temporary name beside ``path``, renamed to it at the end or removed after an error."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_csv(columns: Mapping[str, Sequence[Any]], file: TextIO) -> None:
    """Columns of Python values as CSV: quotes only where needed, missing values empty."""
    # pyarrow's writer would quote every text, the header included.
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    n_rows = len(next(iter(columns.values())))
    for start in range(0, n_rows, _ROWS):
        part = slice(start, start + _ROWS)
        writer.writerows(zip(*(values[part] for values in columns.values()), strict=True))


def write_csv_file(columns: Mapping[str, Sequence[Any]], path: Path, compressed: bool) -> None:
    """A CSV file, complete or not there at all."""
    opener: Any = gzip.open if compressed else open
    with (
        complete_file(path) as temporary,
        opener(temporary, "wt", encoding="utf-8", newline="") as file,
    ):
        write_csv(columns, file)
