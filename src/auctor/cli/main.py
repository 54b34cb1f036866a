"""The `auctor` command: its parser, and the way to its subcommands.

Nothing heavy is imported here: help and mistakes in typing answer at once, and NumPy,
scikit-learn and pyarrow are loaded by the subcommand that needs them.
"""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib import import_module
from typing import NoReturn

from auctor import __version__
from auctor.cli.errors import UsageError, is_expected, one_line

# An additive model that needs no tuning by hand; its name in estimators.registry, which is not
# imported here.
DEFAULT_LEARNER = "smooth-aucboost-cv"

OK, FAILED, WRONG_USAGE, INTERRUPTED, BROKEN_PIPE = 0, 1, 2, 130, 141

_FIT_EXAMPLE = """\
example:
  auctor fit loans.csv --target defaulted --drop customer_id --param interactions=0
"""
_SCORE_EXAMPLE = """\
example:
  auctor score loans.model.json new.csv --keep customer_id --out scores.csv
"""
_EVALUATE_EXAMPLE = """\
example:
  auctor evaluate loans.model.json unseen.parquet --target defaulted --json
"""
_EXAMPLES = """\
examples:
  auctor fit loans.csv --target defaulted        fit, and say how well it ranks
  auctor score loans.model.json new.csv          a score for each row of a table
  auctor evaluate loans.model.json unseen.csv --target defaulted

Tables are CSV (.csv, .csv.gz, .tsv, .txt) or Parquet (.parquet), told by their names.
Exit codes: 0 done, 1 error, 2 wrong usage, 130 interrupted.
"""


class _Parser(argparse.ArgumentParser):
    """A parser whose errors take one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USAGE, f"auctor: error: {message} (see {self.prog} --help)\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        args = build_parser().parse_args(argv)
    except SystemExit as end:  # after --help, --version or a mistake
        return int(end.code or OK)
    try:
        import_module(f"auctor.cli.{args.command}").run(args)
        sys.stdout.flush()  # a closed pipe must show here, not when Python ends
    except BrokenPipeError:
        return _leave_pipe()
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


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = _Parser(
        prog="auctor",
        description="Rank two classes with models trained on AUC.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"auctor {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def command(name: str, summary: str, epilog: str | None = None) -> argparse.ArgumentParser:
        return commands.add_parser(
            name,
            help=summary,
            description=f"{summary[0].upper()}{summary[1:]}.",
            epilog=epilog,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )

    _add_fit(command("fit", "fit a model to a table and cross-validate it", _FIT_EXAMPLE))
    _add_score(command("score", "score the rows of a table with a model", _SCORE_EXAMPLE))
    _add_evaluate(
        command("evaluate", "say how well a model ranks the rows of a table", _EVALUATE_EXAMPLE)
    )
    _add_json(command("learners", "list the learners by name", "example:\n  auctor learners\n"))
    return parser


def _add_fit(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("table", metavar="TABLE", help="CSV or Parquet file; - is CSV from standard input")
    add("--target", metavar="COL", required=True, help="the column of the two labels")
    add("--positive", metavar="LABEL", help="the positive label (default: the larger one)")
    add("--weight", metavar="COL", help="the column of row weights")
    _add_columns(add, "--drop", "leave this column out")
    _add_columns(add, "--categorical", "this column of numbers holds categories")
    add(
        "--learner",
        metavar="NAME",
        default=DEFAULT_LEARNER,
        help=f"see `auctor learners` (default: {DEFAULT_LEARNER})",
    )
    add(
        "--param",
        metavar="NAME=VALUE",
        type=_setting,
        action="append",
        default=[],
        help="a parameter of the learner (repeatable)",
    )
    add(
        "--folds",
        metavar="N",
        type=_number("0 or at least 2", lambda n: n == 0 or n >= 2),
        default=5,
        help="folds of the cross-validation; 0 for none (default: 5)",
    )
    add(
        "--seed",
        metavar="N",
        type=_number("between 0 and 4294967295", lambda n: 0 <= n < 2**32),
        default=0,
        help="of all that is drawn at random (default: 0)",
    )
    add(
        "--jobs",
        metavar="N",
        type=_number("other than 0", lambda n: n != 0),
        default=1,
        help="threads; -1 for all cores (default: 1)",
    )
    add("--out", metavar="PATH", help="model file (default: TABLE's name with .model.json, here)")
    add("--quiet", action="store_true", help="no progress on stderr")
    _add_delimiter(add)
    _add_json(parser)


def _add_score(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", metavar="MODEL", help="a file written by `auctor fit`")
    add("table", metavar="TABLE", help="CSV or Parquet file; - is CSV from standard input")
    _add_columns(add, "--keep", "copy this column of the table in front of the scores")
    add("--out", metavar="FILE", help="CSV or Parquet file (default: CSV to standard output)")
    _add_delimiter(add)
    _add_json(parser)


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", metavar="MODEL", help="a file written by `auctor fit`")
    add("table", metavar="TABLE", help="CSV or Parquet file; - is CSV from standard input")
    add("--target", metavar="COL", required=True, help="the column of the two labels")
    add("--weight", metavar="COL", help="the column of row weights")
    _add_delimiter(add)
    _add_json(parser)


def _add_columns(add: Callable[..., object], flag: str, summary: str) -> None:
    add(flag, metavar="COL", action="append", default=[], help=f"{summary} (repeatable)")


def _add_delimiter(add: Callable[..., object]) -> None:
    add(
        "--delimiter",
        metavar="CHAR",
        type=_delimiter,
        help="of a CSV file (default: recognised among , ; tab |)",
    )


def _add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _number(wanted: str, fits: Callable[[int], bool]) -> Callable[[str], int]:
    """A type for argparse: whole numbers that fit."""

    def parse(text: str) -> int:
        if not text.removeprefix("-").isdecimal() or not fits(int(text)):
            raise argparse.ArgumentTypeError(f"give a whole number {wanted}, not {text!r}")
        return int(text)

    return parse


def _setting(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise argparse.ArgumentTypeError(f"give NAME=VALUE, not {text!r}")
    return name.strip(), value


def _delimiter(text: str) -> str:
    char = "\t" if text in ("tab", "\\t") else text
    if len(char) != 1 or not char.isascii() or char in '"\r\n':
        raise argparse.ArgumentTypeError(f"give one character or 'tab', not {text!r}")
    return char


def _say(line: str, code: int) -> int:
    print(line, file=sys.stderr)
    return code


def _leave_pipe() -> int:
    """The reader has gone (``| head``): as quiet about it as other commands."""
    # Python flushes stdout when it ends, which must not fail a second time; where stdout
    # is no real file there is nothing to redirect.
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return BROKEN_PIPE


if __name__ == "__main__":
    sys.exit(main())
