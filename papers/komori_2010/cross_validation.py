"""AUC_CV of section 3.3: cross-validation over lambda and T, by either of two criteria."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import ndtr

from auctor._typing import Bools, Floats
from papers.komori_2010.distributions import Labelled

if TYPE_CHECKING:
    from auctor.data import RankingData

# The paper's criterion, the penalised smoothed AUC of the held-out rows, and their plain AUC.
CRITERIA = {"penalised": "AUC_CV as printed", "auc": "plain AUC"}

Curves = dict[tuple[str, float], Floats]  # (criterion, lambda) -> value after each round


class Choice(NamedTuple):
    """A lambda, a number of rounds T, and the value of the criterion there."""

    penalty: float
    n_rounds: int
    value: float


def cross_validate(
    rows: Labelled,
    penalties: Sequence[float],
    n_rounds: int,
    n_folds: int,
    max_bins: int,
    fold_seed: int = 0,
) -> Curves:
    """Both criteria after every round, the mean over the folds, for every lambda."""
    from sklearn.model_selection import StratifiedKFold

    from auctor.data import prepare

    data = prepare(rows.X, rows.y, max_bins=max_bins)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=fold_seed)
    masks = [np.isin(np.arange(len(rows.y)), test) for _, test in folds.split(rows.X, rows.y)]
    curves: Curves = {}
    for penalty in penalties:
        staged = np.mean(
            [_one_fold(data, rows.y == 1, mask, penalty, n_rounds) for mask in masks], axis=0
        )
        for i, criterion in enumerate(CRITERIA):
            curves[criterion, penalty] = staged[:, i]
    return curves


def choose(curves: Curves, criterion: str) -> Choice:
    """The lambda and T with the largest value; of equal ones the larger lambda and smaller T."""
    tops = [
        Choice(penalty, int(np.argmax(values)) + 1, float(values.max()))
        for (name, penalty), values in curves.items()
        if name == criterion
    ]
    return max(tops, key=lambda top: (top.value, top.penalty))


def _staged(
    data: "RankingData", train: Bools, penalty: float, n_rounds: int
) -> list[tuple[Floats, float]]:
    """After each round of the library's stagewise solver: scores of the table's rows, and penalty.

    If no stump raises the objective any further, the last round is repeated.
    """
    from auctor.data import Workers
    from auctor.learners.common.finish import score_rows
    from auctor.learners.smooth.objective import Point
    from auctor.learners.smooth.problem import Problem
    from auctor.learners.smooth.settings import SmoothSettings
    from auctor.learners.smooth.stagewise import boost

    result: list[tuple[Floats, float]] = []

    def after(point: Point) -> bool:
        tables = list(point.x.reshape(data.n_features, -1))
        scores = np.empty(data.n_rows)
        for part in data.partitions:  # which hold the positives first
            scores[part.rows] = score_rows(part, tables)
        result.append((scores, point.smoothed_auc - point.objective))
        return False

    settings = SmoothSettings(roughness="bins", solver="stagewise")
    with Workers(1) as workers:
        problem = Problem(data.take(train), settings, workers)
        weighed = problem.roughness.weigh(penalty, 0.0, 0.0)
        boost(problem, weighed, n_rounds=n_rounds, after=after)
    return result + [result[-1]] * (n_rounds - len(result))


def _one_fold(
    data: "RankingData", positive: Bools, held_out: Bools, penalty: float, n_rounds: int
) -> Floats:
    """(rounds, criteria) of one fold."""
    result = []
    for scores, paid in _staged(data, ~held_out, penalty, n_rounds):
        gaps = scores[held_out & positive][:, None] - scores[held_out & ~positive]
        result.append((float(ndtr(gaps).mean()) - paid, float((np.sign(gaps) + 1).mean()) / 2))
    return np.array(result)
