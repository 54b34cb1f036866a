"""The members of an ensemble: names, parameters, and their fits without each fold."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from auctor._progress import Progress
from auctor._typing import Floats
from auctor.estimators.base import RankingEstimator
from auctor.estimators.fit_input import FitInput
from auctor.estimators.folds import Fold
from auctor.estimators.table_rows import collect_rows, estimator_scores, take_rows
from auctor.learners.ensemble.held_out import Scale, find_scale

Named = tuple[str, Any]

_WANTED = "give a list of classifiers, or of pairs (name, classifier)"


def name_members(estimators: Any) -> list[Named]:
    """The members with their names: those given, or the names of their classes.

    Examples
    --------
    >>> from auctor import DMKS, RankBoost
    >>> [name for name, _ in name_members([RankBoost(), DMKS(), RankBoost()])]
    ['rankboost-1', 'dmks', 'rankboost-2']
    """
    given = list(estimators)
    if all(isinstance(each, tuple) and len(each) == 2 for each in given):
        return [(name, estimator) for name, estimator in given]
    names = [type(each).__name__.lower() for each in given]
    total, seen = Counter(names), Counter[str]()
    out = []
    for name, estimator in zip(names, given, strict=True):
        seen[name] += 1
        out.append((f"{name}-{seen[name]}" if total[name] > 1 else name, estimator))
    return out


def check_members(members: Sequence[Named], parameters: set[str], is_weighted: bool) -> None:
    """Raise an error for names or estimators that cannot be members."""
    if not members:
        raise ValueError(f"estimators is empty; {_WANTED}")
    names = [name for name, _ in members]
    for name, estimator in members:
        if not isinstance(name, str) or "__" in name or name in parameters:
            raise ValueError(
                f"estimators has the name {name!r}; give text without '__' that is not a parameter "
                "of the ensemble"
            )
        if names.count(name) > 1:
            raise ValueError(f"estimators has the name {name!r} twice; give different names")
        _check_member(name, estimator, is_weighted)


def _check_member(name: str, estimator: Any, is_weighted: bool) -> None:
    can_score = hasattr(estimator, "decision_function") or hasattr(estimator, "predict_proba")
    if isinstance(estimator, type) or not hasattr(estimator, "fit") or not can_score:
        kind = type(estimator).__name__
        raise ValueError(
            f"estimators has {name!r}, a {kind} without fit, or without decision_function and "
            f"predict_proba; {_WANTED}"
        )
    if is_weighted and not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"sample_weight was given, but the fit of the member {name!r} "
            f"({type(estimator).__name__}) takes none; leave this member or the weights out"
        )


def _is_default(value: Any) -> bool:
    """Whether a parameter that the ensemble has too was left as it is."""
    return value is None or value is False or (isinstance(value, str) and value == "from_dtype")


def adapt_member(estimator: Any, shared: dict[str, Any]) -> Any:
    """A member of auctor with the ensemble's parameters where its own are the defaults."""
    if not isinstance(estimator, RankingEstimator):
        return estimator
    own = estimator.get_params(deep=False)
    is_default = {name: _is_default(own[name]) for name in shared if name in own}
    is_default["pos_label"] = True  # there is one positive class
    changes = {name: shared[name] for name, free in is_default.items() if free}
    return clone(estimator).set_params(**changes)


@dataclass(frozen=True, eq=False)
class FoldMember:
    """A member that was fitted without a fold, or to all rows, with the scale of its scores.

    It can be called with a table, as the scorers of a ScorerModel are.
    """

    name: str
    fold: int | None  # None if it was fitted to all rows
    estimator: Any
    positive: Any  # the positive label
    scale: Scale

    def __call__(self, X: Any) -> Floats:
        return estimator_scores(self.estimator, X, self.positive)

    @property
    def __name__(self) -> str:
        without = "to all rows" if self.fold is None else f"without fold {self.fold + 1}"
        return f"{self.name}, fitted {without}"


@dataclass(frozen=True, eq=False)
class MemberScores:
    """A member's models of all folds, and their scores on the common scale."""

    name: str
    models: list[FoldMember]
    by_fold: Floats  # (rows of the table, folds); NaN for rows that were not scored
    whole: FoldMember | None = None  # the model of all rows, if there is one

    @property
    def final(self) -> list[FoldMember]:
        """The models whose mean is the member's part of the ensemble."""
        return self.models if self.whole is None else [self.whole]

    def held_out(self, folds: Sequence[Fold]) -> Floats:
        """The scores of the held-out rows, fold after fold."""
        return np.concatenate([self.by_fold[test, k] for k, (_, test) in enumerate(folds)])


class MemberFits:
    """Fits members without each fold, one after another; each uses its own threads.

    With ``are_given`` the folds were chosen by the user: rows of a fold may belong together, so
    members that cross-validate on their part use the other folds, and not folds of their own.
    """

    def __init__(
        self,
        given: FitInput,
        folds: Sequence[Fold],
        positive: Any,
        weight: Any,
        are_given: bool = False,
    ) -> None:
        self._given, self._folds, self._positive = given, folds, positive
        self._weight = weight  # of the rows, for the scale
        self._are_given = are_given
        self._rows = collect_rows(given.X)

    def run(self, members: Sequence[Named], *, refit: bool, verbose: Any) -> Iterator[MemberScores]:
        """The members in order; with ``refit`` each is fitted to all rows as well."""
        progress = Progress(len(members) * (len(self._folds) + refit), "fits", verbose)
        for name, estimator in members:
            models, by_fold = [], np.full((len(self._given.y), len(self._folds)), np.nan)
            for k in range(len(self._folds)):
                model, by_fold[:, k] = self._fit(name, estimator, k)
                models.append(model)
                progress.step(name)
            whole = None
            if refit:
                whole = self._fit_whole(name, estimator, [model.scale for model in models])
                progress.step(name)
            yield MemberScores(name, models, by_fold, whole)
        progress.close()

    def _fit_whole(self, name: str, estimator: Any, scales: Sequence[Scale]) -> FoldMember:
        """Fit all rows. The scale is the mean of those of the folds: its rows are not held out."""
        rows = np.flatnonzero(self._weight > 0)
        is_own = isinstance(estimator, RankingEstimator)
        estimator = self._with_folds(estimator, None) if is_own else estimator
        try:
            fitted = (self._fit_own if is_own else self._fit_other)(estimator, rows)
        except Exception as error:
            raise ValueError(
                f"the member {name!r} of estimators failed on all rows: {error}"
            ) from error
        middle, spread = np.mean(scales, axis=0).tolist()
        return FoldMember(name, None, fitted, self._positive, Scale(middle, spread))

    def _fit(self, name: str, estimator: Any, k: int) -> tuple[FoldMember, Floats]:
        train, test = self._folds[k]
        scores = np.full(len(self._given.y), np.nan)
        try:
            if isinstance(estimator, RankingEstimator):
                fitted = self._fit_own(self._with_folds(estimator, k), train)
                scores = estimator_scores(fitted, self._given.X, self._positive)
            else:
                fitted = self._fit_other(estimator, train)
                rows = take_rows(self._rows, test)
                scores[test] = estimator_scores(fitted, rows, self._positive)
        except Exception as error:
            raise ValueError(
                f"the member {name!r} of estimators failed without fold {k + 1} of "
                f"{len(self._folds)}: {error}"
            ) from error
        self._check_finite(name, k, scores[test])
        scale = find_scale(scores[test], self._weight[test])
        return FoldMember(name, k, fitted, self._positive, scale), scale.apply(scores)

    def _with_folds(self, estimator: Any, held_out: int | None) -> Any:
        """The member with all folds but one as its own, if it would draw folds itself."""
        usual = signature(type(estimator)).parameters.get("cv")
        others = [test for k, (_, test) in enumerate(self._folds) if k != held_out]
        draws = usual is not None and estimator.cv == usual.default
        if not (self._are_given and draws and len(others) > 1):
            return estimator
        every = np.sort(np.concatenate(others))
        if (every[1:] == every[:-1]).any():  # rows are held out several times
            return estimator
        inner = [(np.setdiff1d(every, test), test) for test in others]
        return clone(estimator).set_params(cv=inner)

    def _fit_own(self, estimator: Any, train: Any) -> Any:
        """Held-out rows have weight 0: the columns have the same kinds in every fold."""
        weight = np.zeros(len(self._given.y))
        weight[train] = 1.0 if self._given.weight is None else self._given.weight[train]
        return clone(estimator).fit(self._given.X, self._given.y, sample_weight=weight)

    def _fit_other(self, estimator: Any, train: Any) -> Any:
        weight = self._given.weight
        options = {} if weight is None else {"sample_weight": weight[train]}
        rows = take_rows(self._rows, train)
        return clone(estimator).fit(rows, self._given.y[train], **options)

    def _check_finite(self, name: str, k: int, scores: Floats) -> None:
        if scores.ndim != 1 or not np.isfinite(scores).all():
            raise ValueError(
                f"the member {name!r} of estimators has scores that are not finite numbers in "
                f"fold {k + 1}; give another member"
            )
