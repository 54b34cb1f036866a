"""AUC, KS, partial AUC and a threshold of many scores: sorted in files, and in memory.

    python benchmarks/many_scores.py --rows 1e8 --memory-rows 2e7

Each way runs in a process of its own, on the same scores. Its peak is that of its anonymous memory,
which does not count the pages of temporary files. With both sizes equal the results are compared.
"""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
from dataset_memory import Peak

BATCH = 1_000_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", type=float, default=1e8)
    parser.add_argument("--memory-rows", type=float, default=2e7)
    parser.add_argument("--spill-dir")
    parser.add_argument("--one", choices=["files", "memory"])
    options = parser.parse_args()
    if options.one is not None:
        print(json.dumps(measure(options)))
        return
    for way, n_rows in (("files", options.rows), ("memory", options.memory_rows)):
        command = [sys.executable, __file__, "--one", way, "--rows", str(n_rows)]
        command += ["--spill-dir", options.spill_dir] if options.spill_dir else []
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        result = json.loads(done.stdout)
        print(
            f"{way}: {n_rows:.0f} scores, peak {result['peak'] / 1e9:.2f} GB, "
            f"{result['seconds']:.0f} s, processor {result['processor']:.0f} s\n"
            f"  {result['results']}",
            flush=True,
        )


def batches(n_rows: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Labels, a tenth of them positive, and scores."""
    for number, start in enumerate(range(0, n_rows, BATCH)):
        rng = np.random.default_rng(number)
        y = rng.random(min(BATCH, n_rows - start)) < 0.1
        yield y.astype(np.int8), rng.normal(size=len(y)) + y


def measure(options: argparse.Namespace) -> dict:
    """One way, in this process."""
    from auctor import metrics
    from auctor.metrics import from_curve

    warm_up()
    peak, start, processor = Peak(), time.perf_counter(), time.process_time()
    if options.one == "files":
        curve = metrics.roc_curve_of_batches(
            batches(int(options.rows)), pos_label=1, spill_dir=options.spill_dir
        )
        results = (
            from_curve.auc_ci(curve),
            from_curve.ks_ci(curve),
            from_curve.partial_auc_ci(curve, fpr_range=(0, 0.1), scaled=True),
            from_curve.threshold_at(curve, fpr=0.01),
        )
    else:
        y, s = (np.concatenate(parts) for parts in zip(*batches(int(options.rows)), strict=True))
        results = (
            metrics.auc_ci(y, s),
            metrics.ks_ci(y, s),
            metrics.partial_auc_ci(y, s, fpr_range=(0, 0.1), scaled=True),
            metrics.threshold_at(y, s, fpr=0.01),
        )
    return {
        "peak": peak.stop(),
        "seconds": time.perf_counter() - start,
        "processor": time.process_time() - processor,
        "results": " ".join(map(repr, results)),
    }


def warm_up() -> None:
    """Compile the kernels."""
    from auctor import metrics

    rng = np.random.default_rng(0)
    parts = [(rng.integers(0, 2, 50), rng.normal(size=50)) for _ in range(2)]
    metrics.auc_ci(*parts[0])
    metrics.roc_curve_of_batches(parts, pos_label=1)


if __name__ == "__main__":
    main()
