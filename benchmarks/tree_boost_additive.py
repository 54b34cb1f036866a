"""What SmoothTreeBoost loses where features do not interact, and the smooth model is the right one.

Both classes are normal with diagonal covariances, as in section 4.2 of Komori (2010), so that the
best score is a sum of functions of single features. For several numbers of rows the AUC of
SmoothTreeBoost on 40,000 new rows is compared with that of SmoothAUCBoostCV on the same draws.
Every finished run is stored in ``--keep FILE`` at once and not repeated.
"""

import argparse
import sys
from pathlib import Path
from statistics import mean

from kept import Kept, interval, keep, print_row, read_kept, signed

from auctor import SmoothAUCBoostCV, SmoothTreeBoost
from auctor.datasets import make_gaussian_pair
from auctor.metrics import auc

SIZES, N_NEW = (200, 500, 2_000, 10_000), 40_000
METHODS = {"SmoothTreeBoost": SmoothTreeBoost, "SmoothAUCBoostCV": SmoothAUCBoostCV}


def run(sizes: list[int], n_draws: int, path: Path | None) -> Kept:
    """Run the draws without stored results; a draw is a method of its own in the file."""
    kept = read_kept(path)
    new = make_gaussian_pair(N_NEW // 2, N_NEW // 2, random_state=2**31)
    for size in sizes:
        for seed in range(n_draws):
            rows = make_gaussian_pair(size // 2, size // 2, random_state=size + seed)
            for name, make in METHODS.items():
                key = f"{name}, draw {seed}"
                if key not in kept.get(str(size), {}):
                    model = make(n_jobs=2).fit(rows.X, rows.y)
                    area = float(auc(new.y, model.decision_function(new.X)))
                    weight = float(getattr(model, "tree_weight_", 0.0))
                    keep(path, kept, str(size), key, {"auc": [area], "tree_weight": [weight]})
                    note = f"{size} rows, {key}: {area:.5f}, weight of trees {weight:g}"
                    print(note, file=sys.stderr, flush=True)
    return kept


def print_table(kept: Kept, sizes: list[int], n_draws: int) -> None:
    """Mean AUCs, their difference with a 95 % interval over the draws, and the weight of trees."""
    print_row(["rows", "draws", *METHODS, "difference", "mean weight of trees"])
    print_row(["---"] * 6)
    for size in map(str, sizes):
        ours, smooth = (
            [kept[size].get(f"{name}, draw {k}") for k in range(n_draws)] for name in METHODS
        )
        both = [(a, b) for a, b in zip(ours, smooth, strict=True) if a and b]
        gaps = [a["auc"][0] - b["auc"][0] for a, b in both]
        means = [f"{mean(pair[i]['auc'][0] for pair in both):.4f}" for i in (0, 1)]
        weight = mean(a["tree_weight"][0] for a, _ in both)
        print_row([size, str(len(both)), *means, signed(interval(gaps)), f"{weight:.2f}"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--draws", type=int, default=8)
    parser.add_argument("--keep", type=Path, help="file of stored results")
    options = parser.parse_args()
    kept = run(options.sizes, options.draws, options.keep)
    print_table(kept, options.sizes, options.draws)


if __name__ == "__main__":
    main()
