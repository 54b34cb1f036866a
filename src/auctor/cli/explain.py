"""`auctor explain`: a model in words, or why a row has the score that it has."""

import argparse
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from auctor.cli.model_rows import model_with_reference, read_features
from auctor.cli.output import emit
from auctor.cli.tables import open_table
from auctor.models import Explanation, Model, load


def run(args: argparse.Namespace) -> None:
    """Print the model, or explain rows of a table."""
    if args.table is not None:
        explain_rows(
            args.model, args.table, args.row, args.reference, args.delimiter, as_json=args.json
        )
        return
    for name, given in (("--row", args.row), ("--reference", args.reference)):
        if given:
            raise ValueError(f"{name} needs a table: auctor explain MODEL TABLE {name} ...")
    explain_model(args.model, as_json=args.json)


def explain_model(path: str, *, as_json: bool) -> None:
    """Print the model itself."""
    model = load(path)
    facts = {"model": path, "form": model.form, "features": list(model.feature_names)}
    emit({**facts, "text": str(model)}, str(model), as_json)


def explain_rows(
    path: str,
    table_path: str,
    row_numbers: Sequence[int],
    reference: str | None,
    delimiter: str | None,
    *,
    as_json: bool,
) -> None:
    """Print what each feature adds to the score of some rows."""
    model = model_with_reference(load(path), path, reference, delimiter)
    table = read_features(model, open_table(table_path, delimiter))
    numbers = _row_numbers(row_numbers, model, table)
    explanations = model.explain_rows(table.take([number - 1 for number in numbers]))
    pairs = list(zip(numbers, explanations, strict=True))
    facts = {
        "model": path,
        "table": table_path,
        "reference": explanations.reference.name,
        "rows": [_facts(number, explanation) for number, explanation in pairs],
    }
    texts = [f"row {number}: {explanation}" for number, explanation in pairs]
    emit(facts, "\n\n".join(texts), as_json)


def _row_numbers(wanted: Sequence[int], model: Model, table: pa.Table) -> list[int]:
    """Row numbers from 1; by default that of the highest score."""
    if not wanted:
        return [int(np.argmax(model.decision_function(table))) + 1]
    beyond = [number for number in wanted if number > table.num_rows]
    if beyond:
        raise ValueError(
            f"--row is {beyond[0]}, but the table has {table.num_rows} rows; give a number from 1 "
            f"to {table.num_rows}"
        )
    return list(wanted)


def _facts(number: int, explanation: Explanation) -> dict[str, Any]:
    parts = [{"feature": name, "value": value, "adds": part} for name, value, part in explanation]
    return {
        "row": number,
        "score": explanation.score,
        "base": explanation.base,
        "contributions": parts,
    }
