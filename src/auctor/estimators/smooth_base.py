"""The common part of SmoothAUCBoost, SmoothAUCBoostCV and ExactBoostCV."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from auctor._typing import Bools
from auctor.data import RankingData
from auctor.estimators.base import RankingEstimator
from auctor.estimators.explanation import ScoreTable, score_features
from auctor.estimators.fitting import FitResult
from auctor.estimators.folds import summarise
from auctor.estimators.init import Init
from auctor.learners.smooth.fit import fit_smooth
from auctor.learners.smooth.search import Candidate, find_amounts
from auctor.learners.smooth.settings import SmoothSettings
from auctor.models import AdditiveModel

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
) -> FitResult:
    """One fit of the smooth learner, with the fitted attributes that follow from it."""
    first = None if start is None else start.source
    model, history, certificate = fit_smooth(data, settings, validation, first)
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

    def fit(
        self, data: RankingData, settings: SmoothSettings, start: Init | None = None
    ) -> SearchResult:
        """Choose the amounts by the held-out AUC and fit all rows with them."""
        chosen, candidates = find_amounts(
            data,
            settings,
            self.folds,
            penalties=self.penalties,
            shrinkages=self.shrinkages,
            rule=self.rule,
            surfaces=self.n_pairs,
        )
        final = replace(
            settings,
            **chosen.amounts._asdict(),
            interactions=chosen.interactions if self.n_pairs else settings.interactions,
            n_estimators=chosen.n_rounds or settings.n_estimators,
        )
        result = run_smooth(data, final, start=start)
        attributes = {
            **result.attributes,
            "best_score_": chosen.mean,
            "cv_results_": cv_results(candidates),
            "interactions_": final.interactions,
            "n_estimators_": final.n_estimators,
        }
        return SearchResult(final, replace(result, attributes=attributes))


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
