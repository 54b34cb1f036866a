"""ExactBoost as a scikit-learn classifier."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from auctor._typing import Floats
from auctor.data import RankingData, Table, read_weights
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.init import Start, read_start
from auctor.learners.certificate import Certificate
from auctor.learners.exact.fit import (
    ExactBoostHistory,
    ExactBoostSettings,
    fit_exactboost,
)
from auctor.learners.exact.metric import RankMetric
from auctor.models import Model, ScorerModel


class ExactBoost(RankingEstimator):
    """Stumps boosted on the metric itself: AUC, KS or precision at k (Csillag et al. 2021).

    No surrogate: in every round the stump is found whose step does most for the metric, with a
    margin, on a small sample of rows, by interval arithmetic with a proof that no cut of the
    binned features is better by more than ``tol``. The step is taken if the metric of all rows does
    not suffer. The score is the mean of many such runs, collapsed to one step function per feature.

    Parameters
    ----------
    metric : {"auc", "ks", "precision_at_k"} or RankMetric, default="auc"
        What is trained for. A metric of your own is a
        :class:`~auctor.RankMetric`.
    k : int or float, default=0.1
        For "precision_at_k": a number of rows, or a share of them below 1; with weights, k
        of n rows are the share k / n of the weight.
    margin : float, default=0.05
        By which positives must lead, as a share of the range of scores (theta of the paper).
    n_runs : int, default=250
        Runs whose mean is taken (E of the paper).
    n_estimators : int, default=50
        Rounds of a run (T of the paper).
    subsample : float, default=0.2
        Share of the rows that a round looks at.
    max_samples : int, optional, default=1000
        Rows of a class that a round looks at, at most; None for no limit. It keeps the rounds on
        large tables short.
    balanced : bool, default=True
        Draw as many positives as negatives (Proposition 1), at most half of the rarer class
        unless ``subsample`` is larger; False draws the same share of each class.
    max_features : {"sqrt", "log2"}, int, float or None, default=None
        Features that a round looks at: a number, a share, or all (None). A number with missing
        values counts for two, as these may be on either side.
    init : array-like, fitted estimator or AdditiveModel, optional
        Scores to start from: those of a fitted model (2 p - 1 where it has probabilities), which
        then is a part of this one, or one score for each training row, which is not (see
        ``init_weight_``). scikit-learn's tools clone, and a clone is not fitted: give them
        ``model_`` of one of our estimators, or a ``FrozenEstimator``.
    search : {"exact", "bisect"}, default="exact"
        "exact" finds the best stump of the sample by branch and bound; "bisect" is Algorithm 2 of
        the paper, which follows one cell and can miss it.
    tol : float, default=0.02
        For "exact": stop as soon as no stump can be better by more than this, in units of the
        metric; 0 proves the optimum. ``history_.runs[e].misses`` counts the rounds of a run that
        ended without a proof, which happens for precision at k where rows tie and margin is 0.
    delta : float, default=0.05
        The bounds in ``certificate_`` hold with probability 1 - delta.
    keep_interrupted : bool, default=False
        Whether Ctrl-C ends the fit with the mean of the runs that were finished, and a warning.
        False raises KeyboardInterrupt, and the estimator is not fitted.
    max_bins : int, default=255
        Bins of a feature at most; one more is kept for missing values.
    categorical_features : "from_dtype" or array-like of names, positions or bool
        Columns of categories beside those whose type says so.
    frequency_weights : bool, default=False
        Whether ``sample_weight`` counts copies of a row: the sum of the weights is then the
        number of rows. By default weights say how much a row matters, and only their
        proportions count: rules that ask for a number of rows use the effective number.
    pos_label : label, optional
        The positive class; the larger label unless given. scikit-learn's own AUC scorer takes the
        larger label for positive whatever is given here; ``score`` and auctor's scorers do not.
    threshold : "youden" or float, default="youden"
        The score above which ``predict`` says positive. Scores are shifted so that Youden's
        point of the training data is 0.
    random_state : int, RandomState or None, default=0
        Seed of the samples. Scores have no random part.
    n_jobs : int, optional
        Threads over runs; None is 1, -1 all cores. The model is the same, bit for bit, for any
        number. Rows are drawn by their place in the table: another order of the rows, or a row
        twice in the place of weight 2, gives a model of the same law, not of the same bits.
    verbose : bool or int, default=False
        A progress bar on stderr.

    Attributes
    ----------
    model_ : AdditiveModel
        The fitted model: a step function per feature. With ``init`` an estimator that is no
        additive model, a sum of both, which cannot be saved as JSON.
    init_weight_ : float
        With ``init`` an array: ``decision_function(X) + init_weight_ * init`` is the score of both;
        threshold and probabilities are those of ``decision_function`` alone.
    certificate_ : Certificate
        The loss on the training rows, ties counted as lost, also with the margin as a share of the
        total weight of all stumps, and the bound of Theorem 1 (AUC) or 2 (KS) or its counterpart
        for precision at k.
    history_ : ExactBoostHistory
        ``runs``: steps and losses of every run.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the sizes of all steps.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The class that the score grows towards.
    n_iter_ : int
        Runs in the model.

    Notes
    -----
    ``score`` is the AUC for every metric; to search parameters by another, give scikit-learn one of
    the scorers of ``auctor.metrics``.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import ExactBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = ExactBoost("ks", n_runs=10).fit(X[:400], y[:400])
    >>> ranker.score(X[400:], y[400:]) > 0.97
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "metric": [StrOptions({"auc", "ks", "precision_at_k"}), RankMetric],
        "k": [Real],
        "margin": [Interval(Real, 0, 1, closed="both")],
        "n_runs": [Interval(Integral, 1, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "max_samples": [Interval(Integral, 1, None, closed="left"), None],
        "balanced": ["boolean"],
        "max_features": [
            StrOptions({"sqrt", "log2"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "init": [object, None],
        "search": [StrOptions({"exact", "bisect"})],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "delta": [Interval(Real, 0, 1, closed="neither")],
        "keep_interrupted": ["boolean"],
    }

    def __init__(
        self,
        metric: Any = "auc",
        k: float = 0.1,
        *,
        margin: float = 0.05,
        n_runs: int = 250,
        n_estimators: int = 50,
        subsample: float = 0.2,
        max_samples: int | None = 1000,
        balanced: bool = True,
        max_features: Any = None,
        init: Any = None,
        search: str = "exact",
        tol: float = 0.02,
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
        self.max_samples = max_samples
        self.balanced = balanced
        self.max_features = max_features
        self.init = init
        self.search = search
        self.tol = tol
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

    def decision_function(self, X: Any) -> Floats:
        """The score of each row: larger means more likely positive.

        Youden's point of the training data lies at 0.
        """
        check_is_fitted(self)
        if isinstance(self.model_, ScorerModel):
            self._read(X)  # the same checks; the estimator to start from wants X itself
            return self.model_.decision_function(X)
        return super().decision_function(X)

    def _fit_table(
        self, table: Table, X: Any, y: npt.NDArray[Any], sample_weight: Any
    ) -> tuple[Model, ExactBoostHistory, Certificate]:
        weight = read_weights(sample_weight, len(y))
        kept: Any = slice(None) if weight is None else weight > 0
        start = read_start(self.init, X, table, y[kept], self.pos_label)
        self._start, self._kept = start, kept
        try:
            return super()._fit_table(table, X, y, sample_weight)
        finally:
            del self._start, self._kept

    def _learn(self, data: RankingData) -> tuple[Model, ExactBoostHistory, Certificate]:
        start: Start | None = self._start
        scores = None if start is None else start.scores[self._kept]
        is_joined = start is None or not start.is_array
        model, history, certificate = fit_exactboost(data, self._settings(), scores, is_joined)
        self.n_iter_ = len(history.runs)
        self._keep_importances(data.n_features, history)
        self.__dict__.pop("init_weight_", None)
        if start is None or scores is None:
            return model, history, certificate
        reach = float(np.ptp(scores))
        weight = history.start_weight / reach if reach > 0 else 0.0
        if start.is_array:
            self.init_weight_ = weight
        return start.join(model, weight, float(scores.min())), history, certificate

    def _keep_importances(self, n_features: int, history: ExactBoostHistory) -> None:
        sizes = np.zeros(n_features)
        for run in history.runs:
            for step in run.steps:
                sizes[step.feature] += abs(step.size) / run.scale
        self.feature_importances_ = sizes / sizes.sum() if sizes.sum() > 0 else sizes

    def _settings(self) -> ExactBoostSettings:
        return ExactBoostSettings(
            metric=self.metric,
            k=self.k,
            margin=self.margin,
            n_runs=self.n_runs,
            n_estimators=self.n_estimators,
            subsample=self.subsample,
            max_samples_per_class=self.max_samples,
            balanced=self.balanced,
            max_features=self.max_features,
            search=self.search,
            gap_tol=self.tol,
            delta=self.delta,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            keep_interrupted=bool(self.keep_interrupted),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
