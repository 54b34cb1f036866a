"""How the scores of the two classes are distributed, and the threshold between them."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from auctor._typing import Floats
from auctor.display.look import BLUE, VERMILION, axes_for, finish
from auctor.display.operating import choose_point
from auctor.display.predictions import PredictionDisplay, read_predictions
from auctor.metrics import OperatingPoint, score_histogram

STYLES = ("mirrored", "overlaid")


@dataclass(eq=False)
class ScoreDistributionDisplay(PredictionDisplay):
    """Histograms of the scores of both classes on common edges.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        The end bins also hold the scores beyond.
    fraction_pos, fraction_neg : ndarray of shape (n_bins,)
        Share of the class in each bin.
    has_more : bool
        Whether there are scores beyond the end bins.
    point : OperatingPoint or None
        What the threshold does to these rows, where one was given.
    criterion : str
        What was asked of the threshold, in words; empty where it was given.
    name : str or None
    pos_label : label
    figure_, ax_
        Set by :meth:`plot`.
    """

    edges: Floats
    fraction_pos: Floats
    fraction_neg: Floats
    has_more: bool
    point: OperatingPoint | None
    criterion: str
    name: str | None
    pos_label: Any

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
        n_bins: int = 40,
        threshold: float | None = None,
        fpr: float | None = None,
        tpr: float | None = None,
        budget: float | None = None,
        cost: float | None = None,
        style: Literal["mirrored", "overlaid"] = "mirrored",
        ax: Any = None,
    ) -> Self:
        """Histograms of a score, drawn at once.

        Parameters
        ----------
        y_true, y_score, sample_weight, pos_label
            As in :func:`auctor.metrics.auc`.
        name : str, optional
            Of the score, for the title.
        folds : array-like of shape (n_rows,), optional
            The scores of all folds are counted together.
        n_bins : int, default=40
            As in :func:`auctor.metrics.score_histogram`.
        threshold, fpr, tpr, budget, cost : float, optional
            One of them draws a threshold: itself, or the criterion of
            :func:`auctor.metrics.threshold_at`.
        style : {"mirrored", "overlaid"}, default="mirrored"
            As in :meth:`plot`.
        ax : Axes, optional

        Examples
        --------
        >>> y, s = [0, 0, 1, 1], [0, 1, 1, 2]
        >>> display = ScoreDistributionDisplay.from_predictions(y, s, n_bins=2)
        >>> display.fraction_pos.tolist(), display.fraction_neg.tolist()
        ([0.0, 1.0], [0.5, 0.5])
        """
        found = read_predictions(
            y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, name=name,
            folds=folds,
        )  # fmt: skip
        name, score = found.one
        point, criterion = choose_point(
            found, threshold=threshold, fpr=fpr, tpr=tpr, budget=budget, cost=cost
        )
        counts = score_histogram(found.positive, score, n_bins=n_bins, **found.told)
        pos, neg = (side / side.sum() for side in (counts.pos, counts.neg))
        low, high = counts.edges[0], counts.edges[-1]
        more = bool(((score < low) | (score > high)).any())
        made = cls(counts.edges, pos, neg, more, point, criterion, name, found.pos_label)
        return made.plot(ax=ax, style=style)

    def plot(self, ax: Any = None, *, style: Literal["mirrored", "overlaid"] = "mirrored") -> Self:
        """Draw the histograms: positives up and negatives down, or one over the other."""
        if style not in STYLES:
            raise ValueError(f"style must be one of {', '.join(STYLES)}; got {style!r}")
        ax, is_own = axes_for(ax, (6.4, 4.8))
        down = -1.0 if style == "mirrored" else 1.0
        shapes = (
            (self.fraction_neg * down, BLUE, "negatives", "//"),
            (self.fraction_pos, VERMILION, f"positives (label {self.pos_label!r})", ""),
        )
        for heights, colour, label, hatch in shapes:
            ax.stairs(
                heights, self.edges, fill=True, facecolor=colour, alpha=0.45, hatch=hatch,
                edgecolor=colour, label=label,
            )  # fmt: skip
            ax.stairs(heights, self.edges, color=colour, linewidth=1.2)
        self._frame(ax, style == "mirrored")
        if self.name:
            ax.set_title(self.name, fontsize=10 if is_own else 8)
        if self.point is not None:
            self._draw_threshold(ax, self.point)
        finish(ax, is_own, columns=1 if self.point else 2)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _frame(self, ax: Any, is_mirrored: bool) -> None:
        """Axes with the shares of both classes above zero."""
        more = " (the end bars also hold what lies beyond)" if self.has_more else ""
        ax.set(xlabel=f"score{more}", ylabel="share of the class")
        up, down = float(self.fraction_pos.max()), float(self.fraction_neg.max())
        low, high = (-down, up) if is_mirrored else (0.0, max(up, down))
        ax.set_ylim(1.06 * low, 1.06 * high)
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * abs(value):g}%")
        if is_mirrored:
            ax.axhline(0, color="black", linewidth=0.8)

    def _draw_threshold(self, ax: Any, point: OperatingPoint) -> None:
        """A line at the threshold; what it flags goes to the legend."""
        place = float(np.clip(point.threshold, self.edges[0], self.edges[-1]))
        text = f"threshold {point.threshold:.4g}: flags {point.tpr:.1%} of the positives, "
        text += f"{point.fpr:.1%} of the negatives"
        text += f"\n({self.criterion})" if self.criterion else ""
        ax.axvline(place, color="black", linewidth=1.3, linestyle="--", label=text)
