"""ExactBoostCV: the smooth model, improved on KS or precision at k where that surely helps."""

from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from auctor._typing import Floats
from auctor.data import RankingData, Table, read_weights
from auctor.estimators.base import SHARED_CONSTRAINTS
from auctor.estimators.smooth_aucboost_cv import SmoothAUCBoostCV
from auctor.learners.certificate import Certificate
from auctor.learners.exact.candidates import Candidate, RefinementHistory
from auctor.learners.exact.fit import ExactBoostSettings
from auctor.learners.exact.paired_metric import PairedMetric
from auctor.learners.exact.refine import RefinementSettings, importances, refine
from auctor.models import AdditiveModel, Model

_WANTED_K = "give a whole number of rows, or a share above 0 and below 1"


class ExactBoostCV(SmoothAUCBoostCV):
    """The smooth AUC model, improved on KS or precision at k by rounds of ExactBoost.

    First a :class:`SmoothAUCBoostCV` is fitted. A few runs of :class:`ExactBoost` then start from
    its scores and look for steps that improve the metric itself (Csillag et al. 2021); the mean of
    the runs, times a factor, is added to the smooth model. For precision at k a model of the
    partial AUC over the false positive rates of the top is tried as a start as well. Inner folds
    choose the number of rounds and the factor by the metric. The smooth model stays unless another
    gains more than two standard errors, so that the result is not worse than it by more than
    chance.

    Parameters
    ----------
    metric : {"ks", "precision_at_k"}, default="ks"
        The metric that is trained for and that the inner folds are judged by.
    k : int or float, default=0.1
        For "precision_at_k": a number of rows of the training table, or a share of them below 1.
        A number is turned into its share of the rows that have a weight above 0, or of the sum of
        the weights with ``frequency_weights``; with weights it is that share of their sum.
    n_runs : int, default=8
        Runs of ExactBoost whose mean is added.
    n_estimators : int, default=20
        Rounds of a run; the inner folds also try a quarter of them, and none.
    margin : float, default=0.05
        By which positives must lead, as a share of the range of scores; as in ExactBoost.
    subsample : float, default=0.2
        Share of the rows that a round looks at; as in ExactBoost.
    max_samples : int, optional, default=1000
        Rows of a class that a round looks at, at most; None for no limit.
    max_features : int or None, default=300
        Most features that take part in the smooth model, as in SmoothAUCBoost, and most that a
        round of ExactBoost looks at, drawn at random.
    search_tol : float, default=0.05
        How much better the best stump of a round may be than the one that is taken, in units of the
        metric; ``tol`` of ExactBoost.
    cv : int, splitter or iterable of (train, test), optional
        Inner folds, of the penalties and of the rounds; as in SmoothAUCBoostCV.
    interactions : "auto" or int, default="auto"
        Number of feature pairs whose surface is added; as in SmoothAUCBoostCV.
    monotonic_cst : array-like of int or dict of str to int, optional
        As in SmoothAUCBoost. No rounds are tried then: their steps could break it.
    max_bins : int, default=255
        Most bins of a feature.
    categorical_features : "from_dtype", array-like or None, default="from_dtype"
        Columns that hold categories; text and category columns always do.
    max_iter, tol
        As in SmoothAUCBoost.
    frequency_weights : bool, default=False
        As in SmoothAUCBoost.
    pos_label : label, optional
        The positive class; the larger label unless given.
    threshold : "youden" or float, default="youden"
        The score above which ``predict`` says positive.
    random_state : int, RandomState or None, default=0
        Shuffles the rows before they are cut into folds, and draws the rows of the rounds.
    n_jobs : int, optional
        Threads; None is 1, -1 all cores. The model is the same, bit for bit, for any number.
    verbose : bool or int, default=False
        A progress bar on stderr.

    Attributes
    ----------
    model_ : AdditiveModel
        The smooth model and the steps added to it, as one model. ``model_.save(path)`` writes it.
    certificate_ : Certificate
        The metric of the training rows, and what was chosen and why.
    cv_results_ : dict
        An entry for each candidate in the order tried, the smooth model first: "start" ("auc" or
        "partial_auc"), "n_rounds" and "factor" (0 for the start alone), "values" (the metric of
        every fold), "mean", "gain" (over the smooth model; for rounds, over their start) and
        "gain_error", its standard error.
    smooth_results_ : dict
        ``cv_results_`` of SmoothAUCBoostCV, by AUC.
    best_score_ : float
        The chosen candidate's mean of the metric over the folds.
    n_rounds_, factor_, start_
        What was chosen: 0 rounds and "auc" where the smooth model stays.
    history_ : RefinementHistory
        ``smooth``: the climb of the smooth model; ``candidates`` and ``chosen``: those of the
        inner folds; ``runs``: the rounds on all rows.
    n_iter_ : int
        Iterations of the smooth model.
    penalty_, shrinkage_, ridge_, interactions_, averages_, feature_importances_
        As in SmoothAUCBoostCV, of the final model.

    Notes
    -----
    ``score`` is the AUC; use the scorers of ``auctor.metrics`` to search parameters by the metric.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import ExactBoostCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = ExactBoostCV("ks", cv=3).fit(X[:400], y[:400])
    >>> ranker.n_rounds_ in ranker.cv_results_["n_rounds"]
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        **{
            name: SmoothAUCBoostCV._parameter_constraints[name]
            for name in ("cv", "interactions", "monotonic_cst", "max_features", "max_iter", "tol")
        },
        "metric": [StrOptions({"ks", "precision_at_k"})],
        "k": [Real],
        "n_runs": [Interval(Integral, 1, None, closed="left")],
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "margin": [Interval(Real, 0, 1, closed="both")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "max_samples": [Interval(Integral, 1, None, closed="left"), None],
        "search_tol": [Interval(Real, 0, 1, closed="left")],
    }

    history_: RefinementHistory

    def __init__(
        self,
        metric: str = "ks",
        k: float = 0.1,
        *,
        n_runs: int = 8,
        n_estimators: int = 20,
        margin: float = 0.05,
        subsample: float = 0.2,
        max_samples: int | None = 1000,
        max_features: int | None = 300,
        search_tol: float = 0.05,
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
        self.max_samples = max_samples
        self.max_features = max_features
        self.search_tol = search_tol
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

    # Settings of the smooth model that this class leaves at their defaults.
    penalties = shrinkages = fpr_range = init = None
    rule, solver, roughness, scale, adaptive = "paired", "newton", "auto", "normal", True

    def _fit_table(
        self, table: Table, X: Any, y: npt.NDArray[Any], sample_weight: Any
    ) -> tuple[Model, Any, Certificate]:
        self._check_k(read_weights(sample_weight, table.n_rows), table.n_rows)
        return super()._fit_table(table, X, y, sample_weight)

    def _learn(self, data: RankingData) -> tuple[AdditiveModel, Any, Certificate]:
        first, climb, _ = super()._learn(data)
        self.smooth_results_ = self.cv_results_
        settings = self._refinement(data)
        model, history, certificate = refine(data, settings, self._folds, first, climb)
        self._keep_choice(history)
        if model is not first:
            self.feature_importances_ = importances(model, data)
        return model, history, certificate

    def _refinement(self, data: RankingData) -> RefinementSettings:
        share, most = self._share(data), self.max_features
        exact = ExactBoostSettings(
            metric=self.metric,
            k=share,
            margin=self.margin,
            n_runs=self.n_runs,
            n_estimators=self.n_estimators,
            subsample=self.subsample,
            max_samples_per_class=self.max_samples,
            max_features=most if most is not None and most < data.n_features else None,
            gap_tol=self.search_tol,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            n_jobs=self.n_jobs,
        )
        smooth = replace(self._settings(data), verbose=False)
        target = PairedMetric(self.metric, share if self.metric == "precision_at_k" else 0.0)
        return RefinementSettings(smooth, exact, target, self.verbose)

    def _share(self, data: RankingData) -> float:
        """k as a share of the rows, so that it is the same share in every fold."""
        n_rows: float = data.n_rows
        if data.rows_per_unit is not None:  # weights count rows
            n_rows = sum(data.class_weights) * data.rows_per_unit[0]
        share = float(self.k) / n_rows if isinstance(self.k, Integral) else float(self.k)
        return min(share, 1 - 1e-9)

    def _check_k(self, weight: Floats | None, n_rows: int) -> None:
        if self.metric != "precision_at_k":
            return
        is_count = isinstance(self.k, Integral) and not isinstance(self.k, bool)
        most, what = float(n_rows), "rows of X"
        if weight is not None and self.frequency_weights:
            most, what = float(weight.sum()), "rows that sample_weight counts"
        elif weight is not None:
            most, what = float((weight > 0).sum()), "rows of X that have a weight above 0"
        if is_count and self.k > most:
            raise ValueError(f"k is {self.k}, more than the {most:.9g} {what}; {_WANTED_K}")
        if isinstance(self.k, bool) or not self.k > 0 or not (is_count or self.k < 1):
            raise ValueError(f"k is {self.k!r}; {_WANTED_K}")

    def _keep_choice(self, history: RefinementHistory) -> None:
        self.cv_results_ = _results(history.candidates)
        chosen = history.chosen
        self.best_score_ = chosen.mean if chosen else float("nan")
        self.n_rounds_ = chosen.n_rounds if chosen else 0
        self.factor_ = chosen.factor if chosen else 0.0
        self.start_ = chosen.start if chosen else "auc"


def _results(candidates: list[Candidate]) -> dict[str, npt.NDArray[Any]]:
    return {
        "start": np.array([c.start for c in candidates]),
        "n_rounds": np.array([c.n_rounds for c in candidates]),
        "factor": np.array([c.factor for c in candidates]),
        "values": np.array([c.values for c in candidates]),
        "mean": np.array([c.mean for c in candidates]),
        "gain": np.array([c.gain.value for c in candidates]),
        "gain_error": np.array([c.gain.error for c in candidates]),
    }
