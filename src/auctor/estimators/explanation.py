"""How well each feature's part of an additive score ranks labelled rows on its own."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from auctor._text import count
from auctor._typing import Bools
from auctor.data import Table, read_labels
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
        Name of the feature, or of a pair of features.
    auc, low, high : float
        The AUC and the ends of its confidence interval.
    range : float
        Largest minus smallest F_k of the rows.
    """

    name: str
    auc: float
    low: float
    high: float
    range: float


@dataclass(frozen=True, repr=False)
class ScoreTable:
    """The score AUC of every feature, the largest first; prints as a table.

    Features that add nothing to the score come last. Iterate over it, or index it by position or
    name, to get the rows.

    Attributes
    ----------
    rows : tuple of ScoreRow
        One for each feature, and for each pair of features where the model has surfaces.
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
        """A row by its position or by the name of its feature."""
        if isinstance(which, str):
            rows = [row for row in self.rows if row.name == which]
            if not rows:
                raise KeyError(which)
            return rows[0]
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
    """The score AUC of each feature on labelled rows, with the interval of ``auc_ci``."""
    options: dict[str, Any] = {
        "level": level,
        "pos_label": pos_label,
        "sample_weight": sample_weight,
    }
    table = model._read(X)
    check_labels(table, y, pos_label)
    parts = model.contributions(table)
    rows = []
    for name, scores in zip(model.term_names, parts.T, strict=True):
        spread = float(np.ptp(scores))
        if spread == 0.0:
            rows.append(ScoreRow(name, 0.5, 0.5, 0.5, 0.0))
        else:
            area = auc_ci(y, scores, **options)
            rows.append(ScoreRow(name, area.value, area.low, area.high, spread))
    rows.sort(key=lambda row: (row.range == 0.0, -row.auc))
    return ScoreTable(tuple(rows), auc_ci(y, model.decision_function(table), **options))


def check_labels(table: Table, y: Any, pos_label: Any) -> Bools:
    """Which rows of the table are positive; there must be a label for each."""
    positive = read_labels(y, pos_label=pos_label).positive
    if len(positive) != table.n_rows:
        raise ValueError(
            f"X has {table.n_rows} rows and y has {len(positive)}; give a label for each row"
        )
    return positive


def _printed(name: str, area: ScoreRow | AucInterval, spread: str) -> tuple[str, ...]:
    value = area.auc if isinstance(area, ScoreRow) else area.value
    return shorten(name), f"{value:.3f}", f"{area.low:.3f} to {area.high:.3f}", spread
