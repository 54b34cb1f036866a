"""Why rows have the scores they have: what each term adds, compared with the average row."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from auctor._typing import Floats, Ints
from auctor.data import Table
from auctor.data.missing import is_missing
from auctor.models.reference import TRAINING, Reference

_LONGEST = 28  # a longer name or value loses its middle in print
_MOST_PRINTED = 30  # terms of an explanation, the largest first
_WIDEST_BAR = 20
_SHOWN_ROWS = 10
_SHOWN_REASONS = 3

DIRECTIONS = ("both", "up", "down")


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a row has the score it has: ``score`` is ``base`` plus all ``contributions``.

    Attributes
    ----------
    names : tuple of str
        Features (and pairs of them, where the model has surfaces), the largest contribution first,
        whatever its sign.
    values : tuple
        The row's values of them; None where missing.
    contributions : tuple of float
        How far each raises or lowers the score, compared with what it adds on average.
    base : float
        The score of the average row.
    score : float
        The score of this row.
    classes : tuple
        The negative label and the positive one, which is predicted above ``threshold``.
    threshold : float
    reference : str
        Which average row that is, in words.
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
        label = self.classes[1] if self.score > self.threshold else self.classes[0]
        return (
            f"score {self.score:+.3f}, predicted {label!r} ({self.classes[1]!r} is predicted above "
            f"{self.threshold:g}), compared with {self.reference}"
        )

    def _table(self) -> str:
        rows = [("feature", "value", "adds", "")]
        largest = max((abs(part) for part in self.contributions), default=0.0) or 1.0
        for name, value, part in islice(self, _MOST_PRINTED):
            bar = ("+" if part > 0 else "-") * round(_WIDEST_BAR * abs(part) / largest)
            rows.append((shorten(name), shorten(_word(value)), f"{part:+.3f}", bar))
        rest = self.contributions[_MOST_PRINTED:]  # the largest stand first
        if rest:
            rows.append((f"{len(rest)} more", "", f"{sum(rest):+.3f}", ""))
        rows.append((self.reference.removeprefix("the "), "", f"{self.base:+.3f}", ""))
        rows.append(("score", "", f"{self.score:+.3f}", ""))
        return align(rows, "<>><")


@dataclass(frozen=True, eq=False)
class Values:
    """The values of a table's rows, looked up where an explanation wants them."""

    table: Table
    columns: Ints  # feature j stands in column columns[j] of the table
    features: Sequence[Any]  # with name and is_category
    terms: list[tuple[int, ...]]  # the features of each term
    _read: dict[int, npt.NDArray[np.object_] | Floats] = field(default_factory=dict)

    def of_feature(self, j: int, rows: Any) -> list[Any]:
        """The values of one feature in some rows; None where missing."""
        if j not in self._read:  # once for all rows
            self._read[j] = self._column(j)
        # Only NaN differs from itself.
        return [None if value != value else value for value in self._read[j][rows].tolist()]

    def _column(self, j: int) -> npt.NDArray[np.object_] | Floats:
        column = int(self.columns[j])
        if not self.features[j].is_category:
            return self.table.numbers(column)
        found = self.table.categories(column)
        known = np.array([*found.values, None], dtype=object)  # place -1 is missing
        return known[found.places]

    def of_term(self, term: int, rows: Any) -> list[Any]:
        """The values of one term: those of its feature, or a tuple for a pair."""
        found = [self.of_feature(j, rows) for j in self.terms[term]]
        return found[0] if len(found) == 1 else list(zip(*found, strict=True))

    def words(self, term: int, rows: Any) -> list[str]:
        """ "tenure=1" for each row, "age=34 x income=missing" for a pair."""
        parts = [
            [f"{self.features[j].name}={_word(value)}" for value in self.of_feature(j, rows)]
            for j in self.terms[term]
        ]
        return [" x ".join(words) for words in zip(*parts, strict=True)]


@dataclass(frozen=True, repr=False, eq=False)
class Explanations:
    """The explanations of many rows; ``explanations[i]`` is that of row i.

    Attributes
    ----------
    names : tuple of str
        The terms: features, and pairs of them where the model has surfaces.
    contributions : ndarray of shape (n_rows, n_terms)
        How far each term raises or lowers each row's score, compared with what it adds on average.
    scores : ndarray of shape (n_rows,)
        ``base`` plus the sum of the row's contributions.
    base : float
        The score of the average row.
    reference : Reference
        The average contributions of the terms, and which rows they are the average of.
    classes : tuple
        The negative label and the positive one, which is predicted above ``threshold``.
    threshold : float
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
            raise IndexError(f"row is {row}, and there are {len(self)} rows")
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
        """The contributions by the name of the term, as pandas and polars take them."""
        return dict(zip(self.names, self.contributions.T, strict=True))

    def reasons(self, n_reasons: int = 4, direction: str = "both") -> list[list[str]]:
        """The terms that move each row's score most, in words: "tenure=1 (+0.83)".

        Parameters
        ----------
        n_reasons : int, default=4
            How many for each row.
        direction : {"both", "up", "down"}, default="both"
            "up" for terms that raise the score only, as the reasons for a high risk; "down" for
            those that lower it.

        Returns
        -------
        list of lists of str
            A list for each rank: the first has the largest contribution of each row. The number
            is the contribution. Where a row has fewer terms that move its score, the text is empty.

        Examples
        --------
        >>> from auctor import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> model = RankBoost(n_estimators=5).fit(X, y).model_
        >>> model.with_reference([[1.0]]).explain_rows([[1.0]]).reasons(1)
        [['']]
        """
        if isinstance(n_reasons, bool) or not isinstance(n_reasons, Integral) or n_reasons < 1:
            raise ValueError(f"n_reasons is {n_reasons!r}; give a whole number of 1 or more")
        if direction not in DIRECTIONS:
            raise ValueError(f"direction is {direction!r}; give one of {', '.join(DIRECTIONS)}")
        parts = self.contributions
        if direction != "both":
            parts = np.maximum(parts if direction == "up" else -parts, 0.0)
        ranked = np.argsort(-np.abs(parts), axis=1, kind="stable")[:, :n_reasons]
        texts = np.full((len(self), n_reasons), "", dtype=object)
        for term, rows, ranks in _by_term(ranked):
            moves = parts[rows, term] != 0.0
            rows, ranks = rows[moves], ranks[moves]
            words = self._values.words(term, rows)
            adds = self.contributions[rows, term].tolist()
            texts[rows, ranks] = [f"{a} ({b:+.3g})" for a, b in zip(words, adds, strict=True)]
        return texts.T.tolist()

    def __repr__(self) -> str:
        lines = [
            f"explanations of {len(self)} rows by {len(self.names)} terms, compared with "
            f"{self.reference.name} (score {self.base:+.3f})"
        ]
        for row in range(min(len(self), _SHOWN_ROWS)):
            one = self[row]
            parts = [f"{name} {part:+.3f}" for name, _, part in one if part]
            more = ", ..." if len(parts) > _SHOWN_REASONS else ""
            words = ", ".join(parts[:_SHOWN_REASONS]) + more
            lines.append(f"  row {row}: score {one.score:+.3f}: {words or 'as the average row'}")
        if len(self) > _SHOWN_ROWS:
            lines.append(f"  ... and {len(self) - _SHOWN_ROWS} more rows")
        return "\n".join(lines)


def _by_term(ranked: Ints) -> Iterator[tuple[int, Ints, Ints]]:
    """Each term with the rows that it is a reason of, and its rank there."""
    order = np.argsort(ranked, axis=None, kind="stable")
    terms, starts = np.unique(ranked.ravel()[order], return_index=True)
    for term, places in zip(terms.tolist(), np.split(order, starts[1:]), strict=False):
        rows, ranks = np.divmod(places, ranked.shape[1])
        yield term, rows, ranks


def read_row(row: Any) -> Any:
    """One row, of whatever kind, as a table of one row: with names where the row has them."""
    if isinstance(row, Table):
        return row
    if hasattr(row, "to_dict") and getattr(row, "ndim", None) == 1:
        row = row.to_dict()  # a pandas Series: its index has the names
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


def shorten(text: str, longest: int = _LONGEST) -> str:
    """The text without its middle where it is too long to stand in a table or over a panel.

    Examples
    --------
    >>> shorten("measurement_of_the_left_knee_12", 16)
    'measure...nee_12'
    """
    if len(text) <= longest:
        return text
    n_end = (longest - 3) // 2  # where names of one kind differ as a rule
    return f"{text[: longest - 3 - n_end]}...{text[len(text) - n_end :]}"


def align(rows: Sequence[tuple[str, ...]], sides: str) -> str:
    """Rows as lines of text, each column as wide as it must be."""
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
    """A value as Arrow takes it: numpy's scalars as Python's own, None for NaN, NaT, pandas.NA."""
    if is_missing(value):
        return None
    return value.item() if isinstance(value, np.generic) else value


def _word(value: Any) -> str:
    if value is None:
        return "missing"
    if isinstance(value, tuple):
        return ", ".join(map(_word, value))
    if not isinstance(value, float):
        return str(value)
    return f"{value + 0.0:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.6g}"
