"""Theorem 10: draws where one class is rare, and p and eta that have to be guessed."""

from functools import partial
from itertools import product
from statistics import mean

import numpy as np

from auctor import SamplingMartiRank
from auctor._typing import Bools, Ints
from papers.experiment import Case, CaseResults, Result, Setup
from papers.long_servedio_2007.distributions import first_advantage
from papers.long_servedio_2007.finite_distribution import follow_majority
from papers.long_servedio_2007.rates import (
    at_most,
    fit_power,
    interval,
    of_all,
    ranker_draws,
    theorem9_layers,
)
from papers.page import Page
from papers.statistics import standard_error

_K, _EPSILON, _MIN_CLASS, _SAMPLE = 3, 0.4, 10.0, 5000
_NOISE = 0.1
GIVEN, HALF, TWICE, ESTIMATED = "given", "half of it given", "twice given", "not given"
_FACTORS: dict[str, float | None] = {GIVEN: 1.0, HALF: 0.5, TWICE: 2.0, ESTIMATED: None}
_HALVING = "guess and halve"


def fractions(setup: Setup, eta: float) -> tuple[float, ...]:
    """Values of p; with noise fewer, since draws grow faster there."""
    if eta > 0:
        return setup.pick((0.5, 0.3, 0.2, 0.1, 0.05), (0.5, 0.3, 0.2), (0.5, 0.3, 0.2))
    return setup.pick((0.5, 0.2, 0.1, 0.05, 0.02), (0.5, 0.2, 0.1), (0.5, 0.3, 0.2))


def cases(setup: Setup) -> list[Case]:
    """Vary p without and with noise; then give a wrong p, no p, or no eta."""
    repetitions, made = range(setup.pick(5, 1, 1)), []
    for i in repetitions:
        for eta in (0.0, _NOISE):
            made += [_case(p, eta, GIVEN, True, setup, i) for p in fractions(setup, eta)]
        for eta in (0.0, _NOISE):
            p = setup.pick(0.1, 0.1, 0.3)
            made += [_case(p, eta, how, True, setup, i) for how in (HALF, TWICE, ESTIMATED)]
        for eta in setup.pick((0.0, 0.1, 0.2), (0.0, 0.1), (0.1,)):
            for p in setup.pick((0.5, 0.2), (0.5,), (0.5,)):
                made += [_case(p, eta, GIVEN, known, setup, i) for known in (True, False)]
    made.append(Case(_HALVING, partial(halve, setup.seed, setup.pick(2000, 200, 20))))
    return list({case.name: case for case in made}.values())


def _case(p: float, eta: float, how: str, is_known: bool, setup: Setup, repetition: int) -> Case:
    told = "given" if is_known else "guessed"
    return Case(
        f"p = {p}, {how}, eta = {eta}, {told}, sample {repetition}",
        partial(measure, p, eta, how, is_known, setup.seed, repetition),
        cost=0.05 / p / (1 - 2 * eta) ** 3 * (1 if is_known else 4),
    )


def measure(p: float, eta: float, how: str, is_known: bool, seed: int, repetition: int) -> Result:
    """Fit with the layers of Theorem 9; errors by following all 2^k rows."""
    advantage, factor = first_advantage(_K), _FACTORS[how]
    T = theorem9_layers(_EPSILON, advantage)
    ranker = SamplingMartiRank(
        n_layers=T,
        target_error=_EPSILON,
        noise_rate=eta if is_known else None,
        positive_rate=None if factor is None else factor * p,
        output="majority",
        min_samples_leaf=_MIN_CLASS,
        max_draws=None,
        sample_size=_SAMPLE,
        random_state=_seed(seed, p, eta, repetition),
    ).fit_oracle(partial(draw, p=p, eta=eta))
    error = follow_majority(ranker.history_.layers, _K, advantage).error
    return {
        "p": p,
        "eta": eta,
        "how": how,
        "is_known": is_known,
        "n_layers": T,
        "draws": ranker.n_draws_,
        "error_neg": error[0],
        "error_pos": error[1],
        "noise_rate": float(ranker.history_.noise_rate),
        "positive_rate": float(ranker.history_.positive_rate),
    }


def draw(n: int, rng: np.random.Generator, *, p: float, eta: float) -> tuple[Ints, Bools]:
    """The oracle: a class, positive with chance p, a row of that class, and a label that may lie.

    Rows are all of +1 and -1, equally likely within a class.
    """
    rows = np.array(list(product((-1, 1), repeat=_K)))
    is_pos = rng.random(n) < p
    of_class = [rows[rows.sum(axis=1) < 0], rows[rows.sum(axis=1) > 0]]
    X = np.where(
        is_pos[:, None],
        of_class[1][rng.integers(len(of_class[1]), size=n)],
        of_class[0][rng.integers(len(of_class[0]), size=n)],
    )
    return X, is_pos ^ (rng.random(n) < eta)


def _seed(seed: int, p: float, eta: float, repetition: int) -> int:
    parts = [seed, 11, round(1000 * p), round(1000 * eta), repetition]
    return int(np.random.default_rng(parts).integers(2**31))


def halve(seed: int, n_times: int) -> Result:
    """Guess 1/2, 1/4, ... for p until the draws that the guess calls for agree with it.

    A guess g is checked with 225 / (g (1 - 2 eta))^2 draws, which give p to g / 10 but for one
    case in 400; if the estimate is g or more, the estimate is taken.
    """
    rng = np.random.default_rng([seed, 12])
    shares: dict[str, list[float]] = {"ratio": [], "draws": [], "p": [], "eta": []}
    for _ in range(n_times):
        p, eta = 10 ** rng.uniform(-3, np.log10(0.5)), rng.uniform(0, 0.45)
        guess, spent = 0.5, 0
        while True:
            n = int(np.ceil(225 / (guess * (1 - 2 * eta)) ** 2))
            spent += n
            seen = rng.binomial(n, eta + (1 - 2 * eta) * p) / n
            found = (seen - eta) / (1 - 2 * eta)
            if found >= guess or guess < 1e-5:
                break
            guess /= 2
        for name, value in (("ratio", p / found), ("draws", spent), ("p", p), ("eta", eta)):
            shares[name].append(float(value))
    ratios, scaled = np.array(shares["ratio"]), np.array(shares["draws"])
    scaled = scaled * (np.array(shares["p"]) * (1 - 2 * np.array(shares["eta"]))) ** 2
    inside = (ratios > 0.5) & (ratios <= 2)
    return {
        "n_times": n_times,
        "inside": int(inside.sum()),
        "least": float(ratios.min()),
        "largest": float(ratios.max()),
        "largest_draws": float(scaled.max()),
    }


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """The growth in 1/p, and what guessing costs."""
    fits = [result for name, result in results.items() if name != _HALVING]
    page.text(
        f"The oracle of the section before with k = {_K} and epsilon = {_EPSILON}, but with a "
        "fraction p of positives: a class is drawn first, then a row of that class. Mean and "
        "standard error of the draws, the largest errors on the true classes (exact, by following "
        "all rows), and what SamplingMartiRank took for p and eta, on average. The limit is "
        "2 T²(T + 1)² m_A/(epsilon p), as before."
    )
    head = ["p", "told p", "eta", "eta is", "fits", "draws", "limit", "error on -", "error on +"]
    page.table([*head, "p taken", "eta taken"], [_line(group) for group in _groups(fits)])
    _claim_power(page, fits, 0.0, 1.0, "1, as in T⁴ m_A/(epsilon p)")
    _claim_power(page, fits, _NOISE, 3.0, "3, from the draws that decide what freezes")
    _claim_guesses(page, fits, results.get(_HALVING))


def _groups(fits: list[Result]) -> list[list[Result]]:
    groups: dict[tuple[object, ...], list[Result]] = {}
    for r in fits:
        key = (r["how"] != GIVEN, not r["is_known"], r["eta"], -r["p"], r["how"])
        groups.setdefault(key, []).append(r)
    return [groups[key] for key in sorted(groups, key=str)]


def _line(group: list[Result]) -> list[str]:
    first = group[0]
    draws = [r["draws"] for r in group]
    spread = f" ± {standard_error(draws):,.0f}" if len(draws) > 1 else ""
    limit = ranker_draws(
        first["n_layers"], _MIN_CLASS / (1 - 2 * first["eta"]) ** 2, _EPSILON, first["p"]
    )
    return [
        f"{first['p']:g}",
        first["how"],
        f"{first['eta']:g}",
        "given" if first["is_known"] else "guessed",
        f"{len(group)}",
        f"{mean(draws):,.0f}{spread}",
        f"{limit:,.0f}",
        f"{max(r['error_neg'] for r in group):.4f}",
        f"{max(r['error_pos'] for r in group):.4f}",
        f"{mean(r['positive_rate'] for r in group):.3f}",
        f"{mean(r['noise_rate'] for r in group):.3f}",
    ]


def _claim_power(page: Page, fits: list[Result], eta: float, limit: float, claimed: str) -> None:
    own = [r for r in fits if r["eta"] == eta and r["how"] == GIVEN and r["is_known"]]
    power = fit_power([1 / r["p"] for r in own], [float(r["draws"]) for r in own])
    page.claim(
        f"Theorem 10: the number of draws grows with 1/p by a power of at most {claimed} "
        f"(eta = {eta:g})",
        at_most(power, limit),
        f"fitted power {interval(power)}, {len(own)} fits",
    )


def _errs(result: Result) -> float:
    return float(max(result["error_neg"], result["error_pos"]))


def _claim_guesses(page: Page, fits: list[Result], halving: Result | None) -> None:
    if halving is not None:
        page.claim(
            '"guess and halve" finds p within a factor of two',
            of_all([halving["inside"] == halving["n_times"]]),
            f"in {halving['inside']:,} of {halving['n_times']:,} runs with p from 0.001 to 0.5 and "
            f"eta up to 0.45; p over it from {halving['least']:.2f} to {halving['largest']:.2f}; "
            f"at most {halving['largest_draws']:,.0f}/(p (1 - 2 eta))² draws",
        )
    wrong = [r for r in fits if r["how"] in (HALF, TWICE)]
    page.claim(
        "a value within a factor of two of p suffices: H errs on at most epsilon of each class",
        of_all([_errs(r) <= _EPSILON for r in wrong]),
        f"largest error divided by epsilon {max(map(_errs, wrong), default=0) / _EPSILON:.3f} in "
        f"{len(wrong)} fits",
    )
    guessed = [r for r in fits if not r["is_known"]]
    off = max((abs(r["noise_rate"] - r["eta"]) for r in guessed), default=0.0)
    page.claim(
        "eta need not be known, it can be guessed and checked: H errs on at most epsilon of each "
        "class",
        of_all([_errs(r) <= _EPSILON for r in guessed]),
        f"largest error divided by epsilon {max(map(_errs, guessed), default=0) / _EPSILON:.3f} in "
        f"{len(guessed)} fits; guesses are off by at most {off:.3f}; draws {_ratio(fits)} times "
        "those with eta given",
    )


def _ratio(fits: list[Result]) -> str:
    """Draws with eta guessed over draws with eta given, at the same p and eta."""
    ratios = []
    for group in _groups([r for r in fits if not r["is_known"]]):
        p, eta = group[0]["p"], group[0]["eta"]
        same = [r for r in fits if r["is_known"] and r["how"] == GIVEN]
        given = [r["draws"] for r in same if (r["p"], r["eta"]) == (p, eta)]
        if given:
            ratios.append(mean(r["draws"] for r in group) / mean(given))
    return f"{min(ratios):.1f} to {max(ratios):.1f}" if ratios else "–"
