"""ROC curves with AUCs, confidence bands, a test of two curves, and an operating point."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np

from auctor._text import p_equation, signed
from auctor._typing import Floats
from auctor.display.look import (
    GREY,
    axes_for,
    curve_style,
    finish,
    kept_points,
    labelled,
    mark,
    percent,
    unit_square,
)
from auctor.display.operating import choose_point
from auctor.display.predictions import PredictionDisplay, Predictions
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

_GRID = np.linspace(0.0, 1.0, 201)  # values of fpr, for the mean of several curves


@dataclass(frozen=True, eq=False)
class DisplayedROC:
    """One ROC curve with its AUC and interval, and its band or the curves of its folds.

    ``low`` and ``high``, the ends of the interval of the AUC, are NaN if a class has only one row.
    """

    name: str | None
    fpr: Floats
    tpr: Floats
    auc: float
    low: float
    high: float
    band: RocBand | None
    folds: tuple[tuple[Floats, Floats], ...]


@dataclass(eq=False, repr=False)
class ROCDisplay(PredictionDisplay):
    """ROC curves of one or several scores of the same rows.

    Made by :meth:`from_predictions`, :meth:`from_estimator`, :meth:`from_cv_results` or
    :meth:`from_cross_validation`. Two scores are compared by the paired test of
    :func:`auctor.metrics.compare_auc`.

    Parameters
    ----------
    instability : float in [0, 1], optional
        Option of the ``from_...`` methods: with folds, the fraction of the variance of an AUC
        that comes from the training sets, as in :func:`auctor.metrics.auc_ci`. The comparison of
        two scores uses 1, the worst case.
    groups : array-like of shape (n_rows,), optional
        Option of the ``from_...`` methods: the group of each row, as in
        :func:`auctor.metrics.auc_ci`.
    band : {"combined", "bootstrap", "asymptotic"} or None, default="combined"
        Option of the ``from_...`` methods: the confidence band, as in
        :func:`auctor.metrics.roc_band`. No band is drawn with folds.
    level, n_resamples, random_state
        Options of the ``from_...`` methods: confidence level (default 0.95) of all intervals, and
        number of resamples (default 500) and seed (default 0) of bootstraps.
    threshold, fpr, tpr, budget, cost : float, optional
        Options of the ``from_...`` methods. Give one of them to mark an operating point on the
        first curve: a threshold, or a criterion of :func:`auctor.metrics.threshold_at`.

    Attributes
    ----------
    curves : tuple of DisplayedROC
        One curve per score; with folds, the vertical mean of the curves of the folds.
    point : OperatingPoint or None
        The operating point that is marked on the first curve.
    criterion : str
        The criterion of the operating point in words; empty if a threshold was given.
    comparison : AucComparison or None
        The test of two curves; None unless there are two.
    level : float
        Confidence level of all intervals.
    method : str
        The method of the intervals of the AUCs.
    pos_label : label
        The label of the positive class.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from auctor.display import ROCDisplay
    >>> y, s = [0, 0, 0, 1, 0, 1, 1, 1], [1, 2, 3, 4, 5, 6, 7, 8]
    >>> display = ROCDisplay.from_predictions(y, s, tpr=1.0)
    >>> display.curves[0].auc, display.point.threshold
    (0.9375, 4.0)
    """

    curves: tuple[DisplayedROC, ...]
    point: OperatingPoint | None
    criterion: str
    comparison: AucComparison | None
    level: float
    method: str
    pos_label: Any

    _has_instability: ClassVar[bool] = True

    @classmethod
    def _from_rows(
        cls,
        rows: Predictions,
        *,
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
    ) -> Self:
        resampling = {"groups": groups, "level": level, "n_resamples": n_resamples}
        resampling["random_state"] = random_state
        curves, method = _curves(rows, band, resampling, instability)
        point, criterion = choose_point(
            rows, threshold=threshold, fpr=fpr, tpr=tpr, budget=budget, cost=cost
        )
        comparison = _comparison(rows, resampling)
        return cls(curves, point, criterion, comparison, level, method, rows.pos_label)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves; the legend has the AUCs with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default a new figure.

        Returns
        -------
        ROCDisplay
        """
        ax, is_own = axes_for(ax, (5.4, 5.6))
        for k, curve in enumerate(self.curves):
            self._draw_curve(ax, curve, curve_style(k))
        if self.point is not None:
            mark(ax, self.point.fpr, self.point.tpr, self._words(self.point))
        ax.plot([0, 1], [0, 1], color=GREY, linewidth=0.9, linestyle=":", zorder=1, label="chance")
        ax.set(xlabel="false positive rate (fraction of negatives flagged)", aspect="equal")
        ax.set_ylabel("true positive rate (fraction of positives flagged)")
        unit_square(ax)
        if self.comparison is not None:
            ax.set_title(_test(self.comparison), fontsize=9 if is_own else 7)
        finish(ax, is_own, legend_title=f"AUC ({percent(self.level)} interval: {self.method})")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_curve(self, ax: Any, curve: DisplayedROC, style: dict[str, Any]) -> None:
        """Draw a curve over its band or the curves of its folds."""
        for fpr, tpr in curve.folds:
            ax.plot(fpr, tpr, color=style["color"], alpha=0.35, linewidth=0.8, zorder=2)
        if curve.band is not None:
            band = curve.band
            ax.fill_between(
                band.fpr, band.low, band.high, color=style["color"], alpha=0.15, linewidth=0
            )
        text = f"{curve.auc:.3f}"
        if np.isfinite(curve.low):
            text += f" ({curve.low:.3f} to {curve.high:.3f})"
        if curve.folds:
            text += f", mean of {len(curve.folds)} folds"
        label = labelled(curve.name, text)
        ax.plot(curve.fpr, curve.tpr, linewidth=2.0, zorder=3, label=label, **style)

    def _words(self, point: OperatingPoint) -> str:
        """The legend of the operating point."""
        text = f"threshold {point.threshold:.4g}: fpr {point.fpr:.3f}, tpr {point.tpr:.3f}, "
        text += f"precision {point.precision:.3f}"
        return text + (f"\n({self.criterion})" if self.criterion else "")


def _curves(
    rows: Predictions, band: Any, resampling: dict[str, Any], instability: float | None
) -> tuple[tuple[DisplayedROC, ...], str]:
    """A curve for each score, and the method of the intervals of the AUCs."""
    curves, method = [], "none, because a class has only one row"
    for name, score in rows.scores.items():
        fpr, tpr, auc, folds = _curve(rows, name)
        low = high = np.nan
        if _fewest_rows(rows) > 1:
            interval = auc_ci(
                rows.positive, score, folds=rows.folds, instability=instability,
                **rows.options, **resampling,
            )  # fmt: skip
            auc, low, high, method = interval.value, interval.low, interval.high, interval.method
        drawn = None
        if band is not None and rows.folds is None:
            drawn = roc_band(rows.positive, score, method=band, **rows.options, **resampling)
        curves.append(DisplayedROC(name, fpr, tpr, auc, low, high, drawn, folds))
    return tuple(curves), method


def _curve(rows: Predictions, name: str | None) -> tuple[Floats, Floats, float, Any]:
    """The points and the AUC of a score; with folds, of the mean curve, and those of the folds."""
    curves = [roc_curve(part.positive, part.scores[name], **part.options) for part in rows.parts()]
    points = [_points(curve) for curve in curves]
    auc = float(np.mean([curve.auc() for curve in curves]))
    if rows.folds is None:
        return *points[0], auc, ()
    mean = np.mean([height(curve, _GRID) for curve in curves], axis=0)
    return np.append(0.0, _GRID), np.append(0.0, mean), auc, tuple(points)


def _points(curve: RocCurve) -> tuple[Floats, Floats]:
    """The points of a curve, without those too close to see."""
    kept = kept_points(curve.fpr, curve.tpr)
    return curve.fpr[kept], curve.tpr[kept]


def _fewest_rows(rows: Predictions) -> int:
    """The smallest number of rows of a class in any fold."""
    positives = [
        part.positive if part.weight is None else part.positive[part.weight > 0]
        for part in rows.parts()
    ]
    return min(int(count) for p in positives for count in (p.sum(), (~p).sum()))


def _comparison(rows: Predictions, resampling: dict[str, Any]) -> AucComparison | None:
    if len(rows.scores) != 2 or _fewest_rows(rows) < 2:
        return None
    first, second = rows.scores.values()
    return compare_auc(rows.positive, first, second, folds=rows.folds, **rows.options, **resampling)


def _test(comparison: AucComparison) -> str:
    """The title: the difference of the first AUC and the second, with its test."""
    ends = f"{comparison.low:.3f} to {comparison.high:.3f}"
    return (
        f"difference of AUC (first - second) {signed(comparison.difference)} ({ends}), "
        f"{p_equation(comparison.p_value)}\n{comparison.method}"
    )
