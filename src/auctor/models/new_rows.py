"""Compare new rows with the training rows of a model, which its training record describes.

Each finding is a number of new rows that are unlike the training rows in one column: values that
are missing, categories that never occurred, numbers outside the range. Some such rows are to be
expected in any sample: the largest of 100 new numbers is above the largest of 100 training numbers
in half of all cases. A finding is reported only where so many of them are improbable among rows of
the same population.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from auctor._text import count, first_few
from auctor.data import Table, select
from auctor.models.base import Model
from auctor.models.explanation import shorten
from auctor.models.training_record import ColumnSummary

# The probability that rows of the same population give any finding, apart from categories that the
# model does not know: that these are new is a fact and no guess, however few rows have them.
_FALSE_ALARMS = 0.01
_TESTS = 4  # for each column: missing values, categories, and numbers below and above the range
# Missing values are reported if they are more frequent by at least this fraction of the rows.
_MORE_MISSING = 0.01
# Where training had no missing value, this fraction of them is reported even if the rows are few.
_MANY_MISSING = 0.1
# A single number is reported if it is outside by more than this many times the width of the range,
_FAR = 3.0
# unless the range is that many times as wide as the bins without the outer rows: columns with such
# long tails have far outliers in any sample.
_LONG_TAIL = 4.0
_TAIL = 0.05  # the fraction of the rows at each end that are the outer ones
# Where few training rows are of a skewed population, many new ones reach further. The distance from
# the median must therefore grow by this many times as much as it does from the quartile to the
# extreme training value.
_FURTHER = 2.0
_SKEWED = 4.0  # the growth where a quartile is the median, as in counts of rare events


@dataclass(frozen=True)
class Finding:
    """New rows that are unlike the training rows in one column.

    Attributes
    ----------
    column : str
    kind : str
        "missing", "unseen category", "below range" or "above range".
    n_rows : int
        The number of new rows.
    importance : float or None
        The importance of the column in the model.
    sentence : str

    Examples
    --------
    >>> from dataclasses import replace
    >>> from auctor.models import compare_rows, make_record
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = RankBoost(n_estimators=5).fit(X, y).model_
    >>> model = replace(model, training=make_record(model, X, y == 1))
    >>> finding = compare_rows(model, [[9000.0, 3.0, 5.0]])[0]
    >>> finding.column, finding.kind, finding.n_rows
    ('x0', 'above range', 1)
    """

    column: str
    kind: str
    n_rows: int
    importance: float | None
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def compare_rows(model: Model, X: Any) -> list[Finding]:
    """How new rows differ from the training rows of a model, the most important column first.

    Parameters
    ----------
    model : Model
        A model with a training record (``model.training``); without one nothing is found.
    X : table
        New rows, of any kind that the model can score.

    Returns
    -------
    list of Finding
        Each prints as a sentence. Few tables from the population of the training rows have a
        finding, apart from categories that are really new: 1 of 810 parts of real tables, and 4 in
        100 where training rows are few and columns have long tails.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from auctor.models import compare_rows, make_record
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = RankBoost(n_estimators=5).fit(X, y).model_
    >>> model = replace(model, training=make_record(model, X, y == 1))
    >>> compare_rows(model, X)
    []
    >>> print(compare_rows(model, [[9000.0, 3.0, 5.0]])[0])
    column 'x0': 1 of 1 row is above 206, the largest training value (up to 9000)
    """
    comparison = RowComparison(model)
    comparison.add(X)
    return comparison.findings()


class RowComparison:
    """Counts of new rows that are unlike the training rows, which are given batch by batch.

    Parameters
    ----------
    model : Model
        A model with a training record; without one nothing is counted.
    """

    def __init__(self, model: Model) -> None:
        self._model = model
        self._counts: list[_NumberCounts | _CategoryCounts | None] = []
        if model.training is not None and model.training.columns:
            pairs = zip(model.training.columns, model._columns, strict=True)
            self._counts = [_make_counts(column, kind) for column, kind in pairs]

    def add(self, X: Any) -> None:
        """Count further rows, of any kind that the model can score."""
        if not self._counts:
            return
        table = self._model._read(X)
        places = select(table, self._model.feature_names, type(self._model).__name__).tolist()
        for counts, j in zip(self._counts, places, strict=True):
            if counts is not None:
                counts.add(table, j)

    def findings(self) -> list[Finding]:
        """How all rows so far differ from the training rows, the most important column first."""
        alpha = _FALSE_ALARMS / (_TESTS * max(len(self._counts), 1))
        differences = [
            finding
            for counts in self._counts
            if counts is not None
            for finding in counts.findings(alpha)
        ]
        return sorted(differences, key=lambda finding: -(finding.importance or 0.0))


def _make_counts(column: ColumnSummary, kind: Any) -> "_NumberCounts | _CategoryCounts | None":
    if column.is_category != kind.is_category:  # only in a file that was changed by hand
        return None
    if column.is_category:
        return _CategoryCounts(column, set(kind.categories))
    return _NumberCounts(column)


def tail_probability(k: int, n: int, m: int, n_before: int) -> float:
    """The probability that at least k of n new rows have a property that m of the old rows have.

    It is the tail of Fisher's exact test: old and new rows come from one population, and m + k of
    them have the property.

    Examples
    --------
    >>> round(tail_probability(1, 100, 0, 100), 9), round(tail_probability(10, 100, 0, 100), 6)
    (0.5, 0.000771)
    """
    from scipy.special import gammaln

    total, marked = n_before + n, m + k
    j = np.arange(k, min(n, marked) + 1, dtype=np.float64)

    def log_choose(a: Any, b: Any) -> Any:
        return gammaln(a + 1.0) - gammaln(b + 1.0) - gammaln(a - b + 1.0)

    with np.errstate(invalid="ignore"):
        logs = log_choose(n, j) + log_choose(n_before, marked - j) - log_choose(total, marked)
    # More marked old rows than there are old rows: gammaln has no value there.
    return min(1.0, float(np.exp(logs[marked - j <= n_before]).sum()))


class _NumberCounts:
    """Numbers of a column that are missing or outside the range of the training rows."""

    def __init__(self, column: ColumnSummary) -> None:
        self._column = column
        self._n_rows = self._n_missing = 0
        # Below and above the range: the rows, whether any is far away, the most extreme value.
        self._n_outside = [0, 0]
        self._any_far = [False, False]
        self._extremes = [np.inf, -np.inf]
        if column.low is not None and column.high is not None:
            with np.errstate(over="ignore"):
                self._far = _far_limits(column, column.low, column.high)

    def add(self, table: Table, j: int) -> None:
        """Count the numbers of a batch."""
        column, values = self._column, table.numbers(j)
        self._n_rows += len(values)
        self._n_missing += int(np.count_nonzero(np.isnan(values)))
        if column.low is None or column.high is None or not len(values):
            return
        # fmin and fmax pass over missing values.
        lowest, highest = float(np.fmin.reduce(values)), float(np.fmax.reduce(values))
        self._n_outside[0] += int(np.count_nonzero(values < column.low))
        self._n_outside[1] += int(np.count_nonzero(values > column.high))
        self._any_far[0] |= lowest < self._far[0]
        self._any_far[1] |= highest > self._far[1]
        self._extremes = [
            float(np.fmin(self._extremes[0], lowest)),
            float(np.fmax(self._extremes[1], highest)),
        ]

    def findings(self, alpha: float) -> list[Finding]:
        """The sentences about missing values and about numbers outside the range."""
        column, n = self._column, self._n_rows
        findings = _compare_missing(column, self._n_missing, n, alpha)
        if column.low is None or column.high is None:
            return findings
        with np.errstate(over="ignore"):
            width = column.high - column.low
        sides = (
            ("below range", f"below {column.low:g}, the smallest", "down"),
            ("above range", f"above {column.high:g}, the largest", "up"),
        )
        known = column.n_rows - column.n_missing
        for (kind, words, way), k, any_far, extreme in zip(
            sides, self._n_outside, self._any_far, self._extremes, strict=True
        ):
            if k == 0:
                continue
            is_odd = any_far and _has_short_tails(column, width)
            if is_odd or tail_probability(k, n, 0, known) < alpha:
                sentence = (
                    f"{_title(column)}: {k:,} of {_rows(n)} {'is' if k == 1 else 'are'} "
                    f"{words} training value ({way} to {extreme:g})"
                )
                findings.append(Finding(column.name, kind, k, column.importance, sentence))
        return findings


def _far_limits(column: ColumnSummary, low: float, high: float) -> tuple[float, float]:
    """The numbers beyond which a single value is reported."""
    lower, median, upper = (_edge(column, fraction) for fraction in (0.25, 0.5, 0.75))
    width = high - low

    def reach(extreme: float, quartile: float) -> float:
        away, near = abs(extreme - median), abs(quartile - median)
        growth = away / near if near > 0 else _SKEWED
        return max(_FAR * width, _FURTHER * growth * away)

    return low - reach(low, lower), high + reach(high, upper)


def _edge(column: ColumnSummary, fraction: float) -> float:
    """About the number below which that fraction of the training rows is."""
    counts = column.counts.sum(axis=0)[1:]
    below = np.cumsum(counts) / max(int(counts.sum()), 1)
    edges = [*column.cuts.tolist(), column.high]
    return float(edges[int(np.argmax(below >= fraction - 1e-12))])


def _has_short_tails(column: ColumnSummary, width: float) -> bool:
    """Whether the extreme training values are near the bins that hold nine tenths of the rows."""
    counts = column.counts.sum(axis=0)[1:]
    below = np.cumsum(counts) / max(int(counts.sum()), 1)
    edges = [column.low, *column.cuts.tolist(), column.high]
    low = edges[int(np.argmax(below > _TAIL))]
    high = edges[int(np.argmax(below >= 1 - _TAIL)) + 1]
    return width < _LONG_TAIL * (high - low)


class _CategoryCounts:
    """Values of a column that are missing, or that the model does not know."""

    def __init__(self, column: ColumnSummary, known: set[Any]) -> None:
        self._column, self._known = column, known
        self._n_rows = self._n_missing = 0
        self._unseen: dict[Any, int] = {}

    def add(self, table: Table, j: int) -> None:
        """Count the values of a batch."""
        values, indices = table.categories(j)
        self._n_rows += len(indices)
        self._n_missing += int(np.count_nonzero(indices < 0))
        totals = np.bincount(indices[indices >= 0], minlength=len(values))
        for i in np.flatnonzero(totals).tolist():
            if values[i] not in self._known:
                self._unseen[values[i]] = self._unseen.get(values[i], 0) + int(totals[i])

    def findings(self, alpha: float) -> list[Finding]:
        """The sentences about missing values and about categories that are new."""
        column, n = self._column, self._n_rows
        findings = _compare_missing(column, self._n_missing, n, alpha)
        k = sum(self._unseen.values())
        if k == 0:
            return findings
        # By Good and Turing, a category that occurs once stands for one that did not occur.
        expected = column.n_single + column.n_unknown
        if expected == 0 or tail_probability(k, n, expected, column.n_rows) < alpha:
            unseen = sorted(self._unseen, key=lambda value: -self._unseen[value])
            names = first_few([shorten(str(value)) for value in unseen], 3)
            which = "a category" if len(unseen) == 1 else f"{len(unseen):,} categories"
            sentence = (
                f"{_title(column)}: {k:,} of {_rows(n)} {'has' if k == 1 else 'have'} {which} that "
                f"the model does not know ({names}); it scores them as missing values"
            )
            findings.append(Finding(column.name, "unseen category", k, column.importance, sentence))
        return findings


def _compare_missing(column: ColumnSummary, k: int, n: int, alpha: float) -> list[Finding]:
    m, before = column.n_missing, column.n_rows
    if k == 0 or before == 0:
        return []
    is_new = m == 0 and k / n >= _MANY_MISSING
    is_more = k / n - m / before >= _MORE_MISSING
    if not is_new and not (is_more and tail_probability(k, n, m, before) < alpha):
        return []
    often = (
        f"missing in {_percent(m / before)} of the training rows"
        if m
        else ("never missing in training")
    )
    where = f"all {_rows(n)}" if k == n and n > 1 else f"{k:,} of {_rows(n)}"
    sentence = f"{_title(column)} is missing in {where}; it was {often}"
    return [Finding(column.name, "missing", k, column.importance, sentence)]


def _title(column: ColumnSummary) -> str:
    """The column with its importance, where it has any."""
    name = repr(shorten(column.name))
    if not column.importance or column.importance < 0.0005:
        return f"column {name}"
    return f"column {name} ({_percent(column.importance)} of the importance)"


def _rows(n: int) -> str:
    return count(n, "row") if n < 1000 else f"{n:,} rows"


def _percent(fraction: float) -> str:
    return f"{fraction:.1%}" if fraction < 0.9995 else "100%"
