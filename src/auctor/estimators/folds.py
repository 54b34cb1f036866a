"""Rows to train on and rows to test on, for estimators that cross-validate themselves."""

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedKFold, check_cv
from sklearn.utils import check_random_state

from auctor.data import Table, read_labels, read_weights
from auctor.data.copies import find_copies, unit_of_rows
from auctor.data.labelled import check_lengths

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
    table: Table,
    categorical: frozenset[int] = frozenset(),
) -> list[tuple[Rows, Rows]]:
    """Rows to train and to test on, both classes in each; rows of weight 0 in no test.

    ``cv`` is a number of folds, stratified and shuffled, or what scikit-learn's tools take; None is
    5 folds, fewer where a class has fewer rows, and none where it has a single one. Copies of a
    row in ``table`` are in one fold, unless a splitter was given. ``instead`` names what does
    without folds.
    """
    check_lengths(table.n_rows, len(y))
    weight = read_weights(sample_weight, len(y))
    if cv is not None and not isinstance(cv, (int, np.integer)):
        counts = np.ones(len(y), dtype=bool) if weight is None else weight > 0
        splitter = check_cv(cv, y, classifier=True)
        try:
            folds = [(a, np.asarray(b)) for a, b in splitter.split(np.empty((len(y), 1)), y)]
        except (TypeError, ValueError) as error:
            raise ValueError(
                f"cv is {str(cv)[:60]}, which gives no folds ({error}); give a number of folds, a "
                "scikit-learn splitter, or a list of (train rows, test rows)"
            ) from error
        if not folds:
            raise ValueError("cv gives no folds; give a number of folds, 2 or more")
        positive = read_labels(y, pos_label=pos_label).positive
        return [_check_fold(k, *fold, positive, counts) for k, fold in enumerate(folds, start=1)]
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
    kept = None if weight is None else weight > 0
    copies = find_copies(table, kept, positive, categorical)
    first_of = unit_of_rows(copies, positive, cv)
    fold = fold_of_rows(first_of, positive, StratifiedKFold(cv, shuffle=True, random_state=seed))
    return [(rows[fold != k], rows[fold == k]) for k in range(cv)]


def fold_of_rows(
    first_of: npt.NDArray[np.int64], positive: npt.NDArray[np.bool_], cutter: StratifiedKFold
) -> npt.NDArray[np.int64]:
    """The fold of each row: that of the first row of its unit."""
    drawn = np.unique(first_of)
    fold = np.zeros(len(positive), dtype=np.int64)
    for k, (_, test) in enumerate(cutter.split(drawn[:, None], positive[drawn])):
        fold[drawn[test]] = k
    return np.asarray(fold[first_of])


def _check_fold(
    number: int, train: Any, test: Any, positive: npt.NDArray[np.bool_], counts: Any
) -> tuple[Rows, Rows]:
    """Rows of a fold that was given, as places in the table; both classes must be in each."""
    out = []
    for rows, what in ((train, "trains"), (test, "tests")):
        places = np.asarray(rows)
        if places.dtype == bool and len(places) == len(positive):
            places = np.flatnonzero(places)
        if places.dtype.kind not in "iu" or (places.size and places.max() >= len(positive)):
            raise ValueError(
                f"cv: fold {number} {what} on {str(rows)[:40]}; give places of rows below "
                f"{len(positive)}"
            )
        places = places[counts[places]]
        n_pos = int(positive[places].sum())
        if n_pos == 0 or n_pos == len(places):
            raise ValueError(
                f"cv: fold {number} {what} on {n_pos} positive and {len(places) - n_pos} negative "
                "rows; both classes are needed"
            )
        out.append(places)
    return out[0], out[1]
