"""KS plot: the cumulative distributions of the scores of both classes and their largest gap."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from auctor._typing import Floats
from auctor.display.look import BLUE, GREY, VERMILION, axes_for, finish, kept_points
from auctor.display.predictions import PredictionDisplay, Predictions
from auctor.metrics import RocCurve, ks_ci, roc_curve, score_histogram

_N_GRID = 400  # number of scores at which the mean of several curves is computed


@dataclass(frozen=True, eq=False)
class ClassDistributions:
    """Fraction of each class below each score: the cumulative distributions, from 0 to 1."""

    score: Floats
    below_pos: Floats
    below_neg: Floats


@dataclass(eq=False, repr=False)
class KSDisplay(PredictionDisplay):
    """KS plot: the cumulative distributions of the scores of both classes and their largest gap.

    Made by :meth:`from_predictions`, :meth:`from_estimator`, :meth:`from_cv_results` or
    :meth:`from_cross_validation`.

    Attributes
    ----------
    distributions : ClassDistributions
        The distributions; with folds, the mean of those of the folds at each score.
    ks : float
        The largest gap: fraction of negatives minus fraction of positives below a score. With
        folds, that within the folds, corrected for bias, as :func:`auctor.metrics.ks_ci` has it.
    threshold : float
        The score with the largest gap; rows with at least this score are flagged.
    gap : tuple of float
        Fractions of the positives and of the negatives below ``threshold``.
    folds : tuple of ClassDistributions
        The distributions of each fold.
    name : str or None
        The name of the score.
    pos_label : label
        The label of the positive class.
    limits : tuple of float
        Limits of the x axis, which leave out extreme scores.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from auctor.display import KSDisplay
    >>> display = KSDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.8])
    >>> display.ks, display.threshold
    (0.5, 0.8)
    """

    distributions: ClassDistributions
    ks: float
    threshold: float
    gap: tuple[float, float]
    folds: tuple[ClassDistributions, ...]
    name: str | None
    pos_label: Any
    limits: tuple[float, float]

    @classmethod
    def _from_rows(cls, rows: Predictions) -> Self:
        name, score = rows.only
        limits = _limits(rows, score)
        curves = [roc_curve(p.positive, p.only[1], **p.options) for p in rows.parts()]
        each = tuple(_distributions(curve, limits) for curve in curves)
        if rows.folds is None:
            point = curves[0].youden()
            drawn, threshold, gap = each[0], point.threshold, (1 - point.tpr, 1 - point.fpr)
        else:
            drawn, threshold, gap = _mean(each, limits)
        ks = curves[0].ks() if rows.folds is None else _within_folds(rows)
        by_fold = each if rows.folds is not None else ()
        return cls(drawn, ks, threshold, gap, by_fold, name, rows.pos_label, limits)

    def plot(self, ax: Any = None) -> Self:
        """Draw both distributions and the gap.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default a new figure.

        Returns
        -------
        KSDisplay
        """
        ax, is_own = axes_for(ax, (6.4, 4.8))
        for fold in self.folds:
            thin = {"linewidth": 0.8, "alpha": 0.35, "drawstyle": "steps-pre"}
            ax.plot(fold.score, fold.below_neg, color=BLUE, **thin)
            ax.plot(fold.score, fold.below_pos, color=VERMILION, **thin)
        style = {"drawstyle": "default" if self.folds else "steps-pre", "linewidth": 2.0}
        drawn = self.distributions
        ax.plot(drawn.score, drawn.below_neg, color=BLUE, label="negatives", **style)
        label = f"positives (label {self.pos_label!r})"
        ax.plot(drawn.score, drawn.below_pos, "--", color=VERMILION, label=label, **style)
        self._draw_gap(ax)
        ax.set(xlabel="score", ylabel="fraction of the class with a lower score")
        ax.set(xlim=self.limits, ylim=(-0.01, 1.015))
        if self.name:
            ax.set_title(self.name, fontsize=10 if is_own else 8)
        finish(ax, is_own, columns=3)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_gap(self, ax: Any) -> None:
        """Draw a vertical line across the gap if there is one; its size is in the legend."""
        text = f"KS {self.ks:.3f}" + (
            f" within {len(self.folds)} folds, corrected for bias" if self.folds else ""
        )
        if not self.folds and np.isfinite(self.threshold):
            text += f" at score {self.threshold:.4g}"
        x = float(np.clip(self.threshold, *self.limits))
        ends = self.gap if np.isfinite(self.threshold) else (np.nan, np.nan)
        ax.plot([x] * 2, ends, color="black", linewidth=1.4, marker="_", label=text)
        if np.isfinite(self.threshold):
            ax.axvline(x, color=GREY, linewidth=0.8, linestyle=":", zorder=1)


def _within_folds(rows: Predictions) -> float:
    """KS within the folds, corrected for bias, as ``ks_ci``, ``auctor fit`` and the page have it.

    A fold with a single row of a class has no correction: the mean over the folds is all there is.
    """
    parts = list(rows.parts())
    if min(min(part.positive.sum(), (~part.positive).sum()) for part in parts) < 2:
        curves = [roc_curve(part.positive, part.only[1], **part.options) for part in parts]
        return float(np.mean([curve.ks() for curve in curves]))
    return ks_ci(rows.positive, rows.only[1], folds=rows.folds, **rows.options).value


def _limits(rows: Predictions, score: Floats) -> tuple[float, float]:
    """From the smallest to the largest score, without extreme ones."""
    edges = score_histogram(rows.positive, score, **rows.options).edges
    beyond = 0.25 * float(edges[-1] - edges[0])
    finite = score[np.isfinite(score)]
    low, high = (finite.min(), finite.max()) if len(finite) else (edges[0], edges[-1])
    low, high = max(float(low), edges[0] - beyond), min(float(high), edges[-1] + beyond)
    margin = 0.03 * (high - low) or 0.5
    return float(low - margin), float(high + margin)


def _distributions(curve: RocCurve, limits: tuple[float, float]) -> ClassDistributions:
    """The distributions from a ROC curve: rows that are not flagged are below the threshold."""
    kept = kept_points(curve.tpr, curve.fpr)[::-1]
    score = np.clip(curve.thresholds[kept], *limits)  # infinite scores are drawn at the edge
    below_pos, below_neg = 1 - curve.tpr[kept], 1 - curve.fpr[kept]
    ends = (np.concatenate([[first], values, [last]]) for first, values, last in (
        (limits[0], score, limits[1]), (0.0, below_pos, 1.0), (0.0, below_neg, 1.0)
    ))  # fmt: skip
    return ClassDistributions(*ends)


def _mean(
    folds: tuple[ClassDistributions, ...], limits: tuple[float, float]
) -> tuple[ClassDistributions, float, tuple[float, float]]:
    """The mean of several distributions on a grid, and its largest gap."""
    grid = np.linspace(*limits, _N_GRID)
    pos, neg = (
        np.mean([_at(fold.score, getattr(fold, side), grid) for fold in folds], axis=0)
        for side in ("below_pos", "below_neg")
    )
    best = int(np.argmax(neg - pos))
    gap = float(pos[best]), float(neg[best])
    return ClassDistributions(grid, pos, neg), float(grid[best]), gap


def _at(score: Floats, below: Floats, grid: Floats) -> Floats:
    """The fraction below each value of the grid, which is that at the next score."""
    return below[np.searchsorted(score, grid).clip(0, len(score) - 1)]
