"""TreeRankForest as a scikit-learn classifier."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from auctor._typing import Floats
from auctor.data import RankingData
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.importance import permutation_falls
from auctor.learners.certificate import Certificate
from auctor.learners.trees.forest import ForestHistory, ForestSettings, fit_forest
from auctor.models import ForestModel


class TreeRankForest(RankingEstimator):
    """Many TreeRank trees on bags of rows, and the mean of the ranks they give.

    Every tree grows on rows drawn with replacement, and every node may be split by a few
    features drawn at random. The rank of a leaf is the share of rows in worse leaves plus half of
    its own share, each class counting for half of the rows.

    Parameters
    ----------
    n_estimators : int, default=200
        Trees.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Features that a node may be split by: a number, a share, or all (None).
    aggregate : {"mean", "median"}, default="mean"
        What is taken of a row's ranks. The median of an even number of trees is the mean of
        the two in the middle.
    max_depth : int, default=6
        Levels of a tree at most.
    min_samples_leaf : float, default=5
        Least number of rows of the bag in a cell; without ``bootstrap``, of effective rows.
    min_gain : float, default=0
        A split must add more than this to the AUC on the bag.
    split : {"stump", "tree"}, default="tree"
        "stump" cuts a cell along one feature; "tree" (LeafRank) grows a small classification
        tree in it and sorts its leaves into two. With stumps the first cut of a tree decides
        which half of the ranks a row can have, and forests of them are worse on most tables.
    leaf_depth : int, default=4
        Depth of the small trees of ``split="tree"``. Smooth dependence on many rows gains by
        deeper ones, a rare class by shallower ones.
    bootstrap : bool, default=True
        Whether trees grow on bags. As many rows of each class are drawn as there are, so that
        no bag lacks a class. Without it the trees differ by their features alone, and nothing
        is out of bag.
    max_samples : float, optional
        Share of the rows that is drawn for a bag; None is 1.
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
        point of the out-of-bag scores is 0.
    random_state : int, RandomState or None, default=0
        Seed of the bags and of the features of nodes. Scores have no random part.
    n_jobs : int, optional
        Threads over trees; None is 1, -1 all cores. The model is the same, bit for bit, for any
        number. Rows are drawn by their place in the table: another order of the rows, or a row
        twice in the place of weight 2, gives a forest of the same law, not of the same bits.
    verbose : bool or int, default=False
        A progress bar on stderr.

    Attributes
    ----------
    model_ : ForestModel
        The fitted forest. ``model_.save(path)`` writes it.
    oob_score_ : float
        AUC of the out-of-bag scores: each row scored by the trees that have not seen it. Rows
        that every tree has seen are left out; NaN where a class has no others.
    oob_decision_function_ : ndarray
        The out-of-bag score of each row of weight above 0, in order; NaN for rows that every
        tree has seen.
    certificate_ : Certificate
        The out-of-bag AUC with its interval: DeLong's variance, doubled for the training sets (the
        worst case), and Wilson's limits.
    history_ : ForestHistory
        ``trees``: leaves, depth and gains of each; ``out_of_bag``: scores and numbers of trees.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the AUC that all splits gained on their bags.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The class that the score grows towards.
    n_iter_ : int
        Trees in the model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import TreeRankForest
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = TreeRankForest(n_estimators=20).fit(X[:400], y[:400])
    >>> print(forest.certificate_)
    Out of bag, AUC 0.9... (95% CI 0.9..., variance times 2 for the training sets, 227 positives...
    >>> forest.score(X[400:], y[400:]) > 0.97
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "n_estimators": [Interval(Integral, 1, None, closed="left")],
        "max_features": [
            StrOptions({"sqrt", "log2"}),
            Interval(Integral, 1, None, closed="left"),
            Interval(Real, 0, 1, closed="right"),
            None,
        ],
        "aggregate": [StrOptions({"mean", "median"})],
        "max_depth": [Interval(Integral, 1, 48, closed="both")],
        "min_samples_leaf": [Interval(Real, 0, None, closed="neither")],
        "min_gain": [Interval(Real, 0, 1, closed="both")],
        "split": [StrOptions({"stump", "tree"})],
        "leaf_depth": [Interval(Integral, 1, 16, closed="both")],
        "bootstrap": ["boolean"],
        "max_samples": [Interval(Real, 0, 1, closed="right"), None],
    }

    def __init__(
        self,
        n_estimators: int = 200,
        max_features: Any = "sqrt",
        *,
        aggregate: str = "mean",
        max_depth: int = 6,
        min_samples_leaf: float = 5.0,
        min_gain: float = 0.0,
        split: str = "tree",
        leaf_depth: int = 4,
        bootstrap: bool = True,
        max_samples: float | None = None,
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
        self.max_features = max_features
        self.aggregate = aggregate
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.split = split
        self.leaf_depth = leaf_depth
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def permutation_importances(
        self, X: Any, y: Any, sample_weight: Any = None, *, n_repeats: int = 5
    ) -> Bunch:
        """The fall of the AUC on labelled rows when the values of one feature are shuffled.

        Unlike ``feature_importances_`` it is no better for features of many values, and on rows
        held out it is honest. The shuffles are drawn from ``random_state``.

        Parameters
        ----------
        X, y, sample_weight
            Labelled rows, as for ``score``.
        n_repeats : int, default=5
            Shuffles of each feature.

        Returns
        -------
        Bunch
            ``importances`` of shape (n_features, n_repeats), ``importances_mean`` and
            ``importances_std``, as scikit-learn's ``permutation_importance`` has them.
        """
        check_is_fitted(self)
        if not isinstance(n_repeats, Integral) or n_repeats < 1:
            raise ValueError(f"n_repeats is {n_repeats!r}; it must be a whole number from 1 on")
        return permutation_falls(
            self.model_,
            self._read(X),
            y,
            sample_weight=sample_weight,
            pos_label=self.pos_label_,
            n_repeats=int(n_repeats),
            random_state=self.random_state,
        )

    def _learn(self, data: RankingData) -> tuple[ForestModel, ForestHistory, Certificate]:
        settings = ForestSettings(
            n_estimators=self.n_estimators,
            max_features=self.max_features,
            aggregate=self.aggregate,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            min_gain=self.min_gain,
            split=self.split,
            leaf_depth=self.leaf_depth,
            bootstrap=self.bootstrap,
            max_samples=self.max_samples,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        model, history, certificate = fit_forest(data, settings)
        self.n_iter_ = model.n_trees
        self.feature_importances_ = model.importance.copy()
        self._keep_out_of_bag(data, model, history, certificate)
        return model, history, certificate

    def _keep_out_of_bag(
        self,
        data: RankingData,
        model: ForestModel,
        history: ForestHistory,
        certificate: Certificate,
    ) -> None:
        for name in ("oob_score_", "oob_decision_function_"):
            self.__dict__.pop(name, None)  # not there without bootstrap
        if history.out_of_bag is not None:
            area = certificate.values["oob_auc"]
            self.oob_score_ = float("nan") if area is None else area
            scores: Floats = history.out_of_bag.by_place(data)
            self.oob_decision_function_ = model.intercept + scores
