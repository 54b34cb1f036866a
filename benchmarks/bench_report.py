"""`auctor fit --report` on a CSV file of 1e6 x 20, against reading the file and one fit.

The command reads the file, looks for suspicious columns, cross-validates the model and logistic
regression, fits the model and writes the page. The comparison is pandas reading the same file and
one fit of the model. ``--phases`` has the default learner instead, on a table with curves and
interactions, and prints the seconds of each phase.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
from search_samples import LAWS, draw_law
from timing import Row, print_table, seconds

from auctor import SmoothAUCBoost
from auctor.datasets import make_gaussian_pair

N_FEATURES = 20
FIT = ["--learner", "smooth-aucboost", "--target", "y", "--jobs", "2", "--quiet"]


def write_table(n_rows: int, path: Path) -> None:
    """Draw the four Gaussian features of Komori (2010), section 4.2, and columns of noise."""
    sample = make_gaussian_pair(n_rows // 2, n_rows // 2, random_state=0)
    noise = np.random.default_rng(1).normal(size=(n_rows, N_FEATURES - 4))
    frame = pd.DataFrame(np.hstack([sample.X, noise]).astype(np.float32))
    frame.columns = [f"x{j}" for j in range(N_FEATURES)]
    frame.assign(y=sample.y).to_csv(path, index=False)


def read_and_fit(path: Path) -> None:
    """Read the file with pandas and fit the model once."""
    frame = pd.read_csv(path)
    y = frame.pop("y").to_numpy()
    SmoothAUCBoost(n_jobs=2).fit(frame, y)


def command(path: Path, folder: Path, folds: int) -> None:
    """Run the command in a new process, as a user does."""
    out = ["--out", str(folder / "m.json"), "--report", str(folder / "page.html")]
    words = [sys.executable, "-m", "auctor", "fit", str(path), *FIT, "--cv", str(folds), *out]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)


def run(n_rows: int = 1_000_000) -> list[Row]:
    """Time the command with 5 folds and the baseline, and without folds."""
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "table.csv"
        write_table(n_rows, path)
        SmoothAUCBoost().fit(np.random.default_rng(0).normal(size=(100, 2)), np.arange(100) % 2)
        peer = seconds(lambda: read_and_fit(path))
        for folds in (0, 5):
            ours = seconds(lambda folds=folds: command(path, folder, folds))  # type: ignore[misc]
            size = (folder / "page.html").stat().st_size / 1e6
            title = f"fit --report, {n_rows:.0e} x {N_FEATURES} CSV, {folds} folds, {size:.2f} MB"
            row = {"name": title, "ours": ours, "peer": peer, "ratio": peer / ours}
            rows.append(row | {"spread": "one run", "target": ""})
    return rows


def print_phases(n_rows: int) -> None:
    """Run the command with the default learner, and print how long each of its phases takes."""
    with tempfile.TemporaryDirectory() as folder:
        X, y = draw_law(*LAWS["law, 38 % positive"], n_rows)
        X.assign(y=y).to_csv(f"{folder}/table.csv", index=False, float_format="%.6f")
        words = [sys.executable, "-m", "auctor", "fit", "table.csv", "--target", "y", "--report"]
        begun, phase = time.monotonic(), "start"
        options = {"stderr": subprocess.PIPE, "stdout": subprocess.DEVNULL, "text": True}
        with subprocess.Popen(words, cwd=folder, **options) as process:
            last = begun
            for line in chain(process.stderr, ["auctor: end"]):
                if line.startswith("auctor: "):
                    print(f"{phase}: {time.monotonic() - last:.1f} s", flush=True)
                    phase, last = line.removeprefix("auctor: ").strip(), time.monotonic()
        print(f"together: {time.monotonic() - begun:.1f} s")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--phases", action="store_true")
    options = parser.parse_args()
    if options.phases:
        print_phases(options.rows)
    else:
        print_table(run(options.rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
