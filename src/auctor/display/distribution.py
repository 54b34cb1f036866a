"""Histograms of the scores of the two classes, with an optional threshold."""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np

from auctor._checks import check_choice
from auctor._typing import Floats
from auctor.display.look import BLUE, VERMILION, axes_for, finish
from auctor.display.operating import choose_point
from auctor.display.predictions import PredictionDisplay, Predictions
from auctor.metrics import OperatingPoint, score_histogram

STYLES = ("mirrored", "overlaid")


@dataclass(eq=False, repr=False)
class ScoreDistributionDisplay(PredictionDisplay):
    """Histograms of the scores of both classes, with common bins.

    Made by :meth:`from_predictions`, :meth:`from_estimator`, :meth:`from_cv_results` or
    :meth:`from_cross_validation`.

    Parameters
    ----------
    n_bins : int, default=40
        Option of the ``from_...`` methods, as in :func:`auctor.metrics.score_histogram`.
    threshold, fpr, tpr, budget, cost : float, optional
        Options of the ``from_...`` methods. Give one of them to draw a threshold: its value, or
        a criterion of :func:`auctor.metrics.threshold_at`.
    style : {"mirrored", "overlaid"}, default="mirrored"
        Option of the ``from_...`` methods, as in :meth:`plot`.

    Attributes
    ----------
    edges : ndarray of shape (n_bins + 1,)
        Edges of the bins. The first and the last bin also include all scores beyond them.
    fraction_pos, fraction_neg : ndarray of shape (n_bins,)
        Fraction of the rows of each class in each bin.
    has_more : bool
        Whether there are scores beyond the outer edges.
    point : OperatingPoint or None
        The threshold that is drawn, with its rates on these rows.
    criterion : str
        The criterion of the threshold in words; empty if the threshold itself was given.
    style : str
        "mirrored" or "overlaid".
    name : str or None
        The name of the score.
    pos_label : label
        The label of the positive class.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from auctor.display import ScoreDistributionDisplay
    >>> y, s = [0, 0, 1, 1], [0, 1, 1, 2]
    >>> display = ScoreDistributionDisplay.from_predictions(y, s, n_bins=2)
    >>> display.fraction_pos.tolist(), display.fraction_neg.tolist()
    ([0.0, 1.0], [0.5, 0.5])
    """

    edges: Floats
    fraction_pos: Floats
    fraction_neg: Floats
    has_more: bool
    point: OperatingPoint | None
    criterion: str
    style: str
    name: str | None
    pos_label: Any

    @classmethod
    def _from_rows(
        cls,
        rows: Predictions,
        *,
        n_bins: int = 40,
        threshold: float | None = None,
        fpr: float | None = None,
        tpr: float | None = None,
        budget: float | None = None,
        cost: float | None = None,
        style: Literal["mirrored", "overlaid"] = "mirrored",
    ) -> Self:
        check_choice(style, STYLES, "style")
        name, score = rows.only
        point, criterion = choose_point(
            rows, threshold=threshold, fpr=fpr, tpr=tpr, budget=budget, cost=cost
        )
        counts = score_histogram(rows.positive, score, n_bins=n_bins, **rows.options)
        pos, neg = (side / side.sum() for side in (counts.pos, counts.neg))
        low, high = counts.edges[0], counts.edges[-1]
        more = bool(((score < low) | (score > high)).any())
        return cls(counts.edges, pos, neg, more, point, criterion, style, name, rows.pos_label)

    def plot(self, ax: Any = None, *, style: Literal["mirrored", "overlaid"] | None = None) -> Self:
        """Draw the histograms.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default a new figure.
        style : {"mirrored", "overlaid"}, optional
            "mirrored" draws the positives upwards and the negatives downwards, "overlaid" draws
            both upwards. By default ``self.style``.

        Returns
        -------
        ScoreDistributionDisplay
        """
        drawn = check_choice(self.style if style is None else style, STYLES, "style")
        ax, is_own = axes_for(ax, (6.4, 4.8))
        down = -1.0 if drawn == "mirrored" else 1.0
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
        self._frame(ax, drawn == "mirrored")
        if self.name:
            ax.set_title(self.name, fontsize=10 if is_own else 8)
        if self.point is not None:
            self._draw_threshold(ax, self.point)
        finish(ax, is_own, columns=1 if self.point else 2)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _frame(self, ax: Any, is_mirrored: bool) -> None:
        """Labels and limits of the axes."""
        more = " (first and last bars include all scores beyond)" if self.has_more else ""
        ax.set(xlabel=f"score{more}", ylabel="fraction of the class")
        up, down = float(self.fraction_pos.max()), float(self.fraction_neg.max())
        low, high = (-down, up) if is_mirrored else (0.0, max(up, down))
        ax.set_ylim(1.06 * low, 1.06 * high)
        ax.yaxis.set_major_formatter(lambda value, _: f"{100 * abs(value):g}%")
        if is_mirrored:
            ax.axhline(0, color="black", linewidth=0.8)

    def _draw_threshold(self, ax: Any, point: OperatingPoint) -> None:
        """Draw a vertical line at the threshold; its rates are in the legend."""
        x = float(np.clip(point.threshold, self.edges[0], self.edges[-1]))
        text = f"threshold {point.threshold:.4g}: flags {point.tpr:.1%} of the positives, "
        text += f"{point.fpr:.1%} of the negatives"
        text += f"\n({self.criterion})" if self.criterion else ""
        ax.axvline(x, color="black", linewidth=1.3, linestyle="--", label=text)
