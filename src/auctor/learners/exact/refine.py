"""The smooth model refined for KS or precision at k by rounds of ExactBoost (ExactBoostCV).

A smoothed AUC is easy to maximise well, and the model that does so is mostly the best for the other
rank metrics, too. Where it is not, rounds of ExactBoost (Csillag et al. 2021) correct it on the
metric itself. They start from the scores of the smooth model, and the mean of a few runs, times a
factor, is added to them. Inner folds choose the number of rounds and the factor, or no rounds: the
smooth model is kept unless the gain in the metric is larger than chance. For precision at k the
rounds may start instead from a model of the partial AUC over the false positive rates of the top.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from auctor._progress import Progress
from auctor._typing import Bools, Floats
from auctor.data import Partition, RankingData, Workers
from auctor.learners.certificate import Certificate
from auctor.learners.common.blocks import class_histogram
from auctor.learners.common.finish import codes_in, finish_additive, score_rows
from auctor.learners.exact.candidates import (
    SURE,
    Candidate,
    RefinementHistory,
    chosen_values,
    describe_choice,
)
from auctor.learners.exact.fit import (
    ExactBoostSettings,
    fill_missing_by_feature,
    make_plan,
    run_all,
    to_unit,
)
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
from auctor.learners.smooth.certificate import SmoothHistory
from auctor.learners.smooth.fit import fit_smooth
from auctor.learners.smooth.histograms import code_fractions
from auctor.learners.smooth.interactions import spreads
from auctor.learners.smooth.refits import steps_by_code
from auctor.learners.smooth.settings import SmoothSettings
from auctor.models import AdditiveModel, Surface, add_terms, on_grid

# What the folds choose from: the fraction of the rounds, and the factor of their mean.
ROUND_FRACTIONS = (0.25, 1.0)
FACTORS = (0.1, 0.3, 1.0)
# The tolerance of a fit, close enough to the maximum for the metric of held-out rows.
_FOLD_TOL = 1e-5
# The partial AUC is over twice the false positive rates of the top, because the rows just below the
# top matter too, and over at least this number of negatives.
_WIDER, _FEWEST_NEGATIVES = 2.0, 5.0


@dataclass(frozen=True)
class RefinementSettings:
    """Settings of a fit: those of the smooth model, those of the rounds, and the metric."""

    smooth: SmoothSettings
    exact: ExactBoostSettings
    metric: PairedMetric
    verbose: bool | int = False


@dataclass(frozen=True, eq=False)
class Fold:
    """One inner fold: an initial model fitted to its training rows, and its held-out rows.

    ``rows`` are the held-out rows. ``scores`` are the scores of the initial model for all rows, by
    their index in the table.
    """

    train: RankingData
    held_out: RankingData
    rows: LabelledRows
    scores: Floats
    settings: RefinementSettings

    @property
    def selected(self) -> Floats:
        """The held-out rows that the initial model selects for the metric."""
        return self._select(self.scores[self.rows.index])

    def from_partial(self, data: RankingData) -> "Fold":
        """The same fold with an initial model trained on the partial AUC of the top."""
        region = top_region(self.train, self.scores, self.settings.metric.fraction)
        model = fit_smooth(self.train, replace(self.settings.smooth, fpr_range=region))[0]
        return replace(self, scores=scores_by_row(model, data))

    def try_rounds(self, choices: Sequence[tuple[int, float]]) -> list[Floats]:
        """The selected rows for each number of rounds and factor, all from the same runs."""
        table, runs = run_rounds(self.train, self.settings.exact, self.scores)
        reach, added = range_of(self.train, self.scores), {}
        for n_rounds in {n for n, _ in choices}:
            tables = correction(self.train, table, runs, n_rounds, reach)
            added[n_rounds] = self._added(tables)
        before = self.scores[self.rows.index]
        return [self._select(before + factor * added[n]) for n, factor in choices]

    def _added(self, tables: list[Floats]) -> Floats:
        """The sum of tables for each held-out row, in the order of the table."""
        out = np.zeros(len(self.scores))
        for part in self.held_out.partitions:
            out[part.rows] = score_rows(part, tables)
        return out[self.rows.index]

    def _select(self, scores: Floats) -> Floats:
        return self.settings.metric.selected(self.rows, scores)


def make_fold(data: RankingData, fold: tuple[Bools, Bools], settings: RefinementSettings) -> Fold:
    """A fold whose initial model is the smooth AUC model of its training rows."""
    train, held_out = (data.take(marks) for marks in fold)
    model = fit_smooth(train, settings.smooth)[0]
    scores = scores_by_row(model, data)
    return Fold(train, held_out, labelled_rows(held_out), scores, settings)


def refine(
    data: RankingData,
    settings: RefinementSettings,
    folds: Sequence[tuple[Bools, Bools]],
    first: AdditiveModel,
    history: SmoothHistory,
) -> tuple[AdditiveModel, RefinementHistory, Certificate]:
    """Improve a smooth model on the metric if the inner folds show that it helps.

    Parameters
    ----------
    data : RankingData
        The training rows.
    settings : RefinementSettings
        The settings of the fits, and the metric.
    folds : sequence of (ndarray of bool, ndarray of bool)
        The rows to train on and to hold out, by their index in the table; empty to keep ``first``.
    first : AdditiveModel
        The smooth model of all rows.
    history : SmoothHistory
        The history of ``first``.

    Examples
    --------
    >>> from auctor.data import prepare
    >>> data = prepare([[1.0], [2.0], [3.0], [4.0], [5.0], [6.0]], [0, 1, 0, 0, 1, 1])
    >>> metric = PairedMetric("ks")
    >>> settings = RefinementSettings(SmoothSettings(), ExactBoostSettings("ks"), metric)
    >>> first, smooth_history, _ = fit_smooth(data, settings.smooth)
    >>> model, history, certificate = refine(data, settings, [], first, smooth_history)
    >>> print(certificate)
    The KS of the training rows is 1. There are too few rows for inner folds, so the
    smooth AUC model is kept.
    """
    refinement = RefinementHistory(smooth=history)
    if folds:
        _search(data, settings, folds, refinement)
    model = _final(data, settings, first, refinement)
    return model, refinement, _certify(data, settings, model, refinement)


def _search(
    data: RankingData,
    settings: RefinementSettings,
    folds: Sequence[tuple[Bools, Bools]],
    history: RefinementHistory,
) -> None:
    """Try initial models, then rounds from the chosen one; adds to the history."""
    progress = Progress(2 * len(folds), "ExactBoostCV", settings.verbose)
    starts = []
    rough = replace(settings.smooth, tol=max(settings.smooth.tol, _FOLD_TOL))
    for fold in folds:
        starts.append(make_fold(data, fold, replace(settings, smooth=rough)))
        progress.step()
    starts = _choose_start(data, starts, settings.metric, history)
    obstacles = (obstacle(rows, settings) for rows in [data, *(fold.train for fold in starts)])
    history.obstacle = next(filter(None, obstacles), "")
    if not history.obstacle:
        _choose_rounds(starts, settings, history, progress)
    progress.close()


def _choose_start(
    data: RankingData, folds: list[Fold], metric: PairedMetric, history: RefinementHistory
) -> list[Fold]:
    """The smooth AUC model; for precision at k, that of the partial AUC if it is clearly better."""
    history.chosen = _candidate("auc", 0, 0.0, metric, folds, [fold.selected for fold in folds])
    history.candidates.append(history.chosen)
    if metric.metric != "precision_at_k":
        return folds
    others = [fold.from_partial(data) for fold in folds]
    selected = [fold.selected for fold in others]
    candidate = _candidate("partial_auc", 0, 0.0, metric, folds, selected)
    history.candidates.append(candidate)
    if candidate.gain.sure(SURE) <= 0.0:
        return folds
    history.chosen = candidate
    return others


def _choose_rounds(
    folds: list[Fold], settings: RefinementSettings, history: RefinementHistory, progress: Progress
) -> None:
    """The rounds and the factor with the surest gain, or no rounds if it may be chance."""
    start = history.chosen
    assert start is not None, "the initial model is chosen before its rounds"
    numbers = round_numbers(settings.exact.n_estimators)
    choices = [(n, factor) for n in numbers for factor in FACTORS]
    tried = []
    for fold in folds:
        tried.append(fold.try_rounds(choices))
        progress.step()
    for k, choice in enumerate(choices):
        selected = [one[k] for one in tried]
        history.candidates.append(
            _candidate(start.start, *choice, settings.metric, folds, selected)
        )
    best = max(history.candidates[-len(choices) :], key=lambda c: c.gain.sure(SURE))
    if best.gain.sure(SURE) > 0.0:
        history.chosen = best


def _candidate(
    start: str,
    n_rounds: int,
    factor: float,
    metric: PairedMetric,
    folds: list[Fold],
    selected: list[Floats],
) -> Candidate:
    """A candidate with its metric in every fold and its gain over the folds' initial models."""
    rows = [fold.rows for fold in folds]
    values = [metric.value(*one) for one in zip(rows, selected, strict=True)]
    gain = paired_gain(metric, rows, selected, [fold.selected for fold in folds])
    return Candidate(start, n_rounds, factor, tuple(values), gain)


def round_numbers(n_estimators: int) -> list[int]:
    """The numbers of rounds to try: a quarter of them, and all."""
    return sorted({max(1, round(fraction * n_estimators)) for fraction in ROUND_FRACTIONS})


def obstacle(data: RankingData, settings: RefinementSettings) -> str:
    """Why rounds cannot be tried; empty if they can."""
    if settings.smooth.signs:
        return "steps of ExactBoost could violate monotonic_cst"
    table = gather(data)
    try:
        make_plan(table, settings.exact, data.mean_unit)
    except ValueError as error:
        return str(error).partition(";")[0]
    return "" if table.n_views else "all features are constant"


def top_region(data: RankingData, scores: Floats, fraction: float) -> tuple[float, float] | None:
    """Twice the range of false positive rates of the top fraction of the rows; None for all."""
    rows = labelled_rows(data)
    members = members_of_top(rows, scores[rows.index], fraction)
    negative = ~rows.positive
    rate = float((rows.weight * members)[negative].sum() / rows.weight[negative].sum())
    high = max(_WIDER * rate, _FEWEST_NEGATIVES / int(negative.sum()))
    return (0.0, high) if high < 1.0 else None


def run_rounds(
    data: RankingData, settings: ExactBoostSettings, scores: Floats
) -> tuple[ExactTable, list[RunHistory]]:
    """Runs of ExactBoost that start from the scores of a model; none if these are all equal."""
    table = gather(data)
    plan = make_plan(table, settings, data.mean_unit)
    start = to_unit(data, scores)
    if start is None:
        return table, []
    return table, run_all(table, plan, settings, start).runs


def correction(
    data: RankingData, table: ExactTable, runs: list[RunHistory], n_rounds: int, reach: float
) -> list[Floats]:
    """The mean of the first rounds of the runs, as one table by code for each feature.

    ``reach`` is the range of the initial scores, which is the unit of the steps.
    """
    sums = np.zeros((data.n_features, data.n_codes))
    for run in runs:
        # Steps are in units of the run's scale, in which the initial scores, of range 1, have the
        # weight start_weight.
        unit = reach / run.scale / run.start_weight / len(runs)
        for step, number in zip(run.steps, run.rounds, strict=True):
            if number < n_rounds:
                above = table.ranks[step.view] > step.cut
                sums[step.feature] += step.size * unit * above
    tables = list(sums)
    fill_missing_by_feature(table, tables)
    return tables


def _final(
    data: RankingData,
    settings: RefinementSettings,
    first: AdditiveModel,
    history: RefinementHistory,
) -> AdditiveModel:
    """The model of the chosen candidate, fitted to all rows."""
    chosen = history.chosen
    model = first
    if chosen is None:
        return model
    if chosen.start == "partial_auc":
        region = top_region(data, scores_by_row(first, data), settings.metric.fraction)
        model = fit_smooth(data, replace(settings.smooth, fpr_range=region))[0]
    if chosen.n_rounds == 0:
        return model
    scores = scores_by_row(model, data)
    exact = replace(settings.exact, n_estimators=chosen.n_rounds, verbose=settings.verbose)
    table, history.runs = run_rounds(data, exact, scores)
    sums = correction(data, table, history.runs, chosen.n_rounds, range_of(data, scores))
    tables = [on_grid(chosen.factor * one) for one in sums]
    added = [scores[part.rows] for part in data.partitions]
    return add_terms(finish_additive(data, tables, added=added)[0], model)


def range_of(data: RankingData, scores: Floats) -> float:
    """The range of the scores of the rows of ``data``; ``scores`` is by index in the table."""
    return float(np.ptp(np.concatenate([scores[part.rows] for part in data.partitions])))


def surface_values(surface: Surface, data: RankingData, part: Partition) -> Floats:
    """The value of a surface for each row of a partition."""
    (a, b), axes = surface.features, surface.axes
    first, second = codes_in(data.features[a], axes[0]), codes_in(data.features[b], axes[1])
    return np.asarray(surface.values[first[part.codes[a]], second[part.codes[b]]])


def importances(model: AdditiveModel, data: RankingData) -> Floats:
    """Each feature's fraction of the spread of the scores, with half the spread of its surfaces."""
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
        positive, negative = part.class_slices
        for power in (1, 2):
            weighted = values**power * part.weight
            sums[power - 1] += weighted[negative].sum(), weighted[positive].sum()
    mean, square = (sums / data.class_weights).mean(axis=1)
    return float(np.sqrt(max(square - mean**2, 0.0)))


def scores_by_row(model: AdditiveModel, data: RankingData) -> Floats:
    """The scores of all rows by their index in the table, for a model of the same bins."""
    out = np.zeros(1 + max(int(part.rows.max()) for part in data.partitions if part.n_rows))
    tables = list(steps_by_code(model, data))
    for part in data.partitions:
        score = score_rows(part, tables) + model.intercept
        for surface in model.surfaces:
            score += surface_values(surface, data, part)
        out[part.rows] = score
    return out


def _certify(
    data: RankingData,
    settings: RefinementSettings,
    model: AdditiveModel,
    history: RefinementHistory,
) -> Certificate:
    """The metric of the training rows, and the choice of the inner folds."""
    rows, metric = labelled_rows(data), settings.metric
    scores = scores_by_row(model, data)[rows.index]
    value = metric.value(rows, metric.selected(rows, scores))
    title = TITLES[metric.metric]
    where = f" (the top {metric.fraction:.3g} of the rows)" if metric.fraction else ""
    statement = (
        f"The {title}{where} of the training rows is {value:.4g}. {describe_choice(title, history)}"
    )
    values = {
        "metric": metric.metric,
        "fraction": metric.fraction or None,
        "value": value,
        **chosen_values(history),
    }
    return Certificate(statement, values)
