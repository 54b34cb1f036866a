"""Theorem 2: the bound on 1 - AUC of AUCBoost on its training rows, round by round."""

from functools import partial
from typing import Any

import numpy as np

from auctor import AUCBoost
from auctor._typing import Bools, Floats
from auctor.data import prepare
from auctor.datasets import make_gaussian_pair
from auctor.metrics import auc
from papers.experiment import Case, Result, Setup
from papers.long_servedio_2007.distributions import majority
from papers.long_servedio_2007.rates import theorem2_bound
from papers.tables import Rows, read_rows

TABLES = ("heart", "ionosphere", "german", "spambase")
RELEVANT = (3, 5, 9, 15)  # of 20 features
GOALS = (0.3, 0.2, 0.1, 0.05, 0.02, 0.01)  # epsilon
_N_SHOWN = 40


def cases(setup: Setup) -> list[Case]:
    """Several samples of majority distributions; two Gaussians; real tables."""
    n_rounds = setup.pick(2000, 300, 40)
    n_rows = setup.pick(5000, 1000, 300)
    n_table = setup.pick(None, 1000, 200)
    cost = n_rounds * n_rows / 5e5
    return [
        *(
            Case(majority_name(k, i), partial(on_majority, setup.seed, k, i, n_rows, n_rounds))
            for k in RELEVANT
            for i in range(n_repetitions(setup))
        ),
        Case("gaussian pair", partial(on_gaussians, setup.seed, n_rows, n_rounds), cost=cost),
        *(
            Case(name, partial(on_table, name, setup.seed, n_table, n_rounds), (name,), cost=cost)
            for name in TABLES
        ),
    ]


def majority_name(k: int, repetition: int) -> str:
    """The case's name."""
    return f"majority of {k}, sample {repetition}"


def n_repetitions(setup: Setup) -> int:
    """Samples of each majority distribution."""
    return setup.pick(10, 2, 2)


def on_majority(seed: int, k: int, repetition: int, n_rows: int, n_rounds: int) -> Result:
    """Majority of k among 20 features, without noise."""
    rng = np.random.default_rng([seed, 2, k, repetition])
    sample = majority(n_rows, 0.0, rng, k=k, n_features=20)
    return measure(Rows(sample.X, sample.y), n_rounds)


def on_gaussians(seed: int, n_rows: int, n_rounds: int) -> Result:
    """Two classes that overlap: no ranker has AUC 1 in the population."""
    rng = np.random.default_rng([seed, 2, 0])
    sample = make_gaussian_pair(n_rows // 2, n_rows // 2, random_state=rng)
    return measure(Rows(sample.X, sample.y), n_rounds)


def on_table(name: str, seed: int, n_rows: int | None, n_rounds: int) -> Result:
    """All rows of a real table, or the first of them."""
    return measure(read_rows(name, seed, n_rows), n_rounds)


def measure(rows: Rows, n_rounds: int) -> Result:
    """Bounds and measured 1 - AUC after some rounds, and the rounds to each goal."""
    rounds = AUCBoost(n_estimators=n_rounds).fit(*rows).history_.rounds
    data = prepare(*rows)
    (part,) = data.partitions
    is_pos = np.arange(part.n_rows) < part.n_pos  # positives come first
    T = len(rounds)
    shown = set(np.unique(np.geomspace(1, T, _N_SHOWN).astype(int)).tolist())
    scores, votes = np.zeros(part.n_rows), np.empty(T)
    result: dict[str, list[Any]] = {name: [] for name in ("rounds", "score", "vote", "bound")}
    bound = 1.0
    for t, step in enumerate(rounds, start=1):
        scores += step.steps[part.codes[step.feature]]
        bound *= step.z
        votes[t - 1] = missed = _vote_error(scores, is_pos)
        if t in shown:
            values = (t, 1.0 - auc(is_pos, scores), missed, bound)
            for name, value in zip(result, values, strict=True):
                result[name].append(value)
    edges = np.minimum.accumulate([step.edge for step in rounds])
    theorem = [theorem2_bound(float(edges[t - 1]), t) for t in result["rounds"]]
    first = {f"rounds_to_{goal}": _first(votes, goal) for goal in GOALS}
    return {**result, "theorem": theorem, "edge": float(edges[-1]), "n_rounds": T, **first}


def _vote_error(scores: Floats, is_pos: Bools) -> float:
    """1 - AUC of the vote H, 1 where the score is 0 or more: the mean of both errors (Lemma 5)."""
    says_pos = scores >= 0
    return float((1.0 - says_pos[is_pos].mean() + says_pos[~is_pos].mean()) / 2)


def _first(votes: Floats, goal: float) -> int | None:
    """The first round after which the vote stays within the goal."""
    above = np.flatnonzero(votes > goal)
    last = int(above[-1]) + 1 if len(above) else 0
    return last + 1 if last < len(votes) else None
