"""MarginRanker as a scikit-learn classifier."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from auctor.data import SparseTable, Table, find_categorical, read_table
from auctor.data.labelled import LabelledRows, read_rows
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.fit_input import FitInput, FitResult
from auctor.learners.margin.fit import fit_margin, largest_margin
from auctor.learners.margin.problems import (
    LinearProblem,
    MarginProblem,
    ScorerProblem,
    StumpProblem,
)
from auctor.learners.margin.settings import MarginSettings
from auctor.models import Model

# Constraints of the parameters that MarginRankerCV has too.
MARGIN_CONSTRAINTS: dict[str, list[Any]] = {
    **{name: rule for name, rule in SHARED_CONSTRAINTS.items() if name != "random_state"},
    "method": [StrOptions({"pairs", "reduced", "heuristic"})],
    "hypotheses": [StrOptions({"features", "stumps", "words", "columns"}), list, tuple],
    "negations": ["boolean"],
    "constant": ["boolean"],
    "gap_tol": [Interval(Real, 0, 1, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "time_limit": [Interval(Real, 0, None, closed="neither"), None],
}


class MarginRanker(RankingEstimator):
    """Weighted sum with the largest soft margin over pairs of rows (Suehiro et al. 2011).

    The score is a weighted sum of given hypotheses, such as the columns of X, whose absolute
    weights add up to 1. The weights maximise the margin of all pairs of a positive and a negative
    row, except for a fraction ``epsilon`` of the pairs. The linear program over all pairs is solved
    exactly and without forming a pair, by cutting planes. Most weights are 0.

    Parameters
    ----------
    method : {"pairs", "reduced", "heuristic"}, default="pairs"
        "pairs" solves problem (2) of the paper, the margin over all pairs. "reduced" solves
        problem (7), which limits the rows of each class that may miss the margin instead of the
        pairs. "heuristic" also searches for the best limits (section 4.2).
    soft_margin : bool, default=True
        Whether a fraction of the pairs may miss the margin. False maximises the smallest margin of
        all pairs, problem (4). If no weights separate the classes, that margin is negative: it is
        then the largest one with every hypothesis in the direction of its difference of means,
        because weights that cancel each other would have margin 0.
    epsilon : float, default=0.2
        Fraction of the pairs of a positive and a negative row that may miss the margin.
    nu : float, default=None
        Number of such pairs, in place of ``epsilon``; for "pairs" and "heuristic".
    nu_pos, nu_neg : float, default=None
        Number of rows of each class that may miss the margin, for "reduced". None is
        sqrt(epsilon) times the number of rows of the class.
    hypotheses : {"features", "stumps", "words", "columns"} or list, default="features"
        "features": each column scaled to [-1, 1], and an indicator of each category. "stumps": a
        stump at every cut of the binned columns. "words": columns of 0 and 1 as they are.
        "columns": columns with values in [-1, 1] as they are. A list holds fitted scorers with
        values in [-1, 1]: classifiers (2 p - 1), anything with a decision function, or functions.
        They are called with X as it was given. scikit-learn's ``clone``, and so its
        cross-validation, forgets the fit of classifiers in a list: wrap them in a
        ``FrozenEstimator`` there.
    negations : bool, default=True
        Whether hypotheses may have negative weights. In the paper they may not.
    constant : bool, default=True
        Whether to add the hypothesis that is always 1, as in the paper. It takes up weight that no
        other hypothesis should have, so that the margin is never negative.
    relax : bool, default=True
        Whether to raise ``epsilon`` to the next tenth, with a warning, while the margin is below a
        hundredth of the largest difference of means. The best weights then cancel each other, and
        all scores are nearly equal.
    gap_tol : float, default=1e-6
        The search ends when the solution is proven to be within this distance of the optimum. It is
        relative to the margin, or to 0.001 if the margin is smaller.
    max_iter : int, default=10_000
        Maximum number of iterations. Each one adds a cut.
    time_limit : float, default=None
        Maximum number of seconds of the search, without the time to read the table. When it is
        over, the best weights so far are kept, with their gap and a warning.
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
    n_jobs : int, default=None
        Number of threads. None is 1, and -1 is all cores. The model is the same, bit for bit, for
        any number. Only ``hypotheses="stumps"`` uses threads, to bin the columns.
    verbose : bool or int, default=False
        Whether to show the progress of the fit on stderr.

    Attributes
    ----------
    model_ : LinearModel or AdditiveModel
        The fitted model; ``model_.save(path)`` writes it. A list of scorers makes a ScorerModel,
        which cannot be saved.
    certificate_ : Certificate
        The margin rho, how many pairs have it and how many must, the soft margin gamma, its upper
        bound and the gap between them.
    coef_ : ndarray of shape (n_hypotheses,)
        The weights; negative where a hypothesis is negated.
    history_ : MarginHistory
        The solutions of the linear programs.
    gamma_path_ : list of float
        gamma after each step of ``method="heuristic"``; it never grows.
    epsilon_ : float or None
        The epsilon that was used: larger than ``epsilon`` where it was relaxed.
    feature_importances_ : ndarray of shape (n_features,)
        Each column's fraction of the absolute weights; of each scorer for a list of scorers.
    n_iter_ : int
        Number of cuts.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The positive class: larger scores mean that it is more likely.

    Notes
    -----
    "features" are scaled by the range of a column: a single outlier makes the other values of its
    column small. "stumps" do not have this problem.

    A missing number is replaced by the column's mean, and a further hypothesis indicates that it is
    missing.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import MarginRanker
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = MarginRanker().fit(X[:400], y[:400])
    >>> round(ranker.score(X[400:], y[400:]), 3)
    0.993
    >>> round(ranker.certificate_.values["gamma"], 3)
    0.125
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **MARGIN_CONSTRAINTS,
        "soft_margin": ["boolean"],
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
        soft_margin: bool = True,
        epsilon: float = 0.2,
        nu: float | None = None,
        nu_pos: float | None = None,
        nu_neg: float | None = None,
        hypotheses: Any = "features",
        negations: bool = True,
        constant: bool = True,
        relax: bool = True,
        gap_tol: float = 1e-6,
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
        self.soft_margin = soft_margin
        self.epsilon = epsilon
        self.nu = nu
        self.nu_pos = nu_pos
        self.nu_neg = nu_neg
        self.hypotheses = hypotheses
        self.negations = negations
        self.constant = constant
        self.relax = relax
        self.gap_tol = gap_tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, given: FitInput) -> FitResult:
        rows = self._read_rows(given)
        problem = self._problem(given, rows)
        settings = self._settings(problem)
        model, history, certificate = fit_margin(problem, settings)
        sizes = problem.feature_weights(history.beta)
        attributes = {
            "coef_": history.beta,
            "epsilon_": history.epsilon,
            "n_iter_": history.n_iter,
            "gamma_path_": history.gamma_path,
            "feature_importances_": sizes / sizes.sum() if sizes.sum() > 0 else sizes,
        }
        return FitResult(model, history, certificate, rows.classes, attributes)

    def _read_rows(self, given: FitInput) -> LabelledRows:
        given.table.check_columns()
        return read_rows(
            given.y,
            given.sample_weight,
            self.pos_label,
            given.table.n_rows,
            self.frequency_weights,
        )

    def _problem(self, given: FitInput, rows: LabelledRows) -> MarginProblem:
        """The hypotheses on the training rows."""
        categorical = find_categorical(self.categorical_features, given.table)
        if not isinstance(self.hypotheses, str):
            if not self.hypotheses:
                raise ValueError("hypotheses is empty; give at least one fitted scorer")
            return ScorerProblem(list(self.hypotheses), given.X, given.table.names, rows)
        if self.hypotheses == "stumps":
            _refuse_wide(given.table)
            return StumpProblem(self._prepare(given))
        scaling: Any = self.hypotheses
        return LinearProblem(given.table, rows, categorical, scaling)

    def _settings(self, problem: MarginProblem) -> MarginSettings:
        return MarginSettings(
            method=self.method,  # type: ignore[arg-type]
            soft_margin=self.soft_margin,
            epsilon=self.epsilon,
            nu=self.nu,
            nu_pos=self.nu_pos,
            nu_neg=self.nu_neg,
            negations=self.negations,
            constant=self.constant,
            relax=self.relax,
            gap_tol=self.gap_tol,
            max_iter=self.max_iter,
            time_limit=self.time_limit,
            grid=problem.grid,
            verbose=self.verbose,
        )

    def fit_path(
        self, X: Any, y: Any, epsilons: Iterable[float], sample_weight: Any = None
    ) -> Iterator[tuple[float, Model]]:
        """Fit a model for each of several epsilons, in little more time than for one.

        The cuts of a larger epsilon hold for a smaller one, so that each fit starts from the one
        before. The estimator itself is not fitted.

        Parameters
        ----------
        X, y, sample_weight
            As in ``fit``.
        epsilons : iterable of float
            Fractions of the pairs that may miss the margin; used in place of ``epsilon``, ``nu``,
            ``nu_pos`` and ``nu_neg``, with a soft margin and without ``relax``.

        Yields
        ------
        epsilon : float
            The largest first.
        model : Model
            The fitted model.

        Examples
        --------
        >>> from auctor import MarginRanker
        >>> from auctor.datasets import load_kyphosis
        >>> X, y = load_kyphosis()
        >>> [epsilon for epsilon, model in MarginRanker().fit_path(X, y, [0.6, 0.8])]
        [0.8, 0.6]
        """
        table = read_table(X, accept_sparse=True)
        given = FitInput(table, X, np.asarray(y), sample_weight)
        problem = self._problem(given, self._read_rows(given))
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
            start, _ = largest_margin(problem.hypotheses, settings, start)
            yield epsilon, problem.model(start.beta)


# Maximum number of cells of a sparse table that stumps may bin: their codes are dense.
_MOST_CELLS = 5 * 10**8


def _refuse_wide(table: Table) -> None:
    n_cells = table.n_rows * table.n_columns
    if isinstance(table, SparseTable) and n_cells > _MOST_CELLS:
        raise ValueError(
            f"hypotheses is 'stumps', which makes a dense table of {table.n_rows:,} x "
            f"{table.n_columns:,} codes; give 'features' or 'words', which keep X sparse, or use "
            "RankBoost, which boosts stumps on it"
        )
