"""`auctor score`: a score, a probability and a prediction for each row of a table."""

import argparse
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from auctor.cli.errors import UsageError, listed
from auctor.cli.output import (
    STDOUT,
    Output,
    check_outputs,
    data_stdout,
    emit,
    spreadsheet_safe,
    to_json,
    write_csv,
)
from auctor.cli.tables import TableFile, open_table, table_kind, write_table
from auctor.models import Model, TermModel, load

# Rows are explained in blocks: a contribution of every term to every row takes much memory.
_MOST_CELLS = 4_000_000
_SCORED = ("score", "probability", "prediction")


def run(args: argparse.Namespace) -> None:
    """Score a table and print the scores, or write them to a file."""
    out = None if args.out in (None, STDOUT) else Output("--out", args.out)
    if out is not None:
        table_kind(args.out)  # an unknown ending is an error now, not after the work
    check_outputs([out], [args.model, args.table])
    _check_spreadsheet(args)
    model = load(args.model)
    if args.threshold is not None:
        model = replace(model, threshold=_check_threshold(args.threshold))
    explained = _check_reasons(model, args)
    source = open_table(args.table, args.delimiter)
    keep = _check_keep(args.keep, source, args.reasons)
    table = model_features(model, source)
    scored = _score(model, table)
    if explained is not None:
        scored |= reason_columns(explained, table, args.reasons, args.direction)
    kept = source.read_verbatim(keep).to_pydict() if keep else {}
    if args.spreadsheet_safe:
        kept, scored = spreadsheet_safe(kept), spreadsheet_safe(scored)
    if out is not None:
        write_table({**kept, **scored}, out.path)
        n_rows = len(scored["score"])
        facts = {**_facts(args, source, model, n_rows), "out": str(out)}
        emit(facts, f"{n_rows} scores written to {out}", args.json)
    elif args.json:
        print(
            to_json({**_facts(args, source, model, len(scored["score"])), "keep": kept, **scored})
        )
    else:
        write_csv({**kept, **scored}, data_stdout())


def _check_spreadsheet(args: argparse.Namespace) -> None:
    """Only in CSV does a text become a formula: elsewhere an apostrophe would just be wrong."""
    is_printed = args.out in (None, STDOUT)
    is_csv = not args.json if is_printed else table_kind(args.out) == "csv"
    if args.spreadsheet_safe and not is_csv:
        other = "--json" if is_printed else args.out
        raise UsageError(f"--spreadsheet-safe is for CSV, and not for {other}; leave it out")


def _check_threshold(threshold: float) -> float:
    if not math.isfinite(threshold):
        raise ValueError(f"--threshold is {threshold}; give a finite number")
    return threshold


def model_features(
    model: Model, source: TableFile, more: Sequence[str] = (), text: Sequence[str] = ()
) -> pa.Table:
    """The columns that a model needs, and ``more`` of them, with the types it was fitted on.

    Columns that the model does not know are not even parsed, so that a date among them
    does no harm.
    """
    _require_features(model, source)
    names = list(dict.fromkeys([*model.feature_names, *more]))
    return source.read(names, text=[*model.text_features, *text])


def _require_features(model: Model, source: TableFile) -> None:
    missing = [name for name in model.feature_names if name not in source.columns]
    if len(missing) == 1:
        source.require(missing)  # with the nearest name
    if missing:
        raise ValueError(
            f"{source.name} lacks {len(missing)} columns that the model needs: {listed(missing, 5)}"
        )


def explained_model(model: Model, args: argparse.Namespace) -> TermModel:
    """The model with what its rows are compared with: its own reference, or a table's rows."""
    if not isinstance(model, TermModel):
        raise ValueError(
            f"{args.model} is a {model.form} model; rows are explained by additive and linear "
            f"models only. `auctor explain {args.model}` prints the model itself"
        )
    if args.reference is not None:
        rows = model_features(model, open_table(args.reference, args.delimiter))
        return model.with_reference(rows, name=f"the average row of {args.reference}")
    if model.reference is None:
        raise ValueError(
            f"{args.model} has no reference to compare rows with: it was saved by a release that "
            "did not keep one; fit it again, or give the table of the fit by --reference TABLE"
        )
    return model


def _check_reasons(model: Model, args: argparse.Namespace) -> TermModel | None:
    """The model that gives the reasons, before long work; None where none are asked for."""
    if args.reasons > 0:
        return explained_model(model, args)
    for name, given in (("--reference", args.reference), ("--direction", args.direction)):
        if given is not None:
            raise ValueError(f"{name} is given without --reasons; say how many, as --reasons 4")
    return None


def reason_columns(
    model: TermModel, table: pa.Table, n_reasons: int, direction: str | None
) -> dict[str, list[str]]:
    """Columns reason_1, reason_2, ...: the terms that move each row's score most."""
    names = _reason_names(n_reasons)
    columns: dict[str, list[str]] = {name: [] for name in names}
    n_terms = len(model.term_names)
    for start in range(0, table.num_rows, max(1, _MOST_CELLS // n_terms)):
        block = table.slice(start, max(1, _MOST_CELLS // n_terms))
        reasons = model.explain_rows(block).reasons(n_reasons, direction or "both")
        for name, words in zip(names, reasons, strict=True):
            columns[name] += words
    return columns


def _reason_names(n_reasons: int) -> list[str]:
    return [f"reason_{k}" for k in range(1, n_reasons + 1)]


def _check_keep(keep: list[str], source: TableFile, n_reasons: int = 0) -> list[str]:
    source.require(keep)
    clash = [name for name in keep if name in (*_SCORED, *_reason_names(n_reasons))]
    if clash:
        raise ValueError(f"--keep {clash[0]!r} has the name of a column of the result; rename it")
    return list(dict.fromkeys(keep))


def _score(model: Model, table: pa.Table) -> dict[str, list[Any]]:
    """The result's columns as Python values."""
    scores = model.decision_function(table.select(list(model.feature_names)))
    above = (scores > model.threshold).astype(int)
    return {
        "score": scores.tolist(),
        "probability": model.probabilities(scores)[:, 1].tolist(),
        "prediction": np.asarray(model.classes)[above].tolist(),
    }


def _facts(
    args: argparse.Namespace, source: TableFile, model: Model, n_rows: int
) -> dict[str, Any]:
    return {
        "model": args.model,
        "table": source.name,
        "rows": n_rows,
        "positive": model.classes[1],
        "threshold": model.threshold,
    }
