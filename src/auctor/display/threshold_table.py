"""A table of thresholds as a drawing."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Self

from auctor.display.look import axes_for, percent
from auctor.display.predictions import PredictionDisplay, read_predictions
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
_WIDE = 7.0  # inches from which on an interval stands beside its rate


@dataclass(eq=False)
class ThresholdTableDisplay(PredictionDisplay):
    """Thresholds that flag given shares of the rows, with rates and intervals, as a table.

    Attributes
    ----------
    table : ThresholdTable
    cells : list of list of str
        What is written, row by row.
    name : str or None
    pos_label : label
    figure_, ax_
        Set by :meth:`plot`.
    """

    table: ThresholdTable
    cells: list[list[str]]
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
        groups: Any = None,
        fractions: Iterable[float] = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5),
        level: float = 0.95,
        ax: Any = None,
    ) -> Self:
        """The table of a score, drawn at once.

        Parameters
        ----------
        y_true, y_score, sample_weight, pos_label
            As in :func:`auctor.metrics.auc`.
        name : str, optional
            Of the score, for the title.
        folds : array-like of shape (n_rows,), optional
            The scores of all folds are put into one list.
        groups, fractions, level
            As in :func:`auctor.metrics.threshold_table`.
        ax : Axes, optional

        Examples
        --------
        >>> y, s = [0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8]
        >>> display = ThresholdTableDisplay.from_predictions(y, s, fractions=[0.5])
        >>> display.cells[0][:3]
        ['50.0%', '5', '4']
        """
        found = read_predictions(
            y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, name=name,
            folds=folds,
        )  # fmt: skip
        name, score = found.one
        table = threshold_table(
            found.positive, score, fractions=fractions, level=level, groups=groups,
            **found.told,
        )  # fmt: skip
        return cls(table, table.cells()[1], name, found.pos_label).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the table, with the level and the method of its intervals above."""
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
    """Intervals below their rates, where the table has to be narrow."""
    return [cell.replace(" (", "\n(") for cell in row]
