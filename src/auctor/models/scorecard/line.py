"""Points in proportion to a number: exact, and rounded for a card."""

import math
from dataclasses import dataclass

import numpy as np

from auctor.data import number_feature
from auctor.models.scorecard.distribution import N_BINS, Distribution
from auctor.models.scorecard.points import PointsPerUnit
from auctor.models.scorecard.score_terms import LineTerm

_SIGNIFICANT = 6  # digits of the points for each unit of a number


@dataclass(frozen=True)
class Line:
    """A term of points in proportion to a number.

    Attributes
    ----------
    feature : str
    exact : LineTerm
        The exact points, for each unit and for a missing value.
    term : PointsPerUnit
        The same on the card.
    """

    feature: str
    exact: LineTerm
    term: PointsPerUnit

    def errors(self, digits: int | None) -> tuple[float, float]:
        """The smallest and largest change by rounding, within the range of the rows."""
        if digits is None:
            return 0.0, 0.0
        if self.term.range is None:
            return -math.inf, math.inf
        largest = max(map(abs, self.term.range))
        change = abs(self.term.per_unit - self.exact.weight) * largest + 0.5 / 10**digits
        return -change, change


def make_line(
    points: LineTerm, feature: str, distribution: Distribution, digits: int | None
) -> Line:
    """A term of the card for exact points, whose ``feature`` is the name of the term."""
    per_unit, missing = points.weight, on_digits(points.missing, digits)
    if digits is not None:
        per_unit = float(f"{per_unit:.{_SIGNIFICANT}g}")
    name, bins = points.feature, distribution.number_bins(feature, N_BINS)
    if bins is None:
        return Line(feature, points, PointsPerUnit(name, feature, per_unit, missing, 0.0))
    weight = distribution.weights((number_feature(feature, bins.cuts),))
    values = np.append(missing, per_unit * bins.centre)
    average = float((weight * values).sum() / max(weight.sum(), 1e-300))
    ends = float(bins.low[0]), float(bins.high[-1])
    return Line(feature, points, PointsPerUnit(name, feature, per_unit, missing, average, ends))


def on_digits(points: float, digits: int | None) -> float:
    """Points rounded to the digits of the card, half up."""
    if digits is None or abs(points) > 1e15:
        return points
    unit = 10**digits
    return math.floor(points * unit + 0.5) / unit
