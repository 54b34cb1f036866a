"""Coverage of intervals of KS: `ks_ci` and the percentile bootstrap.

    python benchmarks/ks_coverage.py

Normal scores of two classes that differ by ``shift``, for which KS is known; 95 % intervals from
all rows, and for the mean within 5 folds.
"""

import argparse
from itertools import islice
from typing import Any

import numpy as np
from scipy.special import ndtr

from auctor.metrics import ks_ci, roc_curve
from auctor.metrics.bootstrap import resampled_curves
from auctor.metrics.sample import read_sample

SHIFTS = 0.3, 1.0, 2.0, 3.0
SIZES = (30, 30), (50, 200), (200, 200), (1000, 1000)


def percentiles(y: Any, s: Any, n_resamples: int, seed: int) -> Any:
    """Return the percentile bootstrap interval."""
    curve, rng = roc_curve(y, s), np.random.default_rng(seed)
    sample = read_sample(y, {"y_score": s})
    draws, _ = resampled_curves(curve, sample, None, rng, max_steps=len(y) + 1)
    return np.quantile([drawn.ks() for drawn in islice(draws, n_resamples)], [0.025, 0.975])


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of intervals of KS.")
    parser.add_argument("--repetitions", type=int, default=400)
    parser.add_argument("--resamples", type=int, default=200)
    args = parser.parse_args()
    print("shift         rows  true KS  mean KS  percentiles  ks_ci  5 folds: KS  ks_ci")
    for shift in SHIFTS:
        truth = 2 * ndtr(shift / 2) - 1
        for n_pos, n_neg in SIZES:
            y = np.repeat([1, 0], [n_pos, n_neg])
            held, values = np.zeros(3), []
            for seed in range(args.repetitions):
                s = np.random.default_rng([seed, n_pos, n_neg]).normal(size=len(y)) + shift * y
                options = {"n_resamples": args.resamples, "random_state": seed}
                results = [
                    ks_ci(y, s, **options),
                    ks_ci(y, s, **options, folds=np.arange(len(y)) % 5),
                ]
                ends = [
                    percentiles(y, s, args.resamples, seed),
                    *((i.low, i.high) for i in results),
                ]
                held += [low <= truth <= high for low, high in ends]
                values.append([one.value for one in results])
            plain, all_rows, folds = held / args.repetitions
            mean_all, mean_folds = np.mean(values, axis=0)
            print(
                f"{shift:5} {f'{n_pos} + {n_neg}':>12} {truth:8.3f} {mean_all:8.3f} {plain:12.3f} "
                f"{all_rows:6.3f} {mean_folds:12.3f} {folds:6.3f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
