"""SumModel: a weighted sum of models, such as an additive model and trees on top of it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar

import numpy as np

from auctor._text import count, prediction_rule
from auctor._typing import Floats, Ints
from auctor.data import Feature, Table, Workers, category_feature, number_feature
from auctor.models.additive import GRID, GRID_BOUND, AdditiveModel, on_grid_if_small, unique_names
from auctor.models.base import Model
from auctor.models.explained import ExplainedModel, add_error
from auctor.models.export.plan import (
    LARGEST_TERM,
    Constant,
    Explained,
    ExplainedTerm,
    Rounded,
    Sum,
    Term,
    Times,
)
from auctor.models.fields import Fields
from auctor.models.file import FORMS, register
from auctor.models.forest import ForestModel
from auctor.models.reference import Reference, check_reference, read_reference
from auctor.models.serialization import Calibration, Shared
from auctor.models.spread import ScoreSpread, find_spread
from auctor.models.surface import Surface
from auctor.models.terms import TermModel

_MAX_PRINTED = 12  # parts of a printed model
_MAX_LINES = 6  # of a printed part
_NO_CALIBRATION = Calibration(1.0, 0.0)


@register
@dataclass(frozen=True, eq=False)
class SumModel(ExplainedModel):
    """A weighted sum of models: score(x) = intercept + sum of weight * score of the part.

    Each product is rounded to the grid of scores, multiples of 2^-32, so that the sum is exact. The
    terms of additive models and of boosted trees are on it already: weight 1 keeps their scores.

    Attributes
    ----------
    parts : tuple of Model
        Models of any form that can be saved, except sums, with the same features in the same order;
        their bins may differ. Only their scores count, not their thresholds and calibrations.
    weights : ndarray of shape (n_parts,)
        The weight of each part, 0 or more.
    intercept : float
    reference : Reference or None
        What explanations compare with. None means the average rows of the parts.

    Examples
    --------
    >>> from auctor.models import sum_models
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> first = RankBoost(n_estimators=5).fit(X, y).model_
    >>> second = RankBoost(n_estimators=9).fit(X, y).model_
    >>> model = sum_models([first, second], [0.5, 0.5])
    >>> mean = (first.decision_function(X) + second.decision_function(X)) / 2
    >>> type(model).__name__, bool(abs(model.decision_function(X) - mean).max() < 1e-9)
    ('SumModel', True)
    """

    parts: tuple[Model, ...]
    weights: Floats
    intercept: float = 0.0
    reference: Reference | None = None

    form: ClassVar[str] = "sum"

    def __post_init__(self) -> None:
        if self.weights.shape != (len(self.parts),):
            raise ValueError(
                f"weights has shape {self.weights.shape} for {len(self.parts)} parts; give one "
                "number for each"
            )
        if not ((self.weights >= 0) & (self.weights < LARGEST_TERM)).all():
            raise ValueError("weights has numbers that are not finite or below 0; give 0 or more")
        fault = _parts_fault(self.parts)
        if fault is not None:
            raise ValueError(f"parts must be {fault}")
        check_reference(self.reference, len(self.term_names))
        self.weights.flags.writeable = False

    @property
    def feature_names(self) -> tuple[str, ...]:
        return self.parts[0].feature_names

    @cached_property
    def _columns(self) -> tuple[Feature, ...]:
        """The features, with the cuts or categories of all parts."""
        return tuple(map(join_features, zip(*(part._columns for part in self.parts), strict=True)))

    @property
    def _used(self) -> Iterator[tuple[Model, float]]:
        """The parts whose weight is not 0, with their weights."""
        pairs = zip(self.parts, self.weights.tolist(), strict=True)
        return ((part, weight) for part, weight in pairs if weight)

    def decision_function(self, X: Any, n_jobs: int | None = None) -> Floats:
        """The score of each row. A larger score means that the row is more likely positive.

        Parameters
        ----------
        X : table
            Rows of any kind that a model takes.
        n_jobs : int, default=None
            Number of threads for the trees among the parts. None is 1, and -1 is all cores. The
            scores are the same, bit for bit, for any number.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        table = self._read(X)
        with Workers(n_jobs) as workers:
            return self._score(table, self._select(table), workers)

    def _score(self, table: Table, columns: Ints, workers: Workers | None = None) -> Floats:
        out = np.full(table.n_rows, self.intercept)
        for part, weight in self._used:
            if isinstance(part, ForestModel):
                scores = part._score(table, columns, workers)
            else:
                scores = part._score(table, columns)
            out += _weighted(part, weight, scores)
        return out

    @cached_property
    def _pairs(self) -> dict[tuple[int, ...], Surface]:
        """Each pair of features that additive parts have surfaces of -> the first of these."""
        surfaces = (
            surface
            for part in self.parts
            if isinstance(part, AdditiveModel)
            for surface in part.surfaces
        )
        first: dict[tuple[int, ...], Surface] = {}
        for surface in surfaces:
            first.setdefault(tuple(sorted(surface.features)), surface)
        return first

    @cached_property
    def term_names(self) -> tuple[str, ...]:
        """Names of the terms: the features, then "a x b" for the pairs of additive parts."""
        return unique_names(self.feature_names, (pair.name for pair in self._pairs.values()))

    def _term_features(self) -> list[tuple[int, ...]]:
        alone = [(j,) for j in range(len(self.feature_names))]
        return [*alone, *(surface.features for surface in self._pairs.values())]

    def _position(self, features: tuple[int, ...]) -> int:
        """The term that depends on these features."""
        return features[0] if len(features) == 1 else self._pair_positions[tuple(sorted(features))]

    @cached_property
    def _pair_positions(self) -> dict[tuple[int, ...], int]:
        return {pair: k for k, pair in enumerate(self._pairs, start=len(self.feature_names))}

    @cached_property
    def why_unexplained(self) -> str | None:
        """Why this sum cannot explain rows, as a sentence; None if it can."""
        for number, part in enumerate(self.parts, start=1):
            if self.weights[number - 1] == 0:
                continue
            if not isinstance(part, ExplainedModel):
                return (
                    f"part {number} of this sum is a {part.form} model, whose score is not a sum "
                    "with a term for each feature; additive and linear models, and forests with "
                    "the cover of their nodes, explain rows. print(model) shows how it scores"
                )
            if part.why_unexplained is not None:
                return f"part {number} of this sum cannot explain rows: {part.why_unexplained}"
        return None

    @property
    def _explained(self) -> Iterator[tuple[ExplainedModel, float]]:
        """The parts that explain rows, with their weights."""
        return ((p, weight) for p, weight in self._used if isinstance(p, ExplainedModel))

    @property
    def constant(self) -> float:
        """The score of a row to which no term adds anything."""
        constant = np.array(self.intercept)
        for part, weight in self._explained:
            constant = constant + _weighted(part, weight, np.array(part.constant))
        return float(constant)

    @property
    def average_row(self) -> Reference | None:
        """What explanations compare with: the average rows of the parts, unless set."""
        pairs = list(self._explained)
        averages = [part.average_row for part, _ in pairs]
        if self.reference is not None or self.why_unexplained is not None:
            return self.reference
        if len({None if one is None else one.name for one in averages}) != 1 or averages[0] is None:
            return None  # the parts are compared with different rows
        out = np.zeros((len(self.term_names), 1))
        for (part, weight), average in zip(pairs, averages, strict=True):
            assert average is not None
            self._add_terms(part, _times(weight, average.contributions[None, :]), out)
        return Reference(out[:, 0], averages[0].name)

    def _contributions(self, table: Table, columns: Ints) -> Floats:
        return self._explain(table, columns)[0]

    def _explain(self, table: Table, columns: Ints) -> tuple[Floats, Floats]:
        """The terms of all parts, rounded as scores are; the error is put on the largest."""
        terms = np.zeros((len(self.term_names), table.n_rows))
        scores = np.full(table.n_rows, self.intercept)
        for part, weight in self._explained:
            contributions, own = part._explain(table, columns)
            self._add_terms(part, _times(weight, contributions), terms)
            scores += _weighted(part, weight, own)
        parts = np.ascontiguousarray(terms.T)
        add_error(parts, self.constant, scores)
        return parts, scores

    def _add_terms(self, part: ExplainedModel, contributions: Floats, out: Floats) -> None:
        """Add the contributions (rows, terms) of a part to those of the sum (terms, rows)."""
        for features, term in zip(part._term_features(), contributions.T, strict=True):
            out[self._position(features)] += term

    def _on_grid(self, averages: Floats) -> Floats:
        return on_grid_if_small(averages)

    def spread(self, X: Any) -> ScoreSpread:
        """How much of the variance of the score is due to single features, pairs and trees.

        Parameters
        ----------
        X : table
            The rows over which the variance is computed.

        Returns
        -------
        ScoreSpread
            It prints as a sentence.

        Examples
        --------
        >>> from auctor.models import sum_models
        >>> from auctor import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> model = RankBoost(n_estimators=5).fit(X, y).model_
        >>> sum_models([model, model]).spread(X).fractions
        (1.0, 0.0, 0.0)
        """
        table = self._read(X)
        columns = self._select(table)
        single, pairs, beyond = np.zeros((3, table.n_rows))
        for part, weight in self._used:
            if isinstance(part, TermModel):
                terms = _times(weight, part._contributions(table, columns)).T
                single += terms[: len(self.feature_names)].sum(axis=0)
                pairs += terms[len(self.feature_names) :].sum(axis=0)
            else:
                beyond += _weighted(part, weight, part._score(table, columns))
        return find_spread(single, pairs, beyond)

    def _plan_score(self) -> Term:
        parts = (_plan_weighted(part, weight) for part, weight in self._used)
        return Sum((Constant(float(self.intercept)), *parts))

    def _plan_explained(self) -> Explained | None:
        average = self.average_row
        if average is None or not all(isinstance(part, TermModel) for part, _ in self._used):
            return None
        adds: list[list[Term]] = [[] for _ in self.term_names]
        for part, weight in self._used:
            assert isinstance(part, TermModel)
            for features, term in zip(part._term_features(), part._plan_terms(), strict=True):
                adds[self._position(features)].append(_plan_times(part._plan_adds(term), weight))
        averages = average.contributions.tolist()
        columns = zip(self.term_names, self._term_features(), adds, averages, strict=True)
        terms = (
            ExplainedTerm(name, features, Sum((Constant(0.0), *own)), mean)
            for name, features, own, mean in columns
        )
        base = float(self.constant + average.contributions.sum())
        return Explained(average.name, self.constant, base, tuple(terms))

    def body(self) -> dict[str, Any]:
        return {
            "intercept": float(self.intercept),
            "parts": [
                {"form": part.form, "weight": weight, "body": part.body()}
                for part, weight in zip(self.parts, self.weights.tolist(), strict=True)
            ],
            **({"reference": self.reference.body()} if self.reference is not None else {}),
        }

    @classmethod
    def from_body(cls, fields: Fields, shared: Shared) -> "SumModel":
        intercept = fields.number("intercept")
        pairs = [_part_from(child, shared) for child in fields.children("parts")]
        parts = tuple(part for part, _ in pairs)
        fault = _parts_fault(parts)
        if fault is not None:
            raise fields.fail("parts", fault)
        model = cls(*shared, parts, np.array([weight for _, weight in pairs]), intercept)
        return replace(model, reference=read_reference(fields, len(model.term_names)))

    def __str__(self) -> str:
        lines = [
            f"SumModel: score = {self.intercept:+.4g} + the weighted sum of the scores of "
            f"{count(len(self.parts), 'model')} over {count(len(self.feature_names), 'feature')}",
            prediction_rule(self.classes, self.threshold),
        ]
        pairs = zip(self.parts[:_MAX_PRINTED], self.weights.tolist(), strict=False)
        for part, weight in pairs:
            lines += _describe(part, weight)
        if len(self.parts) > _MAX_PRINTED:
            lines.append(f"  ... and {len(self.parts) - _MAX_PRINTED} more models")
        return "\n".join(lines)


def sum_models(
    models: Sequence[Model],
    weights: Iterable[float] | None = None,
    *,
    intercept: float = 0.0,
    threshold: float = 0.0,
    calibration: Calibration = _NO_CALIBRATION,
) -> SumModel:
    """The weighted sum of models as one model.

    The parts of a sum among the models become parts of the result, with the product of their
    weights. Models of weight 0 are left out.

    Parameters
    ----------
    models : sequence of Model
        Models with the same features and classes, of any form that can be saved.
    weights : sequence of float, optional
        A weight of 0 or more for each model; 1 for all of them by default.
    intercept : float, default=0.0
        A number that is added to every score.
    threshold, calibration
        Those of the result, for its own scores.

    Returns
    -------
    SumModel

    Examples
    --------
    >>> from auctor.models import sum_models
    >>> from auctor import RankBoost
    >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
    >>> model = RankBoost(n_estimators=5).fit(X, y).model_
    >>> both = sum_models([model, model])
    >>> bool((both.decision_function(X) == 2.0 * model.decision_function(X)).all())
    True
    >>> len(sum_models([both, model]).parts)
    3
    """
    given = _read_weights(weights, len(models))
    pairs = [pair for model, w in zip(models, given, strict=True) for pair in _flat(model, w)]
    if not pairs:
        raise ValueError("all models have weight 0; give one of them a positive weight")
    if len({part.classes for part, _ in pairs}) > 1:
        raise ValueError("the models have different classes; give models of the same two classes")
    for model, weight in zip(models, given, strict=True):
        if isinstance(model, SumModel):
            intercept += float(_times(weight, np.array(model.intercept)))
    parts = tuple(part for part, _ in pairs)
    shared = Shared(parts[0].classes, threshold, calibration)
    return SumModel(*shared, parts, np.array([weight for _, weight in pairs]), intercept)


def _read_weights(weights: Iterable[float] | None, n_models: int) -> list[float]:
    given = [1.0] * n_models if weights is None else [float(weight) for weight in weights]
    if len(given) != n_models or not all(isfinite(weight) and weight >= 0 for weight in given):
        raise ValueError(
            f"weights is {given} for {count(n_models, 'model')}; give a finite number of 0 or more "
            "for each"
        )
    return given


def _flat(model: Model, weight: float) -> list[tuple[Model, float]]:
    """The parts of a sum, or the model itself, with their weights unless these are 0."""
    parts = model._used if isinstance(model, SumModel) else iter([(model, 1.0)])
    return [(part, weight * own) for part, own in parts if weight * own > 0]


def _times(weight: float, values: Floats) -> Floats:
    """Weighted scores, rounded to the grid; infinities would make a sum NaN and are cut off."""
    with np.errstate(over="ignore"):
        return on_grid_if_small(np.clip(weight * values, -LARGEST_TERM, LARGEST_TERM))


def _weighted(part: Model, weight: float, scores: Floats) -> Floats:
    """The weighted scores of a part.

    Only what is added to the intercept is on the grid: the intercept lies between two scores, so
    that rounding the sum of both could tie them.
    """
    intercept = float(getattr(part, "intercept", 0.0))
    own = np.array(intercept)
    return _times(weight, scores - intercept) + (own if weight == 1.0 else _times(weight, own))


def _plan_times(term: Term, weight: float) -> Term:
    return Rounded(Times(term, weight), GRID, GRID_BOUND)


def _plan_weighted(part: Model, weight: float) -> Term:
    """What ``_weighted`` computes, as a term of a plan."""
    intercept = float(getattr(part, "intercept", 0.0))
    own = Constant(float(intercept if weight == 1.0 else _times(weight, np.array(intercept))))
    above = Sum((part._plan_score(), Constant(-intercept)))
    return Sum((_plan_times(above, weight), own))


def _parts_fault(parts: tuple[Model, ...]) -> str | None:
    """What the parts of a sum must be and are not, in words; None if they fit together."""
    if not parts:
        return "one or more models"
    unfit = [part.form for part in parts if part.form not in FORMS or part.form == SumModel.form]
    if unfit:
        return (
            f"models that can be saved and are not sums themselves, but one is a {unfit[0]} model"
        )
    if len({part.feature_names for part in parts}) > 1:
        return "models with the same features in the same order"
    for columns in zip(*(part._columns for part in parts), strict=True):
        kinds = {_kind(column) for column in columns} - {"empty category"}
        if len(kinds) > 1 or len({column.is_category for column in columns}) > 1:
            name = columns[0].name[:40]
            return f"models with one kind of each feature, but {name!r} has two of them"
    return None


def _kind(column: Any) -> str:
    if not column.is_category:
        return "number"
    if not column.categories:
        return "empty category"
    return "text" if isinstance(column.categories[0], str) else "coded category"


def join_features(columns: Sequence[Any]) -> Feature:
    """The feature with the cuts or categories that it has in any part."""
    name = columns[0].name
    if columns[0].is_category:
        values = (value for column in columns for value in column.categories)
        return category_feature(name, tuple(dict.fromkeys(values)))
    cuts = [column.cuts for column in columns if hasattr(column, "cuts")]
    return number_feature(name, np.unique(np.concatenate([np.empty(0), *cuts])))


def _part_from(fields: Fields, shared: Shared) -> tuple[Model, float]:
    form = fields.choice("form", tuple(form for form in FORMS if form != SumModel.form))
    weight = fields.number("weight")
    if weight < 0:
        raise fields.fail("weight", "a number of 0 or more")
    body = fields.child("body")
    part = FORMS[form].from_body(body, shared)
    body.end()
    fields.end()
    return part, weight


def _describe(part: Model, weight: float) -> list[str]:
    """The first lines of a printed part; only the sum's own rule of prediction counts."""
    rule = prediction_rule(part.classes, part.threshold)
    lines = [line for line in str(part).split("\n") if line != rule]
    more = ["  ..."] if len(lines) > _MAX_LINES else []
    first, *others = [*lines[:_MAX_LINES], *more]
    return [f"  {weight:.4g} * {first}", *(f"    {line}" for line in others)]
