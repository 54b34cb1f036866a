"""The parser of the command line: the commands, their options, and examples.

Nothing heavy is imported here, so that help and wrong usage answer at once.
"""

import argparse
from collections.abc import Callable

from auctor import __version__
from auctor.cli.argument_parser import HelpFormatter, Parser
from auctor.cli.argument_types import read_number, read_parameter
from auctor.cli.examples import EXAMPLES, OVERVIEW
from auctor.cli.scorecard_options import add_scorecard
from auctor.cli.shared_options import (
    add_by,
    add_columns,
    add_cv,
    add_delimiter,
    add_document,
    add_json,
    add_labels,
    add_memory,
    add_model,
    add_out,
    add_problem,
    add_reference,
    add_run,
    add_seed,
    add_spill,
    add_strict,
)


def build_parser() -> argparse.ArgumentParser:
    """Create the parser of the whole command line."""
    parser = Parser(
        prog="auctor",
        description="Train binary scoring models on AUC, partial AUC, KS or precision at k.",
        epilog=OVERVIEW,
        formatter_class=HelpFormatter,
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
                epilog=EXAMPLES[name],
                formatter_class=HelpFormatter,
                allow_abbrev=False,
            )
        )
    return parser


def _add_fit(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_problem(add)
    default = "(default: smooth-aucboost-cv, for ks and p@k exactboost-cv)"
    add("--learner", metavar="NAME", help=f"a name that `auctor learners` lists {default}")
    add(
        "--param",
        metavar="NAME=VALUE",
        type=read_parameter,
        action="append",
        default=[],
        help="set a parameter of the learner, such as n_estimators=100 (repeatable)",
    )
    add(
        "--monotone",
        metavar="COL=+",
        action="append",
        default=[],
        help="the score must rise (x=+) or fall (x=-) with this column; several as x=+,y=-",
    )
    add_cv(add, "0 or at least 2", lambda n: n == 0 or n >= 2, "; 0 skips it")
    add(
        "--max-memory",
        metavar="SIZE",
        help="fit to a file (CSV, Parquet) or a folder of Parquet files larger than memory, using "
        "at most this, such as 2GB; one of the --cv folds is tested instead of all",
    )
    add_spill(add)
    add(
        "--checkpoint",
        metavar="DIR",
        help="folder for the state of the fits: if the command is interrupted, the same command "
        "goes on where it was; the state is removed when the model is written",
    )
    add(
        "--holdout",
        metavar="FILE",
        help="another table with labels, on which the final model is measured as well",
    )
    add(
        "--no-baseline",
        action="store_true",
        help="do not cross-validate logistic regression for comparison",
    )
    add_out(add, "--out", "the model file", ".model.json")
    add_out(add, "--report", "also write an HTML report", ".report.html", nargs="?", const="")
    add_by(add, "in the report, by out-of-fold scores")
    add_document(add)
    add_run(parser)


def _add_compare(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_problem(add)
    add(
        "--learner",
        metavar="NAME",
        action="append",
        default=[],
        help="a name that `auctor learners` lists, or logistic, random-forest, "
        "hist-gradient-boosting, lightgbm, xgboost, ebm of other libraries (repeatable; default: "
        "the default learner for the metric, and the installed ones of other libraries)",
    )
    add_cv(add, "of at least 2", lambda n: n >= 2, "")
    add_run(parser)


def _add_score(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_model(add)
    add_columns(add, "--keep", "copy this column of the table to the result")
    add(
        "--threshold",
        metavar="T",
        type=float,
        help="predict the positive label for scores of T or more (default: the model's threshold)",
    )
    add(
        "--reasons",
        metavar="N",
        type=read_number("from 1 to 100", lambda n: 1 <= n <= 100),
        default=0,
        help="add columns reason_1 to reason_N: the features that change the row's score most, "
        "compared with the average training row, such as tenure=1 (+0.83)",
    )
    add(
        "--direction",
        choices=("both", "up", "down"),
        help="show only reasons that raise the score (up) or lower it (down); default: both",
    )
    add_reference(add)
    add_strict(add)
    add(
        "--digits",
        metavar="N",
        type=read_number("from 1 to 17", lambda n: 1 <= n <= 17),
        default=6,
        help="significant digits of scores and probabilities in CSV; 17 writes all of them, as "
        "Parquet, Feather and --json always do (default: 6)",
    )
    add(
        "--out",
        metavar="FILE",
        help="write the scores to this CSV, Parquet or Feather file (default, or -: CSV to "
        "standard output)",
    )
    add(
        "--spreadsheet-safe",
        action="store_true",
        help="put an apostrophe before texts that a spreadsheet would run as formulas (= + - @)",
    )
    add_memory(add)
    add_delimiter(add)
    add_json(parser)


def _add_show(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a model file that `auctor fit` wrote")
    add_json(parser)


def _add_evaluate(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_model(add)
    add_labels(add)
    add(
        "--at",
        metavar="CRITERION",
        action="append",
        default=[],
        help="print the threshold for a criterion: fpr=0.1 (at most this false positive rate), "
        "tpr=0.9 (at least this true positive rate), precision=0.5 (as many rows as possible of "
        "which at least half are positive), budget=100 (flag at most this many rows; "
        "budget=0.05 a fraction of them) or cost=5 (a missed positive costs as much as 5 false "
        "alarms); repeatable",
    )
    add(
        "--confidence",
        metavar="C",
        type=float,
        help="choose the thresholds of --at so that new rows meet the criterion with this "
        "confidence, such as 0.95 (default: the rows of this table meet the criterion, and about "
        "half of all new tables do not)",
    )
    add_by(add, "at the threshold of the first --at, or that of the model")
    add_strict(add)
    add_seed(add)
    add_memory(add)
    add_spill(add)
    add_delimiter(add)
    add_json(parser)


def _add_report(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_model(add)
    add_labels(add)
    add_out(add, "--out", "the HTML report", ".report.html")
    add_by(add, "in the report")
    add(
        "--time",
        metavar="COL",
        help="a column with the time of each row: the report shows the quality by period",
    )
    add_document(add)
    add(
        "--config",
        metavar="FILE",
        help="a TOML file with these options and a table [card]; it may be the one of the fit, "
        "whose other options are ignored",
    )
    add(
        "--facts",
        metavar="PATH",
        help="also write the numbers of the report as JSON, or - for standard output",
    )
    add_strict(add)
    add("--quiet", action="store_true", help="do not print progress")
    add_seed(add)
    add_memory(add)
    add_spill(add)
    add_delimiter(add)
    add_json(parser)


def _add_monitor(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_model(add)
    add("--target", metavar="COL", help="the column with the labels; rows without one may be empty")
    add("--weight", metavar="COL", help="the column with row weights")
    add("--time", metavar="COL", help="the column with the time of each row: results by period")
    add(
        "--period",
        choices=("day", "week", "month", "quarter", "year"),
        help="what a period of --time is (default: the shortest with at most 24 periods of "
        "typically 100 rows or more)",
    )
    add(
        "--fail-on",
        metavar="LIMITS",
        action="append",
        default=[],
        help="end with exit code 3 if a limit is reached and the change is more than noise: "
        "psi=0.25 (PSI of the score or of any feature), score=0.1 (PSI of the score), "
        "missing=0.05 (more missing values by this fraction of the rows), new=0.01 (fraction of "
        "rows with new categories), p=0.001 (smallest corrected p-value), auc=-0.03, ks=-0.05 "
        "(difference from training), calibration=0.02 (mean prediction minus fraction of "
        "positives); several as psi=0.25,auc=-0.03 (repeatable)",
    )
    page = "also write an HTML page"
    add_out(add, "--report", page, ".monitor.html", nargs="?", const="")
    add("--title", metavar="TEXT", help="the title of the page (default: table and model)")
    add("--quiet", action="store_true", help="do not print progress")
    add_seed(add)
    add_delimiter(add)
    add_json(parser)


def _add_explain(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model file that `auctor fit` wrote")
    add(
        "table",
        metavar="TABLE",
        nargs="?",
        help="a table with rows to explain; - reads CSV from standard input (default: print the "
        "model itself)",
    )
    add(
        "--row",
        metavar="N",
        type=read_number("of at least 1", lambda n: n >= 1),
        action="append",
        default=[],
        help="explain this row, counted from 1 (repeatable; default: the row with the highest "
        "score)",
    )
    add_reference(add)
    add_delimiter(add)
    add_json(parser)


def _add_export(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("model", metavar="MODEL", help="a model file that `auctor fit` wrote")
    add("--to", metavar="FORMAT", required=True, help="sql, onnx, scorecard, python or js")
    add(
        "--out",
        metavar="PATH",
        help="the file, or - for standard output (default: the name of MODEL with the extension of "
        "the format, in the current folder)",
    )
    add(
        "--dialect",
        metavar="NAME",
        help="the database of --to sql: duckdb, sqlite, postgres or mysql, which are tested; "
        "spark, which was run once; bigquery, databricks, redshift, snowflake or trino, which "
        "have not been run (default: duckdb)",
    )
    add(
        "--table",
        metavar="NAME",
        help="the table that the SQL reads, or schema.table (default: data)",
    )
    add_columns(add, "--keep", "a column of the table that the result of the SQL has, too")
    add_columns(add, "--boolean", "a feature of the type BOOLEAN in the database")
    scorecard = parser.add_argument_group("options of --to scorecard").add_argument
    add_scorecard(scorecard)
    add_delimiter(scorecard)
    add_json(parser)


# Name of a command -> its summary, and the function that adds its options.
_COMMANDS: dict[str, tuple[str, Callable[[argparse.ArgumentParser], None]]] = {
    "fit": ("fit a model to a table and cross-validate it", _add_fit),
    "score": ("score the rows of a table with a model", _add_score),
    "evaluate": ("measure how well a model ranks the rows of a table", _add_evaluate),
    "compare": ("cross-validate several learners on the same folds", _add_compare),
    "report": ("write an HTML report of a model on the rows of a table", _add_report),
    "monitor": ("compare new rows with the training of a model: what has moved", _add_monitor),
    "show": (
        "print what a model file says about itself: training rows, settings, quality",
        _add_show,
    ),
    "explain": ("print a model, or explain the scores of rows", _add_explain),
    "export": (
        "write a model as SQL, ONNX, Python or JavaScript that scores rows, or as a scorecard",
        _add_export,
    ),
    "learners": ("list the learners", add_json),
}
