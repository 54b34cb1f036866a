"""Cross-validation: every row scored by a model that has not seen it, and the AUC of that."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone
from sklearn.utils import check_random_state

from auctor._pos_label import asked_pos_label
from auctor._progress import Progress
from auctor._typing import Bools, Floats, Indices
from auctor.data import read_labels, read_vector, read_weights
from auctor.data.labelled import check_lengths
from auctor.data.labels import Labels
from auctor.estimators.base import RankingEstimator
from auctor.estimators.checkpointing import read_checkpoint
from auctor.estimators.folds import (
    Fold,
    assign_folds,
    check_folds,
    find_copied_rows,
    read_folds,
    with_group_folds,
)
from auctor.estimators.out_of_fold import CrossValidation as CrossValidation
from auctor.estimators.out_of_fold import training_ranks
from auctor.estimators.table_rows import (
    collect_rows,
    count_rows,
    estimator_scores,
    take_rows,
)
from auctor.estimators.time_folds import folds_of_blocks, time_blocks
from auctor.learners.checkpoint.checkpoint import Checkpoint
from auctor.metrics import auc_ci, fold_instability

# Rows of each class that all models score, to see how much the models differ.
MOST_PROBED = 5000
# With so many training rows a fold may take long, and the progress of the first one is shown.
_MANY_ROWS = 100_000


def cross_val_auc(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    cv: int = 5,
    folds: Any = None,
    groups: Any = None,
    time: Any = None,
    sample_weight: Any = None,
    pos_label: Any = None,
    random_state: Any = 0,
    verbose: bool = False,
    checkpoint: Any = None,
) -> CrossValidation:
    """The cross-validated AUC of an estimator, with a confidence interval.

    A clone of the estimator is fitted without each fold in turn and scores the rows of the fold.

    Copies of a row (equal features and the same label) go to one fold, unless ``groups`` or
    ``folds`` are given: a model that was fitted to one of them has seen them all. A group of copies
    is spread over the folds only where it is more than half of a fold's rows of its class. Where
    at least half of a class are copies, the interval counts the copies of a row as one row.

    Parameters
    ----------
    estimator : classifier with ``decision_function`` or ``predict_proba``
        It is cloned; the given estimator itself is not fitted.
    X : table
        A table of any kind that the estimator accepts: numpy, pandas, polars, pyarrow or sparse.
    y : array-like of shape (n_rows,)
        Labels of two classes.
    cv : int, default=5
        Number of folds, stratified and shuffled. Each class needs two rows (of weight above 0) in
        every fold.
    folds : array-like of shape (n_rows,), default=None
        The fold of each row, in place of ``cv``; for instance the ``folds`` of another result that
        this one is to be compared with.
    groups : array-like of shape (n_rows,), default=None
        Rows of one group (a customer, a patient) go to one fold, so that no model is evaluated on
        a group that it was fitted to. The interval allows for dependence within groups.
    time : array-like of shape (n_rows,), default=None
        When each row was observed: numbers, dates, or texts such as 2024-01-31 or 2024-W05, which
        sort in the order of time. Rows are then divided into ``cv`` + 1 periods of about equally
        many rows, and each period but the first is a fold, predicted by a model of all rows before
        it. Rows of the same time are in the same period. With ``groups``, rows of a
        group in the fold are left out of its training rows.
    sample_weight : array-like of shape (n_rows,), default=None
        Used in fitting and in the AUC. The interval uses the effective number of rows.
    pos_label : label, default=None
        The positive class. None takes that of the estimator, also of one in a pipeline or a
        search, or the larger of the two labels.
    random_state : int, RandomState instance or None, default=0
        Seed of the random choices. None makes different choices in every call.
    verbose : bool, default=False
        Whether to show a progress bar on stderr.
    checkpoint : str, Path or Checkpoint, default=None
        A folder for the state of the fits, if the estimator supports it (see its ``fit``). If the
        cross-validation is interrupted, the same call goes on: folds that were finished are not
        fitted again. The state is removed at the end.

    Returns
    -------
    CrossValidation

    See Also
    --------
    sklearn.model_selection.cross_validate : scores of any metric for each fold, no interval.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import RankBoost, cross_val_auc
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = cross_val_auc(RankBoost(n_estimators=20), X, y, cv=3)
    >>> print(result.auc)
    cross-validated AUC 0.988 (95% CI 0.96... to 0.99..., DeLong within folds, ...
    >>> result.scores.shape
    (569,)
    """
    names = read_vector(y, "y")
    if pos_label is None:
        pos_label = asked_pos_label(estimator)
    labels = read_labels(names, pos_label=pos_label)
    weight = read_weights(sample_weight, len(names))
    rng = check_random_state(random_state)
    kept = _read_checkpoint(checkpoint, estimator, random_state)
    table = collect_rows(X)
    check_lengths(count_rows(table), len(names))
    if time is not None:
        if folds is not None:
            raise ValueError("time and folds are given; give one of them")
        rows = _Rows(table, names, labels, weight, _read_groups(groups))
        return _validate_in_time(estimator, rows, time, cv, verbose, kept)
    copied = None if groups is not None else find_copied_rows(table, labels.positive, weight)
    if folds is None:
        folds = assign_folds(labels.positive, weight, groups, cv, rng, copied)
    else:
        folds = read_folds(folds, len(names))
    check_folds(labels.positive, weight, groups, folds)
    given = _read_groups(groups)
    plan = [
        (np.flatnonzero(folds != k), np.flatnonzero(folds == k)) for k in range(folds.max() + 1)
    ]
    probed = _probed(labels.positive, weight)
    rows = _Rows(table, names, labels, weight, given)
    scored = _score_folds(estimator, rows, plan, probed, verbose, kept)
    together = given if copied is None else copied.groups(int(folds.max()) + 1)
    options: dict[str, Any] = {"groups": together, "sample_weight": weight}
    instability = _instability(labels.positive, scored.by_fold, folds, options)
    interval = auc_ci(
        labels.positive, scored.scores, folds=folds, instability=instability, **options
    )
    is_known = bool(np.isfinite(scored.ranks).all())
    ranks = scored.ranks if is_known else None
    return CrossValidation(
        scored.scores, folds, interval, instability, scored.by_fold, ranks, together
    )


def _read_groups(groups: Any) -> npt.NDArray[Any] | None:
    return None if groups is None else read_vector(groups, "groups")


def _read_checkpoint(checkpoint: Any, estimator: Any, random_state: Any) -> Checkpoint | None:
    """The checkpoint of a cross-validation, whose folds must be the same in the next call."""
    kept = read_checkpoint(checkpoint, estimator)
    if kept is not None and random_state is None:
        raise ValueError(
            "random_state is None, with which the folds would be others when the cross-validation "
            "goes on; give a number"
        )
    return kept


def _validate_in_time(
    estimator: Any,
    rows: "_Rows",
    time: Any,
    cv: int,
    verbose: bool,
    checkpoint: Checkpoint | None,
) -> CrossValidation:
    """Each period but the first, predicted by a model of the rows before it."""
    positive, weight, groups = rows.labels.positive, rows.weight, rows.groups
    blocks = time_blocks(time, positive, weight, cv)
    plan = folds_of_blocks(blocks, groups)
    tested = np.flatnonzero(blocks > 0)
    folds = blocks[tested] - 1
    options: dict[str, Any] = {
        "groups": None if groups is None else groups[tested],
        "sample_weight": None if weight is None else weight[tested],
    }
    check_folds(positive[tested], options["sample_weight"], options["groups"], folds)
    nothing = np.empty(0, dtype=np.intp)
    scored = _score_folds(estimator, rows, plan, nothing, verbose, checkpoint)
    scores, ranks = scored.scores[tested], scored.ranks[tested]
    # A row is tested before it is trained on, so that no two rows act on each other, and the
    # variance within the folds is the whole variance.
    interval = auc_ci(positive[tested], scores, folds=folds, instability=0.0, **options)
    return CrossValidation(
        scores,
        folds,
        interval,
        instability=0.0,
        scores_by_fold=scored.by_fold[tested],
        ranks=ranks if bool(np.isfinite(ranks).all()) else None,
        groups=options["groups"],
        rows=tested,
    )


class _Rows(NamedTuple):
    """The rows that are cross-validated."""

    table: Any
    names: npt.NDArray[Any]  # the labels as given
    labels: Labels
    weight: Floats | None
    groups: npt.NDArray[Any] | None


class _Scored(NamedTuple):
    """Scores by the models of the folds, as ``CrossValidation`` has them."""

    scores: Floats
    ranks: Floats
    by_fold: Floats


def _score_folds(
    estimator: Any,
    rows: _Rows,
    plan: Sequence[Fold],
    probed: Indices,
    verbose: bool,
    checkpoint: Checkpoint | None,
) -> _Scored:
    """Score the test rows of each fold, and the rows in ``probed`` by the models of all folds."""
    n_rows, n_folds = len(rows.names), len(plan)
    scores, ranks = np.full(n_rows, np.nan), np.full((n_rows, 2), np.nan)
    by_fold = np.full((n_rows, n_folds), np.nan)
    progress = Progress(n_folds, "folds", verbose)
    for fold, (train, test) in enumerate(plan):
        # Nothing is known of the time left before the end of the first fold.
        is_long = verbose and fold == 0 and len(train) >= _MANY_ROWS
        kept = None if checkpoint is None else checkpoint.part(f"fold-{fold + 1}")
        fitted = _fit_rows(_shown(estimator) if is_long else estimator, rows, train, kept)
        scores[test] = by_fold[test, fold] = _score_rows(fitted, rows, test)
        if len(probed):
            others = np.setdiff1d(probed, test, assume_unique=True)
            by_fold[others, fold] = _score_rows(fitted, rows, others)
        if hasattr(fitted, "model_"):
            weight = None if rows.weight is None else rows.weight[train]
            ranks[test] = training_ranks(_score_rows(fitted, rows, train), weight, scores[test])
        progress.step()
    progress.close()
    if checkpoint is not None:
        checkpoint.finish()
    return _Scored(scores, ranks, by_fold)


def _shown(estimator: Any) -> Any:
    """The estimator with its own progress on stderr, where it is one of ours that has it."""
    is_ours = isinstance(estimator, RankingEstimator)
    has_progress = is_ours and "verbose" in estimator.get_params()
    return clone(estimator).set_params(verbose=True) if has_progress else estimator


def _fit_rows(
    estimator: Any, rows: _Rows, train: Indices, checkpoint: Checkpoint | None = None
) -> Any:
    """A clone that was fitted to some of the rows."""
    weight = None if rows.weight is None else rows.weight[train]
    groups = None if rows.groups is None else rows.groups[train]
    model = with_group_folds(clone(estimator), rows.labels.positive[train], groups, weight)
    options: dict[str, Any] = {} if weight is None else {"sample_weight": weight}
    if checkpoint is not None:
        options["checkpoint"] = checkpoint
    return model.fit(take_rows(rows.table, train), rows.names[train], **options)


def _score_rows(fitted: Any, rows: _Rows, chosen: Indices) -> Floats:
    return estimator_scores(fitted, take_rows(rows.table, chosen), rows.labels.classes[1])


def compare_instability(
    y: Any, ours: CrossValidation, other: CrossValidation, weight: Any = None
) -> float:
    """Fraction of the variance of the difference of two AUCs that the training sets cause."""
    if ours.rows is not None:  # folds in the order of time
        return 0.0
    options = {"groups": ours.groups, "sample_weight": weight, "scores_b": other.scores_by_fold}
    return _instability(y, ours.scores_by_fold, ours.folds, options)


def _instability(y: Any, by_fold: Floats, folds: Indices, options: dict[str, Any]) -> float:
    """The measured instability; 1, the worst case, where it cannot be measured."""
    try:
        return fold_instability(y, by_fold, folds, **options)
    except ValueError:  # too few rows of a fold were scored by all
        return 1.0


def _probed(positive: Bools, weight: Floats | None) -> Indices:
    """Rows that all models score: all of a class, or some thousand, the same in every call."""
    present = np.ones(len(positive), dtype=bool) if weight is None else weight > 0
    rng, chosen = np.random.default_rng(0), []
    for rows in (np.flatnonzero(positive & present), np.flatnonzero(~positive & present)):
        chosen.append(rng.permutation(rows)[:MOST_PROBED])
    return np.sort(np.concatenate(chosen))
