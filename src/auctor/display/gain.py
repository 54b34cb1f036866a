"""Gain, lift and CAP: the positives found against the rows flagged, the highest score first."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from auctor._checks import check_rate
from auctor._typing import Floats
from auctor.display.look import (
    GREY,
    axes_for,
    finish,
    kept_points,
    labelled,
    line_look,
    mark,
    unit_square,
)
from auctor.display.predictions import PredictionDisplay, Predictions, read_predictions
from auctor.metrics import GainCurve, gain_curve

Points = tuple[Floats, Floats]

_GRID = np.linspace(0.0, 1.0, 201)  # of the flagged share, for the mean of several curves
_FIRST = 0.005  # the lift of fewer rows than this share is mostly noise


@dataclass(frozen=True, eq=False)
class GainLine:
    """One curve: shares flagged and found, and the curves of its folds if there are any."""

    name: str | None
    flagged_fraction: Floats
    found_fraction: Floats
    accuracy_ratio: float
    folds: tuple[Points, ...]

    def at(self, share: float) -> float:
        """Share of the positives found when this share of the rows is flagged."""
        return float(np.interp(share, self.flagged_fraction, self.found_fraction))


@dataclass(eq=False)
class _SharesDisplay(PredictionDisplay):
    """What gain, lift and CAP displays hold; they differ in what they draw of it."""

    lines: tuple[GainLine, ...]
    positive_fraction: float
    fraction: float | None
    pos_label: Any

    _size: ClassVar[tuple[float, float]] = (5.6, 5.0)
    _x_label: ClassVar[str] = "share of all rows flagged, highest score first"

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
        fraction: float | None = None,
        ax: Any = None,
    ) -> Self:
        """The curves of scores, drawn at once.

        Parameters
        ----------
        y_true, sample_weight, pos_label
            As in :func:`auctor.metrics.auc`.
        y_score : array-like, or dict of them by name
        name : str, optional
            Of the one score, for the legend.
        folds : array-like of shape (n_rows,), optional
            The fold whose model scored each row: a thin line for each, and their vertical mean.
        fraction : float, optional
            A share of the rows to mark, on the first curve.
        ax : Axes, optional
        """
        found = read_predictions(
            y_true, y_score, sample_weight=sample_weight, pos_label=pos_label, name=name,
            folds=folds,
        )  # fmt: skip
        fraction = None if fraction is None else check_rate(fraction, "fraction")
        lines = tuple(_line(found, key) for key in found.scores)
        weight = np.ones(len(found.positive)) if found.weight is None else found.weight
        positive = float(weight[found.positive].sum() / weight.sum())
        return cls(lines, positive, fraction, found.pos_label).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves."""
        ax, is_own = axes_for(ax, self._size)
        for k, line in enumerate(self.lines):
            look = line_look(k)
            for points in line.folds:
                ax.plot(*self._seen(points), color=look["color"], alpha=0.35, linewidth=0.8)
            points = self._seen((line.flagged_fraction, line.found_fraction))
            ax.plot(*points, label=self._label(line), linewidth=2.0, zorder=3, **look)
        if self.fraction:
            self._mark(ax, self.fraction)
        self._frame(ax)
        finish(ax, is_own)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _seen(self, points: Points) -> Points:
        """The points as they are drawn."""
        return points

    def _label(self, line: GainLine) -> str:
        text = f"{line.at(0.1):.1%} of the positives in the first tenth"
        return labelled(line.name, text + _folded(line))

    def _mark(self, ax: Any, share: float) -> None:
        """A mark at one share of the rows, with what is found there."""
        found = self.lines[0].at(share)
        x, y = self._seen((np.array([share]), np.array([found])))
        text = f"{share:.1%} flagged: {found:.1%} of the positives, lift {found / share:.2f}"
        mark(ax, float(x[0]), float(y[0]), text)

    def _frame(self, ax: Any) -> None:
        """Lines to compare with, and the axes."""
        raise NotImplementedError


@dataclass(eq=False)
class GainDisplay(_SharesDisplay):
    """Share of the positives found against the share of rows flagged.

    Attributes
    ----------
    lines : tuple of GainLine
        With folds, the vertical mean of their curves.
    positive_fraction : float
        Share of positives among all rows.
    fraction : float or None
        The share of the rows that is marked.
    pos_label : label
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> display = GainDisplay.from_predictions([1, 0, 0, 1], [4, 3, 2, 1])
    >>> display.lines[0].at(0.25)
    0.5
    """

    def _frame(self, ax: Any) -> None:
        ax.plot([0, 1], [0, 1], color=GREY, linestyle=":", linewidth=1.0, label="at random")
        ax.set(xlabel=self._x_label, ylabel="share of the positives found")
        unit_square(ax)


@dataclass(eq=False)
class CAPDisplay(_SharesDisplay):
    """The cumulative accuracy profile: the gain curve between a perfect and a random score.

    Attributes
    ----------
    lines : tuple of GainLine
        Each with its accuracy ratio (Gini's coefficient, ``2 AUC - 1``).
    positive_fraction : float
        Share of positives among all rows, where the perfect curve reaches 1.
    fraction : float or None
        The share of the rows that is marked.
    pos_label : label
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> display = CAPDisplay.from_predictions([1, 0, 1, 0], [4, 3, 2, 1])
    >>> display.lines[0].accuracy_ratio, display.positive_fraction
    (0.5, 0.5)
    """

    def _label(self, line: GainLine) -> str:
        return labelled(line.name, f"accuracy ratio {line.accuracy_ratio:.3f}" + _folded(line))

    def _frame(self, ax: Any) -> None:
        corner = self.positive_fraction
        dashes = {"color": GREY, "linewidth": 1.0}
        ax.plot([0, corner, 1], [0, 1, 1], linestyle="-.", label="perfect score: 1", **dashes)
        ax.plot([0, 1], [0, 1], linestyle=":", label="at random: 0", **dashes)
        ax.set(xlabel=self._x_label, ylabel="share of the positives found")
        unit_square(ax)


@dataclass(eq=False)
class LiftDisplay(_SharesDisplay):
    """How many times more positives the flagged rows hold than rows drawn at random.

    Attributes
    ----------
    lines : tuple of GainLine
        The lift is ``found_fraction / flagged_fraction``.
    positive_fraction : float
        Share of positives among all rows; 1 over it is the highest lift there can be.
    fraction : float or None
        The share of the rows that is marked.
    pos_label : label
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> display = LiftDisplay.from_predictions([1, 0, 0, 1], [4, 3, 2, 1])
    >>> display.positive_fraction
    0.5
    """

    _size: ClassVar[tuple[float, float]] = (6.2, 4.8)

    def _seen(self, points: Points) -> Points:
        flagged, found = points
        if len(flagged) > 1:  # a curve, not a mark
            start = np.array([_FIRST]), np.interp([_FIRST], flagged, found)
            later = flagged > _FIRST
            flagged, found = (
                np.append(first, values[later])
                for first, values in zip(start, (flagged, found), strict=True)
            )
        return flagged, found / flagged

    def _label(self, line: GainLine) -> str:
        text = f"lift {line.at(0.1) / 0.1:.2f} in the first tenth"
        return labelled(line.name, text + _folded(line))

    def _frame(self, ax: Any) -> None:
        share = np.linspace(self.positive_fraction, 1, 200)
        best = np.append(0.0, share), np.append(1 / self.positive_fraction, 1 / share)
        ax.plot(*best, color=GREY, linestyle="-.", linewidth=1.0, label="perfect score")
        ax.axhline(1, color=GREY, linestyle=":", linewidth=1.0, label="at random: 1")
        ax.set(xlabel=self._x_label, ylabel="lift (times the share at random)")
        seen = [self._seen((line.flagged_fraction, line.found_fraction))[1] for line in self.lines]
        # A perfect lift of 100 would leave nothing to see of the others.
        highest = max(float(values.max()) for values in seen)
        ax.set(xlim=(-0.01, 1.01), ylim=(0, 1.12 * max(highest, 1.0)))


def _line(found: Predictions, name: str | None) -> GainLine:
    """The curve of a score; with folds, the mean of theirs, and those of each."""
    curves = [gain_curve(part.positive, part.scores[name], **part.told) for part in found.parts()]
    points = [_points(curve) for curve in curves]
    ratio = float(np.mean([curve.accuracy_ratio for curve in curves]))
    if found.folds is None:
        return GainLine(name, *points[0], ratio, ())
    each = [np.interp(_GRID, curve.flagged_fraction, curve.found_fraction) for curve in curves]
    return GainLine(name, _GRID, np.mean(each, axis=0), ratio, tuple(points))


def _points(curve: GainCurve) -> Points:
    kept = kept_points(curve.flagged_fraction, curve.found_fraction)
    return curve.flagged_fraction[kept], curve.found_fraction[kept]


def _folded(line: GainLine) -> str:
    return f", mean of {len(line.folds)} folds" if line.folds else ""
