"""`auctor export --to scorecard`: a model as a table of points, as HTML, CSV, Excel or JSON."""

import argparse
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from auctor._text import count
from auctor.cli.errors import UsageError
from auctor.cli.model_rows import read_features, read_labelled
from auctor.cli.options import ColumnRoles
from auctor.cli.out_files import Output, check_outputs
from auctor.cli.output import emit
from auctor.cli.scorecard_options import CARD_ARGUMENTS
from auctor.cli.seen_rows import is_training_table
from auctor.cli.tables import TableFile, open_table, stem
from auctor.models import Model, PointsTable, Scorecard, load

# File extension -> how a card is written to it, with the title of the page.
_WRITERS: dict[str, Callable[[Scorecard, Path, str], Any]] = {
    ".html": lambda card, path, title: card.to_html(path, title=title),
    ".csv": lambda card, path, title: card.to_csv(path),
    ".xlsx": lambda card, path, title: card.to_excel(path),
    ".json": lambda card, path, title: card.save(path),
}


_LONG_DECIMAL = re.compile(r"\.\d{10}")


@dataclass(frozen=True)
class ScorecardOptions:
    """The options of ``auctor export --to scorecard``."""

    model: str
    out: Output
    card: dict[str, Any]  # arguments of Model.to_scorecard
    rows: str | None
    roles: ColumnRoles | None  # None without labels
    title: str | None
    delimiter: str | None
    as_json: bool


def run(args: argparse.Namespace) -> None:
    """Read the options and write the card."""
    if args.rows is None and (args.target is not None or args.weight is not None):
        raise UsageError("--target and --weight are columns of --rows TABLE; give that as well")
    given = ((name, getattr(args, name)) for name in CARD_ARGUMENTS)
    card = {name: value for name, value in given if value is not None}
    roles = None if args.target is None else ColumnRoles(target=args.target, weight=args.weight)
    if args.rows is not None and roles is None and args.weight is not None:
        raise UsageError("--weight needs --target, the column with the two labels")
    out = Output("--out", args.out or f"{stem(args.model).partition('.')[0]}.scorecard.html")
    write_scorecard(
        ScorecardOptions(
            args.model, out, card, args.rows, roles, args.title, args.delimiter, args.json
        )
    )


def write_scorecard(options: ScorecardOptions) -> None:
    """Make the card of a model and write it in the format of the file extension."""
    write = _writer(options.out)
    check_outputs([options.out], [options.model, options.rows], options.as_json)
    model = load(options.model)
    source = None if options.rows is None else open_table(options.rows, options.delimiter)
    card = model.to_scorecard(**options.card, **_rows(model, source, options.roles))
    write(card, options.out.path, options.title or "Scorecard")
    is_seen = source is not None and is_training_table(model, source.sha256())
    emit(_facts(card, options, is_seen), _text(card, options, is_seen), options.as_json)


def _writer(out: Output) -> Callable[[Scorecard, Path, str], Any]:
    extension = out.path.suffix.lower()
    if extension not in _WRITERS or out.is_stdout:
        raise UsageError(
            f"--out is {out.name!r}; give a file that ends in .html (a form to print), .csv, "
            ".xlsx, or .json (which `auctor score` reads)"
        )
    return _WRITERS[extension]


def _rows(model: Model, source: TableFile | None, roles: ColumnRoles | None) -> dict[str, Any]:
    """The rows of ``--rows`` as arguments of ``to_scorecard``."""
    if source is None:
        return {}
    if roles is None:
        return {"X": read_features(model, source).select(list(model.feature_names))}
    labelled = read_labelled(model, source, roles)
    labels = [model.classes[int(positive)] for positive in labelled.positive]
    return {"X": labelled.X, "y": labels, "sample_weight": labelled.weight}


def _facts(card: Scorecard, options: ScorecardOptions, is_seen: bool) -> dict[str, Any]:
    low, high = card.range
    quality = {} if card.quality is None else vars(card.quality)
    return {
        "model": options.model,
        "out": options.out.name,
        **vars(card.scale),
        "base_points": card.base_points,
        "lowest": low,
        "highest": high,
        "terms": list(card.term_names),
        **quality,
        "rows_of_training": is_seen,
    }


def _text(card: Scorecard, options: ScorecardOptions, is_seen: bool) -> str:
    low, high = (card.text(end) for end in card.range)
    n_alone = sum(len(term.features) == 1 for term in card.terms)
    n_pairs = len(card.terms) - n_alone
    pairs = f" and {count(n_pairs, 'pair')}" if n_pairs else ""
    terms = f"{count(n_alone, 'feature')}{pairs}"
    lines = [f"scorecard of {terms}, {low} to {high} points, written to {options.out}"]
    if card.quality is not None and str(card.quality):
        lines.append(f"{card.quality}.")
    if options.roles is not None and is_seen:
        lines.append(
            "The model was fitted to these rows, so that both AUCs are too optimistic: only their "
            "difference counts."
        )
    if options.roles is None:
        lines.append("Give --rows TABLE and --target COL to learn what that costs in AUC.")
    if options.card.get("cuts") != "short" and _has_long_cuts(card):
        lines.append(
            "Some intervals end at long decimals, half-way between two training values; "
            "--rows TABLE --cuts short moves them to short ones that divide these rows alike."
        )
    return "\n".join(lines)


def _has_long_cuts(card: Scorecard) -> bool:
    """Whether an interval ends at a number with ten decimals or more, such as 0.15000000000000002.

    "<= 0.15" would not be the same: the card sends 0.05 * 3, which is 0.15000000000000002, below.
    """
    axes = [axis for term in card.terms if isinstance(term, PointsTable) for axis in term.axes]
    texts = [text for axis in axes if not axis.feature.is_category for text in axis.texts()]
    return any(_LONG_DECIMAL.search(text) for text in texts)
