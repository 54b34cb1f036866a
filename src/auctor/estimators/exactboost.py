"""ExactBoost as a scikit-learn classifier."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from auctor._typing import Floats
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.fit_input import FitInput, FitResult
from auctor.estimators.init import read_init
from auctor.learners.checkpoint.checkpoint import open_journal
from auctor.learners.exact.fit import ExactBoostHistory, ExactBoostSettings, fit_exactboost
from auctor.learners.exact.metric import RankMetric

# Constraints of the parameters that ExactBoostCV has too.
ROUNDS_CONSTRAINTS: dict[str, list[Any]] = {
    "k": [Real],
    "margin": [Interval(Real, 0, 1, closed="both")],
    "n_runs": [Interval(Integral, 1, None, closed="left")],
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "subsample": [Interval(Real, 0, 1, closed="right")],
    "max_samples_per_class": [Interval(Integral, 1, None, closed="left"), None],
    "gap_tol": [Interval(Real, 0, 1, closed="left")],
}


class ExactBoost(RankingEstimator):
    """Stumps boosted on the metric itself: AUC, KS or precision at k (Csillag et al. 2021).

    There is no surrogate loss. Each round draws a small sample of rows and finds the stump whose
    step improves the metric, with a margin, the most. Interval arithmetic proves that no other cut
    of the binned features is better by more than ``gap_tol``. The step is taken if it does not
    lower the metric of all rows. The score is the mean of many such runs, which is one step
    function per feature.

    Parameters
    ----------
    metric : {"auc", "ks", "precision_at_k"} or RankMetric, default="auc"
        The metric to maximise. Define a metric of your own as a :class:`~auctor.RankMetric`.
    k : int or float, default=0.1
        For "precision_at_k": a number of rows, or a fraction of them below 1. With weights, k of n
        rows are the fraction k / n of the total weight.
    margin : float, default=0.05
        By how much a positive row must lead a negative one, as a fraction of the range of the
        scores (theta in the paper).
    n_runs : int, default=250
        Number of runs whose scores are averaged (E in the paper).
    n_estimators : int, default=50
        Maximum number of boosting rounds. It is the number of rounds of each run (T in the paper).
    subsample : float, default=0.2
        Fraction of the rows that a round draws.
    max_samples_per_class : int or None, default=1000
        Maximum number of rows of each class that a round draws, which keeps the rounds on large
        tables short. None is no limit.
    balanced : bool, default=True
        Whether to draw as many positives as negatives (Proposition 1 of the paper), at most half
        of the rarer class unless ``subsample`` is larger. False draws the same fraction of each
        class.
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        Number or fraction of the features that a round searches, drawn at random; None is all. A
        numeric feature with missing values counts twice, because these can be on either side.
    init : array-like, fitted estimator or AdditiveModel, default=None
        Scores to start from. The scores of a fitted model (2 p - 1 if it has probabilities) become
        a part of this model; an array with one score for each training row does not (see
        ``init_weight_``). scikit-learn's ``clone``, and so its grid search, forgets the fit of an
        estimator: give ``model_`` of an auctor estimator, or a ``FrozenEstimator``.
    search : {"exact", "bisect"}, default="exact"
        "exact" finds the best stump of the sample by branch and bound. "bisect" is Algorithm 2 of
        the paper, which follows one cell and can miss the best stump.
    gap_tol : float, default=0.02
        The search ends when the solution is proven to be within this distance of the optimum. In
        units of the metric, for ``search="exact"``; 0 proves the optimum.
        ``history_.runs[e].misses`` counts the rounds of a run that ended without a proof, which
        happens for precision at k where rows tie and ``margin`` is 0.
    delta : float, default=0.05
        The bounds in ``certificate_`` hold with probability 1 - delta.
    keep_interrupted : bool, default=False
        Whether Ctrl-C ends the fit with the mean of the finished runs and a warning. By default it
        raises KeyboardInterrupt and the estimator is not fitted.
    max_bins : int, default=255
        Maximum number of bins per feature. Missing values have one more bin of their own.
    categorical_features : "from_dtype" or array-like of str, int or bool, default="from_dtype"
        Names, positions or mask of additional columns to treat as categorical. Columns of strings
        and columns of a categorical dtype are always categorical.
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
        Seed of the random choices. None makes different choices in every call. Each round draws
        rows and features; the scores of a fitted model have no random part.
    n_jobs : int, default=None
        Number of threads. None is 1, and -1 is all cores. The model is the same, bit for bit, for
        any number. Rows are drawn by their position in the table: for another order of the rows, or
        a row twice in place of weight 2, the model is the same in distribution, not bit for bit.
    verbose : bool or int, default=False
        Whether to show the progress of the fit on stderr.

    Attributes
    ----------
    model_ : AdditiveModel
        The fitted model: a step function per feature. If ``init`` is an estimator whose model is
        not additive, ``model_`` is the sum of both, which cannot be saved as JSON.
    init_weight_ : float
        If ``init`` is an array: ``decision_function(X) + init_weight_ * init`` is the score of
        both. Threshold and probabilities are those of ``decision_function`` alone.
    certificate_ : Certificate
        The loss on the training rows, with ties counted as lost, without and with the margin (as a
        fraction of the total weight of all stumps), and the bound of Theorem 1 (AUC) or 2 (KS) of
        the paper, or its counterpart for precision at k.
    history_ : ExactBoostHistory
        ``runs`` has the steps and losses of every run.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's fraction of the sizes of all steps.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The positive class: larger scores mean that it is more likely.
    n_iter_ : int
        Number of runs in the model.

    Notes
    -----
    ``score`` is the AUC for every metric; to search parameters by another metric, give
    scikit-learn one of the scorers of ``auctor.metrics``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import ExactBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = ExactBoost("ks", n_runs=10).fit(X[:400], y[:400])
    >>> round(ranker.score(X[400:], y[400:]), 2)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        **ROUNDS_CONSTRAINTS,
        "metric": [StrOptions({"auc", "ks", "precision_at_k"}), RankMetric],
        "balanced": ["boolean"],
        "max_features": [
            StrOptions({"sqrt", "log2"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "init": [object, None],
        "search": [StrOptions({"exact", "bisect"})],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "keep_interrupted": ["boolean"],
    }

    def __init__(
        self,
        metric: Any = "auc",
        *,
        k: float = 0.1,
        margin: float = 0.05,
        n_runs: int = 250,
        n_estimators: int = 50,
        subsample: float = 0.2,
        max_samples_per_class: int | None = 1000,
        balanced: bool = True,
        max_features: Any = None,
        init: Any = None,
        search: str = "exact",
        gap_tol: float = 0.02,
        delta: float = 0.05,
        keep_interrupted: bool = False,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.metric = metric
        self.k = k
        self.margin = margin
        self.n_runs = n_runs
        self.n_estimators = n_estimators
        self.subsample = subsample
        self.max_samples_per_class = max_samples_per_class
        self.balanced = balanced
        self.max_features = max_features
        self.init = init
        self.search = search
        self.gap_tol = gap_tol
        self.delta = delta
        self.keep_interrupted = keep_interrupted
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, given: FitInput) -> FitResult:
        start = read_init(self.init, given, self.pos_label)
        data = self._prepare(given)
        scores = None if start is None else start.scores
        is_joined = start is None or not start.is_array
        settings = self._settings()
        with open_journal(given.checkpoint, "ExactBoost", data, settings, start=scores) as journal:
            steps, history, certificate = fit_exactboost(data, settings, scores, is_joined, journal)
        attributes = {
            "n_iter_": len(history.runs),
            "feature_importances_": _importances(data.n_features, history),
        }
        if start is None:
            return FitResult(steps, history, certificate, data.classes, attributes)
        reach = float(np.ptp(start.scores))
        weight = history.start_weight / reach if reach > 0 else 0.0
        if start.is_array:
            attributes["init_weight_"] = weight
        model = start.join(steps, weight)
        return FitResult(model, history, certificate, data.classes, attributes)

    def _settings(self) -> ExactBoostSettings:
        return ExactBoostSettings(
            metric=self.metric,
            k=self.k,
            margin=self.margin,
            n_runs=self.n_runs,
            n_estimators=self.n_estimators,
            subsample=self.subsample,
            max_samples_per_class=self.max_samples_per_class,
            balanced=self.balanced,
            max_features=self.max_features,
            search=self.search,
            gap_tol=self.gap_tol,
            delta=self.delta,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            keep_interrupted=bool(self.keep_interrupted),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )


def _importances(n_features: int, history: ExactBoostHistory) -> Floats:
    """Each feature's fraction of the sizes of all steps."""
    sizes = np.zeros(n_features)
    for run in history.runs:
        for step in run.steps:
            sizes[step.feature] += abs(step.size) / run.scale
    return sizes / sizes.sum() if sizes.sum() > 0 else sizes
