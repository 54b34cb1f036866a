"""The KS plot: how the scores of both classes are spread, and where they are furthest apart."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from auctor._typing import Floats
from auctor.display.look import BLUE, GREY, VERMILION, axes_for, finish, kept_points
from auctor.display.predictions import PredictionDisplay, Predictions, read_predictions
from auctor.metrics import RocCurve, roc_curve, score_histogram

_N_GRID = 400  # of the score, for the mean of several curves


@dataclass(frozen=True, eq=False)
class Spread:
    """Share of each class with a score below each of some values; rises from 0 to 1."""

    score: Floats
    below_pos: Floats
    below_neg: Floats


@dataclass(eq=False)
class KSDisplay(PredictionDisplay):
    """The cumulative distributions of both classes against the score.

    Attributes
    ----------
    spread : Spread
        With folds, the mean of those of the folds at each score.
    ks : float
        The largest gap: share of negatives less share of positives below a score. With folds,
        the mean of those of the folds.
    threshold : float
        The score where it is largest; rows of at least this score are flagged.
    gap : tuple of float
        Shares of the positives and of the negatives below ``threshold``.
    folds : tuple of Spread
    name : str or None
    pos_label : label
    limits : tuple of float
        Ends of the drawing, which leave out scores far away.
    figure_, ax_
        Set by :meth:`plot`.
    """

    spread: Spread
    ks: float
    threshold: float
    gap: tuple[float, float]
    folds: tuple[Spread, ...]
    name: str | None
    pos_label: Any
    limits: tuple[float, float]

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        folds: Any = None,
        ax: Any = None,
    ) -> Self:
        """The KS plot of a score, drawn at once.

        Parameters
        ----------
        y_true, y_score, sample_weight, pos_label
            As in :func:`auctor.metrics.auc`.
        name : str, optional
            Of the score, for the title.
        folds : array-like of shape (n_rows,), optional
            The fold whose model scored each row: a thin line for each, and their mean.
        ax : Axes, optional

        Examples
        --------
        >>> display = KSDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
        >>> display.ks, display.threshold
        (0.5, 0.8)
        """
        found = read_predictions(
            y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, name=name,
            folds=folds,
        )  # fmt: skip
        name, score = found.one
        limits = _limits(found, score)
        parts = list(found.parts())
        curves = [roc_curve(part.positive, part.one[1], **part.told) for part in parts]
        spreads = tuple(_spread(curve, limits) for curve in curves)
        if found.folds is None:
            point = curves[0].youden()
            spread, place, gap = spreads[0], point.threshold, (1 - point.tpr, 1 - point.fpr)
        else:
            spread, place, gap = _mean(spreads, limits)
        ks = float(np.mean([curve.ks() for curve in curves]))
        folded = spreads if found.folds is not None else ()
        return cls(spread, ks, place, gap, folded, name, found.pos_label, limits).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw both distributions and the gap."""
        ax, is_own = axes_for(ax, (6.4, 4.8))
        for fold in self.folds:
            thin = {"linewidth": 0.8, "alpha": 0.35, "drawstyle": "steps-pre"}
            ax.plot(fold.score, fold.below_neg, color=BLUE, **thin)
            ax.plot(fold.score, fold.below_pos, color=VERMILION, **thin)
        style = {"drawstyle": "default" if self.folds else "steps-pre", "linewidth": 2.0}
        spread = self.spread
        ax.plot(spread.score, spread.below_neg, color=BLUE, label="negatives", **style)
        label = f"positives (label {self.pos_label!r})"
        ax.plot(spread.score, spread.below_pos, "--", color=VERMILION, label=label, **style)
        self._draw_gap(ax)
        ax.set(xlabel="score", ylabel="share of the class with a lower score")
        ax.set(xlim=self.limits, ylim=(-0.01, 1.015))
        if self.name:
            ax.set_title(self.name, fontsize=10 if is_own else 8)
        finish(ax, is_own, columns=3)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_gap(self, ax: Any) -> None:
        """A line across the gap, with its size in the legend; no line where there is no gap."""
        text = f"KS {self.ks:.3f}" + (
            f", mean of {len(self.folds)} folds (biased upward)" if self.folds else ""
        )
        if not self.folds and np.isfinite(self.threshold):
            text += f" at score {self.threshold:.4g}"
        place = float(np.clip(self.threshold, *self.limits))
        ends = self.gap if np.isfinite(self.threshold) else (np.nan, np.nan)
        ax.plot([place] * 2, ends, color="black", linewidth=1.4, marker="_", label=text)
        if np.isfinite(self.threshold):
            ax.axvline(place, color=GREY, linewidth=0.8, linestyle=":", zorder=1)


def _limits(found: Predictions, score: Floats) -> tuple[float, float]:
    """From the smallest to the largest score, but for those far from all others."""
    edges = score_histogram(found.positive, score, **found.told).edges
    room = 0.25 * float(edges[-1] - edges[0])
    finite = score[np.isfinite(score)]
    low, high = (finite.min(), finite.max()) if len(finite) else (edges[0], edges[-1])
    low, high = max(float(low), edges[0] - room), min(float(high), edges[-1] + room)
    margin = 0.03 * (high - low) or 0.5
    return float(low - margin), float(high + margin)


def _spread(curve: RocCurve, limits: tuple[float, float]) -> Spread:
    """The curve from its other end: what is not flagged is below the threshold."""
    kept = kept_points(curve.tpr, curve.fpr)[::-1]
    score = np.clip(curve.thresholds[kept], *limits)  # infinite scores stand at the edge
    below_pos, below_neg = 1 - curve.tpr[kept], 1 - curve.fpr[kept]
    ends = (np.concatenate([[first], values, [last]]) for first, values, last in (
        (limits[0], score, limits[1]), (0.0, below_pos, 1.0), (0.0, below_neg, 1.0)
    ))  # fmt: skip
    return Spread(*ends)


def _mean(
    spreads: tuple[Spread, ...], limits: tuple[float, float]
) -> tuple[Spread, float, tuple[float, float]]:
    """The mean of several distributions on a grid, and where its gap is largest."""
    grid = np.linspace(*limits, _N_GRID)
    pos, neg = (
        np.mean([_at(fold.score, getattr(fold, side), grid) for fold in spreads], axis=0)
        for side in ("below_pos", "below_neg")
    )
    best = int(np.argmax(neg - pos))
    return Spread(grid, pos, neg), float(grid[best]), (float(pos[best]), float(neg[best]))


def _at(score: Floats, below: Floats, grid: Floats) -> Floats:
    """The share below each value of the grid: that at the next score, where the step ends."""
    return below[np.searchsorted(score, grid).clip(0, len(score) - 1)]
