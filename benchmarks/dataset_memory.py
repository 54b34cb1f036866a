"""Memory of a fit to a Parquet folder: bytes for each row, and a fit under a hard limit.

    python benchmarks/dataset_memory.py rows            # bytes for each row, of every estimator
    python benchmarks/dataset_memory.py rows --spill    # the same with arrays of rows in files
    python benchmarks/dataset_memory.py extras          # what weights, text and labels add to it
    python benchmarks/dataset_memory.py fit --rows 2e7  # from files and in memory, in turns

Every fit runs in a process of its own. Its peak is that of its anonymous memory, which counts
neither the pages of the temporary files nor those of Parquet files: the system may drop these at
any time. With `--limit` the system refuses more memory than that to the process (RLIMIT_DATA).
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

ESTIMATORS = {
    "RankBoost": {"n_estimators": 20},
    "SoftRankBoost": {"n_estimators": 20},
    "AUCBoost": {"n_estimators": 20},
    "MartiRank": {"n_layers": 10},
    "TreeRank": {},
    "SmoothAUCBoost": {},
    "SmoothAUCBoostCV": {},
    "SmoothTreeBoost": {"n_estimators": 20},
    "ExactBoost": {"n_runs": 4, "n_estimators": 10},
}
BATCH = 500_000
# RLIMIT_DATA counts addresses that are reserved and never used: Arrow's own allocator reserves
# 1 GB at a time, and the C library some for each thread.
PLAIN_MEMORY = {"ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "2"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["rows", "extras", "fit", "one"])
    parser.add_argument("--rows", type=float, default=2e7)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--estimator", default="RankBoost")
    parser.add_argument("--only", help="for rows: measure this estimator alone")
    parser.add_argument("--limit", type=float, default=2e9, help="bytes")
    parser.add_argument("--folder")
    parser.add_argument("--in-memory", action="store_true")
    parser.add_argument("--weight", action="store_true")
    parser.add_argument("--spill", action="store_true", help="ask for the least memory")
    parser.add_argument("--files-only", action="store_true", help="for fit: no fit in memory")
    options = parser.parse_args()
    if options.what == "one":
        print(json.dumps(fit_one(options)))
        return
    with tempfile.TemporaryDirectory(prefix="auctor-benchmark-") as folder:
        if options.what == "rows":
            compare_rows(Path(folder), options)
        elif options.what == "extras":
            compare_extras(Path(folder), options.estimator)
        else:
            compare_fits(options, Path(folder))


def make_folder(
    folder: Path, n_rows: int, n_columns: int, copied: bool = False, extra: str = ""
) -> None:
    """Files of random columns, of which half carry a signal; a tenth of the rows is positive.

    If ``copied``, every row occurs twice. ``extra`` adds weights, or makes the columns or the
    labels text.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    for number, start in enumerate(range(0, n_rows, BATCH)):
        rng = np.random.default_rng(number)
        X = rng.normal(size=(n_columns, min(BATCH, n_rows - start)))
        y = X[: n_columns // 2].sum(axis=0) + 3 * rng.normal(size=X.shape[1])
        columns = {f"x{j}": column for j, column in enumerate(X)}
        table = pa.table({**columns, "y": (y > 1.28 * np.sqrt(n_columns // 2 + 9)).astype("i8")})
        if extra == "weights":
            table = table.append_column("w", pa.array(rng.random(table.num_rows)))
        if extra == "categories":
            names = [f"c{code}" for code in range(50)]
            for j in range(n_columns):
                codes = np.clip(np.floor(8 * X[j] + 25), 0, 49).astype(int)
                table = table.set_column(j, f"x{j}", pa.array(names).take(pa.array(codes)))
        if extra == "labels":
            words = pa.array(["no", "yes"]).take(table["y"].combine_chunks())
            table = table.set_column(n_columns, "y", words)
        if copied:
            half = table.slice(0, table.num_rows // 2)
            table = pa.concat_tables([half, half])
        pq.write_table(table, folder / f"part-{number:04d}.parquet")


def compare_rows(folder: Path, options: argparse.Namespace) -> None:
    """The growth of the peak from a small to a large folder, for each estimator."""
    from auctor.estimators.dataset_fit import SPILLED_BYTES

    sizes = 2_000_000, 6_000_000
    more = ["--spill"] if options.spill else []
    estimators = list(SPILLED_BYTES if options.spill else ESTIMATORS)
    estimators = [options.only] if options.only else estimators
    print("estimator          rows      peak MB at 2e6 rows   at 6e6 rows   bytes per row")
    for kind in ("distinct", "copied"):
        for n_rows in sizes:
            path = folder / f"{kind}{n_rows}"
            path.mkdir()
            make_folder(path, n_rows, 4, copied=kind == "copied")
        for name in estimators:
            small, large = (run(name, folder / f"{kind}{n}", 16e9, *more)["peak"] for n in sizes)
            slope = (large - small) / (sizes[1] - sizes[0])
            print(
                f"{name:18} {kind:9} {small / 1e6:19.0f} {large / 1e6:13.0f} {slope:15.0f}",
                flush=True,
            )


def compare_extras(folder: Path, name: str) -> None:
    """The growth of the peak with weights, with columns of text, and with labels of text."""
    sizes = 2_000_000, 6_000_000
    for extra in ("", "weights", "categories", "labels"):
        peaks = []
        for n_rows in sizes:
            path = folder / f"{extra}{n_rows}"
            path.mkdir()
            make_folder(path, n_rows, 4, copied=True, extra=extra)
            more = ["--weight"] if extra == "weights" else []
            peaks.append(run(name, path, 16e9, *more)["peak"])
        slope = (peaks[1] - peaks[0]) / (sizes[1] - sizes[0])
        print(f"{name} {extra or 'plain':12} {slope:6.0f} bytes per row", flush=True)


def compare_fits(options: argparse.Namespace, folder: Path) -> None:
    """The same rows from files under the limit, and in memory without one."""
    make_folder(folder, int(options.rows), options.columns)
    size = sum(path.stat().st_size for path in folder.iterdir())
    print(f"{options.rows:.0f} x {options.columns} rows, {size / 1e9:.2f} GB of Parquet files")
    stored = run(options.estimator, folder, options.limit)
    if options.files_only:
        print(
            f"from files: peak {stored['peak'] / 1e9:.2f} GB, {stored['seconds']:.0f} s, "
            f"processor {stored['processor']:.0f} s"
        )
        return
    memory = run(options.estimator, folder, 100e9, "--in-memory")
    for title, one in (("from files", stored), ("in memory", memory)):
        print(
            f"{title}: peak {one['peak'] / 1e9:.2f} GB, {one['seconds']:.0f} s, "
            f"processor {one['processor']:.0f} s"
        )
    print(f"ratio of processor times {stored['processor'] / memory['processor']:.2f}")
    print("models are equal" if stored["model"] == memory["model"] else "MODELS DIFFER")


def run(name: str, folder: Path, limit: float, *more: str) -> dict:
    command = [sys.executable, __file__, "one", "--estimator", name, "--folder", str(folder)]
    result = subprocess.run(
        [*command, "--limit", str(limit), *more],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **PLAIN_MEMORY},
    )
    return json.loads(result.stdout)


def fit_one(options: argparse.Namespace) -> dict:
    """Fit one estimator in this process and measure it."""
    resource.setrlimit(resource.RLIMIT_DATA, (int(options.limit), int(options.limit)))
    import hashlib

    import auctor

    estimator = getattr(auctor, options.estimator)(**ESTIMATORS[options.estimator])
    warm_up(estimator)
    peak, start, processor = Peak(), time.perf_counter(), time.process_time()
    if options.in_memory:
        import pyarrow.parquet as pq

        table = pq.read_table(options.folder)
        estimator.fit(table.drop_columns("y"), table.column("y"))
    else:
        limit = least_memory(options) if options.spill else int(options.limit)
        weight = "w" if options.weight else None
        dataset = auctor.read_dataset(options.folder, target="y", weight=weight, max_memory=limit)
        estimator.fit_dataset(dataset)
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        estimator.save(file.name)
        model = hashlib.sha256(Path(file.name).read_bytes()).hexdigest()
    return {
        "peak": peak.stop(),
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - processor,
        "model": model,
    }


def least_memory(options: argparse.Namespace) -> int:
    """The least memory with which a fit is not refused: arrays of rows are then in files."""
    import pyarrow.parquet as pq

    from auctor.data.stored.dataset import FIXED_BYTES
    from auctor.estimators.dataset_fit import SPILLED_BYTES

    n_rows = sum(pq.read_metadata(path).num_rows for path in Path(options.folder).iterdir())
    held_out = 70 if options.estimator == "SmoothTreeBoost" else 0
    return FIXED_BYTES + n_rows * (SPILLED_BYTES[options.estimator] + held_out)


def warm_up(estimator: object) -> None:
    """Compile the kernels on a small table."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 4))
    estimator.fit(X, X[:, 0] + rng.normal(size=500) > 0)


class Peak:
    """The largest anonymous memory of this process, looked at a hundred times a second."""

    def __init__(self) -> None:
        self._largest, self._stop = 0, threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self) -> None:
        while not self._stop.wait(0.01):
            status = Path("/proc/self/status").read_text()
            line = next(line for line in status.splitlines() if line.startswith("RssAnon"))
            self._largest = max(self._largest, int(line.split()[1]) * 1024)

    def stop(self) -> int:
        self._stop.set()
        self._thread.join()
        return self._largest


if __name__ == "__main__":
    main()
