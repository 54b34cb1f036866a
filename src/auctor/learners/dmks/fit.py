"""DMKS: a linear score with the largest KS on the training rows (Fang & Chen 2019).

With a fixed threshold c, KS as a function of one coefficient is a step function: row i crosses c
when the coefficient has moved by (c - s_i) / x_i. The sorted crossings and whole-number sums over
them give its exact maximum in O(n log n). The coefficients take turns (iterative marginal
optimisation); after each move the threshold is set to the KS point of the new scores. A move is
made only if KS minus the penalty is larger after it, so that this objective never decreases.

KS does not depend on the scale of the score. The scale is kept such that the most influential
column moves the score by about 1; it is changed by powers of two, which do not round.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from auctor._progress import Progress
from auctor._typing import Floats
from auctor.kernels.dmks import Bounds, Cut, add_column, best_cut, best_move, crossings
from auctor.learners.certificate import Certificate
from auctor.learners.common.rounding import ROUNDING
from auctor.learners.dmks.columns import ColumnProblem, ScoreColumns, given_start, logistic_start
from auctor.metrics import ks
from auctor.models import LinearModel

# A threshold lies in a gap of the scores at least this wide, far above the rounding errors of
# scores: the model, which sums in another order, has the same rows above the threshold.
MIN_GAP = 2.0**-33

# A move keeps every row this far from the threshold, and gives a column at most 2^8 times the
# influence of the most influential one. After rescaling, the scores still have a gap of MIN_GAP at
# the threshold, so that the KS found by the search is that of the new scores.
CLEARANCE = 2.0**-24
WIDEST = 2.0**8


@dataclass(frozen=True)
class DMKSSettings:
    """Settings of a fit."""

    coef_penalty: float = 0.0
    coef_init: Any = "logistic"
    max_iter: int = 100
    tol: float = 1e-6
    verbose: bool | int = False


@dataclass
class DMKSHistory:
    """KS and the number of nonzero coefficients, at the start and after each sweep."""

    ks: list[float] = field(default_factory=list)
    n_nonzero: list[int] = field(default_factory=list)
    n_moves: list[int] = field(default_factory=list)  # moved coefficients in each sweep
    stopped_by: str = "max_iter"
    beta: Floats = field(default_factory=lambda: np.zeros(0))  # of the scaled columns, at the end

    @property
    def n_iter(self) -> int:
        """Number of sweeps."""
        return len(self.n_moves)


class State(NamedTuple):
    """Coefficients of the scaled columns, their scores, and the KS point of these."""

    beta: Floats
    scores: Floats
    cut: Cut

    @property
    def n_nonzero(self) -> int:
        return int(np.count_nonzero(self.beta))

    def objective(self, penalty: float) -> float:
        """What is maximised: KS minus ``penalty`` for each nonzero coefficient."""
        return self.cut.ks - penalty * self.n_nonzero


def fit_dmks(
    problem: ColumnProblem, settings: DMKSSettings
) -> tuple[LinearModel, DMKSHistory, Certificate]:
    """Move coefficients until a sweep over all of them gains less than ``tol``.

    Examples
    --------
    >>> from auctor.data import read_table
    >>> from auctor.data.labelled import read_rows
    >>> rows = read_rows([0, 0, 1, 0, 1, 1], None, None, 6)
    >>> table = read_table([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    >>> _, history, certificate = fit_dmks(ColumnProblem(table, rows, frozenset()), DMKSSettings())
    >>> print(certificate)
    The training KS is 0.6667 (0.6667 at the start). Moving a single coefficient, with the threshold
    fixed, cannot increase it; all 1 were tried.
    """
    if settings.coef_penalty < 0:
        raise ValueError(f"coef_penalty is {settings.coef_penalty}; give a number of at least 0")
    state, history = climb(problem.hypotheses, _start(problem, settings), settings)
    model = problem.model(state.beta)
    assert isinstance(model, LinearModel)
    return model, history, _certify(problem, model, state, settings, history)


def _start(problem: ColumnProblem, settings: DMKSSettings) -> State:
    columns = problem.hypotheses
    if isinstance(settings.coef_init, str):
        beta = logistic_start(columns)
    else:
        beta = given_start(settings.coef_init, problem)
    return evaluate(columns, beta)


def climb(columns: ScoreColumns, state: State, settings: DMKSSettings) -> tuple[State, DMKSHistory]:
    """Make sweeps until one gains less than ``tol``."""
    history = DMKSHistory()
    progress = Progress(settings.max_iter, "DMKS", settings.verbose)
    _record(history, state)
    while history.n_iter < settings.max_iter:
        before = state.objective(settings.coef_penalty)
        state, n_moves = sweep(columns, state, settings.coef_penalty)
        history.n_moves.append(n_moves)
        _record(history, state)
        progress.step(f"KS {state.cut.ks:.4f}")
        if n_moves == 0 or state.objective(settings.coef_penalty) - before < settings.tol:
            history.stopped_by = "no move is better" if n_moves == 0 else "tol"
            break
    history.beta = state.beta
    progress.close(f"KS {state.cut.ks:.4f}, {history.stopped_by}")
    return state, history


def _record(history: DMKSHistory, state: State) -> None:
    history.ks.append(float(state.cut.ks))
    history.n_nonzero.append(state.n_nonzero)


def sweep(columns: ScoreColumns, state: State, penalty: float) -> tuple[State, int]:
    """Move each coefficient in turn to its best value; also returns how many have moved."""
    n_moves = 0
    for j in range(columns.count):
        trial = best_trial(columns, state, j, penalty)
        if trial is not None and trial.objective(penalty) > state.objective(penalty) + ROUNDING:
            state = trial
            n_moves += 1
    return state, n_moves


def best_trial(columns: ScoreColumns, state: State, j: int, penalty: float) -> State | None:
    """The best state that moving coefficient j alone can reach; None if no move is promising."""
    trials = [_moved(columns, state, j, value) for value in _proposals(columns, state, j, penalty)]
    return max(trials, key=lambda trial: trial.objective(penalty), default=None)


def _proposals(columns: ScoreColumns, state: State, j: int, penalty: float) -> list[float]:
    """Values of coefficient j that may be better than the present one."""
    own = float(state.beta[j])
    if not state.beta.any():  # only the sign of the first coefficient matters
        return [1.0 / columns.spread[j], -1.0 / columns.spread[j]]
    value, move = search(columns, state, j)
    proposals = [own + move] if value > state.cut.ks + ROUNDING else []
    if penalty > 0 and own != 0.0:
        proposals.append(0.0)
    return proposals


def search(columns: ScoreColumns, state: State, j: int) -> tuple[float, float]:
    """(KS, move) of the best move of coefficient j with a fixed threshold."""
    part, own, unit = columns.parts[j], float(state.beta[j]), 1.0 / float(columns.spread[j])
    crossing = crossings(state.scores, state.cut.threshold, part)
    bounds = Bounds(-WIDEST * unit - own, WIDEST * unit - own, unit, CLEARANCE)
    value, move = best_move(
        crossing, np.argsort(crossing, kind="stable"), part, columns.rows, state.cut, bounds
    )
    return float(value), float(move)


def _moved(columns: ScoreColumns, state: State, j: int, value: float) -> State:
    """The state with coefficient j set to ``value`` and the threshold at the new KS point."""
    beta = state.beta.copy()
    beta[j] = value
    if _exponent(columns, beta) != 0 or not beta.any():
        return evaluate(columns, beta)
    scores = state.scores.copy()
    add_column(scores, columns.parts[j], value - float(state.beta[j]))
    return State(beta, scores, _cut(columns, scores))


def evaluate(columns: ScoreColumns, beta: Floats) -> State:
    """The state of given coefficients, rescaled."""
    beta = np.ldexp(beta, -_exponent(columns, beta))
    scores = np.zeros(len(columns.rows.weight))
    for j in np.flatnonzero(beta).tolist():
        add_column(scores, columns.parts[j], float(beta[j]))
    return State(beta, scores, _cut(columns, scores))


def _exponent(columns: ScoreColumns, beta: Floats) -> int:
    """The power of two that brings the largest influence of a column into [1/2, 1)."""
    return int(np.frexp(np.abs(beta * columns.spread).max(initial=0.0))[1])


def _cut(columns: ScoreColumns, scores: Floats) -> Cut:
    return Cut(*best_cut(scores, np.argsort(scores, kind="stable"), columns.rows, MIN_GAP))


def largest_gain(columns: ScoreColumns, state: State, penalty: float) -> float:
    """The most that moving a single coefficient would gain; 0 at a coordinatewise maximum."""
    trials = [best_trial(columns, state, j, penalty) for j in range(columns.count)]
    gains = [t.objective(penalty) - state.objective(penalty) for t in trials if t is not None]
    return max((gain for gain in gains if gain > ROUNDING), default=0.0)


def _certify(
    problem: ColumnProblem,
    model: LinearModel,
    state: State,
    settings: DMKSSettings,
    history: DMKSHistory,
) -> Certificate:
    columns, rows = problem.hypotheses, problem.labelled
    # A sweep without a move has tried all coefficients.
    is_verified = history.n_moves[-1:] == [0]
    gain = 0.0 if is_verified else largest_gain(columns, state, settings.coef_penalty)
    weight = rows.weight if rows.is_weighted else None
    values = {
        "ks": ks(rows.positive, problem.training_scores(model), sample_weight=weight),
        "start_ks": history.ks[0],
        "n_sweeps": history.n_iter,
        "n_nonzero": state.n_nonzero,
        "n_coefficients": columns.count,
        "coef_penalty": settings.coef_penalty,
        "largest_gain": gain,
    }
    return Certificate(_statement(values), values)


def _statement(values: dict[str, Any]) -> str:
    count, penalty = values["n_coefficients"], values["coef_penalty"]
    size = f", with {values['n_nonzero']} of {count} coefficients nonzero" if penalty else ""
    objective = f"KS - {penalty:g} x (number of nonzero coefficients)" if penalty else "it"
    most = f" by more than {values['largest_gain']:.2g}" if values["largest_gain"] > 0 else ""
    return (
        f"The training KS is {values['ks']:.4f} ({values['start_ks']:.4f} at the start){size}. "
        f"Moving a single coefficient, with the threshold fixed, cannot increase {objective}{most}"
        f"; all {count} were tried."
    )
