"""How often Algorithm 2, bisection, misses the best stump, and the cost."""

from collections.abc import Iterator
from functools import partial
from statistics import mean
from typing import Any

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import prepare
from auctor.kernels.exact.cells import Cell, cell_bound, make_buffers
from auctor.learners.exact.fit import ExactBoostSettings, make_plan
from auctor.learners.exact.run import Draw, Run, SearchResult
from auctor.learners.exact.table import gather
from papers.csillag_2021.comparison import Comparison, count, fold_counts, read_name
from papers.csillag_2021.methods import (
    METRICS,
    N_FOLDS,
    OURS,
    exactboost,
    loss_of,
    read_fold,
    read_whole,
)
from papers.csillag_2021.optimisers import COSTS
from papers.experiment import Case, CaseResults, Experiment, Result, Setup
from papers.page import Cause, Page, Verdict
from papers.statistics import mean_sd

TABLES = ("german", "heart", "ionosphere", "liver")
JUDGED = ("AUC", "KS")
BISECT = "bisection"
_HEAD = ["table", "metric", "rounds", "missed", "mean shortfall", "where missed", "largest"]


class Watched(Run):
    """A run that uses the proved best stump and records the result of bisection in each round."""

    shortfalls: list[float]

    def search(self, draw: Draw, method: str) -> SearchResult:
        best, other = super().search(draw, method), super().search(draw, "bisect")
        if best.is_proved:
            self.shortfalls.append(self._value(draw, best) - self._value(draw, other))
        return best

    def _value(self, draw: Draw, stump: SearchResult) -> float:
        """The metric of a stump on the sample, between 0 and 1."""
        view = np.array([stump.view])
        ranks = [self.ranked_views(view, rows)[0] for rows in (draw.rows_pos, draw.rows_neg)]
        cut, size = np.int64(stump.cut), np.int64(stump.size)
        sizes = len(draw.rows_pos), len(draw.rows_neg)
        cell = Cell(cut, cut, size, size)
        judge = self._plan.judge
        value = cell_bound(judge.number, draw.sample, *ranks, cell, make_buffers(*sizes))
        return value / judge.largest(*sizes, draw.sample.weight_pos)


def shortfalls_of(
    X: Floats, y: Ints, metric: str, seed: int, n_runs: int, n_rounds: int = 50
) -> list[float]:
    """By how much bisection is below the best stump, in each round of some runs."""
    data = prepare(X, y)
    table = gather(data)
    settings = ExactBoostSettings(metric=METRICS[metric], n_estimators=n_rounds, gap_tol=0.0)
    plan = make_plan(table, settings, data.mean_unit)
    shortfalls: list[float] = []
    for number in range(n_runs):
        run = Watched(table, plan, [seed, number], None)
        run.shortfalls = shortfalls
        run.rounds(lambda: False)
    return shortfalls


def count_misses(table: str, metric: str, seed: int, n_runs: int, n_rounds: int) -> Result:
    """How often, and by how much, bisection is below the best."""
    shortfalls = shortfalls_of(*read_whole(table, seed), metric, seed, n_runs, n_rounds)
    missed = [shortfall for shortfall in shortfalls if shortfall > 0.0]
    return {
        "rounds": len(shortfalls),
        "missed": len(missed),
        "shortfall": mean(shortfalls),
        "where_missed": mean(missed) if missed else 0.0,
        "largest": max(shortfalls),
    }


def cost_of_misses(table: str, metric: str, fold: int, seed: int, n_runs: int) -> Result:
    """Test loss with each of the two searches."""
    rows = read_fold(table, fold, seed)
    searches = {OURS: "exact", BISECT: "bisect"}
    models = {
        name: exactboost(metric, seed, n_runs, search=search).fit(rows.X, rows.y)
        for name, search in searches.items()
    }
    return {name: loss_of(metric, model, rows) for name, model in models.items()}


def cases(setup: Setup) -> Iterator[Case]:
    """Rounds that are watched, then folds with either search."""
    tables = setup.pick(TABLES, ("heart", "liver"), ("liver",))
    n_watched, n_rounds = setup.pick(10, 1, 1), setup.pick(50, 50, 10)
    n_runs = setup.pick(50, 5, 2)
    for index, metric in enumerate(JUDGED):
        for table in tables:
            watch = partial(count_misses, table, metric, setup.seed, n_watched, n_rounds)
            cost = COSTS[table][index] * n_watched / 40
            yield Case(f"misses, {table}, {metric}", watch, tables=(table,), cost=cost)
        for table in tables:
            for fold in range(setup.pick(N_FOLDS, N_FOLDS, 2)):
                yield Case(
                    f"cost, {table}, {metric}, fold {fold}",
                    partial(cost_of_misses, table, metric, fold, setup.seed, n_runs),
                    tables=(table,),
                    cost=3 * COSTS[table][index] * n_runs / 250,
                )


def judge_misses(n_missed: int, n_rounds: int) -> Verdict:
    """Judge "the best stump of the sample": never missed, or in at most one round in twenty."""
    if n_rounds == 0:
        return Verdict.NOT_RUN
    if n_missed == 0:
        return Verdict.REPRODUCED
    return Verdict.PARTLY if n_missed <= 0.05 * n_rounds else Verdict.NOT_REPRODUCED


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """Report misses and their cost."""
    page.text(
        "Algorithm 2 halves the cell of cuts and steps, and goes on with the half of the best "
        "bound alone; the other half may hold the best stump. ExactBoost here goes on until no "
        'cell can be better (`search="bisect"` is Algorithm 2). On samples as a fit draws them: '
        "how often the stump that bisection finds is not the best, and by how much of the metric."
    )
    _report_misses(page, results)
    _report_costs(page, results, setup)


def _report_misses(page: Page, results: CaseResults) -> None:
    names = [f"misses, {table}, {metric}" for metric in JUDGED for table in TABLES]
    known = [name for name in names if name in results]
    page.table(_HEAD, [_miss_row(name, results[name]) for name in known])
    n_missed, n_rounds = (sum(results[n][key] for n in known) for key in ("missed", "rounds"))
    number = f"{n_missed} of {n_rounds} rounds missed" if n_rounds else "not counted"
    text = "Algorithm 2 solves (7), that is, it returns the best stump of the sample"
    page.claim(text, judge_misses(n_missed, n_rounds), number, cause=Cause.PAPER)


def _miss_row(name: str, result: Result) -> list[Any]:
    fraction = f"{result['missed'] / result['rounds']:.0%}" if result["rounds"] else "–"
    cells = [f"{result[key]:.4f}" for key in ("shortfall", "where_missed", "largest")]
    return [*name.split(", ")[1:], result["rounds"], fraction, *cells]


def collect(results: CaseResults) -> Comparison:
    """The test losses with either search."""
    comparison = Comparison()
    for name, result in results.items():
        if name.startswith("cost"):
            _, table, metric, fold = read_name(name)
            for method, loss in result.items():
                comparison.add(table, metric, method, fold, loss)
    return comparison


def _report_costs(page: Page, results: CaseResults, setup: Setup) -> None:
    comparison = collect(results)
    if not comparison.losses:
        return
    page.text(
        f"What the misses cost: test loss of {setup.pick(50, 5, 2)} runs, mean ± standard "
        f"deviation over {fold_counts(comparison)}, and the difference with its 95 % interval."
    )
    rows = []
    for metric in JUDGED:
        for table in comparison.tables(metric):
            cells = [mean_sd(comparison.values(table, metric, m)) for m in (OURS, BISECT)]
            rows.append([table, metric, *cells, comparison.difference(table, metric, BISECT)])
    page.table(["table", "metric", "exact", BISECT, f"{BISECT} minus exact"], rows)
    tally = count([e for metric in JUDGED for e in comparison.against(metric, [BISECT])])
    page.text(
        f"Against bisection the exact search is {tally}. A better stump of a small sample is not "
        "necessarily a better stump for new rows."
    )


EXPERIMENT = Experiment("search", "Algorithm 2: what bisection misses", cases, report)
