"""What an additive score is made of: for one row, and for each feature over many rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from auctor.data import Feature, Table, read_labels, read_table, select
from auctor.data.missing import is_missing
from auctor.metrics import AucInterval, auc_ci
from auctor.metrics.wording import count
from auctor.models import AdditiveModel

Floats = npt.NDArray[np.float64]

_LONGEST = 28  # a longer name or value loses its middle in print
_WIDEST_BAR = 20


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
        How far each raises or lowers the score, compared with its average over the training rows,
        both classes alike.
    base : float
        The score of the average row.
    score : float
        The score of this row.
    classes : tuple
        The negative label and the positive one, which is predicted above ``threshold``.
    threshold : float
    """

    names: tuple[str, ...]
    values: tuple[Any, ...]
    contributions: tuple[float, ...]
    base: float
    score: float
    classes: tuple[Any, Any]
    threshold: float

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
            f"{self.threshold:g})"
        )

    def _table(self) -> str:
        rows = [("feature", "value", "adds", "")]
        largest = max((abs(part) for part in self.contributions), default=0.0) or 1.0
        for name, value, part in self:
            bar = ("+" if part > 0 else "-") * round(_WIDEST_BAR * abs(part) / largest)
            rows.append((shorten(name), shorten(_word(value)), f"{part:+.3f}", bar))
        rows.append(("average row", "", f"{self.base:+.3f}", ""))
        rows.append(("score", "", f"{self.score:+.3f}", ""))
        return align(rows, "<>><")


@dataclass(frozen=True)
class ScoreRow:
    """The score AUC of one feature: that of F_k alone (Komori 2010, section 3.4).

    Attributes
    ----------
    name : str
    auc, low, high : float
        With the ends of its confidence interval.
    range : float
        How far apart the largest and the least F_k of these rows are.
    """

    name: str
    auc: float
    low: float
    high: float
    range: float


@dataclass(frozen=True, repr=False)
class ScoreTable:
    """Features in the order of their score AUCs, those that add nothing last; prints as a table.

    Attributes
    ----------
    rows : tuple of ScoreRow
        One for each feature, and for each pair of them where the model has surfaces.
    total : AucInterval
        The AUC of the whole score.
    """

    rows: tuple[ScoreRow, ...]
    total: AucInterval

    def __iter__(self) -> Iterator[ScoreRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, which: int | str) -> ScoreRow:
        """A row by its place or by the name of its feature."""
        if isinstance(which, str):
            found = [row for row in self.rows if row.name == which]
            if not found:
                raise KeyError(which)
            return found[0]
        return self.rows[which]

    def __repr__(self) -> str:
        level = f"{100 * self.total.level:g}% CI"
        rows: list[tuple[str, ...]] = [("feature", "score AUC", level, "range of F_k")]
        rows += [_printed(row.name, row, f"{row.range:.3g}") for row in self.rows]
        rows.append(_printed("all together", self.total, ""))
        total = self.total
        note = f"{total.method}, {count(total.n_pos, 'positive')}, {count(total.n_neg, 'negative')}"
        return f"{align(rows, '<>>>')}\n({note})"


def explain_row(model: AdditiveModel, table: Table, averages: Floats) -> Explanation:
    """The contributions of the one row of a table, each less its average."""
    if table.n_rows != 1:
        raise ValueError(f"explain takes one row, found {table.n_rows}; give X[i] or X.iloc[[i]]")
    adds = model.contributions(table)[0] - averages
    columns = select(table, model.feature_names, type(model).__name__)
    values = [
        _value(table, int(column), feature)
        for column, feature in zip(columns, model.features, strict=True)
    ]
    values += [tuple(values[j] for j in surface.features) for surface in model.surfaces]
    order = np.argsort(-np.abs(adds), kind="stable").tolist()
    score = float(model.decision_function(table)[0])
    return Explanation(
        tuple(model.term_names[j] for j in order),
        tuple(values[j] for j in order),
        tuple(float(adds[j]) for j in order),
        float(model.intercept + averages.sum()),
        score,
        model.classes,
        float(model.threshold),
    )


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
    if isinstance(row, (list, tuple)) and not (row and isinstance(row[0], (list, tuple))):
        return [[_plain(value) for value in row]]
    if isinstance(row, np.ndarray) and row.ndim == 1:
        return row.reshape(1, -1)
    return row


def score_features(
    model: AdditiveModel,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    level: float = 0.95,
    pos_label: Any = None,
) -> ScoreTable:
    """The score AUC of each feature on labelled rows; DeLong, or a bootstrap where rows weigh."""
    told: dict[str, Any] = {"level": level, "pos_label": pos_label}
    if sample_weight is not None:
        told |= {"sample_weight": sample_weight, "method": "bootstrap", "random_state": 0}
    table = read_table(X, accept_sparse=True)
    check_labels(table, y, pos_label)
    parts = model.contributions(table)
    rows = []
    for name, scores in zip(model.term_names, parts.T, strict=True):
        spread = float(np.ptp(scores))
        if spread == 0.0:
            rows.append(ScoreRow(name, 0.5, 0.5, 0.5, 0.0))
        else:
            found = auc_ci(y, scores, **told)
            rows.append(ScoreRow(name, found.value, found.low, found.high, spread))
    rows.sort(key=lambda row: (row.range == 0.0, -row.auc))
    return ScoreTable(tuple(rows), auc_ci(y, model.decision_function(table), **told))


def check_labels(table: Table, y: Any, pos_label: Any) -> npt.NDArray[np.bool_]:
    """Which rows of the table are positive; there must be a label for each."""
    positive = read_labels(y, pos_label=pos_label).positive
    if len(positive) != table.n_rows:
        raise ValueError(f"X has {table.n_rows} rows and y has {len(positive)}")
    return positive


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


def _printed(name: str, found: ScoreRow | AucInterval, spread: str) -> tuple[str, ...]:
    value = found.auc if isinstance(found, ScoreRow) else found.value
    return shorten(name), f"{value:.3f}", f"{found.low:.3f} to {found.high:.3f}", spread


def _value(table: Table, column: int, feature: Feature) -> Any:
    """The row's value of a feature, None where it is missing."""
    if feature.is_category:
        found = table.categories(column)
        return found.values[found.places[0]] if found.places[0] >= 0 else None
    number = float(table.numbers(column)[0])
    return None if np.isnan(number) else number


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
    return f"{value:.6g}" if isinstance(value, float) else str(value)
