"""A table of thresholds with their rates and confidence intervals."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from auctor._checks import check_fraction, check_level
from auctor.metrics.curve import OperatingPoint, RocCurve, curve_of_sample
from auctor.metrics.rates import Range
from auctor.metrics.sample import read_sample
from auctor.metrics.thresholds import RateIntervals, count_rows

RATES = ("tpr", "fpr", "precision")


@dataclass(frozen=True)
class ThresholdRow:
    """One row of a :class:`ThresholdTable`.

    Attributes
    ----------
    fraction : float
        Maximum fraction of the rows to flag.
    point : OperatingPoint
        The lowest threshold that flags at most this fraction, with its rates.
    flagged_fraction : float
        The fraction of rows that it flags; with ties it can be smaller than ``fraction``.
    tpr, fpr, precision : Range
        Confidence intervals of the rates.
    lift : float
        Precision divided by the fraction of positives among all rows; NaN if no row is flagged.

    Examples
    --------
    >>> from auctor.metrics import threshold_table
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> row = threshold_table(y, -X[:, 2], fractions=[0.2]).rows[0]
    >>> row.point.threshold, round(row.flagged_fraction, 3), round(row.lift, 2)
    (-5.0, 0.16, 2.2)
    """

    fraction: float
    point: OperatingPoint
    flagged_fraction: float
    tpr: Range
    fpr: Range
    precision: Range
    lift: float


@dataclass(frozen=True, repr=False)
class ThresholdTable:
    """Thresholds for several fractions of rows to flag; prints as a table.

    Attributes
    ----------
    rows : tuple of ThresholdRow
        One row per fraction.
    level : float
        Confidence level of the intervals.
    method : str
        "Clopper-Pearson", or with weights or groups "Clopper-Pearson at the effective number of
        rows". :class:`Threshold` describes the assumptions.

    Examples
    --------
    >>> from auctor.metrics import threshold_table
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> print(threshold_table(y, -X[:, 2], fractions=[0.1, 0.2]))
    at most  threshold  flagged                  tpr                  fpr
    precision  lift
      10.0%         -2        7  0.176 (0.038-0.434)  0.062 (0.017-0.152)  0.429
        (0.099-0.816)  2.04
      20.0%         -5       13  0.353 (0.142-0.617)  0.109 (0.045-0.212)  0.462
        (0.192-0.749)  2.20
    (95% intervals, Clopper-Pearson)
    """

    rows: tuple[ThresholdRow, ...]
    level: float
    method: str

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """The column names and the formatted cells of each row."""
        head = ["at most", "threshold", "flagged", "tpr", "fpr", "precision", "lift"]
        return head, [_cells(row) for row in self.rows]

    def __repr__(self) -> str:
        head, rows = self.cells()
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True))
            for row in [head, *rows]
        ]
        return "\n".join([*lines, f"({100 * self.level:g}% intervals, {self.method})"])

    def to_csv(self) -> str:
        """The table as CSV text with a header row and unrounded numbers.

        Examples
        --------
        >>> from auctor.metrics import threshold_table
        >>> table = threshold_table([0, 1, 0, 1], [1, 2, 3, 4], fractions=[0.5])
        >>> table.to_csv().splitlines()[0]
        'fraction,threshold,flagged,flagged_fraction,tpr,tpr_low,tpr_high,fpr,fpr_low,fpr_high,...'
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(
            ["fraction", "threshold", "flagged", "flagged_fraction"]
            + [name + end for name in RATES for end in ("", "_low", "_high")]
            + ["lift"]
        )
        for row in self.rows:
            start = [row.fraction, row.point.threshold, row.point.flagged, row.flagged_fraction]
            rates = [[getattr(row.point, name), *getattr(row, name)] for name in RATES]
            writer.writerow([*start, *(value for rate in rates for value in rate), row.lift])
        return text.getvalue()


def threshold_table(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    fractions: Iterable[float] = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5),
    level: float = 0.95,
    groups: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> ThresholdTable:
    """Thresholds that flag given fractions of the rows, with rates and confidence intervals.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    fractions : iterable of float
        Maximum fractions of the rows to flag, one per row of the table.
    level : float, default=0.95
        Confidence level of the Clopper-Pearson intervals of the rates that new rows of the same
        population have at the threshold. Rows are assumed to be independent; with weights or
        groups the effective number of rows replaces their number.
    groups : array-like of shape (n_rows,), optional
        The group of each row, if rows of one group (a customer, a patient) depend on each other.

    Returns
    -------
    ThresholdTable

    Examples
    --------
    >>> from auctor.metrics import threshold_table
    >>> y, s = [0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8]
    >>> threshold_table(y, s, fractions=[0.25, 0.5])
    at most  threshold  flagged                  tpr                  fpr            precision  lift
      25.0%          7        2  0.500 (0.068-0.932)  0.000 (0.000-0.602)  1.000 (0.158-1.000)  2.00
      50.0%          5        4  0.750 (0.194-0.994)  0.250 (0.006-0.806)  0.750 (0.194-0.994)  1.50
    (95% intervals, Clopper-Pearson)
    """
    level = check_level(level)
    scores = {"y_score": y_score}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    curve, counted = curve_of_sample(sample), count_rows(sample, groups)
    checked = _check_fractions(fractions)
    points = [curve.at(budget=fraction) for fraction in checked]
    intervals = RateIntervals(counted, level)
    ranges = [intervals.at(point) for point in points]
    rows = [_row(curve, *parts) for parts in zip(checked, points, ranges, strict=True)]
    return ThresholdTable(tuple(rows), level, intervals.method)


def _check_fractions(fractions: Any) -> list[float]:
    """Return one or more fractions strictly between 0 and 1."""
    is_list = isinstance(fractions, Iterable) and not isinstance(fractions, str)
    values = list(fractions) if is_list else []
    if not values:
        raise ValueError(f"fractions is {fractions!r}; give a list such as [0.01, 0.1]")
    return [check_fraction(value, "one of fractions") for value in values]


def _row(
    curve: RocCurve, fraction: float, point: OperatingPoint, ranges: list[Range]
) -> ThresholdRow:
    total = float(curve.flagged[-1])
    lift = point.precision / (float(curve.true_positives[-1]) / total)
    tpr, fpr, precision = ranges
    return ThresholdRow(fraction, point, point.flagged / total, tpr, fpr, precision, lift)


def _cells(row: ThresholdRow) -> list[str]:
    rates = [
        f"{getattr(row.point, name):.3f} ({ends.low:.3f}-{ends.high:.3f})"
        for name, ends in zip(RATES, (row.tpr, row.fpr, row.precision), strict=True)
    ]
    threshold, flagged = f"{row.point.threshold:.4g}", f"{row.point.flagged:,g}"
    return [f"{100 * row.fraction:.1f}%", threshold, flagged, *rates, f"{row.lift:.2f}"]
