"""Several thresholds side by side: who is flagged, who is found, and how sure that is."""

import csv
import io
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from auctor._checks import check_level, check_top
from auctor.metrics.curve import OperatingPoint, RocCurve, curve_of_sample
from auctor.metrics.rates import Range
from auctor.metrics.sample import read_sample
from auctor.metrics.thresholds import RateIntervals, count_rows

RATES = ("tpr", "fpr", "precision")


@dataclass(frozen=True)
class ThresholdRow:
    """What one threshold does.

    Attributes
    ----------
    share : float
        The share of the rows that may be flagged.
    point : OperatingPoint
        The threshold that flags the most without going over, and its rates.
    flagged_share : float
        The share that it does flag; ties can make it smaller than ``share``.
    tpr, fpr, precision : Range
        Confidence intervals of the rates.
    lift : float
        Precision over the share of positives among all rows; NaN when nothing is flagged.
    """

    share: float
    point: OperatingPoint
    flagged_share: float
    tpr: Range
    fpr: Range
    precision: Range
    lift: float


@dataclass(frozen=True, repr=False)
class ThresholdTable:
    """Thresholds by the share of the rows they may flag; prints as a table.

    Attributes
    ----------
    rows : tuple of ThresholdRow
    level : float
        Confidence level of the intervals.
    method : str
        "Clopper-Pearson", and with weights or groups "Clopper-Pearson at the effective number of
        rows"; see :class:`Threshold` for what it assumes.
    """

    rows: tuple[ThresholdRow, ...]
    level: float
    method: str

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """The head and the rows as short texts, for people."""
        head = ["at most", "threshold", "flagged", "tpr", "fpr", "precision", "lift"]
        return head, [_cells(row) for row in self.rows]

    def __repr__(self) -> str:
        head, rows = self.cells()
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines = [
            "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True))
            for line in [head, *rows]
        ]
        return "\n".join([*lines, f"({100 * self.level:g}% intervals, {self.method})"])

    def to_csv(self) -> str:
        """The table as CSV text with a head, numbers in full.

        Examples
        --------
        >>> table = threshold_table([0, 1, 0, 1], [1, 2, 3, 4], shares=[0.5])
        >>> table.to_csv().splitlines()[0]
        'share,threshold,flagged,flagged_share,tpr,tpr_low,tpr_high,fpr,fpr_low,fpr_high,...'
        """
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(
            ["share", "threshold", "flagged", "flagged_share"]
            + [name + end for name in RATES for end in ("", "_low", "_high")]
            + ["lift"]
        )
        for row in self.rows:
            start = [row.share, row.point.threshold, row.point.flagged, row.flagged_share]
            rates = [[getattr(row.point, name), *getattr(row, name)] for name in RATES]
            writer.writerow([*start, *(value for rate in rates for value in rate), row.lift])
        return text.getvalue()


def threshold_table(
    y_true: npt.ArrayLike,
    y_score: npt.ArrayLike,
    *,
    shares: Iterable[float] = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5),
    level: float = 0.95,
    groups: npt.ArrayLike | None = None,
    sample_weight: npt.ArrayLike | None = None,
    pos_label: Any = None,
) -> ThresholdTable:
    """Thresholds that flag given shares of the rows, with rates and their intervals.

    Parameters
    ----------
    y_true, y_score, sample_weight, pos_label
        As in :func:`auctor.metrics.auc`.
    shares : iterable of float
        At most this share of the rows is flagged, one row of the table for each.
    level : float, default=0.95
        Confidence level of the intervals, which are those of Clopper and Pearson: of the rates
        that new rows of the same population have at the threshold. They assume independent rows;
        with weights or groups the effective number of rows takes the place of their number.
    groups : array-like of shape (n_rows,), optional
        Rows of one group (a customer, a patient) may depend on each other.

    Returns
    -------
    ThresholdTable

    Examples
    --------
    >>> y, s = [0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8]
    >>> threshold_table(y, s, shares=[0.25, 0.5])
    at most  threshold  flagged                  tpr                  fpr            precision  lift
      25.0%          7        2  0.500 (0.068-0.932)  0.000 (0.000-0.602)  1.000 (0.158-1.000)  2.00
      50.0%          5        4  0.750 (0.194-0.994)  0.250 (0.006-0.806)  0.750 (0.194-0.994)  1.50
    (95% intervals, Clopper-Pearson)
    """
    level = check_level(level)
    scores = {"y_score": y_score}
    sample = read_sample(y_true, scores, sample_weight=sample_weight, pos_label=pos_label)
    curve, counted = curve_of_sample(sample), count_rows(sample, groups)
    asked = _check_shares(shares)
    points = [curve.at(budget=share) for share in asked]
    intervals = RateIntervals(counted, level)
    ranges = [intervals.at(point) for point in points]
    rows = [_row(curve, *parts) for parts in zip(asked, points, ranges, strict=True)]
    return ThresholdTable(tuple(rows), level, intervals.method)


def _check_shares(shares: Any) -> list[float]:
    """Shares above 0 and below 1, at least one."""
    if isinstance(shares, str) or not isinstance(shares, Iterable):
        raise ValueError(f"shares must be a list of shares such as [0.01, 0.1], got {shares!r}")
    found = [check_top(share, 1.0, "each of shares") for share in shares]
    if not found or max(found) >= 1:
        raise ValueError(f"shares must be shares between 0 and 1, one or more, got {shares!r}")
    return found


def _row(curve: RocCurve, share: float, point: OperatingPoint, ranges: list[Range]) -> ThresholdRow:
    total = float(curve.flagged[-1])
    lift = point.precision / (float(curve.true_positives[-1]) / total)
    tpr, fpr, precision = ranges
    return ThresholdRow(share, point, point.flagged / total, tpr, fpr, precision, lift)


def _cells(row: ThresholdRow) -> list[str]:
    rates = [
        f"{getattr(row.point, name):.3f} ({ends.low:.3f}-{ends.high:.3f})"
        for name, ends in zip(RATES, (row.tpr, row.fpr, row.precision), strict=True)
    ]
    start = [f"{100 * row.share:.1f}%", f"{row.point.threshold:.4g}", f"{row.point.flagged:,g}"]
    return [*start, *rates, f"{row.lift:.2f}"]
