"""`auctor explain`: a model in words, or why a row has the score it has."""

import argparse
from typing import Any

import numpy as np
import pyarrow as pa

from auctor.cli.output import emit
from auctor.cli.score import model_features
from auctor.cli.tables import open_table
from auctor.data import read_table
from auctor.estimators.explanation import explain_row
from auctor.models import AdditiveModel, Model, load


def run(args: argparse.Namespace) -> None:
    """Print the model, or explain rows of a table."""
    model = load(args.model)
    if args.table is None:
        if args.row:
            raise ValueError("--row wants a table: auctor explain MODEL TABLE --row 1")
        facts = {"model": args.model, "form": model.form, "features": list(model.feature_names)}
        emit({**facts, "text": str(model)}, str(model), args.json)
        return
    if not isinstance(model, AdditiveModel):
        raise ValueError(
            f"{args.model} is a {model.form} model; rows are explained by additive models only. "
            f"`auctor explain {args.model}` prints the model itself"
        )
    table = model_features(model, open_table(args.table, args.delimiter))
    rows = _rows(args.row, model, table)
    # The model keeps no training rows: a row is compared with the average one of its table.
    averages = model.contributions(table).mean(axis=0)
    explained = [explain_row(model, read_table(table.slice(r - 1, 1)), averages) for r in rows]
    facts = {
        "model": args.model,
        "table": args.table,
        "rows": [_facts(row, one) for row, one in zip(rows, explained, strict=True)],
    }
    texts = [f"row {row}: {one}" for row, one in zip(rows, explained, strict=True)]
    texts.append(f"(average row: that of {args.table})")
    emit(facts, "\n\n".join(texts), args.json)


def _rows(wanted: list[int], model: Model, table: pa.Table) -> list[int]:
    """Rows from 1; the one of the highest score unless others are asked for."""
    if not wanted:
        return [int(np.argmax(model.decision_function(table))) + 1]
    beyond = [row for row in wanted if row > table.num_rows]
    if beyond:
        raise ValueError(f"--row is {beyond[0]}, and the table has {table.num_rows} rows")
    return wanted


def _facts(row: int, explained: Any) -> dict[str, Any]:
    parts = [{"feature": name, "value": value, "adds": part} for name, value, part in explained]
    return {"row": row, "score": explained.score, "base": explained.base, "contributions": parts}
