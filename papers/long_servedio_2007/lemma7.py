"""Lemma 7: the layers that Basic MartiBoost needs, ln(1 / epsilon) / (2 gamma^2)."""

from functools import partial
from math import ceil, log
from typing import TYPE_CHECKING

import numpy as np
from scipy.stats import binom

from papers.experiment import Case, CaseResults, Result, Setup
from papers.long_servedio_2007.rates import fit_power, interval, of_all
from papers.long_servedio_2007.whole_distribution import build_program, guaranteed_advantage
from papers.page import Page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EPSILONS = (0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4, 1e-6)
# Programs that are learned reach the smaller errors only after thousands of layers.
LEARNED_EPSILONS = (0.3, 0.1, 0.03, 0.01)
_ADVERSE = "random programs"
_ROUNDING = 1e-12


def granted(epsilon: float, advantage: float) -> int:
    """Layers after which Azuma's exp(-2 gamma^2 T) is at most epsilon."""
    return ceil(log(1.0 / epsilon) / (2.0 * advantage**2))


def cases(setup: Setup) -> list[Case]:
    """Nodes of exactly gamma, random nodes of at least gamma, and programs that are learned."""
    gammas = setup.pick((0.02, 0.05, 0.1, 0.2, 0.3), (0.05, 0.1, 0.2), (0.1, 0.2))
    ks = setup.pick((3, 5, 7), (3, 5), (3, 5))
    n_programs = setup.pick(5000, 500, 50)
    return [
        *(Case(f"gamma = {gamma}", partial(with_exact_nodes, gamma)) for gamma in gammas),
        Case(_ADVERSE, partial(with_random_nodes, setup.seed, n_programs), cost=n_programs / 1000),
        *(Case(f"k = {k}", partial(learned, k), cost=(k / 5) ** 9) for k in ks),
    ]


def with_exact_nodes(gamma: float) -> Result:
    """Every node has advantage gamma: the walk is binomial."""
    T = np.arange(1, granted(EPSILONS[-1], gamma) + 1)
    missed = binom.cdf(np.ceil(T / 2) - 1, T, 0.5 + gamma)
    wrong = binom.sf(np.ceil(T / 2) - 1, T, 0.5 - gamma)
    error = np.maximum(missed, wrong)
    ratio = error / np.exp(-2 * gamma**2 * T)
    return {
        "gamma": gamma,
        "layers": [_settled(error, epsilon) for epsilon in EPSILONS],
        "largest_ratio": float(ratio.max()),
    }


def _settled(error: np.ndarray, epsilon: float) -> int | None:
    """The number of layers from which on the error is at most epsilon."""
    above = np.flatnonzero(error > epsilon)
    if len(above) == 0:
        return 1
    return int(above[-1]) + 2 if above[-1] + 1 < len(error) else None


def with_random_nodes(seed: int, n_programs: int, n_layers: int = 60) -> Result:
    """Programs whose nodes have random advantages of gamma or more; errors beside the bound."""
    rng = np.random.default_rng([seed, 77])
    ratios = []
    for _ in range(n_programs):
        gamma, lean = rng.uniform(0.02, 0.4), rng.exponential(3.0)
        place, error = np.ones(1), []
        for T in range(1, n_layers + 1):
            # Powers of uniform numbers: many nodes have hardly more than gamma.
            right = 0.5 + gamma + (0.5 - gamma) * rng.random(T) ** (1 + lean)
            place = np.append(place * (1 - right), 0.0) + np.append(0.0, place * right)
            error.append(place[np.arange(T + 1) < T / 2].sum())
        ratios.append(float((error / np.exp(-2 * gamma**2 * np.arange(1, n_layers + 1))).max()))
    return {"n_programs": n_programs, "n_layers": n_layers, "largest_ratio": max(ratios)}


def learned(k: int) -> Result:
    """MartiRank on the whole distribution of the majority of k features."""
    gamma = guaranteed_advantage(k)
    program = build_program(k, granted(LEARNED_EPSILONS[-1], gamma))
    error = np.maximum(program.error_neg, program.error_pos)
    T = np.arange(1, len(error) + 1)
    return {
        "k": k,
        "gamma": gamma,
        "least_advantage": float(program.least_advantage[-1]),
        "layers": [_settled(error, epsilon) for epsilon in LEARNED_EPSILONS],
        "largest_ratio": float((error / np.exp(-2 * gamma**2 * T)).max()),
        "final_error": float(error[-1]),
    }


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """Layers beside those that the lemma grants, and their growth."""
    exact = sorted((r for name, r in results.items() if "gamma" in name), key=_gamma)
    own = sorted((r for name, r in results.items() if name.startswith("k =")), key=_gamma)
    page.text(
        "The constant: given its node, a positive row goes right with a chance of 1/2 + gamma or "
        "more, so that by Azuma's inequality the chance to be right of the middle in fewer than "
        "half of T steps is at most exp(-2 gamma² T), and T = ln(1/epsilon)/(2 gamma²) layers are "
        "enough. Two kinds of programs, by exact probabilities: all nodes with an advantage of "
        "exactly gamma (a binomial walk), and MartiRank on the whole distribution of the majority "
        "of k features, where the best feature has gamma = 1/(4k - 2) or more at any node. Layers "
        "from which on both errors of H are at most epsilon; in brackets those that are granted."
    )
    _table(page, exact, EPSILONS, "nodes of exactly gamma")
    _table(page, own, LEARNED_EPSILONS, "learned, majority of k")
    if exact or own:
        page.figure(
            "lemma7",
            partial(_draw, exact=exact, own=own),
            "Layers until both errors are at most 0.01, against gamma; the line is what Lemma 7 "
            "grants",
        )
    _claims(page, results, exact, own)


def _gamma(result: Result) -> float:
    return -float(result["gamma"])


def _table(page: Page, shown: list[Result], epsilons: tuple[float, ...], title: str) -> None:
    if not shown:
        return
    rows = []
    for result in shown:
        label = f"{result['gamma']:.4g}" + (f" (k = {result['k']})" if "k" in result else "")
        cells = [
            f"{'–' if T is None else f'{T:,}'} [{granted(epsilon, result['gamma']):,}]"
            for T, epsilon in zip(result["layers"], epsilons, strict=True)
        ]
        rows.append([label, *cells])
    page.table([f"gamma, {title}", *(f"epsilon = {epsilon:g}" for epsilon in epsilons)], rows)


def _claims(page: Page, results: CaseResults, exact: list[Result], own: list[Result]) -> None:
    some = [*exact, *own, *([results[_ADVERSE]] if _ADVERSE in results else [])]
    n_random = results.get(_ADVERSE, {}).get("n_programs", 0)
    page.must_hold(
        "Lemma 7: both errors of H are at most exp(-2 gamma² T) after every number of layers",
        all(r["largest_ratio"] <= 1 + _ROUNDING for r in some),
        f"largest error divided by it {max((r['largest_ratio'] for r in some), default=0):.3f}; "
        f"{len(exact)} programs of equal nodes, {n_random:,} of random nodes, {len(own)} learned",
    )
    used = [part for of in (_used(exact, EPSILONS), _used(own, LEARNED_EPSILONS)) for part in of]
    page.claim(
        "Lemma 7: T = ln(1/epsilon)/(2 gamma²) layers are enough for both errors to be at most "
        "epsilon",
        of_all([part is not None and part <= 1 for part in used]),
        f"{sum(part is not None and part <= 1 for part in used)} of {len(used)} programs and "
        f"epsilons; needed are {_range(_used(exact, EPSILONS))} of them with nodes of exactly "
        f"gamma, {_range(_used(own, LEARNED_EPSILONS))} in learned programs",
    )
    at = EPSILONS.index(0.01)
    points = [(1 / r["gamma"], r["layers"][at]) for r in exact if r["layers"][at]]
    power = fit_power([x for x, _ in points], [T for _, T in points])
    page.text(
        "The claim holds for every gamma and epsilon with one constant, which is what O(...) says. "
        f"The rate is sharp: with nodes of exactly gamma the layers at epsilon = 0.01 grow like "
        f"1/gamma to the power {interval(power)}. They are about z²/(4 gamma²) with the normal "
        "quantile z of epsilon, and z² goes to 2 ln(1/epsilon) from below."
    )


def _used(shown: list[Result], epsilons: tuple[float, ...]) -> list[float | None]:
    """Layers that are needed divided by those that are granted."""
    return [
        None if T is None else T / granted(epsilon, r["gamma"])
        for r in shown
        for T, epsilon in zip(r["layers"], epsilons, strict=True)
    ]


def _range(parts: list[float | None]) -> str:
    known = [part for part in parts if part is not None]
    return f"{min(known):.1%} to {max(known):.1%}" if known else "–"


def _draw(figure: "Figure", exact: list[Result], own: list[Result]) -> None:
    ax = figure.subplots()
    gammas = np.geomspace(
        min(r["gamma"] for r in [*exact, *own]), max(r["gamma"] for r in [*exact, *own]), 50
    )
    ax.plot(gammas, np.log(100) / (2 * gammas**2), color="C1", label="ln(1/epsilon)/(2 gamma²)")
    for shown, epsilons, marker, label in (
        (exact, EPSILONS, "o", "nodes of exactly gamma"),
        (own, LEARNED_EPSILONS, "s", "learned, majority of k"),
    ):
        at = epsilons.index(0.01)
        ax.plot(
            [r["gamma"] for r in shown],
            [r["layers"][at] or np.nan for r in shown],
            marker, color="C0" if marker == "o" else "C2", label=label,
        )  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel="gamma", ylabel="layers T, epsilon = 0.01")
    ticks = sorted({r["gamma"] for r in exact or own})
    ax.set_xticks(ticks, [f"{tick:.2g}" for tick in ticks])
    ax.minorticks_off()
    ax.spines[["top", "right"]].set_visible(False)
    ax.legend(frameon=False)
