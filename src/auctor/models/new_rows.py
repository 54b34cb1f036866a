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
from auctor._typing import Floats
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
    record = model.training
    if record is None or not record.columns:
        return []
    table = model._read(X)
    places = select(table, model.feature_names, type(model).__name__).tolist()
    alpha = _FALSE_ALARMS / (_TESTS * len(record.columns))
    findings: list[Finding] = []
    for column, kind, j in zip(record.columns, model._columns, places, strict=True):
        if column.is_category != kind.is_category:  # only in a file that was changed by hand
            continue
        if column.is_category:
            findings += _compare_categories(column, set(kind.categories), table, j, alpha)
        else:
            findings += _compare_numbers(column, table.numbers(j), alpha)
    return sorted(findings, key=lambda finding: -(finding.importance or 0.0))


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


def _compare_numbers(column: ColumnSummary, values: Floats, alpha: float) -> list[Finding]:
    findings = _compare_missing(column, int(np.count_nonzero(np.isnan(values))), len(values), alpha)
    if column.low is None or column.high is None:
        return findings
    with np.errstate(over="ignore"):
        width = column.high - column.low
        below, above = values < column.low, values > column.high
        low, high = _far_limits(column, column.low, column.high)
        is_far = (values < low) | (values > high)
    sides = (
        ("below range", below, f"below {column.low:g}, the smallest", "down", np.fmin),
        ("above range", above, f"above {column.high:g}, the largest", "up", np.fmax),
    )
    known = column.n_rows - column.n_missing
    for kind, outside, words, way, extreme in sides:
        k = int(np.count_nonzero(outside))
        if k == 0:
            continue
        is_odd = _has_short_tails(column, width) and bool((outside & is_far).any())
        if is_odd or tail_probability(k, len(values), 0, known) < alpha:
            sentence = (
                f"{_title(column)}: {k:,} of {_rows(len(values))} {'is' if k == 1 else 'are'} "
                f"{words} training value ({way} to {float(extreme.reduce(values[outside])):g})"
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


def _compare_categories(
    column: ColumnSummary, known: set[Any], table: Table, j: int, alpha: float
) -> list[Finding]:
    values, indices = table.categories(j)
    n = len(indices)
    findings = _compare_missing(column, int(np.count_nonzero(indices < 0)), n, alpha)
    totals = np.bincount(indices[indices >= 0], minlength=len(values))
    unseen = [i for i in np.flatnonzero(totals).tolist() if values[i] not in known]
    k = int(totals[unseen].sum())
    if k == 0:
        return findings
    # By Good and Turing, a category that occurs once stands for one that did not occur.
    expected = column.n_single + column.n_unknown
    if expected == 0 or tail_probability(k, n, expected, column.n_rows) < alpha:
        unseen.sort(key=lambda i: -totals[i])
        names = first_few([shorten(str(values[i])) for i in unseen], 3)
        which = "a category" if len(unseen) == 1 else f"{len(unseen):,} categories"
        sentence = (
            f"{_title(column)}: {k:,} of {_rows(n)} {'has' if k == 1 else 'have'} {which} that the "
            f"model does not know ({names}); it scores them as missing values"
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
