"""Scorers for scikit-learn's cross-validation and searches.

This module is the only one of the room that imports scikit-learn; it is loaded when
one of its names is asked for.
"""

from typing import Any

from sklearn.metrics import make_scorer

from auctor.metrics.area import partial_auc
from auctor.metrics.checks import check_one, check_region, check_top
from auctor.metrics.separation import ks
from auctor.metrics.top import precision_at_k

_RESPONSE = ("decision_function", "predict_proba")

ks_scorer: Any = make_scorer(ks, response_method=_RESPONSE)


def partial_auc_scorer(
    *,
    fpr: tuple[float, float] | None = None,
    tpr: tuple[float, float] | None = None,
    scaled: bool = False,
) -> Any:
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
    return make_scorer(partial_auc, response_method=_RESPONSE, fpr=fpr, tpr=tpr, scaled=scaled)


def precision_at_k_scorer(k: float) -> Any:
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
    make_scorer(precision_at_k, response_method=('decision_function', 'predict_proba'), k=0.1)
    """
    check_top(k, 1.0)
    return make_scorer(precision_at_k, response_method=_RESPONSE, k=k)
