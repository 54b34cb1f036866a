"""Cross-validation: every row scored by a model that has not seen it, and the AUC of that."""

from dataclasses import dataclass
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import _safe_indexing, check_random_state

from auctor._progress import Progress
from auctor._typing import Bools, Floats, Indices, Ints
from auctor.data import Table, check_sparse, read_labels, read_vector, read_weights
from auctor.data.copies import find_copies, unit_of_rows
from auctor.data.labelled import check_lengths
from auctor.estimators.copied_rows import CopiedRows, find_copied_rows
from auctor.estimators.score_scale import scores_at, training_ranks
from auctor.metrics import AucInterval, auc_ci, fold_instability

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
) -> list[tuple[Indices, Indices]]:
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


def fold_of_rows(first_of: Ints, positive: Bools, cutter: StratifiedKFold) -> Ints:
    """The fold of each row: that of the first row of its unit."""
    drawn = np.unique(first_of)
    fold = np.zeros(len(positive), dtype=np.int64)
    for k, (_, test) in enumerate(cutter.split(drawn[:, None], positive[drawn])):
        fold[drawn[test]] = k
    return np.asarray(fold[first_of])


def _check_fold(
    number: int, train: Any, test: Any, positive: Bools, counts: Any
) -> tuple[Indices, Indices]:
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


# Rows of each class that all models score, to see how much the models differ.
_MOST_PROBED = 5000
_INNER_FOLDS = 5  # of an estimator that cross-validates itself


@dataclass(frozen=True, eq=False)
class CrossValidation:
    """What cross-validation found.

    Attributes
    ----------
    scores : ndarray of shape (n_rows,)
        Out-of-fold scores: each by the model that was fitted without the row's fold.
        Scores of different folds come from different models and do not compare.
    ranks : ndarray of shape (n_rows, 2) or None
        The share of the training rows of the fold's model that this model scores below the row,
        and at or below it; a scale that all folds share. None for estimators of other libraries.
    folds : ndarray of shape (n_rows,)
        The fold of each row, from 0.
    auc : AucInterval
        Mean of the AUCs within the folds, and its interval. It estimates the expected AUC, on new
        rows, of models that the estimator fits to as many rows as a training set of the folds has;
        a model fitted to all rows has slightly more.
    instability : float
        The share of the variance of that mean which comes from the training sets, between 0 and 1
        (:func:`auctor.metrics.fold_instability`). The interval counts it.
    scores_by_fold : ndarray of shape (n_rows, n_folds)
        The scores of the rows by the model of every fold, for ``fold_instability``. Those of a
        row by models that were fitted with it say nothing of how good they are. Of large tables
        only some rows of each class are scored by all models, the others are NaN.
    groups : ndarray of shape (n_rows,) or None
        Rows that count as one in the interval: the groups that were given; without groups, the
        copies of a row where at least half of a class are copies, else None.
    """

    scores: Floats
    folds: Ints
    auc: AucInterval
    instability: float
    scores_by_fold: Floats
    ranks: Floats | None = None
    groups: npt.NDArray[Any] | None = None

    def scores_of(self, model: Any, X: Any, sample_weight: Any = None) -> Floats:
        """The out-of-fold scores on the scale of one model that was fitted to all rows.

        Parameters
        ----------
        model : Model or fitted estimator
        X : table
            The rows that were cross-validated, to which ``model`` was fitted.
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        ndarray of shape (n_rows,)
            Each score goes to that score of the model which has the same rank among the scores of
            the training rows as the score had in its fold. So a threshold flags out-of-fold rows
            as the model flags new ones, for every kind of model. Calibrated probabilities would
            have to be right in each fold, which those of a tree with a few leaves are not.
        """
        if self.ranks is None:
            return self.scores
        training = np.asarray(model.decision_function(X), dtype=np.float64)
        return scores_at(training, read_weights(sample_weight, len(training)), self.ranks)


def cross_validate(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    groups: Any = None,
    pos_label: Any = None,
    n_folds: int = 5,
    folds: Any = None,
    random_state: Any = 0,
    verbose: bool = False,
) -> CrossValidation:
    """Fit a clone for each of several stratified, shuffled folds and score the fold with it.

    Copies of a row (equal features and the same label) are in one fold, unless ``groups`` or
    ``folds`` say otherwise: a model that was fitted to one of them has seen them all. Only where
    a group of copies is more than half of a fold's rows of its class is it spread over the folds.
    Where at least half of a class are copies, they count as one row in the interval.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``
        It is cloned, never fitted itself.
    X : table
        Of any kind that the estimator takes: numpy, pandas, polars, pyarrow, sparse.
    y : array-like of shape (n_rows,)
        Two labels.
    sample_weight : array-like of shape (n_rows,), optional
        Used in fitting and in the AUC; the interval is that of Kish's number of rows.
    groups : array-like of shape (n_rows,), optional
        Rows of one group (a customer, a patient) go to one fold, so that no model is judged by
        rows of those it was fitted on, and vary together in the interval.
    pos_label : label, optional
        The positive one; by default the estimator's own ``pos_label``, or the larger label.
    n_folds : int, default=5
        Each class needs two rows (of weight above zero) in every fold.
    folds : array-like of shape (n_rows,), optional
        The fold of each row, for instance those of another model that this one is to be
        compared with; in the place of ``n_folds``.
    random_state : int, RandomState or None, default=0
        Shuffles the rows.
    verbose : bool, default=False
        A progress bar on stderr.

    Returns
    -------
    CrossValidation

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import RankBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> found = cross_validate(RankBoost(n_estimators=20), X, y, n_folds=3)
    >>> found.scores.shape, found.auc.n_folds
    ((569,), 3)
    """
    labels = read_vector(y, "y")
    if pos_label is None:
        pos_label = getattr(estimator, "pos_label", None)
    known = read_labels(labels, pos_label=pos_label)
    weight = read_weights(sample_weight, len(labels))
    rng = check_random_state(random_state)
    table = _collected(X)
    _check_length(table, len(labels))
    copied = None if groups is not None else find_copied_rows(table, known.positive, weight)
    if folds is None:
        folds = assign_folds(known.positive, weight, groups, n_folds, rng, copied)
    else:
        folds = _read_folds(folds, len(labels))
    _check_folds(known.positive, weight, groups, folds)
    together = None if groups is None else read_vector(groups, "groups")
    if copied is not None:
        together = copied.groups(int(folds.max()) + 1)
    scores, ranks = np.empty(len(labels)), np.full((len(labels), 2), np.nan)
    probed = _probed(known.positive, weight)
    by_fold = np.full((len(labels), int(folds.max()) + 1), np.nan)
    progress = Progress(int(folds.max()) + 1, "folds", verbose)
    for fold in range(int(folds.max()) + 1):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        weights = {} if weight is None else {"sample_weight": weight[train]}
        own = None if groups is None else read_vector(groups, "groups")[train]
        model = with_group_folds(
            clone(estimator), known.positive[train], own, weights.get("sample_weight")
        )
        fitted = model.fit(_take(table, train), labels[train], **weights)
        scores[test] = _score(fitted, _take(table, test), known.classes[1])
        by_fold[test, fold] = scores[test]
        others = probed[folds[probed] != fold]
        by_fold[others, fold] = _score(fitted, _take(table, others), known.classes[1])
        if hasattr(fitted, "model_"):
            own_scores = _score(fitted, _take(table, train), known.classes[1])
            ranks[test] = training_ranks(own_scores, weights.get("sample_weight"), scores[test])
        progress.step()
    progress.close()
    told: dict[str, Any] = {"groups": together, "sample_weight": weight}
    instability = _instability(known.positive, by_fold, folds, told)
    interval = auc_ci(known.positive, scores, folds=folds, instability=instability, **told)
    is_known = bool(np.isfinite(ranks).all())
    return CrossValidation(
        scores, folds, interval, instability, by_fold, ranks if is_known else None, together
    )


def compare_instability(
    y: Any, ours: CrossValidation, other: CrossValidation, weight: Any = None
) -> float:
    """Share of the variance of the difference of two AUCs that comes from the training sets."""
    told = {"groups": ours.groups, "sample_weight": weight, "scores_b": other.scores_by_fold}
    return _instability(y, ours.scores_by_fold, ours.folds, told)


def _instability(y: Any, by_fold: Floats, folds: Indices, told: dict[str, Any]) -> float:
    """As measured; scores that are not finite have no influence to compare: the worst case."""
    try:
        return fold_instability(y, by_fold, folds, **told)
    except ValueError:  # too few rows of a fold were scored by all
        return 1.0


def _probed(positive: Bools, weight: Floats | None) -> Indices:
    """Rows that all models score: all, or some thousand of each class, the same every time."""
    present = np.ones(len(positive), dtype=bool) if weight is None else weight > 0
    rng, chosen = np.random.default_rng(0), []
    for rows in (np.flatnonzero(positive & present), np.flatnonzero(~positive & present)):
        few = rng.permutation(rows)[:_MOST_PROBED]
        chosen.append(few)
    return np.sort(np.concatenate(chosen))


def with_group_folds(
    estimator: Any, positive: Bools, groups: Any, weight: Floats | None = None
) -> Any:
    """An estimator that cross-validates itself, told to keep the groups together.

    Where ``cv`` is a number of folds, or left to the estimator; others are returned as they are.
    """
    cv = estimator.get_params().get("cv", "no such parameter")
    if groups is None or not (cv is None or isinstance(cv, (int, np.integer))):
        return estimator
    values = np.asarray(groups).astype(str)
    smallest = min(len(np.unique(values[positive])), len(np.unique(values[~positive])))
    n_folds = min(_INNER_FOLDS if cv is None else int(cv), smallest)
    if n_folds < 2:
        return estimator
    cutter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=0)
    folds = list(cutter.split(np.empty((len(values), 1)), positive, values))
    counts = np.ones(len(values), dtype=bool) if weight is None else weight > 0
    present = [rows[counts[rows]] for fold in folds for rows in fold]
    is_fit = all(0 < positive[rows].sum() < len(rows) for rows in present)
    return estimator.set_params(cv=folds) if is_fit else estimator


def assign_folds(
    positive: Bools,
    weight: Floats | None,
    groups: Any,
    n_folds: int,
    rng: np.random.RandomState,
    copied: CopiedRows | None = None,
) -> Ints:
    """A fold for each row: stratified and shuffled, rows of weight zero not counted."""
    if not isinstance(n_folds, (int, np.integer)) or n_folds < 2:
        raise ValueError(f"n_folds is {n_folds!r}; give a whole number, 2 or more")
    # A row of weight zero is absent: it is scored, but must not decide the fold of another.
    folds = np.arange(len(positive), dtype=np.int64) % n_folds
    present = np.arange(len(positive)) if weight is None else np.flatnonzero(weight > 0)
    n_pos = int(positive[present].sum())
    smallest = min(n_pos, len(present) - n_pos)
    if smallest < 2 * n_folds:
        raise ValueError(
            f"n_folds={n_folds} needs {2 * n_folds} rows of each class, two in every fold; "
            f"the smaller class has {smallest}"
        )
    seed = int(rng.randint(2**31 - 1))
    if groups is None:
        cutter = StratifiedKFold(n_folds, shuffle=True, random_state=seed)
        units = np.arange(len(present)) if copied is None else copied.units(n_folds)
        folds[present] = fold_of_rows(units, positive[present], cutter)
        return folds
    splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
    codes = _group_codes(groups, len(positive), n_folds)[present]
    for fold, (_, test) in enumerate(splitter.split(present, positive[present], codes)):
        folds[present[test]] = fold
    return folds


def _group_codes(groups: Any, n_rows: int, n_folds: int) -> Ints:
    """Groups as numbers; an error where there are fewer than folds."""
    values = read_vector(groups, "groups")
    if len(values) != n_rows:
        raise ValueError(f"groups has {len(values)} values for {n_rows} rows")
    distinct, codes = np.unique(values.astype(str), return_inverse=True)
    if len(distinct) < n_folds:
        raise ValueError(
            f"groups has {len(distinct)} groups for n_folds={n_folds}; use fewer folds"
        )
    return codes.astype(np.int64)


def _read_folds(folds: Any, n_rows: int) -> Ints:
    """Folds that were given, numbered from 0."""
    values = read_vector(folds, "folds")
    if len(values) != n_rows:
        raise ValueError(f"folds has {len(values)} values for {n_rows} rows")
    distinct, codes = np.unique(values, return_inverse=True)
    if len(distinct) < 2:
        raise ValueError(f"folds has {len(distinct)} fold; at least 2 are needed")
    return codes.astype(np.int64)


def _check_folds(
    positive: Bools,
    weight: Floats | None,
    groups: Any,
    folds: Ints,
) -> None:
    """What the interval within folds needs of each, told before anything is fitted."""
    present = np.ones(len(folds), dtype=bool) if weight is None else weight > 0
    values = None if groups is None else read_vector(groups, "groups").astype(str)
    for fold in range(int(folds.max()) + 1):
        rows = (folds == fold) & present
        n_pos, n_rows = int(positive[rows].sum()), int(rows.sum())
        if min(n_pos, n_rows - n_pos) < 2:
            raise ValueError(
                f"fold {fold} has {n_pos} positive and {n_rows - n_pos} negative row(s), and every "
                "fold needs two of each; use fewer folds"
            )
        if values is not None and len(np.unique(values[rows])) < 2:
            raise ValueError(
                f"fold {fold} holds one of the {len(np.unique(values))} groups alone, which does "
                "not tell how groups vary; use fewer folds"
            )


def _score(fitted: Any, rows: Any, positive_label: Any) -> Floats:
    """What a model ranks by, larger towards the positive label."""
    if hasattr(fitted, "decision_function"):
        scores = np.asarray(fitted.decision_function(rows), dtype=np.float64)
        # Ours grow towards their pos_label; others towards the larger label.
        is_ours = hasattr(fitted, "pos_label_")
        return scores if is_ours or fitted.classes_[1] == positive_label else -scores
    column = int(np.flatnonzero(np.asarray(fitted.classes_) == positive_label)[0])
    return np.asarray(fitted.predict_proba(rows), dtype=np.float64)[:, column]


def _collected(X: Any) -> Any:
    """A narwhals frame where X is a data frame of any library, else X."""
    if sparse.issparse(X):
        check_sparse(X)  # before rows are taken from it
    frame = nw.from_native(X, pass_through=True)
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def _check_length(table: Any, n_labels: int) -> None:
    n_rows = table.shape[0] if hasattr(table, "shape") else len(table)
    if n_rows != n_labels:
        raise ValueError(f"X and y have inconsistent numbers of samples: {n_rows} and {n_labels}")


def _take(table: Any, rows: Indices) -> Any:
    """Some rows of a table, as a table of the same kind."""
    if isinstance(table, nw.DataFrame):
        return table[rows, :].to_native()
    return _safe_indexing(table, rows)
