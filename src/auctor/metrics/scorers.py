"""Scorers for the cross-validation and the searches of scikit-learn."""

from collections.abc import Callable
from typing import Any

import numpy as np

from auctor._checks import check_one, check_region, check_top
from auctor._pos_label import grows_towards
from auctor._typing import Floats
from auctor.metrics.area import partial_auc
from auctor.metrics.separation import ks
from auctor.metrics.top import precision_at_k


class MetricScorer:
    """A scorer ``scorer(estimator, X, y)`` that computes a metric of the estimator's score.

    Unlike scikit-learn's scorers it reads the positive class from the estimator, so that it is
    correct also if ``pos_label`` is the smaller label. ``ks_scorer`` is ready to use (it is not
    called); ``partial_auc_scorer(...)`` and ``precision_at_k_scorer(k)`` make one.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from auctor import RankBoost
    >>> from auctor.metrics import ks_scorer
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> cross_val_score(RankBoost(n_estimators=20), X, y, scoring=ks_scorer).round(3)
    array([0...
    """

    def __init__(self, metric: Callable[..., float], **options: Any) -> None:
        self._metric, self._options = metric, options

    def __call__(self, estimator: Any, X: Any, y_true: Any, sample_weight: Any = None) -> float:
        """Compute the metric on labelled rows."""
        scores, pos_label = _response(estimator, X)
        return self._metric(
            y_true, scores, sample_weight=sample_weight, pos_label=pos_label, **self._options
        )

    def __repr__(self) -> str:
        options = "".join(f", {name}={value!r}" for name, value in self._options.items())
        return f"MetricScorer({self._metric.__name__}{options})"


def _response(estimator: Any, X: Any) -> tuple[Floats, Any]:
    """The score of each row, and the label of the class with the higher scores."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(X)), grows_towards(estimator)
    return np.asarray(estimator.predict_proba(X))[:, 1], estimator.classes_[1]


ks_scorer = MetricScorer(ks)


def partial_auc_scorer(
    *,
    fpr_range: tuple[float, float] | None = None,
    tpr_range: tuple[float, float] | None = None,
    scaled: bool = False,
) -> MetricScorer:
    """Make a scikit-learn scorer of the partial AUC.

    Parameters
    ----------
    fpr_range, tpr_range, scaled
        As in :func:`auctor.metrics.partial_auc`.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``, for the parameter ``scoring`` of scikit-learn's tools.

    Examples
    --------
    >>> from auctor.metrics import partial_auc_scorer
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.model_selection import cross_val_score
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(max_depth=3, random_state=0)
    >>> scorer = partial_auc_scorer(fpr_range=(0, 0.1), scaled=True)
    >>> cross_val_score(tree, X, y, scoring=scorer).round(3)
    array([0...
    """
    name, region = check_one(fpr_range=fpr_range, tpr_range=tpr_range)
    check_region(region, name)
    return MetricScorer(partial_auc, fpr_range=fpr_range, tpr_range=tpr_range, scaled=scaled)


def precision_at_k_scorer(k: float) -> MetricScorer:
    """Make a scikit-learn scorer of the precision among the ``k`` highest scores.

    Parameters
    ----------
    k : int or float
        As in :func:`auctor.metrics.precision_at_k`. In cross-validation, where folds differ in
        size, a fraction is more suitable than a number of rows.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``, for the parameter ``scoring`` of scikit-learn's tools.

    Examples
    --------
    >>> from auctor.metrics import precision_at_k_scorer
    >>> precision_at_k_scorer(0.1)
    MetricScorer(precision_at_k, k=0.1)
    """
    check_top(k, 1.0)
    return MetricScorer(precision_at_k, k=k)
