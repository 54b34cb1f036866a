"""What a checkpoint costs: fits with and without one in turns, and the size of the state.

``python benchmarks/checkpoint_cost.py`` fits RankBoost to 1e6 x 20 rows; ``--seconds 5`` writes the
state more often than by default, ``--rows`` and ``--pairs`` change the size and the repetitions.
Times are those of the processor and of the clock. The last lines are the size of the state at the
end, and the time of a fit that repeats all rounds from it.
"""

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from auctor import Checkpoint, RankBoost
from auctor.models.file import to_json


def make_table(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 20))
    return X, X[:, :5].sum(axis=1) + X[:, 5] ** 2 + 3 * rng.normal(size=n_rows) > 1


def timed(X: np.ndarray, y: np.ndarray, checkpoint: Checkpoint | None) -> tuple[float, float, str]:
    start, begin = time.perf_counter(), time.process_time()
    ranker = RankBoost(500, n_jobs=1).fit(X, y, checkpoint=checkpoint)
    used = time.process_time() - begin
    return time.perf_counter() - start, used, to_json(ranker.model_)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--pairs", type=int, default=4)
    parser.add_argument("--seconds", type=float, default=30.0)
    args = parser.parse_args()
    X, y = make_table(int(args.rows))
    timed(X[:1000], y[:1000], None)  # compiles
    models = set()
    with TemporaryDirectory() as folder:
        for k in range(args.pairs):
            state = Path(folder) / str(k)
            for name, own in (
                ("without", None),
                ("with", Checkpoint(state, seconds=args.seconds, keep=True)),
            ):
                clock, used, model = timed(X, y, own)
                models.add(model)
                print(f"{name:8} {clock:7.2f} s, processor {used:7.2f} s", flush=True)
        size = (state / "fit.checkpoint").stat().st_size
        clock, used, model = timed(X, y, Checkpoint(state))
        models.add(model)
    print(f"size of the state {size} bytes")
    print(f"repeated {clock:7.2f} s, processor {used:7.2f} s")
    print(f"{len(models)} different models")


if __name__ == "__main__":
    main()
