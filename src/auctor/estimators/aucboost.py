"""AUCBoost as a scikit-learn classifier."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from auctor.data import RankingData
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.fit_input import FitResult
from auctor.estimators.importance import fractions_of_gain
from auctor.learners.boosting.aucboost import AUCBoostSettings, fit_aucboost
from auctor.learners.boosting.aucboost_rows import fit_aucboost_rows, fit_aucboost_trees
from auctor.learners.checkpoint.checkpoint import Checkpoint, open_journal
from auctor.weak.estimator import check_estimator
from auctor.weak.feature import RANKINGS


class AUCBoost(RankingEstimator):
    """AdaBoost over weak rankers, with a bound on 1 - AUC (Long & Servedio 2007, Theorem 2).

    Each round takes the weak ranker with the best weighted AUC, cuts its scores where the error
    rates of the two classes have the smallest sum, and makes these rates equal by a coin toss for
    some of the rows. The model contains the expected value of the toss and has no random part. If
    every round finds a ranker that is better than chance by a fixed amount, the training AUC
    converges to 1 as rounds are added.

    Parameters
    ----------
    estimator : {"feature", "stump", "tree"} or scikit-learn estimator, default="feature"
        The weak ranker of a round: the best single feature in either direction, the best stump, a
        small tree whose leaves are divided into an upper and a lower group (the LeafRank split of
        TreeRank), or a copy of an estimator whose ``fit`` takes ``sample_weight``. Such an
        estimator sees the binned table, with 0 for missing values; its model can be pickled, but
        not saved as JSON.
    n_estimators : int, default=200
        Maximum number of boosting rounds.
    target_loss : float, default=None
        Stop when the bound on 1 - AUC is at most this. None makes all rounds.
    max_depth : int, default=3
        Depth of the trees of ``estimator="tree"``. Trees can use interactions of features, which a
        sum of functions of single features cannot. Example: y is the sign of x0 x1 + noise, with
        five normal features, 2000 rows and 50 rounds; mean of 12 draws. The AUC on new rows is 0.50
        with features or stumps and 0.91 with trees of depth 3; x0 x1 itself has 0.93.
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
        Seed of the random choices. None makes different choices in every call.
        It seeds the copies of a scikit-learn ``estimator`` wherever their own random_state is None;
        nothing else is random.
    n_jobs : int, default=None
        Number of threads. None is 1, and -1 is all cores. The model is the same, bit for bit, for
        any number.
    verbose : bool or int, default=False
        Whether to show the progress of the fit on stderr.

    Attributes
    ----------
    model_ : AdditiveModel, ForestModel or VoteModel
        The fitted model: a step function of each feature; with ``estimator="tree"`` a sum of trees;
        with a scikit-learn estimator a weighted vote. ``model_.save(path)`` writes the first two to
        a file.
    certificate_ : Certificate
        ``values["bound"]`` is an upper bound on 1 - AUC of the training rows, ``values["edges"]``
        has AUC - 1/2 of the weak ranker of each round, and ``values["stopped_by"]`` says why there
        are no more rounds.
    history_ : AUCBoostHistory
        The feature, steps, edge, error rate and Z of each round, and why the fit stopped.
    feature_importances_ : ndarray of shape (n_features,)
        Contribution of each feature to the decrease of the bound; the sum is 1. Not available with
        a scikit-learn ``estimator``.
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    pos_label_ : label
        The positive class: larger scores mean that it is more likely.
    n_iter_ : int
        Number of rounds in the model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import AUCBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = AUCBoost(n_estimators=20).fit(X[:400], y[:400])
    >>> round(ranker.score(X[400:], y[400:]), 3)
    0.991
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "estimator": [StrOptions({*RANKINGS, "tree"}), HasMethods(["fit", "get_params"])],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "target_loss": [Interval(Real, 0, 1, closed="neither"), None],
        "max_depth": [Interval(Integral, 1, 16, closed="both")],
    }

    def __init__(
        self,
        estimator: Any = "feature",
        *,
        n_estimators: int = 200,
        target_loss: float | None = None,
        max_depth: int = 3,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.target_loss = target_loss
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, data: RankingData, checkpoint: Checkpoint | None) -> FitResult:
        if not isinstance(self.estimator, str):
            check_estimator(self.estimator)
        settings = AUCBoostSettings(
            estimator=self.estimator,
            max_depth=self.max_depth,
            n_estimators=self.n_estimators,
            target_loss=self.target_loss,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        if not isinstance(self.estimator, str):
            model, history, certificate = fit_aucboost_rows(data, settings)
            attributes: dict[str, Any] = {"n_iter_": len(history.rounds)}
            return FitResult(model, history, certificate, data.classes, attributes)
        if self.estimator == "tree":
            forest, history, certificate = fit_aucboost_trees(data, settings)
            attributes = {
                "n_iter_": len(history.rounds),
                "feature_importances_": forest.importance.copy(),
            }
            return FitResult(forest, history, certificate, data.classes, attributes)
        with open_journal(checkpoint, "AUCBoost", data, settings) as journal:
            steps, history, certificate = fit_aucboost(data, settings, journal)
        falls = [(step.feature, -np.log(step.z)) for step in history.rounds]
        attributes = {
            "n_iter_": len(history.rounds),
            "feature_importances_": fractions_of_gain(falls, data.n_features),
        }
        return FitResult(steps, history, certificate, data.classes, attributes)
