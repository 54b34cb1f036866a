"""MartiRank as a scikit-learn classifier."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from auctor.data import RankingData
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.importance import shares_of_fall
from auctor.learners.certificate import Certificate
from auctor.learners.martirank.martirank import MartiRankHistory, MartiRankSettings, fit_martirank
from auctor.learners.martirank.martirank_rows import fit_martirank_rows
from auctor.models import ProgramModel, RowProgram
from auctor.weak.estimator import check_estimator
from auctor.weak.feature import RANKINGS


class MartiRank(RankingEstimator):
    """A branching program of weak rankers that label noise does not hurt (Long & Servedio 2007).

    Each layer sends every row left or right by the weak ranker of the node it is at; the score
    is how far to the right it ends. Where a row goes never depends on its label, so that
    labels flipped at random, even four in ten, leave the ranking of the true classes intact
    (Theorem 8), where boosting a convex loss breaks down.

    Parameters
    ----------
    weak : {"feature", "stump", "tree"} or scikit-learn estimator, default="feature"
        The weak ranker of a node: the best single feature, the best stump, a small tree whose
        leaves are sorted into an upper and a lower part (TreeRank's LeafRank), or a copy of an
        estimator that takes ``sample_weight``. The estimator sees the binned table, with 0 for
        missing values. With trees and estimators the model can be pickled, but not saved as
        JSON, and ``n_jobs`` goes unused.
    n_estimators : int, default=40
        Layers T of the program at most. Layer t has t nodes.
    output : {"position", "majority"}, default="position"
        "position" scores the expected share of T steps to the right, where a frozen node
        stands for the steps still to come; "majority" is the paper's classifier, the chance of
        ending in the right half.
    min_class : float, default=10
        A node with fewer rows of either class is frozen: rows end there. With weights the
        effective number of rows counts.
    weak_depth : int, default=3
        Depth of the trees of ``weak="tree"``. The program itself sees features act together,
        layer by layer, and needs no depth for that: where y is the sign of x0 x1 + noise (five
        normal features, 2000 rows; mean of 12 draws), AUC on unseen rows is 0.82 with stumps
        and 0.88 with trees of depth 3 after 4 layers, and 0.90 with either after 20.
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
        point of the training data is 0.
    random_state : int, RandomState or None, default=0
        Seed of the coins that rows toss in training, and of copies of an estimator given as
        ``weak`` wherever its own random_state is None. Scores are expectations over the coins
        and have no random part.
    n_jobs : int, optional
        Threads; None is 1, -1 all cores. The model is the same, bit for bit, for any number.
    verbose : bool or int, default=False
        A progress bar on stderr.

    Attributes
    ----------
    model_ : ProgramModel or RowProgram
        The fitted program. ``model_.save(path)`` writes it, unless trees or estimators are in it.
    certificate_ : Certificate
        The errors of the majority vote on the training rows, its AUC (Lemma 5), and the
        smallest two-sided advantage of any node.
    history_ : MartiRankHistory
        The nodes of each layer with the weight of each class that passed them.
    feature_importances_ : ndarray of shape (n_features,)
        Each feature's share of the edges of the nodes, weighted by the rows that pass them; not
        there with trees and estimators.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The class that the score grows towards.
    n_iter_ : int
        Layers in the model; fewer than ``n_estimators`` where every row has ended at a frozen
        node before. Scores are what they would be with all layers.

    Examples
    --------
    >>> from auctor import MartiRank
    >>> from auctor.datasets import make_long_servedio
    >>> noisy = make_long_servedio(5000, noise=0.1, random_state=0)
    >>> clean = make_long_servedio(5000, random_state=1)
    >>> ranker = MartiRank(n_estimators=60).fit(noisy.X, noisy.y)
    >>> ranker.score(clean.X, clean.y) > 0.95
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "weak": [StrOptions({*RANKINGS, "tree"}), HasMethods(["fit", "get_params"])],
        "n_estimators": [Interval(Integral, 1, 65_534, closed="both")],
        "output": [StrOptions({"position", "majority"})],
        "weak_depth": [Interval(Integral, 1, 16, closed="both")],
        "min_class": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        weak: Any = "feature",
        n_estimators: int = 40,
        *,
        output: str = "position",
        min_class: float = 10.0,
        weak_depth: int = 3,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.weak = weak
        self.n_estimators = n_estimators
        self.output = output
        self.min_class = min_class
        self.weak_depth = weak_depth
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(
        self, data: RankingData
    ) -> tuple[ProgramModel | RowProgram, MartiRankHistory, Certificate]:
        if not isinstance(self.weak, str):
            check_estimator(self.weak)
        settings = MartiRankSettings(
            weak=self.weak,
            weak_depth=self.weak_depth,
            n_estimators=self.n_estimators,
            output=self.output,
            min_class=self.min_class,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        if not isinstance(self.weak, str) or self.weak == "tree":
            rows, history, certificate = fit_martirank_rows(data, settings)
            self.n_iter_ = len(history.layers)
            return rows, history, certificate
        model, history, certificate = fit_martirank(data, settings)
        self.n_iter_ = len(history.layers)
        live = [node for layer in history.layers for node in layer if node.feature >= 0]
        edges = [(node.feature, node.edge * (node.weight_neg + node.weight_pos)) for node in live]
        self.feature_importances_ = shares_of_fall(edges, data.n_features)
        return model, history, certificate
