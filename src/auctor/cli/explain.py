"""`auctor explain`: a model in words, or why a row has the score it has."""

import argparse
from typing import Any

import numpy as np
import pyarrow as pa

from auctor.cli.output import emit
from auctor.cli.score import explained_model, model_features
from auctor.cli.tables import open_table
from auctor.models import Explanation, Model, load


def run(args: argparse.Namespace) -> None:
    """Print the model, or explain rows of a table."""
    model = load(args.model)
    if args.table is None:
        for name, given in (("--row", args.row), ("--reference", args.reference)):
            if given:
                raise ValueError(f"{name} wants a table: auctor explain MODEL TABLE {name} ...")
        facts = {"model": args.model, "form": model.form, "features": list(model.feature_names)}
        emit({**facts, "text": str(model)}, str(model), args.json)
        return
    explained = explained_model(model, args)
    table = model_features(model, open_table(args.table, args.delimiter))
    rows = _rows(args.row, model, table)
    found = explained.explain_rows(table.take([row - 1 for row in rows]))
    facts = {
        "model": args.model,
        "table": args.table,
        "reference": found.reference.name,
        "rows": [_facts(row, one) for row, one in zip(rows, found, strict=True)],
    }
    texts = [f"row {row}: {one}" for row, one in zip(rows, found, strict=True)]
    emit(facts, "\n\n".join(texts), args.json)


def _rows(wanted: list[int], model: Model, table: pa.Table) -> list[int]:
    """Rows from 1; the one of the highest score unless others are asked for."""
    if not wanted:
        return [int(np.argmax(model.decision_function(table))) + 1]
    beyond = [row for row in wanted if row > table.num_rows]
    if beyond:
        raise ValueError(f"--row is {beyond[0]}, and the table has {table.num_rows} rows")
    return wanted


def _facts(row: int, explained: Explanation) -> dict[str, Any]:
    parts = [{"feature": name, "value": value, "adds": part} for name, value, part in explained]
    return {"row": row, "score": explained.score, "base": explained.base, "contributions": parts}
