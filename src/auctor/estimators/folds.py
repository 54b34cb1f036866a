"""Folds: which rows a model is fitted to, and which are held out.

Everything in the package that cross-validates draws its folds here, except for the pruning of
TreeRank, which has partitions of binned rows instead of a table.

Copies of a row stay in one fold; ``find_copied_rows`` finds them in a table.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
import numpy.typing as npt
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold, check_cv
from sklearn.utils import check_random_state

from auctor._checks import is_whole
from auctor._text import count
from auctor._typing import Bools, Floats, Indices, Ints
from auctor.data import find_categorical, read_labels, read_table, read_vector
from auctor.data.cluster.copies import find_shared_copies
from auctor.data.copies import find_copies, mostly_copies, unit_of_rows
from auctor.data.labelled import check_lengths
from auctor.data.weights import relative_weights
from auctor.estimators.fit_input import FitInput
from auctor.metrics import auc
from auctor.models import Model


class CopiedRows(NamedTuple):
    """Copies among the rows whose weight is above 0."""

    first: Ints  # for each of these rows: the position of its first copy among them
    positive: Bools  # whether each of these rows is positive
    present: Ints  # the positions of these rows in the table
    n_rows: int  # of the table

    def units(self, n_folds: int) -> Ints:
        """For each row with weight, the first of the rows that go to the same fold.

        A unit is at most half of a fold's rows of its class, so that every fold has at least two
        units of each class, which a confidence interval needs.
        """
        # Inner folds, which only choose between models, use units of at most a quarter of a fold
        # (``draw_units``). With few distinct rows that would let copies leak into the result.
        return unit_of_rows(self.first, self.positive, n_folds / 2)

    def groups(self, n_folds: int) -> Ints | None:
        """The group of each row of the table; None where few rows of each class are copies."""
        units, groups, is_any = self.units(n_folds), np.arange(self.n_rows), False
        for rows in (np.flatnonzero(~self.positive), np.flatnonzero(self.positive)):
            if mostly_copies(self.first, rows):
                groups[self.present[rows]] = self.present[units[rows]]
                is_any = is_any or len(np.unique(units[rows])) < len(rows)
        return groups if is_any else None


def find_copied_rows(X: Any, positive: Bools, weight: Any = None) -> CopiedRows | None:
    """Copies among the rows of a table of any kind; None if there are none.

    Examples
    --------
    >>> X, positive = np.repeat(np.arange(12.0), 2)[:, None], np.arange(24) >= 12
    >>> find_copied_rows(X, positive).groups(n_folds=2).tolist()[:6]
    [0, 0, 2, 2, 4, 4]
    """
    kept = None if weight is None or bool((weight > 0).all()) else weight > 0
    present = np.arange(len(positive)) if kept is None else np.flatnonzero(kept)
    try:
        native = X.to_native() if isinstance(X, nw.DataFrame) else X
        table = read_table(native, accept_sparse=True)
        first = find_copies(table, kept, positive[present])
    except (TypeError, ValueError):
        return None  # auctor cannot read the table, but the estimator may: dates, infinities
    return None if first is None else CopiedRows(first, positive[present], present, len(positive))


Fold = tuple[Indices, Indices]  # positions of the rows to train on and to test on
Masks = tuple[Bools, Bools]  # the same as masks

_USUAL_FOLDS = 5
_WANTED_CV = "give a number of folds, a scikit-learn splitter, or a list of (train rows, test rows)"


def draw_folds(
    cv: Any,
    given: FitInput,
    *,
    pos_label: Any,
    categorical_features: Any,
    random_state: Any,
    instead: str,
) -> list[Fold]:
    """Folds inside an estimator: both classes in each, and rows of weight 0 in none.

    ``cv`` is a number of folds, stratified and shuffled, or what scikit-learn's tools take. None is
    5 folds, fewer where a class has fewer rows, and no fold where a class has one row. Copies of a
    row are in one fold, unless a splitter was given. ``instead`` names an estimator that needs no
    folds, for the error message.
    """
    check_lengths(given.table.n_rows, len(given.y))
    if cv is not None and not isinstance(cv, (int, np.integer)):
        return _given_folds(cv, given, pos_label)
    n_folds, fold = _draw_numbers(cv, given, pos_label, categorical_features, random_state, instead)
    rows = np.arange(len(fold)) if given.table.group.size > 1 else _own_rows(given)
    return [(rows[fold != k], rows[fold == k]) for k in range(n_folds)]


def draw_masks(cv: Any, given: FitInput, *, most: int | None = None, **options: Any) -> list[Masks]:
    """The folds of ``draw_folds`` as masks over the rows of positive weight.

    That is what binned rows need. ``most`` is the number of folds that are used; None for all.
    Numbers of folds become masks without lists of rows, which would take 8 bytes for each row and
    fold.
    """
    if cv is not None and not isinstance(cv, (int, np.integer)):
        return as_masks(draw_folds(cv, given, **options)[:most], given)
    check_lengths(given.table.n_rows, len(given.y))
    n_folds, fold = _draw_numbers(cv, given, **options)
    return [(fold != k, fold == k) for k in range(n_folds)[:most]]


def _draw_numbers(
    cv: int | np.integer[Any] | None,
    given: FitInput,
    pos_label: Any,
    categorical_features: Any,
    random_state: Any,
    instead: str,
) -> tuple[int, Ints]:
    """The number of folds, and the fold of each row of positive weight."""
    positive, positions = _rows_to_divide(given, pos_label)
    fewest = min(int(positive.sum()), int((~positive).sum()))
    if cv is None:
        cv = min(_USUAL_FOLDS, fewest)
        if cv < 2:
            return 0, np.zeros(len(positive), dtype=np.int64)
    if fewest < cv:
        raise ValueError(
            f"cv={cv} folds need {cv} rows of each class, and one class has "
            f"{fewest}; give a smaller cv, or use {instead}"
        )
    seed = check_random_state(random_state).randint(2**31 - 1)
    kept = None if given.weight is None else given.weight > 0
    categorical = find_categorical(categorical_features, given.table)
    if positions is None:
        copies = find_copies(given.table, kept, positive, categorical)
    else:
        copies = find_shared_copies(given.table, kept, positions, positive[positions], categorical)
    first_of = unit_of_rows(copies, positive, int(cv))
    splitter = StratifiedKFold(cv, shuffle=True, random_state=seed)
    return int(cv), fold_of_rows(first_of, positive, splitter)


def _own_rows(given: FitInput) -> Ints:
    """The rows of positive weight of this process."""
    return given.pick(np.arange(len(given.y)))


def _rows_to_divide(given: FitInput, pos_label: Any) -> tuple[Bools, Ints | None]:
    """Whether each row of positive weight is positive, and the positions of one's own rows.

    In a group they are those of all members, and positions are among them; None outside of one.
    """
    group = given.table.group
    positive = read_labels(given.pick(given.y), pos_label=pos_label, group=group).positive
    if group.size == 1:
        return positive, None
    kept = None if given.weight is None else given.weight > 0
    positions = given.table.positions(kept)
    everyone = group.gather((positions, positive))
    whole = np.empty(sum(len(rows) for rows, _ in everyone), dtype=np.bool_)
    for rows, is_positive in everyone:
        whole[rows] = is_positive
    return whole, positions


def _given_folds(cv: Any, given: FitInput, pos_label: Any) -> list[Fold]:
    """The folds of a splitter or of an iterable, checked."""
    y = given.y
    splitter = check_cv(cv, y, classifier=True)
    try:
        folds = [(a, np.asarray(b)) for a, b in splitter.split(np.empty((len(y), 1)), y)]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"cv is {str(cv)[:60]}, which gives no folds ({error}); {_WANTED_CV}"
        ) from error
    if not folds:
        raise ValueError("cv gives no folds; give a number of folds, 2 or more")
    positive = read_labels(y, pos_label=pos_label).positive
    counts = np.ones(len(y), dtype=bool) if given.weight is None else given.weight > 0
    return [_check_fold(k, *fold, positive, counts) for k, fold in enumerate(folds, start=1)]


def _check_fold(
    number: int, train: Any, test: Any, positive: Bools, counts: Bools
) -> tuple[Indices, Indices]:
    """The rows of a fold that was given, as positions; both classes must be in each part."""
    parts = []
    for rows, what in ((train, "trains"), (test, "tests")):
        positions = np.asarray(rows)
        if positions.dtype == bool and len(positions) == len(positive):
            positions = np.flatnonzero(positions)
        is_index = positions.dtype.kind in "iu"
        if not is_index or (positions.size and positions.max() >= len(positive)):
            raise ValueError(
                f"cv: fold {number} {what} on {str(rows)[:40]}; give positions of rows below "
                f"{len(positive)}"
            )
        positions = positions[counts[positions]]
        n_pos = int(positive[positions].sum())
        if n_pos == 0 or n_pos == len(positions):
            raise ValueError(
                f"cv: fold {number} {what} on {n_pos} positive and {len(positions) - n_pos} "
                "negative rows; give folds with both classes"
            )
        parts.append(positions)
    return parts[0], parts[1]


def as_masks(folds: Sequence[Fold], given: FitInput) -> list[Masks]:
    """The same folds as masks over the rows of positive weight, as binned rows need them."""
    masks = []
    is_shared = given.table.group.size > 1  # then folds are of the rows of positive weight alone
    for train, test in folds:
        n_rows = len(train) + len(test) if is_shared else len(given.y)
        marks = np.zeros((n_rows, 2), dtype=bool)
        marks[train, 0] = marks[test, 1] = True
        in_train, in_test = marks.T if is_shared else given.pick(marks).T
        masks.append((in_train, in_test))
    return masks


def held_out_aucs(
    folds: Sequence[Fold], given: FitInput, fit_models: Callable[[Floats], Iterable[Model]]
) -> list[list[float]]:
    """For each model of a path of models: the AUC of the held-out rows of every fold.

    ``fit_models`` gets the weights of all rows, 0 for those held out, so that no kind of table has
    to be cut, and returns the models of the path in order.
    """
    weight = np.ones(len(given.y)) if given.weight is None else given.weight
    relative = _without_scale(weight)
    by_fold = []
    for train, test in folds:
        kept = np.zeros(len(weight))
        kept[train] = weight[train]
        options = {"sample_weight": relative[test]}
        by_fold.append(
            [
                auc(
                    given.y[test],
                    model.decision_function(given.X)[test],
                    pos_label=model.classes[1],
                    **options,
                )
                for model in fit_models(kept)
            ]
        )
    return [list(values) for values in zip(*by_fold, strict=True)]


def _without_scale(weight: Floats) -> Floats:
    """Weights without their common factor, which must not decide between equal AUCs."""
    present = weight > 0
    relative = np.zeros(len(weight))
    relative[present] = relative_weights(weight[present], int(np.count_nonzero(present)))
    return relative


def summarise(aucs: Sequence[Sequence[float]]) -> dict[str, npt.NDArray[Any]]:
    """The entries of ``cv_results_`` that follow from the AUC of each candidate in each fold.

    Examples
    --------
    >>> summarise([[0.5, 0.7], [0.8, 0.8]])["mean_auc"].tolist()
    [0.6, 0.8]
    """
    return {
        "mean_auc": np.array([np.mean(each) if len(each) else np.nan for each in aucs]),
        "std_auc": np.array([np.std(each, ddof=1) if len(each) > 1 else 0.0 for each in aucs]),
        "aucs": np.array(aucs),
    }


def fold_of_rows(first_of: Ints, positive: Bools, splitter: StratifiedKFold) -> Ints:
    """The fold of each row: that of the first row of its unit."""
    drawn = np.unique(first_of)
    fold = np.zeros(len(positive), dtype=np.int64)
    for k, (_, test) in enumerate(splitter.split(drawn[:, None], positive[drawn])):
        fold[drawn[test]] = k
    return np.asarray(fold[first_of])


def with_group_folds(
    estimator: Any, positive: Bools, groups: Any, weight: Floats | None = None
) -> Any:
    """The estimator with inner folds that keep the groups together, where it has a ``cv``.

    Only where ``cv`` is a number or None; other estimators are returned as they are.
    """
    cv = estimator.get_params().get("cv", "no such parameter")
    is_number = cv is None or isinstance(cv, (int, np.integer))
    if groups is None or not is_number:
        return estimator
    values = np.asarray(groups).astype(str)
    smallest = min(len(np.unique(values[positive])), len(np.unique(values[~positive])))
    n_folds = min(_USUAL_FOLDS if cv is None else int(cv), smallest)
    if n_folds < 2:
        return estimator
    splitter = StratifiedGroupKFold(n_folds, shuffle=True, random_state=0)
    folds = list(splitter.split(np.empty((len(values), 1)), positive, values))
    counts = np.ones(len(values), dtype=bool) if weight is None else weight > 0
    present = [rows[counts[rows]] for fold in folds for rows in fold]
    are_usable = all(0 < positive[rows].sum() < len(rows) for rows in present)
    return estimator.set_params(cv=folds) if are_usable else estimator


def assign_folds(
    positive: Bools,
    weight: Floats | None,
    groups: Any,
    cv: int,
    rng: np.random.RandomState,
    copied: CopiedRows | None = None,
) -> Ints:
    """A fold for each row: stratified and shuffled, rows of weight zero not counted."""
    if not is_whole(cv) or cv < 2:
        raise ValueError(f"cv is {cv!r}; give a whole number of folds, 2 or more")
    # A row of weight zero is absent: it is scored, but must not decide the fold of another.
    folds = np.arange(len(positive), dtype=np.int64) % cv
    present = np.arange(len(positive)) if weight is None else np.flatnonzero(weight > 0)
    n_pos = int(positive[present].sum())
    smallest = min(n_pos, len(present) - n_pos)
    if smallest < 2 * cv:
        raise ValueError(
            f"cv={cv} folds need {2 * cv} rows of each class, two in every fold, and the smaller "
            f"class has {smallest}; give a smaller cv"
        )
    seed = int(rng.randint(2**31 - 1))
    if groups is None:
        splitter = StratifiedKFold(cv, shuffle=True, random_state=seed)
        units = np.arange(len(present)) if copied is None else copied.units(cv)
        folds[present] = fold_of_rows(units, positive[present], splitter)
        return folds
    splitter = StratifiedGroupKFold(cv, shuffle=True, random_state=seed)
    codes = _group_codes(groups, len(positive), cv)[present]
    for fold, (_, test) in enumerate(splitter.split(present, positive[present], codes)):
        folds[present[test]] = fold
    return folds


def _group_codes(groups: Any, n_rows: int, cv: int) -> Ints:
    """Groups as numbers; an error where there are fewer than folds."""
    values = read_vector(groups, "groups")
    if len(values) != n_rows:
        raise ValueError(
            f"groups has {len(values)} values for {n_rows} rows; give one for each row"
        )
    distinct, codes = np.unique(values.astype(str), return_inverse=True)
    if len(distinct) < cv:
        raise ValueError(
            f"groups has {count(len(distinct), 'group')} for cv={cv} folds; give a smaller cv"
        )
    return codes.astype(np.int64)


def read_folds(folds: Any, n_rows: int) -> Ints:
    """Folds that were given, numbered from 0."""
    values = read_vector(folds, "folds")
    if len(values) != n_rows:
        raise ValueError(f"folds has {len(values)} values for {n_rows} rows; give one for each row")
    distinct, codes = np.unique(values, return_inverse=True)
    if len(distinct) < 2:
        raise ValueError("folds has a single fold; give 2 or more")
    return codes.astype(np.int64)


def check_folds(
    positive: Bools,
    weight: Floats | None,
    groups: Any,
    folds: Ints,
) -> None:
    """Check, before anything is fitted, that each fold has what its interval needs."""
    present = np.ones(len(folds), dtype=bool) if weight is None else weight > 0
    values = None if groups is None else read_vector(groups, "groups").astype(str)
    for fold in range(int(folds.max()) + 1):
        rows = (folds == fold) & present
        n_pos, n_rows = int(positive[rows].sum()), int(rows.sum())
        if min(n_pos, n_rows - n_pos) < 2:
            raise ValueError(
                f"fold {fold} has {n_pos} positive and {n_rows - n_pos} negative row(s), and every "
                "fold needs two of each; give fewer folds"
            )
        if values is not None and len(np.unique(values[rows])) < 2:
            raise ValueError(
                f"fold {fold} has rows of only one of the {len(np.unique(values))} groups, so that "
                "the variation between groups cannot be estimated; give fewer folds"
            )
