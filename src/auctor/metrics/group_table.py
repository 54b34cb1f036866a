"""GroupTable: the quality of a score in each group of rows; prints as a table with sentences."""

import math
from dataclasses import dataclass
from typing import Any

from auctor._text import count, one_line, p_equation, signed, signless

# The measures of a group, in the order of the table, and what they are called.
MEASURES = {
    "auc": "AUC",
    "calibration": "calibration",
    "flagged": "flagged",
    "tpr": "tpr",
    "fpr": "fpr",
}
_MOST_PRINTED = 40
_MOST_SENTENCES = 12
_MOST_SMALL = 10
_LONGEST_NAME = 40


@dataclass(frozen=True)
class GroupEstimate:
    """An estimate of one group with its confidence interval; NaN where there are too few rows.

    Attributes
    ----------
    value : float
    low, high : float

    Examples
    --------
    >>> from auctor.metrics import by_group
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> group = ["young" if age < 80 else "old" for age in X[:, 0]]
    >>> table = by_group(y, -X[:, 2], group, threshold=-8)
    >>> tpr = table.overall.tpr
    >>> round(tpr.value, 3), round(tpr.low, 3), round(tpr.high, 3)
    (0.647, 0.383, 0.858)
    """

    value: float
    low: float
    high: float

    def to_dict(self) -> dict[str, float | None]:
        """The three numbers; None for NaN."""
        numbers = {"value": self.value, "low": self.low, "high": self.high}
        return {name: None if math.isnan(end) else end for name, end in numbers.items()}


@dataclass(frozen=True)
class GroupRow:
    """One group of rows.

    Attributes
    ----------
    name : str
        The value of the group as text; "(missing)" for rows without one.
    n_rows, n_pos, n_neg : int
        Number of rows, and of each class.
    effective_pos, effective_neg : float
        Kish's effective number of rows of each class, and at most its number of clusters.
    effective_rows : float
        The same for all rows of the group.
    auc, flagged, tpr, fpr : GroupEstimate
        AUC, and at the threshold the flagged fraction, true and false positive rate.
    calibration : GroupEstimate or None
        Mean predicted probability minus the observed fraction of positives; None without
        probabilities.
    too_small : tuple of str
        The measures of which the group has too few rows to be compared with others.

    Examples
    --------
    >>> from auctor.metrics import by_group
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> group = ["young" if age < 80 else "old" for age in X[:, 0]]
    >>> table = by_group(y, -X[:, 2], group, threshold=-8)
    >>> row = table.groups[0]
    >>> row.name, row.n_pos, row.n_neg, round(row.auc.value, 3)
    ('old', 12, 32, 0.846)
    """

    name: str
    n_rows: int
    n_pos: int
    n_neg: int
    effective_pos: float
    effective_neg: float
    effective_rows: float
    auc: GroupEstimate
    calibration: GroupEstimate | None
    flagged: GroupEstimate
    tpr: GroupEstimate
    fpr: GroupEstimate
    too_small: tuple[str, ...]

    @property
    def is_small(self) -> bool:
        """Whether the group is too small to be compared in at least one measure."""
        return bool(self.too_small)

    def to_dict(self) -> dict[str, Any]:
        """The group in plain values."""
        facts = {name: value for name, value in vars(self).items() if name not in MEASURES}
        for name in MEASURES:
            estimate = getattr(self, name)
            facts[name] = None if estimate is None else estimate.to_dict()
        return facts | {"too_small": list(self.too_small), "is_small": self.is_small}


@dataclass(frozen=True)
class GroupTest:
    """A test of one measure between a group and another, or the other groups together.

    Attributes
    ----------
    group, other : str
        The names of the two groups; ``other`` is "the other groups" if it is all of them.
    measure : {"auc", "calibration", "tpr", "fpr"}
    value, other_value : float
        The measure of each. For the AUC of several groups only pairs of rows of the same group
        count.
    difference, low, high : float
        ``value - other_value`` with its confidence interval, which is not corrected.
    p_value, p_adjusted : float
        Two-sided p-value, and the same after Holm's correction for all tests of the table.

    Examples
    --------
    >>> from auctor.metrics import by_group
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> group = ["young" if age < 80 else "old" for age in X[:, 0]]
    >>> table = by_group(y, -X[:, 2], group, threshold=-8, min_rows=5)
    >>> test = table.tests[0]
    >>> print(test.sentence(0.95))
    Group 'old' has a higher AUC than group 'young': 0.846 against 0.844, difference +0.003
    (95% CI -0.215 to 0.321), adjusted p = 1.
    """

    group: str
    other: str
    measure: str
    value: float
    other_value: float
    difference: float
    low: float
    high: float
    p_value: float
    p_adjusted: float

    def to_dict(self) -> dict[str, Any]:
        """The test in plain values."""
        return dict(vars(self))

    def sentence(self, level: float, noun: str = "group") -> str:
        """The difference in words; ``noun`` is what a group is called."""
        other = f"{noun} {_short(self.other)!r}"
        if self.other == OTHERS:
            other = OTHERS.replace("group", noun)
        ends = f"{100 * level:g}% CI {signless(self.low)} to {signless(self.high)}"
        p = p_equation(self.p_adjusted)
        tail = f"difference {signed(self.difference)} ({ends}), adjusted {p}."
        name = f"{noun.capitalize()} {_short(self.group)!r}"
        if self.measure == "calibration":
            return (
                f"{name}: the mean predicted probability minus the observed fraction is "
                f"{signed(self.value)}, in {other} {signed(self.other_value)}; {tail}"
            )
        more = "higher" if self.difference > 0 else "lower"
        return (
            f"{name} has a {more} {WORDS[self.measure]} than {other}: {signless(self.value)} "
            f"against {signless(self.other_value)}, {tail}"
        )


OTHERS = "the other groups"
WORDS = {
    "auc": "AUC",
    "calibration": "calibration",
    "tpr": "true positive rate",
    "fpr": "false positive rate",
}


@dataclass(frozen=True, repr=False, eq=False)
class GroupTable:
    """The quality of a score in each group of rows, returned by :func:`by_group`.

    Attributes
    ----------
    overall : GroupRow
        All rows together.
    groups : tuple of GroupRow
        The largest group first; numbers in their order; missing values last.
    tests : tuple of GroupTest
        In the order of the groups. A group is not tested in a measure for which it is too small.
    threshold : float
        Rows with a score of at least this are flagged.
    level : float
        Confidence level of the intervals; a test is significant if its adjusted p-value is below
        ``1 - level``.
    min_rows : float
        The effective number of rows below which a group is too small: of positive rows for the
        true positive rate, of negative rows for the false positive rate, of each class for the
        AUC, and of all rows for the calibration and the flagged fraction.
    compare : {"rest", "pairs"}
        Whether groups were tested against the other groups together, or every two of them.
    n_distinct : int or None
        The number of distinct numbers or dates, if they were cut into bins; otherwise None.

    Examples
    --------
    >>> from auctor.metrics import by_group
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> group = ["young" if age < 80 else "old" for age in X[:, 0]]
    >>> table = by_group(y, -X[:, 2], group, threshold=-8)
    >>> [row.name for row in table.groups], table.differing
    (['old', 'young'], ())
    >>> table.sentences()[0]
    "No test shows a difference between the groups (Holm's correction for 1 test: the
    probability of any false claim in this table is at most 5%). This does not show that
    they are equal: the intervals say how large a difference may be."
    """

    overall: GroupRow
    groups: tuple[GroupRow, ...]
    tests: tuple[GroupTest, ...]
    threshold: float
    level: float
    min_rows: float
    compare: str = "rest"
    n_distinct: int | None = None

    @property
    def differing(self) -> tuple[GroupTest, ...]:
        """The tests whose adjusted p-value is below ``1 - level``, the smallest first."""
        low = [test for test in self.tests if test.p_adjusted < 1 - self.level]
        return tuple(sorted(low, key=lambda test: test.p_adjusted))

    @property
    def small(self) -> tuple[GroupRow, ...]:
        """The groups that are too small to be compared in at least one measure."""
        return tuple(group for group in self.groups if group.is_small)

    def to_dict(self) -> dict[str, Any]:
        """The table in plain values; None in place of NaN."""
        return {
            "level": self.level,
            "threshold": self.threshold,
            "min_rows": self.min_rows,
            "compare": self.compare,
            "n_distinct": self.n_distinct,
            "overall": self.overall.to_dict(),
            "groups": [group.to_dict() for group in self.groups],
            "tests": [test.to_dict() for test in self.tests],
            "sentences": self.sentences(),
        }

    def sentences(self, noun: str = "group") -> list[str]:
        """The verdicts in words: which groups differ, and which are too small to say.

        ``noun`` is what a group is called, such as "period".
        """
        differing = self.differing
        said = [test.sentence(self.level, noun) for test in differing[:_MOST_SENTENCES]]
        if len(differing) > _MOST_SENTENCES:
            said.append(f"And {count(len(differing) - _MOST_SENTENCES, 'more difference')}.")
        return [*self._binned(), *said, *self._tested(noun), *self._too_small(noun)]

    def _binned(self) -> list[str]:
        if self.n_distinct is None:
            return []
        return [
            f"The {self.n_distinct:,} distinct values were cut into bins with about equally many "
            "rows."
        ]

    def _tested(self, noun: str) -> list[str]:
        """How many tests there were, and what they were."""
        if not self.tests:
            return [f"No {noun}s were compared: fewer than two are large enough."]
        n, error = len(self.tests), f"{100 * (1 - self.level):.3g}%"
        family = (
            f"Holm's correction for {count(n, 'test')}: the probability of any false claim in this "
            f"table is at most {error}"
        )
        if self.differing:
            return [f"{family}."]
        return [
            f"No test shows a difference between the {noun}s ({family}). This does not show that "
            "they are equal: the intervals say how large a difference may be."
        ]

    def _too_small(self, noun: str) -> list[str]:
        small = self.small
        if not small:
            return []
        named = "; ".join(self._size(group) for group in small[:_MOST_SMALL])
        if len(small) > _MOST_SMALL:
            named += f"; and {len(small) - _MOST_SMALL:,} more"
        rows = f"{self.min_rows:g} {'effective ' if self._is_effective else ''}"
        are = "is" if len(small) == 1 else "are"
        return [
            f"{count(len(small), noun)} {are} too small to be compared in some measures: {named}. "
            f"The tpr needs {rows}positive rows, the fpr {rows}negative rows, the AUC both, and "
            f"the other measures {rows}rows."
        ]

    @property
    def _measures(self) -> list[str]:
        """The measures of this table; without probabilities there is no calibration."""
        return [name for name in MEASURES if getattr(self.overall, name) is not None]

    @property
    def _is_effective(self) -> bool:
        """Whether weights or clusters make the effective numbers of rows differ from counts."""
        rows = self.overall
        return (rows.effective_pos, rows.effective_neg) != (rows.n_pos, rows.n_neg)

    def _size(self, group: GroupRow) -> str:
        """The name of a small group with the numbers by which it is small."""
        words = f"{group.n_pos} of {count(group.n_rows, 'row')} positive"
        if self._is_effective:
            numbers = f"{group.effective_pos:.1f} positive and {group.effective_neg:.1f} negative"
            words = f"{numbers} effective rows"
        measures = ", ".join(MEASURES[name] for name in group.too_small)
        if len(group.too_small) == len(self._measures):
            measures = "all of them"
        return f"{_short(group.name)!r} ({words}) in {measures}"

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """The column names and the formatted cells of each row; the last row is all rows."""
        shown = self._measures
        head = ["group", "rows", "positives", *(MEASURES[name] for name in shown)]
        rows = [_cells(group, shown) for group in self.groups[:_MOST_PRINTED]]
        return head, [*rows, _cells(self.overall, shown)]

    def __repr__(self) -> str:
        head, rows = self.cells()
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        lines = [
            "  ".join(
                cell.ljust(width) if k == 0 else cell.rjust(width)
                for k, (cell, width) in enumerate(zip(row, widths, strict=True))
            )
            for row in [head, *rows]
        ]
        left = len(self.groups) - _MOST_PRINTED
        if left > 0:
            lines.insert(-1, f"({count(left, 'more group')})")
        notes = [f"{100 * self.level:g}% intervals; flagged if score >= {self.threshold:g}"]
        if self.overall.calibration is not None:
            notes.append("calibration: mean predicted probability minus observed fraction")
        if self.small:
            notes.append("*: too few rows to compare")
        return "\n".join([*lines, f"({'; '.join(notes)})", *self.sentences()])


def _short(name: str) -> str:
    """A name on one line, without its end if it is long."""
    line = one_line(name)
    return line if len(line) <= _LONGEST_NAME else f"{line[: _LONGEST_NAME - 3]}..."


def _cells(group: GroupRow, shown: list[str]) -> list[str]:
    estimates = [
        _estimate(getattr(group, measure), measure) + (" *" if measure in group.too_small else "")
        for measure in shown
    ]
    return [_short(group.name), f"{group.n_rows:,}", f"{group.n_pos:,}", *estimates]


def _estimate(estimate: GroupEstimate, measure: str) -> str:
    """An estimate with its interval; a dash where there is none."""
    if math.isnan(estimate.value):
        return "-"
    text = signed if measure == "calibration" else signless
    if math.isnan(estimate.low):
        return text(estimate.value)
    return f"{text(estimate.value)} ({text(estimate.low)} to {text(estimate.high)})"
