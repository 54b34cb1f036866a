"""AUCBoost over rows: the weak ranker is any scikit-learn estimator.

The same algorithm as in ``aucboost``, with row weights as plain floats, because what an
estimator returns can be anything.
"""

import numpy as np
import numpy.typing as npt

from auctor.data import RankingData
from auctor.data.distinct import row_hashes
from auctor.kernels.linear import exp_each
from auctor.learners.aucboost import ROUNDING, History, Round, Settings, certify, weight_of
from auctor.learners.calibration import calibrate
from auctor.learners.certificate import Certificate
from auctor.learners.finish import training_order
from auctor.learners.progress import Progress
from auctor.learners.row_table import RowTable, row_table
from auctor.models import Calibration, Member, VoteModel
from auctor.weak.estimator import fit_row_ranker


def fit_aucboost_rows(
    data: RankingData, settings: Settings
) -> tuple[VoteModel, History, Certificate]:
    """Boost copies of the estimator ``settings.weak``."""
    history = History()
    members = run_rounds(row_table(data), settings, history)
    negative, positive = data.classes.tolist()
    plain = VoteModel(
        (negative, positive), 0.0, Calibration(1.0, 0.0), data.features, tuple(members), 0.0
    )
    scores = [plain.score_codes(part.codes) for part in data.partitions]
    order = training_order(data, scores)
    model = VoteModel(
        plain.classes,
        0.0,
        calibrate(data, scores, order.cut),
        data.features,
        plain.members,
        0.0 - order.cut,
    )
    return model, history, certify(history, order)


def run_rounds(table: RowTable, settings: Settings, history: History) -> list[Member]:
    """Rounds until one of the reasons to stop."""
    table = _in_order_of_values(table)
    y = np.where(table.positive, 1.0, -1.0)
    # Half D+ plus half D-
    totals = np.where(
        table.positive, table.weight[table.positive].sum(), table.weight[~table.positive].sum()
    )
    D = table.weight / totals / 2
    progress = Progress(settings.n_estimators, "AUCBoost", settings.verbose)
    members: list[Member] = []
    no_steps: npt.NDArray[np.float64] = np.zeros(0)
    while len(members) < settings.n_estimators:
        seed = (settings.seed, len(members))
        ranker = fit_row_ranker(settings.weak, table.Z, table.positive, D, seed)
        if ranker.auc - 0.5 <= ROUNDING:
            history.stopped_by = "no ranker has an edge"
            break
        alpha = weight_of(ranker.epsilon)
        D = D * exp_each(-alpha * y * ranker.labels(table.Z))
        z = float(D.sum())
        D /= z
        members.append(Member(ranker, alpha))
        history.rounds.append(Round(-1, no_steps, ranker.auc - 0.5, ranker.epsilon, alpha, z))
        progress.step(f"bound {history.bound:.4g}")
        if ranker.epsilon < ROUNDING:
            history.stopped_by = "the last ranker makes no error"
            break
        if settings.epsilon is not None and history.bound <= settings.epsilon:
            history.stopped_by = "the bound has reached epsilon"
            break
    progress.close(history.stopped_by)
    return members


def _in_order_of_values(table: RowTable) -> RowTable:
    """The rows in an order that only their values decide.

    Weights are floats here, whose sums depend on the order of their terms in the last digits:
    the order of the table must not show there.
    """
    order = np.lexsort((table.weight, table.positive, row_hashes(table.Z)))
    return RowTable(
        table.Z[order],
        table.positive[order],
        table.weight[order],
        table.rows[order],
        table.row_units,
    )
