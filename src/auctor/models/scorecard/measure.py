"""What a card loses: the largest change of points, and the AUC on labelled rows."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.data import Table
from auctor.metrics.area import auc
from auctor.models.scorecard.card import Scorecard
from auctor.models.scorecard.distribution import RowsDistribution
from auctor.models.scorecard.draft import Draft
from auctor.models.scorecard.line import Line
from auctor.models.scorecard.quality import CardQuality


@dataclass(frozen=True, eq=False)
class CardRows:
    """The rows that a card is made with, scored by the model."""

    table: Table
    columns: dict[str, int]  # name of a feature -> its column in the table
    weight: Floats
    scores: Floats
    positive: Bools | None  # None without labels

    @property
    def distribution(self) -> RowsDistribution:
        """How the rows are distributed over bins."""
        return RowsDistribution(self.table, self.columns, self.weight)


def largest_changes(
    merged: list[Draft],
    final: list[Draft],
    lines: list[Line],
    base_error: float,
    digits: int | None,
) -> CardQuality:
    """The largest changes that merging and rounding can cause.

    The sums over terms of the smallest and of the largest change bound that of a row, and some
    row reaches them: the features of a row can have any bins.
    """
    total, rounding = np.full(2, base_error), np.full(2, base_error)
    for before, after in zip(merged, final, strict=True):
        total += after.errors(after.on_model_bins)
        difference = after.points - before.points
        rounding += difference.min(), difference.max()
    for line in lines:
        total += line.errors(digits)
        rounding += line.errors(digits)
    if not np.isfinite(total).all():
        return CardQuality(None, None)
    return CardQuality(float(np.abs(total).max()), float(np.abs(rounding).max()))


def measure(
    card: Scorecard,
    changes: CardQuality,
    merged: list[Draft],
    lines: list[Line],
    rows: CardRows | None,
) -> CardQuality:
    """The changes, and with labelled rows the AUC of model and card."""
    if rows is None or rows.positive is None:
        return changes
    sign = card.scale.sign
    scores = {
        "auc_model": rows.scores,
        "auc_merged": sign * _merged_points(merged, lines, rows),
        "auc_card": sign * card.score(rows.table),
    }
    measured: dict[str, Any] = {
        name: auc(rows.positive, own, sample_weight=rows.weight) for name, own in scores.items()
    }
    counted = rows.positive[rows.weight > 0]
    n_pos = int(np.count_nonzero(counted))
    return replace(changes, **measured, n_pos=n_pos, n_neg=len(counted) - n_pos)


def _merged_points(merged: list[Draft], lines: list[Line], rows: CardRows) -> Floats:
    """The points of the rows after merging and before rounding, up to a constant."""
    out = np.zeros(rows.table.n_rows)
    for draft in merged:
        out += draft.points[bins_of_rows(draft, rows.distribution)]
    for line in lines:
        exact = replace(line.term, per_unit=line.exact.weight, missing=line.exact.missing)
        out += exact._of_rows(rows.table, np.array([rows.columns[line.feature]]), None)
    return out


def bins_of_rows(draft: Draft, distribution: RowsDistribution) -> tuple[Ints, ...]:
    """The bins of the card of each row, on each axis."""
    codes = distribution.codes(draft.axes)
    return tuple(own[code] for own, code in zip(draft.groups, codes, strict=True))
