"""How well SamplingMartiRank estimates the noise rate, and the cost of a wrong one.

Run it with ``python benchmarks/noise_rate.py``; it takes a few minutes. Labels are majorities
of k among n boolean features; the AUC is that on 20,000 rows with clean labels.
"""

import sys
from typing import Any

import numpy as np

from auctor import SamplingMartiRank
from auctor.datasets import make_r_of_k

DISTRIBUTIONS: dict[str, dict[str, Any]] = {
    "5 of 9": {"n_features": 9, "k": 5, "r": 3},
    "9 of 20": {"n_features": 20, "k": 9, "r": 5},
    "9 of 20, 70 % positive": {"n_features": 20, "k": 9, "r": 5, "positive_fraction": 0.7},
}
ETAS = (0.0, 0.1, 0.2, 0.3, 0.4)
N_SEEDS = 5


def measure(distribution: dict[str, Any], eta: float, noise_rate: float | None) -> tuple[Any, Any]:
    """Return the estimated rates and the AUCs on clean labels for all seeds."""
    unseen = make_r_of_k(20_000, random_state=99, **distribution)

    def draw(n: int, rng: np.random.Generator) -> Any:
        return make_r_of_k(n, noise=eta, random_state=rng, **distribution)

    fits = [
        SamplingMartiRank(
            n_layers=25, max_draws=25_000, noise_rate=noise_rate, random_state=seed
        ).fit_oracle(draw)
        for seed in range(N_SEEDS)
    ]
    rates = np.array([fit.history_.noise_rate for fit in fits])
    return rates, np.array([fit.score(unseen.X, unseen.y) for fit in fits])


def main() -> int:
    head = f"{'distribution':24}{'eta':>6}{'guesses':>18}{'farthest':>10}"
    print(f"{head}{'AUC, guessed':>14}{'eta given':>11}{'0 given':>9}")
    for name, distribution in DISTRIBUTIONS.items():
        for eta in ETAS:
            rates, guessed = measure(distribution, eta, None)
            given, zero = (measure(distribution, eta, rate)[1] for rate in (eta, 0.0))
            span = f"{rates.min():.3f} to {rates.max():.3f}"
            line = f"{name:24}{eta:>6.1f}{span:>18}{np.abs(rates - eta).max():>10.3f}"
            print(
                f"{line}{guessed.mean():>14.4f}{given.mean():>11.4f}{zero.mean():>9.4f}", flush=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
