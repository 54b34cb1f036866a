"""TreeRankForest as a scikit-learn classifier."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from auctor.data import RankingData
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.fit_input import FitResult
from auctor.estimators.importance import permutation_decreases
from auctor.learners.checkpoint.checkpoint import Checkpoint
from auctor.learners.trees.forest import ForestSettings, fit_forest
from auctor.models import ForestModel


class TreeRankForest(RankingEstimator):
    """A forest of TreeRank trees that averages the ranks of the leaves.

    Each tree grows on rows drawn with replacement, and each node may be split by a few features
    drawn at random. The rank of a leaf is the fraction of the rows in worse leaves plus half of the
    fraction in the leaf itself, where each class counts for half of the rows.

    Parameters
    ----------
    n_estimators : int, default=200
        Number of trees.
    max_features : {"sqrt", "log2"}, int, float or None, default="sqrt"
        Number of features drawn for each node: "sqrt" and "log2" of the number of features, a
        number, a fraction, or all of them (None).
    aggregate : {"mean", "median"}, default="mean"
        How the ranks of a row in all trees are combined. The median of an even number of trees is
        the mean of the two middle ranks.
    max_depth : int, default=6
        Maximum depth of a tree.
    min_samples_leaf : float, default=5.0
        Minimum number of drawn rows in a leaf; without ``bootstrap``, of effective rows.
    min_gain : float, default=0.0
        A split must add more than this to the AUC of the training rows.
        The training rows of a tree are the rows drawn for it. The parameter has a name of its own
        because it is a gain in AUC and not a decrease of impurity.
    split : {"stump", "tree"}, default="tree"
        "stump" cuts a cell at one feature. "tree" (LeafRank) grows a small classification tree in
        the cell and divides its leaves into two groups. With stumps, the first cut of a tree
        decides in which half of the ranks a row can be, and such forests are worse on most tables.
    leaf_depth : int, default=4
        Depth of the small trees of ``split="tree"``. Many rows that depend smoothly on the features
        gain by deeper trees, a rare class by shallower ones.
    bootstrap : bool, default=True
        Whether each tree grows on a bootstrap sample. As many rows of each class are drawn as the
        class has, so that no sample lacks a class. Without it the trees differ only by their
        features, and there are no out-of-bag scores.
    max_samples : float, default=None
        Size of a bootstrap sample as a fraction of the rows. None is 1.
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
        Out-of-bag scores are used for that.
    random_state : int, RandomState instance or None, default=0
        Seed of the random choices. None makes different choices in every call.
        It seeds the bootstrap samples and the features of the nodes. Scores have no random part.
    n_jobs : int, default=None
        Number of threads. None is 1, and -1 is all cores. The model is the same, bit for bit, for
        any number.
        Threads work on different trees. Rows are drawn by their position in the table: another
        order of the rows, or two copies of a row in place of weight 2, give a forest of the same
        distribution, not of the same bits.
    verbose : bool or int, default=False
        Whether to show the progress of the fit on stderr.

    Attributes
    ----------
    model_ : ForestModel
        The fitted forest. ``model_.save(path)`` writes it to a file.
    oob_score_ : float
        AUC of the out-of-bag scores: each row is scored by the trees that were not trained on it.
        Rows that all trees were trained on are left out; NaN if a class has no other rows.
    oob_decision_function_ : ndarray
        The out-of-bag score of each row of positive weight, in order; NaN for rows that all trees
        were trained on.
    certificate_ : Certificate
        The out-of-bag AUC with a confidence interval by DeLong's variance, doubled because the
        trees were trained on overlapping rows (the worst case), and Wilson's limits.
    history_ : ForestHistory
        ``trees`` has the number of leaves, the depth and the gains of each tree; ``out_of_bag`` has
        the scores and the number of trees of each row.
    feature_importances_ : ndarray of shape (n_features,)
        Contribution of each feature to the gain in AUC of all splits on their training rows; the
        sum is 1.
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    pos_label_ : label
        The positive class: larger scores mean that it is more likely.
    n_iter_ : int
        Number of trees in the model.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import TreeRankForest
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> forest = TreeRankForest(n_estimators=20).fit(X[:400], y[:400])
    >>> print(forest.certificate_)
    Out-of-bag AUC ...
    >>> round(forest.score(X[400:], y[400:]), 2)
    1.0
    """

    model_: ForestModel

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
        *,
        max_features: Any = "sqrt",
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
        """The decrease of the AUC on labelled rows when the values of one feature are shuffled.

        Unlike ``feature_importances_`` it does not favour features with many values, and on
        held-out rows it is unbiased. ``random_state`` seeds the shuffles.

        Parameters
        ----------
        X, y, sample_weight
            Labelled rows, as for ``score``.
        n_repeats : int, default=5
            Number of shuffles of each feature.

        Returns
        -------
        Bunch
            ``importances`` of shape (n_features, n_repeats), ``importances_mean`` and
            ``importances_std``, as scikit-learn's ``permutation_importance`` has them.
        """
        check_is_fitted(self)
        if not isinstance(n_repeats, Integral) or n_repeats < 1:
            raise ValueError(f"n_repeats is {n_repeats!r}; give a whole number of at least 1")
        return permutation_decreases(
            self.model_,
            self._read(X),
            y,
            sample_weight=sample_weight,
            pos_label=self.pos_label_,
            n_repeats=int(n_repeats),
            random_state=self.random_state,
        )

    def _learn(self, data: RankingData, checkpoint: Checkpoint | None) -> FitResult:
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
        attributes = {"n_iter_": model.n_trees, "feature_importances_": model.importance.copy()}
        if history.out_of_bag is not None:  # they do not exist without bootstrap
            area = certificate.values["oob_auc"]
            attributes["oob_score_"] = float("nan") if area is None else area
            scores = history.out_of_bag.by_row(data)
            attributes["oob_decision_function_"] = model.intercept + scores
        return FitResult(model, history, certificate, data.classes, attributes)
