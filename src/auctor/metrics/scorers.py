"""Scorers for scikit-learn's cross-validation and searches."""

from collections.abc import Callable
from typing import Any

import numpy as np

from auctor._checks import check_one, check_region, check_top
from auctor._typing import Floats
from auctor.metrics.area import partial_auc
from auctor.metrics.separation import ks
from auctor.metrics.top import precision_at_k


class MetricScorer:
    """``scorer(estimator, X, y)``: a metric of the estimator's score.

    Unlike scikit-learn's scorers it asks the estimator which class is positive, so that it is
    right also where ``pos_label`` is the smaller label.
    """

    def __init__(self, metric: Callable[..., float], **options: Any) -> None:
        self._metric, self._options = metric, options

    def __call__(self, estimator: Any, X: Any, y_true: Any, sample_weight: Any = None) -> float:
        """The metric on labelled rows."""
        scores, pos_label = _response(estimator, X)
        return self._metric(
            y_true, scores, sample_weight=sample_weight, pos_label=pos_label, **self._options
        )

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self._options.items())
        return f"MetricScorer({self._metric.__name__}{options})"


def _response(estimator: Any, X: Any) -> tuple[Floats, Any]:
    """The score of each row, and the label that it grows towards."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X)), _positive_label(estimator)
    return np.asarray(estimator.predict_proba(X))[:, 1], estimator.classes_[1]


def _positive_label(estimator: Any) -> Any:
    """``pos_label_`` of the estimator, also inside a pipeline or a search."""
    while True:
        if hasattr(estimator, "best_estimator_"):
            estimator = estimator.best_estimator_
        elif hasattr(estimator, "steps"):
            estimator = estimator.steps[-1][1]
        else:
            return getattr(estimator, "pos_label_", estimator.classes_[1])


ks_scorer = MetricScorer(ks)


def partial_auc_scorer(
    *,
    fpr: tuple[float, float] | None = None,
    tpr: tuple[float, float] | None = None,
    scaled: bool = False,
) -> MetricScorer:
    """A scikit-learn scorer of the partial AUC over a region.

    Parameters
    ----------
    fpr, tpr, scaled
        As in :func:`auctor.metrics.partial_auc`.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``, also for ``scoring=`` of a search.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    >>> cross_val_score(tree, X, y, scoring=partial_auc_scorer(fpr=(0, 0.1))).shape
    (5,)
    """
    name, region = check_one(fpr=fpr, tpr=tpr)
    check_region(region, name)
    return MetricScorer(partial_auc, fpr=fpr, tpr=tpr, scaled=scaled)


def precision_at_k_scorer(k: float) -> MetricScorer:
    """A scikit-learn scorer of the precision among the ``k`` highest scores.

    Parameters
    ----------
    k : int or float
        As in :func:`auctor.metrics.precision_at_k`; in cross-validation a share
        fits better than a number, for the folds differ in size.

    Returns
    -------
    callable

    Examples
    --------
    >>> precision_at_k_scorer(0.1)
    MetricScorer(precision_at_k, k=0.1)
    """
    check_top(k, 1.0)
    return MetricScorer(precision_at_k, k=k)
