"""What the features of an additive score are worth over many rows: their score AUCs."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from auctor._text import count
from auctor._typing import Bools
from auctor.data import Table, read_labels, read_table
from auctor.metrics import AucInterval, auc_ci
from auctor.models import AdditiveModel
from auctor.models.explanation import align
from auctor.models.explanation import shorten as shorten


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


def score_features(
    model: AdditiveModel,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    level: float = 0.95,
    pos_label: Any = None,
) -> ScoreTable:
    """The score AUC of each feature on labelled rows, with the usual interval of ``auc_ci``."""
    told: dict[str, Any] = {"level": level, "pos_label": pos_label, "sample_weight": sample_weight}
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


def check_labels(table: Table, y: Any, pos_label: Any) -> Bools:
    """Which rows of the table are positive; there must be a label for each."""
    positive = read_labels(y, pos_label=pos_label).positive
    if len(positive) != table.n_rows:
        raise ValueError(f"X has {table.n_rows} rows and y has {len(positive)}")
    return positive


def _printed(name: str, found: ScoreRow | AucInterval, spread: str) -> tuple[str, ...]:
    value = found.auc if isinstance(found, ScoreRow) else found.value
    return shorten(name), f"{value:.3f}", f"{found.low:.3f} to {found.high:.3f}", spread
