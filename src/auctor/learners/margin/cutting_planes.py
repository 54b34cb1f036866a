"""Stabilised cutting planes for the largest soft margin over convex weights (paper 001).

f(alpha) is concave and piecewise linear. Each distribution d that an objective finds gives a
linear function above f, the edges g_k of the hypotheses under d: f(alpha) <= g alpha. The
master, max t subject to t <= g alpha for all cuts so far and alpha on the simplex, is a small
linear program. Its own solutions jump about; the next cut is taken between the best weights so
far and the master's (in-out, Ben-Ameur & Neto 2007), which needs a fraction of the cuts.

Of many hypotheses only those take part in the master that a price asks for. With the master's
dual lambda, d' = sum_c lambda_c d_c is an allowed distribution, under which hypothesis k has the
edge G_k = sum_c lambda_c g_ck. By duality f <= max_k G_k over ALL hypotheses, whatever lambda is:
the bound that the gap is computed from holds whether the solver was exact or not.
"""

from dataclasses import dataclass
from time import monotonic
from typing import Literal, NamedTuple

import highspy
import numpy as np

from auctor._progress import Progress
from auctor._typing import Bools, Floats, Ints
from auctor.kernels.linear import dot, vector_matrix
from auctor.learners.margin.hypotheses import Hypotheses
from auctor.learners.margin.objectives import Objective, Shares

# Part of the way from the best weights to the master's at which the next cut is taken.
_STEP = 0.2

# Up to this many hypotheses all take part; of more, so many at first and in each iteration.
_FEW, _AT_A_TIME = 1000, 100

# A cut that the master has not used for so many iterations is dropped.
_OLD = 30

# Of a margin below this the gap is taken relative to this instead: margins lie in [-1, 1], and
# where the best one is next to nothing, millions of its size cannot matter.
_SMALL = 1e-3

# The solver's own precision: no gap below it can be told from none.
_FINEST = 1e-10


Reason = Literal["gap", "no margin", "time limit", "iterations", "solver"]


def relative_gap(value: float, bound: float) -> float:
    """How far a value is below its bound, on the scale that ``tol`` is meant on."""
    return max(bound - value, 0.0) / max(abs(bound), _SMALL)


class Limits(NamedTuple):
    """When to stop."""

    tol: float = 1e-6  # gap relative to the bound
    max_iter: int = 10_000
    deadline: float = float("inf")  # of time.monotonic()
    least: float = 0.0  # part of the largest margin of means that is worth going on for

    def slack(self, bound: float) -> float:
        """How far below its bound a value may stay."""
        return max(self.tol * max(abs(bound), _SMALL), _FINEST)


@dataclass(frozen=True, eq=False)
class Solution:
    """The best weights found, and how good any others can be at most."""

    beta: Floats  # weight of each hypothesis, negative where it is its negation's
    value: float  # f of the weights
    bound: float  # f of no weights is larger
    n_iter: int
    stopped_by: Reason
    nu_pos: float  # of the tangent problem

    @property
    def gap(self) -> float:
        """Relative to the bound, or to 0.001 where that is larger."""
        return relative_gap(self.value, self.bound)


class CuttingPlanes:
    """Maximises objectives over the weights of given hypotheses.

    Weights lie on the simplex; with ``negations`` each hypothesis may also have a negative
    weight, whose size counts; with ``constant`` there is a hypothesis that is always 1, and
    takes up the weight that is not spent.
    """

    def __init__(self, hypotheses: Hypotheses, negations: bool, constant: bool) -> None:
        self._hypotheses = hypotheses
        self._negations, self._constant = negations, constant

    def value(self, objective: Objective, beta: Floats) -> float:
        """f of given weights."""
        return self._cut(objective, beta)[0]

    def solve(
        self,
        objective: Objective,
        limits: Limits,
        progress: Progress,
        start: Floats | None = None,
        old_cuts: "Cuts | None" = None,
    ) -> tuple[Solution, "Cuts"]:
        """The weights of the largest f, from ``start`` on.

        ``old_cuts`` are those of another objective that allowed fewer distributions: they hold
        for this one, too.
        """
        count = self._hypotheses.count
        cuts = old_cuts or Cuts(count)
        best, value = np.zeros(count), -np.inf
        # At no weights at all every allowed distribution is the worst.
        _, edges, shares = self._cut(objective, best)
        cuts.add(edges, shares.nu_pos)
        least = limits.least * self._largest(self._means()) if limits.least > 0 else -np.inf
        # The cut by itself is a bound, and stands if the solver fails at once.
        bound, nu_pos, n_iter = self._largest(edges), shares.nu_pos, 0
        if count == 0:
            return Solution(best, 0.0, 0.0, 0, "gap", nu_pos), cuts
        if start is None:
            k = int(np.argmax(np.abs(edges) if self._negations else edges))
            best[k] = np.sign(edges[k]) if self._negations else 1.0
        else:
            best = start
        master = _Master(cuts, edges, best, self._negations, self._constant)
        stopped_by: Reason = "iterations"
        query = best
        while n_iter < limits.max_iter:
            n_iter += 1
            found, edges, shares = self._cut(objective, query)
            if found > value:
                best, value = query, found
            master.add_cut(edges, shares.nu_pos)
            answer = master.solve()
            if answer is None:
                stopped_by = "solver"
                break
            if answer.bound < bound:
                bound, nu_pos = answer.bound, answer.nu_pos
            progress.step(f"soft margin {value:.6g}, at most {bound:.6g}")
            if bound - value <= limits.slack(bound):
                stopped_by = "gap"
                break
            if bound < least:
                stopped_by = "no margin"
                break
            if monotonic() > limits.deadline:
                stopped_by = "time limit"
                break
            master.add_columns(answer)
            master.drop_old_cuts(n_iter)
            query = best + _STEP * (answer.beta - best)
        return Solution(best, float(value), float(bound), n_iter, stopped_by, nu_pos), cuts

    def _means(self) -> Floats:
        """The edges under all rows alike: half the difference of each hypothesis' means."""
        neg, pos = self._hypotheses.weight_neg, self._hypotheses.weight_pos
        return self._hypotheses.edges(neg / neg.sum(), pos / pos.sum())

    def _largest(self, edges: Floats) -> float:
        """The largest value that weights on the simplex make of the edges."""
        sizes = np.abs(edges) if self._negations else edges
        return float(sizes.max(initial=0.0 if self._constant else -1.0))

    def _cut(self, objective: Objective, beta: Floats) -> tuple[float, Floats, Shares]:
        """f of the weights, and the edges that make the cut."""
        shares = objective.worst(*self._hypotheses.scores(beta))
        edges = self._hypotheses.edges(shares.neg, shares.pos)
        return float(dot(edges, beta)), edges, shares


class Cuts:
    """Edges of all hypotheses, a line for each cut."""

    def __init__(self, count: int) -> None:
        self._room = np.empty((64, count))
        self._size = 0
        self.nu_pos = np.empty(0)
        self.age = np.empty(0, dtype=np.int64)  # iterations since the master last used it

    @property
    def edges(self) -> Floats:
        return self._room[: self._size]

    def add(self, edges: Floats, nu_pos: float) -> None:
        if self._size == len(self._room):
            self._room = np.concatenate([self._room, np.empty_like(self._room)])
        self._room[self._size] = edges
        self._size += 1
        self.nu_pos, self.age = np.append(self.nu_pos, nu_pos), np.append(self.age, 0)

    def keep(self, kept: Bools) -> None:
        self._room[: int(kept.sum())] = self.edges[kept]
        self._size = int(kept.sum())
        self.nu_pos, self.age = self.nu_pos[kept], self.age[kept]


class _Answer(NamedTuple):
    """The master's solution."""

    beta: Floats
    value: float
    bound: float  # over all hypotheses, also those that take no part
    prices: Floats  # G_k
    nu_pos: float


class _Master:
    """max t subject to t <= g alpha for every cut and alpha on the simplex, over the columns
    that take part; HiGHS starts from the basis of the time before."""

    def __init__(
        self, cuts: Cuts, edges: Floats, start: Floats, negations: bool, constant: bool
    ) -> None:
        self._cuts, self._count, self._negations = cuts, len(edges), negations
        self._hypothesis = np.empty(0, dtype=np.int64)
        self._sign = np.empty(0)
        self._has = np.zeros((2, self._count), dtype=np.bool_)  # (negation, itself)
        self._solver = _new_solver()
        self._solver.addVar(-highspy.kHighsInf, highspy.kHighsInf)
        self._solver.changeColCost(0, -1.0)
        self._solver.addRow(1.0, 1.0, 0, np.empty(0, dtype=np.int32), np.empty(0))
        if constant:
            self._add_column(np.zeros(0), -1, 0.0)
        first = np.argsort(-np.abs(edges), kind="stable")[: self._first_columns()]
        self._enter(np.union1d(np.flatnonzero(start), first), edges, start)
        for line in cuts.edges:
            self._add_row(line)

    def _first_columns(self) -> int:
        return self._count if self._count <= _FEW else _AT_A_TIME

    def _enter(self, hypotheses: Ints, edges: Floats, start: Floats) -> None:
        """The first columns; both signs where all take part, else the one that points up."""
        everything = self._count <= _FEW
        for k in hypotheses.tolist():
            for sign in (1.0, -1.0) if self._negations else (1.0,):
                wanted = everything or sign * edges[k] > 0 or sign * start[k] > 0
                if wanted or not self._negations:
                    self._add_column(np.empty(0), k, sign)

    def add_cut(self, edges: Floats, nu_pos: float) -> None:
        self._cuts.add(edges, nu_pos)
        self._add_row(edges)

    def _add_row(self, edges: Floats) -> None:
        terms = np.append(1.0, -self._sign * edges[self._hypothesis])
        places = np.arange(len(terms), dtype=np.int32)
        self._solver.addRow(-highspy.kHighsInf, 0.0, len(terms), places, terms)

    def _add_column(self, edges: Floats, k: int, sign: float) -> None:
        """Hypothesis k with a sign; ``edges`` are those of it in every cut so far."""
        places = np.arange(len(edges) + 1, dtype=np.int32)
        terms = np.append(1.0, -sign * edges)
        self._solver.addCol(0.0, 0.0, highspy.kHighsInf, len(terms), places, terms)
        self._hypothesis, self._sign = np.append(self._hypothesis, k), np.append(self._sign, sign)
        if sign:
            self._has[int(sign > 0), k] = True

    def solve(self) -> _Answer | None:
        """The best weights for the cuts so far; None if the solver fails twice."""
        if not self._run():
            self._solver.clearSolver()  # once more, from the start
            if not self._run():
                return None
        solution = self._solver.getSolution()
        values, dual = np.array(solution.col_value), np.abs(np.array(solution.row_dual)[1:])
        if not dual.sum() > 0:
            return None
        dual /= dual.sum()
        used = np.flatnonzero(dual)
        self._cuts.age += 1
        self._cuts.age[used] = 0
        prices = vector_matrix(dual[used], self._cuts.edges[used])
        bound = float(np.abs(prices).max() if self._negations else prices.max())
        if (self._sign == 0).any():
            bound = max(bound, 0.0)
        alpha = np.maximum(values[1:], 0.0)
        alpha /= alpha.sum()
        beta = np.zeros(self._count)
        np.add.at(beta, np.maximum(self._hypothesis, 0), alpha * self._sign)
        return _Answer(beta, float(values[0]), bound, prices, float(dot(dual, self._cuts.nu_pos)))

    def _run(self) -> bool:
        self._solver.run()
        return bool(self._solver.getModelStatus() == highspy.HighsModelStatus.kOptimal)

    def add_columns(self, answer: _Answer) -> None:
        """Let the hypotheses take part whose price is above the master's value."""
        if self._has[1].all() and (self._has[0].all() or not self._negations):
            return
        prices = np.array([-answer.prices, answer.prices])
        prices[self._has] = -np.inf
        if not self._negations:
            prices[0] = -np.inf
        best = np.argsort(-prices, axis=None, kind="stable")[:_AT_A_TIME]
        for place in best[prices.ravel()[best] > answer.value + _FINEST].tolist():
            side, k = divmod(place, self._count)
            self._add_column(self._cuts.edges[:, k], k, 1.0 if side else -1.0)

    def drop_old_cuts(self, n_iter: int) -> None:
        old = self._cuts.age > _OLD
        if n_iter % _OLD or old.sum() < _OLD:
            return
        places = np.flatnonzero(old).astype(np.int32) + 1
        self._solver.deleteRows(len(places), places)
        self._cuts.keep(~old)


def _new_solver() -> highspy.Highs:
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    # Cuts are added to a solved program, whose basis stays good for its dual.
    solver.setOptionValue("presolve", "off")
    solver.setOptionValue("simplex_strategy", 1)
    solver.setOptionValue("primal_feasibility_tolerance", _FINEST)
    solver.setOptionValue("dual_feasibility_tolerance", _FINEST)
    return solver
