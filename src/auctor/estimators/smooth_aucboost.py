"""SmoothAUCBoost: an additive model on the smoothed AUC (Komori 2010)."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy.typing as npt
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from auctor.data import RankingData, Table, read_weights
from auctor.estimators.base import EARLY_STOPPING_CONSTRAINTS, SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.explanation import ScoreTable, score_features
from auctor.estimators.smooth_settings import (
    check_same_features,
    read_fpr_range,
    read_init,
    read_signs,
    score_init,
)
from auctor.learners.certificate import Certificate
from auctor.learners.smooth.fit import fit_smooth
from auctor.learners.smooth.history import SmoothHistory
from auctor.learners.smooth.settings import SmoothSettings
from auctor.models import AdditiveModel, Model

_AMOUNT = [Interval(Real, 0, None, closed="left"), StrOptions({"auto"})]
SMOOTH_CONSTRAINTS: dict[str, list[Any]] = {
    **SHARED_CONSTRAINTS,
    **EARLY_STOPPING_CONSTRAINTS,
    "penalty": _AMOUNT,
    "shrinkage": _AMOUNT,
    "ridge": _AMOUNT,
    "n_estimators": [Interval(Integral, 1, None, closed="left")],
    "solver": [StrOptions({"newton", "stagewise"})],
    "roughness": [StrOptions({"auto", "curvature", "bins"})],
    "scale": [StrOptions({"normal", "arcsinh", "linear"})],
    "adaptive": ["boolean"],
    "monotonic_cst": ["array-like", dict, None],
    "interactions": [Interval(Integral, 0, None, closed="left")],
    "max_features": [Interval(Integral, 1, None, closed="left"), None],
    "fpr_range": ["array-like", None],
    "init": [AdditiveModel, HasMethods("decision_function"), None],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
}


class SmoothAUCBoost(RankingEstimator):
    """Additive model that maximises the smoothed AUC less its roughness (Komori 2010).

    The score is a sum of one function per feature, F(x) = F_1(x_1) + ... + F_p(x_p), and maximises

        mean over pairs of Phi(F(x1) - F(x0)) - penalty * curvature - shrinkage * slope,

    the AUC with a normal distribution function in place of the step. Each F_k can be drawn.

    Parameters
    ----------
    penalty : float or "auto", default="auto"
        The paper's lambda: weight of the squared curvature of each F_k. "auto" is 0.1 over the
        harmonic mean of the (effective) numbers of positives and negatives (for
        ``roughness="bins"``, scaled by the number of bins); ``SmoothAUCBoostCV`` finds it by
        cross-validation.
    n_estimators : int, default=500
        Rounds of the stagewise solver, the paper's T; the newton solver has none.
    solver : {"newton", "stagewise"}, default="newton"
        "newton" climbs to the maximum in all features at once; "stagewise" is the paper's section
        3.2, a stump a round, with the paper's penalty (its lambda is 0.01 unless given), without
        shrinkage and without ``adaptive``.
    shrinkage : float or "auto", default="auto"
        Weight of the squared slope, which curvature alone leaves free. The paper has none.
    ridge : float or "auto", default="auto"
        Weight of the squared distance of a category, and of missing values, from the feature's
        mean; "auto" is three times the automatic penalty.
    roughness : {"auto", "curvature", "bins"}, default="auto"
        "curvature" measures on a scale of x; "bins" takes plain second differences over
        neighbouring bins, as the paper does. "auto" is curvature for the newton solver and bins for
        stumps, each of which is a cliff to a curvature.
    scale : {"normal", "arcsinh", "linear"}, default="normal"
        The scale of x for curvature and slope: normal scores of the ranks, the arcsinh of the
        robustly standardised x, or the standardised x itself.
    adaptive : bool, default=True
        Whether each feature gets its own multiple of the penalties, inverse to its roughness in a
        pilot fit: less for features that need to bend, more for those that look like noise. Single
        values that stand out from the line ("999 is unknown") may then leave it. Newton only.
    max_bins : int, default=255
        Most bins of a feature.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns that hold categories; text and category columns always do.
    monotonic_cst : array-like of int or dict of str to int, optional
        1 for features whose F_k must not fall, -1 for those that must not rise, 0 for the others.
    interactions : int, default=0
        Most pairs of features whose joint surface is added. A scan of the 40 features that matter
        most finds them; there are fewer where it finds no more, and none with a monotone feature.
        For the newton solver only.
    max_features : int or None, default=300
        Most features that take part in a fit. Of a wider table those are taken that tell the
        classes of the training rows apart best by themselves (Wilcoxon's test, also of the squared
        ranks, of missing values, and chi-squared for categories); the others add nothing to the
        score. None takes all. For the newton solver only.
    fpr_range : (float, float), optional
        Train for the partial AUC over this range of false positive rates.
    init : AdditiveModel or fitted estimator, optional
        A model of the same columns to start from, the paper's F_0: what is fitted is added to its
        scores, and penalised by itself. scikit-learn's ``clone``, and with it grid search, forgets
        the fit of an estimator; give its ``model_`` there.
    early_stopping : bool, default=False
        Hold out rows and keep the iteration or round that ranks them best.
    validation_fraction : float, default=0.1
        Share of each class that is held out.
    n_iter_no_change : int, default=10
        Iterations or rounds without a better AUC after which early stopping ends the fit.
    max_iter : int, default=500
        Most iterations of the newton solver.
    tol : float, default=1e-8
        The newton solver stops when a step promises a smaller gain in the objective.
    frequency_weights : bool, default=False
        Whether ``sample_weight`` counts copies of a row: the sum of the weights is then the
        number of rows. By default weights say how much a row matters, and only their
        proportions count: rules that ask for a number of rows use the effective number.
    pos_label : label, optional
        The positive class; the larger label unless given.
    threshold : "youden" or float, default="youden"
        The score above which ``predict`` says positive.
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
        The objective at its maximum and how much is left to gain.
    history_ : SmoothHistory
        Objective and smoothed AUC after each iteration, and the penalties.
    penalty_, shrinkage_, ridge_ : float
        The amounts that were used.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the spread of the training scores: the standard deviation of F_k,
        both classes alike, with half of that of its surfaces; they add up to 1. Of what was fitted
        alone where there is ``init``.
    n_iter_ : int
        Iterations, or rounds of the stagewise solver.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import SmoothAUCBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = SmoothAUCBoost().fit(X[:400], y[:400])
    >>> round(ranker.score(X[400:], y[400:]), 3)
    0.999
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = SMOOTH_CONSTRAINTS

    model_: AdditiveModel

    def __init__(
        self,
        penalty: Any = "auto",
        n_estimators: int = 500,
        *,
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
        random_state: Any = None,
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

    def score_table(
        self, X: Any, y: Any, sample_weight: Any = None, level: float = 0.95
    ) -> ScoreTable:
        """The AUC of each F_k alone and of the whole score, with confidence intervals.

        Parameters
        ----------
        X, y, sample_weight
            Labelled rows. On those of the fit every AUC is too good; take others to judge.
        level : float, default=0.95
            Confidence level of the intervals, which are those of :func:`auctor.metrics.auc_ci`.

        Returns
        -------
        ScoreTable
            One ScoreRow (name, auc, low, high, range) per feature, the best first; those that add
            nothing have 0.5 and come last.

        Examples
        --------
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

    def _fit_table(
        self, table: Table, X: Any, y: npt.NDArray[Any], sample_weight: Any
    ) -> tuple[Model, SmoothHistory, Certificate]:
        if self.interactions not in (0, "auto") and self.solver == "stagewise":
            raise ValueError(
                f"interactions is {self.interactions} with solver='stagewise', which has stumps "
                "only; set interactions=0 or solver='newton'"
            )
        self._first = read_init(self.init, y, self.pos_label)
        self._offset = None
        if self._first is not None:
            scores = score_init(self._first, table)
            weight = read_weights(sample_weight, len(y))
            self._offset = scores if weight is None else scores[weight > 0]
        try:
            return super()._fit_table(table, X, y, sample_weight)
        finally:
            del self._first, self._offset

    def _learn(self, data: RankingData) -> tuple[AdditiveModel, SmoothHistory, Certificate]:
        settings = self._settings(data)
        check_same_features(self._first, data, settings.signs)
        train, held_out = self._hold_out(data)
        model, history, certificate = fit_smooth(train, settings, held_out, self._first)
        self.n_iter_ = len(history.rounds or history.objective)
        self.penalty_, self.shrinkage_, self.ridge_ = history.amounts
        self.feature_importances_ = history.importances
        return model, history, certificate

    @property
    def _resolved_roughness(self) -> str:
        if self.roughness != "auto":
            return self.roughness
        return "curvature" if self.solver == "newton" else "bins"

    def _settings(self, data: RankingData) -> SmoothSettings:
        return SmoothSettings(
            penalty=self.penalty,
            shrinkage=self.shrinkage,
            ridge=self.ridge,
            roughness=self._resolved_roughness,
            scale=self.scale,
            adaptive=self.adaptive,
            solver=self.solver,
            n_estimators=self.n_estimators,
            max_iter=self.max_iter,
            tol=self.tol,
            n_iter_no_change=self.n_iter_no_change,
            signs=read_signs(self.monotonic_cst, data),
            interactions=self.interactions if self.interactions != "auto" else 0,
            max_features=self.max_features,
            offset=getattr(self, "_offset", None),
            fpr_range=read_fpr_range(self.fpr_range, data.effective_rows[0]),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
