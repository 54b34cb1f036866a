"""What a command prints and writes: text for people, one JSON object for machines."""

import csv
import gzip
import io
import json
import math
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TextIO

from auctor._files import complete_file, output_file, write_text_file
from auctor.cli.errors import UsageError

STDOUT = "-"

# The beginnings of a formula; the last four are the wide forms of East Asian keyboards.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")

# Rows turned into text at a time: a broken pipe is noticed soon, and memory stays small.
_ROWS = 10_000


def emit(facts: Mapping[str, Any], text: str, as_json: bool, aside: bool = False) -> None:
    """Print the result of a command to stdout: the facts as JSON, or the text.

    Text goes to stderr with ``aside``: standard output has a file in it.
    """
    print(to_json(facts) if as_json else text, file=sys.stderr if aside else sys.stdout)


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


class Output(NamedTuple):
    """Where an option sends a file: a path as it was typed, or ``-`` for standard output."""

    option: str
    name: str

    @property
    def is_stdout(self) -> bool:
        return self.name == STDOUT

    @property
    def path(self) -> Path:
        return Path(self.name)

    def __str__(self) -> str:
        return self.name

    def write_text(self, text: str) -> None:
        """The whole file, or the text to standard output."""
        if self.is_stdout:
            data_stdout().write(text)
        else:
            write_text_file(self.path, text)


def check_outputs(
    outputs: Sequence[Output | None], inputs: Sequence[str | None], as_json: bool = False
) -> None:
    """Refuse, before any work, outputs that could not be written or would destroy something."""
    wanted = [output for output in outputs if output is not None]
    printed = [output.option for output in wanted if output.is_stdout]
    printed += ["--json"] if as_json else []
    if len(printed) > 1:
        names = " and ".join(printed)
        raise UsageError(f"{names} would both go to standard output; give one of them a file")
    read = [name for name in inputs if name is not None]
    seen: dict[Path, str] = {}
    for output in wanted:
        if output.is_stdout:
            continue
        target = _check_out(output.path, read)
        if target in seen:
            raise UsageError(f"{seen[target]} and {output.option} name one file, {output}")
        seen[target] = output.option


def _check_out(path: Path, inputs: Sequence[str]) -> Path:
    """The file that would be written; an error where it cannot or must not be."""
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder; give the name of a file")
    try:
        target = output_file(path)
    except ValueError as error:
        raise ValueError(f"{error}, or - for standard output") from None
    folder = target.parent
    if not folder.is_dir():
        raise ValueError(f"cannot write {path}: there is no folder {_shown(path, folder)}")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"cannot write {path}: the folder {_shown(path, folder)} is not writable")
    if not target.exists():
        return target
    if not os.access(target, os.W_OK):
        raise ValueError(f"cannot write {path}: the file is read-only")
    if any(Path(name).exists() and target.samefile(name) for name in inputs):
        raise ValueError(f"cannot write {path}: the command reads that file")
    if _is_stdout(target):
        raise ValueError(f"cannot write {path}: standard output goes to that file; give -")
    return target


def _shown(path: Path, folder: Path) -> Path:
    """The folder as it was typed, unless a link leads elsewhere."""
    return folder if path.is_symlink() else path.parent


def _is_stdout(target: Path) -> bool:
    """Whether standard output is redirected to the file, which a rename would take from it."""
    try:
        return os.path.samestat(target.stat(), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError, AttributeError):  # closed, or no real file
        return False


def data_stdout() -> TextIO:
    """Standard output for data: UTF-8 as in a file, whatever the terminal's encoding is."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="strict", newline="")
    return sys.stdout


def write_csv(columns: Mapping[str, Sequence[Any]], file: TextIO) -> None:
    """Columns of Python values as CSV: quotes only where needed, missing values empty."""
    # pyarrow's writer would quote every text, the header included.
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    n_rows = len(next(iter(columns.values())))
    for start in range(0, n_rows, _ROWS):
        part = slice(start, start + _ROWS)
        writer.writerows(zip(*(values[part] for values in columns.values()), strict=True))


def spreadsheet_safe(columns: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Columns whose texts no spreadsheet runs as a formula: these begin with an apostrophe.

    Spreadsheets run cells that begin with one of = + - @, a tab or a carriage return. Numbers
    stay as they are, also those in texts.

    Examples
    --------
    >>> spreadsheet_safe({"a": ["=1+1", "-5.2", "plain", -3]})
    {'a': ["'=1+1", '-5.2', 'plain', -3]}
    """
    return {
        str(_safe(name)): [_safe(value) for value in values] for name, values in columns.items()
    }


def _safe(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith(_FORMULA) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"


def write_csv_file(columns: Mapping[str, Sequence[Any]], path: Path, compressed: bool) -> None:
    """A CSV file, complete or not there at all."""
    with complete_file(path) as temporary:
        if compressed:
            # Without the time and the temporary name: the same rows make the same file.
            with (
                temporary.open("wb") as raw,
                gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
                io.TextIOWrapper(packed, encoding="utf-8", newline="") as file,
            ):
                write_csv(columns, file)
        else:
            with temporary.open("w", encoding="utf-8", newline="") as file:
                write_csv(columns, file)
