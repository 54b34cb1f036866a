"""SmoothTreeBoost: boosted trees on a loss over pairs, beside the smooth additive model."""

from collections.abc import Iterable
from itertools import combinations
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from auctor._typing import Bools, Floats
from auctor.data import RankingData
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.fit_input import FitInput, FitResult
from auctor.estimators.folds import draw_masks
from auctor.estimators.init import check_same_features
from auctor.estimators.smooth_base import (
    MOST_PAIRS,
    make_settings,
    read_fpr_range,
    read_signs,
    read_smooth_init,
)
from auctor.learners.checkpoint.checkpoint import open_journal
from auctor.learners.smooth.settings import SmoothSettings
from auctor.learners.tree_boost.fit import fit_tree_boost
from auctor.learners.tree_boost.history import TreeBoostHistory
from auctor.learners.tree_boost.settings import TreeBoostSettings
from auctor.models import AdditiveModel, ForestModel, Model, ScoreSpread, SumModel, sum_models

# Numbers of rows up to which 5, and then 3, folds choose the number of trees; beyond it one fold.
_FEW_ROWS, _MANY_ROWS = 1_000, 50_000


class SmoothTreeBoost(RankingEstimator):
    """Boosted trees on a loss over pairs of rows, mixed with the smooth additive model.

    Each tree is fitted to increase the mean, over all pairs of a positive row x1 and a negative row
    x0, of

        log sigma(F(x1) - F(x0))  (``loss="logistic"``)  or  Phi(F(x1) - F(x0))  (``loss="auc"``).

    The second is the smoothed AUC of Komori (2010). No pair is formed: slope and curvature of every
    row are convolutions on the line of scores. Trees find interactions of features; the smooth
    additive model (SmoothAUCBoostCV) is the better one where there are none, or few. By default
    both are fitted, and held-out rows choose the penalties of the smooth model, whether it has
    surfaces of pairs, the number of trees and the weight of each of the two. If no number of trees
    ranks them better, the result is the smooth model.

    Parameters
    ----------
    n_estimators : int, default=500
        Maximum number of trees; their number if ``early_stopping`` is False.
    loss : {"logistic", "auc", "log"}, default="logistic"
        The pairwise logistic loss; the smoothed AUC, which gives less weight to pairs that are far
        in the wrong order, such as those of wrong labels; or the log loss of single rows, which
        other libraries use.
    fpr_range : (float, float), default=None
        Maximise the partial AUC over this range of false positive rates. It is the smoothed
        partial AUC whatever ``loss`` is.
    init : "smooth", AdditiveModel, fitted estimator or None, default="smooth"
        "smooth" fits a SmoothAUCBoostCV beside the trees, on the same folds, and the score is a
        weighted sum of both; with ``early_stopping=False`` it is a SmoothAUCBoost.
        With a model of the same columns, ``n_estimators`` trees start from its scores, without
        early stopping: the model may have seen the rows that would be held out. None gives trees
        alone.
    learning_rate : float, default=0.1
        Factor of each tree. Smaller values need more trees.
    max_depth : int, default=6
        Maximum depth of a tree.
    subsample : float, default=0.6
        Fraction of the rows drawn, without replacement, for each tree.
    max_features : {"sqrt", "log2"}, int, float or None, default=0.4
        Number of features drawn for each node: "sqrt" and "log2" of the number of features, a
        number, a fraction, or all of them (None).
    l2_regularization : float, default=1.0
        Shrinks the value of a leaf as rows would whose curvatures add up to this number and in
        which both classes occur as often as in the whole table: 4 rows per unit at the beginning of
        the fit if the classes have the same size, and more the rarer one of them is. It has the
        meaning that it has in other libraries for the log loss.
    monotonic_cst : array-like of int or dict of str to int, default=None
        1 for features in which the score must not decrease, -1 for those in which it must not
        increase, and 0 for the others. Missing values have no place in the order: they may have a
        smaller or larger score than all values.
    interaction_cst : {"pairwise", "no_interactions"} or iterable of iterables, default=None
        Groups of features, by name or position, that may be tested on one path of a tree. Features
        in no group form one more group. "pairwise" allows every pair of features, and
        "no_interactions" single features only.
    early_stopping : bool, default=True
        Whether held-out rows choose the number of trees and their weight beside the smooth model.
        Without it the weight is one half.
    cv : int, cross-validation generator or iterable, default=None
        Number of folds, or a scikit-learn splitter, or an iterable of (train, test) row positions.
        A number gives stratified, shuffled folds that keep copies of a row together. None is 5
        folds up to 1,000 rows, 3 up to 50,000, fewer where a class has fewer rows, and one held-out
        fifth of the rows beyond; where a class has a single row, nothing is held out. The folds
        serve ``early_stopping``; give the folds of a group splitter where rows belong together.
    n_iter_no_change : int, default=60
        Number of iterations without an improvement after which early stopping ends the fit. An
        iteration is a tree. Trees that still improve by themselves go on, although the smooth
        model may be ahead of them.
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
        It seeds the folds, the rows of each tree and the features of each node. Scores have no
        random part.
    n_jobs : int, default=None
        Number of threads. None is 1, and -1 is all cores. The model is the same, bit for bit, for
        any number.
    verbose : bool or int, default=False
        Whether to show the progress of the fit on stderr.

    Attributes
    ----------
    model_ : SumModel, ForestModel or AdditiveModel
        The fitted model: a sum of the smooth model and of the trees, or one of them if the other
        has weight 0. ``model_.save(path)`` writes it to a file.
    tree_weight_ : float
        The weight of the trees in the score, from 0 to 1; the rest is that of the smooth model.
        With a model as ``init``, the part of the trees in the sum of the two spreads.
    n_iter_ : int
        Number of trees in the model.
    feature_importances_ : ndarray of shape (n_features,)
        The part of each feature in the spread of the smooth model and in the gain of the trees,
        each times its weight; the sum is 1.
    certificate_ : Certificate
        Komori's bound on the AUC of the training pairs, the gain of the last tree, and the AUC of
        the held-out rows that chose the model.
    history_ : TreeBoostHistory
        ``n_leaves`` and ``gains`` of each tree; ``mixture`` has the AUC of held-out rows by number
        of trees, weight and fold.
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    pos_label_ : label
        The positive class: larger scores mean that it is more likely.

    Examples
    --------
    Rows are positive where the product of three features is, which no sum of functions of one or
    two features can rank:

    >>> import numpy as np
    >>> from auctor import SmoothAUCBoost, SmoothTreeBoost
    >>> X = np.random.default_rng(0).normal(size=(600, 3))
    >>> y = X.prod(axis=1) > 0
    >>> trees = SmoothTreeBoost(n_estimators=50).fit(X[:400], y[:400])
    >>> round(trees.score(X[400:], y[400:]), 1)
    1.0
    >>> round(SmoothAUCBoost(interactions=3).fit(X[:400], y[:400]).score(X[400:], y[400:]), 1)
    0.5
    """

    model_: Model

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "loss": [StrOptions({"logistic", "auc", "log"})],
        "fpr_range": ["array-like", None],
        "init": [StrOptions({"smooth"}), AdditiveModel, HasMethods("decision_function"), None],
        "learning_rate": [Interval(Real, 0, 1, closed="right")],
        # Arrays for all nodes of a level are made at the start.
        "max_depth": [Interval(Integral, 1, 12, closed="both")],
        "subsample": [Interval(Real, 0, 1, closed="right")],
        "max_features": [
            StrOptions({"sqrt", "log2"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "l2_regularization": [Interval(Real, 0, None, closed="left")],
        "monotonic_cst": ["array-like", dict, None],
        "interaction_cst": [StrOptions({"pairwise", "no_interactions"}), "array-like", set, None],
        "early_stopping": ["boolean"],
        "cv": [Interval(Integral, 2, None, closed="left"), "cv_object", None],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_estimators: int = 500,
        *,
        loss: str = "logistic",
        fpr_range: Any = None,
        init: Any = "smooth",
        learning_rate: float = 0.1,
        max_depth: int = 6,
        subsample: float = 0.6,
        max_features: Any = 0.4,
        l2_regularization: float = 1.0,
        monotonic_cst: Any = None,
        interaction_cst: Any = None,
        early_stopping: bool = True,
        cv: Any = None,
        n_iter_no_change: int = 60,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.n_estimators = n_estimators
        self.loss = loss
        self.fpr_range = fpr_range
        self.init = init
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.subsample = subsample
        self.max_features = max_features
        self.l2_regularization = l2_regularization
        self.monotonic_cst = monotonic_cst
        self.interaction_cst = interaction_cst
        self.early_stopping = early_stopping
        self.cv = cv
        self.n_iter_no_change = n_iter_no_change
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def spread(self, X: Any) -> ScoreSpread:
        """How much of the variance of the score is due to single features, pairs and trees.

        Parameters
        ----------
        X : table
            The rows over which the variance is computed.

        Returns
        -------
        ScoreSpread
            It prints as a sentence. What trees add counts as trees, even if it depends on one
            feature only.
        """
        check_is_fitted(self)
        model = self.model_
        whole = model if isinstance(model, SumModel) else sum_models([model])
        return whole.spread(self._read(X))

    def _fit(self, given: FitInput) -> FitResult:
        is_smooth = isinstance(self.init, str)
        start = None if is_smooth else read_smooth_init(self.init, given, self.pos_label)
        folds = self._folds(given) if self.early_stopping and start is None else []
        data = self._prepare(given)
        if start is not None:
            check_same_features(start.source, data, read_signs(self.monotonic_cst, data))
        settings = self._settings(data)
        options: dict[str, Any] = {
            "folds": folds,
            "smooth": self._smooth_settings(data) if is_smooth else None,
            "n_pairs": MOST_PAIRS if self.interaction_cst is None else 0,
            "offset": None if start is None else start.scores,
        }
        first = None if start is None else start.source
        with open_journal(
            given.checkpoint, "SmoothTreeBoost", data, settings, **options
        ) as journal:
            model, history, certificate = fit_tree_boost(
                data, settings, first=first, journal=journal, **options
            )
        attributes = {
            "n_iter_": len(history.n_leaves),
            "tree_weight_": history.weight,
            "feature_importances_": _importances(model, data, history),
        }
        return FitResult(model, history, certificate, data.classes, attributes)

    def _folds(self, given: FitInput) -> list[tuple[Bools, Bools]]:
        """Masks of the rows to train on and to hold out."""
        cv, n_rows = self.cv, sum(given.count_labels())
        is_large = cv is None and n_rows > _MANY_ROWS
        if cv is None and n_rows > _FEW_ROWS:
            cv = _usual_folds(given, 5 if is_large else 3)
        return draw_masks(
            cv,
            given,
            most=1 if is_large else None,
            pos_label=self.pos_label,
            categorical_features=self.categorical_features,
            random_state=self.random_state,
            instead="early_stopping=False",
        )

    def _settings(self, data: RankingData) -> TreeBoostSettings:
        return TreeBoostSettings(
            n_estimators=self.n_estimators,
            learning_rate=self.learning_rate,
            loss="auc" if self.fpr_range is not None else self.loss,
            fpr_range=read_fpr_range(self.fpr_range, data.effective_rows[0]),
            max_depth=self.max_depth,
            subsample=self.subsample,
            max_features=self.max_features,
            l2_regularization=self.l2_regularization,
            signs=read_signs(self.monotonic_cst, data),
            groups=read_groups(self.interaction_cst, data),
            n_iter_no_change=self.n_iter_no_change,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _smooth_settings(self, data: RankingData) -> SmoothSettings:
        return make_settings(
            data,
            monotonic_cst=self.monotonic_cst,
            fpr_range=self.fpr_range,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )


def _usual_folds(given: FitInput, most: int) -> int | None:
    """The number of folds, fewer where a class has fewer rows; None where one has a single row."""
    fewest = min(most, *given.count_labels())
    return fewest if fewest >= 2 else None


def read_groups(interaction_cst: Any, data: RankingData) -> tuple[tuple[int, ...], ...]:
    """The groups of ``interaction_cst`` as positions of features; empty without a constraint."""
    n_features = data.n_features
    if interaction_cst is None:
        return ()
    if isinstance(interaction_cst, str):
        size = 2 if interaction_cst == "pairwise" and n_features > 1 else 1
        return tuple(combinations(range(n_features), size))
    position = {feature.name: j for j, feature in enumerate(data.features)}
    groups = [_read_group(group, position) for group in interaction_cst]
    rest = tuple(sorted(set(range(n_features)) - {j for group in groups for j in group}))
    return tuple(groups) + ((rest,) if rest else ())


def _read_group(group: Any, position: dict[str, int]) -> tuple[int, ...]:
    """The positions of the features of a group, given by names or positions."""
    wanted = "give groups of names or positions of columns, such as [('age', 'income'), (2, 3)]"
    if isinstance(group, str) or not isinstance(group, Iterable):
        raise ValueError(f"interaction_cst has the group {group!r}; {wanted}")
    members = set()
    for member in group:
        is_position = isinstance(member, Integral) and not isinstance(member, bool)
        j = position.get(member, -1) if isinstance(member, str) else -1
        j = int(member) if is_position else j
        if not 0 <= j < len(position):
            raise ValueError(
                f"interaction_cst names {member!r}, which is not a column of X; {wanted}"
            )
        members.add(j)
    return tuple(sorted(members))


def _importances(model: Model, data: RankingData, history: TreeBoostHistory) -> Floats:
    """The importance of each feature in the smooth model and in the trees, by their weights."""
    total = np.zeros(data.n_features)
    for part in model.parts if isinstance(model, SumModel) else (model,):
        if isinstance(part, ForestModel):
            total += history.weight * part.importance
        elif isinstance(part, AdditiveModel):
            smooth = history.smooth_importances
            total += (1.0 - history.weight) * (_ranges(part) if smooth is None else smooth)
    return np.asarray(total / (total.sum() or 1.0))


def _ranges(model: AdditiveModel) -> Floats:
    """The range of each feature's function, as a fraction of the sum of the ranges.

    For a model that was given, whose spread over its training rows is not known.
    """
    ranges = np.array([np.ptp(steps) for steps in model.steps])
    return np.asarray(ranges / (ranges.sum() or 1.0))
