"""The common part of SmoothAUCBoost, SmoothAUCBoostCV and ExactBoostCV."""

from typing import Any, NamedTuple

from sklearn.utils.validation import check_is_fitted

from auctor.data import RankingData
from auctor.estimators.base import RankingEstimator
from auctor.estimators.explanation import ScoreTable, score_features
from auctor.estimators.fitting import FitResult
from auctor.estimators.init import Init
from auctor.learners.smooth.fit import Settings, fit_smooth
from auctor.models import AdditiveModel


class Refit(NamedTuple):
    """The last step of a fit, ready to be repeated: its settings, its rows, and those held out."""

    settings: Settings
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
    settings: Settings,
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
