"""SmoothAUCBoostCV: the penalties by cross-validation."""

from dataclasses import replace
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from sklearn.utils._param_validation import Interval, StrOptions

from auctor._typing import Bools, Floats, Indices
from auctor.data import RankingData, Table, find_categorical, read_weights
from auctor.estimators.cross_validation import draw_folds
from auctor.estimators.smooth_aucboost import SMOOTH_CONSTRAINTS, SmoothAUCBoost
from auctor.estimators.smooth_settings import check_same_features
from auctor.learners.certificate import Certificate
from auctor.learners.smooth.history import SmoothHistory
from auctor.learners.smooth.search import Candidate, find_amounts
from auctor.learners.smooth.settings import SmoothSettings
from auctor.models import AdditiveModel, Model

# Pairs that "auto" tries: more seldom help, and nobody looks at more.
_MOST_PAIRS = 10
_FOUND = ("penalty", "shrinkage", "ridge", "early_stopping", "validation_fraction")


class SmoothAUCBoostCV(SmoothAUCBoost):
    """SmoothAUCBoost with its penalties found by K-fold cross-validation (section 3.3).

    The shrinkage is sought first, at the automatic penalty, then the penalty at that shrinkage,
    each along a path of warm starts, and last whether surfaces of feature pairs help; the held-out
    AUC decides. Then all rows are fitted. With ``solver="stagewise"`` every penalty is tried after
    every round, as in the paper.

    Parameters
    ----------
    penalties, shrinkages : array-like of float, optional
        Amounts to try. By default the automatic ones and outward from them, 0.1 to 10 times the
        penalty and 0.3 to 30 times the shrinkage, until it is surely getting worse; for stumps the
        paper's lambdas.
    cv : int, splitter or iterable of (train, test), optional
        A number of folds, stratified and shuffled, copies of a row in one fold; or how
        scikit-learn's tools take them. By default 5 folds, fewer where a class has fewer rows;
        where it has one, the automatic amounts are taken without any.
    rule : {"paired", "best", "one_se"}, default="paired"
        "best" takes the amounts of the best mean AUC, "one_se" the strongest within its standard
        error. "paired" takes the automatic amounts unless others gain more than two standard errors
        of the difference within the folds: among nearly equal candidates the best mean is mostly
        luck, and costs more on new rows than it brings.
    interactions : "auto" or int, default="auto"
        Number of feature pairs whose surface is added. "auto" tries 10, and keeps them where they
        gain more than one standard error (with ``rule="best"``: anything). The stagewise solver has
        none.
    n_estimators, solver, roughness, scale, adaptive, monotonic_cst, max_features, fpr_range, init
        As in SmoothAUCBoost; each fold picks its ``max_features`` by its own training rows. With
        ``fpr_range`` the held-out partial AUC decides.
    max_bins, categorical_features, max_iter, tol, frequency_weights, pos_label, threshold
        As in SmoothAUCBoost.
    n_jobs, verbose
        As in SmoothAUCBoost; the folds run on ``n_jobs`` threads.
    random_state : int, RandomState or None, default=0
        Shuffles the rows before they are cut into folds.

    Attributes
    ----------
    penalty_, shrinkage_, ridge_ : float
        The amounts that were chosen.
    best_score_ : float
        Their mean AUC over the folds. Chosen as the best of several, it is a little too good.
    cv_results_ : dict
        "penalty", "shrinkage", "interactions", "mean_auc" and "std_auc", an entry for each
        candidate in the order tried, and "aucs", a line for each with the AUC of every fold. For
        the stagewise solver also "rounds", and "staged_auc" (candidates, folds, rounds).
    interactions_ : int
        Pairs that were asked for in the end; ``model_.surfaces`` holds those that were found.
    n_estimators_ : int
        Rounds of the stagewise solver that were chosen.

    And those of SmoothAUCBoost.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import SmoothAUCBoostCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> ranker = SmoothAUCBoostCV().fit(X[:400], y[:400])
    >>> ranker.penalty_ in ranker.cv_results_["penalty"]
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{name: rule for name, rule in SMOOTH_CONSTRAINTS.items() if name not in _FOUND},
        "penalties": ["array-like", None],
        "shrinkages": ["array-like", None],
        "cv": [Interval(Integral, 2, None, closed="left"), "cv_object", None],
        "rule": [StrOptions({"paired", "best", "one_se"})],
        "interactions": [Interval(Integral, 0, None, closed="left"), StrOptions({"auto"})],
    }

    def __init__(
        self,
        penalties: Any = None,
        n_estimators: int = 500,
        *,
        shrinkages: Any = None,
        cv: Any = None,
        rule: str = "paired",
        solver: str = "newton",
        roughness: str = "auto",
        scale: str = "normal",
        adaptive: bool = True,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        monotonic_cst: Any = None,
        interactions: Any = "auto",
        max_features: int | None = 300,
        fpr_range: Any = None,
        init: Any = None,
        max_iter: int = 500,
        tol: float = 1e-8,
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        random_state: Any = 0,
        n_jobs: int | None = None,
        verbose: bool | int = False,
    ) -> None:
        self.penalties = penalties
        self.n_estimators = n_estimators
        self.shrinkages = shrinkages
        self.cv = cv
        self.rule = rule
        self.solver = solver
        self.roughness = roughness
        self.scale = scale
        self.adaptive = adaptive
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.monotonic_cst = monotonic_cst
        self.interactions = interactions
        self.max_features = max_features
        self.fpr_range = fpr_range
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # What cross-validation finds, or does in place of early stopping.
    penalty = shrinkage = ridge = "auto"
    early_stopping, validation_fraction, n_iter_no_change = False, 0.1, 10

    def _fit_table(
        self, table: Table, X: Any, y: npt.NDArray[Any], sample_weight: Any
    ) -> tuple[Model, SmoothHistory, Certificate]:
        self._penalties = _read_amounts(self.penalties, "penalties")
        self._shrinkages = _read_amounts(self.shrinkages, "shrinkages")
        self._folds = _masks(
            draw_folds(
                self.cv,
                y,
                sample_weight,
                pos_label=self.pos_label,
                random_state=self.random_state,
                instead="SmoothAUCBoost",
                table=table,
                categorical=find_categorical(self.categorical_features, table),
            ),
            read_weights(sample_weight, len(y)),
            len(y),
        )
        try:
            return super()._fit_table(table, X, y, sample_weight)
        finally:
            del self._folds, self._penalties, self._shrinkages

    def _learn(self, data: RankingData) -> tuple[AdditiveModel, SmoothHistory, Certificate]:
        settings = super()._settings(data)
        check_same_features(self._first, data, settings.signs)
        automatic = self.interactions == "auto" and self.solver == "newton"
        chosen, candidates = find_amounts(
            data,
            settings,
            self._folds,
            penalties=self._penalties,
            shrinkages=self._shrinkages,
            rule=self.rule,
            surfaces=_MOST_PAIRS if automatic else 0,
        )
        self.best_score_ = chosen.mean
        self.cv_results_ = _results(candidates)
        self.penalty_, self.shrinkage_, self.ridge_ = chosen.amounts
        self.interactions_ = chosen.interactions if automatic else self._asked_pairs()
        self.n_estimators_ = chosen.n_rounds or self.n_estimators
        return super()._learn(data)

    def _settings(self, data: RankingData) -> SmoothSettings:
        """Those of the last fit, with what was found."""
        return replace(
            super()._settings(data),
            penalty=self.penalty_,
            shrinkage=self.shrinkage_,
            ridge=self.ridge_,
            interactions=self.interactions_,
            n_estimators=self.n_estimators_,
        )

    def _asked_pairs(self) -> int:
        return 0 if self.interactions == "auto" else self.interactions


def _results(candidates: list[Candidate]) -> dict[str, npt.NDArray[Any]]:
    results: dict[str, npt.NDArray[Any]] = {
        "penalty": np.array([c.amounts.penalty for c in candidates]),
        "shrinkage": np.array([c.amounts.shrinkage for c in candidates]),
        "mean_auc": np.array([c.mean for c in candidates]),
        "std_auc": np.array([np.std(c.aucs, ddof=1) if len(c.aucs) > 1 else 0 for c in candidates]),
        "aucs": np.array([c.aucs for c in candidates]),
        "interactions": np.array([c.interactions for c in candidates]),
    }
    staged = [c.staged for c in candidates if c.staged is not None]
    if staged:
        results["staged_auc"] = np.array(staged)
        results["rounds"] = np.arange(1, staged[0].shape[1] + 1)
    return results


def _read_amounts(values: Any, name: str) -> list[float] | None:
    """Numbers of 0 or more; None stays None."""
    if values is None:
        return None
    try:
        array = np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError):
        array = np.empty(0)
    if len(array) == 0 or not (np.isfinite(array) & (array >= 0)).all():
        raise ValueError(f"{name} is {values!r}; give one or more numbers of 0 or more")
    return sorted(set(array.tolist()))


def _masks(
    folds: list[tuple[Indices, Indices]],
    weight: Floats | None,
    n_rows: int,
) -> list[tuple[Bools, Bools]]:
    """Train and test rows as marks over the rows that count."""
    counts = np.ones(n_rows, dtype=bool) if weight is None else weight > 0

    def mark(rows: Indices) -> Bools:
        marks = np.zeros(n_rows, dtype=bool)
        marks[rows] = True
        return marks[counts]

    return [(mark(train), mark(test)) for train, test in folds]
