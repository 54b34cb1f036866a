"""SoftRankBoost as a scikit-learn classifier."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from auctor.data import RankingData
from auctor.estimators.base import EARLY_STOPPING_CONSTRAINTS, SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.fit_input import FitResult
from auctor.estimators.importance import fractions_of_gain
from auctor.learners.boosting.soft_rankboost import SoftRankBoostSettings, fit_soft_rankboost
from auctor.learners.checkpoint.checkpoint import Checkpoint, open_journal


class SoftRankBoost(RankingEstimator):
    """RankBoost with capped row weights, for tables with wrong labels.

    Boosting puts more and more weight on the rows that it cannot rank, and rows with wrong labels
    are among the first. Here no positive row may hold more than 1 / nu_pos of the weight of its
    class and no negative row more than 1 / nu_neg, so that the hardest rows are given up. The score
    then has a large margin on all pairs but a known fraction of them. ``certificate_`` states a
    lower and an upper bound on that soft margin (defined by Suehiro, Hatano & Takimoto 2011; the
    algorithm follows Moribe et al. 2008).

    Parameters
    ----------
    n_estimators : int, default=500
        Maximum number of boosting rounds.
    epsilon : float, default=0.2
        Fraction of the pairs of a positive and a negative row that may miss the margin.
        It sets both caps: nu_pos is sqrt(epsilon) times the weight of the positives, and nu_neg is
        sqrt(epsilon) times that of the negatives, so that at least (1 - sqrt(epsilon))^2 of the
        pairs have the margin ``rho`` of the certificate. Values near 0 give RankBoost, and 1 keeps
        all weights equal. Use a small value, such as 0.05, where the labels are right and the
        classes are easy to tell apart.
    learning_rate : float, default=1.0
        Factor that multiplies the weight of each stump.
        With 1, the soft margin comes closest to the optimum in a given number of rounds. Smaller
        values raise the guaranteed bound if there are enough rounds.
    nu_pos, nu_neg : float, default=None
        The caps themselves, in rows, in place of those that follow from ``epsilon``: from 1, which
        caps nothing, to the (effective) number of rows of the class.
    max_bins : int, default=255
        Maximum number of bins per feature. Missing values have one more bin of their own.
    categorical_features : "from_dtype" or array-like of str, int or bool, default="from_dtype"
        Names, positions or mask of additional columns to treat as categorical. Columns of strings
        and columns of a categorical dtype are always categorical.
    early_stopping : bool, default=False
        Whether to hold out rows and to stop when their AUC no longer improves. The best iteration
        is kept.
    validation_fraction : float, default=0.1
        Fraction of the rows of each class that early stopping holds out.
    n_iter_no_change : int, default=10
        Number of iterations without an improvement after which early stopping ends the fit.
    tol : float, default=1e-4
        The smallest improvement that counts; the fit stops below it.
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
        Only the choice of the rows held out for early stopping is random.
    n_jobs : int, default=None
        Number of threads. None is 1, and -1 is all cores. The model is the same, bit for bit, for
        any number.
    verbose : bool or int, default=False
        Whether to show the progress of the fit on stderr.

    Attributes
    ----------
    model_ : AdditiveModel
        The fitted model, a step function of each feature. ``model_.save(path)`` writes it to a
        file.
    certificate_ : Certificate
        The soft margin on the training rows, its guaranteed lower bound, the upper bound for any
        combination of stumps, and the fraction of the pairs that have the margin.
    history_ : RankBoostHistory
        The stump, r, alpha and Z of each round, and why the fit stopped.
    feature_importances_ : ndarray of shape (n_features,)
        Contribution of each feature to the decrease of the product of Z; the sum is 1.
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    pos_label_ : label
        The positive class: larger scores mean that it is more likely.
    n_iter_ : int
        Number of rounds in the model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import SoftRankBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = SoftRankBoost(n_estimators=100, epsilon=0.05).fit(X[:400], y[:400])
    >>> round(ranker.score(X[400:], y[400:]), 3)
    0.995
    >>> values = ranker.certificate_.values
    >>> [round(values[name], 2) for name in ("bound", "soft_margin", "upper_bound")]
    [0.25, 0.3, 0.32]
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
        *,
        epsilon: float = 0.2,
        learning_rate: float = 1.0,
        nu_pos: float | None = None,
        nu_neg: float | None = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        random_state: Any = 0,
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

    def _learn(self, data: RankingData, checkpoint: Checkpoint | None) -> FitResult:
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
        journal = open_journal(checkpoint, "SoftRankBoost", train, settings, validation=held_out)
        with journal as steps:
            model, history, certificate = fit_soft_rankboost(train, settings, held_out, steps)
        falls = [(step.stump.feature, -np.log(step.z)) for step in history.rounds]
        attributes = {
            "n_iter_": len(history.rounds),
            "feature_importances_": fractions_of_gain(falls, data.n_features),
        }
        return FitResult(model, history, certificate, data.classes, attributes)
