"""Options from a TOML file, read as if they were typed before those of the command line."""

import argparse
import json
import tomllib
from pathlib import Path
from typing import Any

from auctor.cli.errors import UsageError, nearest

# Options that a config file cannot hold.
_EXCLUDED = {"config", "command", "help"}
# Options of a fit that `report --config` takes from its file; it ignores the others.
_OF_REPORTS = {
    "author",
    "by",
    "card",
    "compare",
    "delimiter",
    "group",
    "no_example_rows",
    "positive_name",
    "seed",
    "time",
    "title",
    "weight",
}


def add_config(
    parser: argparse.ArgumentParser, args: argparse.Namespace, argv: list[str]
) -> argparse.Namespace:
    """The options of the command line, completed by those of the ``--config`` file."""
    path = getattr(args, "config", None)
    if path is None:
        return args
    known = set(vars(args)) - _EXCLUDED
    settings = _read(path)
    if args.command == "report":
        settings, known = _of_report(settings, set(vars(parser.parse_args(["fit"])))), _OF_REPORTS
    if args.table is not None:
        settings.pop("table", None)  # the table of the command line replaces that of the file
    words = _as_words(settings, known, path)
    # The parser itself reads the file's options, so that they are checked like any others. The
    # command line comes last: it overrides the file, and adds to options that can be repeated.
    return parser.parse_args([args.command, *words, *argv[1:]])


def _read(path: str) -> dict[str, Any]:
    try:
        with Path(path).open("rb") as file:
            return tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not a valid TOML file: {error}") from None


def _of_report(settings: dict[str, Any], of_fit: set[str]) -> dict[str, Any]:
    """The settings of a report among those of a fit; others, which no fit knows, stay."""

    def is_ignored(key: str) -> bool:
        name = key.replace("-", "_")
        return name in of_fit and name not in _OF_REPORTS

    return {key: value for key, value in settings.items() if not is_ignored(key)}


def _as_words(settings: dict[str, Any], known: set[str], path: str) -> list[str]:
    """The settings as words of a command line."""
    words: list[str] = []
    table = settings.pop("table", None)
    for key, value in settings.items():
        name = key.replace("-", "_")
        if name not in known:
            raise UsageError(f"{path}: unknown option {key!r}{nearest(name, known)}")
        words += _words(f"--{name.replace('_', '-')}", value, f"{path}: {key}")
    return words if table is None else [*words, _text(table, f"{path}: table")]


def _words(flag: str, value: Any, where: str) -> list[str]:
    if isinstance(value, bool):
        return [flag] if value else []
    if isinstance(value, dict):
        return [f"{flag}={name}={_parameter(part)}" for name, part in value.items()]
    if isinstance(value, list):
        return [f"{flag}={_text(part, where)}" for part in value]
    return [f"{flag}={_text(value, where)}"]


def _parameter(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _text(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UsageError(f"{where} is {value!r}; give text or a number")
    return str(value)
