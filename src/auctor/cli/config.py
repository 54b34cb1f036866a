"""Options from a TOML file: as if they had been typed before those on the command line."""

import argparse
import json
import tomllib
from pathlib import Path
from typing import Any

from auctor.cli.errors import UsageError, nearest

# What belongs to one call and not to a file.
_NOT_HERE = {"config", "command", "help"}


def add_config(
    parser: argparse.ArgumentParser, args: argparse.Namespace, argv: list[str]
) -> argparse.Namespace:
    """The options with those of ``--config`` where the command line is silent."""
    path = getattr(args, "config", None)
    if path is None:
        return args
    known = set(vars(args)) - _NOT_HERE
    settings = _read(path)
    if args.table is not None:
        settings.pop("table", None)  # two tables in a row would be one too many
    typed = _typed(settings, known, path)
    # Parsed by the parser itself, so that a file is checked as the command line is; what was
    # typed comes last, and wins or, where an option can be repeated, is added.
    return parser.parse_args([args.command, *typed, *argv[1:]])


def _read(path: str) -> dict[str, Any]:
    try:
        with Path(path).open("rb") as file:
            return tomllib.load(file)
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML: {error}") from None


def _typed(settings: dict[str, Any], known: set[str], path: str) -> list[str]:
    """The settings as they would be typed."""
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
        return [f"{flag}={name}={_setting(part)}" for name, part in value.items()]
    if isinstance(value, list):
        return [f"{flag}={_text(part, where)}" for part in value]
    return [f"{flag}={_text(value, where)}"]


def _setting(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _text(value: Any, where: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise UsageError(f"{where} is {value!r}; give text or a number")
    return str(value)
