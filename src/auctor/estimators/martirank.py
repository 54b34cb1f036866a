"""MartiRank as a scikit-learn classifier."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from auctor.data import RankingData
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.fit_input import FitResult
from auctor.estimators.importance import fractions_of_gain
from auctor.learners.checkpoint.checkpoint import Checkpoint, open_journal
from auctor.learners.martirank.martirank import MartiRankSettings, fit_martirank
from auctor.learners.martirank.martirank_rows import fit_martirank_rows
from auctor.weak.estimator import check_estimator
from auctor.weak.feature import RANKINGS


class MartiRank(RankingEstimator):
    """A branching program of weak rankers that tolerates label noise (Long & Servedio 2007).

    The program has layers; layer t has t nodes. Each node has a weak ranker that sends a row to the
    left or to the right node of the next layer, and the score of a row is how far to the right it
    ends. The path of a row never depends on its label. Labels that are flipped at random, even 40 %
    of them, therefore do not destroy the ranking of the true classes (Theorem 8), while boosting
    with a convex loss breaks down.

    Parameters
    ----------
    estimator : {"feature", "stump", "tree"} or scikit-learn estimator, default="feature"
        The weak ranker of a node: the best single feature, the best stump, a small tree whose
        leaves are divided into an upper and a lower group (the LeafRank split of TreeRank), or a
        copy of an estimator whose ``fit`` takes ``sample_weight``. Such an estimator sees the
        binned table, with 0 for missing values. With trees and estimators the model can be pickled,
        but not saved as JSON, and ``n_jobs`` is not used.
    n_layers : int, default=40
        Maximum number of layers T of the program.
    output : {"position", "majority"}, default="position"
        "position" is the expected fraction of the T steps that go to the right; a row that ends
        early, at a frozen node, gets an estimate of its remaining steps. "majority" is the
        classifier of Long & Servedio: the probability of ending in the right half.
    min_samples_leaf : float, default=10.0
        Number of rows of each class that a node needs. A node with fewer is frozen: rows end there.
        With weights, the effective number of rows counts.
    max_depth : int, default=3
        Depth of the trees of ``estimator="tree"``. The layers of the program can use interactions
        of features even without trees. Example: y is the sign of x0 x1 + noise, with five normal
        features and 2000 rows; mean of 12 draws. The AUC on new rows is 0.82 with stumps and 0.88
        with trees of depth 3 after 4 layers, and 0.90 with either after 20.
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
        It seeds the coin tosses of the training rows, and the copies of a scikit-learn
        ``estimator`` wherever their own random_state is None. Scores are expected values over the
        coin tosses and have no random part.
    n_jobs : int, default=None
        Number of threads. None is 1, and -1 is all cores. The model is the same, bit for bit, for
        any number.
    verbose : bool or int, default=False
        Whether to show the progress of the fit on stderr.

    Attributes
    ----------
    model_ : ProgramModel or RowProgram
        The fitted program. ``model_.save(path)`` writes it to a file, unless it contains trees or
        estimators.
    certificate_ : Certificate
        The error rates of the majority vote on the training rows, its AUC (Lemma 5), and the
        smallest advantage over chance of any node.
    history_ : MartiRankHistory
        The nodes of each layer with the weight of each class that passed them.
    feature_importances_ : ndarray of shape (n_features,)
        Contribution of each feature to the edges (AUC - 1/2) of the nodes, weighted by the rows
        that pass them; the sum is 1. Not available with trees and estimators.
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    pos_label_ : label
        The positive class: larger scores mean that it is more likely.
    n_iter_ : int
        Number of layers in the model. It is smaller than ``n_layers`` if all rows end at frozen
        nodes before; the scores are the same as with all layers.

    Examples
    --------
    >>> from auctor import MartiRank
    >>> from auctor.datasets import make_long_servedio
    >>> noisy = make_long_servedio(5000, noise=0.1, random_state=0)
    >>> clean = make_long_servedio(5000, random_state=1)
    >>> ranker = MartiRank(n_layers=60).fit(noisy.X, noisy.y)
    >>> round(ranker.score(clean.X, clean.y), 2)
    0.97
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **SHARED_CONSTRAINTS,
        "estimator": [StrOptions({*RANKINGS, "tree"}), HasMethods(["fit", "get_params"])],
        "n_layers": [Interval(Integral, 1, 65_534, closed="both")],
        "output": [StrOptions({"position", "majority"})],
        "max_depth": [Interval(Integral, 1, 16, closed="both")],
        "min_samples_leaf": [Interval(Real, 0, None, closed="neither")],
    }

    def __init__(
        self,
        estimator: Any = "feature",
        *,
        n_layers: int = 40,
        output: str = "position",
        min_samples_leaf: float = 10.0,
        max_depth: int = 3,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.estimator = estimator
        self.n_layers = n_layers
        self.output = output
        self.min_samples_leaf = min_samples_leaf
        self.max_depth = max_depth
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _learn(self, data: RankingData, checkpoint: Checkpoint | None) -> FitResult:
        if not isinstance(self.estimator, str):
            check_estimator(self.estimator)
        settings = MartiRankSettings(
            estimator=self.estimator,
            max_depth=self.max_depth,
            n_layers=self.n_layers,
            output=self.output,
            min_samples_leaf=self.min_samples_leaf,
            seed=int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max)),
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )
        if not isinstance(self.estimator, str) or self.estimator == "tree":
            rows, history, certificate = fit_martirank_rows(data, settings)
            attributes: dict[str, Any] = {"n_iter_": len(history.layers)}
            return FitResult(rows, history, certificate, data.classes, attributes)
        with open_journal(checkpoint, "MartiRank", data, settings) as journal:
            model, history, certificate = fit_martirank(data, settings, journal)
        live = [node for layer in history.layers for node in layer if node.feature >= 0]
        edges = [(node.feature, node.edge * (node.weight_neg + node.weight_pos)) for node in live]
        attributes = {
            "n_iter_": len(history.layers),
            "feature_importances_": fractions_of_gain(edges, data.n_features),
        }
        return FitResult(model, history, certificate, data.classes, attributes)
