"""Make a scorecard of a model: scale, merge, round, and state what that costs."""

import hashlib
import math
from dataclasses import dataclass, replace

import numpy as np

from auctor._checks import check_choice, check_whole, is_whole
from auctor.data import number_feature
from auctor.models.export.plan import Logistic, Plan
from auctor.models.scorecard.axis import Axis
from auctor.models.scorecard.card import Scorecard
from auctor.models.scorecard.distribution import (
    N_BINS,
    Distribution,
    EqualDistribution,
    RecordDistribution,
    RowsDistribution,
)
from auctor.models.scorecard.draft import Draft
from auctor.models.scorecard.labels import short_cut
from auctor.models.scorecard.line import Line, make_line, on_digits
from auctor.models.scorecard.measure import CardRows, bins_of_rows, largest_changes, measure
from auctor.models.scorecard.points import CardTerm, PointsTable
from auctor.models.scorecard.scale import PointScale
from auctor.models.scorecard.score_terms import LineTerm, ScoreTerm, score_terms, term_name
from auctor.models.training_record import TrainingRecord


@dataclass(frozen=True)
class CardOptions:
    """How a card is made; ``Model.to_scorecard`` describes the options."""

    scale: PointScale
    digits: int | None
    max_bins: int | None
    zero: str
    cuts: str

    def checked(self, has_rows: bool) -> "CardOptions":
        """The same options; an error names the first that is wrong."""
        if self.digits is not None and not (is_whole(self.digits) and 0 <= self.digits <= 9):
            raise ValueError(
                f"digits is {self.digits!r}; give a whole number from 0 to 9, or None for points "
                "that are not rounded"
            )
        if self.max_bins is not None:
            check_whole(self.max_bins, "max_bins")
        check_choice(self.zero, ("lowest", "average"), "zero")
        check_choice(self.cuts, ("exact", "short"), "cuts")
        if self.cuts == "short" and not has_rows:
            raise ValueError("cuts is 'short', which needs rows to keep apart; give X as well")
        return self


def make_scorecard(
    plan: Plan,
    model_text: str,
    record: TrainingRecord | None,
    rows: CardRows | None,
    options: CardOptions,
) -> Scorecard:
    """The scorecard of a model, whose plan and file text are given."""
    constant, terms = score_terms(plan)
    if not isinstance(plan.probability, Logistic):
        raise ValueError(
            "this model's probabilities are a table of its scores and not a logistic function, so "
            "that points for doubling the odds are not defined; give a model whose probabilities "
            "are logistic"
        )
    start, per_score = options.scale.line(*plan.probability)
    drafts, lines = _drafts(terms, per_score, _distribution(record, rows), options)
    base = start + per_score * constant
    shifts = [_shift_to_zero(draft, options.zero) for draft in drafts]
    merged = [draft.shifted(shift) for draft, shift in zip(drafts, shifts, strict=True)]
    base -= math.fsum(shifts)
    final, base_points = _rounded(merged, base, options.digits)
    changes = largest_changes(merged, final, lines, base_points - base, options.digits)
    # A term that gives every row the same points is none.
    base_points += math.fsum(float(d.points.flat[0]) for d in final if not np.ptp(d.points))
    kept = [draft.without_copies() for draft in final if np.ptp(draft.points)]
    names = [column.name for column in plan.inputs]
    card_terms = _card_terms(kept, lines, rows, options.cuts, names)
    card = Scorecard(
        classes=plan.classes,
        scale=options.scale,
        base_points=on_digits(base_points, options.digits),
        terms=tuple(card_terms),
        digits=options.digits,
        feature_names=tuple(names),
        missing_codes={c.name: c.missing_codes for c in plan.inputs if c.missing_codes},
        model_sha256=hashlib.sha256(model_text.encode()).hexdigest(),
    )
    return replace(card, quality=measure(card, changes, merged, lines, rows))


def _distribution(record: TrainingRecord | None, rows: CardRows | None) -> Distribution:
    if rows is not None:
        return rows.distribution
    if record is not None and record.columns:
        return RecordDistribution.of(record)
    return EqualDistribution()


def _drafts(
    terms: list[ScoreTerm], per_score: float, distribution: Distribution, options: CardOptions
) -> tuple[list[Draft], list[Line]]:
    """The terms with their exact points, merged to at most ``max_bins`` bins."""
    drafts, lines = [], []
    taken: set[str] = set()
    for term in terms:
        name = _free_name(term_name(term), taken)
        if isinstance(term, LineTerm):
            points = LineTerm(name, per_score * term.weight, per_score * term.missing)
            if not points.weight and not points.missing:
                continue
            if options.max_bins is None:
                lines.append(make_line(points, term.feature, distribution, options.digits))
                continue
            draft = _binned(points, term.feature, distribution, options.max_bins)
        else:
            weight = distribution.weights(term.axes)
            draft = Draft.start(name, term.axes, per_score * term.values, weight)
        if options.max_bins is not None:
            draft = draft.merged(options.max_bins)
        drafts.append(draft)
    return drafts, lines


def _free_name(name: str, taken: set[str]) -> str:
    """The name, with a number where it is taken: no two terms of a card have the same."""
    free, k = name, 1
    while free in taken:
        k += 1
        free = f"{name} ({k})"
    taken.add(free)
    return free


def _binned(points: LineTerm, feature: str, distribution: Distribution, max_bins: int) -> Draft:
    """A term of a linear model in intervals; each has the points of its middle value."""
    bins = distribution.number_bins(feature, max(N_BINS, max_bins))
    if bins is None:
        raise ValueError(
            f"max_bins is {max_bins}, but the values of {feature!r}, a number that a linear model "
            "multiplies, are not known; give rows (X) to find intervals, or max_bins=None for "
            "points for each unit"
        )
    ends = np.sort(np.stack([points.weight * bins.low, points.weight * bins.high]), axis=0)
    axes = (number_feature(feature, bins.cuts),)
    exact = np.append(points.missing, points.weight * bins.centre)
    lowest, highest = (np.append(points.missing, end) for end in ends)
    return Draft.start(points.feature, axes, exact, distribution.weights(axes), (lowest, highest))


def _shift_to_zero(draft: Draft, zero: str) -> float:
    """The constant after which the lowest bin, or the average row, has 0 points."""
    if zero == "lowest":
        return -float(draft.points.min())
    return -_average(draft)


def _average(draft: Draft) -> float:
    """The average points of the rows."""
    weight = draft.card_weight.ravel()
    if not weight.sum() > 0:
        weight = np.ones_like(weight)
    return math.fsum((draft.points.ravel() * weight).tolist()) / math.fsum(weight.tolist())


def _rounded(drafts: list[Draft], base: float, digits: int | None) -> tuple[list[Draft], float]:
    """The drafts with rounded points, and base points that make up for the average errors."""
    if digits is None:
        return drafts, base
    pairs = [draft.rounded(digits) for draft in drafts]
    base -= math.fsum(error for _, error in pairs)
    return [draft for draft, _ in pairs], on_digits(base, digits)


def _card_terms(
    drafts: list[Draft], lines: list[Line], rows: CardRows | None, cuts: str, names: list[str]
) -> list[CardTerm]:
    """The terms in the order of their features, pairs last."""
    terms: list[CardTerm] = [line.term for line in lines]
    terms += [_points_table(draft, rows, cuts) for draft in drafts]
    place = {name: j for j, name in enumerate(names)}
    return sorted(terms, key=lambda t: (len(t.features), place[t.features[0].name]))


def _points_table(draft: Draft, rows: CardRows | None, cuts: str) -> PointsTable:
    average, axes = _average(draft), draft.card_axes()
    if rows is None:
        return PointsTable(draft.name, axes, draft.points, average)
    if cuts == "short":
        axes = tuple(_shortened(axis, rows.distribution) for axis in axes)
    weight = draft.card_weight
    fraction = np.clip(weight / weight.sum(), 0.0, 1.0)
    if rows.positive is None:
        return PointsTable(draft.name, axes, draft.points, average, fraction)
    positive = np.zeros(draft.points.shape)
    np.add.at(positive, bins_of_rows(draft, rows.distribution), rows.weight * rows.positive)
    with np.errstate(invalid="ignore"):
        rate = np.clip(positive / weight, 0.0, 1.0)  # NaN where no row is
    return PointsTable(draft.name, axes, draft.points, average, fraction, rate)


def _shortened(axis: Axis, distribution: RowsDistribution) -> Axis:
    """The axis with cuts of few digits, which divide the given rows in the same way."""
    cuts = axis.feature.cuts
    if axis.feature.is_category or not len(cuts):
        return axis
    values = distribution.values(axis.name)
    above = np.searchsorted(values, cuts, side="right")
    if len(np.unique(above)) < len(above) or above[0] == 0 or above[-1] == len(values):
        return axis  # a bin without rows: nothing says where its ends may be
    short = [short_cut(values[k - 1], values[k]) for k in above.tolist()]
    return Axis(number_feature(axis.name, np.array(short)))
