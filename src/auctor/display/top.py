"""Precision among the k rows with the highest scores, against k."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from auctor._checks import check_level, check_top_within
from auctor._typing import Floats
from auctor.display.look import BLUE, GREY, axes_for, finish, labelled, mark, percent
from auctor.display.predictions import PredictionDisplay, Predictions
from auctor.metrics import RocCurve, roc_curve
from auctor.metrics.calibration import wilson_ends

_N_SIZES = 300


@dataclass(eq=False, repr=False)
class PrecisionAtKDisplay(PredictionDisplay):
    """Precision among the k rows with the highest scores, against k.

    Made by :meth:`from_predictions`, :meth:`from_estimator`, :meth:`from_cv_results` or
    :meth:`from_cross_validation`.

    Parameters
    ----------
    k : int or float, optional
        Option of the ``from_...`` methods: a number or fraction of the rows to mark. With folds,
        rows of one fold are counted.
    max_k : int or float, optional
        Option of the ``from_...`` methods: the largest k to draw. By default all rows.
    level : float, default=0.95
        Option of the ``from_...`` methods: confidence level of Wilson's intervals. With weights
        they are computed with Kish's effective number of rows.

    Attributes
    ----------
    k : ndarray
        Values of k: numbers of rows, or of their weight.
    precision : ndarray
        The precision at each k; with folds, the mean of those of the folds.
    low, high : ndarray
        Wilson's interval at each k; NaN with folds.
    base_rate : float
        Fraction of positives among all rows, the expected precision of random rows.
    marked : tuple of float or None
        The k that is marked, its precision and the ends of its interval.
    folds : tuple of ndarray
        The precision within each fold.
    level : float
        Confidence level of the intervals.
    name : str or None
        The name of the score.
    pos_label : label
        The label of the positive class.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from auctor.display import PrecisionAtKDisplay
    >>> display = PrecisionAtKDisplay.from_predictions([1, 0, 1, 0], [4, 3, 2, 1], k=3)
    >>> display.precision.round(3).tolist(), display.base_rate
    ([1.0, 0.5, 0.667, 0.5], 0.5)
    """

    k: Floats
    precision: Floats
    low: Floats
    high: Floats
    base_rate: float
    marked: tuple[float, float, float, float] | None
    folds: tuple[Floats, ...]
    level: float
    name: str | None
    pos_label: Any

    @classmethod
    def _from_rows(
        cls,
        rows: Predictions,
        *,
        k: float | None = None,
        max_k: float | None = None,
        level: float = 0.95,
    ) -> Self:
        level = check_level(level)
        name, _ = rows.only
        curves = [roc_curve(p.positive, p.only[1], **p.options) for p in rows.parts()]
        total = min(float(curve.flagged[-1]) for curve in curves)
        last = total if max_k is None else check_top_within(max_k, total, "max_k")
        sizes = _sizes(curves, rows, last)
        each = [_precision(curve, sizes) for curve in curves]
        precision = np.mean(each, axis=0)
        ends = _ends(rows, precision, sizes, level)
        base = float(np.mean([c.true_positives[-1] / c.flagged[-1] for c in curves]))
        marked = None if k is None else _mark(curves, rows, check_top_within(k, total), level)
        by_fold = tuple(each) if rows.folds is not None else ()
        return cls(sizes, precision, *ends, base, marked, by_fold, level, name, rows.pos_label)

    def plot(self, ax: Any = None) -> Self:
        """Draw the precision with its interval; k is on a logarithmic scale.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default a new figure.

        Returns
        -------
        PrecisionAtKDisplay
        """
        ax, is_own = axes_for(ax, (6.4, 4.8))
        for precision in self.folds:
            ax.plot(self.k, precision, color=BLUE, alpha=0.35, linewidth=0.8)
        if not self.folds:
            label = f"{percent(self.level)} interval (Wilson)"
            ax.fill_between(
                self.k, self.low, self.high, color=BLUE, alpha=0.18, linewidth=0, label=label
            )
        text = f"mean of {len(self.folds)} folds" if self.folds else "precision"
        ax.plot(self.k, self.precision, color=BLUE, linewidth=2.0, label=labelled(self.name, text))
        base = f"all rows: {self.base_rate:.3f}"
        ax.axhline(self.base_rate, color=GREY, linestyle=":", linewidth=1.2, label=base)
        if self.marked is not None:
            mark(ax, *self.marked[:2], self._words(*self.marked))
        ax.set_xscale("log")
        rows = "rows of a fold" if self.folds else "rows"
        ax.set(xlabel=f"k: {rows} flagged, highest scores first", ylim=(-0.01, 1.03))
        ax.set_ylabel("precision at k (fraction of positives)")
        finish(ax, is_own, columns=2)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _words(self, k: float, precision: float, low: float, high: float) -> str:
        """The legend of the marked point."""
        text = f"precision at {k:,g}: {precision:.3f}"
        return text + (f" ({low:.3f} to {high:.3f})" if np.isfinite(low) else "")


def _sizes(curves: list[RocCurve], rows: Predictions, last: float) -> Floats:
    """Values of k from one row to the last, spaced logarithmically."""
    if rows.weight is None:
        return np.unique(np.geomspace(1, max(last, 1), _N_SIZES).round())
    row = min(float(curve.flagged[-1]) / (curve.n_pos + curve.n_neg) for curve in curves)
    return np.geomspace(min(row, last), last, _N_SIZES)


def _precision(curve: RocCurve, k: Floats) -> Floats:
    """The precision among the k highest scores, in expectation over the order of tied rows."""
    return np.interp(k, curve.flagged, curve.true_positives) / k


def _ends(rows: Predictions, precision: Floats, k: Floats, level: float) -> tuple[Floats, Floats]:
    """Wilson's interval of each precision; NaN for a mean over folds."""
    if rows.folds is not None:
        return np.full(len(k), np.nan), np.full(len(k), np.nan)
    weight = rows.weight
    n_rows = k if weight is None else k * float(weight.sum() / (weight**2).sum())
    return wilson_ends(precision, n_rows, level)


def _mark(
    curves: list[RocCurve], rows: Predictions, k: float, level: float
) -> tuple[float, float, float, float]:
    """The marked point: k, its precision, and the ends of its interval."""
    at = np.array([k])
    precision = np.mean([_precision(curve, at) for curve in curves], axis=0)
    low, high = _ends(rows, precision, at, level)
    return float(k), float(precision[0]), float(low[0]), float(high[0])
