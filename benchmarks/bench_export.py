"""The SQL of the default model in DuckDB beside decision_function and `auctor score`.

    python benchmarks/bench_export.py [--rows 1000000] [--repeats 5]

The model is SmoothAUCBoostCV of 20 columns with interactions. All ways read the same Parquet file,
use one thread and write score, probability and label to a Parquet file (decision_function: scores
only, to memory). They take turns, and the median of the repeats is printed.
"""

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from auctor import SmoothAUCBoostCV
from auctor.models import Model

N_COLUMNS = 20


def make_rows(n_rows: int, seed: int) -> tuple[pa.Table, np.ndarray]:
    """20 columns of which 2 are text, with missing values, and labels with an interaction."""
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(n_rows, N_COLUMNS - 2))
    towns = rng.choice(["north", "south", "west", "east"], size=(n_rows, 2))
    risk = numbers[:, :6].sum(axis=1) + 2 * numbers[:, 0] * numbers[:, 1] + (towns[:, 0] == "west")
    y = risk + 2 * rng.normal(size=n_rows) > 1
    numbers[rng.random(numbers.shape) < 0.03] = np.nan
    columns = {f"x{j}": numbers[:, j] for j in range(N_COLUMNS - 2)}
    return pa.table({**columns, "town": towns[:, 0], "other": towns[:, 1]}), y


def ways(model: Model, folder: Path) -> dict[str, Callable[[], None]]:
    """Name -> a function that scores all rows once."""
    rows, path = folder / "rows.parquet", folder / "m.json"
    model.save(path)
    query = model.to_sql("duckdb", "rows")

    def in_duckdb() -> None:
        connection = duckdb.connect(config={"threads": 1})
        connection.execute(f"CREATE VIEW rows AS SELECT * FROM read_parquet('{rows}')")
        connection.execute(f"COPY ({query}) TO '{folder}/sql.parquet' (FORMAT parquet)")
        connection.close()

    def by_command() -> None:
        command = [sys.executable, "-m", "auctor", "score", path, rows, "--out"]
        done = [*command, folder / "scores.parquet"]
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run(done, check=True, **quiet)

    def in_python() -> None:
        model.decision_function(pq.read_table(rows))

    return {"SQL in DuckDB": in_duckdb, "auctor score": by_command, "decision_function": in_python}


def check(folder: Path, model: Model) -> None:
    """The scores of the SQL are those of the model, bit for bit."""
    scores = pq.read_table(folder / "sql.parquet")["score"].to_numpy()
    expected = model.decision_function(pq.read_table(folder / "rows.parquet"))
    assert np.array_equal(np.sort(scores), np.sort(expected))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    model = SmoothAUCBoostCV().fit(*make_rows(5_000, 0)).model_
    print(f"{len(model.surfaces)} surfaces, SQL of {len(model.to_sql()):,} characters")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        pq.write_table(make_rows(args.rows, 1)[0], folder / "rows.parquet")
        times: dict[str, list[float]] = {}
        for repeat in range(args.repeats + 1):  # the first one only warms up
            for way, score in ways(model, folder).items():
                start = time.perf_counter()
                score()
                if repeat:
                    times.setdefault(way, []).append(time.perf_counter() - start)
        check(folder, model)
    for way, own in times.items():
        print(f"{way:20s} {statistics.median(own):6.2f} s for {args.rows:,} rows")


if __name__ == "__main__":
    main()
