"""The methods of the tables: each is fitted to a sample and scores any rows, feature by feature."""

from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from io import StringIO
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats
from papers.experiment import Setup, Size
from papers.komori_2010.adaboost import MOST_ROUNDS, fit_adaboost
from papers.komori_2010.distributions import Labelled, optimal_parts, optimal_score

AUCBOOST = "AUCBoost"  # lambda = 0.01 and T = 200, "the best pair" of section 3.3
BY_AUC_CV = "AUCBoost, lambda and T by AUC_CV"
BY_AUC = "AUCBoost, lambda and T by plain AUC"
OURS = "SmoothAUCBoostCV"
OPTIMAL = "optimal score"
ESTIMATED = "estimated optimal score"
ESTIMATED_FULL = "estimated, full covariances"
ADABOOST, GAM, GLM = "AdaBoost", "GAM", "GLM"
GAM_QUANTILES = "GAM, knots at quantiles"
STUMPS = "LightGBM stumps"

PACKAGES = {GAM: ("pygam",), STUMPS: ("lightgbm",)}
# Section 3.3: the lambdas of Figure 2. The paper takes "a number of sample quantiles" for cuts and
# does not say how many; of 20, 50 and 255, 50 gave the curves most like Figure 2, on two samples.
LAMBDAS = (0.01, 0.001, 0.0001)
BEST_LAMBDA = 0.01
# The paper does not say which lambdas were tried; on kyphosis its figures are those of 0.1.
GRID = (0.1, *LAMBDAS)
N_QUANTILES = 50


class Effort(NamedTuple):
    """The effort of the search for the settings of a method."""

    n_rounds: int
    n_folds: int
    n_rounds_adaboost: int = MOST_ROUNDS
    n_smoothings: int = 11  # of pyGAM's grid, its default


class Fitted(NamedTuple):
    """A fitted method: the score of rows, and the part of each feature if it is a sum."""

    score: Callable[[Floats], Floats]
    parts: Callable[[Floats], Floats] | None


def effort(setup: Setup, n_folds: int = 10) -> Effort:
    """T up to 200 as in Figure 2 and the paper's folds, or less of both."""
    return setup.pick(Effort(200, n_folds), Effort(60, 3, 60, 5), Effort(8, 2, 8, 2))


def is_reduced(setup: Setup, method: str) -> bool:
    """Whether a method has fewer rounds, folds or smoothing candidates than in the paper."""
    return setup.size != Size.FULL and method in (AUCBOOST, BY_AUC_CV, BY_AUC, ADABOOST, GAM)


def additive(parts: Callable[[Floats], Floats]) -> Fitted:
    """Where the score is the sum of the parts."""
    return Fitted(lambda X: np.asarray(parts(X).sum(axis=1)), parts)


def fit_ours(rows: Labelled, **settings: Any) -> Fitted:
    """The default of this library: Newton's method, and penalties by 5 folds."""
    from auctor import SmoothAUCBoostCV

    model = SmoothAUCBoostCV(**settings).fit(rows.X, rows.y)
    n_features = rows.X.shape[1]
    # Surfaces, if there are any, belong to no single feature.
    return Fitted(model.decision_function, lambda X: model.model_.contributions(X)[:, :n_features])


def fit_aucboost(
    rows: Labelled, penalty: float, n_rounds: int, max_bins: int = N_QUANTILES
) -> Fitted:
    """The paper's algorithm for a given lambda and T: one stump per round."""
    from auctor import SmoothAUCBoost

    model = SmoothAUCBoost(penalty, n_estimators=n_rounds, solver="stagewise", max_bins=max_bins)
    return additive(model.fit(rows.X, rows.y).model_.contributions)


def fit_estimated(rows: Labelled, is_full: bool) -> Fitted:
    """F_N of section 4.2 with the sample's means and (co)variances."""
    precision, slope = [], []
    for label in (0, 1):
        X = rows.X[rows.y == label]
        covariance = np.cov(X.T)
        if not is_full:
            covariance = np.diag(np.diag(covariance))
        precision.append(np.linalg.inv(covariance))
        slope.append(X.mean(axis=0) @ precision[-1])
    form, linear = precision[0] - precision[1], 2 * (slope[1] - slope[0])
    if not is_full:
        return additive(lambda X: X**2 * np.diag(form) + X * linear)
    return Fitted(lambda X: np.asarray(((X @ form) * X).sum(axis=1) + X @ linear), None)


def fit_gam(rows: Labelled, n_smoothings: int) -> Fitted:
    """A logistic GAM on splines, its smoothing by pygam's own grid search.

    Where no candidate of the grid converges the score is flat, as a user would be left with none.
    """
    from pygam import LogisticGAM

    try:
        grid = np.logspace(-3, 3, n_smoothings)
        with redirect_stdout(StringIO()):  # it prints candidates that did not converge
            model = LogisticGAM().gridsearch(rows.X, rows.y, lam=grid, progress=False)
    except AttributeError:  # it fails if no candidate converged
        return additive(np.zeros_like)
    terms = range(rows.X.shape[1])
    return additive(
        lambda X: np.column_stack([model.partial_dependence(term=k, X=X) for k in terms])
    )


def fit_gam_quantiles(rows: Labelled, n_freedom: int = 5) -> Fitted:
    """A GAM of cubic splines with knots at quantiles of the rows, linear beyond them.

    ``n_freedom`` is the number of coefficients of a feature; a feature with few distinct values,
    whose quantiles coincide, has fewer.
    """
    from sklearn.compose import make_column_transformer
    from sklearn.preprocessing import SplineTransformer

    knots = [np.unique(q) for q in np.quantile(rows.X, np.linspace(0.05, 0.95, n_freedom - 1), 0).T]
    splines = make_column_transformer(
        *(
            (SplineTransformer(knots=k[:, None], extrapolation="linear", include_bias=False), [j])
            for j, k in enumerate(knots)
        )
    )
    model = _logistic(splines.fit_transform(rows.X), rows.y)
    ends = np.cumsum([0, *(len(k) + 1 for k in knots)])  # 3 more than knots, without constant

    def parts(X: Floats) -> Floats:
        values = np.asarray(splines.transform(X)) * model.coef_
        return np.column_stack([values[:, a:b].sum(axis=1) for a, b in pairwise(ends)])

    return additive(parts)


def fit_glm(rows: Labelled) -> Fitted:
    """Logistic regression without penalty."""
    model = _logistic(rows.X, rows.y)
    return additive(lambda X: X * model.coef_)


def _logistic(X: Floats, y: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    # Newton's method, because lbfgs would stop early on the t distribution's outliers.
    return LogisticRegression(C=1e10, solver="newton-cholesky", max_iter=1000).fit(X, y)


def fit_lightgbm(rows: Labelled) -> Fitted:
    """LightGBM on stumps, whose Shapley values are the parts up to constants."""
    import lightgbm as lgb

    model = lgb.LGBMClassifier(n_estimators=300, num_leaves=2, n_jobs=1, verbose=-1)
    model.fit(rows.X, rows.y)
    return additive(lambda X: np.asarray(model.predict(X, pred_contrib=True))[:, :-1])


def fit(method: str, distribution: str, rows: Labelled, effort: Effort) -> Fitted:
    """A method by its name in the tables."""
    if method == OPTIMAL:
        parts = optimal_parts if distribution == "gaussian" else None
        return Fitted(partial(optimal_score, distribution), parts)
    if method == AUCBOOST:
        return fit_aucboost(rows, BEST_LAMBDA, effort.n_rounds)
    if method == ADABOOST:
        return additive(fit_adaboost(rows, effort.n_folds, effort.n_rounds_adaboost).parts)
    if method == GAM:
        return fit_gam(rows, effort.n_smoothings)
    return _PLAIN[method](rows)


_PLAIN: dict[str, Callable[[Labelled], Fitted]] = {
    OURS: fit_ours,
    ESTIMATED: partial(fit_estimated, is_full=False),
    ESTIMATED_FULL: partial(fit_estimated, is_full=True),
    GAM_QUANTILES: fit_gam_quantiles,
    GLM: fit_glm,
    STUMPS: fit_lightgbm,
}
