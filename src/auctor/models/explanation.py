"""Explanations: what each term adds to the score of a row, compared with an average row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from auctor._checks import check_choice, check_whole
from auctor._text import count, first_few
from auctor._typing import Floats, Ints
from auctor.data import Table
from auctor.data.missing import is_missing
from auctor.metrics.thresholds import is_flagged
from auctor.models.reference import TRAINING, Reference

_MAX_LENGTH = 28  # of a printed name or value; the middle of a longer one is left out
_MAX_PRINTED = 30  # terms of a printed explanation
_BAR_WIDTH = 20
_SHOWN_ROWS = 10
_SHOWN_REASONS = 3

DIRECTIONS = ("both", "up", "down")


@dataclass(frozen=True, repr=False)
class Explanation:
    """The explanation of the score of one row: ``score = base + sum(contributions)``.

    Attributes
    ----------
    names : tuple of str
        The terms of the model: features, and pairs of features if the model has surfaces. Terms
        are sorted by the size of their contribution, largest first.
    values : tuple
        The values of these features in the row; None for missing values.
    contributions : tuple of float
        How much each term raises or lowers the score, compared with its average.
    base : float
        The score of the average row.
    score : float
        The score of this row.
    classes : tuple
        The labels (negative, positive).
    threshold : float
        The positive class is predicted for scores at or above it.
    reference : str
        A description of the average row, such as "the average training row".

    Examples
    --------
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> explanation = RankBoost(n_estimators=5).fit(X, y).explain(X[2])
    >>> print(explanation)
    score +0.560, predicted 1 (1 is predicted where score >= 0), compared with the average
    training row
    feature               value    adds
    x2                        5  +0.691  ++++++++++++++++++++
    x0                      128  +0.276  ++++++++
    x1                        4  -0.117  ---
    average training row         -0.290
    score                        +0.560
    >>> explanation.score == explanation.base + sum(explanation.contributions)
    True
    """

    names: tuple[str, ...]
    values: tuple[Any, ...]
    contributions: tuple[float, ...]
    base: float
    score: float
    classes: tuple[Any, Any]
    threshold: float
    reference: str = TRAINING

    def __iter__(self) -> Iterator[tuple[str, Any, float]]:
        return iter(zip(self.names, self.values, self.contributions, strict=True))

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        return f"{self._sentence()}\n{self._table()}"

    def _sentence(self) -> str:
        label = self.classes[int(is_flagged(self.score, self.threshold))]
        return (
            f"score {self.score:+.3f}, predicted {label!r} ({self.classes[1]!r} is predicted where "
            f"score >= {self.threshold:g}), compared with {self.reference}"
        )

    def _table(self) -> str:
        rows = [("feature", "value", "adds", "")]
        largest = max((abs(part) for part in self.contributions), default=0.0) or 1.0
        for name, value, part in islice(self, _MAX_PRINTED):
            bar = ("+" if part > 0 else "-") * round(_BAR_WIDTH * abs(part) / largest)
            rows.append((shorten(name), shorten(value_text(value)), f"{part:+.3f}", bar))
        rest = self.contributions[_MAX_PRINTED:]  # the smallest ones, since they are sorted
        if rest:
            rows.append((f"{len(rest)} more", "", f"{sum(rest):+.3f}", ""))
        rows.append((self.reference.removeprefix("the "), "", f"{self.base:+.3f}", ""))
        rows.append(("score", "", f"{self.score:+.3f}", ""))
        return align(rows, "<>><")


@dataclass(frozen=True, eq=False)
class Values:
    """The values of the rows of a table, read when an explanation needs them."""

    table: Table
    columns: Ints  # feature j is column columns[j] of the table
    features: Sequence[Any]  # with name and is_category
    terms: list[tuple[int, ...]]  # the features of each term
    _read: dict[int, npt.NDArray[np.object_] | Floats] = field(default_factory=dict)

    def of_feature(self, j: int, rows: Any) -> list[Any]:
        """The values of one feature in some rows; None for missing values."""
        if j not in self._read:  # read once for all rows
            self._read[j] = self._column(j)
        # Only NaN differs from itself.
        return [None if value != value else value for value in self._read[j][rows].tolist()]

    def _column(self, j: int) -> npt.NDArray[np.object_] | Floats:
        column = int(self.columns[j])
        if not self.features[j].is_category:
            return self.table.numbers(column)
        categories = self.table.categories(column)
        values = np.array([*categories.values, None], dtype=object)  # index -1 is missing
        return values[categories.indices]

    def of_term(self, term: int, rows: Any) -> list[Any]:
        """The values of one term: those of its feature, or a tuple for a pair."""
        values = [self.of_feature(j, rows) for j in self.terms[term]]
        return values[0] if len(values) == 1 else list(zip(*values, strict=True))

    def texts(self, term: int, rows: Any) -> list[str]:
        """For each row a text such as "tenure=1", or "age=34 x income=missing" for a pair."""
        parts = [
            [f"{self.features[j].name}={value_text(value)}" for value in self.of_feature(j, rows)]
            for j in self.terms[term]
        ]
        return [" x ".join(texts) for texts in zip(*parts, strict=True)]


@dataclass(frozen=True, repr=False, eq=False)
class Explanations:
    """The explanations of the scores of many rows; ``explanations[i]`` is that of row i.

    Attributes
    ----------
    names : tuple of str
        The terms of the model: features, and pairs of features if the model has surfaces.
    contributions : ndarray of shape (n_rows, n_terms)
        How much each term raises or lowers the score of each row, compared with its average.
    scores : ndarray of shape (n_rows,)
        ``base`` plus the sum of the contributions of the row.
    base : float
        The score of the average row.
    reference : Reference
        The average contributions of the terms, and a description of the rows.
    classes : tuple
        The labels (negative, positive).
    threshold : float
        The positive class is predicted for scores at or above it.

    Examples
    --------
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> rows = RankBoost(n_estimators=5).fit(X, y).model_.explain_rows(X[:3])
    >>> rows.reasons(n_reasons=1)
    [['x2=5 (+0.691)', 'x2=14 (-0.379)', 'x2=5 (+0.691)']]
    >>> round(rows[2].score, 3)
    0.56
    """

    names: tuple[str, ...]
    contributions: Floats
    scores: Floats
    base: float
    reference: Reference
    classes: tuple[Any, Any]
    threshold: float
    _values: Values

    def __len__(self) -> int:
        return len(self.scores)

    def __iter__(self) -> Iterator[Explanation]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, row: int) -> Explanation:
        """The explanation of one row, by its position."""
        if not -len(self) <= row < len(self):
            raise IndexError(
                f"row is {row}, but there are {len(self)} rows; give a number from 0 to "
                f"{len(self) - 1}"
            )
        row %= len(self)
        parts = self.contributions[row]
        order = np.argsort(-np.abs(parts), kind="stable").tolist()
        return Explanation(
            tuple(self.names[j] for j in order),
            tuple(self._values.of_term(j, [row])[0] for j in order),
            tuple(float(parts[j]) for j in order),
            self.base,
            float(self.scores[row]),
            self.classes,
            self.threshold,
            self.reference.name,
        )

    def to_dict(self) -> dict[str, Floats]:
        """Name of each term -> its contributions; ``pandas.DataFrame`` takes the result."""
        return dict(zip(self.names, self.contributions.T, strict=True))

    def reasons(self, n_reasons: int = 4, direction: str = "both") -> list[list[str]]:
        """The terms that change the score of each row most, as text such as "tenure=1 (+0.83)".

        Parameters
        ----------
        n_reasons : int, default=4
            Number of reasons for each row.
        direction : {"both", "up", "down"}, default="both"
            "up" lists only terms that raise the score, such as the reasons for a high risk;
            "down" only terms that lower it.

        Returns
        -------
        list of lists of str
            ``n_reasons`` lists with one text for each row: first the largest contributions, then
            the second largest, and so on. The number in parentheses is the contribution. The text
            is empty for a row that has fewer terms which change its score.

        Examples
        --------
        >>> from auctor import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> model = RankBoost(n_estimators=5).fit(X, y).model_
        >>> model.explain_rows([[1.0], [4.0]]).reasons(1)
        [['x0=1 (-0.7)', 'x0=4 (+0.7)']]
        """
        check_whole(n_reasons, "n_reasons")
        check_choice(direction, DIRECTIONS, "direction")
        parts = self.contributions
        if direction != "both":
            parts = np.maximum(parts if direction == "up" else -parts, 0.0)
        ranked = np.argsort(-np.abs(parts), axis=1, kind="stable")[:, :n_reasons]
        texts = np.full((len(self), n_reasons), "", dtype=object)
        for term, rows, ranks in by_term(ranked):
            changes_score = parts[rows, term] != 0.0
            rows, ranks = rows[changes_score], ranks[changes_score]
            values = self._values.texts(term, rows)
            adds = self.contributions[rows, term].tolist()
            texts[rows, ranks] = [f"{a} ({b:+.3g})" for a, b in zip(values, adds, strict=True)]
        return texts.T.tolist()

    def __repr__(self) -> str:
        lines = [
            f"explanations of {count(len(self), 'row')} by {count(len(self.names), 'term')}, "
            f"compared with {self.reference.name} (score {self.base:+.3f})"
        ]
        for row in range(min(len(self), _SHOWN_ROWS)):
            one = self[row]
            parts = [f"{name} {part:+.3f}" for name, _, part in one if part]
            reasons = first_few(parts, _SHOWN_REASONS, quote=False) or "as the average row"
            lines.append(f"  row {row}: score {one.score:+.3f}: {reasons}")
        if len(self) > _SHOWN_ROWS:
            lines.append(f"  ... and {len(self) - _SHOWN_ROWS} more rows")
        return "\n".join(lines)


def by_term(ranked: Ints) -> Iterator[tuple[int, Ints, Ints]]:
    """Each term with the rows for which it is a reason, and its rank among the reasons."""
    order = np.argsort(ranked, axis=None, kind="stable")
    terms, starts = np.unique(ranked.ravel()[order], return_index=True)
    for term, positions in zip(terms.tolist(), np.split(order, starts[1:]), strict=False):
        rows, ranks = np.divmod(positions, ranked.shape[1])
        yield term, rows, ranks


def read_row(row: Any) -> Any:
    """One row of any type as a table with one row; tables are returned unchanged.

    The keys of a dict, and the index of a pandas Series, become the names of the columns.
    """
    if isinstance(row, Table):
        return row
    if hasattr(row, "to_dict") and getattr(row, "ndim", None) == 1:
        row = row.to_dict()  # a pandas Series
    if isinstance(row, Mapping):
        if list(row) == list(range(len(row))):
            row = list(row.values())
        else:
            return pa.table({str(name): [_plain(value)] for name, value in row.items()})
    if hasattr(row, "to_numpy") and getattr(row, "ndim", 1) == 1 and not hasattr(row, "columns"):
        row = row.to_numpy()
    if isinstance(row, (list, tuple)) and not (row and _is_sequence(row[0])):
        return [[_plain(value) for value in row]]
    if isinstance(row, np.ndarray) and row.ndim == 1:
        return row.reshape(1, -1)
    return row


def shorten(text: str, max_length: int = _MAX_LENGTH) -> str:
    """The text, with dots in place of its middle if it is longer than ``max_length``.

    Examples
    --------
    >>> shorten("measurement_of_the_left_knee_12", 16)
    'measure...nee_12'
    """
    if len(text) <= max_length:
        return text
    n_end = (max_length - 3) // 2  # the end is kept because similar names often differ there
    return f"{text[: max_length - 3 - n_end]}...{text[len(text) - n_end :]}"


def align(rows: Sequence[tuple[str, ...]], sides: str) -> str:
    """Rows as lines of text with aligned columns; ``sides`` has "<" or ">" for each column."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = [
        "  ".join(
            f"{cell:{side}{width}}" for cell, side, width in zip(row, sides, widths, strict=True)
        )
        for row in rows
    ]
    return "\n".join(line.rstrip() for line in lines)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple, np.ndarray))


def _plain(value: Any) -> Any:
    """A value that Arrow accepts: Python's types for numpy's, None for NaN, NaT and pandas.NA."""
    if is_missing(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def value_text(value: Any) -> str:
    """A value of a row, or the values of a pair, as text."""
    if value is None:
        return "missing"
    if isinstance(value, tuple):
        return ", ".join(map(value_text, value))
    if not isinstance(value, float):
        return str(value)
    return f"{value + 0.0:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
