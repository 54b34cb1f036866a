"""One run of ExactBoost (Csillag et al. 2021, Algorithm 1).

Each round draws a sample, finds the best stump on it, and adds it if the loss of all rows does not
increase. Scores are whole numbers. The paper rescales them to [0, 1] after every step; here the
range is kept beside them, and the margin and the steps are multiples of it, which is the same
without rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints, RowIndices
from auctor.kernels.exact.cells import bisect_views, search_views
from auctor.kernels.exact.rows import (
    draw_by_weight,
    draw_positions,
    draw_some,
    move_rows,
    rank_sample,
    sort_sample,
)
from auctor.kernels.exact.sample import Sample, Views
from auctor.kernels.exact.strips import best_stump
from auctor.learners.exact.metric import Judge
from auctor.learners.exact.table import ExactTable

UNIT_RANGE = 2.0**30  # the range of the scores at the start, in units
LARGEST_RANGE = 2.0**50  # with a larger range the unit becomes coarser
COARSER = 2**20  # the factor by which it does
_BITS = 20  # precision of a step found by bisection
_N_STRIPS = 8  # number of strips that the search starts with
# Maximum number of sweeps of one search, per view, where gap_tol is above 0. Most need 10 to 30;
# ties can prevent a few from ending. The second maximum is for all views, where gap_tol is 0.
_MOST_SWEEPS = 200
_MOST_BOUNDS = 10**6


@dataclass(frozen=True)
class Plan:
    """The settings of a run, resolved for a table."""

    judge: Judge
    theta: float  # the margin
    n_rounds: int
    n_drawn: tuple[int, int]  # number of positives and of negatives in a sample
    n_views: int  # number of views that are searched in a round
    search: str
    gap_tol: float


@dataclass(frozen=True)
class Step:
    """A stump in the model: it adds ``size`` where the rank in a view is above the cut."""

    feature: int
    view: int
    cut: int
    size: int


@dataclass
class RunHistory:
    """The history of a finished run.

    Attributes
    ----------
    scale : float
        The range of the final scores; the score of the run is the sum of its steps divided by it.
    start_weight : float
        The weight in the run's score of the initial scores, rescaled to [0, 1].
    steps : list of Step
        The stumps that were added.
    rounds : list of int
        The number of the round, from 0, in which each step was added.
    losses : list of float
        The margin loss of all rows after every round.
    misses : int
        Number of rounds whose search ended without proof of the optimum; with bisection all.
    """

    scale: float = UNIT_RANGE
    start_weight: float = 0.0
    steps: list[Step] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    misses: int = 0


class FinishedRun(NamedTuple):
    """A finished run and its number."""

    number: int
    history: RunHistory

    def check(self, table: ExactTable, n_runs: int, n_rounds: int) -> None:
        """Raise an error if the run cannot be one of this table."""
        if not 0 <= self.number < n_runs:
            raise ValueError(f"has the number {self.number} of {n_runs} runs")
        for step in self.history.steps:
            if not (0 <= step.view < table.n_views and step.feature == table.features[step.view]):
                raise ValueError(f"has a step on the view {step.view} of {table.n_views}")
        n_losses = n_rounds if table.n_views else 0
        if not 0.0 < self.history.scale < inf or len(self.history.losses) != n_losses:
            raise ValueError("has numbers that no run has")


@dataclass(frozen=True)
class SearchResult:
    """The best stump of a sample; ``view`` is -1 if no view can be cut."""

    view: int
    cut: int
    size: int
    is_proved: bool


class Draw(NamedTuple):
    """A sample of each class in the order of the scores, its rows, and the views to search."""

    sample: Sample
    rows_pos: RowIndices
    rows_neg: RowIndices
    views: Ints


class _ClassRows:
    """The rows of one class in the order of their scores, with buffers for the next order."""

    def __init__(self, first_row: int, scores: Ints) -> None:
        order = np.argsort(scores, kind="stable")
        self.scores: Ints = scores[order]
        self.order: RowIndices = (order + first_row).astype(np.uint32)
        self._next = np.empty_like(self.scores), np.empty_like(self.order)
        self._buffer = np.empty_like(self.scores), np.empty_like(self.order)

    def try_step(self, table: ExactTable, step: Step) -> tuple[Ints, RowIndices]:
        """Sorted scores and rows as they would be after a step."""
        scores, order = self._next
        codes, ranks = table.codes[step.feature], table.ranks[step.view]
        buffer_scores, buffer_order = self._buffer
        move_rows(
            self.order,
            self.scores,
            codes,
            ranks,
            step.cut,
            step.size,
            order,
            scores,
            buffer_order,
            buffer_scores,
        )
        return scores, order

    def take_step(self) -> None:
        """Make the step that was tried last."""
        last = self.scores, self.order
        (self.scores, self.order), self._next = self._next, last


class Run:
    """One of the E runs of Algorithm 1."""

    def __init__(self, table: ExactTable, plan: Plan, seed: list[int], start: Ints | None) -> None:
        self._table, self._plan, self._start = table, plan, start
        self._factor = 1  # number of initial units in a unit
        drawn = np.random.SeedSequence(seed).generate_state(2, np.uint32)
        self._state = drawn.astype(np.int64) % 2147483398 + 1
        self._views = np.arange(table.n_views)
        self._totals = [float(w.sum(dtype=np.int64)) for w in self._class_weights()]
        self._is_weighted = table.is_weighted
        self._make_buffers()
        self.history = RunHistory()
        self._sort_rows()

    def rounds(self, stopped: Callable[[], bool]) -> RunHistory | None:
        """Run all rounds; returns None if ``stopped`` returns True before the last."""
        self._loss = self._judge(self._pos, self._neg, self.history.scale)
        for _ in range(self._plan.n_rounds if self._table.n_views else 0):
            if stopped():
                return None
            self._round()
        history = self.history
        if self._start is not None:
            history.start_weight = UNIT_RANGE / self._factor / history.scale
        return history

    def _round(self) -> None:
        best = self.search(self.draw(), self._plan.search)
        history = self.history
        history.misses += not best.is_proved
        if best.view >= 0 and best.size != 0:
            feature = int(self._table.features[best.view])
            self._try(Step(feature, best.view, best.cut, best.size))
        history.losses.append(self._loss)

    def _try(self, step: Step) -> None:
        """Add the step if the loss of all rows at margin theta does not increase (Algorithm 1)."""
        history, parts = self.history, (self._pos, self._neg)
        (pos, order_pos), (neg, order_neg) = (p.try_step(self._table, step) for p in parts)
        margin = int(self._plan.theta * history.scale)
        weight = self._table.weight
        if self._plan.judge.loss(pos, order_pos, neg, order_neg, weight, margin) > self._loss:
            return
        reach = max(pos[-1], neg[-1]) - min(pos[0], neg[0])
        if reach == 0:
            return
        for part in parts:
            part.take_step()
        history.steps.append(step)
        history.rounds.append(len(history.losses))
        history.scale = float(reach)
        if history.scale > LARGEST_RANGE:
            self._coarsen()
        self._loss = self._judge(self._pos, self._neg, history.scale)

    def _judge(self, pos: _ClassRows, neg: _ClassRows, scale: float) -> float:
        weight, margin = self._table.weight, int(self._plan.theta * scale)
        return self._plan.judge.loss(pos.scores, pos.order, neg.scores, neg.order, weight, margin)

    def draw(self) -> Draw:
        """Draw the sample and the views of the next round."""
        scores, rows = [], []
        for part, drawn, total in zip(
            (self._pos, self._neg), self._drawn, self._totals, strict=True
        ):
            if self._is_weighted:
                draw_by_weight(part.order, self._table.weight, total, self._state, drawn)
            else:
                draw_positions(len(part.order), self._state, drawn)
            scores.append(part.scores[drawn])
            rows.append(part.order[drawn])
        draw_some(self._plan.n_views, self._state, self._views)
        each = [total / len(drawn) for total, drawn in zip(self._totals, self._drawn, strict=True)]
        plan = self._plan
        top = plan.judge.top * (1.0 + 1e-9)  # rounding must not make sums of weights exceed k
        sample = Sample(scores[0], scores[1], each[0], each[1], top, plan.theta, self.history.scale)
        return Draw(sample, rows[0], rows[1], self._views[: plan.n_views])

    def search(self, draw: Draw, method: str) -> SearchResult:
        """The best stump of a sample, by the method "exact" or "bisect".

        "exact" searches a user-defined metric by bounds on cells of cut and size.
        """
        sample, rows_pos, rows_neg, views = draw
        plan, judge = self._plan, self._plan.judge
        slack = plan.gap_tol * judge.largest(len(rows_pos), len(rows_neg), sample.weight_pos)
        if method == "exact" and judge.custom is None:
            best = best_stump(
                judge.number,
                sample,
                self._sorted_views(views, rows_pos, rows_neg),
                largest_step(sample.theta, sample.scale),
                _N_STRIPS,
                slack,
                _MOST_SWEEPS * len(views) if plan.gap_tol > 0.0 else _MOST_BOUNDS,
            )
            return _result(views, best.view, best.cut, best.step, best.gap)
        ranks = [self.ranked_views(views, rows) for rows in (rows_pos, rows_neg)]
        reach = int(2 * sample.scale)
        if method == "bisect":
            search = judge.custom.bisect_views if judge.custom else bisect_views
            width = int(reach * 2.0**-_BITS)
            _, view, cut, size = search(judge.number, sample, *ranks, reach, width)
            return _result(views, view, cut, size, inf)  # nothing is known about other stumps
        search = judge.custom.search_views if judge.custom else search_views
        _, view, cut, size, gap = search(judge.number, sample, *ranks, reach, slack, _MOST_BOUNDS)
        return _result(views, view, cut, size, gap)

    def ranked_views(self, views: Ints, rows: RowIndices) -> RowIndices:
        """The ranks (views, rows) of some rows in some views."""
        out = np.empty((len(views), len(rows)), dtype=np.uint32)
        rank_sample(self._table.codes, self._table.features, self._table.ranks, views, rows, out)
        return out

    def _sorted_views(self, views: Ints, rows_pos: RowIndices, rows_neg: RowIndices) -> Views:
        """The rows of a sample sorted by each view."""
        table = self._table
        for rows, (order, ranks) in zip((rows_pos, rows_neg), self._sorted, strict=True):
            sort_sample(
                table.codes, table.features, table.ranks, views, rows, self._count, order, ranks
            )
        return Views(*self._sorted[0], *self._sorted[1])

    def _make_buffers(self) -> None:
        """Allocate the arrays that every round fills anew."""
        plan = self._plan
        self._drawn = [np.empty(n, dtype=np.int64) for n in plan.n_drawn]
        n_ranks = int(self._table.ranks.max(initial=0)) + 2
        self._count = np.empty(n_ranks, dtype=np.int64)
        shapes = [(plan.n_views, n) for n in plan.n_drawn]
        self._sorted = [(np.empty(s, np.uint32), np.empty(s, np.uint32)) for s in shapes]

    def _class_weights(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        return self._table.weight[: self._table.n_pos], self._table.weight[self._table.n_pos :]

    def _coarsen(self) -> None:
        """Make the unit a million times larger, which rounds the low bits of all steps away."""
        history = self.history
        self._factor *= COARSER
        history.steps = [replace(step, size=round(step.size / COARSER)) for step in history.steps]
        self._sort_rows()
        reach = max(part.scores[-1] for part in (self._pos, self._neg)) - min(
            part.scores[0] for part in (self._pos, self._neg)
        )
        history.scale = float(reach)

    def _sort_rows(self) -> None:
        """Sort all rows by their scores, from the initial scores and the steps so far."""
        table = self._table
        scores = np.zeros(table.n_rows, dtype=np.int64)
        if self._start is not None:
            scores += np.rint(self._start / self._factor).astype(np.int64)
        for step in self.history.steps:
            above = table.ranks[step.view] > step.cut
            scores += step.size * above[table.codes[step.feature]]
        self._pos = _ClassRows(0, scores[: table.n_pos])
        self._neg = _ClassRows(table.n_pos, scores[table.n_pos :])


def _result(views: Ints, drawn_view: int, cut: int, size: int, gap: float) -> SearchResult:
    """A search result with the index of the view in the table instead of that in the draw."""
    view = int(views[drawn_view]) if drawn_view >= 0 else -1
    return SearchResult(view, int(cut), int(size), gap == 0.0)


def largest_step(theta: float, scale: float) -> int:
    """The largest step that can improve the metric: 2 times the range, as in the paper, or less.

    With d (1 - theta / 2) > 1 + theta, d the step relative to the range, all moved rows have passed
    all others by the margin; larger steps only make the margin larger.
    """
    return int(scale * min(2.0, (1.0 + theta) / (1.0 - theta / 2.0)) + 1.0)
