"""Theorems 9 and 10: the draws of SamplingMartiRank from an oracle, and its errors."""

from functools import partial

import numpy as np

from auctor import SamplingMartiRank
from auctor._typing import Bools, Ints
from papers.experiment import Case, Result, Setup
from papers.long_servedio_2007.distributions import first_advantage
from papers.long_servedio_2007.finite_distribution import follow_majority
from papers.long_servedio_2007.rates import theorem9_layers

MIN_CLASS = 10.0  # m_A
SAMPLE_SIZE = 5000
POSITIVE_RATE = 0.5  # p: an odd majority has balanced classes
FIXED_LAYERS = 15
LEAST_K, LARGEST_EPSILON = 3, 0.4  # held fixed while other parameters vary


def cases(setup: Setup) -> list[Case]:
    """Vary epsilon, gamma (through k), eta, and epsilon for a fixed T."""
    epsilons = setup.pick((0.4, 0.2, 0.1, 0.05, 0.025, 0.0125), (0.4, 0.2, 0.1), (0.4, 0.3))
    ks = setup.pick((3, 5, 7, 9), (3, 5), (3,))
    etas = setup.pick((0.0, 0.1, 0.2, 0.3, 0.4), (0.0, 0.15, 0.3), (0.0, 0.1))
    settings = [
        *((LEAST_K, epsilon, 0.0, False) for epsilon in epsilons),
        *((k, LARGEST_EPSILON, 0.0, False) for k in ks),
        *((LEAST_K, LARGEST_EPSILON, eta, False) for eta in etas),
        *((LEAST_K, epsilon, 0.0, True) for epsilon in epsilons),
    ]
    return [
        _case(*setting, setup.seed, i)
        for i in range(n_repetitions(setup))
        for setting in dict.fromkeys(settings)  # some settings are in several lists
    ]


def n_repetitions(setup: Setup) -> int:
    """Fits of each setting."""
    return setup.pick(10, 2, 2)


def _case(k: int, epsilon: float, eta: float, is_fixed: bool, seed: int, repetition: int) -> Case:
    layers = f", T = {FIXED_LAYERS}" if is_fixed else ""
    return Case(
        f"k = {k}, epsilon = {epsilon}, eta = {eta}{layers}, sample {repetition}",
        partial(measure, k, epsilon, eta, is_fixed, seed, repetition),
        cost=0.01 * (k / 3) ** 4 / epsilon**2 / (1 - 2 * eta) ** 3,
    )


def measure(
    k: int, epsilon: float, eta: float, is_fixed: bool, seed: int, repetition: int
) -> Result:
    """Fit with the layers of Theorem 9 and follow the program over the whole distribution."""
    advantage = first_advantage(k)
    T = FIXED_LAYERS if is_fixed else theorem9_layers(epsilon, advantage)
    ranker = SamplingMartiRank(
        n_layers=T,
        target_error=epsilon,
        noise_rate=eta,
        positive_rate=POSITIVE_RATE,
        output="majority",
        min_samples_leaf=MIN_CLASS,
        max_draws=None,
        sample_size=SAMPLE_SIZE,
        random_state=_seed(seed, k, epsilon, eta, repetition),
    ).fit_oracle(partial(_draw, k=k, eta=eta))
    result = follow_majority(ranker.history_.layers, k, advantage)
    said = ranker.certificate_.values
    return {
        "is_fixed": is_fixed,
        "k": k,
        "epsilon": epsilon,
        "eta": eta,
        "n_layers": T,
        "built": ranker.n_iter_,
        "draws": ranker.n_draws_,
        "advantage": advantage,
        **_by_class("error", result.error),
        **_by_class("frozen", result.frozen),
        **_by_class("error_frozen", result.error_frozen),
        "least_advantage": result.least_advantage,
        "share_below": result.fraction_below,
        **{name: float(said[name]) for name in _SAID},
    }


_SAID = ("error_neg_low", "error_neg_high", "error_pos_low", "error_pos_high")


def _by_class(name: str, values: tuple[float, float]) -> Result:
    return {f"{name}_neg": values[0], f"{name}_pos": values[1]}


def _draw(n: int, rng: np.random.Generator, *, k: int, eta: float) -> tuple[Ints, Bools]:
    """The oracle: uniform rows of -1 and +1, labelled by their majority, with flipped labels."""
    X = 2 * rng.integers(0, 2, size=(n, k)) - 1
    return X, (X.sum(axis=1) > 0) ^ (rng.random(n) < eta)


def _seed(seed: int, k: int, epsilon: float, eta: float, repetition: int) -> int:
    """Return a separate seed for each setting."""
    parts = [seed, 10, k, round(10_000 * epsilon), round(1000 * eta), repetition]
    return int(np.random.default_rng(parts).integers(2**31))
