"""Feature importances."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils import Bunch, check_random_state

from auctor._typing import Floats
from auctor.metrics import auc
from auctor.models import ForestModel


def fractions_of_gain(falls: Iterable[tuple[int, float]], n_features: int) -> Floats:
    """Each feature's fraction of the total gain, from the feature and the gain of each round."""
    total = np.zeros(n_features)
    for feature, fall in falls:
        total[feature] += fall
    return total / total.sum() if total.sum() > 0 else total


def permutation_decreases(
    model: ForestModel,
    X: Any,
    y: Any,
    *,
    sample_weight: Any,
    pos_label: Any,
    n_repeats: int,
    random_state: Any,
) -> Bunch:
    """The decrease of the AUC when the values of one feature are shuffled among the rows.

    The rows are binned once, and the bins are shuffled. Features that no tree uses are skipped,
    since shuffling them changes nothing.
    """
    codes = model.codes(X)

    def area() -> float:
        scores = model.score_codes(codes)
        return auc(y, scores, sample_weight=sample_weight, pos_label=pos_label)

    rng = check_random_state(random_state)
    whole, falls = area(), np.zeros((len(codes), n_repeats))
    for j in np.unique(model.nodes.feature[model.nodes.feature >= 0]).tolist():
        kept = codes[j].copy()
        for repeat in range(n_repeats):
            codes[j] = kept[rng.permutation(len(kept))]
            falls[j, repeat] = whole - area()
        codes[j] = kept
    return Bunch(
        importances=falls,
        importances_mean=falls.mean(axis=1),
        importances_std=falls.std(axis=1),
    )
