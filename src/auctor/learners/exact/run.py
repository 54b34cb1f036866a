"""One run of ExactBoost: rounds of a sample, the best stump on it, and a step if all rows agree.

Scores are whole numbers. The paper brings them back to [0, 1] after every step; here the range is
kept beside them, and margin and steps are measured in it, which is the same without rounding.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints
from auctor.kernels.exact.cells import bisect_views, search_views
from auctor.kernels.exact.rows import (
    draw_by_weight,
    draw_places,
    draw_some,
    move_rows,
    rank_sample,
    sort_sample,
)
from auctor.kernels.exact.sample import Sample, Views
from auctor.kernels.exact.strips import best_stump
from auctor.learners.exact.metric import Judge
from auctor.learners.exact.table import ExactTable

Places = npt.NDArray[np.uint32]

UNIT_RANGE = 2.0**30  # the range of scores at the start, in units
_LARGEST_RANGE = 2.0**50  # beyond it the units are made coarser
_COARSER = 2**20
_BITS = 20  # of a step, for bisection
_N_STRIPS = 8  # that the search starts with
# Sweeps of one search at most: for each view where tol is above 0 (most take 10 to 30; ties can
# keep a few open), in all where the optimum is to be proved.
_MOST_SWEEPS = 200
_MOST_BOUNDS = 10**6


@dataclass(frozen=True)
class Plan:
    """What every run is told."""

    judge: Judge
    theta: float
    n_rounds: int
    n_drawn: tuple[int, int]  # rows of a sample: positives, negatives
    n_views: int  # looked at in a round
    search: str
    tol: float


@dataclass(frozen=True)
class Step:
    """A stump in the model: ``size`` is added where the rank in a view is above the cut."""

    feature: int
    view: int
    cut: int
    size: int


@dataclass
class RunHistory:
    """A finished run: its steps, in units of ``scale``, and the margin loss after every round.

    ``rounds`` has the number of the round, from 0, in which each step was taken. ``misses`` counts
    the rounds whose search ended without a proof (all of bisection's);
    ``start_weight`` is what the scores to start from, brought to [0, 1], weigh in the run's score.
    """

    scale: float = UNIT_RANGE
    start_weight: float = 0.0
    steps: list[Step] = field(default_factory=list)
    rounds: list[int] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    misses: int = 0


class Drawn(NamedTuple):
    """What a round looks at: a sorted sample, the rows it consists of, and some of the views."""

    sample: Sample
    rows_pos: Places
    rows_neg: Places
    views: Ints


@dataclass(frozen=True)
class Found:
    """What a search has found; ``view`` -1 if there is nothing to cut."""

    view: int
    cut: int
    size: int
    is_proved: bool


class _ClassRows:
    """The rows of one class in the order of their scores, with room for the next order."""

    def __init__(self, first_row: int, scores: Ints) -> None:
        order = np.argsort(scores, kind="stable")
        self.scores: Ints = scores[order]
        self.order: Places = (order + first_row).astype(np.uint32)
        self._next = np.empty_like(self.scores), np.empty_like(self.order)
        self._room = np.empty_like(self.scores), np.empty_like(self.order)

    def try_step(self, table: ExactTable, step: Step) -> tuple[Ints, Places]:
        """Scores and rows in order, as they would be after a step."""
        scores, order = self._next
        codes, ranks = table.codes[step.feature], table.ranks[step.view]
        room_scores, room_order = self._room
        move_rows(
            self.order,
            self.scores,
            codes,
            ranks,
            step.cut,
            step.size,
            order,
            scores,
            room_order,
            room_scores,
        )
        return scores, order

    def take_step(self) -> None:
        """Keep what was tried last."""
        last = self.scores, self.order
        (self.scores, self.order), self._next = self._next, last


class Run:
    """One of the E runs of Algorithm 1."""

    def __init__(self, table: ExactTable, plan: Plan, seed: list[int], start: Ints | None) -> None:
        self._table, self._plan, self._start = table, plan, start
        self._factor = 1  # what a unit of the start scores is now
        drawn = np.random.SeedSequence(seed).generate_state(2, np.uint32)
        self._state = drawn.astype(np.int64) % 2147483398 + 1
        self._views = np.arange(table.n_views)
        self._totals = [float(w.sum(dtype=np.int64)) for w in self._class_weights()]
        self._is_weighted = table.is_weighted
        self._make_room()
        self.history = RunHistory()
        self._sort_rows()

    def rounds(self, stopped: Callable[[], bool]) -> RunHistory | None:
        """All rounds; None if ``stopped`` says so before they are through."""
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
        found = self.search(self.draw())
        history = self.history
        history.misses += not found.is_proved
        if found.view >= 0 and found.size != 0:
            feature = int(self._table.features[found.view])
            self._offer(Step(feature, found.view, found.cut, found.size))
        history.losses.append(self._loss)

    def _offer(self, step: Step) -> None:
        """Take the step if the loss of all rows at margin theta does not grow (Algorithm 1)."""
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
        if history.scale > _LARGEST_RANGE:
            self._coarsen()
        self._loss = self._judge(self._pos, self._neg, history.scale)

    def _judge(self, pos: _ClassRows, neg: _ClassRows, scale: float) -> float:
        weight, margin = self._table.weight, int(self._plan.theta * scale)
        return self._plan.judge.loss(pos.scores, pos.order, neg.scores, neg.order, weight, margin)

    def draw(self) -> Drawn:
        """A sample of each class in the order of scores, and the views to search."""
        scores, rows = [], []
        for part, places, total in zip(
            (self._pos, self._neg), self._places, self._totals, strict=True
        ):
            if self._is_weighted:
                draw_by_weight(part.order, self._table.weight, total, self._state, places)
            else:
                draw_places(len(part.order), self._state, places)
            scores.append(part.scores[places])
            rows.append(part.order[places])
        draw_some(self._plan.n_views, self._state, self._views)
        each = [
            total / len(places) for total, places in zip(self._totals, self._places, strict=True)
        ]
        plan = self._plan
        top = plan.judge.top * (1.0 + 1e-9)  # sums of weights that are k must not seem more
        sample = Sample(scores[0], scores[1], each[0], each[1], top, plan.theta, self.history.scale)
        return Drawn(sample, rows[0], rows[1], self._views[: plan.n_views])

    def search(self, drawn: Drawn) -> Found:
        """The best stump on what was drawn."""
        sample, rows_pos, rows_neg, views = drawn
        plan, judge = self._plan, self._plan.judge
        slack = plan.tol * judge.largest(len(rows_pos), len(rows_neg), sample.weight_pos)
        if plan.search == "exact" and judge.custom is None:
            found = best_stump(
                judge.number,
                sample,
                self._sorted_views(views, rows_pos, rows_neg),
                largest_step(sample.theta, sample.scale),
                _N_STRIPS,
                slack,
                _MOST_SWEEPS * len(views) if plan.tol > 0.0 else _MOST_BOUNDS,
            )
            return self._named(found.view, found.cut, found.step, found.gap)
        ranks = [self._ranked_views(views, rows) for rows in (rows_pos, rows_neg)]
        reach = int(2 * sample.scale)
        if plan.search == "bisect":
            search = judge.custom.bisect_views if judge.custom else bisect_views
            width = int(reach * 2.0**-_BITS)
            _, view, cut, size = search(judge.number, sample, *ranks, reach, width)
            return self._named(view, cut, size, inf)  # nothing is known of the others
        search = judge.custom.search_views if judge.custom else search_views
        _, view, cut, size, gap = search(judge.number, sample, *ranks, reach, slack, _MOST_BOUNDS)
        return self._named(view, cut, size, gap)

    def _named(self, drawn_view: int, cut: int, size: int, gap: float) -> Found:
        view = int(self._views[drawn_view]) if drawn_view >= 0 else -1
        return Found(view, int(cut), int(size), gap == 0.0)

    def _ranked_views(self, views: Ints, rows: Places) -> Places:
        out = np.empty((len(views), len(rows)), dtype=np.uint32)
        rank_sample(self._table.codes, self._table.features, self._table.ranks, views, rows, out)
        return out

    def _sorted_views(self, views: Ints, rows_pos: Places, rows_neg: Places) -> Views:
        table = self._table
        for rows, (order, ranks) in zip((rows_pos, rows_neg), self._sorted, strict=True):
            sort_sample(
                table.codes, table.features, table.ranks, views, rows, self._count, order, ranks
            )
        return Views(*self._sorted[0], *self._sorted[1])

    def _make_room(self) -> None:
        """Arrays that every round fills anew."""
        plan = self._plan
        self._places = [np.empty(n, dtype=np.int64) for n in plan.n_drawn]
        n_ranks = int(self._table.ranks.max(initial=0)) + 2
        self._count = np.empty(n_ranks, dtype=np.int64)
        shapes = [(plan.n_views, n) for n in plan.n_drawn]
        self._sorted = [(np.empty(s, np.uint32), np.empty(s, np.uint32)) for s in shapes]

    def _class_weights(self) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
        return self._table.weight[: self._table.n_pos], self._table.weight[self._table.n_pos :]

    def _coarsen(self) -> None:
        """Units a million times as large: the low bits of all steps are rounded away."""
        history = self.history
        self._factor *= _COARSER
        history.steps = [replace(step, size=round(step.size / _COARSER)) for step in history.steps]
        self._sort_rows()
        reach = max(part.scores[-1] for part in (self._pos, self._neg)) - min(
            part.scores[0] for part in (self._pos, self._neg)
        )
        history.scale = float(reach)

    def _sort_rows(self) -> None:
        """The scores of all rows from the start and the steps so far, sorted."""
        table = self._table
        scores = np.zeros(table.n_rows, dtype=np.int64)
        if self._start is not None:
            scores += np.rint(self._start / self._factor).astype(np.int64)
        for step in self.history.steps:
            above = table.ranks[step.view] > step.cut
            scores += step.size * above[table.codes[step.feature]]
        self._pos = _ClassRows(0, scores[: table.n_pos])
        self._neg = _ClassRows(table.n_pos, scores[table.n_pos :])


def largest_step(theta: float, scale: float) -> int:
    """The largest step worth looking at: 2, as in the paper, or less.

    At d (1 - theta / 2) > (1 + theta) times the range all moved rows have passed all others, margin
    included; from there on only the margin grows.
    """
    return int(scale * min(2.0, (1.0 + theta) / (1.0 - theta / 2.0)) + 1.0)
