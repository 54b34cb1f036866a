"""The `auctor` command: parses the command line, runs a subcommand, returns an exit code.

Nothing heavy is imported here, so that help and wrong usage answer at once: each subcommand
imports NumPy, scikit-learn or pyarrow if it needs them.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from auctor._text import without_controls
from auctor.cli.argument_parser import WRONG_USAGE
from auctor.cli.config import add_config
from auctor.cli.errors import UsageError, is_expected, one_line
from auctor.cli.output import drop_output, prepare_streams
from auctor.cli.parser import build_parser

OK, FAILED, INTERRUPTED, BROKEN_PIPE = 0, 1, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    code = OK
    try:
        prepare_streams()
        code = _parse_and_run(words)
        sys.stdout.flush()  # a closed pipe or a full disk must show here, not when Python exits
    except BrokenPipeError:
        drop_output()
        return BROKEN_PIPE
    except OSError as error:
        drop_output()
        # A command that has failed has printed its own error, often because of the same full disk.
        return code or _print_error(f"auctor: error: cannot print: {one_line(error)}", FAILED)
    return code


def _parse_and_run(words: list[str]) -> int:
    try:
        parser = build_parser()
        if not words:
            parser.print_help()
            return WRONG_USAGE
        return _run(parser, parser.parse_args(words), words)
    except SystemExit as end:  # argparse exits after --help, --version and wrong usage
        return int(end.code or OK)


def _run(parser: argparse.ArgumentParser, args: argparse.Namespace, words: list[str]) -> int:
    try:
        args = add_config(parser, args, words)
        _require(args)
        args.typed = words
        # Only monitor returns a code of its own, where a limit of --fail-on is broken.
        code: int | None = import_module(f"auctor.cli.{args.command}").run(args)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        return _print_error(f"auctor: interrupted{_how_to_go_on(args)}", INTERRUPTED)
    except UsageError as error:
        see = f"(see auctor {args.command} --help)"
        return _print_error(f"auctor: error: {one_line(error)} {see}", WRONG_USAGE)
    except Exception as error:
        if not is_expected(error):
            raise
        return _print_error(f"auctor: error: {one_line(error)}", FAILED)
    return OK if code is None else code


def _how_to_go_on(args: argparse.Namespace) -> str:
    """What an interrupted command says of its checkpoint, if it has written a state."""
    folder = getattr(args, "checkpoint", None)
    if folder is None or not (Path(folder).is_dir() and any(Path(folder).iterdir())):
        return ""
    return f"; the same command goes on with the state in {without_controls(folder)}"


def _require(args: argparse.Namespace) -> None:
    """Check options that argparse cannot require, because a config file may hold them."""
    if "config" not in vars(args):
        return
    if args.table is None:
        raise UsageError("TABLE is missing; give the file to learn from")
    if args.target is None:
        raise UsageError("--target is missing; give the column with the two labels")


def _print_error(line: str, code: int) -> int:
    with suppress(OSError):  # stderr is closed: the exit code must be enough
        print(line, file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
