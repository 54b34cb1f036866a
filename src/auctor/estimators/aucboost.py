"""AUCBoost as a scikit-learn classifier."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from auctor.data import RankingData
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.importance import shares_of_fall
from auctor.learners.boosting.aucboost import AUCBoostHistory, AUCBoostSettings, fit_aucboost
from auctor.learners.boosting.aucboost_rows import fit_aucboost_rows, fit_aucboost_trees
from auctor.learners.certificate import Certificate
from auctor.models import AdditiveModel, ForestModel, VoteModel
from auctor.weak.estimator import check_estimator
from auctor.weak.feature import RANKINGS


class AUCBoost(RankingEstimator):
    """AdaBoost on weak rankers turned two-sided (Long & Servedio 2007, Theorem 2).

    Each round takes the ranker with the best weighted AUC, cuts it where the errors on both
    classes are least, and evens these out with a coin, which enters as its expectation. Any
    ranker that is better than chance is enough to come as close to AUC 1 as wanted.

    Parameters
    ----------
    weak : {"feature", "stump", "tree"} or scikit-learn estimator, default="feature"
        The weak ranker: the best single feature in either direction, the best stump, a small
        tree whose leaves are sorted into an upper and a lower part (TreeRank's LeafRank), or
        copies of an estimator that takes ``sample_weight``. The estimator sees the binned table,
        with 0 for missing values, and the model can then be pickled, but not saved as JSON.
    n_estimators : int, default=200
        Rounds at most.
    epsilon : float, optional
        Stop when the bound on 1 - AUC has come down to this.
    weak_depth : int, default=3
        Depth of the trees of ``weak="tree"``. A tree sees features act together, which no
        sum of single features does: where y is the sign of x0 x1 + noise (five normal
        features, 2000 rows, 50 rounds; mean of 12 draws), AUC on unseen rows is 0.50 with
        features or stumps and 0.91 with trees of depth 3, of 0.93 that x0 x1 itself has.
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
        Seed for copies of an estimator given as ``weak``, wherever its own random_state is
        None; nothing else is drawn at random.
    n_jobs : int, optional
        Threads; None is 1, -1 all cores. The model is the same, bit for bit, for any number.
    verbose : bool or int, default=False
        A progress bar on stderr.

    Attributes
    ----------
    model_ : AdditiveModel, ForestModel or VoteModel
        The fitted model: a step function per feature or, with ``weak="tree"``, trees that are
        added up, which ``model_.save(path)`` writes; or the weighted vote of estimators.
    certificate_ : Certificate
        ``values["bound"]`` bounds 1 - AUC on the training rows; ``values["edges"]`` are the
        rankers' edges gamma_t, and ``values["stopped_by"]`` says why there are no more.
    history_ : AUCBoostHistory
        Each round's feature, steps, edge, error rate and Z, and why the fit stopped.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's part in the fall of the bound, adding up to 1; not there with estimators.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The class that the score grows towards.
    n_iter_ : int
        Rounds in the model.

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
        "weak": [StrOptions({*RANKINGS, "tree"}), HasMethods(["fit", "get_params"])],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "epsilon": [Interval(Real, 0, 1, closed="neither"), None],
        "weak_depth": [Interval(Integral, 1, 16, closed="both")],
    }

    def __init__(
        self,
        weak: Any = "feature",
        n_estimators: int = 200,
        epsilon: float | None = None,
        *,
        weak_depth: int = 3,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.weak = weak
        self.n_estimators = n_estimators
        self.epsilon = epsilon
        self.weak_depth = weak_depth
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(
        self, data: RankingData
    ) -> tuple[AdditiveModel | ForestModel | VoteModel, AUCBoostHistory, Certificate]:
        if not isinstance(self.weak, str):
            check_estimator(self.weak)
        settings = AUCBoostSettings(
            weak=self.weak,
            weak_depth=self.weak_depth,
            n_estimators=self.n_estimators,
            epsilon=self.epsilon,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        if not isinstance(self.weak, str):
            model, history, certificate = fit_aucboost_rows(data, settings)
            self.n_iter_ = len(history.rounds)
            return model, history, certificate
        if self.weak == "tree":
            forest, history, certificate = fit_aucboost_trees(data, settings)
            self.n_iter_ = len(history.rounds)
            self.feature_importances_ = forest.importance.copy()
            return forest, history, certificate
        steps, history, certificate = fit_aucboost(data, settings)
        self.n_iter_ = len(history.rounds)
        falls = [(step.feature, -np.log(step.z)) for step in history.rounds]
        self.feature_importances_ = shares_of_fall(falls, data.n_features)
        return steps, history, certificate
