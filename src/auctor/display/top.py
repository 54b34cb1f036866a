"""Precision at k: how pure the top of the list is, for each length of it."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from auctor._checks import check_level, check_top
from auctor._typing import Floats
from auctor.display.look import BLUE, GREY, axes_for, finish, labelled, mark, percent
from auctor.display.predictions import PredictionDisplay, Predictions, read_predictions
from auctor.metrics import RocCurve, roc_curve
from auctor.metrics.calibration import wilson_ends

_N_LENGTHS = 300


@dataclass(eq=False)
class PrecisionAtKDisplay(PredictionDisplay):
    """Share of positives among the k rows with the highest scores, against k.

    Attributes
    ----------
    k : ndarray
        Lengths of the top: numbers of rows, or of their weight.
    precision : ndarray
        With folds, the mean of those of the folds.
    low, high : ndarray
        Wilson's interval at each k; NaN with folds.
    base_rate : float
        Share of positives among all rows: what k rows drawn at random hold.
    marked : tuple of float or None
        The k that is marked, its precision and the ends of its interval.
    folds : tuple of ndarray
        The precision of each fold.
    level : float
    name : str or None
    pos_label : label
    figure_, ax_
        Set by :meth:`plot`.
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
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        sample_weight: Any = None,
        pos_label: Any = None,
        name: str | None = None,
        folds: Any = None,
        k: float | None = None,
        max_k: float | None = None,
        level: float = 0.95,
        ax: Any = None,
    ) -> Self:
        """Precision against k, drawn at once.

        Parameters
        ----------
        y_true, y_score, sample_weight, pos_label
            As in :func:`auctor.metrics.precision_at_k`.
        name : str, optional
            Of the score, for the legend.
        folds : array-like of shape (n_rows,), optional
            The fold whose model scored each row: a thin line for each, and their mean. k then
            counts the rows of one fold.
        k : int or float, optional
            A number or share of the rows to mark.
        max_k : int or float, optional
            Where the drawing ends; by default at all rows.
        level : float, default=0.95
            Of Wilson's intervals. With weights they are those of Kish's effective number of rows.
        ax : Axes, optional

        Examples
        --------
        >>> display = PrecisionAtKDisplay.from_predictions([1, 0, 1, 0], [4, 3, 2, 1], k=3)
        >>> display.precision.round(3).tolist(), display.base_rate
        ([1.0, 0.5, 0.667, 0.5], 0.5)
        """
        level = check_level(level)
        found = read_predictions(
            y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, name=name,
            folds=folds,
        )  # fmt: skip
        name, _ = found.one
        curves = [roc_curve(p.positive, p.one[1], **p.told) for p in found.parts()]
        total = min(float(curve.flagged[-1]) for curve in curves)
        lengths = _lengths(curves, found, _top(max_k, total, "max_k"))
        each = [_precision(curve, lengths) for curve in curves]
        precision = np.mean(each, axis=0)
        ends = _ends(found, precision, lengths, level)
        base = float(np.mean([c.true_positives[-1] / c.flagged[-1] for c in curves]))
        marked = None if k is None else _mark(curves, found, _top(k, total, "k"), level)
        thin = tuple(each) if found.folds is not None else ()
        return cls(
            lengths, precision, *ends, base, marked, thin, level, name, found.pos_label
        ).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the precision with its interval; k on a logarithmic scale."""
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
        ax.set(xlabel=f"k: {rows} flagged, highest score first", ylim=(-0.01, 1.03))
        ax.set_ylabel("precision at k (share of positives)")
        finish(ax, is_own, columns=2)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _words(self, k: float, precision: float, low: float, high: float) -> str:
        """What is marked, for the legend."""
        text = f"precision at {k:,g}: {precision:.3f}"
        return text + (f" ({low:.3f} to {high:.3f})" if np.isfinite(low) else "")


def _top(k: float | None, total: float, name: str) -> float:
    """A length of the top; all there is where nothing is said."""
    top = total if k is None else check_top(k, total, name)
    if top > total:
        raise ValueError(f"{name}={k!r} is more than the {total:g} rows (or weight) there are")
    return top


def _lengths(curves: list[RocCurve], found: Predictions, last: float) -> Floats:
    """Lengths of the top from one row to the last, denser where it is short."""
    if found.weight is None:
        return np.unique(np.geomspace(1, max(last, 1), _N_LENGTHS).round())
    row = min(float(curve.flagged[-1]) / (curve.n_pos + curve.n_neg) for curve in curves)
    return np.geomspace(min(row, last), last, _N_LENGTHS)


def _precision(curve: RocCurve, k: Floats) -> Floats:
    """The share of positives in the top; tied rows come at an even pace."""
    return np.interp(k, curve.flagged, curve.true_positives) / k


def _ends(found: Predictions, precision: Floats, k: Floats, level: float) -> tuple[Floats, Floats]:
    """Wilson's interval of each precision; none of a mean over folds."""
    if found.folds is not None:
        return np.full(len(k), np.nan), np.full(len(k), np.nan)
    weight = found.weight
    rows = k if weight is None else k * float(weight.sum() / (weight**2).sum())
    return wilson_ends(precision, rows, level)


def _mark(
    curves: list[RocCurve], found: Predictions, k: float, level: float
) -> tuple[float, float, float, float]:
    """What is marked: k, its precision, and the interval."""
    at = np.array([k])
    precision = np.mean([_precision(curve, at) for curve in curves], axis=0)
    low, high = _ends(found, precision, at, level)
    return float(k), float(precision[0]), float(low[0]), float(high[0])
