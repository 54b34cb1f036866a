"""A table of thresholds, drawn with matplotlib."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from auctor.display.look import axes_for, percent
from auctor.display.predictions import PredictionDisplay, Predictions
from auctor.metrics import ThresholdTable, threshold_table

_HEAD = (
    "flagged\nat most",
    "threshold",
    "rows\nflagged",
    "positives\nfound (tpr)",
    "negatives\nflagged (fpr)",
    "precision",
    "lift",
)
_WIDTHS = (0.10, 0.12, 0.11, 0.20, 0.20, 0.20, 0.07)
_NARROW_WIDTHS = (0.12, 0.14, 0.11, 0.19, 0.19, 0.19, 0.08)
_WIDE = 7.0  # minimum width in inches for intervals beside their rates instead of below


@dataclass(eq=False, repr=False)
class ThresholdTableDisplay(PredictionDisplay):
    """Table of thresholds that flag given fractions of the rows, with rates and intervals.

    Made by :meth:`from_predictions`, :meth:`from_estimator`, :meth:`from_cv_results` or
    :meth:`from_cross_validation`.

    Parameters
    ----------
    groups, fractions, level
        Options of the ``from_...`` methods, as in :func:`auctor.metrics.threshold_table`.

    Attributes
    ----------
    table : ThresholdTable
        The thresholds with their rates and intervals.
    cells : list of list of str
        The formatted cells of each row.
    name : str or None
        The name of the score.
    pos_label : label
        The label of the positive class.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from auctor.display import ThresholdTableDisplay
    >>> y, s = [0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8]
    >>> display = ThresholdTableDisplay.from_predictions(y, s, fractions=[0.5])
    >>> display.cells[0][:3]
    ['50.0%', '5', '4']
    """

    table: ThresholdTable
    cells: list[list[str]]
    name: str | None
    pos_label: Any

    @classmethod
    def _from_rows(
        cls,
        rows: Predictions,
        *,
        groups: Any = None,
        fractions: Iterable[float] = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5),
        level: float = 0.95,
    ) -> Self:
        name, score = rows.only
        table = threshold_table(
            rows.positive, score, fractions=fractions, level=level, groups=groups, **rows.options
        )
        return cls(table, table.cells()[1], name, rows.pos_label)

    def plot(self, ax: Any = None) -> Self:
        """Draw the table, with the level and the method of its intervals as the title.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default a new figure.

        Returns
        -------
        ThresholdTableDisplay
        """
        ax, is_own = axes_for(ax, (9.6, 1.3 + 0.36 * len(self.cells)))
        ax.set_axis_off()
        width = ax.get_window_extent().width / ax.figure.dpi  # in inches
        is_narrow = width < _WIDE
        drawn = ax.table(
            cellText=[_folded(row) for row in self.cells] if is_narrow else self.cells,
            colLabels=_HEAD, colWidths=_NARROW_WIDTHS if is_narrow else _WIDTHS,
            cellLoc="right", colLoc="right", bbox=(0, 0, 1, 1), edges="horizontal",
        )  # fmt: skip
        drawn.auto_set_font_size(False)
        drawn.set_fontsize(min(9.5, (1.6 if is_narrow else 1.1) * width))
        for (row, _), cell in drawn.get_celld().items():
            cell.set_edgecolor("0.75")
            if row == 0:
                cell.set_text_props(weight="bold")
        title = f"{percent(self.table.level)} intervals ({self.table.method})"
        ax.set_title(f"{self.name}: {title}" if self.name else title, fontsize=10 if is_own else 7)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _folded(row: list[str]) -> list[str]:
    """Put intervals below their rates, for a narrow table."""
    return [cell.replace(" (", "\n(") for cell in row]
