"""Cumulative gain, CAP and lift curves."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from auctor._checks import check_rate
from auctor._typing import Floats
from auctor.display.look import (
    GREY,
    axes_for,
    curve_style,
    finish,
    kept_points,
    labelled,
    mark,
    unit_square,
)
from auctor.display.predictions import PredictionDisplay, Predictions
from auctor.metrics import GainCurve, gain_curve

Points = tuple[Floats, Floats]

_GRID = np.linspace(0.0, 1.0, 201)  # flagged fractions, for the mean of several curves
_FIRST = 0.005  # the lift of a smaller fraction of rows is mostly noise


@dataclass(frozen=True, eq=False)
class DisplayedGain:
    """One cumulative gain curve, and the curves of its folds if there are any."""

    name: str | None
    flagged_fraction: Floats
    found_fraction: Floats
    accuracy_ratio: float
    folds: tuple[Points, ...]

    def at(self, fraction: float) -> float:
        """Fraction of the positives found if this fraction of the rows is flagged."""
        return float(np.interp(fraction, self.flagged_fraction, self.found_fraction))


@dataclass(eq=False, repr=False)
class _CumulativeDisplay(PredictionDisplay):
    """The numbers of gain, CAP and lift displays, which differ in what they draw."""

    curves: tuple[DisplayedGain, ...]
    positive_fraction: float
    fraction: float | None
    pos_label: Any

    _size: ClassVar[tuple[float, float]] = (5.6, 5.0)
    _x_label: ClassVar[str] = "fraction of rows flagged, highest scores first"
    _y_label: ClassVar[str] = "fraction of positives found"

    @classmethod
    def _from_rows(cls, rows: Predictions, *, fraction: float | None = None) -> Self:
        fraction = None if fraction is None else check_rate(fraction, "fraction")
        curves = tuple(_curve(rows, name) for name in rows.scores)
        weight = np.ones(len(rows.positive)) if rows.weight is None else rows.weight
        positive = float(weight[rows.positive].sum() / weight.sum())
        return cls(curves, positive, fraction, rows.pos_label)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default a new figure.

        Returns
        -------
        The display.
        """
        ax, is_own = axes_for(ax, self._size)
        for k, curve in enumerate(self.curves):
            style = curve_style(k)
            for points in curve.folds:
                ax.plot(*self._seen(points), color=style["color"], alpha=0.35, linewidth=0.8)
            points = self._seen((curve.flagged_fraction, curve.found_fraction))
            ax.plot(*points, label=self._label(curve), linewidth=2.0, zorder=3, **style)
        if self.fraction:
            self._mark(ax, self.fraction)
        self._frame(ax)
        finish(ax, is_own)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _seen(self, points: Points) -> Points:
        """The points in the coordinates of the plot."""
        return points

    def _label(self, curve: DisplayedGain) -> str:
        text = f"{curve.at(0.1):.1%} of the positives in the top 10%"
        return labelled(curve.name, text + _of_folds(curve))

    def _mark(self, ax: Any, fraction: float) -> None:
        """Mark a fraction of the rows on the first curve."""
        captured = self.curves[0].at(fraction)
        x, y = self._seen((np.array([fraction]), np.array([captured])))
        lift = captured / fraction
        text = f"{fraction:.1%} flagged: {captured:.1%} of the positives, lift {lift:.2f}"
        mark(ax, float(x[0]), float(y[0]), text)

    def _frame(self, ax: Any) -> None:
        """Draw the reference curves and label the axes."""
        raise NotImplementedError


@dataclass(eq=False, repr=False)
class GainDisplay(_CumulativeDisplay):
    """Cumulative gain: fraction of the positives found against fraction of the rows flagged.

    Made by :meth:`from_predictions`, :meth:`from_estimator`, :meth:`from_cv_results` or
    :meth:`from_cross_validation`.

    Parameters
    ----------
    fraction : float, optional
        Option of the ``from_...`` methods: a fraction of the rows to mark on the first curve.

    Attributes
    ----------
    curves : tuple of DisplayedGain
        One curve per score; with folds, the vertical mean of the curves of the folds.
    positive_fraction : float
        Fraction of positives among all rows.
    fraction : float or None
        The marked fraction of the rows.
    pos_label : label
        The label of the positive class.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from auctor.display import GainDisplay
    >>> display = GainDisplay.from_predictions([1, 0, 0, 1], [4, 3, 2, 1])
    >>> display.curves[0].at(0.25)
    0.5
    """

    def _frame(self, ax: Any) -> None:
        ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.0, label="random score")
        ax.set(xlabel=self._x_label, ylabel=self._y_label)
        unit_square(ax)


@dataclass(eq=False, repr=False)
class CAPDisplay(_CumulativeDisplay):
    """Cumulative accuracy profile: the gain curve with those of a perfect and a random score.

    Made by :meth:`from_predictions`, :meth:`from_estimator`, :meth:`from_cv_results` or
    :meth:`from_cross_validation`.

    Parameters
    ----------
    fraction : float, optional
        Option of the ``from_...`` methods: a fraction of the rows to mark on the first curve.

    Attributes
    ----------
    curves : tuple of DisplayedGain
        One curve per score, with its accuracy ratio (the Gini coefficient, ``2 AUC - 1``).
    positive_fraction : float
        Fraction of positives among all rows, at which the perfect curve reaches 1.
    fraction : float or None
        The marked fraction of the rows.
    pos_label : label
        The label of the positive class.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from auctor.display import CAPDisplay
    >>> display = CAPDisplay.from_predictions([1, 0, 1, 0], [4, 3, 2, 1])
    >>> display.curves[0].accuracy_ratio, display.positive_fraction
    (0.5, 0.5)
    """

    def _label(self, curve: DisplayedGain) -> str:
        text = f"accuracy ratio {curve.accuracy_ratio:.3f}"
        return labelled(curve.name, text + _of_folds(curve))

    def _frame(self, ax: Any) -> None:
        corner = self.positive_fraction
        dashes = {"color": GREY, "linewidth": 1.0}
        ax.plot([0, corner, 1], [0, 1, 1], linestyle="-.", label="perfect score: 1", **dashes)
        ax.plot([0, 1], [0, 1], linestyle=":", label="random score: 0", **dashes)
        ax.set(xlabel=self._x_label, ylabel=self._y_label)
        unit_square(ax)


@dataclass(eq=False, repr=False)
class LiftDisplay(_CumulativeDisplay):
    """Lift: precision among the flagged rows relative to random rows.

    Made by :meth:`from_predictions`, :meth:`from_estimator`, :meth:`from_cv_results` or
    :meth:`from_cross_validation`.

    Parameters
    ----------
    fraction : float, optional
        Option of the ``from_...`` methods: a fraction of the rows to mark on the first curve.

    Attributes
    ----------
    curves : tuple of DisplayedGain
        One curve per score; the lift is ``found_fraction / flagged_fraction``.
    positive_fraction : float
        Fraction of positives among all rows; the maximum lift is 1 divided by it.
    fraction : float or None
        The marked fraction of the rows.
    pos_label : label
        The label of the positive class.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from auctor.display import LiftDisplay
    >>> display = LiftDisplay.from_predictions([1, 0, 0, 1], [4, 3, 2, 1])
    >>> display.positive_fraction
    0.5
    """

    _size: ClassVar[tuple[float, float]] = (6.2, 4.8)

    def _seen(self, points: Points) -> Points:
        flagged, captured = points
        if len(flagged) > 1:  # a curve, not a single point
            start = np.array([_FIRST]), np.interp([_FIRST], flagged, captured)
            later = flagged > _FIRST
            flagged, captured = (
                np.append(first, values[later])
                for first, values in zip(start, (flagged, captured), strict=True)
            )
        return flagged, captured / flagged

    def _label(self, curve: DisplayedGain) -> str:
        text = f"lift {curve.at(0.1) / 0.1:.2f} in the top 10%"
        return labelled(curve.name, text + _of_folds(curve))

    def _frame(self, ax: Any) -> None:
        flagged = np.linspace(self.positive_fraction, 1, 200)
        best = np.append(0.0, flagged), np.append(1 / self.positive_fraction, 1 / flagged)
        ax.plot(*best, color=GREY, linestyle="-.", linewidth=1.0, label="perfect score")
        ax.axhline(1, color=GREY, linestyle=":", linewidth=1.0, label="random score: 1")
        ax.set(xlabel=self._x_label, ylabel="lift (precision relative to random rows)")
        seen = [self._seen((one.flagged_fraction, one.found_fraction))[1] for one in self.curves]
        # The y axis ends at the highest lift: a perfect lift of 100 would hide all curves.
        highest = max(float(values.max()) for values in seen)
        ax.set(xlim=(-0.01, 1.01), ylim=(0, 1.12 * max(highest, 1.0)))


def _curve(rows: Predictions, name: str | None) -> DisplayedGain:
    """The curve of a score; with folds, the mean of the curves of the folds, and these."""
    curves = [gain_curve(part.positive, part.scores[name], **part.options) for part in rows.parts()]
    points = [_points(curve) for curve in curves]
    ratio = float(np.mean([curve.accuracy_ratio for curve in curves]))
    if rows.folds is None:
        return DisplayedGain(name, *points[0], ratio, ())
    each = [np.interp(_GRID, curve.flagged_fraction, curve.found_fraction) for curve in curves]
    return DisplayedGain(name, _GRID, np.mean(each, axis=0), ratio, tuple(points))


def _points(curve: GainCurve) -> Points:
    kept = kept_points(curve.flagged_fraction, curve.found_fraction)
    return curve.flagged_fraction[kept], curve.found_fraction[kept]


def _of_folds(curve: DisplayedGain) -> str:
    return f", mean of {len(curve.folds)} folds" if curve.folds else ""
