"""`auctor score`: a score, a probability and a prediction for each row of a table."""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from auctor._spreadsheet import spreadsheet_safe
from auctor.cli.errors import UsageError
from auctor.cli.model_rows import compare_with_training, model_with_reference, read_features
from auctor.cli.options import split_names
from auctor.cli.out_files import Output, check_outputs
from auctor.cli.output import (
    STDOUT,
    data_stdout,
    emit,
    to_json,
    warn,
    write_csv,
)
from auctor.cli.score_card import card_columns, is_scorecard, load_card
from auctor.cli.tables import (
    TableFile,
    check_output_kind,
    open_table,
    table_kind,
    write_table,
)
from auctor.metrics.thresholds import is_flagged
from auctor.models import ExplainedModel, Model, load

# Rows are explained in blocks, since one number for each term and row takes much memory.
MOST_CELLS = 4_000_000
_SCORED = ("score", "probability", "prediction")


@dataclass(frozen=True)
class ScoreOptions:
    """The options of ``auctor score``."""

    model: str
    table: str
    keep: tuple[str, ...]
    threshold: float | None
    n_reasons: int
    direction: str | None
    reference: str | None
    strict: bool
    digits: int
    out: Output | None  # None for standard output
    spreadsheet_safe: bool
    delimiter: str | None
    as_json: bool


def run(args: argparse.Namespace) -> None:
    """Score a table and print the scores, or write them to a file."""
    score_table(
        ScoreOptions(
            model=args.model,
            table=args.table,
            keep=tuple(args.keep),
            threshold=args.threshold,
            n_reasons=args.reasons,
            direction=args.direction,
            reference=args.reference,
            strict=args.strict,
            digits=args.digits,
            out=None if args.out in (None, STDOUT) else Output("--out", args.out),
            spreadsheet_safe=args.spreadsheet_safe,
            delimiter=args.delimiter,
            as_json=args.json,
        )
    )


def score_table(options: ScoreOptions) -> None:
    """Check the options, score the rows, write the result."""
    if options.out is not None:
        check_output_kind(options.out.name)  # an error now, and not after the work
    check_outputs([options.out], [options.model, options.table])
    _check_spreadsheet(options)
    if is_scorecard(options.model):
        _score_by_card(options)
        return
    model = load(options.model)
    if options.threshold is not None:
        model = replace(model, threshold=_check_threshold(options.threshold))
    explaining = _explaining_model(model, options)
    source = open_table(options.table, options.delimiter)
    keep = _check_keep(options.keep, source, options.n_reasons)
    table = read_features(model, source)
    warnings = compare_with_training(model, table, options.strict, options.model)
    warn(warnings)
    scored = _score(model, table)
    if explaining is not None:
        scored |= reason_columns(explaining, table, options.n_reasons, options.direction)
    kept = source.read_verbatim(keep).to_pydict() if keep else {}
    if _is_csv(options):
        scored |= rounded(scored, options.digits)
    if options.spreadsheet_safe:
        kept, scored = spreadsheet_safe(kept), spreadsheet_safe(scored)
    facts = {
        "model": options.model,
        "table": source.name,
        "rows": table.num_rows,
        "positive": model.classes[1],
        "threshold": model.threshold,
        "warnings": warnings,
    }
    _write(facts, kept, scored, options.out, options.as_json)


def _score_by_card(options: ScoreOptions) -> None:
    """Points in place of scores, where the model is a scorecard."""
    of_models = {
        "--threshold": options.threshold,
        "--direction": options.direction,
        "--reference": options.reference,
        "--strict": options.strict,
    }
    card = load_card(options.model, of_models)
    source = open_table(options.table, options.delimiter)
    keep = _check_keep(options.keep, source, options.n_reasons, ("points", "probability"))
    scored = card_columns(card, source, options.n_reasons)
    kept = source.read_verbatim(keep).to_pydict() if keep else {}
    if _is_csv(options):
        scored |= rounded(scored, options.digits, ("probability",))
    if options.spreadsheet_safe:
        kept, scored = spreadsheet_safe(kept), spreadsheet_safe(scored)
    facts = {
        "model": options.model,
        "table": source.name,
        "rows": len(scored["points"]),
        "positive": card.classes[1],
    }
    _write(facts, kept, scored, options.out, options.as_json)


def _write(
    facts: dict[str, Any],
    kept: dict[str, list[Any]],
    scored: dict[str, list[Any]],
    out: Output | None,
    as_json: bool,
) -> None:
    """The columns to a file, or to standard output as JSON or CSV."""
    if out is not None:
        write_table({**kept, **scored}, out.path)
        emit({**facts, "out": str(out)}, f"{facts['rows']} scores written to {out}", as_json)
    elif as_json:
        print(to_json({**facts, "keep": kept, **scored}))
    else:
        write_csv({**kept, **scored}, data_stdout())


# So many digits distinguish all numbers of 64 bits.
_ALL_DIGITS = 17


def _is_csv(options: ScoreOptions) -> bool:
    """Whether the scores are written as CSV; other formats have all digits."""
    if options.out is not None:
        return table_kind(options.out.name) == "csv"
    return not options.as_json


def rounded(
    scored: dict[str, list[Any]], digits: int, names: Sequence[str] = ("score", "probability")
) -> dict[str, list[Any]]:
    """The score and the probability with fewer significant digits.

    Examples
    --------
    >>> rounded({"score": [1.23456789], "probability": [2 / 3]}, 6)
    {'score': [1.23457], 'probability': [0.666667]}
    """
    if digits >= _ALL_DIGITS:
        return {}
    return {name: [float(f"{value:.{digits}g}") for value in scored[name]] for name in names}


def _check_spreadsheet(options: ScoreOptions) -> None:
    """Only in CSV can a text become a formula: elsewhere an apostrophe would just be wrong."""
    if not options.spreadsheet_safe:
        return
    if options.out is not None and table_kind(options.out.name) != "csv":
        raise UsageError(f"--spreadsheet-safe works for CSV only, not for {options.out}")
    if options.out is None and options.as_json:
        raise UsageError("--spreadsheet-safe works for CSV only, not for --json")


def _check_threshold(threshold: float) -> float:
    if not math.isfinite(threshold):
        raise ValueError(f"--threshold is {threshold}; give a finite number")
    return threshold


def _explaining_model(model: Model, options: ScoreOptions) -> ExplainedModel | None:
    """The model that gives the reasons; None where ``--reasons`` is not given."""
    if options.n_reasons > 0:
        return model_with_reference(model, options.model, options.reference, options.delimiter)
    for name, given in (("--reference", options.reference), ("--direction", options.direction)):
        if given is not None:
            raise ValueError(f"{name} needs --reasons; add for example --reasons 4")
    return None


def reason_columns(
    model: ExplainedModel, table: pa.Table, n_reasons: int, direction: str | None
) -> dict[str, list[str]]:
    """Columns reason_1, reason_2, ...: the terms that move each row's score most."""
    names = _reason_names(n_reasons)
    columns: dict[str, list[str]] = {name: [] for name in names}
    n_block = max(1, MOST_CELLS // len(model.term_names))
    for start in range(0, table.num_rows, n_block):
        block = table.slice(start, n_block)
        reasons = model.explain_rows(block).reasons(n_reasons, direction or "both")
        for name, texts in zip(names, reasons, strict=True):
            columns[name] += texts
    return columns


def _reason_names(n_reasons: int) -> list[str]:
    return [f"reason_{k}" for k in range(1, n_reasons + 1)]


def _check_keep(
    keep: Sequence[str], source: TableFile, n_reasons: int, scored: Sequence[str] = _SCORED
) -> list[str]:
    keep = split_names(keep, source.columns)
    source.require(keep)
    clash = [name for name in keep if name in (*scored, *_reason_names(n_reasons))]
    if clash:
        raise ValueError(
            f"--keep {clash[0]!r} has the name of a column of the result; rename it in the table"
        )
    return list(keep)


def _score(model: Model, table: pa.Table) -> dict[str, list[Any]]:
    """The columns score, probability and prediction as Python values."""
    scores = model.decision_function(table.select(list(model.feature_names)))
    flagged = is_flagged(scores, model.threshold).astype(int)
    return {
        "score": scores.tolist(),
        "probability": model.probabilities(scores)[:, 1].tolist(),
        "prediction": np.asarray(model.classes)[flagged].tolist(),
    }
