"""Theorem 2: the time of AUCBoost, O(m T log m) besides the weak rankers."""

from collections.abc import Callable
from functools import partial
from math import log
from statistics import median
from time import process_time

import numpy as np

from auctor import AUCBoost
from papers.experiment import Case, CaseResults, Result, Setup
from papers.long_servedio_2007.distributions import majority
from papers.long_servedio_2007.rates import at_most, fit_power, interval
from papers.page import Page

_K, _N_FEATURES = 9, 20


def sizes(setup: Setup) -> tuple[list[int], list[int]]:
    """Rows m at one T, and rounds T at one m; the first of each is the common one."""
    rows = setup.pick(
        [10_000, 30_000, 100_000, 300_000], [5_000, 10_000, 20_000], [500, 1000, 2000]
    )
    return rows, setup.pick([50, 100, 200, 400], [50, 100, 200], [5, 10, 20])


def cases(setup: Setup) -> list[Case]:
    """One case per number of rows and of rounds."""
    rows, rounds = sizes(setup)
    pairs = [*((m, rounds[0]) for m in rows), *((rows[0], T) for T in rounds[1:])]
    return [
        Case(_name(m, T), partial(measure, m, T, setup.seed), cost=m * T / 1e7) for m, T in pairs
    ]


def _name(m: int, T: int) -> str:
    return f"m = {m}, T = {T}"


def measure(m: int, T: int, seed: int, n_times: int = 3) -> Result:
    """Processor seconds of some fits, which other processes on the machine do not change."""
    sample = majority(m, 0.0, np.random.default_rng([seed, 7]), k=_K, n_features=_N_FEATURES)
    AUCBoost(n_estimators=2).fit(sample.X[:200], sample.y[:200])  # compile first
    seconds = []
    for _ in range(n_times):
        start = process_time()
        AUCBoost(n_estimators=T).fit(sample.X, sample.y)
        seconds.append(process_time() - start)
    return {"m": m, "T": T, "seconds": seconds}


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """Report times, and the powers of m and T."""
    rows, rounds = sizes(setup)
    page.text(
        f"AUCBoost on a majority of {_K} of {_N_FEATURES} features: processor seconds of a fit, "
        "median of 3. The theorem counts sorting the rows in every round; here features are "
        "binned once, and a round sorts nothing."
    )
    shown = sorted(results.values(), key=lambda r: (r["T"], r["m"]))
    page.table(["m", "T", "seconds"],
               [[f"{r['m']:,}", r["T"], f"{median(r['seconds']):.3f}"] for r in shown])  # fmt: skip
    by_rows = [r for r in shown if r["T"] == rounds[0]]
    by_rounds = [r for r in shown if r["m"] == rows[0]]
    power = fit_power(*_points(by_rows, lambda r: r["m"] * log(r["m"])))
    page.claim(
        "Theorem 2: the time grows no faster than m log m",
        at_most(power, 1.0),
        f"fitted power of m log m: {interval(power)}; claimed: at most 1",
    )
    power = fit_power(*_points(by_rounds, lambda r: r["T"]))
    page.claim(
        "Theorem 2: the time grows no faster than T",
        at_most(power, 1.0),
        f"fitted power of T: {interval(power)}; claimed: at most 1",
    )


def _points(
    results: list[Result], size: Callable[[Result], float]
) -> tuple[list[float], list[float]]:
    """Size and seconds of every fit."""
    pairs = [(float(size(r)), float(seconds)) for r in results for seconds in r["seconds"]]
    return [x for x, _ in pairs], [seconds for _, seconds in pairs]
