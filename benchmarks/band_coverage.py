"""Coverage of the confidence bands of score functions: one Newton step against refits.

    python benchmarks/band_coverage.py [--samples 40] [--resamples 40] [--monotone]

Samples of one population: a bent, a rising, a categorical and a noise feature; in the second half
of the table also two features that interact, and surfaces in the model. The standard deviation of a
curve over the samples is what a standard error estimates. Errors are their average over the values
of a feature, relative to that; coverages are of pointwise 95 % bands, averaged over the values: of
the mean curve of all samples, which is what bands are for, and of the curve of 40,000 rows, which
has hardly any penalty and is brought to the scale of the mean curves. For the noise feature, the
last number is how often the simultaneous band holds 0 at all values. With ``--monotone`` the three
numeric features must rise: the bent one cannot follow its curve and is flat in places.
"""

import argparse
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from auctor.data import prepare
from auctor.learners.smooth.bands import ScoreBand, score_bands
from auctor.learners.smooth.settings import SmoothSettings

METHODS = "one-step", "refit"
NAMES = "bent", "rising", "category", "noise"
SIZES = 300, 1000, 4000
# Values of each feature at which curves are compared.
VALUES = [np.linspace(-1.5, 1.5, 13)] * 2 + [np.arange(4.0)] + [np.linspace(-1.5, 1.5, 13)]


def draw(n: int, interact: bool, rng: np.random.Generator) -> Any:
    """Draw rows and labels, which follow a logistic model."""
    X = rng.normal(size=(n, 6))
    X[:, 2] = rng.integers(4, size=n)
    score = np.cos(2 * X[:, 0]) + X[:, 1] + np.array([0.0, 0.5, -0.5, 0.0])[X[:, 2].astype(int)]
    if interact:
        score += X[:, 4] * X[:, 5]
    y = rng.random(n) < 1 / (1 + np.exp(-score + 1))
    return (X if interact else X[:, :4]), y


def at_values(band: ScoreBand, j: int, steps: Any) -> Any:
    """Read steps over the codes of a feature at its values."""
    feature = band.feature
    if feature.is_category:
        return np.array([steps[1 + feature.categories.index(v)] for v in VALUES[j]])
    return steps[1 + np.searchsorted(feature.cuts, VALUES[j])]


class Result(NamedTuple):
    """The bands of one sample at the values: curve, error, ends of the pointwise band."""

    curves: list[Any]
    errors: list[Any]
    holds_zero: bool
    seconds: float


def run(
    n: int, interact: bool, method: str, n_resamples: int, seed: int, signs: tuple[int, ...]
) -> Result:
    """Compute the bands of one sample."""
    X, y = draw(n, interact, np.random.default_rng([seed, n]))
    data = prepare(X, y, categorical_features=[2])
    settings = SmoothSettings(interactions=3 if interact else 0, signs=signs)
    start = perf_counter()
    bands = score_bands(data, settings, method=method, n_resamples=n_resamples, random_state=seed)
    seconds = perf_counter() - start
    own = [bands[j] for j in range(4)]
    noise = own[3]
    inside = (noise.simultaneous_low[1:] <= 0) & (noise.simultaneous_high[1:] >= 0)
    return Result(
        [at_values(band, j, band.table) for j, band in enumerate(own)],
        [at_values(band, j, band.standard_error) for j, band in enumerate(own)],
        bool(inside.all()),
        seconds,
    )


def report(n: int, interact: bool, args: argparse.Namespace, large: list[Any]) -> None:
    """Print a line for each feature and method."""
    for method in METHODS:
        results = [
            run(n, interact, method, args.resamples, seed, args.signs)
            for seed in range(args.samples)
        ]
        seconds = float(np.median([result.seconds for result in results]))
        means = np.concatenate([np.mean([r.curves[j] for r in results], axis=0) for j in range(4)])
        whole = np.concatenate(large)
        scale = (means * whole).sum() / (whole * whole).sum()
        for j, name in enumerate(NAMES):
            curves = np.array([result.curves[j] for result in results])
            errors = np.array([result.errors[j] for result in results])
            deviation = np.sqrt((curves.var(axis=0, ddof=1)).mean())
            ratio = np.sqrt((errors**2).mean()) / deviation
            held = [
                (np.abs(curves - truth) <= 1.96 * errors).mean()
                for truth in (curves.mean(axis=0), scale * large[j])
            ]
            zero = np.mean([r.holds_zero for r in results]) if name == "noise" else np.nan
            surfaces = "with" if interact else "none"
            print(
                f"{n:6} {surfaces:>8} {method:>9} {name:>9} {deviation:9.3f} {ratio:8.2f} "
                f"{held[0]:10.3f} {held[1]:11.3f} {zero:7.2f} {seconds:8.2f}",
                flush=True,
            )


def main() -> None:
    parser = argparse.ArgumentParser(description="Coverage of the bands of score functions.")
    parser.add_argument("--samples", type=int, default=40)
    parser.add_argument("--resamples", type=int, default=40)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--monotone", action="store_true")
    args = parser.parse_args()
    args.signs = (1, 1, 0, 1) if args.monotone else ()
    print(
        "  rows surfaces    method   feature deviation error/it  mean curve large curve  zero"
        "  seconds"
    )
    for interact in (False,) if args.monotone else (False, True):
        large = run(40_000, interact, "one-step", 2, 0, args.signs).curves
        for n in args.sizes:
            report(n, interact, args, large)


if __name__ == "__main__":
    main()
