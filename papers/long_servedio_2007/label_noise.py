"""Theorem 8: MartiRank trained on noisy labels and evaluated on unseen rows with clean labels."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor import AUCBoost, MartiRank, RankBoost, SamplingMartiRank
from auctor._typing import Bools, Floats
from auctor.datasets import Sample
from auctor.kernels.program import Nodes
from auctor.learners.martirank.program import program_values
from auctor.metrics import auc
from auctor.models import ProgramModel
from papers.experiment import Case, Result, Setup
from papers.long_servedio_2007.distributions import NOISY_DISTRIBUTIONS
from papers.long_servedio_2007.noisy_coin import COINS, draw_coins

RATES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.45)  # eta
PEER_DISTRIBUTIONS = ("majority of 9 of 20", "Long and Servedio's distribution")
PEERS = ("AUCBoost", "RankBoost", "AdaBoost", "LightGBM, stumps")  # over single features
TREES = "LightGBM, trees"
OURS = "MartiRank"
SKEWED = "majority of 9 of 20, 10 % positive"
# Rows of each label that a node needs, m_A of section 5; the same for every eta, since MartiRank
# does not know eta. SamplingMartiRank knows eta and requires more rows if eta is larger.
MIN_CLASS = 20.0
_N_UNSEEN = 20_000
_LARGEST_RESTORED = 0.3


def layers(setup: Setup) -> tuple[int, ...]:
    """Numbers of layers T."""
    return setup.pick((5, 10, 20, 40, 80, 160, 320), (5, 20, 80), (5, 20))


def rates(setup: Setup) -> tuple[float, ...]:
    """Noise rates of MartiRank's curves."""
    return setup.pick(RATES, (0.0, 0.1, 0.2, 0.3, 0.4), (0.0, 0.2, 0.4))


def peer_rates(setup: Setup) -> tuple[float, ...]:
    """Noise rates of the comparison."""
    return setup.pick((0.0, 0.1, 0.2, 0.3, 0.4), (0.2,), (0.2,))


def n_repetitions(setup: Setup) -> int:
    """Samples of each distribution and noise rate."""
    return setup.pick(10, 3, 2)


def n_rows(setup: Setup) -> int:
    """Rows that MartiRank's curves are trained on."""
    return setup.pick(500_000, 20_000, 2000)


def n_peer_rows(setup: Setup) -> int:
    """Rows of the comparison."""
    return setup.pick(20_000, 3000, 1000)


def n_peer_rounds(setup: Setup) -> int:
    """Rounds of the other boosters."""
    return setup.pick(200, 200, 20)


def curve_name(distribution: str, eta: float, repetition: int) -> str:
    """The name of a case of the curves."""
    return f"{distribution}, eta = {eta}, sample {repetition}"


def peer_name(distribution: str, eta: float, method: str, repetition: int) -> str:
    """The name of a case of the comparison."""
    return f"{method} on {distribution}, eta = {eta}, sample {repetition}"


def cases(setup: Setup) -> list[Case]:
    """Curves of MartiRank, then the comparison."""
    repetitions = range(n_repetitions(setup))
    size, T = n_rows(setup), layers(setup)
    n_seconds = 1e-7 * size * max(T)
    curves = [
        Case(
            curve_name(distribution, eta, i),
            partial(curve, distribution, eta, size, T, setup.seed, i),
            cost=n_seconds,
        )
        for i in repetitions
        for distribution in NOISY_DISTRIBUTIONS
        for eta in rates(setup)
    ]
    coins = [
        Case(f"{COINS} {i}", partial(draw_coins, setup.seed, i, setup.pick(20_000, 1000, 200)))
        for i in range(setup.pick(5, 1, 1))
    ]
    return [*curves, *_restored_cases(setup), *coins] + [
        _peer_case(distribution, eta, method, i, setup)
        for i in repetitions
        for distribution in PEER_DISTRIBUTIONS
        for eta in peer_rates(setup)
        for method in (OURS, *PEERS, TREES)
    ]


def _restored_cases(setup: Setup) -> list[Case]:
    size, T = restored_size(setup)
    return [
        Case(
            restored_name(eta, i),
            partial(restored, SKEWED, eta, size, T, setup.seed, i),
            cost=1e-6 * size * T,
        )
        for i in range(n_repetitions(setup))
        for eta in rates(setup)
        if 0 < eta <= _LARGEST_RESTORED
    ]


def restored_size(setup: Setup) -> tuple[int, int]:
    """Draws of a layer, and layers."""
    return setup.pick((200_000, 80), (10_000, 40), (2000, 5))


def restored_name(eta: float, repetition: int) -> str:
    """The name of a case with the noise removed."""
    return f"noise removed, eta = {eta}, sample {repetition}"


def _peer_case(distribution: str, eta: float, method: str, repetition: int, setup: Setup) -> Case:
    size = n_peer_rows(setup)
    work = partial(
        compare, distribution, eta, method, n_peer_rounds(setup), size, setup.seed, repetition
    )
    packages = ("lightgbm",) if method.startswith("LightGBM") else ()
    name = peer_name(distribution, eta, method, repetition)
    return Case(name, work, packages=packages, cost=size / 5e4)


def curve(
    distribution: str, eta: float, size: int, n_layers: tuple[int, ...], seed: int, repetition: int
) -> Result:
    """AUC on clean labels of the position and of the vote H, for each number of layers."""
    noisy, unseen = _samples(distribution, eta, size, seed, repetition)
    is_pos = unseen.y_clean > 0
    ranker = MartiRank(n_layers=max(n_layers), min_samples_leaf=MIN_CLASS)
    ranker.fit(noisy.X, noisy.y)
    measures: dict[str, list[float]] = {
        "position": [],
        "error_neg": [],
        "error_pos": [],
        "vote": [],
    }
    for T in n_layers:
        position, right = (
            cut_short(ranker, T, o).decision_function(unseen.X) for o in ("position", "majority")
        )
        measures["position"].append(auc(is_pos, position))
        _add_errors(measures, right, is_pos)
    return measures


def restored(
    distribution: str, eta: float, size: int, n_layers: int, seed: int, repetition: int
) -> Result:
    """The vote with the noise removed from the coins: SMartiRank with eta given."""
    draw = NOISY_DISTRIBUTIONS[distribution]
    _, unseen = _samples(distribution, eta, size, seed, repetition)
    ranker = SamplingMartiRank(
        n_layers=n_layers,
        noise_rate=eta,
        min_samples_leaf=MIN_CLASS,
        max_draws=size,
        output="majority",
        random_state=repetition,
    ).fit_oracle(lambda n, rng: _some(draw(max(n, 100), eta, rng), n))
    measures: dict[str, list[float]] = {"error_neg": [], "error_pos": [], "vote": []}
    right = ranker.decision_function(unseen.X) - ranker.model_.intercept
    _add_errors(measures, right, unseen.y_clean > 0)
    return measures


def _some(sample: Sample, n: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """The first n rows: with an exact fraction of positives, two or three rows cannot be drawn."""
    return sample.X[:n], sample.y[:n]


def cut_short(ranker: MartiRank, n_layers: int, output: str) -> ProgramModel:
    """The model that ``n_layers=n_layers`` would have made, with the output given.

    Layers do not depend on those that come after them, so that one fit is enough for all T.
    """
    built = min(n_layers, ranker.n_iter_)
    value, final = program_values(ranker.history_.layers[:built], output, n_layers)
    model = ranker.model_
    assert isinstance(model, ProgramModel)
    kept = {
        name: getattr(model.nodes, name)[: len(value)] for name in Nodes._fields if name != "table"
    }
    shorter = model.nodes._replace(**(kept | {"value": value}))
    return replace(model, n_layers=built, nodes=shorter, final=final, intercept=0.0)


def _add_errors(measures: dict[str, list[float]], right: Floats, is_pos: Bools) -> None:
    """Add the errors of H, from its probability to predict positive, and its AUC by Lemma 5."""
    error_neg, error_pos = float(right[~is_pos].mean()), float(1.0 - right[is_pos].mean())
    measures["error_neg"].append(error_neg)
    measures["error_pos"].append(error_pos)
    measures["vote"].append(1.0 - (error_neg + error_pos) / 2)


def compare(
    distribution: str, eta: float, method: str, n_rounds: int, size: int, seed: int, repetition: int
) -> Result:
    """AUC on clean labels of one method."""
    noisy, unseen = _samples(distribution, eta, size, seed, repetition)
    model = make_method(method, n_rounds).fit(noisy.X, noisy.y)
    if method.startswith("LightGBM"):
        scores = np.asarray(model.booster_.predict(unseen.X))
    else:
        scores = np.asarray(model.decision_function(unseen.X))
    return {"auc": auc(unseen.y_clean, scores)}


def make_method(method: str, n_rounds: int) -> Any:
    """Boosters of a convex loss, and MartiRank at 80 layers."""
    if method == OURS:
        return MartiRank(n_layers=80, min_samples_leaf=MIN_CLASS)
    if method == "AUCBoost":
        return AUCBoost(n_estimators=n_rounds)
    if method == "RankBoost":
        return RankBoost(n_rounds)
    if method == "AdaBoost":
        from sklearn.ensemble import AdaBoostClassifier

        return AdaBoostClassifier(n_estimators=n_rounds, random_state=0)
    from lightgbm import LGBMClassifier

    settings: dict[str, Any] = {"verbose": -1, "n_jobs": 1, "random_state": 0}
    if method == TREES:
        return LGBMClassifier(n_estimators=n_rounds, **settings)
    return LGBMClassifier(n_estimators=5 * n_rounds, num_leaves=2, **settings)


def _samples(
    distribution: str, eta: float, size: int, seed: int, repetition: int
) -> tuple[Sample, Sample]:
    """Draw training rows (for all rates the same up to labels) and unseen rows."""
    draw, number = NOISY_DISTRIBUTIONS[distribution], list(NOISY_DISTRIBUTIONS).index(distribution)
    rngs = [np.random.default_rng([seed, 8, number, repetition, part]) for part in range(2)]
    return draw(size, eta, rngs[0]), draw(min(size, _N_UNSEEN), 0.0, rngs[1])
