"""Score ROC: the ROC curves of each term F_k and of the whole score (Komori 2010, 3.4)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from auctor._checks import check_whole
from auctor._typing import Floats
from auctor.display.look import ShortRepr
from auctor.display.score_panels import LabelledTerms
from auctor.display.terms import additive_model, read_terms
from auctor.estimators.explanation import ScoreRow, score_features, shorten
from auctor.metrics import roc_curve
from auctor.models import AdditiveModel
from auctor.models.importance import by_importance

_ALL = "whole score"


@dataclass(frozen=True, eq=False)
class ScoreROC:
    """The ROC curve of one term F_k or of the whole score, with its AUC and interval."""

    name: str
    fpr: Floats
    tpr: Floats
    auc: float
    low: float
    high: float


@dataclass(eq=False, repr=False)
class ScoreROCDisplay(ShortRepr):
    """ROC curves of the terms F_k of an additive score, the most important term first.

    Attributes
    ----------
    curves : list of ScoreROC
        One curve per drawn feature or surface.
    total : ScoreROC
        The curve of the whole score.
    level : float
        Confidence level of the intervals.
    method : str
        Their method, as in :func:`auctor.metrics.auc_ci`.
    n_left_out : int
        Number of features and surfaces that are not drawn: flat ones, and those beyond
        ``max_curves``. 0 if ``features`` was given.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from auctor import SmoothAUCBoost
    >>> from auctor.display import ScoreROCDisplay
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> ranker = SmoothAUCBoost().fit(X, y)
    >>> display = ScoreROCDisplay.from_model(ranker.model_, X, y)
    >>> [(curve.name, round(curve.auc, 2)) for curve in display.curves]
    [('x2', 0.82), ('x1', 0.76), ('x0', 0.7)]
    """

    curves: list[ScoreROC]
    total: ScoreROC
    level: float
    method: str
    n_left_out: int

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        features: Any = None,
        level: float = 0.95,
        max_curves: int = 8,
        ax: Any = None,
    ) -> Self:
        """Compute the ROC curves of a fitted estimator on labelled rows, and draw them.

        Parameters
        ----------
        estimator : fitted SmoothAUCBoost, or another estimator with an additive model
            The estimator to draw.
        X, y, sample_weight
            Labelled rows. They should not be the training rows, on which every curve is too
            optimistic.
        features : list of names or positions, optional
            The terms to draw, in this order: features, and surfaces as "a x b" (their positions
            follow those of the features). By default all terms that are not flat, up to
            ``max_curves``, the most important first.
        level : float, default=0.95
            Confidence level of the intervals.
        max_curves : int, default=8
            Maximum number of curves, if ``features`` is not given.
        ax : matplotlib Axes, optional
            The axes to draw on. By default a new figure.

        Returns
        -------
        ScoreROCDisplay

        Examples
        --------
        >>> from auctor.display import ScoreROCDisplay
        >>> from auctor import SmoothAUCBoost
        >>> from auctor.datasets import load_kyphosis
        >>> sample = load_kyphosis()
        >>> ranker = SmoothAUCBoost().fit(sample.X, sample.y)
        >>> display = ScoreROCDisplay.from_estimator(ranker, sample.X, sample.y)
        >>> [curve.name for curve in display.curves]
        ['x2', 'x1', 'x0']
        """
        model = additive_model(estimator)
        options = {"sample_weight": sample_weight, "pos_label": model.classes[1]}
        table = model._read(X)
        names = model.term_names
        terms = None if features is None else read_terms(features, names)
        max_curves = check_whole(max_curves, "max_curves")
        scores = score_features(model, table, y, level=level, **options)
        if terms is None:
            ranked = by_importance(LabelledTerms(model, table, y, sample_weight).importances(model))
            terms = [k for k in ranked if scores[names[k]].range > 0][:max_curves]
        parts = model.contributions(table)
        curves = [_curve(parts[:, term], y, options, scores[names[term]]) for term in terms]
        value, low, high = scores.total.value, scores.total.low, scores.total.high
        whole = ScoreRow(_ALL, value, low, high, np.nan)
        total = _curve(model.decision_function(table), y, options, whole)
        n_left_out = len(scores) - len(curves) if features is None else 0
        return cls(curves, total, level, scores.total.method, n_left_out).plot(ax=ax)

    @classmethod
    def from_model(cls, model: AdditiveModel, X: Any, y: Any, **options: Any) -> Self:
        """Compute the ROC curves of an additive model, and draw them.

        The parameters are those of :meth:`from_estimator`.
        """
        return cls.from_estimator(model, X, y, **options)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves; the legend has the AUCs with their intervals.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default a new figure.

        Returns
        -------
        ScoreROCDisplay
        """
        import matplotlib.pyplot as plt

        is_own = ax is None
        if is_own:
            longest = max(len(_label(curve)) for curve in [*self.curves, self.total])
            _, ax = plt.subplots(figsize=(4.7 + 0.075 * longest, 4.5), layout="constrained")
            ax.set_anchor("W")
        ax.plot([0, 1], [0, 1], color="0.8", linewidth=0.9, zorder=1)
        colours = plt.get_cmap("tab10")
        for k, curve in enumerate(self.curves):
            ax.plot(
                curve.fpr, curve.tpr, color=colours(k % 10), linewidth=1.3, label=_label(curve),
                linestyle="-" if k < 10 else "--",
            )  # fmt: skip
        total = self.total
        ax.plot(total.fpr, total.tpr, color="black", linewidth=2.2, label=_label(total), zorder=3)
        ax.set(xlabel="false positive rate", ylabel="true positive rate", aspect="equal")
        ax.set(xlim=(-0.01, 1.01), ylim=(-0.01, 1.01))
        ax.spines[["top", "right"]].set_visible(False)
        title = f"AUC of each term ({100 * self.level:g} % interval: {self.method})"
        if self.n_left_out:
            title += f"\n{self.n_left_out} more not drawn"
        look = {"title": title, "frameon": False}
        if is_own:
            size = {"fontsize": 8.5, "title_fontsize": 8.5}
            handles, labels = ax.get_legend_handles_labels()
            ax.figure.legend(handles, labels, loc="outside right center", **size, **look)
        else:
            ax.legend(loc="lower right", fontsize=7, title_fontsize=7, **look)
        self.ax_, self.figure_ = ax, ax.figure
        return self


def _curve(scores: Floats, y: Any, options: dict[str, Any], row: ScoreRow) -> ScoreROC:
    curve = roc_curve(y, scores, **options)
    return ScoreROC(row.name, curve.fpr, curve.tpr, row.auc, row.low, row.high)


def _label(curve: ScoreROC) -> str:
    return f"{shorten(curve.name, 22)}: {curve.auc:.3f} ({curve.low:.3f} to {curve.high:.3f})"
