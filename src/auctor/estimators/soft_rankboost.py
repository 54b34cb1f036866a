"""SoftRankBoost as a scikit-learn classifier."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from auctor.data import RankingData
from auctor.estimators.base import EARLY_STOPPING_CONSTRAINTS, SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.importance import shares_of_fall
from auctor.learners.boosting.rankboost import RankBoostHistory
from auctor.learners.boosting.soft_rankboost import SoftRankBoostSettings, fit_soft_rankboost
from auctor.learners.certificate import Certificate
from auctor.models import AdditiveModel


class SoftRankBoost(RankingEstimator):
    """RankBoost in which no row may weigh too much: for tables with wrong labels.

    Boosting puts more and more weight on the rows that it cannot rank, wrong labels first. Here
    no positive may hold more than 1 / nu+ of the weight of its class and no negative more than
    1 / nu-, so that the hardest rows are given up instead of learned. The score then has a large
    margin on all pairs but a counted share, which ``certificate_`` states between two bounds
    (the soft margin of Suehiro, Hatano & Takimoto; after Moribe et al. 2008).

    Parameters
    ----------
    n_estimators : int, default=500
        Rounds at most.
    epsilon : float, default=0.2
        Sets both caps: nu+ = sqrt(epsilon) times the weight of the positives, nu- likewise. At
        least (1 - sqrt(epsilon))^2 of the pairs have the margin ``rho`` of the certificate.
        Small values come near RankBoost, 1 keeps all weights equal. Take a small one, such as
        0.05, where the labels are right and the classes easy to tell apart.
    learning_rate : float, default=1.0
        Multiplies each stump's weight. 1 comes nearest to the largest soft margin in a given
        number of rounds; smaller ones raise the guaranteed bound, given enough rounds.
    nu_pos, nu_neg : float, optional
        nu+ and nu- themselves, in rows, in place of those from ``epsilon``: from 1, which
        caps nothing, to the (effective) number of rows of the class.
    max_bins : int, default=255
        Bins of a feature at most; one more is kept for missing values.
    categorical_features : "from_dtype" or array-like of names, positions or bool
        Columns of categories beside those whose type says so.
    early_stopping : bool, default=False
        Hold out rows and stop when their AUC no longer grows; the best round is kept.
    validation_fraction : float, default=0.1
        Share of the rows held out for early stopping.
    n_iter_no_change : int, default=10
        Rounds without a gain of ``tol`` before early stopping ends the fit.
    tol : float, default=1e-4
        The smallest gain in AUC that counts for early stopping.
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
    random_state : int, RandomState or None
        Draws the rows held out for early stopping; nothing else is random.
    n_jobs : int, optional
        Threads; None is 1, -1 all cores. The model is the same, bit for bit, for any number.
    verbose : bool or int, default=False
        A progress bar on stderr.

    Attributes
    ----------
    model_ : AdditiveModel
        The fitted model: a step function per feature. ``model_.save(path)`` writes it.
    certificate_ : Certificate
        The soft margin on the training rows, the bounds around it and around the best that
        stumps can reach, and the share of pairs that hold the margin.
    history_ : RankBoostHistory
        Each round's stump, r, alpha and Z, and why the fit stopped.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's part in the fall of the product of Z, adding up to 1.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The class that the score grows towards.
    n_iter_ : int
        Rounds in the model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import SoftRankBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = SoftRankBoost(n_estimators=100, epsilon=0.05).fit(X[:400], y[:400])
    >>> round(ranker.score(X[400:], y[400:]), 3)
    0.995
    >>> found = ranker.certificate_.values
    >>> found["bound"] <= found["soft_margin"] <= found["upper_bound"]
    True
    """

    _keeps_sparse: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        **EARLY_STOPPING_CONSTRAINTS,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "epsilon": [Interval(Real, 0, 1, closed="right")],
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        "nu_pos": [Interval(Real, 1, None, closed="left"), None],
        "nu_neg": [Interval(Real, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_estimators: int = 500,
        epsilon: float = 0.2,
        learning_rate: float = 1.0,
        nu_pos: float | None = None,
        nu_neg: float | None = None,
        *,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.epsilon = epsilon
        self.learning_rate = learning_rate
        self.nu_pos = nu_pos
        self.nu_neg = nu_neg
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, data: RankingData) -> tuple[AdditiveModel, RankBoostHistory, Certificate]:
        settings = SoftRankBoostSettings(
            n_estimators=self.n_estimators,
            epsilon=self.epsilon,
            learning_rate=self.learning_rate,
            nu_pos=self.nu_pos,
            nu_neg=self.nu_neg,
            n_jobs=self.n_jobs,
            n_iter_no_change=self.n_iter_no_change,
            tol=self.tol,
            verbose=self.verbose,
        )
        train, held_out = self._hold_out(data)
        model, history, certificate = fit_soft_rankboost(train, settings, held_out)
        self.n_iter_ = len(history.rounds)
        falls = [(step.stump.feature, -np.log(step.z)) for step in history.rounds]
        self.feature_importances_ = shares_of_fall(falls, data.n_features)
        return model, history, certificate
