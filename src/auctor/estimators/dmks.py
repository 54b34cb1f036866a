"""DMKS as a scikit-learn classifier."""

from numbers import Integral, Real
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from auctor.data import find_categorical
from auctor.data.labelled import read_rows
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.estimators.fit_input import FitInput, FitResult
from auctor.learners.dmks.columns import ColumnProblem
from auctor.learners.dmks.fit import DMKSSettings, fit_dmks


class DMKS(RankingEstimator):
    """A linear score that maximises the Kolmogorov-Smirnov statistic (Fang & Chen 2019).

    KS is the largest difference between the fractions of positives and of negatives above a
    threshold. The coefficients take turns: each is moved to the value where the training KS is
    largest for a fixed threshold. This value is computed exactly, by sorting the values at which
    rows cross the threshold. Then the threshold moves to the KS point of the new scores. The search
    starts from logistic regression, and KS never decreases.

    Parameters
    ----------
    coef_penalty : float, default=0.0
        Price of each nonzero coefficient: KS - coef_penalty * (number of nonzero coefficients) is
        maximised, so that a column that raises the training KS by less is left out. Unlike a norm
        of the coefficients, the penalty does not depend on the scale of the score or of the
        columns. Each category has a coefficient of its own and counts separately. With a
        penalty of 1 or more all coefficients are 0, and the score is constant.
    coef_init : "logistic" or array-like of shape (n_coefficients,), default="logistic"
        Coefficients that the search starts from, in the form of ``coef_``. "logistic" takes those
        of a logistic regression on standardised columns (L2 penalty with C = 1).
    max_iter : int, default=100
        Maximum number of iterations.
        An iteration goes once over all coefficients.
    tol : float, default=1e-6
        The smallest improvement that counts; the fit stops below it.
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
        The KS of the training rows is reached there.
    verbose : bool or int, default=False
        Whether to show the progress of the fit on stderr.

    Attributes
    ----------
    model_ : LinearModel
        The fitted model. ``model_.save(path)`` writes it to a file.
    ks_ : float
        KS of ``decision_function`` on the training rows.
    coef_ : ndarray of shape (n_coefficients,)
        The coefficients in the units of the columns: one for each column of numbers that is not
        constant, one for each category, and one that indicates missing values for each column that
        has any. Their scale is arbitrary.
    coef_names_ : list of str
        The name of each coefficient.
    certificate_ : Certificate
        KS, KS at the start, and the most that moving a single coefficient could still gain.
    history_ : DMKSHistory
        KS and the number of nonzero coefficients after each iteration.
    n_iter_ : int
        Number of iterations.
    feature_importances_ : ndarray of shape (n_features,)
        Absolute coefficients of the standardised columns of each feature; the sum is 1.
    classes_ : ndarray of shape (2,)
        The class labels, sorted.
    pos_label_ : label
        The positive class: larger scores mean that it is more likely.

    Notes
    -----
    KS depends on a single threshold. The ranking of rows far from it does not matter to KS, and the
    AUC may well decrease while KS increases.

    Moving a single coefficient cannot raise KS, but moving several at once may: the result is a
    maximum in each coordinate and depends on the initial coefficients. Columns are centred at
    their median (those of a sparse matrix are not centred), so that a row at the median stays on
    its side of the threshold while the coefficient moves. A move may not bring the score of a row
    within 2^-24 of the threshold, nor give a column more than 2^8 times the influence of the most
    influential one.

    A missing number is replaced by the mean of its column, and a further coefficient indicates that
    it was missing.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from auctor import DMKS
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> scorer = DMKS().fit(X[:400], y[:400])
    >>> round(scorer.ks_, 2)
    0.97
    >>> scorer.certificate_.values["largest_gain"]
    0.0
    >>> print(scorer.certificate_)
    The training KS is 0.97... (0.96... at the start). Moving a single coefficient, with the
    threshold fixed, cannot increase it; all 30 were tried.
    """

    _trains_for: ClassVar[str] = "ks"
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **{
            name: SHARED_CONSTRAINTS[name]
            for name in (
                "categorical_features",
                "frequency_weights",
                "pos_label",
                "threshold",
                "verbose",
            )
        },
        "coef_penalty": [Interval(Real, 0, None, closed="left")],
        "coef_init": [StrOptions({"logistic"}), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        coef_penalty: float = 0.0,
        *,
        coef_init: Any = "logistic",
        max_iter: int = 100,
        tol: float = 1e-6,
        categorical_features: Any = "from_dtype",
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        verbose: bool | int = False,
    ) -> None:
        self.coef_penalty = coef_penalty
        self.coef_init = coef_init
        self.max_iter = max_iter
        self.tol = tol
        self.categorical_features = categorical_features
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.verbose = verbose

    def _fit(self, given: FitInput) -> FitResult:
        table = given.table
        table.check_columns()
        categorical = find_categorical(self.categorical_features, table)
        rows = read_rows(
            given.y, given.sample_weight, self.pos_label, table.n_rows, self.frequency_weights
        )
        problem = ColumnProblem(table, rows, categorical)
        settings = DMKSSettings(
            coef_penalty=self.coef_penalty,
            coef_init=self.coef_init,
            max_iter=self.max_iter,
            tol=self.tol,
            verbose=self.verbose,
        )
        model, history, certificate = fit_dmks(problem, settings)
        columns = problem.hypotheses
        sizes = problem.feature_weights(history.beta * columns.deviation)
        attributes = {
            "ks_": certificate.values["ks"],
            "coef_": history.beta * problem.units,
            "coef_names_": columns.names,
            "n_iter_": history.n_iter,
            "feature_importances_": sizes / sizes.sum() if sizes.sum() > 0 else sizes,
        }
        return FitResult(model, history, certificate, rows.classes, attributes)
