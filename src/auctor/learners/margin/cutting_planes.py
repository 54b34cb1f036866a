"""Stabilised cutting planes for the largest soft margin over convex weights (Suehiro et al. 2011).

f(alpha) is concave and piecewise linear. Each distribution d that an objective finds gives a cut, a
linear function that is nowhere below f, by the edges g_k of the hypotheses under d:
f(alpha) <= g alpha. The master problem, max t subject to t <= g alpha for all cuts so far and alpha
on the simplex, is a small linear program. Its solutions change a lot from one cut to the next; the
next cut is therefore taken between the best weights so far and those of the master (in-out,
Ben-Ameur & Neto 2007), which needs far fewer cuts.

If there are many hypotheses, only those with a large price take part in the master (column
generation). With the dual lambda of the master, d' = sum_c lambda_c d_c is an allowed distribution,
under which hypothesis k has the edge (price) G_k = sum_c lambda_c g_ck. By duality f <= max_k G_k
over ALL hypotheses, for any lambda: the bound, and the gap computed from it, hold whether the
solver was exact or not.
"""

from dataclasses import dataclass
from time import monotonic
from typing import Literal, NamedTuple

import highspy
import numpy as np

from auctor._progress import Progress
from auctor._typing import Bools, Floats, Indices, Ints
from auctor.kernels.linear import dot, vector_matrix
from auctor.learners.margin.hypotheses import Hypotheses
from auctor.learners.margin.objectives import Distributions, Objective

# The next cut is taken at this fraction of the way from the best weights to those of the master.
_STEP = 0.2

# Up to _FEW hypotheses all take part in the master. If there are more, it starts with _AT_A_TIME of
# them, and as many are added in each iteration.
_FEW, _AT_A_TIME = 1000, 100

# A cut that the master has not used for this many iterations is dropped.
_OLD = 30

# For a smaller margin the gap is relative to this instead: margins lie in [-1, 1], and a tiny
# margin need not be known to many digits.
_SMALL = 1e-3

# The precision of the solver: smaller gaps count as 0.
_FINEST = 1e-10


Reason = Literal["gap", "no margin", "time limit", "iterations", "solver"]


def relative_gap(value: float, bound: float) -> float:
    """How far a value is below its bound, on the scale of ``tol``."""
    return max(bound - value, 0.0) / max(abs(bound), _SMALL)


class Limits(NamedTuple):
    """When to stop."""

    tol: float = 1e-6  # gap relative to the bound
    max_iter: int = 10_000
    deadline: float = float("inf")  # of time.monotonic()
    least: float = 0.0  # stop if the margin is below this part of the largest difference of means

    def slack(self, bound: float) -> float:
        """How far below its bound a value may be."""
        return max(self.tol * max(abs(bound), _SMALL), _FINEST)


@dataclass(frozen=True, eq=False)
class Solution:
    """The best weights found, and an upper bound for all weights."""

    beta: Floats  # weight of each hypothesis; negative if its negation is used
    value: float  # f of the weights
    bound: float  # f is at most this for all weights
    n_iter: int
    stopped_by: Reason
    nu_pos: float  # of the tangent problem

    @property
    def gap(self) -> float:
        """Relative to the bound, or to 0.001 if that is larger."""
        return relative_gap(self.value, self.bound)


class CuttingPlanes:
    """Maximises objectives over the weights of given hypotheses.

    Weights lie on the simplex. With ``negations`` each hypothesis may also have a negative weight,
    which counts by its size. With ``constant`` there is a further hypothesis that is always 1 and
    takes up the remaining weight.
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
        """The weights with the largest f, starting from ``start``.

        ``old_cuts`` are those of another objective that allows fewer distributions: they are valid
        for this one, too.
        """
        count = self._hypotheses.count
        cuts = old_cuts or Cuts(count)
        best, value = np.zeros(count), -np.inf
        # With all weights 0 every allowed distribution is a minimum.
        _, edges, d = self._cut(objective, best)
        cuts.add(edges, d.nu_pos)
        least = limits.least * self._largest(self._means()) if limits.least > 0 else -np.inf
        # The first cut alone gives a bound, which remains if the solver fails at once.
        bound, nu_pos, n_iter = self._largest(edges), d.nu_pos, 0
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
            at_query, edges, d = self._cut(objective, query)
            if at_query > value:
                best, value = query, at_query
            master.add_cut(edges, d.nu_pos)
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
        """Half the difference of the means of each hypothesis: its edge under uniform weights."""
        neg, pos = self._hypotheses.weight_neg, self._hypotheses.weight_pos
        return self._hypotheses.edges(neg / neg.sum(), pos / pos.sum())

    def _largest(self, edges: Floats) -> float:
        """The largest value of the edges over weights on the simplex."""
        sizes = np.abs(edges) if self._negations else edges
        return float(sizes.max(initial=0.0 if self._constant else -1.0))

    def _cut(self, objective: Objective, beta: Floats) -> tuple[float, Floats, Distributions]:
        """f of the weights, the edges of the cut, and the distributions of the minimum."""
        d = objective.worst(*self._hypotheses.scores(beta))
        edges = self._hypotheses.edges(d.neg, d.pos)
        return float(dot(edges, beta)), edges, d


class Cuts:
    """The edges of all hypotheses, a row for each cut."""

    def __init__(self, count: int) -> None:
        self._buffer = np.empty((64, count))
        self._size = 0
        self.nu_pos = np.empty(0)
        self.age = np.empty(0, dtype=np.int64)  # iterations since the master last used it

    @property
    def edges(self) -> Floats:
        return self._buffer[: self._size]

    def add(self, edges: Floats, nu_pos: float) -> None:
        if self._size == len(self._buffer):
            self._buffer = np.concatenate([self._buffer, np.empty_like(self._buffer)])
        self._buffer[self._size] = edges
        self._size += 1
        self.nu_pos, self.age = np.append(self.nu_pos, nu_pos), np.append(self.age, 0)

    def mark_used(self, used: Indices) -> None:
        self.age += 1
        self.age[used] = 0

    def keep(self, kept: Bools) -> None:
        self._buffer[: int(kept.sum())] = self.edges[kept]
        self._size = int(kept.sum())
        self.nu_pos, self.age = self.nu_pos[kept], self.age[kept]


class _Answer(NamedTuple):
    """The master's solution."""

    beta: Floats
    value: float
    bound: float  # over all hypotheses, also those that are not in the master
    prices: Floats  # G_k
    nu_pos: float


class _Master:
    """max t subject to t <= g alpha for every cut and alpha on the simplex, over some hypotheses.

    HiGHS starts from the basis of the previous solution.
    """

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
        for row in cuts.edges:
            self._add_row(row)

    def _first_columns(self) -> int:
        return self._count if self._count <= _FEW else _AT_A_TIME

    def _enter(self, hypotheses: Ints, edges: Floats, start: Floats) -> None:
        """Add the first columns; both signs if all hypotheses take part, else the better one."""
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
        columns = np.arange(len(terms), dtype=np.int32)
        self._solver.addRow(-highspy.kHighsInf, 0.0, len(terms), columns, terms)

    def _add_column(self, edges: Floats, k: int, sign: float) -> None:
        """Add hypothesis k with a sign; ``edges`` has its edge in every cut so far."""
        rows = np.arange(len(edges) + 1, dtype=np.int32)
        terms = np.append(1.0, -sign * edges)
        self._solver.addCol(0.0, 0.0, highspy.kHighsInf, len(terms), rows, terms)
        self._hypothesis, self._sign = np.append(self._hypothesis, k), np.append(self._sign, sign)
        if sign:
            self._has[int(sign > 0), k] = True

    def solve(self) -> _Answer | None:
        """The best weights for the cuts so far; None if the solver fails twice."""
        if not self._run():
            self._solver.clearSolver()  # try once more, without the previous basis
            if not self._run():
                return None
        solution = self._solver.getSolution()
        values, dual = np.array(solution.col_value), np.abs(np.array(solution.row_dual)[1:])
        if not dual.sum() > 0:
            return None
        dual /= dual.sum()
        used = np.flatnonzero(dual)
        self._cuts.mark_used(used)
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
        """Add the hypotheses whose price is above the value of the master."""
        if self._has[1].all() and (self._has[0].all() or not self._negations):
            return
        prices = np.array([-answer.prices, answer.prices])
        prices[self._has] = -np.inf
        if not self._negations:
            prices[0] = -np.inf
        best = np.argsort(-prices, axis=None, kind="stable")[:_AT_A_TIME]
        for position in best[prices.ravel()[best] > answer.value + _FINEST].tolist():
            side, k = divmod(position, self._count)
            self._add_column(self._cuts.edges[:, k], k, 1.0 if side else -1.0)

    def drop_old_cuts(self, n_iter: int) -> None:
        old = self._cuts.age > _OLD
        if n_iter % _OLD or old.sum() < _OLD:
            return
        rows = np.flatnonzero(old).astype(np.int32) + 1
        self._solver.deleteRows(len(rows), rows)
        self._cuts.keep(~old)


def _new_solver() -> highspy.Highs:
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("threads", 1)
    # Cuts are added to a solved program, whose basis remains dual feasible.
    solver.setOptionValue("presolve", "off")
    solver.setOptionValue("simplex_strategy", 1)
    solver.setOptionValue("primal_feasibility_tolerance", _FINEST)
    solver.setOptionValue("dual_feasibility_tolerance", _FINEST)
    return solver
