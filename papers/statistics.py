"""Means with their uncertainty, as the pages print them."""

from collections.abc import Sequence
from math import log
from statistics import mean, stdev
from typing import NamedTuple

from scipy.stats import linregress, t


class Estimate(NamedTuple):
    """A mean and the ends of its interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:+.4f} ({self.low:+.4f}, {self.high:+.4f})"


def standard_error(values: Sequence[float]) -> float:
    """Standard error of the mean of independent repetitions; nan for fewer than two."""
    return stdev(values) / len(values) ** 0.5 if len(values) > 1 else float("nan")


def mean_se(values: Sequence[float], digits: int = 4) -> str:
    """``0.8280 ± 0.0009``: mean and standard error."""
    return f"{mean(values):.{digits}f} ± {standard_error(values):.{digits}f}"


def mean_sd(values: Sequence[float], digits: int = 3) -> str:
    """``0.221 ± 0.016``: mean and standard deviation, for folds, which are not independent."""
    spread = stdev(values) if len(values) > 1 else float("nan")
    return f"{mean(values):.{digits}f} ± {spread:.{digits}f}"


def t_interval(values: Sequence[float], overlap: float = 0.0, level: float = 0.95) -> Estimate:
    """Mean of the values and its t interval.

    Folds share training rows, so their differences vary less than those of fresh samples: Nadeau
    and Bengio (2003) add the overlap, test rows over training rows (1/4 for 5 folds), to 1 / n.
    """
    n, middle = len(values), mean(values)
    if n < 2:
        return Estimate(middle, float("nan"), float("nan"))
    quantile = float(t.ppf(0.5 + level / 2, n - 1))
    half = quantile * stdev(values) * (1 / n + overlap) ** 0.5
    return Estimate(middle, middle - half, middle + half)


def differences(theirs: Sequence[float], ours: Sequence[float]) -> list[float]:
    """Differences of repetitions, as many as both have."""
    return [a - b for a, b in zip(theirs, ours, strict=False)]


class Slope(NamedTuple):
    """Slope of a regression line with its standard error, which is nan for two points."""

    value: float
    error: float
    n_points: int

    def interval(self, level: float = 0.95) -> Estimate:
        """The slope and the ends of its t interval."""
        half = float("nan")
        if self.n_points > 2:
            half = float(t.ppf(0.5 + level / 2, self.n_points - 2)) * self.error
        return Estimate(self.value, self.value - half, self.value + half)


def log_slope(x: Sequence[float], y: Sequence[float]) -> Slope:
    """The power of x with which y grows: the slope of a regression line of the logarithms."""
    line = linregress([log(value) for value in x], [log(value) for value in y])
    error = float(line.stderr) if len(x) > 2 else float("nan")
    return Slope(float(line.slope), error, len(x))
