"""The methods of section 5: each fits training rows once and scores all rows for every setting."""

from collections.abc import Iterator, Sequence
from typing import Any, Literal

import numpy as np

from auctor._typing import Floats, Indices, Ints
from papers.suehiro_2011.rankboost import score_hypotheses

Scored = tuple[str, Floats]  # a setting (rounds, or epsilon) and the scores of all rows
Method = Literal[
    "RankBoost",
    "RankBoost, negations",
    "RankBoost, stumps",
    "SoftRankBoost",
    "pairs",
    "reduced",
    "heuristic",
]

# Section 5.1: epsilon of LP-Pair, SoftRankBoost and the heuristic.
EPSILONS = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3)

# Relative gaps at which the search for the margin ends. The heuristic's is wider, since its tangent
# problems take most of the time.
TOLERANCE = {"pairs": 1e-4, "reduced": 1e-4, "heuristic": 1e-2}


def score_settings(
    method: Method, X: Any, y: Ints, train: Indices, settings: Sequence[float], **options: Any
) -> Iterator[Scored]:
    """(setting, scores of all rows) of a method fitted to the training rows.

    Settings are numbers of rounds for RankBoost, and epsilons for the others; ``options`` go to
    the margins (hypotheses, negations) or to SoftRankBoost (n_estimators).
    """
    if method == "RankBoost, stumps":
        return score_rounds(X, y, train, [int(n) for n in settings])
    if method.startswith("RankBoost"):
        rounds = [int(n) for n in settings]
        return score_hypotheses(X, y, train, rounds, negations="negations" in method)
    if method == "SoftRankBoost":
        return score_soft(X, y, train, settings, **options)
    return score_margins(method, X, y, train, settings, **options)


def score_rounds(X: Any, y: Ints, train: Indices, rounds: Sequence[int]) -> Iterator[Scored]:
    """The library's RankBoost over stumps, after several numbers of rounds: one fit, cut short."""
    from scipy.sparse import issparse

    from auctor.data import prepare
    from auctor.learners.boosting.rankboost import RankBoostSettings, fit_rankboost, step_tables
    from auctor.learners.common.finish import finish_additive

    data = prepare(X[train], y[train], accept_sparse=True, keep_sparse=issparse(X))
    _, history, _ = fit_rankboost(data, RankBoostSettings(max(rounds)))
    for n_rounds in rounds:
        model, _ = finish_additive(data, step_tables(data, history.rounds[:n_rounds]))
        yield f"{n_rounds}", model.decision_function(X)


def score_soft(
    X: Any, y: Ints, train: Indices, epsilons: Sequence[float], n_estimators: int = 500
) -> Iterator[Scored]:
    """SoftRankBoost for every epsilon; the paper does not say how many rounds."""
    from auctor import SoftRankBoost

    for epsilon in epsilons:
        ranker = SoftRankBoost(n_estimators, epsilon=epsilon).fit(X[train], y[train])
        yield f"{epsilon:g}", ranker.decision_function(X)


def score_margins(
    method: str, X: Any, y: Ints, train: Indices, epsilons: Sequence[float], **options: Any
) -> Iterator[Scored]:
    """LP-Pair, the reduction or the heuristic; the hypotheses are the features and a constant."""
    from auctor import MarginRanker

    parameters = {"negations": False, "gap_tol": TOLERANCE[method]} | options
    ranker = MarginRanker(method, **parameters)
    for epsilon, model in ranker.fit_path(X[train], y[train], epsilons):
        yield f"{epsilon:g}", model.decision_function(X)


def draw_folds(y: Ints, n_folds: int, seed: int) -> list[tuple[Indices, Indices]]:
    """(train, test) of every fold, stratified; the same for every method."""
    from sklearn.model_selection import StratifiedKFold

    splitter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(len(y)), y))
