"""MarginRanker as a scikit-learn classifier."""

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from auctor._typing import Floats
from auctor.data import SparseTable, Table, find_categorical, prepare, read_table
from auctor.data.labelled import read_rows
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.learners.certificate import Certificate
from auctor.learners.margin.certificate import certify_margin
from auctor.learners.margin.fit import MarginFit, MarginHistory, MarginSettings, fit_margin
from auctor.learners.margin.problems import (
    LinearProblem,
    MarginProblem,
    ScorerProblem,
    StumpProblem,
)
from auctor.models import Model, ScorerModel

MARGIN_CONSTRAINTS: dict[str, list[Any]] = {
    **{
        name: SHARED_CONSTRAINTS[name]
        for name in (
            "max_bins",
            "categorical_features",
            "frequency_weights",
            "pos_label",
            "threshold",
            "n_jobs",
            "verbose",
        )
    },
    "method": [StrOptions({"pairs", "reduced", "heuristic"})],
    "hypotheses": [StrOptions({"features", "stumps", "words", "columns"}), list, tuple],
    "negations": ["boolean"],
    "constant": ["boolean"],
    "tol": [Interval(Real, 0, 1, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "time_limit": [Interval(Real, 0, None, closed="neither"), None],
}


class MarginRanker(RankingEstimator):
    """The largest soft margin over pairs, by linear programming (Suehiro et al. 2011).

    Weights of given hypotheses, adding up to 1, such that all pairs of a positive and a
    negative row but a share ``epsilon`` have a large margin. The program over all pairs is
    solved exactly, without forming a pair: by cutting planes whose cuts are selected from two
    sorted lists. Most weights are 0.

    Parameters
    ----------
    method : {"pairs", "reduced", "heuristic"}, default="pairs"
        "pairs" solves problem (2) of the paper, the margin over all pairs. "reduced" solves
        (7), which caps the rows of each class instead of the pairs; "heuristic" also looks for
        the best caps (section 4.2).
    margin : {"soft", "hard"}, default="soft"
        "hard" is the least margin over all pairs, problem (4). Where no weights separate the
        classes it is negative: the largest with every hypothesis in the direction of its
        difference of means, since weights that cancel each other would have 0.
    epsilon : float, default=0.2
        Share of the pairs that may miss the margin.
    nu : float, optional
        Number of such pairs, in place of ``epsilon``; for "pairs" and "heuristic".
    nu_pos, nu_neg : float, optional
        Rows of each class that may miss it; for "reduced". sqrt(epsilon) of the class, unless
        given.
    hypotheses : {"features", "stumps", "words", "columns"} or list, default="features"
        "features": each column scaled to [-1, 1], and each category by itself. "stumps": a
        stump at every cut of the binned columns. "words": columns of 0 and 1 as they are.
        "columns": columns with values in [-1, 1] as they are. A list holds fitted scorers with
        values in [-1, 1]: classifiers (2 p - 1), anything with a decision function, or functions.
        They are handed X as it is given, its columns in the order they have there.
        scikit-learn's clone, and so its cross-validation, unfits classifiers in a list: wrap them
        in its FrozenEstimator there.
    negations : bool, default=True
        Let hypotheses also have negative weights. The paper has no negations.
    constant : bool, default=True
        Add the hypothesis that is always 1, as in the paper; it takes up weight that is better
        not spent, so that the margin is never negative.
    relax : bool, default=True
        Where ``epsilon`` leaves next to no margin - weights that cancel each other are best
        then, and all scores alike - it is raised to the next tenth until there is one, with a
        warning. Next to none is less than a hundredth of the largest difference of means.
    tol : float, default=1e-6
        Relative gap between the margin and its upper bound at which the search ends; of a
        margin below 0.001 relative to that.
    max_iter : int, default=10_000
        Cuts at most.
    time_limit : float, optional
        Seconds for the search at most, reading the table not counted; the best weights so far
        are kept then, with their gap and a warning.
    max_bins : int, default=255
        Bins of a column at most, for "stumps".
    categorical_features : "from_dtype" or array-like of names, positions or bool
        Columns of categories beside those whose type says so.
    frequency_weights : bool, default=False
        Whether ``sample_weight`` counts copies of a row: the sum of the weights is then the
        number of rows. By default weights say how much a row matters, and only their
        proportions count: rules that ask for a number of rows use the effective number.
    pos_label : label, optional
        The positive class; the larger label unless given.
    threshold : "youden" or float, default="youden"
        The score above which ``predict`` says positive. Scores are shifted so that Youden's
        point of the training data is 0.
    n_jobs : int, optional
        Threads that bin the columns for "stumps".
    verbose : bool or int, default=False
        The margin and its bound on stderr, as they close in.

    Attributes
    ----------
    model_ : LinearModel or AdditiveModel
        The fitted model; ``model_.save(path)`` writes it. Given scorers make a ScorerModel,
        which cannot be saved.
    certificate_ : Certificate
        The margin rho, how many pairs hold it and must, the soft margin gamma, its upper bound
        and the gap between them.
    coef_ : ndarray of shape (n_hypotheses,)
        The weights; negative where a hypothesis is negated.
    history_ : MarginHistory
        The solutions of the linear programs.
    gamma_path_ : list of float
        gamma after each step of the heuristic; it never grows.
    epsilon_ : float or None
        The share that was used: larger than ``epsilon`` where it had to be relaxed.
    feature_importances_ : ndarray of shape (n_features,)
        Each column's share of the weights; of each scorer where scorers are given.
    n_iter_ : int
        Cuts made.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The class that the score grows towards.

    Notes
    -----
    Hypotheses are scaled by the range of a column: one far outlier makes the rest of its column
    small. "stumps" are free of that.

    A number that is missing counts as the column's mean, and a further hypothesis says that it
    is missing.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import MarginRanker
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = MarginRanker().fit(X[:400], y[:400])
    >>> round(ranker.score(X[400:], y[400:]), 3)
    0.993
    >>> ranker.certificate_.values["gap"] < 1e-6
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MARGIN_CONSTRAINTS,
        "margin": [StrOptions({"soft", "hard"})],
        "epsilon": [Interval(Real, 0, 1, closed="right")],
        "nu": [Interval(Real, 0, None, closed="neither"), None],
        "nu_pos": [Interval(Real, 0, None, closed="neither"), None],
        "nu_neg": [Interval(Real, 0, None, closed="neither"), None],
        "relax": ["boolean"],
    }

    def __init__(
        self,
        method: str = "pairs",
        *,
        margin: str = "soft",
        epsilon: float = 0.2,
        nu: float | None = None,
        nu_pos: float | None = None,
        nu_neg: float | None = None,
        hypotheses: Any = "features",
        negations: bool = True,
        constant: bool = True,
        relax: bool = True,
        tol: float = 1e-6,
        max_iter: int = 10_000,
        time_limit: float | None = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.method = method
        self.margin = margin
        self.epsilon = epsilon
        self.nu = nu
        self.nu_pos = nu_pos
        self.nu_neg = nu_neg
        self.hypotheses = hypotheses
        self.negations = negations
        self.constant = constant
        self.relax = relax
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit_table(
        self, table: Table, X: Any, y: npt.NDArray[Any], sample_weight: Any
    ) -> tuple[Model, MarginHistory, Certificate]:
        problem = self._problem(table, X, y, sample_weight)
        settings = self._settings(problem)
        fit, history = fit_margin(problem.hypotheses, settings)
        return self._keep_fit(problem, fit, history), history, self._certify(problem, fit)

    def _problem(
        self, table: Table, X: Any, y: npt.NDArray[Any], sample_weight: Any
    ) -> MarginProblem:
        """The hypotheses on the training rows; sets the attributes that follow from the table."""
        table.check_columns()
        categorical = find_categorical(self.categorical_features, table)
        rows = read_rows(y, sample_weight, self.pos_label, table.n_rows, self.frequency_weights)
        self._keep_names(table)
        self._keep_classes(rows.classes)
        if not isinstance(self.hypotheses, str):
            if not self.hypotheses:
                raise ValueError("hypotheses is empty; give at least one fitted scorer")
            return ScorerProblem(list(self.hypotheses), X, table.names, rows)
        if self.hypotheses == "stumps":
            _refuse_wide(table)
            data = prepare(
                table,
                y,
                sample_weight=sample_weight,
                pos_label=self.pos_label,
                max_bins=self.max_bins,
                categorical_features=self.categorical_features,
                frequency_weights=self.frequency_weights,
                n_jobs=self.n_jobs,
            )
            return StumpProblem(data)
        scaling: Any = self.hypotheses
        return LinearProblem(table, rows, categorical, scaling)

    def _settings(self, problem: MarginProblem) -> MarginSettings:
        return MarginSettings(
            method=self.method,  # type: ignore[arg-type]
            soft_margin=self.margin == "soft",
            epsilon=self.epsilon,
            nu=self.nu,
            nu_pos=self.nu_pos,
            nu_neg=self.nu_neg,
            negations=self.negations,
            constant=self.constant,
            relax=self.relax,
            gap_tol=self.tol,
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            grid=problem.grid,
            verbose=self.verbose,
        )

    def _keep_fit(self, problem: MarginProblem, fit: MarginFit, history: MarginHistory) -> Model:
        self.coef_ = fit.beta
        self.epsilon_ = fit.epsilon
        self.n_iter_ = history.n_iter
        self.gamma_path_ = history.gamma_path
        sizes = problem.feature_weights(fit.beta)
        self.feature_importances_ = sizes / sizes.sum() if sizes.sum() > 0 else sizes
        return problem.model(fit.beta)

    def _certify(self, problem: MarginProblem, fit: MarginFit) -> Certificate:
        return certify_margin(problem, fit, self._settings(problem))

    def fit_path(
        self, X: Any, y: Any, epsilons: Iterable[float], sample_weight: Any = None
    ) -> Iterator[tuple[float, Model]]:
        """(epsilon, model) for each epsilon, the largest first; each starts from the one before.

        The cuts of a larger epsilon hold for a smaller one, so that a path takes little more
        time than its last step. The estimator itself is left unfitted.
        """
        table = read_table(X, accept_sparse=True)
        problem = copy(self)._problem(table, X, np.asarray(y), sample_weight)
        start = None
        for epsilon in sorted(epsilons, reverse=True):
            settings = replace(
                self._settings(problem),
                soft_margin=True,
                epsilon=epsilon,
                nu=None,
                nu_pos=None,
                nu_neg=None,
                relax=False,
            )
            start, _ = fit_margin(problem.hypotheses, settings, start)
            yield epsilon, problem.model(start.beta)

    def decision_function(self, X: Any) -> Floats:
        """The score of each row: larger means more likely positive.

        Youden's point of the training data lies at 0.
        """
        check_is_fitted(self)
        if isinstance(self.model_, ScorerModel):
            self._read(X)  # the same checks; scorers want X itself
            return self.model_.decision_function(X)
        return super().decision_function(X)


# Cells of a sparse table that stumps may bin: their codes are dense.
_MOST_CELLS = 5 * 10**8


def _refuse_wide(table: Table) -> None:
    n_cells = table.n_rows * table.n_columns
    if isinstance(table, SparseTable) and n_cells > _MOST_CELLS:
        raise ValueError(
            f"hypotheses='stumps' would make a dense table of {table.n_rows:,} x "
            f"{table.n_columns:,} codes; 'features' and 'words' keep X sparse, and RankBoost "
            "boosts stumps on it"
        )
