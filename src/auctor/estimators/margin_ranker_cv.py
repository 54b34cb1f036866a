"""MarginRankerCV: MarginRanker with epsilon chosen by cross-validation."""

import warnings
from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval

from auctor.estimators.base import RankingEstimator
from auctor.estimators.fit_input import FitInput, FitResult
from auctor.estimators.folds import Fold, draw_folds, held_out_aucs, summarise
from auctor.estimators.margin_ranker import MARGIN_CONSTRAINTS, MarginRanker
from auctor.exceptions import MarginWarning


class MarginRankerCV(RankingEstimator):
    """MarginRanker with epsilon chosen by cross-validation.

    Each fold fits all epsilons once, every one starting from the cuts of the one before. The
    epsilon with the largest mean AUC is then fitted to all rows.

    Parameters
    ----------
    method : {"pairs", "reduced", "heuristic"}, default="pairs"
        Which problem of the paper is solved: see MarginRanker.
    epsilons : array-like of float, default=(0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
        Fractions of the pairs that may miss the margin. The default is that of the paper (section
        5).
    extend : bool, default=True
        If the largest epsilon is the best one, whether to try larger ones as well, in steps of
        0.1, until the AUC decreases.
    cv : int, cross-validation generator or iterable, default=5
        Number of folds, or a scikit-learn splitter, or an iterable of (train, test) row positions.
        A number gives stratified, shuffled folds that keep copies of a row together.
    hypotheses : {"features", "stumps", "words", "columns"} or list, default="features"
        What the score is a weighted sum of: see MarginRanker.
    negations : bool, default=True
        Whether hypotheses may have negative weights. In the paper they may not.
    constant : bool, default=True
        Whether to add the hypothesis that is always 1, as in the paper.
    gap_tol : float, default=1e-6
        The search ends when the solution is proven to be within this distance of the optimum. It is
        relative to the margin, or to 0.001 if the margin is smaller.
    max_iter : int, default=10_000
        Maximum number of iterations. Each one adds a cut.
    time_limit : float, default=None
        Maximum number of seconds of each of the fits.
    max_bins : int, default=255
        Maximum number of bins per feature. Missing values have one more bin of their own. Only
        ``hypotheses="stumps"`` uses it.
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
        Seed of the random choices. None makes different choices in every call. The rows are
        shuffled before they are divided into folds.
    n_jobs : int, default=None
        Number of threads. None is 1, and -1 is all cores. The model is the same, bit for bit, for
        any number. Only ``hypotheses="stumps"`` uses threads, to bin the columns.
    verbose : bool or int, default=False
        Whether to show the progress of the fit on stderr.

    Attributes
    ----------
    epsilon_ : float
        The chosen epsilon; larger where it was relaxed in the last fit.
    best_score_ : float
        Its mean AUC over the folds. It is a little too optimistic, because it was chosen as the
        best of several.
    cv_results_ : dict
        "epsilon", "mean_auc" and "std_auc" have an entry for each epsilon, and "aucs" a row for
        each with the AUC of every fold.
    model_, certificate_, history_, coef_, gamma_path_, feature_importances_, n_iter_
        Those of the final fit: see MarginRanker.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The positive class: larger scores mean that it is more likely.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import MarginRankerCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = MarginRankerCV("reduced").fit(X[:400], y[:400])
    >>> ranker.epsilon_, round(ranker.score(X[400:], y[400:]), 2)
    (0.05, 1.0)
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
        gap_tol: float = 1e-6,
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
        self.gap_tol = gap_tol
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

    def _fit(self, given: FitInput) -> FitResult:
        epsilons = _check_epsilons(self.epsilons)
        folds = draw_folds(
            self.cv,
            given,
            pos_label=self.pos_label,
            categorical_features=self.categorical_features,
            random_state=self.random_state,
            instead="MarginRanker",
        )
        aucs = self._aucs(given, folds, epsilons)
        while self.extend and (following := _next_epsilon(aucs)) is not None:
            aucs |= self._aucs(given, folds, [following])
        results = {
            "epsilon": np.array(sorted(aucs)),
            **summarise([aucs[epsilon] for epsilon in sorted(aucs)]),
        }
        means = dict(zip(sorted(aucs), results["mean_auc"].tolist(), strict=True))
        # Of equal means the larger epsilon, which has fewer nonzero weights.
        chosen = max(means, key=lambda epsilon: (means[epsilon], epsilon))
        fitted = self._ranker(chosen)._fit(given)
        more = {"best_score_": means[chosen], "cv_results_": results}
        return replace(fitted, attributes={**fitted.attributes, **more})

    def _ranker(self, epsilon: float = 0.2) -> MarginRanker:
        """The estimator that is cross-validated."""
        return MarginRanker(
            self.method,
            epsilon=epsilon,
            hypotheses=self.hypotheses,
            negations=self.negations,
            constant=self.constant,
            gap_tol=self.gap_tol,
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            max_bins=self.max_bins,
            categorical_features=self.categorical_features,
            frequency_weights=self.frequency_weights,
            pos_label=self.pos_label,
            n_jobs=self.n_jobs,
            verbose=self.verbose,
        )

    def _aucs(
        self, given: FitInput, folds: list[Fold], epsilons: list[float]
    ) -> dict[float, list[float]]:
        """The AUC of every fold for each epsilon."""
        path = sorted(epsilons, reverse=True)
        ranker = self._ranker()
        with warnings.catch_warnings():
            # No margin at an epsilon shows in its AUC; a gap shows in the last fit.
            warnings.simplefilter("ignore", MarginWarning)
            aucs = held_out_aucs(
                folds,
                given,
                lambda weight: (
                    model for _, model in ranker.fit_path(given.X, given.y, path, weight)
                ),
            )
        return dict(zip(path, aucs, strict=True))


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
