"""The common part of SmoothAUCBoost, SmoothAUCBoostCV and ExactBoostCV.

The parameters of an estimator are checked and become the settings of the learner before the fit.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from auctor._typing import Bools
from auctor.data import RankingData
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.explanation import ScoreTable, score_features
from auctor.estimators.fit_input import FitInput, FitResult
from auctor.estimators.folds import summarise
from auctor.estimators.init import Init, check_same_features, read_init
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.smooth.fit import fit_smooth
from auctor.learners.smooth.search import Candidate, Search, find_amounts
from auctor.learners.smooth.search_rows import draw_search_rows, find_amounts_on_part
from auctor.learners.smooth.settings import SmoothSettings, loose_where
from auctor.learners.smooth.smoothed_auc import LARGEST_RANGE
from auctor.models import AdditiveModel

# Constraints of the parameters of both SmoothAUCBoost and SmoothAUCBoostCV.
SMOOTH_CONSTRAINTS: dict[str, list[Any]] = {
    **SHARED_CONSTRAINTS,
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "solver": [StrOptions({"newton", "stagewise"})],
    "roughness": [StrOptions({"auto", "curvature", "bins"})],
    "scale": [StrOptions({"normal", "arcsinh", "linear"})],
    "adaptive": ["boolean"],
    "monotonic_cst": ["array-like", dict, None],
    "max_features": [Interval(Integral, 1, None, closed="left"), None],
    "fpr_range": ["array-like", None],
    "init": [AdditiveModel, HasMethods("decision_function"), None],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
}


def make_settings(
    data: RankingData,
    *,
    start: Init | None = None,
    solver: str = "newton",
    roughness: str = "auto",
    monotonic_cst: Any = None,
    interactions: Any = 0,
    fpr_range: Any = None,
    **others: Any,
) -> SmoothSettings:
    """Settings of a fit; what depends on the columns or the number of rows is checked here.

    ``others`` are handed on to ``SmoothSettings`` as they are.
    """
    signs = read_signs(monotonic_cst, data)
    if start is not None:
        check_same_features(start.source, data, signs)
    automatic = "curvature" if solver == "newton" else "bins"
    return SmoothSettings(
        solver=solver,
        roughness=automatic if roughness == "auto" else roughness,
        signs=signs,
        interactions=0 if interactions == "auto" else interactions,
        offset=None if start is None else start.scores,
        fpr_range=read_fpr_range(fpr_range, data.effective_rows[0]),
        **others,
    )


def check_interactions(interactions: Any, solver: str) -> None:
    """Refuse surfaces of feature pairs for the stagewise solver, which has none."""
    if interactions not in (0, "auto") and solver == "stagewise":
        raise ValueError(
            f"interactions is {interactions} with solver='stagewise', which has stumps only; set "
            "interactions=0 or solver='newton'"
        )


def read_signs(monotonic_cst: Any, data: RankingData) -> tuple[int, ...]:
    """The sign that ``monotonic_cst`` gives each feature; empty without the parameter."""
    if monotonic_cst is None:
        return ()
    names = [feature.name for feature in data.features]
    if isinstance(monotonic_cst, Mapping):
        unknown = [name for name in monotonic_cst if name not in names]
        if unknown:
            raise ValueError(
                f"monotonic_cst names {unknown[0]!r}, which is not a column of X; give names of "
                "columns"
            )
        given = [monotonic_cst.get(name, 0) for name in names]
    else:
        given = list(np.asarray(monotonic_cst, dtype=object).ravel())
    if len(given) != len(names):
        raise ValueError(
            f"monotonic_cst has {len(given)} entries for {len(names)} features; give -1, 0 or 1 "
            "for each, or a dict by name"
        )
    for feature, sign in zip(data.features, given, strict=True):
        if isinstance(sign, (bool, np.bool_)) or sign not in (-1, 0, 1):
            raise ValueError(f"monotonic_cst is {sign!r} for {feature.name!r}; give -1, 0 or 1")
        if sign != 0 and feature.is_category:
            raise ValueError(
                f"monotonic_cst is {sign} for {feature.name!r}, which holds categories: they have "
                "no order; give 0"
            )
    return tuple(int(sign) for sign in given)


def read_smooth_init(init: Any, given: FitInput, pos_label: Any) -> Init | None:
    """The additive model to start from; its range of scores must leave space for the fit."""
    start = read_init(init, given, pos_label, additive_only=True)
    if start is not None and not np.ptp(start.scores) <= LARGEST_RANGE / 2:
        raise ValueError(
            f"init has scores from {start.scores.min():g} to {start.scores.max():g}, too far "
            f"apart; give a model whose scores lie within {LARGEST_RANGE / 2:g} of each other"
        )
    return start


def read_fpr_range(fpr_range: Any, n_neg: float) -> tuple[float, float] | None:
    """A range of false positive rates that holds at least two negatives."""
    if fpr_range is None:
        return None
    ends = list(fpr_range)
    wanted = "give two numbers with 0 <= low < high <= 1"
    if len(ends) != 2 or not all(isinstance(end, Real) for end in ends):
        raise ValueError(f"fpr_range is {fpr_range!r}; {wanted}")
    low, high = map(float, ends)
    if not 0.0 <= low < high <= 1.0:
        raise ValueError(f"fpr_range is ({low:g}, {high:g}); {wanted}")
    if (high - low) * n_neg < 2:
        raise ValueError(
            f"fpr_range is ({low:g}, {high:g}), which holds {(high - low) * n_neg:.2g} of the "
            f"{n_neg:g} negatives; give a range that holds two or more"
        )
    return None if (low, high) == (0.0, 1.0) else (low, high)


# Number of pairs that interactions="auto" tries: more seldom help, and nobody looks at more.
MOST_PAIRS = 10


class Refit(NamedTuple):
    """The last step of a fit, ready to be repeated: its settings, its rows, and those held out."""

    settings: SmoothSettings
    train: RankingData
    validation: RankingData | None


class SmoothEstimator(RankingEstimator):
    """An estimator whose model is fitted by the smooth learner, and can be refitted for bands."""

    model_: AdditiveModel

    def score_table(
        self, X: Any, y: Any, sample_weight: Any = None, level: float = 0.95
    ) -> ScoreTable:
        """The AUC of each F_k alone and of the whole score, with confidence intervals.

        Parameters
        ----------
        X, y, sample_weight
            Labelled rows. On the training rows every AUC is too optimistic; use other rows to
            judge the model.
        level : float, default=0.95
            Confidence level of the intervals, which are those of :func:`auctor.metrics.auc_ci`.

        Returns
        -------
        ScoreTable
            One ScoreRow (name, auc, low, high, range) per feature, the largest AUC first. Features
            that add nothing to the score have AUC 0.5 and come last.

        Examples
        --------
        >>> from auctor import SmoothAUCBoost
        >>> from auctor.datasets import load_kyphosis
        >>> sample = load_kyphosis()
        >>> table = SmoothAUCBoost().fit(sample.X, sample.y).score_table(sample.X, sample.y)
        >>> [row.name for row in table]
        ['x2', 'x1', 'x0']
        """
        check_is_fitted(self)
        return score_features(
            self.model_,
            self._read(X),
            y,
            sample_weight=sample_weight,
            level=level,
            pos_label=self.pos_label_,
        )

    def _refit(self, data: RankingData) -> Refit:
        """The settings and rows of the last fit, from the parameters and fitted attributes."""
        raise NotImplementedError


def run_smooth(
    data: RankingData,
    settings: SmoothSettings,
    validation: RankingData | None = None,
    start: Init | None = None,
    journal: Journal = NO_JOURNAL,
) -> FitResult:
    """One fit of the smooth learner, with the fitted attributes that follow from it."""
    first = None if start is None else start.source
    model, history, certificate = fit_smooth(data, settings, validation, first, journal)
    penalty, shrinkage, ridge = history.amounts
    attributes = {
        "n_iter_": len(history.rounds or history.objective),
        "penalty_": penalty,
        "shrinkage_": shrinkage,
        "ridge_": ridge,
        "feature_importances_": history.importances,
    }
    return FitResult(model, history, certificate, data.classes, attributes)


class SearchResult(NamedTuple):
    """The settings that were chosen, and the fit of all rows with them."""

    settings: SmoothSettings
    result: FitResult


@dataclass(frozen=True, eq=False)
class PenaltySearch:
    """Which amounts of penalty to try, and how to choose among them."""

    folds: list[tuple[Bools, Bools]]  # masks of the rows to train on and to hold out
    penalties: list[float] | None = None
    shrinkages: list[float] | None = None
    rule: str = "paired"
    n_pairs: int = 0  # of features, whose surfaces are tried beside none
    max_rows: int | None = None  # more rows than these are searched on a random part
    seed: int = 0  # of that part

    def fit(
        self,
        data: RankingData,
        settings: SmoothSettings,
        start: Init | None = None,
        journal: Journal = NO_JOURNAL,
    ) -> SearchResult:
        """Choose the amounts by the held-out AUC and fit all rows with them."""
        chosen, candidates, _ = self._find(data, settings, journal.part("penalties"))
        final = replace(
            settings,
            **chosen.amounts._asdict(),
            interactions=chosen.interactions if self.n_pairs else settings.interactions,
            n_estimators=chosen.n_rounds or settings.n_estimators,
            loose=loose_where(chosen.single_values, data),
        )
        result = run_smooth(data, final, start=start, journal=journal)
        attributes = {
            **result.attributes,
            "best_score_": chosen.mean,
            "cv_results_": cv_results(candidates),
            "interactions_": final.interactions,
            "n_estimators_": final.n_estimators,
            "single_values_": chosen.single_values,
        }
        return SearchResult(final, replace(result, attributes=attributes))

    def _find(self, data: RankingData, settings: SmoothSettings, journal: Journal) -> Search:
        """Search on a part of a large table, or on all rows."""
        rows = None
        if self.max_rows is not None and self._may_use_part(settings):
            rows = draw_search_rows(data, self.folds, self.max_rows, self.seed)
        if rows is not None:
            return find_amounts_on_part(
                data,
                settings,
                self.folds,
                rows,
                rule=self.rule,
                surfaces=self.n_pairs,
                journal=journal,
            )
        return find_amounts(
            data,
            settings,
            self.folds,
            penalties=self.penalties,
            shrinkages=self.shrinkages,
            rule=self.rule,
            surfaces=self.n_pairs,
            journal=journal,
        )

    def _may_use_part(self, settings: SmoothSettings) -> bool:
        """Whether amounts found on a part of the rows can be carried over to all of them.

        Amounts that were given are no multiples of automatic ones, and a range of false positive
        rates may hold few of the negatives of a part.
        """
        is_given = self.penalties is not None or self.shrinkages is not None
        return not is_given and settings.solver == "newton" and settings.fpr_range is None


def cv_results(candidates: list[Candidate]) -> dict[str, npt.NDArray[Any]]:
    """The candidates as ``cv_results_``."""
    results: dict[str, npt.NDArray[Any]] = {
        "penalty": np.array([c.amounts.penalty for c in candidates]),
        "shrinkage": np.array([c.amounts.shrinkage for c in candidates]),
        "interactions": np.array([c.interactions for c in candidates]),
        **summarise([c.aucs for c in candidates]),
    }
    staged = [c.staged for c in candidates if c.staged is not None]
    if staged:
        results["staged_auc"] = np.array(staged)
        results["rounds"] = np.arange(1, staged[0].shape[1] + 1)
    return results


def read_amounts(values: Any, name: str) -> list[float] | None:
    """Finite numbers that are not negative, sorted; None stays None."""
    if values is None:
        return None
    try:
        array = np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        array = np.empty(0)
    if len(array) == 0 or not (np.isfinite(array) & (array >= 0)).all():
        raise ValueError(f"{name} is {values!r}; give one or more numbers of 0 or more")
    return sorted(set(array.tolist()))
