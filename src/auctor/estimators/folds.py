"""Rows to train on and rows to test on, for estimators that cross-validate themselves."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_random_state

from auctor.data import read_labels, read_weights

Rows = npt.NDArray[np.intp]

_USUAL_FOLDS = 5


def draw_folds(
    cv: Any,
    y: npt.NDArray[Any],
    sample_weight: Any,
    *,
    pos_label: Any,
    random_state: Any,
    instead: str,
) -> list[tuple[Rows, Rows]]:
    """Rows to train and to test on, both classes in each; rows of weight 0 in no test.

    ``cv`` is a number of folds, stratified and shuffled, or what scikit-learn's tools take; None is
    5 folds, fewer where a class has fewer rows, and none where it has a single one. ``instead``
    names what does without folds.
    """
    weight = read_weights(sample_weight, len(y))
    if cv is not None and not isinstance(cv, (int, np.integer)):
        counts = np.ones(len(y), dtype=bool) if weight is None else weight > 0
        splitter = check_cv(cv, y, classifier=True)
        try:
            folds = [(a, np.asarray(b)) for a, b in splitter.split(np.empty((len(y), 1)), y)]
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"cv is {cv!r}, which gives no folds ({error}); give a number of folds, a "
                "scikit-learn splitter, or a list of (train rows, test rows)"
            ) from error
        return [(train, test[counts[test]]) for train, test in folds]
    rows = np.arange(len(y)) if weight is None else np.flatnonzero(weight > 0)
    positive = read_labels(y[rows], pos_label=pos_label).positive
    fewest = min(int(positive.sum()), int((~positive).sum()))
    if cv is None:
        cv = min(_USUAL_FOLDS, fewest)
        if cv < 2:
            return []
    if fewest < cv:
        raise ValueError(
            f"cv={cv} folds need {cv} rows of each class, and one class has "
            f"{fewest}; give a smaller cv, or use {instead}"
        )
    seed = check_random_state(random_state).randint(2**31 - 1)
    cutter = StratifiedKFold(cv, shuffle=True, random_state=seed)
    return [(rows[a], rows[b]) for a, b in cutter.split(rows[:, None], positive)]
