"""Options that several commands of the command line share."""

import argparse
from collections.abc import Callable
from typing import Any

from auctor.cli.argument_types import read_delimiter, read_number, read_parameter

Add = Callable[..., object]

_METRICS = (
    "auc, ks, p@k:100 (precision in the top 100 rows; p@k:0.1 in the top 10%%) or pauc:0-0.1 "
    "(partial AUC for false positive rates from 0 to 0.1); default: auc"
)


def add_problem(add: Add) -> None:
    """Options of a table to learn from: the roles of its columns, the metric."""
    add_table(add, nargs="?")
    add("--target", metavar="COL", help="the column with the two labels (required)")
    add(
        "--positive",
        metavar="LABEL",
        help="the label that gets high scores (default: the larger number, or the text that "
        "comes last in alphabetical order)",
    )
    add("--weight", metavar="COL", help="the column with row weights")
    add(
        "--group",
        metavar="COL",
        help="a column such as a customer number: rows with the same value stay in one fold",
    )
    add(
        "--time",
        metavar="COL",
        help="a column with the time of each row: every fold is predicted by a model of the rows "
        "before it, and the column is not a feature",
    )
    add_columns(add, "--drop", "do not use this column")
    add_columns(add, "--categorical", "treat this column of numbers as categories")
    add(
        "--missing",
        metavar="VALUE",
        action="append",
        default=[],
        help="a value that stands for a missing one, such as -9 or unknown, in all columns; "
        "income=-9 in one column; several as -9,-8 (repeatable)",
    )
    add("--metric", metavar="METRIC", default="auc", help=f"the metric to train for: {_METRICS}")


def add_out(add: Add, flag: str, summary: str, extension: str, **more: Any) -> None:
    default = f"default: the name of TABLE with {extension}, in the current folder"
    add(flag, metavar="PATH", help=f"{summary}, or - for standard output ({default})", **more)


def add_cv(add: Add, wanted: str, is_valid: Callable[[int], bool], more: str) -> None:
    help_text = f"number of folds of the cross-validation{more} (default: 5)"
    add("--cv", metavar="N", type=read_number(wanted, is_valid), default=5, help=help_text)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Options of a command that takes a while."""
    add = parser.add_argument
    add("--config", metavar="FILE", help="a TOML file with these options")
    add_seed(add)
    add(
        "--jobs",
        metavar="N",
        type=read_number("other than 0", lambda n: n != 0),
        default=1,
        help="number of threads; -1 uses all cores (default: 1)",
    )
    add("--quiet", action="store_true", help="do not print progress")
    add_delimiter(add)
    add_json(parser)


def add_strict(add: Add) -> None:
    add(
        "--strict",
        action="store_true",
        help="stop with an error, before anything is written, where rows differ from the training "
        "rows: missing values, unknown categories, numbers out of range (default: a warning)",
    )


def add_memory(add: Callable[..., Any]) -> None:
    add(
        "--max-memory",
        metavar="SIZE",
        help="read a CSV or Parquet file larger than memory in batches of rows, using at most "
        "this, such as 2GB; a folder of Parquet files is always read so (default for it: 2GB)",
    )


def add_spill(add: Callable[..., Any]) -> None:
    add(
        "--spill-dir",
        metavar="DIR",
        help="folder for the temporary files of --max-memory (default: that of the system)",
    )


def add_reference(add: Callable[..., Any]) -> None:
    add(
        "--reference",
        metavar="TABLE",
        help="compare with the average row of this table (default: with the average training row, "
        "which is stored in the model)",
    )


def add_document(add: Add) -> None:
    """Options of a report as a document."""
    add("--title", metavar="TEXT", help="the title of the report (default: learner and table)")
    add("--author", metavar="TEXT", help="who is responsible for the report; printed at its top")
    add(
        "--positive-name",
        metavar="TEXT",
        help="what the positive label means, such as churned for 1; used in the report",
    )
    add(
        "--no-example-rows",
        action="store_true",
        help="write no rows into the report (default: nine, at percentiles of the score, which the "
        "panel for one row explains)",
    )
    add(
        "--card",
        metavar="NAME=TEXT",
        type=read_parameter,
        action="append",
        default=[],
        help="an entry of the model card in the report: intended_use, users, out_of_scope, limits, "
        "owner or contact (repeatable; a config file has them in a table [card])",
    )


def add_by(add: Add, where: str) -> None:
    add_columns(
        add,
        "--by",
        "measure each group of rows with the same value of this column, which need not be a "
        f"feature, {where}",
    )
    add(
        "--compare",
        choices=("rest", "pairs"),
        help="test each group of --by against the other groups together, or every two groups "
        "(default: rest)",
    )


def add_model(add: Add) -> None:
    add("model", metavar="MODEL", help="a model file that `auctor fit` wrote")
    add_table(add)


def add_table(add: Add, **more: Any) -> None:
    add("table", metavar="TABLE", help="a table; - reads CSV from standard input", **more)


def add_labels(add: Add) -> None:
    add("--target", metavar="COL", required=True, help="the column with the two labels")
    add("--weight", metavar="COL", help="the column with row weights")
    add(
        "--group",
        metavar="COL",
        help="a column such as a customer number: confidence intervals treat rows with the same "
        "value as dependent",
    )


def add_columns(add: Add, flag: str, summary: str) -> None:
    add(
        flag,
        metavar="COL",
        action="append",
        default=[],
        help=f"{summary}; several as a,b (repeatable)",
    )


def add_seed(add: Add) -> None:
    add(
        "--seed",
        metavar="N",
        type=read_number("between 0 and 4294967295", lambda n: 0 <= n < 2**32),
        default=0,
        help="seed of the random numbers (default: 0)",
    )


def add_delimiter(add: Add) -> None:
    add(
        "--delimiter",
        metavar="CHAR",
        type=read_delimiter,
        help="delimiter of the CSV file: a character or tab (default: whichever of , ; tab | fits)",
    )


def add_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print the result as one JSON object")
