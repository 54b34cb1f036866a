"""DMKS: a linear score of the largest KS on the training rows (Fang & Chen 2019).

With the threshold c held, KS as a function of one coefficient is a step function: row i crosses c
where the coefficient has moved by (c - s_i) / x_i. The sorted crossings and whole-number sums over
them give its exact maximum in O(n log n). Coefficients take turns (iterative marginal
optimisation); after each move the threshold is put at the KS point of the new scores. A move is
made only if KS, less the penalty, is larger after it, so that it never falls.

KS does not see the scale of the score. It is kept such that the column with the largest say moves
the score by about 1, by powers of two, which change no digit.
"""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from auctor._progress import Progress
from auctor._typing import Floats
from auctor.kernels.dmks import Bounds, Cut, add_column, best_cut, best_move, crossings
from auctor.learners.certificate import Certificate
from auctor.learners.dmks.columns import (
    ColumnProblem,
    ScoreColumns,
    given_start,
    logistic_start,
)
from auctor.metrics import ks
from auctor.models import LinearModel

# Two values of KS that differ by less are equal.
EQUAL = 2.0**-40

# A threshold lies in a gap of the scores at least this wide, far above what rounding does to
# scores: the model, which adds up in another order, has the same rows above it.
MIN_GAP = 2.0**-33

# A move leaves every row this far from the threshold, and gives a column at most 2^8 times the
# say that the largest had. Brought back to scale, the scores still have a gap of MIN_GAP there: a
# KS that was promised is kept.
CLEARANCE = 2.0**-24
WIDEST = 2.0**8


@dataclass(frozen=True)
class DMKSSettings:
    """What a fit can be told."""

    coef_penalty: float = 0.0
    coef_init: Any = "logistic"
    max_iter: int = 100
    tol: float = 1e-6
    verbose: bool | int = False


@dataclass
class DMKSHistory:
    """KS and the number of coefficients that are not 0, at the start and after each sweep."""

    ks: list[float] = field(default_factory=list)
    n_nonzero: list[int] = field(default_factory=list)
    n_moves: list[int] = field(default_factory=list)  # of each sweep
    stopped_by: str = "max_iter"
    beta: Floats = field(default_factory=lambda: np.zeros(0))  # of the scaled columns, at the end

    @property
    def n_iter(self) -> int:
        """Sweeps made."""
        return len(self.n_moves)


class State(NamedTuple):
    """Coefficients of the scaled columns, the scores that they make, and their KS point."""

    beta: Floats
    scores: Floats
    cut: Cut

    @property
    def n_nonzero(self) -> int:
        return int(np.count_nonzero(self.beta))

    def worth(self, penalty: float) -> float:
        """What is maximised: KS less the price of the coefficients that are not 0."""
        return self.cut.ks - penalty * self.n_nonzero


def fit_dmks(
    problem: ColumnProblem, settings: DMKSSettings
) -> tuple[LinearModel, DMKSHistory, Certificate]:
    """Climb from the start until a sweep over all coefficients gains less than ``tol``.

    Examples
    --------
    >>> from auctor.data import read_table
    >>> from auctor.data.labels import read_rows
    >>> rows = read_rows([0, 0, 1, 0, 1, 1], None, None, 6)
    >>> table = read_table([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]])
    >>> _, history, certificate = fit_dmks(ColumnProblem(table, rows, frozenset()), DMKSSettings())
    >>> print(certificate)
    Training KS 0.6667, from 0.6667 at the start: no single coefficient, moved alone with the
    threshold held, can raise it (all 1 tried).
    """
    if settings.coef_penalty < 0:
        raise ValueError(f"penalty is {settings.coef_penalty}; it must be 0 or more")
    history = DMKSHistory()
    state = climb(problem.hypotheses, _start(problem, settings), settings, history)
    history.beta = state.beta
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


def climb(
    columns: ScoreColumns, state: State, settings: DMKSSettings, history: DMKSHistory
) -> State:
    """Sweeps until one gains less than ``tol``, written down in ``history``."""
    progress = Progress(settings.max_iter, "DMKS", settings.verbose)
    _note(history, state)
    while history.n_iter < settings.max_iter:
        before = state.worth(settings.coef_penalty)
        state, n_moves = sweep(columns, state, settings.coef_penalty)
        history.n_moves.append(n_moves)
        _note(history, state)
        progress.step(f"KS {state.cut.ks:.4f}")
        if n_moves == 0 or state.worth(settings.coef_penalty) - before < settings.tol:
            history.stopped_by = "no move is better" if n_moves == 0 else "tol"
            break
    progress.close(f"KS {state.cut.ks:.4f}, {history.stopped_by}")
    return state


def _note(history: DMKSHistory, state: State) -> None:
    history.ks.append(float(state.cut.ks))
    history.n_nonzero.append(state.n_nonzero)


def sweep(columns: ScoreColumns, state: State, penalty: float) -> tuple[State, int]:
    """Each coefficient in turn to where it is best; also returns how many have moved."""
    n_moves = 0
    for j in range(columns.count):
        trial = best_trial(columns, state, j, penalty)
        if trial is not None and trial.worth(penalty) > state.worth(penalty) + EQUAL:
            state = trial
            n_moves += 1
    return state, n_moves


def best_trial(columns: ScoreColumns, state: State, j: int, penalty: float) -> State | None:
    """The best that coefficient j alone can do; None where nothing is worth a trial."""
    trials = [_moved(columns, state, j, value) for value in _proposals(columns, state, j, penalty)]
    return max(trials, key=lambda trial: trial.worth(penalty), default=None)


def _proposals(columns: ScoreColumns, state: State, j: int, penalty: float) -> list[float]:
    """Values of coefficient j that may be better than the one it has."""
    own = float(state.beta[j])
    if not state.beta.any():  # of the first coefficient only the sign matters
        return [1.0 / columns.spread[j], -1.0 / columns.spread[j]]
    value, move = search(columns, state, j)
    proposals = [own + move] if value > state.cut.ks + EQUAL else []
    if penalty > 0 and own != 0.0:
        proposals.append(0.0)
    return proposals


def search(columns: ScoreColumns, state: State, j: int) -> tuple[float, float]:
    """(KS, move) of the best move of coefficient j with the threshold held."""
    part, own, unit = columns.parts[j], float(state.beta[j]), 1.0 / float(columns.spread[j])
    crossing = crossings(state.scores, state.cut.threshold, part)
    bounds = Bounds(-WIDEST * unit - own, WIDEST * unit - own, unit, CLEARANCE)
    value, move = best_move(
        crossing, np.argsort(crossing, kind="stable"), part, columns.rows, state.cut, bounds
    )
    return float(value), float(move)


def _moved(columns: ScoreColumns, state: State, j: int, value: float) -> State:
    """The state with coefficient j at ``value`` and the threshold at the new KS point."""
    beta = state.beta.copy()
    beta[j] = value
    if _exponent(columns, beta) != 0 or not beta.any():
        return evaluate(columns, beta)
    scores = state.scores.copy()
    add_column(scores, columns.parts[j], value - float(state.beta[j]))
    return State(beta, scores, _cut(columns, scores))


def evaluate(columns: ScoreColumns, beta: Floats) -> State:
    """The state of given coefficients, brought to scale."""
    beta = np.ldexp(beta, -_exponent(columns, beta))
    scores = np.zeros(len(columns.rows.weight))
    for j in np.flatnonzero(beta).tolist():
        add_column(scores, columns.parts[j], float(beta[j]))
    return State(beta, scores, _cut(columns, scores))


def _exponent(columns: ScoreColumns, beta: Floats) -> int:
    """The power of two by which the largest say of a column is off its range of 1/2 to 1."""
    return int(np.frexp(np.abs(beta * columns.spread).max(initial=0.0))[1])


def _cut(columns: ScoreColumns, scores: Floats) -> Cut:
    return Cut(*best_cut(scores, np.argsort(scores, kind="stable"), columns.rows, MIN_GAP))


def largest_gain(columns: ScoreColumns, state: State, penalty: float) -> float:
    """The most that moving one coefficient alone would gain; 0 at a coordinatewise maximum."""
    trials = [best_trial(columns, state, j, penalty) for j in range(columns.count)]
    gains = [t.worth(penalty) - state.worth(penalty) for t in trials if t is not None]
    return max((gain for gain in gains if gain > EQUAL), default=0.0)


def _certify(
    problem: ColumnProblem,
    model: LinearModel,
    state: State,
    settings: DMKSSettings,
    history: DMKSHistory,
) -> Certificate:
    columns, rows = problem.hypotheses, problem.labelled
    # A sweep without a move has tried every coefficient.
    is_verified = history.n_moves[-1:] == [0]
    gain = 0.0 if is_verified else largest_gain(columns, state, settings.coef_penalty)
    weight = rows.weight if rows.is_weighted else None
    values = {
        "ks": ks(rows.positive, problem.training_scores(model), sample_weight=weight),
        "start_ks": history.ks[0],
        "n_sweeps": history.n_iter,
        "n_nonzero": state.n_nonzero,
        "n_coefficients": columns.count,
        "penalty": settings.coef_penalty,
        "largest_gain": gain,
    }
    return Certificate(_statement(values), values)


def _statement(values: dict[str, Any]) -> str:
    size = f", {values['n_nonzero']} of {values['n_coefficients']} coefficients not 0"
    penalised = f"KS less {values['penalty']:g} for each of these"
    most = f" by more than {values['largest_gain']:.2g}" if values["largest_gain"] > 0 else ""
    return (
        f"Training KS {values['ks']:.4f}{size if values['penalty'] else ''}, from "
        f"{values['start_ks']:.4f} at the start: no single coefficient, moved alone with the "
        f"threshold held, can raise {penalised if values['penalty'] else 'it'}{most} "
        f"(all {values['n_coefficients']} tried)."
    )
