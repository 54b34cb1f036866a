"""Start-up times: imports, help, and the first fit.

Every figure is the wall time in seconds of a new process, or is measured inside one. The runs that
are compared alternate, so that a busy moment of the machine affects both.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from statistics import median

from timing import Row, print_table

N_RUNS = 9
N_COLD = 3

_FIT = """
import time
import numpy as np
from auctor import RankBoost
rng = np.random.default_rng(0)
X = rng.normal(size=(1000, 10))
y = (X[:, 0] + rng.normal(size=1000) > 0).astype(int)
times = []
for _ in range(2):
    start = time.perf_counter()
    RankBoost(n_estimators=50).fit(X, y)
    times.append(time.perf_counter() - start)
print(times[0] - times[1])
"""


def run() -> list[Row]:
    """Return all figures as rows: name, ours, peer, ratio, spread, target."""
    ours, peer = _interleaved(["import auctor", "import numpy"])
    rows = [_row("import auctor", ours, peer, "at most import numpy + 0.1 s")]
    estimator, booster = _interleaved(
        [
            "from auctor import RankBoost",
            "from sklearn.ensemble import HistGradientBoostingClassifier",
        ]
    )
    rows.append(_row("import RankBoost", estimator, booster, "at most scikit-learn's + 0.5 s"))
    command = [sys.executable, "-m", "auctor", "--help"]
    wall = [_wall(command) for _ in range(N_RUNS)]
    rows.append(_row("auctor --help", wall, None, "< 0.15 s"))
    _first_fit(None)  # fills the cache
    warm = [_first_fit(None) for _ in range(N_RUNS)]
    rows.append(_row("first fit minus second fit, warm cache", warm, None, "< 0.5 s"))
    rows.append(_row("first fit minus second fit, cold cache", _cold(), None, "< 6 s"))
    return rows


def _interleaved(statements: Sequence[str]) -> list[list[float]]:
    """Wall times of new processes, one statement each, in turns."""
    times: list[list[float]] = [[] for _ in statements]
    for turn in range(N_RUNS + 1):
        for own_times, statement in zip(times, statements, strict=True):
            seconds = _wall([sys.executable, "-c", statement])
            if turn > 0:  # the first turn loads the files into memory
                own_times.append(seconds)
    return times


def _wall(command: list[str]) -> float:
    start = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start


def _first_fit(cache: str | None) -> float:
    """Return by how much the first fit of a process takes longer than the second."""
    environment = {**os.environ, **({"NUMBA_CACHE_DIR": cache} if cache else {})}
    done = subprocess.run(
        [sys.executable, "-c", _FIT], check=True, capture_output=True, text=True, env=environment
    )
    return float(done.stdout)


def _cold() -> list[float]:
    times = []
    for _ in range(N_COLD):
        with tempfile.TemporaryDirectory() as folder:
            times.append(_first_fit(folder))
    return times


def _row(name: str, ours: list[float], peer: list[float] | None, target: str) -> Row:
    """Return a row of the table; without a peer the spread is that of our own times."""
    row: Row = {"name": name, "ours": median(ours), "peer": None, "ratio": None, "target": target}
    spread = ours
    if peer is not None:
        spread = [theirs / mine for mine, theirs in zip(ours, peer, strict=True)]
        row |= {"peer": median(peer), "ratio": median(spread)}
    return {**row, "spread": f"{min(spread):.2f}..{max(spread):.2f}"}


if __name__ == "__main__":
    print_table(run())
