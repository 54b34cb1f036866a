"""Learning from a stream of rows that are never stored: SamplingMartiRank.

Run it with ``python examples/03_learning_from_a_stream.py``; it writes a picture to demo-output/.
The label is the majority of 9 among 20 boolean features, and 30 % of the labels are wrong. The fit
uses millions of rows, its memory does not grow with their number, and the model ranks the true
classes almost perfectly.
"""

import argparse
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np

from auctor import OracleError, SamplingMartiRank
from auctor.datasets import Sample, make_r_of_k

FOLDER = Path("demo-output")
NOISE = 0.3


def draw(n: int, rng: np.random.Generator, noise: float = NOISE) -> Sample:
    """The oracle: n new rows with noisy labels."""
    return make_r_of_k(n, n_features=20, k=9, r=5, noise=noise, random_state=rng)


def measure(max_draws: int, n_layers: int, unseen: Sample) -> tuple[SamplingMartiRank, float]:
    """Fit with at most ``max_draws`` rows for each layer; print rows, memory and AUC."""
    ranker = SamplingMartiRank(n_layers=n_layers, max_draws=max_draws, noise_rate=NOISE)
    tracemalloc.start()
    ranker.fit_oracle(draw)
    peak = tracemalloc.get_traced_memory()[1] / 2**20
    tracemalloc.stop()
    auc = ranker.score(unseen.X, unseen.y_clean)
    print(f"{max_draws:>12,} {ranker.n_draws_:>12,} {peak:>10.1f} MB {auc:>10.4f}", flush=True)
    return ranker, auc


def stop_after(n_draws: int) -> Callable[[int, np.random.Generator], tuple[object, object]]:
    """An oracle that ends after ``n_draws`` rows."""
    left = n_draws

    def some(n: int, rng: np.random.Generator) -> tuple[object, object]:
        nonlocal left
        n, left = min(n, left), max(left - n, 0)
        X, y = draw(max(n, 2), rng)
        return X[:n], y[:n]

    return some


def picture(ranker: SamplingMartiRank, path: Path) -> None:
    """Draw the number of rows of each layer, and how many of its nodes were frozen."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    history = ranker.history_
    layer = np.arange(1, len(history.draws) + 1)
    frozen = np.bincount([node.layer for node in history.frozen], minlength=len(layer) + 1)[1:]
    figure, axes = plt.subplots(2, sharex=True, figsize=(7, 4.5), layout="constrained")
    axes[0].bar(layer, np.array(history.draws) / 1000, color="#2a5b84")
    axes[0].set_ylabel("rows (thousands)")
    axes[1].bar(layer, frozen, color="#b3532f")
    axes[1].set(xlabel="layer", ylabel="nodes frozen")
    axes[0].set_title(f"{ranker.n_draws_:,} rows in total, none of them stored")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def run(n_layers: int = 40, draws: tuple[int, ...] = (10_000, 30_000, 100_000)) -> float:
    """Fit with more and more rows, draw the last fit, and try an oracle that ends too early."""
    unseen = draw(20_000, np.random.default_rng(1), noise=0.0)
    SamplingMartiRank(n_layers=2, max_draws=1000).fit_oracle(draw)  # compiles the kernels
    print("  rows a layer   rows in all  peak memory   clean AUC")
    for max_draws in draws:
        ranker, auc = measure(max_draws, n_layers, unseen)
    print(f"\n{ranker.certificate_}")
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / "stream.png"
    picture(ranker, path)
    print(f"\nThe rows of each layer: {path}")

    print("\nAn oracle that ends too early:")
    try:
        ranker.fit_oracle(stop_after(ranker.n_draws_ // 2))
    except OracleError as error:
        print(f"  {error}")
    half = ranker.score(unseen.X, unseen.y_clean)
    print(f"  The model so far has an AUC of {half:.4f} on clean labels.")
    return auc


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--layers", type=int, default=40)
    parser.add_argument("--draws", type=int, nargs="+", default=[10_000, 30_000, 100_000])
    args = parser.parse_args()
    run(args.layers, tuple(args.draws))
