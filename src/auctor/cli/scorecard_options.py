"""The options of `auctor export --to scorecard`. Nothing heavy is imported here."""

from collections.abc import Callable

from auctor.cli.argument_types import read_number

Add = Callable[..., object]

# Arguments of Model.to_scorecard, and all options of scorecards; None where one is not given.
CARD_ARGUMENTS = ("pdo", "odds", "base_score", "direction", "digits", "max_bins", "zero", "cuts")
SCORECARD_OPTIONS = (*CARD_ARGUMENTS, "rows", "target", "weight", "title", "delimiter")


def add_scorecard(add: Add) -> None:
    """Add the options of scorecards to a parser."""
    add("--pdo", metavar="P", type=float, help="points to double the odds (default: 20)")
    add(
        "--odds",
        metavar="O",
        type=float,
        help="the odds (good to bad) at which a row has --base-score points (default: 50)",
    )
    add(
        "--base-score",
        metavar="B",
        type=float,
        help="the points at these odds (default: 600)",
    )
    add(
        "--direction",
        choices=("lower_risk", "higher_risk"),
        help="what more points mean: lower_risk (default) or higher_risk of the positive label; "
        "with higher_risk, --odds are those of the positive label",
    )
    add(
        "--digits",
        metavar="N",
        type=read_number("from 0 to 9", lambda n: 0 <= n <= 9),
        help="decimals of the points (default: 0, whole points)",
    )
    add(
        "--max-bins",
        metavar="N",
        type=read_number("of at least 1", lambda n: n >= 1),
        help="merge the bins of each feature to at most N, besides missing values (default: keep "
        "them)",
    )
    add(
        "--zero",
        choices=("lowest", "average"),
        help="what has 0 points: the lowest bin of each feature (default), or its average",
    )
    add(
        "--cuts",
        choices=("exact", "short"),
        help="cuts between intervals as the model has them (default), or moved to short decimals "
        "that divide --rows in the same way",
    )
    add(
        "--rows",
        metavar="TABLE",
        help="rows, preferably those of the training, by which bins are weighed (default: what the "
        "model remembers of its training)",
    )
    add("--target", metavar="COL", help="the column of --rows with the labels: states the AUC lost")
    add("--weight", metavar="COL", help="the column of --rows with row weights")
    add("--title", metavar="TEXT", help="the title of an HTML card")
