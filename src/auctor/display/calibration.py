"""Calibration: observed shares against predicted ones, with the counts below."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from auctor._typing import Floats
from auctor.display.look import BLUE, GREY, axes_for, finish, labelled, percent
from auctor.display.predictions import PredictionDisplay, read_predictions
from auctor.metrics import CalibrationTable, calibration_table

_N_STRIP = 40  # bars of the strip
_FLOOR, _HEIGHT = -0.24, 0.17  # where the strip stands below the diagram


@dataclass(eq=False)
class CalibrationDisplay(PredictionDisplay):
    """Share of positives observed against the probability predicted, in bins.

    Attributes
    ----------
    table : CalibrationTable
        The bins, with Wilson's intervals, and the Brier score.
    edges : ndarray of shape (41,)
        Of the strip: even, from 0 to 1, or to where a rare class needs no more.
    counts : ndarray of shape (40,)
        Rows (or their weight) by predicted probability; the last bar has those beyond as well.
    name : str or None
    pos_label : label
    figure_, ax_
        Set by :meth:`plot`.
    """

    table: CalibrationTable
    edges: Floats
    counts: Floats
    name: str | None
    pos_label: Any

    _response: ClassVar[Literal["score", "probability"]] = "probability"

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_prob: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        folds: Any = None,
        n_bins: int = 10,
        strategy: Literal["quantile", "uniform"] = "quantile",
        level: float = 0.95,
        ax: Any = None,
    ) -> Self:
        """The calibration of probabilities, drawn at once.

        Parameters
        ----------
        y_true, sample_weight, pos_label
            As in :func:`auctor.metrics.auc`.
        y_prob : array-like of shape (n_rows,)
            Predicted probability of the positive class.
        name : str, optional
            For the legend.
        folds : array-like of shape (n_rows,), optional
            Probabilities of all folds are put into the same bins.
        n_bins, strategy, level
            As in :func:`auctor.metrics.calibration_table`.
        ax : Axes, optional

        Examples
        --------
        >>> display = CalibrationDisplay.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.4, 0.9])
        >>> display.table.count.tolist()
        [1.0, 2.0, 1.0]
        """
        found = read_predictions(
            y_true, y_prob, sample_weight=sample_weight, pos_label=pos_label, name=name,
            folds=folds,
        )  # fmt: skip
        name, probability = found.one
        table = calibration_table(
            found.positive, probability, n_bins=n_bins, strategy=strategy, level=level, **found.told
        )
        edges = np.linspace(0.0, _end(table), _N_STRIP + 1)
        inside = np.minimum(probability, edges[-1])
        counts = np.histogram(inside, edges, weights=found.weight)[0].astype(np.float64)
        return cls(table, edges, counts, name, found.pos_label).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the points with their intervals, the diagonal, and the counts in a strip below."""
        ax, is_own = axes_for(ax, (5.6, 6.0))
        end = float(self.edges[-1])
        ax.plot([0, end], [0, end], color=GREY, linestyle=":", linewidth=1.2, label="perfect")
        table = self.table
        # Rounding can put an end on the wrong side of its point by a bit or two.
        reach = [table.observed - table.low, table.high - table.observed]
        label = f"observed, {percent(table.level)} interval; Brier score {table.brier:.3f}"
        label = labelled(self.name, label)
        ax.errorbar(
            table.mean_probability, table.observed, np.maximum(reach, 0.0), fmt="o-", color=BLUE,
            linewidth=1.3, markersize=5, capsize=3, elinewidth=1.1, label=label,
        )  # fmt: skip
        self._draw_strip(ax, end)
        ax.set(xlabel="predicted probability", xlim=(-0.02 * end, 1.02 * end))
        ax.set_ylabel("observed share of positives", y=(0.5 - _FLOOR) / (1 - _FLOOR))
        ax.set_ylim((_FLOOR - 0.02) * end, 1.03 * end)
        ticks = ax.get_yticks()
        ax.set_yticks(ticks[(ticks >= 0) & (ticks <= 1.03 * end)])  # none along the strip
        finish(ax, is_own)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_strip(self, ax: Any, end: float) -> None:
        """Bars under the diagram, in its own axes so that it can be drawn on any."""
        most, floor, height = float(self.counts.max()), _FLOOR * end, _HEIGHT * end
        heights = floor + height * self.counts / most
        ax.stairs(heights, self.edges, baseline=floor, fill=True, color=BLUE, alpha=0.45)
        ax.axhline(floor + height + 0.025 * end, color="black", linewidth=0.6)
        shown = f"{most:,.0f}" if most >= 100 else f"{most:.3g}"
        ax.text(
            0.98 * end, floor + height, f"rows by predicted probability, at most {shown} in a bar",
            ha="right", va="top", fontsize=8, color="0.25",
            bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.7},
        )  # fmt: skip


def _end(table: CalibrationTable) -> float:
    """Where the diagram ends: at 1, unless all that there is to see lies far below."""
    largest = float(max(table.high.max(), table.mean_probability.max()))
    return 1.0 if largest > 0.5 else 1.1 * largest
