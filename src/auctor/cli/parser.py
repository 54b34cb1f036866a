"""The parser of the command line: every command, its options, and an example of each.

Nothing heavy is imported here, so that help and mistakes in typing answer at once.
"""

import argparse
import sys
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, NoReturn

from auctor import __version__

WRONG_USAGE = 2

# The usual learner for each loss is in cli.learner, which imports all of them.
_LOSSES = "auc, ks, p@k:100 (or a share, p@k:0.1) or pauc:0-0.1 (default: auc)"

_EXAMPLES = {
    "fit": """\
examples:
  auctor fit loans.csv --target defaulted --drop customer_id --report
  auctor fit loans.csv --target defaulted --loss ks --group customer_id --jobs 2
  auctor fit --config run.toml

A config file has the options by name: table = "loans.csv", target = "defaulted",
drop = ["customer_id"], param = {interactions = 0}. Options on the command line win.
""",
    "score": """\
examples:
  auctor score loans.model.json new.csv --keep customer_id --out scores.csv
  auctor score loans.model.json new.csv --keep customer_id --reasons 4 --out scores.csv
  cat new.csv | auctor score loans.model.json - > scores.csv
""",
    "evaluate": """\
examples:
  auctor evaluate loans.model.json unseen.parquet --target defaulted
  auctor evaluate loans.model.json unseen.parquet --target defaulted --at fpr=0.1 --at budget=500
""",
    "compare": """\
examples:
  auctor compare loans.csv --target defaulted
  auctor compare loans.csv --target defaulted --learner rankboost --learner lightgbm --folds 10
""",
    "report": """\
example:
  auctor report loans.model.json unseen.csv --target defaulted --out unseen.html
""",
    "explain": """\
examples:
  auctor explain loans.model.json                        the model, in words
  auctor explain loans.model.json new.csv --row 1        why the first row has its score
""",
    "learners": """\
example:
  auctor learners
""",
}
_OVERVIEW = """\
examples:
  auctor fit loans.csv --target defaulted --report     fit, say how well it ranks, write a page
  auctor score loans.model.json new.csv                a score for each row of a table
  auctor evaluate loans.model.json unseen.csv --target defaulted

Tables are CSV (.csv, .csv.gz, .tsv, .txt), Parquet (.parquet) or Feather (.feather, .arrow),
told by their names. Exit codes: 0 done, 1 error, 2 wrong usage, 130 interrupted.
"""

Add = Callable[..., object]


class Parser(argparse.ArgumentParser):
    """A parser whose errors take one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(WRONG_USAGE, f"auctor: error: {message} (see {self.prog} --help)\n")

    def _print_message(self, message: str, file: Any = None) -> None:
        """As usual, but help that cannot be printed is an error, as any other output is."""
        if file is sys.stdout:
            file.write(message)
        else:
            super()._print_message(message, file)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As usual, but an option that is not known is told with the nearest one that is."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser = _chosen(self, getattr(found, "command", None))
            flags = [flag for action in parser._actions for flag in action.option_strings]
            near = get_close_matches(unknown[0].partition("=")[0], flags, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            parser.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")
        return found


def _chosen(parser: argparse.ArgumentParser, command: str | None) -> argparse.ArgumentParser:
    """The parser of the command that was typed."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction) and command in action.choices:
            found: argparse.ArgumentParser = action.choices[command]
            return found
    return parser


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    parser = Parser(
        prog="auctor",
        description="Rank two classes with models trained on AUC, KS or precision at k.",
        epilog=_OVERVIEW,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"auctor {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, (summary, add_options) in _COMMANDS.items():
        add_options(
            commands.add_parser(
                name,
                help=summary,
                description=f"{summary[0].upper()}{summary[1:]}.",
                epilog=_EXAMPLES[name],
                formatter_class=argparse.RawDescriptionHelpFormatter,
                allow_abbrev=False,
            )
        )
    return parser


def _add_fit(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    _add_problem(add)
    usual = "(default: smooth-aucboost-cv, for ks and p@k exactboost-cv)"
    add("--learner", metavar="NAME", help=f"see `auctor learners` {usual}")
    add(
        "--param",
        metavar="NAME=VALUE",
        type=_setting,
        action="append",
        default=[],
        help="a parameter of the learner (repeatable)",
    )
    _add_folds(add, "0 or at least 2", lambda n: n == 0 or n >= 2, "; 0 for none")
    add("--no-baseline", action="store_true", help="without logistic regression on the same folds")
    _add_out(add, "--out", "model file", ".model.json")
    _add_out(add, "--report", "also write a page", ".report.html", nargs="?", const="")
    _add_run(parser)


def _add_compare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    _add_problem(add)
    add(
        "--learner",
        metavar="NAME",
        action="append",
        default=[],
        help="ours or logistic, lightgbm, xgboost, ebm ... (repeatable; default: the usual ones)",
    )
    _add_folds(add, "of at least 2", lambda n: n >= 2, "")
    _add_run(parser)


def _add_problem(add: Add) -> None:
    """A table to learn from: target, roles of columns, loss."""
    add("table", metavar="TABLE", nargs="?", help="the table; - is CSV from standard input")
    add("--target", metavar="COL", help="the column of the two labels (required)")
    add("--positive", metavar="LABEL", help="the positive label (default: the larger one)")
    add("--weight", metavar="COL", help="the column of row weights")
    add("--group", metavar="COL", help="rows that belong together (a customer) stay in one fold")
    _add_columns(add, "--drop", "leave this column out")
    _add_columns(add, "--categorical", "this column of numbers holds categories")
    add("--loss", metavar="LOSS", default="auc", help=f"what to train on: {_LOSSES}")


def _add_out(add: Add, flag: str, summary: str, ending: str, **more: Any) -> None:
    usual = f"default: TABLE's name with {ending}, here"
    add(flag, metavar="PATH", help=f"{summary}, or - for standard output ({usual})", **more)


def _add_folds(add: Add, wanted: str, fits: Callable[[int], bool], more: str) -> None:
    help_text = f"folds of the cross-validation{more} (default: 5)"
    add("--folds", metavar="N", type=_number(wanted, fits), default=5, help=help_text)


def _add_run(parser: argparse.ArgumentParser) -> None:
    """Options of a command that works for a while."""
    add = parser.add_argument
    add("--config", metavar="FILE", help="TOML file with these options by name")
    _add_seed(add)
    add(
        "--jobs",
        metavar="N",
        type=_number("other than 0", lambda n: n != 0),
        default=1,
        help="threads; -1 for all cores (default: 1)",
    )
    add("--quiet", action="store_true", help="no progress on stderr")
    _add_delimiter(add)
    _add_json(parser)


def _add_score(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    _add_model(add)
    _add_columns(add, "--keep", "copy this column of the table in front of the scores")
    add("--threshold", metavar="T", type=float, help="predict by this (default: the model's own)")
    add(
        "--reasons",
        metavar="N",
        type=_number("from 1 to 100", lambda n: 1 <= n <= 100),
        default=0,
        help="also write columns reason_1 to reason_N: the features that move the row's score "
        "most, compared with the average training row, as tenure=1 (+0.83)",
    )
    add(
        "--direction",
        choices=("both", "up", "down"),
        help="reasons that raise the score only (up), lower it (down), or both (default)",
    )
    _add_reference(add)
    add("--out", metavar="FILE", help="the scores (default, or -: CSV to standard output)")
    add(
        "--spreadsheet-safe",
        action="store_true",
        help="put an apostrophe before texts that a spreadsheet would run as a formula (= + - @)",
    )
    _add_delimiter(add)
    _add_json(parser)


def _add_reference(add: Callable[..., Any]) -> None:
    add(
        "--reference",
        metavar="TABLE",
        help="compare with the average row of this table (default: the average training row, "
        "which the model keeps)",
    )


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    _add_model(add)
    _add_labels(add)
    add(
        "--at",
        metavar="WISH",
        action="append",
        default=[],
        help="the threshold for fpr=0.1, tpr=0.9, budget=100 (or 0.05) or cost=5 (repeatable)",
    )
    add(
        "--confidence",
        metavar="C",
        type=float,
        help="choose the thresholds of --at such that new rows meet them with this confidence, "
        "such as 0.95 (default: these rows meet them, and about half of all new samples do)",
    )
    _add_seed(add)
    _add_delimiter(add)
    _add_json(parser)


def _add_report(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    _add_model(add)
    _add_labels(add)
    _add_out(add, "--out", "the page", ".report.html")
    add("--facts", metavar="PATH", help="also write its facts as JSON, or - for standard output")
    add("--quiet", action="store_true", help="no progress on stderr")
    _add_seed(add)
    _add_delimiter(add)
    _add_json(parser)


def _add_explain(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", metavar="MODEL", help="a file written by `auctor fit`")
    add("table", metavar="TABLE", nargs="?", help="rows to explain (default: the model itself)")
    add(
        "--row",
        metavar="N",
        type=_number("of at least 1", lambda n: n >= 1),
        action="append",
        default=[],
        help="which rows, from 1 (repeatable; default: the one of the highest score)",
    )
    _add_reference(add)
    _add_delimiter(add)
    _add_json(parser)


def _add_model(add: Add) -> None:
    add("model", metavar="MODEL", help="a file written by `auctor fit`")
    add("table", metavar="TABLE", help="the table; - is CSV from standard input")


def _add_labels(add: Add) -> None:
    add("--target", metavar="COL", required=True, help="the column of the two labels")
    add("--weight", metavar="COL", help="the column of row weights")
    add("--group", metavar="COL", help="rows that belong together, for the intervals")


def _add_columns(add: Add, flag: str, summary: str) -> None:
    add(flag, metavar="COL", action="append", default=[], help=f"{summary} (repeatable)")


def _add_seed(add: Add) -> None:
    add(
        "--seed",
        metavar="N",
        type=_number("between 0 and 4294967295", lambda n: 0 <= n < 2**32),
        default=0,
        help="of all that is drawn at random (default: 0)",
    )


def _add_delimiter(add: Add) -> None:
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


# Name -> what it does, and its options.
_COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "fit": ("fit a model to a table and cross-validate it", _add_fit),
    "score": ("score the rows of a table with a model", _add_score),
    "evaluate": ("say how well a model ranks the rows of a table", _add_evaluate),
    "compare": ("cross-validate several learners on the same folds", _add_compare),
    "report": ("write a page about a model on the rows of a table", _add_report),
    "explain": ("say what a model does, or why a row has its score", _add_explain),
    "learners": ("list the learners by name", _add_json),
}
