"""SmoothAUCBoost: an additive model on the smoothed AUC (Komori 2010)."""

from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from auctor.data import RankingData
from auctor.estimators.base import EARLY_STOPPING_CONSTRAINTS
from auctor.estimators.fit_input import FitInput, FitResult
from auctor.estimators.init import Init
from auctor.estimators.smooth_base import (
    SMOOTH_CONSTRAINTS,
    Refit,
    SmoothEstimator,
    check_interactions,
    make_settings,
    read_smooth_init,
    run_smooth,
)
from auctor.learners.checkpoint.checkpoint import open_journal
from auctor.learners.smooth.settings import SmoothSettings

_AMOUNT = [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})]


class SmoothAUCBoost(SmoothEstimator):
    """Additive model that maximises the smoothed AUC minus a roughness penalty (Komori 2010).

    The score is a sum of one function per feature, F(x) = F_1(x_1) + ... + F_p(x_p), and maximises

        mean over pairs of Phi(F(x1) - F(x0)) - penalty * curvature - shrinkage * slope,

    where a pair is a positive row x1 and a negative row x0. It is the AUC with the normal
    distribution function Phi in place of the step function. Each F_k can be plotted.

    Parameters
    ----------
    penalty : float or "auto", default="auto"
        Weight of the squared curvature of each F_k (lambda in the paper). "auto" is 0.1 divided
        by the harmonic mean of the (effective) numbers of positives and negatives; for
        ``roughness="bins"`` it is scaled by the number of bins. ``SmoothAUCBoostCV`` chooses it by
        cross-validation.
    n_estimators : int, default=500
        Maximum number of boosting rounds. Only ``solver="stagewise"`` uses it; the Newton solver
        does not.
    solver : {"newton", "stagewise"}, default="newton"
        "newton" maximises over all features at once. "stagewise" is section 3.2 of the paper: it
        adds one stump per round, with the paper's penalty (0.01 unless ``penalty`` is given), and
        uses neither ``shrinkage`` nor ``adaptive``.
    shrinkage : float or "auto", default="auto"
        Weight of the squared slope, which a penalty on curvature leaves free. The paper has none.
    ridge : float or "auto", default="auto"
        Weight of the squared distance of a category, and of missing values, from the feature's
        mean. "auto" is three times the automatic penalty.
    roughness : {"auto", "curvature", "bins"}, default="auto"
        "curvature" is measured on the scale of x that ``scale`` chooses. "bins" uses second
        differences between neighbouring bins, as the paper does. "auto" is "curvature" for the
        Newton solver and "bins" for the stagewise solver, since a step has no curvature.
    scale : {"normal", "arcsinh", "linear"}, default="normal"
        The scale of x for curvature and slope: normal scores of the ranks, the arcsinh of the
        robustly standardised x, or the standardised x itself.
    adaptive : bool, default=True
        Whether each feature gets its own multiple of the penalties, inversely proportional to its
        roughness in a pilot fit: less for features that need to bend, more for those that look
        like noise. Single values that stand out from the curve (such as 999 for "unknown") may
        then leave it. Only the Newton solver uses it.
    max_bins : int, default=255
        Maximum number of bins per feature. Missing values have one more bin of their own.
    categorical_features : "from_dtype" or array-like of str, int or bool, default="from_dtype"
        Names, positions or mask of additional columns to treat as categorical. Columns of strings
        and columns of a categorical dtype are always categorical.
    monotonic_cst : array-like of int or dict of str to int, default=None
        1 for features whose F_k must not decrease, -1 for those whose F_k must not increase, and 0
        for the others.
    interactions : int, default=0
        Maximum number of feature pairs whose joint surface is added. A scan of the 40 most
        important features finds the pairs; there may be fewer, and none of them has a monotone
        feature. Only the Newton solver uses it.
    max_features : int or None, default=300
        Maximum number of features that take part in a fit. From a wider table, the fit selects
        the features that separate the classes of the training rows best on their own (Wilcoxon's
        test, also of the squared ranks and of missing values, and chi-squared for categories);
        the others add nothing to the score. None uses all features. Only the Newton solver uses it.
    fpr_range : (float, float), default=None
        Maximise the partial AUC over this range of false positive rates.
    init : AdditiveModel or fitted estimator, default=None
        A model of the same columns to start from (F_0 in the paper): the fit is added to its
        scores, and only what is added is penalised. scikit-learn's ``clone``, and so its grid
        search, forgets the fit of an estimator; give its ``model_`` there.
    early_stopping : bool, default=False
        Whether to hold out rows and to stop when their AUC no longer improves. The best iteration
        is kept.
    validation_fraction : float, default=0.1
        Fraction of the rows of each class that early stopping holds out.
    n_iter_no_change : int, default=10
        Number of iterations without an improvement after which early stopping ends the fit.
    max_iter : int, default=500
        Maximum number of iterations. Only the Newton solver uses it.
    tol : float, default=1e-8
        The smallest improvement that counts; the fit stops below it. It is the improvement of the
        objective that a Newton step promises.
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
        Seed of the random choices. None makes different choices in every call. Only the rows held
        out for early stopping are drawn at random.
    n_jobs : int, default=None
        Number of threads. None is 1, and -1 is all cores. The model is the same, bit for bit, for
        any number.
    verbose : bool or int, default=False
        Whether to show the progress of the fit on stderr.

    Attributes
    ----------
    model_ : AdditiveModel
        The fitted model: a step function per feature. ``model_.save(path)`` writes it.
    certificate_ : Certificate
        The objective at its maximum, and how much a further step could gain.
    history_ : SmoothHistory
        Objective and smoothed AUC after each iteration, and the penalties.
    penalty_, shrinkage_, ridge_ : float
        The amounts that were used.
    feature_importances_ : ndarray of shape (n_features,)
        The class-balanced standard deviation of F_k on the training rows, plus half of that of
        each surface of the feature, divided by their sum. With ``init``, only what the fit added
        to it counts.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The positive class: larger scores mean that it is more likely.
    n_iter_ : int
        Number of iterations, or of rounds of the stagewise solver.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import SmoothAUCBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = SmoothAUCBoost().fit(X[:400], y[:400])
    >>> round(ranker.score(X[400:], y[400:]), 3)
    0.999
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SMOOTH_CONSTRAINTS,
        **EARLY_STOPPING_CONSTRAINTS,
        "penalty": _AMOUNT,
        "shrinkage": _AMOUNT,
        "ridge": _AMOUNT,
        "interactions": [Interval(Integral, 0, None, closed="left")],
    }

    def __init__(
        self,
        penalty: Any = "auto",
        *,
        n_estimators: int = 500,
        solver: str = "newton",
        shrinkage: Any = "auto",
        ridge: Any = "auto",
        roughness: str = "auto",
        scale: str = "normal",
        adaptive: bool = True,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interactions: int = 0,
        max_features: int | None = 300,
        fpr_range: Any = None,
        init: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 10,
        max_iter: int = 500,
        tol: float = 1e-8,
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.penalty = penalty
        self.n_estimators = n_estimators
        self.solver = solver
        self.shrinkage = shrinkage
        self.ridge = ridge
        self.roughness = roughness
        self.scale = scale
        self.adaptive = adaptive
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interactions = interactions
        self.max_features = max_features
        self.fpr_range = fpr_range
        self.init = init
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.max_iter = max_iter
        self.tol = tol
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, given: FitInput) -> FitResult:
        check_interactions(self.interactions, self.solver)
        start = read_smooth_init(self.init, given, self.pos_label)
        data = self._prepare(given)
        settings = self._settings(data, start)
        train, held_out = self._hold_out(data)
        with open_journal(
            given.checkpoint, "SmoothAUCBoost", train, settings, validation=held_out
        ) as journal:
            return run_smooth(train, settings, held_out, start, journal)

    def _refit(self, data: RankingData) -> Refit:
        return Refit(self._settings(data), *self._hold_out(data))

    def _settings(self, data: RankingData, start: Init | None = None) -> SmoothSettings:
        return make_settings(
            data,
            start=start,
            penalty=self.penalty,
            shrinkage=self.shrinkage,
            ridge=self.ridge,
            roughness=self.roughness,
            scale=self.scale,
            adaptive=self.adaptive,
            solver=self.solver,
            n_estimators=self.n_estimators,
            max_iter=self.max_iter,
            tol=self.tol,
            n_iter_no_change=self.n_iter_no_change,
            monotonic_cst=self.monotonic_cst,
            interactions=self.interactions,
            max_features=self.max_features,
            fpr_range=self.fpr_range,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
