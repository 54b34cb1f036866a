"""MarginRankerCV: epsilon by cross-validation."""

import warnings
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval

from auctor._typing import Floats, Indices
from auctor.data import Table, find_categorical, read_weights
from auctor.data.weights import relative_weights
from auctor.estimators.cross_validation import draw_folds
from auctor.estimators.margin_ranker import MARGIN_CONSTRAINTS, MarginRanker
from auctor.exceptions import MarginWarning
from auctor.learners.certificate import Certificate
from auctor.learners.margin.fit import MarginHistory, MarginSettings
from auctor.learners.margin.problems import MarginProblem
from auctor.metrics import auc
from auctor.models import Model


class MarginRankerCV(MarginRanker):
    """MarginRanker with the share of pairs that may miss the margin found by cross-validation.

    Each fold goes down the path of epsilons once, every one starting from the cuts of the one
    before, and the epsilon of the best mean AUC is fitted to all rows.

    Parameters
    ----------
    method : {"pairs", "reduced", "heuristic"}, default="pairs"
        As in MarginRanker.
    epsilons : array-like of float, default=(0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
        Shares of the pairs that may miss the margin; the default is the paper's (section 5).
    extend : bool, default=True
        Where the largest epsilon is the best, go on to the next tenths until the AUC falls.
    cv : int, splitter or iterable of (train, test), default=5
        A number of folds, stratified and shuffled, copies of a row in one fold; or how
        scikit-learn's tools take them.
    hypotheses, negations, constant, tol, max_iter, time_limit
        As in MarginRanker; the time limit is for each fit.
    max_bins, categorical_features, frequency_weights, pos_label, threshold, n_jobs, verbose
        As in MarginRanker.
    random_state : int, RandomState or None, default=0
        Shuffles the rows before they are cut into folds.

    Attributes
    ----------
    epsilon_ : float
        The share that was chosen.
    best_score_ : float
        Its mean AUC over the folds. Chosen as the best of several, it is a little too good.
    cv_results_ : dict
        "epsilon", "mean_auc" and "std_auc", an entry for each epsilon, and "aucs", a line for
        each with the AUC of every fold.

    And those of MarginRanker.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import MarginRankerCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = MarginRankerCV("reduced").fit(X[:400], y[:400])
    >>> ranker.epsilon_ in ranker.cv_results_["epsilon"]
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MARGIN_CONSTRAINTS,
        "epsilons": ["array-like"],
        "extend": ["boolean"],
        "cv": [Interval(Integral, 2, None, closed="left"), "cv_object"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        method: str = "pairs",
        *,
        epsilons: Any = (0.05, 0.1, 0.15, 0.2, 0.25, 0.3),
        extend: bool = True,
        cv: Any = 5,
        hypotheses: Any = "features",
        negations: bool = True,
        constant: bool = True,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        time_limit: float | None = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.method = method
        self.epsilons = epsilons
        self.extend = extend
        self.cv = cv
        self.hypotheses = hypotheses
        self.negations = negations
        self.constant = constant
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit_table(
        self, table: Table, X: Any, y: npt.NDArray[Any], sample_weight: Any
    ) -> tuple[Model, MarginHistory, Certificate]:
        epsilons = _check_epsilons(self.epsilons)
        folds = draw_folds(
            self.cv,
            y,
            sample_weight,
            pos_label=self.pos_label,
            random_state=self.random_state,
            instead="MarginRanker",
            table=table,
            categorical=find_categorical(self.categorical_features, table),
        )
        aucs: dict[float, list[float]] = {epsilon: [] for epsilon in epsilons}
        for train, test in folds:
            self._add_path(aucs, epsilons, X, y, sample_weight, train, test)
        while self.extend and (following := _next_epsilon(aucs)) is not None:
            aucs[following] = []
            for train, test in folds:
                self._add_path(aucs, [following], X, y, sample_weight, train, test)
        means = {epsilon: float(np.mean(values)) for epsilon, values in sorted(aucs.items())}
        # Of equal means the larger epsilon: fewer weights.
        self._chosen = max(means, key=lambda epsilon: (means[epsilon], epsilon))
        self.best_score_ = means[self._chosen]
        self.cv_results_ = {
            "epsilon": np.array(list(means)),
            "mean_auc": np.array(list(means.values())),
            "std_auc": np.array([_spread(aucs[epsilon]) for epsilon in means]),
            "aucs": np.array([aucs[epsilon] for epsilon in means]),
        }
        return super()._fit_table(table, X, y, sample_weight)

    def _settings(self, problem: MarginProblem) -> MarginSettings:
        return MarginSettings(
            method=self.method,  # type: ignore[arg-type]
            epsilon=getattr(self, "_chosen", 0.2),
            negations=self.negations,
            constant=self.constant,
            relax=True,
            gap_tol=self.tol,
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            grid=problem.grid,
            verbose=self.verbose,
        )

    def _add_path(
        self,
        aucs: dict[float, list[float]],
        epsilons: list[float],
        X: Any,
        y: npt.NDArray[Any],
        sample_weight: Any,
        train: Indices,
        test: Indices,
    ) -> None:
        """Add the AUC on a fold's test rows of every epsilon."""
        weight = read_weights(sample_weight, len(y))
        weight = np.ones(len(y)) if weight is None else weight
        relative = _relative(weight)[test]
        # Rows of weight 0 are absent: no kind of table need be cut.
        kept = np.zeros(len(y))
        kept[train] = weight[train]
        with warnings.catch_warnings():
            # No margin at an epsilon shows in its AUC; a gap shows in the last fit.
            warnings.simplefilter("ignore", MarginWarning)
            for epsilon, model in self.fit_path(X, y, epsilons, kept):
                scores = model.decision_function(X)[test]
                positive = model.classes[1]
                value = auc(y[test], scores, sample_weight=relative, pos_label=positive)
                aucs[epsilon].append(value)


def _relative(weight: Floats) -> Floats:
    """Weights without their common factor, which must not decide between equal AUCs."""
    present = weight > 0
    relative = np.zeros(len(weight))
    relative[present] = relative_weights(weight[present], int(np.count_nonzero(present)))
    return relative


def _spread(values: list[float]) -> float:
    """Standard deviation; of a single fold none."""
    return float(np.std(values, ddof=1)) if len(values) > 1 else 0.0


def _check_epsilons(epsilons: Any) -> list[float]:
    try:
        values = np.asarray(epsilons, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        values = np.empty(0)
    if len(values) == 0 or not ((values > 0) & (values <= 1)).all():
        raise ValueError(f"epsilons is {epsilons!r}; give one or more numbers in (0, 1]")
    return sorted(set(values.tolist()))


def _next_epsilon(aucs: dict[float, list[float]]) -> float | None:
    """The next tenth above the largest epsilon, if that is the best so far."""
    means = {epsilon: float(np.mean(values)) for epsilon, values in aucs.items()}
    largest = max(means)
    following = round((np.floor(largest * 10 + 1e-9) + 1) / 10, 1)
    is_best = means[largest] >= max(means.values())
    return float(following) if is_best and following <= 1.0 else None
