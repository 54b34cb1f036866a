"""DMKS as a scikit-learn classifier."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy.typing as npt
from sklearn.utils._param_validation import Interval, StrOptions

from auctor.data import Table, find_categorical
from auctor.data.labelled import read_rows
from auctor.estimators.base import SHARED_CONSTRAINTS, RankingEstimator
from auctor.learners.certificate import Certificate
from auctor.learners.dmks.columns import ColumnProblem
from auctor.learners.dmks.fit import DMKSHistory, DMKSSettings, fit_dmks
from auctor.models import Model


class DMKS(RankingEstimator):
    """A linear score of the largest Kolmogorov-Smirnov statistic (Fang & Chen 2019).

    KS is the largest difference between the share of positives and the share of negatives above
    a threshold. One coefficient after the other is put where the training KS is largest with the
    threshold held, exactly, by sorting the values at which rows cross it; then the threshold is
    put at the KS point of the new scores. The climb starts from logistic regression and never
    goes down.

    Parameters
    ----------
    penalty : float, default=0.0
        What each coefficient that is not 0 costs: KS - penalty * (their number) is maximised, so
        that a column which raises the training KS by less is left out. Like KS, and unlike a
        norm of the coefficients, that does not depend on the scale of the score or of the
        columns. Each category has a coefficient of its own and counts by itself. From 1 on
        nothing is worth its price, and the score is constant.
    init : "logistic" or array-like, default="logistic"
        Where the climb starts: a logistic regression on standardised columns (penalty 1), or
        coefficients in the form of ``coef_``.
    max_iter : int, default=100
        Sweeps over all coefficients at most.
    tol : float, default=1e-6
        The climb ends with a sweep that gains less.
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
        point of the training data, where KS is reached, is 0.
    verbose : bool or int, default=False
        Sweeps and KS on stderr.

    Attributes
    ----------
    model_ : LinearModel
        The fitted model; ``model_.save(path)`` writes it.
    ks_ : float
        KS of ``decision_function`` on the training rows.
    coef_ : ndarray of shape (n_coefficients,)
        The coefficients, in the units of the columns: of each number that is not constant, of
        each category, and of what is missing where something is. Their scale is arbitrary.
    coef_names_ : list of str
        What each coefficient belongs to.
    certificate_ : Certificate
        KS, KS at the start, and the most that moving a single coefficient could still gain.
    history_ : DMKSHistory
        KS and the number of coefficients that are not 0, after each sweep.
    n_iter_ : int
        Sweeps made.
    feature_importances_ : ndarray of shape (n_features,)
        Each column's share of the coefficients' sizes, columns taken at standard deviation 1.
    classes_ : ndarray of shape (2,)
        The labels, sorted.
    pos_label_ : label
        The class that the score grows towards.

    Notes
    -----
    KS looks at a single threshold: where the score is far from it, nothing says how rows should
    be ranked, and AUC may well fall while KS rises.

    No coefficient can be moved alone to raise KS, but several together may: the maximum is that of
    each coordinate, and depends on the start. Columns are measured from their median (those of a
    sparse matrix from 0), so that a row there keeps its side of the threshold while the
    coefficient moves. A move may not leave a row's score within 2^-24 of the threshold, nor give
    a column more than 2^8 times the say of the largest.

    A number that is missing counts as the column's mean, and a further coefficient says that it
    is missing.

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
    Training KS 0.97..., from 0.96... at the start: no single coefficient, moved alone with the
    threshold held, can raise it (all 30 tried).
    """

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
        "penalty": [Interval(Real, 0, None, closed="left")],
        "init": [StrOptions({"logistic"}), "array-like"],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        penalty: float = 0.0,
        *,
        init: Any = "logistic",
        max_iter: int = 100,
        tol: float = 1e-6,
        categorical_features: Any = "from_dtype",
        frequency_weights: bool = False,
        pos_label: Any = None,
        threshold: Any = "youden",
        verbose: bool | int = False,
    ) -> None:
        self.penalty = penalty
        self.init = init
        self.max_iter = max_iter
        self.tol = tol
        self.categorical_features = categorical_features
        self.frequency_weights = frequency_weights
        self.pos_label = pos_label
        self.threshold = threshold
        self.verbose = verbose

    def _fit_table(
        self, table: Table, X: Any, y: npt.NDArray[Any], sample_weight: Any
    ) -> tuple[Model, DMKSHistory, Certificate]:
        table.check_columns()
        categorical = find_categorical(self.categorical_features, table)
        rows = read_rows(y, sample_weight, self.pos_label, table.n_rows, self.frequency_weights)
        self._keep_names(table)
        self._keep_classes(rows.classes)
        problem = ColumnProblem(table, rows, categorical)
        settings = DMKSSettings(self.penalty, self.init, self.max_iter, self.tol, self.verbose)
        model, history, certificate = fit_dmks(problem, settings)
        self.ks_ = certificate.values["ks"]
        self._keep_coefficients(problem, history)
        return model, history, certificate

    def _keep_coefficients(self, problem: ColumnProblem, history: DMKSHistory) -> None:
        columns = problem.hypotheses
        self.coef_ = history.beta * problem.units
        self.coef_names_ = columns.names
        self.n_iter_ = history.n_iter
        sizes = problem.feature_weights(history.beta * columns.deviation)
        self.feature_importances_ = sizes / sizes.sum() if sizes.sum() > 0 else sizes
