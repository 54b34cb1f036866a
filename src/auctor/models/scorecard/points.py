"""The terms of a scorecard: tables of points over bins, and points for each unit of a number."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Feature, Table, number_feature
from auctor.models.fields import Fields
from auctor.models.scorecard.axis import Axis, read_axis

# The largest number of points, as in model files; a sum of such numbers does not overflow.
_LARGEST = 1e300


@dataclass(frozen=True, eq=False)
class PointsTable:
    """Points for the bins of a feature, or for each pair of bins of two features.

    Attributes
    ----------
    name : str
        The feature, or "a x b" for a pair.
    axes : tuple of Axis
        The bins of the feature, or of both features.
    points : ndarray
        The points, with one dimension for each axis; index 0 is for missing values and unknown
        categories.
    average : float
        The average points of the rows that the card was made with.
    fraction, rate : ndarray or None
        The fraction of the given rows in each bin, and the fraction of positives among them (NaN
        in a bin without rows); None if no rows, or no labels, were given.

    Examples
    --------
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> table = RankBoost(n_estimators=5).fit(X, y).model_.to_scorecard(max_bins=2).terms[0]
    >>> table.name, table.points.tolist()
    ('x0', [5.0, 50.0, 0.0])
    """

    name: str
    axes: tuple[Axis, ...]
    points: Floats
    average: float
    fraction: Floats | None = None
    rate: Floats | None = None

    def __post_init__(self) -> None:
        for array in (self.points, self.fraction, self.rate):
            if array is not None:
                array.flags.writeable = False

    @property
    def features(self) -> tuple[Feature, ...]:
        return tuple(axis.feature for axis in self.axes)

    @property
    def low(self) -> float:
        """The smallest number of points."""
        return float(self.points.min())

    @property
    def high(self) -> float:
        """The largest number of points."""
        return float(self.points.max())

    def _codes(self, table: Table, columns: Ints) -> tuple[Ints, ...]:
        """The bins of each row on each axis; axis j is column ``columns[j]`` of the table."""
        pairs = zip(self.axes, columns.tolist(), strict=True)
        return tuple(axis.codes(table, column) for axis, column in pairs)

    def _of_rows(self, table: Table, columns: Ints, digits: int | None) -> Floats:
        """The points of each row."""
        return np.asarray(self.points[self._codes(table, columns)])

    def _body(self) -> dict[str, Any]:
        """The table as plain JSON values, cells row by row."""
        body: dict[str, Any] = {"name": self.name, "axes": [axis.body() for axis in self.axes]}
        body |= {"points": self.points.ravel().tolist(), "average": self.average}
        for name in ("fraction", "rate"):
            values = getattr(self, name)
            if values is not None:
                cells = values.ravel().tolist()
                body[name] = [None if math.isnan(cell) else cell for cell in cells]
        return body


@dataclass(frozen=True)
class PointsPerUnit:
    """Points in proportion to a number, as in a linear model.

    Attributes
    ----------
    name, feature : str
        The name of the term, and the feature.
    per_unit : float
        The points for each unit of the number; the product is rounded to the digits of the card.
    missing : float
        The points of a missing value.
    average : float
        The average points of the rows that the card was made with.
    range : tuple of float, or None
        The smallest and largest value of the rows that the card was made with, if known.

    Examples
    --------
    >>> from auctor import MarginRanker
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> term = MarginRanker(epsilon=0.4).fit(X, y).model_.to_scorecard(digits=2).terms[0]
    >>> term.name, round(term.per_unit, 2)
    ('x0', -0.26)
    """

    name: str
    feature: str
    per_unit: float
    missing: float
    average: float
    range: tuple[float, float] | None = None

    @property
    def features(self) -> tuple[Feature, ...]:
        return (number_feature(self.feature, np.empty(0)),)

    @property
    def low(self) -> float:
        """The smallest number of points within the range; NaN if that is not known."""
        return min(self._ends)

    @property
    def high(self) -> float:
        """The largest number of points within the range; NaN if that is not known."""
        return max(self._ends)

    @property
    def _ends(self) -> tuple[float, ...]:
        if self.range is None:
            return (math.nan,)
        return (*(self.per_unit * end for end in self.range), self.missing)

    def _of_rows(self, table: Table, columns: Ints, digits: int | None) -> Floats:
        """The points of each row, rounded to ``digits``; None does not round."""
        values = table.numbers(int(columns[0]))
        with np.errstate(over="ignore"):
            points = np.clip(self.per_unit * values, -_LARGEST, _LARGEST)
            if digits is not None:
                unit = 10.0**digits
                rounded = np.floor(points * unit + 0.5) / unit
                # Beyond 2^53 there are no fractions to round.
                points = np.where(np.abs(points) * unit < 2.0**52, rounded, points)
        return np.where(np.isnan(values), self.missing, points)

    def _body(self) -> dict[str, Any]:
        """The term as plain JSON values."""
        ends = None if self.range is None else list(self.range)
        return {
            "name": self.name,
            "feature": self.feature,
            "per_unit": self.per_unit,
            "missing": self.missing,
            "average": self.average,
            "range": ends,
        }


CardTerm = PointsTable | PointsPerUnit


def read_term(fields: Fields) -> CardTerm:
    """Read a term of a scorecard file."""
    name, average = fields.text("name"), fields.number("average")
    if fields.has("per_unit"):
        feature, ends = fields.text("feature"), _read_range(fields)
        per_unit, missing = fields.number("per_unit"), fields.number("missing")
        term = PointsPerUnit(name, feature, per_unit, missing, average, ends)
        fields.end()
        return term
    axes = tuple(read_axis(child) for child in fields.children("axes"))
    if len(axes) not in (1, 2) or len({axis.name for axis in axes}) < len(axes):
        raise fields.fail("axes", "one feature, or two different ones")
    shape = tuple(axis.n_bins + 1 for axis in axes)
    points = fields.terms("points")
    if len(points) != math.prod(shape):
        raise fields.fail("points", f"a list of {math.prod(shape)} numbers, one for each bin")
    fractions = [_read_fractions(fields, key, shape) for key in ("fraction", "rate")]
    fields.end()
    return PointsTable(name, axes, points.reshape(shape), average, *fractions)


def _read_range(fields: Fields) -> tuple[float, float] | None:
    ends = fields.take("range")
    if ends is None:
        return None
    if not isinstance(ends, list) or len(ends) != 2:
        raise fields.fail("range", "two numbers, the smaller first, or null")
    low, high = (fields.as_number(end, "range") for end in ends)
    if low > high:
        raise fields.fail("range", "two numbers, the smaller first, or null")
    return low, high


def _read_fractions(fields: Fields, name: str, shape: tuple[int, ...]) -> Floats | None:
    """A fraction for each bin, null where there is none; None if the field is absent."""
    if not fields.has(name):
        return None
    cells = fields.items(name)
    if len(cells) != math.prod(shape):
        raise fields.fail(name, f"a list of {math.prod(shape)} numbers, one for each bin")
    numbers = [math.nan if cell is None else fields.as_number(cell, name) for cell in cells]
    if any(number < 0 or number > 1 for number in numbers):
        raise fields.fail(name, "a list of numbers from 0 to 1")
    return np.array(numbers).reshape(shape)
