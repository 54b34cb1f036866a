"""The smooth model refined for KS or precision at k: rounds of ExactBoost, chosen by inner folds.

A smoothed AUC is easy to maximise well, and mostly the model that does so is also the best for the
other metrics of a list. Where it is not, the rounds of ExactBoost (Csillag et al. 2021) correct it
on the metric itself. They start from the smooth model's scores, and the mean of a few runs, times a
factor, is added to them. The inner folds decide how many rounds, which factor, and whether any:
the smooth model stays unless the gain in the metric is larger than chance. For precision at k the
rounds may start from a model of the partial AUC over the false positive rates of the top instead.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from auctor._progress import Progress
from auctor._typing import Bools, Floats
from auctor.data import Partition, RankingData, Workers
from auctor.learners.certificate import Certificate
from auctor.learners.common.finish import finish_additive, score_rows
from auctor.learners.common.histogram import class_histogram
from auctor.learners.common.reference import codes_in
from auctor.learners.exact import fit as exactboost
from auctor.learners.exact.candidates import SURE, Candidate, History, chosen_values, tell
from auctor.learners.exact.paired_metric import (
    TITLES,
    LabelledRows,
    PairedMetric,
    labelled_rows,
    members_of_top,
    paired_gain,
)
from auctor.learners.exact.run import RunHistory
from auctor.learners.exact.table import ExactTable, gather
from auctor.learners.smooth.bands import steps_by_code
from auctor.learners.smooth.fit import fit_smooth
from auctor.learners.smooth.histograms import code_fractions
from auctor.learners.smooth.history import SmoothHistory
from auctor.learners.smooth.interactions import spreads
from auctor.learners.smooth.settings import SmoothSettings
from auctor.models import AdditiveModel, Surface, add_terms, on_grid

# What the folds choose from: the share of the rounds, and what their mean is multiplied with.
ROUND_SHARES = (0.25, 1.0)
FACTORS = (0.1, 0.3, 1.0)
# Near enough to a maximum for the metric of held-out rows.
_FOLD_TOL = 1e-5
# The partial AUC is that of the false positive rates up to twice the top's: neighbours of the cut
# matter too. Fewer negatives than these are too few to train on.
_WIDER, _FEWEST_NEGATIVES = 2.0, 5.0


@dataclass(frozen=True)
class Settings:
    """Settings of a fit: those of the smooth model, those of the rounds, and the metric."""

    smooth: SmoothSettings
    exact: exactboost.Settings
    metric: PairedMetric
    verbose: bool | int = False


@dataclass(frozen=True, eq=False)
class Fold:
    """One inner fold: a start fitted to its training rows, and the metric of the rows held out."""

    train: RankingData
    held_out: RankingData
    rows: LabelledRows  # those held out
    scores: Floats  # of the start, for the rows of both by their place in the table
    settings: Settings

    @property
    def selected(self) -> Floats:
        """The held-out rows that the start selects for the metric."""
        return self._select(self.scores[self.rows.places])

    def from_partial(self, data: RankingData) -> "Fold":
        """The same fold with a start that is trained on the partial AUC of the top."""
        region = top_region(self.train, self.scores, self.settings.metric.share)
        model = fit_smooth(self.train, replace(self.settings.smooth, fpr_range=region))[0]
        return replace(self, scores=scores_by_place(model, data))

    def try_rounds(self, choices: Sequence[tuple[int, float]]) -> list[Floats]:
        """The selected rows for each number of rounds and factor, from the same runs."""
        table, runs = run_rounds(self.train, self.settings.exact, self.scores)
        reach, added = range_of(self.train, self.scores), {}
        for n_rounds in {n for n, _ in choices}:
            tables = correction(self.train, table, runs, n_rounds, reach)
            added[n_rounds] = self._added(tables)
        before = self.scores[self.rows.places]
        return [self._select(before + factor * added[n]) for n, factor in choices]

    def _added(self, tables: list[Floats]) -> Floats:
        """What tables add to the score of each held-out row, in the order of the table."""
        out = np.zeros(len(self.scores))
        for part in self.held_out.partitions:
            out[part.rows] = score_rows(part, tables)
        return out[self.rows.places]

    def _select(self, scores: Floats) -> Floats:
        return self.settings.metric.selected(self.rows, scores)


def make_fold(data: RankingData, fold: tuple[Bools, Bools], settings: Settings) -> Fold:
    """A fold whose start is the smooth AUC model of its training rows."""
    train, held_out = (data.take(marks) for marks in fold)
    model = fit_smooth(train, settings.smooth)[0]
    scores = scores_by_place(model, data)
    return Fold(train, held_out, labelled_rows(held_out), scores, settings)


def refine(
    data: RankingData,
    settings: Settings,
    folds: Sequence[tuple[Bools, Bools]],
    first: AdditiveModel,
    history: SmoothHistory,
) -> tuple[AdditiveModel, History, Certificate]:
    """Improve the smooth model ``first`` on the metric where the folds show that it helps.

    ``folds`` mark the rows to train on and to hold out by their place in the table.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], [0, 1, 0, 0, 1, 1])
    >>> settings = Settings(SmoothSettings(), exactboost.Settings("ks"), PairedMetric("ks"))
    >>> first, climb, _ = fit_smooth(data, settings.smooth)
    >>> model, history, certificate = refine(data, settings, [], first, climb)
    >>> model is first
    True
    """
    found = History(smooth=history)
    if folds:
        _search(data, settings, folds, found)
    model = _final(data, settings, first, found)
    return model, found, _certify(data, settings, model, found)


def _search(
    data: RankingData, settings: Settings, folds: Sequence[tuple[Bools, Bools]], found: History
) -> None:
    """Try starts, then rounds from the chosen start; writes into the history."""
    progress = Progress(2 * len(folds), "ExactBoostCV", settings.verbose)
    starts = []
    rough = replace(settings.smooth, tol=max(settings.smooth.tol, _FOLD_TOL))
    for fold in folds:
        starts.append(make_fold(data, fold, replace(settings, smooth=rough)))
        progress.step()
    starts = _choose_start(data, starts, settings.metric, found)
    every = (obstacle(rows, settings) for rows in [data, *(fold.train for fold in starts)])
    found.obstacle = next(filter(None, every), "")
    if not found.obstacle:
        _choose_rounds(starts, settings, found, progress)
    progress.close()


def _choose_start(
    data: RankingData, folds: list[Fold], metric: PairedMetric, found: History
) -> list[Fold]:
    """The smooth AUC model, or for precision at k one of the partial AUC if that is surely more."""
    found.chosen = _judged("auc", 0, 0.0, metric, folds, [fold.selected for fold in folds])
    found.candidates.append(found.chosen)
    if metric.metric != "precision_at_k":
        return folds
    others = [fold.from_partial(data) for fold in folds]
    selected = [fold.selected for fold in others]
    candidate = _judged("partial_auc", 0, 0.0, metric, folds, selected)
    found.candidates.append(candidate)
    if candidate.gain.sure(SURE) <= 0.0:
        return folds
    found.chosen = candidate
    return others


def _choose_rounds(
    folds: list[Fold], settings: Settings, found: History, progress: Progress
) -> None:
    """The rounds and the factor whose gain is surest; none unless it is larger than chance."""
    start = found.chosen
    assert start is not None, "a start is chosen before its rounds"
    numbers = round_numbers(settings.exact.n_estimators)
    choices = [(n, factor) for n in numbers for factor in FACTORS]
    tried = []
    for fold in folds:
        tried.append(fold.try_rounds(choices))
        progress.step()
    for k, choice in enumerate(choices):
        selected = [one[k] for one in tried]
        found.candidates.append(_judged(start.start, *choice, settings.metric, folds, selected))
    best = max(found.candidates[-len(choices) :], key=lambda c: c.gain.sure(SURE))
    if best.gain.sure(SURE) > 0.0:
        found.chosen = best


def _judged(
    start: str,
    n_rounds: int,
    factor: float,
    metric: PairedMetric,
    folds: list[Fold],
    selected: list[Floats],
) -> Candidate:
    """A candidate with its metric in every fold and its gain over what the folds start from."""
    rows = [fold.rows for fold in folds]
    values = [metric.value(*one) for one in zip(rows, selected, strict=True)]
    gain = paired_gain(metric, rows, selected, [fold.selected for fold in folds])
    return Candidate(start, n_rounds, factor, tuple(values), gain)


def round_numbers(n_estimators: int) -> list[int]:
    """The numbers of rounds that are tried: a quarter of them, and all."""
    return sorted({max(1, round(share * n_estimators)) for share in ROUND_SHARES})


def obstacle(data: RankingData, settings: Settings) -> str:
    """Why rounds cannot be tried; empty where they can."""
    if settings.smooth.signs:
        return "steps of ExactBoost could break monotonic_cst"
    table = gather(data)
    try:
        exactboost.make_plan(table, settings.exact, data.mean_unit)
    except ValueError as error:
        return str(error).partition(";")[0]
    return "" if table.n_views else "no feature has two values"


def top_region(data: RankingData, scores: Floats, share: float) -> tuple[float, float] | None:
    """Twice the false positive rates of the top share of the rows; None for all of them."""
    rows = labelled_rows(data)
    members = members_of_top(rows, scores[rows.places], share)
    negative = ~rows.positive
    rate = float((rows.weight * members)[negative].sum() / rows.weight[negative].sum())
    high = max(_WIDER * rate, _FEWEST_NEGATIVES / int(negative.sum()))
    return (0.0, high) if high < 1.0 else None


def run_rounds(
    data: RankingData, settings: exactboost.Settings, scores: Floats
) -> tuple[ExactTable, list[RunHistory]]:
    """Runs of ExactBoost from the scores of a model, none where these are all equal."""
    table = gather(data)
    plan = exactboost.make_plan(table, settings, data.mean_unit)
    start = exactboost.to_unit(data, table, scores)
    if start is None:
        return table, []
    return table, exactboost.run_all(table, plan, settings, start).runs


def correction(
    data: RankingData, table: ExactTable, runs: list[RunHistory], n_rounds: int, reach: float
) -> list[Floats]:
    """The mean of the runs' first rounds: what each code of each feature adds to the score.

    ``reach`` is the range of the scores that the runs started from, the unit of their steps.
    """
    sums = np.zeros((data.n_features, data.n_codes))
    for run in runs:
        # Steps are in units of the run's scale; the start, of range 1, weighs start_weight in it.
        unit = reach / run.scale / run.start_weight / len(runs)
        for step, number in zip(run.steps, run.rounds, strict=True):
            if number < n_rounds:
                above = table.ranks[step.view] > step.cut
                sums[step.feature] += step.size * unit * above
    tables = list(sums)
    exactboost.fill_missing_by_feature(table, tables)
    return tables


def _final(
    data: RankingData, settings: Settings, first: AdditiveModel, found: History
) -> AdditiveModel:
    """The chosen candidate, fitted to all rows."""
    chosen = found.chosen
    model = first
    if chosen is None:
        return model
    if chosen.start == "partial_auc":
        region = top_region(data, scores_by_place(first, data), settings.metric.share)
        model = fit_smooth(data, replace(settings.smooth, fpr_range=region))[0]
    if chosen.n_rounds == 0:
        return model
    scores = scores_by_place(model, data)
    exact = replace(settings.exact, n_estimators=chosen.n_rounds, verbose=settings.verbose)
    table, found.runs = run_rounds(data, exact, scores)
    sums = correction(data, table, found.runs, chosen.n_rounds, range_of(data, scores))
    tables = [on_grid(chosen.factor * one) for one in sums]
    added = [scores[part.rows] for part in data.partitions]
    return add_terms(finish_additive(data, tables, added=added)[0], model)


def range_of(data: RankingData, scores: Floats) -> float:
    """The range of the scores of some rows, of all scores by place."""
    return float(np.ptp(np.concatenate([scores[part.rows] for part in data.partitions])))


def surface_values(surface: Surface, data: RankingData, part: Partition) -> Floats:
    """What a surface over the data's bins adds to each row of a partition."""
    (a, b), axes = surface.features, surface.axes
    first, second = codes_in(data.features[a], axes[0]), codes_in(data.features[b], axes[1])
    return np.asarray(surface.values[first[part.codes[a]], second[part.codes[b]]])


def importances(model: AdditiveModel, data: RankingData) -> Floats:
    """Each feature's share of the spread of the scores; half of its surfaces' spread counts."""
    out = spreads(code_fractions(class_histogram(data, Workers(1))), steps_by_code(model, data))
    for surface in model.surfaces:
        out[list(surface.features)] += _surface_spread(surface, data) / 2
    total = float(out.sum())
    return np.asarray(out / total if total > 0 else out)


def _surface_spread(surface: Surface, data: RankingData) -> float:
    """The class-balanced standard deviation of a surface over the rows."""
    sums = np.zeros((2, 2))  # power, class
    for part in data.partitions:
        values = surface_values(surface, data, part)
        for power in (1, 2):
            cells = values**power * part.weight
            sums[power - 1] += cells[part.n_pos :].sum(), cells[: part.n_pos].sum()
    mean, square = (sums / data.class_weights).mean(axis=1)
    return float(np.sqrt(max(square - mean**2, 0.0)))


def scores_by_place(model: AdditiveModel, data: RankingData) -> Floats:
    """The scores of all rows by their place in the table, for a model of the same bins."""
    out = np.zeros(1 + max(int(part.rows.max()) for part in data.partitions if part.n_rows))
    tables = list(steps_by_code(model, data))
    for part in data.partitions:
        score = score_rows(part, tables) + model.intercept
        for surface in model.surfaces:
            score += surface_values(surface, data, part)
        out[part.rows] = score
    return out


def _certify(
    data: RankingData, settings: Settings, model: AdditiveModel, found: History
) -> Certificate:
    """The metric of the training rows, and what the inner folds said of the candidates."""
    rows, metric = labelled_rows(data), settings.metric
    scores = scores_by_place(model, data)[rows.places]
    value = metric.value(rows, metric.selected(rows, scores))
    title = TITLES[metric.metric]
    where = f" (the top {metric.share:.3g} of the rows)" if metric.share else ""
    statement = f"The {title}{where} of the training rows is {value:.4g}. {tell(title, found)}"
    values = {
        "metric": metric.metric,
        "share": metric.share or None,
        "value": value,
        **chosen_values(found),
    }
    return Certificate(statement, values)
