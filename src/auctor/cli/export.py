"""`auctor export`: a model as a file for another engine, such as SQL or JavaScript."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, Self

from auctor._files import complete_file
from auctor.cli import export_scorecard
from auctor.cli.errors import UsageError
from auctor.cli.options import split_names
from auctor.cli.out_files import Output, check_outputs
from auctor.cli.output import emit
from auctor.cli.scorecard_options import SCORECARD_OPTIONS
from auctor.models import Model, load
from auctor.models.export.sql_dialects import DIALECTS

# The dot of a table's name follows a schema; loans.csv would be table "csv" of schema "loans".
_FILES = (".csv", ".csv.gz", ".tsv", ".txt", ".parquet", ".xlsx", ".feather", ".arrow", ".json")
SCORECARD = "scorecard"  # has options, files and figures of its own


@dataclass(frozen=True)
class ExportOptions:
    """Options of some formats; None or empty if they were not given."""

    dialect: str | None = None
    table: str | None = None
    keep: tuple[str, ...] = ()
    boolean: tuple[str, ...] = ()

    @classmethod
    def from_args(cls, args: argparse.Namespace) -> Self:
        keep, boolean = (split_names(names, ()) for names in (args.keep, args.boolean))
        return cls(args.dialect, args.table, keep, boolean)

    @property
    def given(self) -> list[str]:
        """The names of the options that were given."""
        return [name for name, value in vars(self).items() if value]


class Format(NamedTuple):
    """A format: how its file is made and named, and which options it has."""

    title: str
    make: Callable[[Model, ExportOptions], str | bytes]
    extension: str
    options: tuple[str, ...] = ()
    is_text: bool = True


def _to_sql(model: Model, options: ExportOptions) -> str:
    names = {"keep": options.keep, "booleans": options.boolean}
    return model.to_sql(options.dialect or "duckdb", _table_name(options.table or "data"), **names)


def _table_name(name: str) -> list[str]:
    """The parts of a table's name, such as a schema and a table; a file is no table."""
    if name.lower().endswith(_FILES):
        table = Path(name).name.partition(".")[0] or "loans"
        raise UsageError(
            f"--table is {name!r}, a file; give the name of a table in the database, such as "
            f"{table}"
        )
    return name.split(".")


def _to_onnx(model: Model, options: ExportOptions) -> bytes:
    data: bytes = model.to_onnx().SerializeToString()
    return data


# Name of a format, as --to has it -> how its file is made.
FORMATS: dict[str, Format] = {
    "sql": Format("SQL", _to_sql, ".sql", ("dialect", "table", "keep", "boolean")),
    "python": Format("Python code", lambda model, options: model.to_python(), ".py"),
    "js": Format("JavaScript", lambda model, options: model.to_js(), ".js"),
    "onnx": Format("ONNX", _to_onnx, ".onnx", is_text=False),
}


def run(args: argparse.Namespace) -> None:
    """Write a model in the format of ``--to``."""
    options = ExportOptions.from_args(args)
    of_cards = [name for name in SCORECARD_OPTIONS if getattr(args, name) is not None]
    if args.to == SCORECARD:
        _refuse(options.given, SCORECARD)
        export_scorecard.run(args)
        return
    if args.to in FORMATS and of_cards:
        name = of_cards[0].replace("_", "-")
        raise UsageError(f"--{name} is an option of --to {SCORECARD}, not of {args.to}")
    export_model(args.model, args.to, args.out, options, as_json=args.json)


def export_model(
    path: str, to: str, out: str | None, options: ExportOptions, *, as_json: bool
) -> None:
    """Write a model in another format, and say where."""
    if to not in FORMATS:
        raise UsageError(f"--to is {to!r}; give one of {', '.join([*FORMATS, SCORECARD])}")
    wanted = FORMATS[to]
    _refuse([name for name in options.given if name not in wanted.options], to)
    if options.dialect is not None and options.dialect not in DIALECTS:
        raise UsageError(f"--dialect is {options.dialect!r}; give one of {', '.join(DIALECTS)}")
    output = Output("--out", out or f"{Path(path).name.partition('.')[0]}{wanted.extension}")
    check_outputs([output], [path], as_json)
    if output.is_stdout and not wanted.is_text:
        raise UsageError(f"{wanted.title} is not text; give --out a file name")
    model = load(path)
    try:
        content = wanted.make(model, options)
    except ImportError as error:  # a package of the extra is missing, and the message says which
        raise ValueError(str(error)) from None
    _write(output, content)
    if not output.is_stdout:
        size = len(content.encode() if isinstance(content, str) else content)
        facts = {"model": path, "to": to, "out": output.name, "bytes": size}
        emit(facts, f"wrote {output}: {FORMATS[to].title} of {path}, {size:,} bytes", as_json)


def _refuse(odd: list[str], to: str) -> None:
    """Raise an error for the first of the options that the format does not have."""
    if odd:
        formats = [name for name, one in FORMATS.items() if odd[0] in one.options]
        raise UsageError(f"--{odd[0]} is an option of --to {' and '.join(formats)}, not of {to}")


def _write(output: Output, content: str | bytes) -> None:
    if isinstance(content, str):
        output.write_text(content)
    else:
        with complete_file(output.path) as temporary:
            temporary.write_bytes(content)
