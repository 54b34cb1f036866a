"""Proposition 10, second half: how far a plug-in is below ROC*, at every false positive rate.

The negatives are uniform on [0, 1] and the likelihood ratio falls with x, so that H*(eta(x)) is
1 - x and Q*(alpha) is eta(alpha); H* has a density of at least 1/c on the range of eta with c the
largest |eta'|. [0, 1] is cut into equal cells, on which everything is a sum.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from auctor._typing import Floats
from papers.experiment import Case, CaseResults, Result, Setup
from papers.page import Page

_N_CELLS = 2000
# The sums replace integrals over cells of this width.
_ALLOWANCE = 1e-3
RATIOS: dict[str, Callable[[Floats], Floats]] = {
    "exponential, rate 1": lambda x: np.exp(-x) / -np.expm1(-1),
    "exponential, rate 3": lambda x: 3 * np.exp(-3 * x) / -np.expm1(-3),
    "linear": lambda x: 1.75 - 1.5 * x,
}
NOISY, CELLS = "eta with an error", "constant on cells"


def cases(setup: Setup) -> list[Case]:
    """Each distribution with random errors of eta, and with cells."""
    n = setup.pick(1000, 100, 10)
    return [
        Case(f"{ratio}, {kind}", partial(measure, ratio, kind, n, setup.seed), cost=n / 200)
        for ratio in RATIOS
        for kind in (NOISY, CELLS)
    ]


def measure(name: str, kind: str, n_scores: int, seed: int) -> Result:
    """The largest left side over right side of the inequality, over random scores and all alpha."""
    rng = np.random.default_rng([seed, 10, list(RATIOS).index(name), kind == CELLS])
    largest, is_below = [], []
    for _ in range(n_scores):
        p = rng.uniform(0.1, 0.9)
        make = noisy_score if kind == NOISY else cell_score
        gap, bound = inequality(RATIOS[name], p, make(RATIOS[name], p, rng))
        largest.append(float(np.max(gap / bound)))
        is_below.append(float(gap.max()))
    return {"n": n_scores, "largest": max(largest), "typical": float(np.median(largest)),
            "gap": max(is_below)}  # fmt: skip


def grid() -> Floats:
    """The middles of the cells."""
    return (np.arange(_N_CELLS) + 0.5) / _N_CELLS


def eta_of(ratio: Floats, p: float) -> Floats:
    """P(Y = 1) from the likelihood ratio."""
    return p * ratio / (p * ratio + 1 - p)


def noisy_score(ratio: Callable[[Floats], Floats], p: float, rng: np.random.Generator) -> Floats:
    """eta plus a wave, small or large: the order is lost in places."""
    x, waves = grid(), rng.integers(1, 12, size=3)
    wave = sum(np.sin(2 * np.pi * (k * x + rng.random())) for k in waves)
    return np.asarray(eta_of(ratio(x), p) + 10 ** rng.uniform(-3, 0) * wave)


def cell_score(ratio: Callable[[Floats], Floats], p: float, rng: np.random.Generator) -> Floats:
    """The mean of eta over cells between random cuts, with an error, as a tree has it."""
    cell = np.searchsorted(np.sort(rng.random(rng.integers(1, 30))), grid())
    weight = p * ratio(grid()) + 1 - p
    sums = np.bincount(cell, weight * eta_of(ratio(grid()), p)), np.bincount(cell, weight)
    means = np.divide(*sums, out=np.zeros(len(sums[0])), where=sums[1] > 0)
    return np.asarray((means + rng.normal(scale=10 ** rng.uniform(-4, -1), size=len(means)))[cell])


def inequality(ratio: Callable[[Floats], Floats], p: float, score: Floats) -> tuple[Floats, Floats]:
    """ROC*(alpha) - ROC(score, alpha) on a grid of alpha, and the bound of the proposition."""
    x = grid()
    edges = np.arange(_N_CELLS + 1) / _N_CELLS
    pos = ratio(x) / ratio(x).sum()
    best = np.concatenate([[0.0], np.cumsum(pos)])
    # Ties are joined by lines (Definition 4): a group of equal scores is one piece.
    _, code = np.unique(-score, return_inverse=True)
    alpha, beta = (
        np.concatenate([[0.0], np.cumsum(np.bincount(code, mass))])
        for mass in (np.full(_N_CELLS, 1 / _N_CELLS), pos)
    )
    gap = best - np.interp(edges, alpha, beta)
    below = 1.0 - alpha[code]  # H(score), the fraction of negatives with this score or a lower one
    weight = p * pos + (1 - p) / _N_CELLS
    apart = float(weight @ np.abs((1 - x) - below))
    at = eta_of(ratio(edges), p)
    c = float(np.abs(np.diff(at)).max() * _N_CELLS)
    return gap[1:-1], c * apart / (p * (1 - at[1:-1])) + _ALLOWANCE / _N_CELLS


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """The largest ratio of both sides."""
    page.text(
        "Proposition 10, second half: ROC*(alpha) - ROC(s, alpha) is at most c E|H*(eta(X)) - "
        "H_s(s(X))| / (p (1 - Q*(alpha))), where H* has a density of 1/c or more. (Where eta does "
        "not reach all of [0, 1], as whenever Q* stays below 1, the density can only be bounded on "
        "the range of eta.) One feature, uniform among negatives, p from 0.1 to 0.9, random "
        "scores; the left side divided by the right side, at its largest over all alpha:"
    )
    rows = [
        [name, f"{r['n']:,}", f"{r['gap']:.3f}", f"{r['typical']:.3f}", f"{r['largest']:.3f}"]
        for name, r in sorted(results.items())
    ]
    page.table(["distribution and score", "scores", "largest gap", "median", "largest"], rows)
    for kind, text in (
        (NOISY, "scores without ties: eta with an error"),
        (CELLS, "scores that are constant on cells, as the proof of Theorem 21 uses it"),
    ):
        some = [r for name, r in results.items() if name.endswith(kind)]
        if some:
            largest = max(r["largest"] for r in some)
            page.must_hold(
                f"Proposition 10, second half: {text}",
                largest <= 1 + _ALLOWANCE,
                f"at most {largest:.3f} of the bound, {sum(r['n'] for r in some):,} scores",
            )
