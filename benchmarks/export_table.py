"""All exports of two models of a real table, each run in its engine on all rows.

    AUCTOR_DATA=folder python benchmarks/export_table.py [--fit-rows 15000] [--engines NAME ...]

The table is adult.csv.gz of the folder AUCTOR_DATA: categories, skewed numbers and missing values.
Two models are fitted to its first rows; one of the others has a category that they do not know.
The engines are those of the tests. For each of them the program prints the largest relative
difference to decision_function, how many labels differ, and whether the ranking is equal.
A scorecard has points in place of scores: they are compared with the points of the model's scores.
"""

import argparse
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from models.export.engines import ENGINES, MariaDB, NotInstalledError

from auctor import SmoothAUCBoostCV, SmoothTreeBoost
from auctor.models import Model

ALL_ENGINES = (*ENGINES, MariaDB)
HEADER = "| model | engine | rows | largest relative difference | other labels | ranking |"


class Difference(NamedTuple):
    """How far the scores of an engine are from those of the model."""

    largest: float
    n_labels: int
    same_ranking: bool


def read_table(path: Path) -> tuple[pa.Table, np.ndarray]:
    """The columns and the target; an empty field is a missing value."""
    options = pa_csv.ConvertOptions(strings_can_be_null=True)
    table = pa_csv.read_csv(path, convert_options=options)
    return table.drop_columns(["target"]), table["target"].to_numpy()


def compare(
    scores: np.ndarray, expected: np.ndarray, labels: np.ndarray, expected_labels: np.ndarray
) -> Difference:
    size = np.maximum(np.abs(expected), np.finfo(np.float64).tiny)
    ranks = (np.unique(values, return_inverse=True)[1] for values in (scores, expected))
    return Difference(
        float(np.max(np.abs(scores - expected) / size)),
        int(np.sum(labels != expected_labels)),
        np.array_equal(*ranks),
    )


def in_engine(engine: Any, model: Model, table: pa.Table) -> Difference:
    outputs = engine.run(model, table)
    return compare(
        np.array([output.score for output in outputs]),
        model.decision_function(table),
        np.array([output.label for output in outputs]),
        model.predict(table),
    )


def on_card(model: Model, table: pa.Table) -> Difference:
    """A scorecard whose points are not rounded; its threshold is that of the model in points."""
    card = model.to_scorecard(digits=None, direction="higher_risk")
    start, factor = card.scale.line(model.calibration.slope, model.calibration.offset)
    points, expected = card.score(table), start + factor * model.decision_function(table)
    is_positive = points >= start + factor * model.threshold
    labels = np.where(is_positive, model.classes[1], model.classes[0])
    return compare(points, expected, labels, model.predict(table))


def differences(
    models: dict[str, Model], table: pa.Table, engines: list[str]
) -> Iterator[tuple[str, str, Difference]]:
    for make in ALL_ENGINES:
        if make.name not in engines:
            continue
        try:
            engine = make()
        except NotInstalledError as error:
            print(f"{make.name} is left out: {error}", file=sys.stderr)
            continue
        for name, model in models.items():
            start = time.perf_counter()
            yield name, make.name, in_engine(engine, model, table)
            print(f"{name}, {make.name}: {time.perf_counter() - start:.1f} s", file=sys.stderr)
        if hasattr(engine, "close"):
            engine.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fit-rows", type=int, default=15_000)
    names = [engine.name for engine in ALL_ENGINES]
    parser.add_argument("--engines", nargs="+", choices=names, default=names)
    args = parser.parse_args()
    table, y = read_table(Path(os.environ["AUCTOR_DATA"]) / "adult.csv.gz")
    n = args.fit_rows
    models = {
        learner.__name__: learner().fit(table.slice(0, n), y[:n]).model_
        for learner in (SmoothAUCBoostCV, SmoothTreeBoost)
    }
    print(HEADER, "|---|---|---|---|---|---|", sep="\n")
    for name, engine, found in differences(models, table, args.engines):
        print_row(name, engine, len(table), found)
    name = SmoothAUCBoostCV.__name__
    print_row(name, "scorecard", len(table), on_card(models[name], table))


def print_row(model: str, engine: str, n_rows: int, found: Difference) -> None:
    ranking = "equal" if found.same_ranking else "different"
    cells = (model, engine, f"{n_rows:,}", f"{found.largest:.1e}", str(found.n_labels), ranking)
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
