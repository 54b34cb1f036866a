"""Calibration diagram: observed fraction of positives against the predicted probability."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from auctor._typing import Floats
from auctor.display.look import BLUE, GREY, axes_for, finish, labelled, percent
from auctor.display.predictions import PredictionDisplay, Predictions
from auctor.metrics import CalibrationTable, calibration_table

_N_STRIP = 40  # bars of the histogram
_FLOOR, _HEIGHT = -0.24, 0.17  # position of the histogram below the diagram


@dataclass(eq=False, repr=False)
class CalibrationDisplay(PredictionDisplay):
    """Calibration diagram: observed fraction of positives against predicted probability, in bins.

    Made by :meth:`from_predictions`, :meth:`from_estimator` or :meth:`from_cv_results`.

    Parameters
    ----------
    n_bins, strategy, level
        Options of the ``from_...`` methods, as in :func:`auctor.metrics.calibration_table`.

    Attributes
    ----------
    table : CalibrationTable
        The bins with Wilson's intervals, and the Brier score.
    edges : ndarray of shape (41,)
        Edges of the histogram below the diagram, equally spaced from 0 to 1, or to a lower value
        if all probabilities are small.
    counts : ndarray of shape (40,)
        Number of rows (or their weight) by predicted probability. The last bar includes larger
        probabilities.
    name : str or None
        The name of the score.
    pos_label : label
        The label of the positive class.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from auctor.display import CalibrationDisplay
    >>> display = CalibrationDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9])
    >>> display.table.count.tolist()
    [1.0, 2.0, 1.0]
    """

    table: CalibrationTable
    edges: Floats
    counts: Floats
    name: str | None
    pos_label: Any

    _response: ClassVar[Literal["score", "probability"]] = "probability"

    @classmethod
    def _from_rows(
        cls,
        rows: Predictions,
        *,
        n_bins: int = 10,
        strategy: Literal["quantile", "uniform"] = "quantile",
        level: float = 0.95,
    ) -> Self:
        name, probability = rows.only
        table = calibration_table(
            rows.positive, probability, n_bins=n_bins, strategy=strategy, level=level,
            **rows.options,
        )  # fmt: skip
        edges = np.linspace(0.0, _end(table), _N_STRIP + 1)
        inside = np.minimum(probability, edges[-1])
        counts = np.histogram(inside, edges, weights=rows.weight)[0].astype(np.float64)
        return cls(table, edges, counts, name, rows.pos_label)

    def plot(self, ax: Any = None) -> Self:
        """Draw the points with their intervals, the diagonal, and a histogram below.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default a new figure.

        Returns
        -------
        CalibrationDisplay
        """
        ax, is_own = axes_for(ax, (5.6, 6.0))
        end = float(self.edges[-1])
        ax.plot([0, end], [0, end], color=GREY, linestyle=":", linewidth=1.2, label="perfect")
        table = self.table
        # Rounding can put an end of an interval on the wrong side of its point.
        reach = [table.observed - table.low, table.high - table.observed]
        label = f"observed, {percent(table.level)} interval; Brier score {table.brier:.3f}"
        label = labelled(self.name, label)
        ax.errorbar(
            table.mean_probability, table.observed, np.maximum(reach, 0.0), fmt="o-", color=BLUE,
            linewidth=1.3, markersize=5, capsize=3, elinewidth=1.1, label=label,
        )  # fmt: skip
        self._draw_strip(ax, end)
        ax.set(xlabel="predicted probability", xlim=(-0.02 * end, 1.02 * end))
        ax.set_ylabel("observed fraction of positives", y=(0.5 - _FLOOR) / (1 - _FLOOR))
        ax.set_ylim((_FLOOR - 0.02) * end, 1.03 * end)
        ticks = ax.get_yticks()
        ax.set_yticks(ticks[(ticks >= 0) & (ticks <= 1.03 * end)])  # none beside the histogram
        finish(ax, is_own)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_strip(self, ax: Any, end: float) -> None:
        """Draw the histogram below the diagram, in the same axes so that any axes can be given."""
        most, floor, height = float(self.counts.max()), _FLOOR * end, _HEIGHT * end
        heights = floor + height * self.counts / most
        ax.stairs(heights, self.edges, baseline=floor, fill=True, color=BLUE, alpha=0.45)
        ax.axhline(floor + height + 0.025 * end, color="black", linewidth=0.6)
        shown = f"{most:,.0f}" if most >= 100 else f"{most:.3g}"
        ax.text(
            0.98 * end, floor + height, f"rows by predicted probability (highest bar: {shown})",
            ha="right", va="top", fontsize=8, color="0.25",
            bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.7},
        )  # fmt: skip


def _end(table: CalibrationTable) -> float:
    """The end of the axes: 1, or a lower value if all probabilities are small."""
    largest = float(max(table.high.max(), table.mean_probability.max()))
    return 1.0 if largest > 0.5 else 1.1 * largest
