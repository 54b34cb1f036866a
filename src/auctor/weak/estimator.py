"""Scikit-learn estimators as weak rankers.

The estimator sees the binned table: the codes of each row as numbers, 0 for missing. For trees
this is equivalent to the values themselves; for other estimators it is a table of ranks without
outliers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from auctor._typing import Bools, Floats
from auctor.metrics import auc
from auctor.weak.two_sided import two_sided_from_scores


@dataclass(frozen=True, eq=False)
class RowRanker:
    """A fitted estimator as a two-sided classifier: expected labels below and above a threshold.

    ``epsilon`` is its error rate, the same for both classes, and ``auc`` that of its scores.
    """

    estimator: Any
    threshold: float
    below: float
    above: float
    epsilon: float
    auc: float

    def labels(self, Z: Floats) -> Floats:
        """The expected label, in [-1, 1], of each row of codes."""
        return np.where(row_scores(self.estimator, Z) >= self.threshold, self.above, self.below)


def row_scores(estimator: Any, Z: Floats) -> Floats:
    """The scores of an estimator: its decision function, else its probability or prediction."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(Z), dtype=np.float64)
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(Z)[:, 1], dtype=np.float64)
    return np.asarray(estimator.predict(Z), dtype=np.float64)


def fit_row_ranker(
    base: Any, Z: Floats, positive: Bools, weight: Floats, seed: tuple[int, ...]
) -> RowRanker:
    """Fit a copy of ``base`` to class-balanced weights, and make it two-sided.

    ``seed`` is used for every random_state of the copy that is None.
    """
    # The AUC does not depend on the proportion of the classes; the classifier should not either.
    fraction = weight / np.where(positive, weight[positive].sum(), weight[~positive].sum())
    estimator = _copy(base, seed).fit(Z, positive.astype(int), sample_weight=fraction * len(Z) / 2)
    scores = row_scores(estimator, Z)
    threshold, side = two_sided_from_scores(scores, positive, fraction)
    value = auc(positive, scores, sample_weight=fraction)
    return RowRanker(estimator, threshold, side.below, side.above, side.epsilon, value)


def check_estimator(base: Any) -> None:
    """Raise unless ``base`` can be fitted with sample weights."""
    from inspect import signature

    if isinstance(base, type) or not hasattr(base, "fit") or not hasattr(base, "get_params"):
        raise ValueError(
            f"estimator is {base!r}; give 'feature', 'stump', 'tree' or a scikit-learn estimator"
        )
    if "sample_weight" not in signature(base.fit).parameters:
        raise ValueError(
            f"estimator is a {type(base).__name__}, whose fit does not take sample_weight; give "
            "one whose fit does"
        )


def _copy(base: Any, seed: tuple[int, ...]) -> Any:
    """A copy with every random_state that is None set, also in nested estimators."""
    from sklearn.base import clone

    copy = clone(base)
    names = [
        name
        for name, value in sorted(copy.get_params().items())
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    states = np.random.SeedSequence(seed).generate_state(len(names)) >> np.uint32(1)
    return copy.set_params(**dict(zip(names, states.tolist(), strict=True)))
