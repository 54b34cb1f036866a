"""The files that a command writes: their names, and the checks before any work is done."""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from auctor._files import output_file, write_text_file
from auctor.cli.errors import UsageError
from auctor.cli.output import STDOUT, data_stdout
from auctor.cli.tables import STDIN, stem


class Output(NamedTuple):
    """The destination of an option's output: a path as it was typed, or ``-`` for stdout."""

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
        """Write the whole file at once, or the text to standard output."""
        if self.is_stdout:
            data_stdout().write(text)
        else:
            write_text_file(self.path, text)


def choose_output(out: str | None, table: str, extension: str) -> Output:
    """The file of ``--out``; by default it is named after the table, in the current folder."""
    if out is not None:
        return Output("--out", out)
    if table == STDIN:
        raise UsageError("a table from standard input has no name; give --out a file name")
    return Output("--out", f"{stem(table)}{extension}")


def choose_page(page: str | None, out: str | None, table: str) -> Output | None:
    """The file of ``fit --report``; by default it is in the folder of the model."""
    if page is None:
        return None
    if page:
        return Output("--report", page)
    if out not in (None, STDOUT):
        model = Path(out)
        return Output(
            "--report", str(model.with_name(f"{model.name.partition('.')[0]}.report.html"))
        )
    if table == STDIN:
        raise UsageError("a table from standard input has no name; give --report a file name")
    return Output("--report", f"{stem(table)}.report.html")


def check_outputs(
    outputs: Sequence[Output | None], inputs: Sequence[str | None], as_json: bool = False
) -> None:
    """Raise an error, before any work, for files that cannot or must not be written."""
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
        target = _check_output(output.path, read)
        if target in seen:
            raise UsageError(
                f"{seen[target]} and {output.option} are the same file, {output}; give two names"
            )
        seen[target] = output.option


def _check_output(path: Path, inputs: Sequence[str]) -> Path:
    """The file that would be written, links resolved."""
    if path.is_dir():
        raise ValueError(f"cannot write {path}: it is a folder; give the name of a file")
    try:
        target = output_file(path)
    except ValueError as error:
        raise ValueError(f"{error}, or - for standard output") from None
    folder = target.parent
    if not folder.is_dir():
        raise ValueError(
            f"cannot write {path}: there is no folder {_shown(path, folder)}; create it first"
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"cannot write {path}: the folder {_shown(path, folder)} is not writable")
    if not target.exists():
        return target
    if not os.access(target, os.W_OK):
        raise ValueError(f"cannot write {path}: the file is read-only")
    if any(Path(name).exists() and target.samefile(name) for name in inputs):
        raise ValueError(f"cannot write {path}: the command reads this file; give another name")
    if _is_stdout(target):
        raise ValueError(f"cannot write {path}: standard output is redirected to this file; give -")
    return target


def _shown(path: Path, folder: Path) -> Path:
    """The folder as it was typed, unless a link leads elsewhere."""
    return folder if path.is_symlink() else path.parent


def _is_stdout(target: Path) -> bool:
    """Whether standard output is redirected to the file, which a rename would replace."""
    try:
        return os.path.samestat(target.stat(), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError, AttributeError):  # closed, or not a real file
        return False
