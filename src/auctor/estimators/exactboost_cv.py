"""ExactBoostCV: the smooth AUC model, improved on KS or precision at k if that clearly helps."""

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions

from auctor._checks import is_whole
from auctor.data import RankingData
from auctor.estimators.base import SHARED_CONSTRAINTS
from auctor.estimators.exactboost import ROUNDS_CONSTRAINTS
from auctor.estimators.fit_input import FitInput, FitResult
from auctor.estimators.folds import draw_masks
from auctor.estimators.smooth_aucboost_cv import SEARCH_CONSTRAINTS
from auctor.estimators.smooth_base import (
    MOST_PAIRS,
    SMOOTH_CONSTRAINTS,
    PenaltySearch,
    Refit,
    SmoothEstimator,
    make_settings,
)
from auctor.learners.exact.candidates import Candidate, RefinementHistory
from auctor.learners.exact.fit import ExactBoostSettings
from auctor.learners.exact.paired_metric import PairedMetric
from auctor.learners.exact.refine import RefinementSettings, importances, refine
from auctor.learners.smooth.settings import SmoothSettings, loose_where
from auctor.models import AdditiveModel

_WANTED_K = "give a whole number of rows, or a fraction above 0 and below 1"


class ExactBoostCV(SmoothEstimator):
    """The smooth AUC model, improved on KS or precision at k by rounds of ExactBoost.

    First the model of :class:`SmoothAUCBoostCV` is fitted. A few runs of :class:`ExactBoost` then
    start from its scores and look for steps that improve the metric itself (Csillag et al. 2021);
    the mean of the runs, times a factor, is added to the smooth model. For precision at k, a model
    of the partial AUC over the false positive rates of the top is tried as a start as well. Inner
    folds choose the start, the number of rounds and the factor by the metric. The smooth model
    stays unless another gains more than two standard errors, so that the result is not worse than
    it by more than chance.

    Parameters
    ----------
    metric : {"ks", "precision_at_k"}, default="ks"
        The metric to maximise, in training and in the inner folds.
    k : int or float, default=0.1
        For "precision_at_k": a number of rows of the training table, or a fraction of them below
        1. A number is turned into its fraction of the rows that have a weight above 0, or of the
        sum of the weights with ``frequency_weights``; with weights it is that fraction of their
        sum.
    n_runs : int, default=8
        Number of runs of ExactBoost whose mean is added.
    n_estimators : int, default=20
        Maximum number of boosting rounds. It is the number of rounds of each run; the inner folds
        also try a quarter of them, and none.
    margin : float, default=0.05
        By how much a positive row must lead a negative one, as a fraction of the range of the
        scores: see ExactBoost.
    subsample : float, default=0.2
        Fraction of the rows that a round draws.
    max_samples_per_class : int or None, default=1000
        Maximum number of rows of each class that a round draws. None is no limit.
    max_features : int or None, default=300
        Maximum number of features that take part in the smooth model (see SmoothAUCBoost), and
        that a round of ExactBoost searches, drawn at random. None uses all features.
    gap_tol : float, default=0.05
        The search ends when the solution is proven to be within this distance of the optimum. In
        units of the metric, for the best stump of a round.
    cv : int, cross-validation generator or iterable, default=None
        Number of folds, or a scikit-learn splitter, or an iterable of (train, test) row positions.
        A number gives stratified, shuffled folds that keep copies of a row together. The inner
        folds choose both penalties and rounds. None is 5 folds, or fewer where a class has fewer
        rows; where a class has a single row, the smooth model with automatic penalties stays.
    interactions : "auto" or int, default="auto"
        Maximum number of feature pairs whose joint surface is added. "auto" tries 10 and keeps
        them if they gain more than one standard error.
    monotonic_cst : array-like of int or dict of str to int, default=None
        1 for features whose F_k must not decrease, -1 for those whose F_k must not increase, and 0
        for the others. With it no rounds are tried, since their steps could break it.
    max_bins : int, default=255
        Maximum number of bins per feature. Missing values have one more bin of their own.
    categorical_features : "from_dtype" or array-like of str, int or bool, default="from_dtype"
        Names, positions or mask of additional columns to treat as categorical. Columns of strings
        and columns of a categorical dtype are always categorical.
    max_iter : int, default=500
        Maximum number of iterations. Only the smooth model uses it.
    tol : float, default=1e-8
        The smallest improvement that counts; the fit stops below it. It is the improvement of the
        objective that a Newton step of the smooth model promises.
    frequency_weights : bool, default=False
        Whether ``sample_weight`` counts copies of a row, so that the sum of the weights is the
        number of rows. By default only the proportions of the weights matter, and rules that need a
        number of rows use the effective number, (sum w)^2 / sum w^2.
    pos_label : label, default=None
        The positive class. None takes the larger of the two labels.
    threshold : "youden" or float, default="youden"
        ``predict`` returns the positive class where the score is at or above this value. Scores are
        shifted so that TPR - FPR (Youden's index) on the training rows is largest at 0, and
        "youden" is that 0.
    random_state : int, RandomState instance or None, default=0
        Seed of the random choices. None makes different choices in every call. The rows are
        shuffled before they are divided into folds, and the rounds draw their rows.
    n_jobs : int, default=None
        Number of threads. None is 1, and -1 is all cores. The model is the same, bit for bit, for
        any number.
    verbose : bool or int, default=False
        Whether to show the progress of the fit on stderr.

    Attributes
    ----------
    model_ : AdditiveModel
        The smooth model and the steps added to it, as one model. ``model_.save(path)`` writes it.
    certificate_ : Certificate
        The metric of the training rows, and what was chosen and why.
    cv_results_ : dict
        An entry for each candidate in the order in which they were tried, the smooth model first:
        "start" ("auc" or "partial_auc"), "n_rounds" and "factor" (0 for the start alone), "values"
        (the metric of every fold), "mean", "gain" (over the smooth model; for rounds, over their
        start) and "gain_error", its standard error.
    smooth_results_ : dict
        ``cv_results_`` of SmoothAUCBoostCV, by AUC.
    best_score_ : float
        Mean of the metric over the folds for the chosen candidate.
    n_rounds_, factor_, start_
        What was chosen: 0 rounds and "auc" where the smooth model stays.
    history_ : RefinementHistory
        ``smooth`` is the history of the smooth model, ``candidates`` and ``chosen`` are those of
        the inner folds, and ``runs`` are the rounds on all rows.
    n_iter_ : int
        Number of iterations of the smooth model.
    penalty_, shrinkage_, ridge_, interactions_, single_values_
        What was chosen for the smooth model: see SmoothAUCBoostCV.
    feature_importances_ : ndarray of shape (n_features,)
        The class-balanced standard deviation of each feature's part of the score, as fractions of
        their sum: see SmoothAUCBoost.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The positive class: larger scores mean that it is more likely.

    Notes
    -----
    ``score`` is the AUC; use the scorers of ``auctor.metrics`` to search parameters by the metric.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import ExactBoostCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = ExactBoostCV("ks", cv=3).fit(X[:400], y[:400])
    >>> print(ranker.certificate_)
    The KS of the training rows is 0.9...
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        **ROUNDS_CONSTRAINTS,
        **SEARCH_CONSTRAINTS,
        **{
            name: SMOOTH_CONSTRAINTS[name]
            for name in ("monotonic_cst", "max_features", "max_iter", "tol")
        },
        "metric": [StrOptions({"ks", "precision_at_k"})],
    }

    history_: RefinementHistory

    def __init__(
        self,
        metric: str = "ks",
        *,
        k: float = 0.1,
        n_runs: int = 8,
        n_estimators: int = 20,
        margin: float = 0.05,
        subsample: float = 0.2,
        max_samples_per_class: int | None = 1000,
        max_features: int | None = 300,
        gap_tol: float = 0.05,
        cv: Any = None,
        interactions: Any = "auto",
        monotonic_cst: Any = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        max_iter: int = 500,
        tol: float = 1e-8,
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.metric = metric
        self.k = k
        self.n_runs = n_runs
        self.n_estimators = n_estimators
        self.margin = margin
        self.subsample = subsample
        self.max_samples_per_class = max_samples_per_class
        self.max_features = max_features
        self.gap_tol = gap_tol
        self.cv = cv
        self.interactions = interactions
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.max_iter = max_iter
        self.tol = tol
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, given: FitInput) -> FitResult:
        if self.metric == "precision_at_k":
            check_k(self.k, given, self.frequency_weights)
        search = self._search(given)
        data = self._prepare(given)
        smooth, first = search.fit(data, self._smooth_settings(data))
        assert isinstance(first.model, AdditiveModel)
        settings = self._refinement(data, smooth)
        model, history, certificate = refine(
            data, settings, search.folds, first.model, first.history
        )
        attributes = {**first.attributes, **_choice(history)}
        attributes["smooth_results_"] = first.attributes["cv_results_"]
        del attributes["n_estimators_"]  # of the stagewise solver
        if model is not first.model:
            attributes["feature_importances_"] = importances(model, data)
        return FitResult(model, history, certificate, data.classes, attributes)

    def _search(self, given: FitInput) -> PenaltySearch:
        folds = draw_masks(
            self.cv,
            given,
            pos_label=self.pos_label,
            categorical_features=self.categorical_features,
            random_state=self.random_state,
            instead="ExactBoost",
        )
        n_pairs = MOST_PAIRS if self.interactions == "auto" else 0
        return PenaltySearch(folds, n_pairs=n_pairs)

    def _refit(self, data: RankingData) -> Refit:
        settings = replace(
            self._smooth_settings(data),
            penalty=self.penalty_,
            shrinkage=self.shrinkage_,
            ridge=self.ridge_,
            interactions=self.interactions_,
            loose=loose_where(self.single_values_, data),
        )
        return Refit(settings, data, None)

    def _smooth_settings(self, data: RankingData) -> SmoothSettings:
        return make_settings(
            data,
            max_iter=self.max_iter,
            tol=self.tol,
            monotonic_cst=self.monotonic_cst,
            interactions=self.interactions,
            max_features=self.max_features,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _refinement(self, data: RankingData, smooth: SmoothSettings) -> RefinementSettings:
        fraction, most = top_fraction(self.k, data), self.max_features
        exact = ExactBoostSettings(
            metric=self.metric,
            k=fraction,
            margin=self.margin,
            n_runs=self.n_runs,
            n_estimators=self.n_estimators,
            subsample=self.subsample,
            max_samples_per_class=self.max_samples_per_class,
            max_features=most if most is not None and most < data.n_features else None,
            gap_tol=self.gap_tol,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            n_jobs=self.n_jobs,
        )
        target = PairedMetric(self.metric, fraction if self.metric == "precision_at_k" else 0.0)
        return RefinementSettings(replace(smooth, verbose=False), exact, target, self.verbose)


def top_fraction(k: float, data: RankingData) -> float:
    """k as a fraction of the rows, so that it is the same fraction in every fold."""
    n_rows: float = data.n_rows
    if data.rows_per_unit is not None:  # weights count rows
        n_rows = sum(data.class_weights) * data.rows_per_unit[0]
    fraction = float(k) / n_rows if is_whole(k) else float(k)
    return min(fraction, 1 - 1e-9)


def check_k(k: Any, given: FitInput, frequency_weights: bool) -> None:
    """Raise an error unless k is a number of the rows, or a fraction of them."""
    is_count = is_whole(k)
    most, what = float(given.table.n_rows), "rows of X"
    if given.weight is not None and frequency_weights:
        most, what = float(given.weight.sum()), "rows that sample_weight counts"
    elif given.weight is not None:
        most, what = float((given.weight > 0).sum()), "rows of X that have a weight above 0"
    if is_count and k > most:
        raise ValueError(f"k is {k}, more than the {most:.9g} {what}; {_WANTED_K}")
    if isinstance(k, bool) or not k > 0 or not (is_count or k < 1):
        raise ValueError(f"k is {k!r}; {_WANTED_K}")


def _choice(history: RefinementHistory) -> dict[str, Any]:
    """The attributes with the candidates of the inner folds and the chosen one."""
    chosen = history.chosen
    return {
        "cv_results_": _cv_results(history.candidates),
        "best_score_": chosen.mean if chosen else float("nan"),
        "n_rounds_": chosen.n_rounds if chosen else 0,
        "factor_": chosen.factor if chosen else 0.0,
        "start_": chosen.start if chosen else "auc",
    }


def _cv_results(candidates: list[Candidate]) -> dict[str, npt.NDArray[Any]]:
    """The candidates as ``cv_results_``."""
    return {
        "start": np.array([c.start for c in candidates]),
        "n_rounds": np.array([c.n_rounds for c in candidates]),
        "factor": np.array([c.factor for c in candidates]),
        "values": np.array([c.values for c in candidates]),
        "mean": np.array([c.mean for c in candidates]),
        "gain": np.array([c.gain.value for c in candidates]),
        "gain_error": np.array([c.gain.error for c in candidates]),
    }
