"""RankEnsemble: several rankers, fitted to the same folds, with one weight for each."""

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from auctor._typing import Floats
from auctor.data.labelled import LabelledRows, read_rows
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.combiners import (
    COMBINERS,
    CombinerSettings,
    CrossFitted,
    check_combiner,
    combine,
    cross_fit,
)
from auctor.estimators.ensemble_model import (
    Fitted,
    HeldOutScores,
    by_fold,
    certify,
    cv_results,
    ensemble_model,
    full_weight,
    held_out_rows,
    importances,
    mean_by_row,
)
from auctor.estimators.exactboost_cv import check_k, top_fraction
from auctor.estimators.fit_input import FitInput, FitResult
from auctor.estimators.folds import Fold, draw_folds, find_copied_rows
from auctor.estimators.members import (
    MemberFits,
    Named,
    adapt_member,
    check_members,
    name_members,
)
from auctor.estimators.smooth_aucboost_cv import SmoothAUCBoostCV
from auctor.estimators.smooth_base import read_fpr_range
from auctor.estimators.smooth_tree_boost import SmoothTreeBoost
from auctor.learners.ensemble.held_out import HeldOut, Target


@dataclass(frozen=True, eq=False)
class EnsembleHistory:
    """What happened in a fit of RankEnsemble.

    Attributes
    ----------
    folds : list of (ndarray, ndarray)
        The rows that each model was fitted to, and those that it was judged by.
    weights_by_fold : ndarray of shape (n_folds, n_members)
        The weights chosen without each fold; empty if there is a single fold.
    """

    folds: list[Fold]
    weights_by_fold: Floats


class RankEnsemble(RankingEstimator):
    """A weighted sum of several rankers, with weights chosen on held-out rows by the metric.

    Every member is fitted without each of K folds. The K models of a member are brought to a common
    scale, by the median and the spread of their held-out scores, and averaged (bagging). The score
    of the ensemble is the weighted sum of these averages. Held-out scores choose the weights: they
    are 0 or more, sum to 1, and maximise the metric, with a small cost for leaving equal weights,
    which decides on small tables. Members of weight 0 are left out of the model.

    Parameters
    ----------
    estimators : list of classifiers or of (str, classifier), default=None
        The members: estimators of auctor, or any scikit-learn classifiers with
        ``decision_function`` or ``predict_proba``. They are cloned. None is SmoothAUCBoostCV
        ("smooth"), SmoothTreeBoost ("mixture") and SmoothTreeBoost(init=None) ("trees"), which get
        the parameters of the ensemble. Members of auctor get its ``pos_label``, and its
        ``categorical_features``, ``frequency_weights`` and ``n_jobs`` where they have the defaults.
        Parameters of named members can be set as ``name__parameter``.
    metric : {"auc", "partial_auc", "ks", "precision_at_k"}, default="auc"
        The metric to maximise by the weights. The default members are trained for the AUC, or the
        partial AUC.
    k : int or float, default=0.1
        For "precision_at_k": a number of rows of the training table, or a fraction of them below
        1.
    fpr_range : (float, float), default=None
        For "partial_auc": the range of false positive rates.
    combiner : {"weights", "equal", "margin", "exactboost", "dmks"}, default="weights"
        "weights": weights that maximise the metric. "equal": equal weights. "margin": weights of
        largest soft margin over pairs (MarginRanker, for the AUC). "exactboost": a step function of
        each member's score (ExactBoost, for AUC, KS and precision at k). "dmks": a linear score of
        largest KS (DMKS). The last two are the ensemblers of Csillag et al. (2021); a model that
        is no weighted sum with weights of 0 or more can be pickled, but not saved as JSON.
    cv : int, cross-validation generator or iterable, default=5
        Number of folds, or a scikit-learn splitter, or an iterable of (train, test) row positions.
        A number gives stratified, shuffled folds that keep copies of a row together. Give the folds
        of a group splitter where rows belong together; members that choose something by
        cross-validation use the other folds for it then. None is 5 folds, or fewer where a class
        has fewer rows.
    refit : bool, default=False
        Whether to fit the members to all rows once the folds have chosen the weights, and to use
        these models in place of the means over the folds: one more fit for each member, and a model
        of fewer parts. docs/ensemble.md compares the two.
    categorical_features : "from_dtype" or array-like of str, int or bool, default="from_dtype"
        Names, positions or mask of additional columns to treat as categorical. Columns of strings
        and columns of a categorical dtype are always categorical. The members of other libraries do
        not receive this argument.
    frequency_weights : bool, default=False
        Whether ``sample_weight`` counts copies of a row, so that the sum of the weights is the
        number of rows. By default only the proportions of the weights matter, and rules that need a
        number of rows use the effective number, (sum w)^2 / sum w^2.
    pos_label : label, default=None
        The positive class. None takes the larger of the two labels.
    threshold : "youden" or float, default="youden"
        ``predict`` returns the positive class where the score is at or above this value. Scores are
        shifted so that TPR - FPR (Youden's index) on the training rows is largest at 0, and
        "youden" is that 0. Here the rows have their held-out scores.
    random_state : int, RandomState instance or None, default=0
        Seed of the random choices. None makes different choices in every call. It seeds the folds
        and the default members.
    n_jobs : int, default=None
        Number of threads. None is 1, and -1 is all cores. The model is the same, bit for bit, for
        any number. The fits run one after another, each with this number of threads.
    verbose : bool or int, default=False
        Whether to show the progress of the fit on stderr.

    Attributes
    ----------
    model_ : SumModel, MemberModel or StackedModel
        The fitted model. A SumModel, where all members of positive weight are estimators of auctor
        whose models can be saved; ``model_.save(path)`` writes it and ``explain`` explains it.
    weights_ : dict of str to float
        The weight of each member, for scores of equal spread. For "exactboost" its part in the
        steps; for "dmks" weights may be negative, and the absolute values sum to 1.
    estimators_ : dict of str to list
        The fitted models of each member: one for each fold or, with ``refit``, one of all rows.
    oof_decision_function_ : ndarray of shape (n_rows,)
        The score of each row by the models that were fitted without it, with weights chosen
        without its fold. NaN for rows of weight 0 and for rows that no fold holds out; the mean,
        if several folds hold out a row.
    oof_auc_ : AucInterval or None
        The AUC of these scores with its confidence interval (within folds, unless a row is in
        several of them). None where a fold has fewer than two rows of a class.
    oof_metric_ : AucInterval, MetricInterval or None
        The same for ``metric``.
    cv_results_ : dict
        For each member "member" (its name), "weight", "value" (the metric of its held-out scores)
        and "values" (the metric within each fold).
    certificate_ : Certificate
        The metric of the held-out rows, for the ensemble and for its best member.
    history_ : EnsembleHistory
        The folds, and the weights chosen without each of them.
    feature_importances_ : ndarray of shape (n_features,)
        The weighted mean of the members' importances, if all members of positive weight have them.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The positive class: larger scores mean that it is more likely.

    Notes
    -----
    The metric of the held-out rows with the final weights is a little too optimistic, since the
    same rows chose the m - 1 free weights. ``oof_decision_function_`` and the intervals use weights
    that were chosen without the row's fold instead. docs/ensemble.md has the measured difference.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import RankBoost, RankEnsemble, SmoothAUCBoost
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> members = [("stumps", RankBoost(n_estimators=20)), ("smooth", SmoothAUCBoost())]
    >>> ranker = RankEnsemble(members, cv=3).fit(X[:400], y[:400])
    >>> sorted(ranker.weights_), round(sum(ranker.weights_.values()), 6)
    (['smooth', 'stumps'], 1.0)
    >>> print(ranker.oof_auc_)
    cross-validated AUC 0.99... (95% CI 0.9... to ..., DeLong within folds, ...
    >>> round(ranker.score(X[400:], y[400:]), 2)
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: rule for name, rule in SHARED_CONSTRAINTS.items() if name != "max_bins"},
        "estimators": [list, tuple, None],
        "metric": [StrOptions({"auc", "partial_auc", "ks", "precision_at_k"})],
        "k": [Real],
        "fpr_range": ["array-like", None],
        "combiner": [StrOptions(set(COMBINERS))],
        "refit": ["boolean"],
        "cv": [Interval(Integral, 2, None, closed="left"), "cv_object", None],
    }

    history_: EnsembleHistory

    def __init__(
        self,
        estimators: Any = None,
        *,
        metric: str = "auc",
        k: float = 0.1,
        fpr_range: Any = None,
        combiner: str = "weights",
        cv: Any = 5,
        refit: bool = False,
        categorical_features: Any = "from_dtype",
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.estimators = estimators
        self.metric = metric
        self.k = k
        self.fpr_range = fpr_range
        self.combiner = combiner
        self.cv = cv
        self.refit = refit
        self.categorical_features = categorical_features
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; with ``deep`` also the members by name, and their parameters."""
        parameters: dict[str, Any] = super().get_params(deep=False)
        for name, estimator in self._named() if deep else []:
            parameters[name] = estimator
            if hasattr(estimator, "get_params") and not isinstance(estimator, type):
                own = estimator.get_params()
                parameters.update({f"{name}__{key}": value for key, value in own.items()})
        return parameters

    def set_params(self, **params: Any) -> Self:
        """Set parameters, members by their names, and parameters of members."""
        if "estimators" in params:
            self.estimators = params.pop("estimators")
        for position, (name, _) in enumerate(self._named()):
            if name in params:
                self._replace(position, name, params.pop(name))
        super().set_params(**params)
        return self

    def _named(self) -> list[Named]:
        is_list = isinstance(self.estimators, (list, tuple))
        return name_members(self.estimators) if is_list else []

    def _replace(self, position: int, name: str, estimator: Any) -> None:
        members = list(self.estimators)
        is_named = isinstance(members[position], tuple)
        members[position] = (name, estimator) if is_named else estimator
        self.estimators = members

    def _fit(self, given: FitInput) -> FitResult:
        check_combiner(self.combiner, self.metric)
        return self._combine(given, self._fit_members(given))

    def _fit_members(self, given: FitInput) -> Fitted:
        """Fit all members without each fold."""
        given.table.check_columns()
        rows = read_rows(
            given.y, given.sample_weight, self.pos_label, given.table.n_rows, self.frequency_weights
        )
        members = self._members(given, self._target(given, rows))
        folds = self._folds(given)
        weight = full_weight(rows, len(given.y))
        are_given = not (self.cv is None or isinstance(self.cv, Integral))
        fits = MemberFits(given, folds, rows.classes.tolist()[1], weight, are_given)
        return Fitted(
            rows, folds, list(fits.run(members, refit=bool(self.refit), verbose=self.verbose))
        )

    def _members(self, given: FitInput, target: Target) -> list[Named]:
        """The members, checked, with the parameters of the ensemble."""
        shared = {
            "categorical_features": self.categorical_features,
            "frequency_weights": self.frequency_weights,
            "pos_label": self.pos_label,
            "n_jobs": self.n_jobs,
        }
        if self.estimators is None:
            more = {"random_state": self.random_state, "fpr_range": target.fpr_range, **shared}
            return [
                ("smooth", SmoothAUCBoostCV(**more)),
                ("mixture", SmoothTreeBoost(**more)),
                ("trees", SmoothTreeBoost(init=None, **more)),
            ]
        members = name_members(self.estimators)
        check_members(members, set(super().get_params(deep=False)), given.weight is not None)
        return [(name, adapt_member(estimator, shared)) for name, estimator in members]

    def _target(self, given: FitInput, rows: LabelledRows) -> Target:
        data = rows.without_codes()
        if self.metric != "partial_auc" and self.fpr_range is not None:
            raise ValueError(
                f"fpr_range is {self.fpr_range!r}, but metric is {self.metric!r}; give "
                "metric='partial_auc', or no fpr_range"
            )
        if self.metric == "precision_at_k":
            check_k(self.k, given, self.frequency_weights)
            return Target(self.metric, top_fraction(self.k, data))
        if self.metric == "partial_auc" and self.fpr_range is None:
            raise ValueError("metric is 'partial_auc', but fpr_range is None; give two rates")
        fpr_range = read_fpr_range(self.fpr_range, data.effective_rows[0])
        return Target(self.metric, fpr_range=fpr_range)

    def _folds(self, given: FitInput) -> list[Fold]:
        folds = draw_folds(
            self.cv,
            given,
            pos_label=self.pos_label,
            categorical_features=self.categorical_features,
            random_state=self.random_state,
            instead="one of the members",
        )
        if not folds:
            raise ValueError(
                "cv is None, and a class has a single row; give two rows of each class"
            )
        return folds

    def _combine(self, given: FitInput, fitted: Fitted) -> FitResult:
        """Choose the weights of fitted members."""
        target, n_rows, members = self._target(given, fitted.rows), len(given.y), fitted.members
        held_out = held_out_rows(fitted, n_rows)
        settings = CombinerSettings(
            self.combiner, target, self.frequency_weights, self.random_state, self.n_jobs
        )
        whole = combine(held_out, settings)
        honest = cross_fit(held_out, settings, whole)
        chosen = whole.scores(held_out.scores)
        scores = mean_by_row(held_out, chosen, n_rows)
        known = self._known_rows(given, scores)
        model, cut = ensemble_model(members, whole, known.pick(scores), known)
        results = cv_results(target, held_out, members, whole)
        values = target.value(held_out, chosen), target.value(held_out, honest.scores)
        attributes = {
            "weights_": dict(zip(results["member"].tolist(), whole.weights.tolist(), strict=True)),
            "estimators_": {each.name: [m.estimator for m in each.final] for each in members},
            "cv_results_": results,
            **self._judged(given, held_out, honest, by_fold(members, whole), target, cut),
        }
        important = importances(members, whole.weights)
        if important is not None:
            attributes["feature_importances_"] = important
        return FitResult(
            model,
            EnsembleHistory(fitted.folds, honest.weights),
            certify(target, *values, results, whole),
            fitted.rows.classes,
            attributes,
        )

    def _known_rows(self, given: FitInput, scores: Floats) -> LabelledRows:
        """The rows that have a held-out score."""
        weight = np.ones(len(scores)) if given.weight is None else given.weight
        known = np.where(np.isfinite(scores), weight, 0.0)
        options = self.pos_label, len(scores), self.frequency_weights
        return read_rows(given.y, known, *options)

    def _judged(
        self,
        given: FitInput,
        rows: HeldOut,
        honest: CrossFitted,
        scores_by_fold: Floats | None,
        target: Target,
        cut: float,
    ) -> dict[str, Any]:
        """The honest held-out scores and their intervals."""
        n_rows = len(given.y)
        scores = mean_by_row(rows, honest.scores, n_rows)
        positive, folds = np.zeros(n_rows, dtype=bool), np.zeros(n_rows, dtype=np.int64)
        positive[rows.row], folds[rows.row] = rows.positive, rows.fold
        copied = find_copied_rows(given.X, positive, np.isfinite(scores).astype(float))
        judged = HeldOutScores(
            scores,
            positive,
            given.weight,
            folds if rows.is_partition and rows.n_folds > 1 else None,
            None if copied is None else copied.groups(rows.n_folds),
            scores_by_fold,
        )
        interval = judged.interval(target)
        return {
            "oof_decision_function_": scores - cut,
            "oof_metric_": interval,
            "oof_auc_": interval if target == Target("auc") else judged.interval(Target("auc")),
        }
