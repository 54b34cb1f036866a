"""ROC curves with their AUC, a band, a test of two of them, and the chosen operating point."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from auctor._typing import Floats
from auctor.display.look import (
    GREY,
    axes_for,
    finish,
    kept_points,
    labelled,
    line_look,
    mark,
    percent,
    unit_square,
)
from auctor.display.operating import choose_point
from auctor.display.predictions import PredictionDisplay, Predictions, read_predictions
from auctor.metrics import (
    AucComparison,
    OperatingPoint,
    RocBand,
    RocCurve,
    auc_ci,
    compare_auc,
    roc_band,
    roc_curve,
)
from auctor.metrics.band import height

_GRID = np.linspace(0.0, 1.0, 201)  # of fpr, for the mean of several curves


@dataclass(frozen=True, eq=False)
class ROCLine:
    """One curve: its points, its AUC with interval, and its band or the curves of its folds.

    ``low`` and ``high`` are NaN where a class has one row only.
    """

    name: str | None
    fpr: Floats
    tpr: Floats
    auc: float
    low: float
    high: float
    band: RocBand | None
    folds: tuple[tuple[Floats, Floats], ...]


@dataclass(eq=False)
class ROCDisplay(PredictionDisplay):
    """ROC curves of one or several scores of the same rows.

    Attributes
    ----------
    lines : tuple of ROCLine
        With folds, the vertical mean of their curves.
    point : OperatingPoint or None
        The chosen operating point, on the first curve.
    criterion : str
        What was asked of it, in words; empty where the threshold was given.
    comparison : AucComparison or None
        The test of two curves, where there are two.
    level : float
        Of all intervals.
    method : str
        How the intervals of the AUCs were found.
    pos_label : label
    figure_, ax_
        Set by :meth:`plot`.
    """

    lines: tuple[ROCLine, ...]
    point: OperatingPoint | None
    criterion: str
    comparison: AucComparison | None
    level: float
    method: str
    pos_label: Any

    _counts_training: ClassVar[bool] = True

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
        instability: float | None = None,
        groups: Any = None,
        band: Literal["combined", "bootstrap", "asymptotic"] | None = "combined",
        level: float = 0.95,
        n_resamples: int = 500,
        threshold: float | None = None,
        fpr: float | None = None,
        tpr: float | None = None,
        budget: float | None = None,
        cost: float | None = None,
        random_state: Any = 0,
        ax: Any = None,
    ) -> Self:
        """ROC curves of scores, drawn at once.

        Parameters
        ----------
        y_true, sample_weight, pos_label
            As in :func:`auctor.metrics.auc`.
        y_score : array-like, or dict of them by name
            Two scores are compared, by the paired test of :func:`auctor.metrics.compare_auc`.
        name : str, optional
            Of the one score, for the legend.
        folds : array-like of shape (n_rows,), optional
            The fold whose model scored each row: a thin curve for each fold, and their vertical
            mean; no band.
        instability : float in [0, 1], optional
            With ``folds``, the share of the variance of an AUC that comes from the training sets,
            as in :func:`auctor.metrics.auc_ci`. A comparison of two scores takes the worst case.
        groups : array-like of shape (n_rows,), optional
            Rows that vary together, as in :func:`auctor.metrics.auc_ci`.
        band : {"combined", "bootstrap", "asymptotic"} or None, default="combined"
            As in :func:`auctor.metrics.roc_band`.
        level : float, default=0.95
        n_resamples : int, default=500
        threshold, fpr, tpr, budget, cost : float, optional
            One of them marks an operating point of the first curve: a threshold, or a criterion of
            :func:`auctor.metrics.threshold_at`.
        random_state : int, Generator, RandomState or None, default=0
        ax : Axes, optional

        Examples
        --------
        >>> y, s = [0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8]
        >>> display = ROCDisplay.from_predictions(y, s, tpr=1.0)
        >>> display.lines[0].auc, display.point.threshold
        (0.9375, 4.0)
        """
        found = read_predictions(
            y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, name=name,
            folds=folds,
        )  # fmt: skip
        resampling = {"groups": groups, "level": level, "n_resamples": n_resamples}
        resampling["random_state"] = random_state
        lines, method = _lines(found, band, resampling, instability)
        point, criterion = choose_point(
            found, threshold=threshold, fpr=fpr, tpr=tpr, budget=budget, cost=cost
        )
        comparison = _comparison(found, resampling)
        return cls(lines, point, criterion, comparison, level, method, found.pos_label).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves; the legend has the AUCs with their intervals."""
        ax, is_own = axes_for(ax, (5.4, 5.6))
        for k, line in enumerate(self.lines):
            self._draw_line(ax, line, line_look(k))
        if self.point is not None:
            mark(ax, self.point.fpr, self.point.tpr, self._words(self.point))
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.9, linestyle=":", zorder=1, label="chance")
        ax.set(xlabel="negatives flagged (false positive rate)", aspect="equal")
        ax.set_ylabel("positives flagged (true positive rate)")
        unit_square(ax)
        if self.comparison is not None:
            ax.set_title(_test(self.comparison), fontsize=9 if is_own else 7)
        finish(ax, is_own, legend_title=f"AUC ({percent(self.level)} interval: {self.method})")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_line(self, ax: Any, line: ROCLine, look: dict[str, Any]) -> None:
        """The folds or the band behind, the curve in front."""
        for fpr, tpr in line.folds:
            ax.plot(fpr, tpr, color=look["color"], alpha=0.35, linewidth=0.8, zorder=2)
        if line.band is not None:
            band = line.band
            ax.fill_between(
                band.fpr, band.low, band.high, color=look["color"], alpha=0.15, linewidth=0
            )
        text = f"{line.auc:.3f}"
        if np.isfinite(line.low):
            text += f" ({line.low:.3f} to {line.high:.3f})"
        if line.folds:
            text += f", mean of {len(line.folds)} folds"
        ax.plot(
            line.fpr, line.tpr, linewidth=2.0, zorder=3, label=labelled(line.name, text), **look
        )

    def _words(self, point: OperatingPoint) -> str:
        """What the operating point does, for the legend."""
        text = f"threshold {point.threshold:.4g}: fpr {point.fpr:.3f}, tpr {point.tpr:.3f}, "
        text += f"precision {point.precision:.3f}"
        return text + (f"\n({self.criterion})" if self.criterion else "")


def _lines(
    found: Predictions, band: Any, resampling: dict[str, Any], instability: float | None
) -> tuple[tuple[ROCLine, ...], str]:
    """A line for each score, and how the intervals of the AUCs were found."""
    lines, method = [], "none, for a class has one row"
    for name, score in found.scores.items():
        fpr, tpr, auc, folds = _curve(found, name)
        low = high = np.nan
        if _least_rows(found) > 1:
            interval = auc_ci(
                found.positive, score, folds=found.folds, instability=instability,
                **found.told, **resampling,
            )  # fmt: skip
            auc, low, high, method = interval.value, interval.low, interval.high, interval.method
        drawn = None
        if band is not None and found.folds is None:
            drawn = roc_band(found.positive, score, method=band, **found.told, **resampling)
        lines.append(ROCLine(name, fpr, tpr, auc, low, high, drawn, folds))
    return tuple(lines), method


def _curve(found: Predictions, name: str | None) -> tuple[Floats, Floats, float, Any]:
    """The points of a score's curve and its AUC; with folds, of their mean, and those of each."""
    curves = [roc_curve(part.positive, part.scores[name], **part.told) for part in found.parts()]
    points = [_points(curve) for curve in curves]
    auc = float(np.mean([curve.auc() for curve in curves]))
    if found.folds is None:
        return *points[0], auc, ()
    mean = np.mean([height(curve, _GRID) for curve in curves], axis=0)
    return np.append(0.0, _GRID), np.append(0.0, mean), auc, tuple(points)


def _points(curve: RocCurve) -> tuple[Floats, Floats]:
    """The points of a curve, no more than can be seen."""
    kept = kept_points(curve.fpr, curve.tpr)
    return curve.fpr[kept], curve.tpr[kept]


def _least_rows(found: Predictions) -> int:
    """The fewest rows of a class in any fold."""
    rows = [
        part.positive if part.weight is None else part.positive[part.weight > 0]
        for part in found.parts()
    ]
    return min(int(count) for r in rows for count in (r.sum(), (~r).sum()))


def _comparison(found: Predictions, resampling: dict[str, Any]) -> AucComparison | None:
    if len(found.scores) != 2 or _least_rows(found) < 2:
        return None
    first, second = found.scores.values()
    return compare_auc(
        found.positive, first, second, folds=found.folds, **found.told, **resampling,
    )  # fmt: skip


def _test(comparison: AucComparison) -> str:
    ends = f"{comparison.low:.3f} to {comparison.high:.3f}"
    return (
        f"difference of the AUCs {comparison.difference:.3f} ({ends}), "
        f"p = {comparison.p_value:.2g}\n{comparison.method}"
    )
