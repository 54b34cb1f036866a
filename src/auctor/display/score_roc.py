"""Score ROC: the curve of each F_k alone, and of the whole score (paper 003, section 3.4)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from auctor._typing import Floats
from auctor.data import read_table
from auctor.display.terms import additive_model, check_count, read_terms
from auctor.estimators.explanation import ScoreRow, score_features, shorten
from auctor.metrics import roc_curve
from auctor.models import AdditiveModel

_ALL = "all together"


@dataclass(frozen=True, eq=False)
class ScoreROC:
    """The ROC curve of one F_k, or of the whole score, with its AUC and interval."""

    name: str
    fpr: Floats
    tpr: Floats
    auc: float
    low: float
    high: float


@dataclass(eq=False)
class ScoreROCDisplay:
    """ROC curves of the score functions, the one of the highest AUC first.

    Attributes
    ----------
    curves : list of ScoreROC
        One for each feature or surface that is drawn.
    total : ScoreROC
        That of the whole score.
    level : float
        Of the intervals.
    method : str
        How they were found, in the words of :func:`auctor.metrics.auc_ci`.
    n_left_out : int
        Features and surfaces without a curve: flat ones, and those beyond ``max_curves``. 0 where
        ``features`` says what to draw.
    figure_, ax_
        Set by :meth:`plot`.
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
        """Score ROC curves of a fitted estimator on labelled rows, drawn at once.

        Parameters
        ----------
        estimator : fitted SmoothAUCBoost, or another whose model is additive
        X, y, sample_weight
            Labelled rows; on those of the fit every curve is too good.
        features : list of names or positions, optional
            What to draw, in this order: features, and surfaces as "a x b" (positions count on
            after the features). By default all that is not flat, up to ``max_curves``, the highest
            AUC first.
        level : float, default=0.95
            Confidence level of the intervals.
        max_curves : int, default=8
        ax : Axes, optional

        Examples
        --------
        >>> from auctor import SmoothAUCBoost
        >>> from auctor.datasets import load_kyphosis
        >>> sample = load_kyphosis()
        >>> ranker = SmoothAUCBoost().fit(sample.X, sample.y)
        >>> display = ScoreROCDisplay.from_estimator(ranker, sample.X, sample.y)
        >>> [curve.name for curve in display.curves]
        ['x2', 'x1', 'x0']
        """
        model = additive_model(estimator)
        told = {"sample_weight": sample_weight, "pos_label": model.classes[1]}
        table = read_table(X, accept_sparse=True)
        names = model.term_names
        terms = None if features is None else read_terms(features, names)
        most = check_count(max_curves, "max_curves")
        scores = score_features(model, table, y, level=level, **told)
        if terms is None:
            terms = [names.index(row.name) for row in scores if row.range > 0][:most]
        parts = model.contributions(table)
        curves = [_curve(parts[:, term], y, told, scores[names[term]]) for term in terms]
        value, low, high = scores.total.value, scores.total.low, scores.total.high
        whole = ScoreRow(_ALL, value, low, high, np.nan)
        total = _curve(model.decision_function(table), y, told, whole)
        n_left_out = len(scores) - len(curves) if features is None else 0
        found = cls(curves, total, level, scores.total.method, n_left_out)
        return found.plot(ax=ax)

    @classmethod
    def from_model(cls, model: AdditiveModel, X: Any, y: Any, **told: Any) -> Self:
        """The same for an additive model; takes what ``from_estimator`` takes."""
        return cls.from_estimator(model, X, y, **told)

    def plot(self, ax: Any = None) -> Self:
        """Draw the curves; the legend has the score AUCs with their intervals."""
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
        title = f"score AUC ({100 * self.level:g} % interval, {self.method})"
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


def _curve(scores: Floats, y: Any, told: dict[str, Any], row: ScoreRow) -> ScoreROC:
    curve = roc_curve(y, scores, **told)
    return ScoreROC(row.name, curve.fpr, curve.tpr, row.auc, row.low, row.high)


def _label(curve: ScoreROC) -> str:
    return f"{shorten(curve.name, 22)}: {curve.auc:.3f} ({curve.low:.3f} to {curve.high:.3f})"
