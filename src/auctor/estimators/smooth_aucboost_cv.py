"""SmoothAUCBoostCV: SmoothAUCBoost with penalties chosen by cross-validation."""

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from auctor.data import RankingData
from auctor.estimators.fit_input import FitInput, FitResult
from auctor.estimators.folds import draw_masks
from auctor.estimators.init import Init
from auctor.estimators.smooth_base import (
    MOST_PAIRS,
    SMOOTH_CONSTRAINTS,
    PenaltySearch,
    Refit,
    SmoothEstimator,
    check_interactions,
    make_settings,
    read_amounts,
    read_smooth_init,
)
from auctor.learners.checkpoint.checkpoint import open_journal
from auctor.learners.smooth.settings import SmoothSettings, loose_where

# Constraints of the parameters that ExactBoostCV has too.
SEARCH_CONSTRAINTS: dict[str, list[Any]] = {
    "cv": [Interval(Integral, 2, None, closed="left"), "cv_object", None],
    "interactions": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
}


class SmoothAUCBoostCV(SmoothEstimator):
    """SmoothAUCBoost with penalties chosen by K-fold cross-validation (Komori 2010, section 3.3).

    The held-out AUC decides. The shrinkage is chosen first, at the automatic penalty, then the
    penalty at that shrinkage, and last whether surfaces of feature pairs help. The chosen model is
    then fitted to all rows. With ``solver="stagewise"`` every penalty is tried after every round,
    as in the paper.

    Parameters
    ----------
    penalties : array-like of float, default=None
        Penalties to try. By default the automatic penalty and multiples of it from 0.1 to 10, tried
        outward from the automatic one until the AUC is clearly lower. For
        ``solver="stagewise"`` the default is the lambdas of the paper.
    n_estimators : int, default=500
        Maximum number of boosting rounds. Only ``solver="stagewise"`` uses it; the Newton solver
        does not.
    shrinkages : array-like of float, default=None
        Amounts of shrinkage to try. By default the automatic amount and multiples of it from 0.3
        to 30, tried outward from the automatic one until the AUC is clearly lower.
    cv : int, cross-validation generator or iterable, default=None
        Number of folds, or a scikit-learn splitter, or an iterable of (train, test) row positions.
        A number gives stratified, shuffled folds that keep copies of a row together. None is 5
        folds, or fewer where a class has fewer rows; where a class has a single row, the automatic
        amounts are used without cross-validation.
    rule : {"paired", "best", "one_se"}, default="paired"
        "best" chooses the amounts with the largest mean AUC, and "one_se" the strongest penalties
        within one standard error of it. "paired" keeps the automatic amounts unless others gain
        more than two standard errors of the difference within the folds: among nearly equal
        candidates the largest mean is mostly luck, and costs more on new rows than it gains.
    search_samples : int or None, default=100_000
        Maximum number of rows on which penalties, shrinkage and surfaces are chosen; the final fit
        uses all rows. From a larger table so many rows are drawn at random: rows of the smaller
        class up to half of the number, and rows of the other class for the rest. What is chosen is
        carried over as multiples of the automatic amounts, which depend on the number of rows. None
        searches on all rows, and so do ``penalties`` or ``shrinkages`` that are given,
        ``fpr_range`` and ``solver="stagewise"``.
    solver : {"newton", "stagewise"}, default="newton"
        "newton" maximises over all features at once; "stagewise" adds one stump per round, as in
        section 3.2 of the paper. See SmoothAUCBoost.
    roughness : {"auto", "curvature", "bins"}, default="auto"
        How roughness is measured: see SmoothAUCBoost.
    scale : {"normal", "arcsinh", "linear"}, default="normal"
        The scale of x for curvature and slope: see SmoothAUCBoost.
    adaptive : bool, default=True
        Whether each feature gets its own multiple of the penalties: see SmoothAUCBoost.
    max_bins : int, default=255
        Maximum number of bins per feature. Missing values have one more bin of their own.
    categorical_features : "from_dtype" or array-like of str, int or bool, default="from_dtype"
        Names, positions or mask of additional columns to treat as categorical. Columns of strings
        and columns of a categorical dtype are always categorical.
    monotonic_cst : array-like of int or dict of str to int, default=None
        1 for features whose F_k must not decrease, -1 for those whose F_k must not increase, and 0
        for the others.
    interactions : "auto" or int, default="auto"
        Maximum number of feature pairs whose joint surface is added. "auto" tries 10 and keeps
        them if they gain more than one standard error (with ``rule="best"``, any gain). The
        stagewise solver has none.
    max_features : int or None, default=300
        Maximum number of features that take part in a fit: see SmoothAUCBoost. Each fold chooses
        them by its own training rows.
    fpr_range : (float, float), default=None
        Maximise the partial AUC over this range of false positive rates. The held-out partial AUC
        then decides.
    init : AdditiveModel or fitted estimator, default=None
        A model of the same columns to start from: see SmoothAUCBoost.
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
        Seed of the random choices. None makes different choices in every call. The rows are
        shuffled before they are divided into folds.
    n_jobs : int, default=None
        Number of threads. None is 1, and -1 is all cores. The model is the same, bit for bit, for
        any number. The folds run in parallel.
    verbose : bool or int, default=False
        Whether to show the progress of the fit on stderr.

    Attributes
    ----------
    penalty_, shrinkage_, ridge_ : float
        The chosen amounts.
    interactions_ : int
        Maximum number of feature pairs in the final fit; ``model_.surfaces`` has those it found.
    n_estimators_ : int
        The chosen number of rounds of the stagewise solver.
    single_values_ : bool
        Whether single values of a feature, such as codes or round amounts, may leave its smooth
        curve: only if the AUC of the held-out rows is surely higher with them.
    best_score_ : float
        Mean AUC of the chosen candidate over the folds of the search. It is a little too
        optimistic, because it was chosen as one of several.
    cv_results_ : dict
        "penalty", "shrinkage", "interactions", "mean_auc" and "std_auc" have an entry for each
        candidate, in the order in which they were tried, and "aucs" a row for each with the AUC of
        every fold. For the stagewise solver also "rounds", and "staged_auc" of shape (candidates,
        folds, rounds).
    model_, certificate_, history_, feature_importances_, classes_, pos_label_, n_iter_
        Those of the final fit: see SmoothAUCBoost.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import SmoothAUCBoostCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = SmoothAUCBoostCV().fit(X[:400], y[:400])
    >>> round(ranker.score(X[400:], y[400:]), 2)
    1.0
    >>> f"{ranker.penalty_:.2g}", ranker.cv_results_["mean_auc"].round(3).tolist()[:3]
    ('0.00051', [0.995, 0.995, 0.995])
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SMOOTH_CONSTRAINTS,
        **SEARCH_CONSTRAINTS,
        "penalties": ["array-like", None],
        "shrinkages": ["array-like", None],
        "rule": [StrOptions({"paired", "best", "one_se"})],
        "search_samples": [Interval(Integral, 1000, None, closed="left"), None],
    }

    def __init__(
        self,
        penalties: Any = None,
        *,
        n_estimators: int = 500,
        shrinkages: Any = None,
        cv: Any = None,
        rule: str = "paired",
        search_samples: int | None = 100_000,
        solver: str = "newton",
        roughness: str = "auto",
        scale: str = "normal",
        adaptive: bool = True,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interactions: Any = "auto",
        max_features: int | None = 300,
        fpr_range: Any = None,
        init: Any = None,
        max_iter: int = 500,
        tol: float = 1e-8,
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.penalties = penalties
        self.n_estimators = n_estimators
        self.shrinkages = shrinkages
        self.cv = cv
        self.rule = rule
        self.search_samples = search_samples
        self.solver = solver
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
        search = self._search(given)
        start = read_smooth_init(self.init, given, self.pos_label)
        data = self._prepare(given)
        settings = self._settings(data, start)
        with open_journal(
            given.checkpoint, "SmoothAUCBoostCV", data, settings, search=search
        ) as journal:
            return search.fit(data, settings, start, journal).result

    def _search(self, given: FitInput) -> PenaltySearch:
        folds = draw_masks(
            self.cv,
            given,
            pos_label=self.pos_label,
            categorical_features=self.categorical_features,
            random_state=self.random_state,
            instead="SmoothAUCBoost",
        )
        tries_pairs = self.interactions == "auto" and self.solver == "newton"
        return PenaltySearch(
            folds,
            penalties=read_amounts(self.penalties, "penalties"),
            shrinkages=read_amounts(self.shrinkages, "shrinkages"),
            rule=self.rule,
            n_pairs=MOST_PAIRS if tries_pairs else 0,
            max_rows=self.search_samples,
            seed=check_random_state(self.random_state).randint(2**31 - 1),
        )

    def _refit(self, data: RankingData) -> Refit:
        settings = replace(
            self._settings(data),
            penalty=self.penalty_,
            shrinkage=self.shrinkage_,
            ridge=self.ridge_,
            interactions=self.interactions_,
            n_estimators=self.n_estimators_,
            loose=loose_where(self.single_values_, data),
        )
        return Refit(settings, data, None)

    def _settings(self, data: RankingData, start: Init | None = None) -> SmoothSettings:
        """Settings with automatic penalties."""
        return make_settings(
            data,
            start=start,
            roughness=self.roughness,
            scale=self.scale,
            adaptive=self.adaptive,
            solver=self.solver,
            n_estimators=self.n_estimators,
            max_iter=self.max_iter,
            tol=self.tol,
            monotonic_cst=self.monotonic_cst,
            interactions=self.interactions,
            max_features=self.max_features,
            fpr_range=self.fpr_range,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
