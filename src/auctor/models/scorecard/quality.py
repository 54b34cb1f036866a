"""CardQuality: what a scorecard loses against its model."""

from dataclasses import dataclass
from typing import Any

from auctor._text import signed
from auctor.models.fields import Fields


@dataclass(frozen=True)
class CardQuality:
    """What merging and rounding change.

    Attributes
    ----------
    largest_change : float or None
        The largest possible difference between the points of a row on the card and the exact
        points of the model, within the range of the rows that the card was made with. None if
        that is not known.
    largest_rounding : float or None
        The part of it that rounding can cause.
    auc_model, auc_merged, auc_card : float or None
        On the labelled rows that were given: the AUC of the model, of the points after bins were
        merged, and of the card, whose points are rounded. None without labelled rows.
    n_pos, n_neg : int
        The numbers of these rows.

    Examples
    --------
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> card = RankBoost(n_estimators=5).fit(X, y).model_.to_scorecard(max_bins=2, X=X, y=y)
    >>> quality = card.quality
    >>> round(quality.auc_model, 3), round(quality.auc_card, 3)
    (0.909, 0.887)
    """

    largest_change: float | None
    largest_rounding: float | None
    auc_model: float | None = None
    auc_merged: float | None = None
    auc_card: float | None = None
    n_pos: int = 0
    n_neg: int = 0

    def __str__(self) -> str:
        parts = [part for part in (self._auc(), self._changes()) if part]
        return ". ".join(parts)

    def _auc(self) -> str:
        if self.auc_model is None or self.auc_merged is None or self.auc_card is None:
            return ""
        return (
            f"AUC {self.auc_card:.4f} of the card, {self.auc_model:.4f} of the model, difference "
            f"{signed(self.auc_card - self.auc_model, 4)} (merging bins "
            f"{signed(self.auc_merged - self.auc_model, 4)}, rounding "
            f"{signed(self.auc_card - self.auc_merged, 4)}) on the rows that the card was "
            f"made with, {self.n_pos:,} positive and {self.n_neg:,} negative"
        )

    def _changes(self) -> str:
        if self.largest_change is None or self.largest_rounding is None:
            return ""
        if self.largest_change < 1e-6:
            return "The points of every row are those of the model"
        if abs(self.largest_change - self.largest_rounding) < 1e-6:
            return f"Rounding changes the points of a row by at most {self.largest_change:.3g}"
        return (
            f"Merging and rounding change the points of a row by at most {self.largest_change:.3g},"
            f" rounding alone by at most {self.largest_rounding:.3g}"
        )


_NUMBERS = ("largest_change", "largest_rounding", "auc_model", "auc_merged", "auc_card")


def read_quality(fields: Fields) -> CardQuality:
    """Read the figures from a scorecard file."""
    values: dict[str, Any] = {name: _optional(fields, name) for name in _NUMBERS}
    counts = {name: fields.integer(name) for name in ("n_pos", "n_neg")}
    for name, count in counts.items():
        if not 0 <= count <= 2**53:
            raise fields.fail(name, "a whole number of at least 0")
    fields.end()
    return CardQuality(**values, **counts)


def _optional(fields: Fields, name: str) -> float | None:
    value = fields.take(name)
    return None if value is None else fields.as_number(value, name)
