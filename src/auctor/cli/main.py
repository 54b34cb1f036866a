"""The `auctor` command: from what was typed to its subcommand, and to an exit code.

Nothing heavy is imported here: help and mistakes in typing answer at once, and NumPy,
scikit-learn and pyarrow are loaded by the subcommand that needs them.
"""

import argparse
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

from auctor.cli.config import add_config
from auctor.cli.errors import UsageError, is_expected, one_line
from auctor.cli.parser import WRONG_USAGE, build_parser
from auctor.cli.streams import drop_output, prepare_streams

OK, FAILED, INTERRUPTED, BROKEN_PIPE = 0, 1, 130, 141


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    words = list(sys.argv[1:] if argv is None else argv)
    code = OK
    try:
        prepare_streams()
        code = _parse_and_run(words)
        sys.stdout.flush()  # a closed pipe or a full disk must show here, not when Python ends
    except BrokenPipeError:
        drop_output()
        return BROKEN_PIPE
    except OSError as error:
        drop_output()
        # A command that has failed has said why: often the same disk is full.
        return code or _say(f"auctor: error: cannot print: {one_line(error)}", FAILED)
    return code


def _parse_and_run(words: list[str]) -> int:
    try:
        if not words:
            build_parser().print_help()
            return WRONG_USAGE
        args = build_parser().parse_args(words)
        return _run(args, words)
    except SystemExit as end:  # after --help, --version or a mistake
        return int(end.code or OK)


def _run(args: argparse.Namespace, words: list[str]) -> int:
    try:
        args = add_config(build_parser(), args, words)
        _require(args)
        args.typed = words
        import_module(f"auctor.cli.{args.command}").run(args)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        return _say("auctor: interrupted", INTERRUPTED)
    except UsageError as error:
        see = f"(see auctor {args.command} --help)"
        return _say(f"auctor: error: {one_line(error)} {see}", WRONG_USAGE)
    except Exception as error:
        if not is_expected(error):
            raise
        return _say(f"auctor: error: {one_line(error)}", FAILED)
    return OK


def _require(args: argparse.Namespace) -> None:
    """What may stand in a config file, and so is not required of the command line."""
    if "config" in vars(args) and args.table is None:
        raise UsageError("TABLE is missing")
    if "config" in vars(args) and args.target is None:
        raise UsageError("--target is missing: name the column of the two labels")


def _say(line: str, code: int) -> int:
    with suppress(OSError):  # nobody listens: the exit code has to do
        print(line, file=sys.stderr)
    return code


if __name__ == "__main__":
    sys.exit(main())
