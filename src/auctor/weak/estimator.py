"""Any scikit-learn estimator that takes ``sample_weight`` as a weak ranker.

The estimator sees the binned table: the codes of each row as numbers, 0 for missing. For trees
that is the same as the values; for others it is a table of ranks without outliers.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from auctor._typing import Bools, Floats
from auctor.metrics import auc
from auctor.weak.two_sided import two_sided_from_scores


@dataclass(frozen=True, eq=False)
class RowRanker:
    """A fitted estimator made two-sided: the expected label below and above a threshold."""

    estimator: Any
    threshold: float
    below: float
    above: float
    epsilon: float
    auc: float

    def labels(self, Z: Floats) -> Floats:
        """Expected label in [-1, 1] of each row of codes."""
        return np.where(row_scores(self.estimator, Z) >= self.threshold, self.above, self.below)


def row_scores(estimator: Any, Z: Floats) -> Floats:
    """What an estimator ranks rows by: decision function, probability, or prediction."""
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(Z), dtype=np.float64)
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(Z)[:, 1], dtype=np.float64)
    return np.asarray(estimator.predict(Z), dtype=np.float64)


def fit_row_ranker(
    base: Any, Z: Floats, positive: Bools, weight: Floats, seed: tuple[int, ...]
) -> RowRanker:
    """Fit a copy of ``base`` with each class weighing one half, and make it two-sided.

    ``seed`` goes to every random_state of the copy that was left None.
    """
    # The AUC does not see how the classes stand to each other; a classifier should not either.
    share = weight / np.where(positive, weight[positive].sum(), weight[~positive].sum())
    estimator = _copy(base, seed).fit(Z, positive.astype(int), sample_weight=share * len(Z) / 2)
    scores = row_scores(estimator, Z)
    threshold, side = two_sided_from_scores(scores, positive, share)
    value = auc(positive, scores, sample_weight=share)
    return RowRanker(estimator, threshold, side.below, side.above, side.epsilon, value)


def check_estimator(base: Any) -> None:
    """Raise unless ``base`` can be fitted with sample weights."""
    from inspect import signature

    if isinstance(base, type) or not hasattr(base, "fit") or not hasattr(base, "get_params"):
        raise ValueError(f"weak is {base!r}; give 'feature', 'stump' or a scikit-learn estimator")
    if "sample_weight" not in signature(base.fit).parameters:
        raise ValueError(
            f"weak={type(base).__name__} does not take sample_weight in fit; give one that does"
        )


def _copy(base: Any, seed: tuple[int, ...]) -> Any:
    """A copy whose random part is fixed, also where it is in a step or a nested estimator."""
    from sklearn.base import clone

    copy = clone(base)
    names = [
        name
        for name, value in sorted(copy.get_params().items())
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    states = np.random.SeedSequence(seed).generate_state(len(names)) >> np.uint32(1)
    return copy.set_params(**dict(zip(names, states.tolist(), strict=True)))
