"""The terms of a model's score that a scorecard can show, read off the model's plan."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from auctor._typing import Floats
from auctor.data import Feature, category_feature, number_feature
from auctor.models.export.plan import (
    Bins,
    Constant,
    Forest,
    Grid,
    Plan,
    Program,
    Rounded,
    Slope,
    Steps,
    Sum,
    Term,
    Times,
    Tree,
)

_FORMS = {Tree: "a tree", Forest: "a forest", Program: "a branching program"}


@dataclass(frozen=True, eq=False)
class StepTerm:
    """A term with a value for each bin of a feature, or for each pair of bins of two features.

    Bin 0 of each axis is for missing values and unknown categories.
    """

    axes: tuple[Feature, ...]
    values: Floats


@dataclass(frozen=True)
class LineTerm:
    """A term of ``weight`` times a number, or ``missing`` where the number is missing."""

    feature: str
    weight: float
    missing: float


ScoreTerm = StepTerm | LineTerm


def score_terms(plan: Plan) -> tuple[float, list[ScoreTerm]]:
    """The constant of a model's score and its terms, in the order of their features, pairs last.

    Terms of one feature, as in a sum of models, are added up; so are tables of one pair of
    features with the same bins.
    """
    constant = 0.0
    steps: dict[object, StepTerm] = {}
    lines: dict[int, LineTerm] = {}
    for term, weight in _flatten(plan.score, 1.0):
        match term:
            case Constant():
                constant += weight * term.value
            case Slope():
                name = plan.inputs[term.input].name
                old = lines.get(term.input, LineTerm(name, 0.0, 0.0))
                lines[term.input] = LineTerm(
                    name, old.weight + weight * term.weight, old.missing + weight * term.missing
                )
            case Steps() | Grid():
                key, new = _step_term(plan, term, weight)
                steps[key] = _added(steps[key], new) if key in steps else new
    place = {column.name: j for j, column in enumerate(plan.inputs)}
    alone = [term for term in steps.values() if len(term.axes) == 1]
    first: list[ScoreTerm] = [*alone, *lines.values()]
    first.sort(key=lambda term: place[_features(term)[0]])
    return constant, [*first, *(term for term in steps.values() if len(term.axes) == 2)]


def term_name(term: ScoreTerm) -> str:
    """The feature of a term, or "a x b" for a pair."""
    return " x ".join(_features(term))


def _features(term: ScoreTerm) -> tuple[str, ...]:
    if isinstance(term, LineTerm):
        return (term.feature,)
    return tuple(axis.name for axis in term.axes)


def _flatten(term: Term, weight: float) -> Iterator[tuple[Constant | Slope | Steps | Grid, float]]:
    """The parts of a sum, each with its weight. Roundings (of about 1e-10) are left out."""
    match term:
        case Constant() | Slope() | Steps() | Grid():
            yield term, weight
        case Sum():
            for part in term.terms:
                yield from _flatten(part, weight)
        case Rounded():
            yield from _flatten(term.term, weight)
        case Times():
            if term.weight:
                yield from _flatten(term.term, weight * term.weight)
        case _:
            raise ValueError(
                f"the score of this model contains {_FORMS[type(term)]}, which has no table of "
                "points; a scorecard can be made of additive and linear models, and of sums of "
                "them: fit for example SmoothAUCBoostCV (the default of `auctor fit`)"
            )


def _step_term(plan: Plan, term: Steps | Grid, weight: float) -> tuple[object, StepTerm]:
    bins = (term.bins,) if isinstance(term, Steps) else (term.first, term.second)
    key = bins if isinstance(term, Grid) else term.bins.input
    axes = tuple(_feature(plan, each) for each in bins)
    return key, StepTerm(axes, weight * np.array(term.values))


def _feature(plan: Plan, bins: Bins) -> Feature:
    name = plan.inputs[bins.input].name
    if bins.categories is not None:
        return category_feature(name, bins.categories)
    return number_feature(name, np.array(bins.cuts))


def _added(a: StepTerm, b: StepTerm) -> StepTerm:
    """The sum of two terms: of one feature with any bins, or of a pair with the same bins."""
    if len(a.axes) == 2:
        return StepTerm(a.axes, a.values + b.values)
    (first,), (second,) = a.axes, b.axes
    if first.is_category:
        both = tuple(dict.fromkeys((*first.categories, *second.categories)))
        axis = category_feature(first.name, both)
        codes = [_codes(own, both) for own in (first, second)]
    else:
        axis = number_feature(first.name, np.union1d(first.cuts, second.cuts))
        tops = np.append(axis.cuts, np.inf)  # a value on a cut belongs below it
        codes = [np.append(0, 1 + np.searchsorted(own.cuts, tops)) for own in (first, second)]
    return StepTerm((axis,), a.values[codes[0]] + b.values[codes[1]])


def _codes(feature: Feature, categories: tuple[object, ...]) -> np.ndarray:
    known: dict[object, int] = {c: code for code, c in enumerate(feature.categories, start=1)}
    return np.array([0, *(known.get(category, 0) for category in categories)])
