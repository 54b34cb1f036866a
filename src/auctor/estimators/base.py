"""What every estimator shares: the border in front of the learner, and scoring after it."""

import warnings
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_is_fitted, column_or_1d

from auctor._typing import Floats, Ints
from auctor.data import RankingData, Table, prepare, read_table
from auctor.data.copies import draw_units
from auctor.learners.certificate import Certificate
from auctor.metrics import Threshold, auc
from auctor.models import Explanation, Explanations, Model, TermModel
from auctor.models.explanation import read_row
from auctor.models.reference import TRAINING

# Constraints of the parameters that all learners share.
SHARED_CONSTRAINTS: dict[str, list[Any]] = {
    "max_bins": [Interval(Integral, 2, 65_535, closed="both")],
    "categorical_features": ["array-like", StrOptions({"from_dtype"}), None],
    "frequency_weights": ["boolean"],
    "pos_label": [object, None],
    # A model file holds numbers below this.
    "threshold": [Interval(Real, -1e300, 1e300, closed="neither"), StrOptions({"youden"})],
    "random_state": ["random_state"],
    "n_jobs": [Integral, None],
    "verbose": ["verbose"],
}
EARLY_STOPPING_CONSTRAINTS: dict[str, list[Any]] = {
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left")],
}


class RankingEstimator(ClassifierMixin, BaseEstimator):
    """A scikit-learn classifier for two classes over one of the learners.

    A subclass stores its parameters, names their constraints and implements ``_learn``, or
    ``_fit_table`` where it does not work on bins.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]]
    _accepts_sparse: ClassVar[bool] = True
    _keeps_sparse: ClassVar[bool] = False  # whether the learner can use SparseCodes

    frequency_weights: bool = False

    model_: Model
    history_: Any
    certificate_: Certificate
    classes_: npt.NDArray[Any]
    pos_label_: Any
    threshold_: float
    n_features_in_: int
    feature_names_in_: npt.NDArray[Any]

    def _learn(self, data: RankingData) -> tuple[Model, Any, Certificate]:
        """Run the learner; may set further fitted attributes."""
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit to a table of any kind and labels of any two values.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            numpy, pandas, polars, pyarrow, a list of rows, or scipy sparse. NaN and None are
            missing values.
        y : array-like of shape (n_samples,)
            Two values; the larger one is positive unless ``pos_label`` says otherwise.
        sample_weight : array-like of shape (n_samples,), optional
            How much a row matters beside the others. 0 is an absent row, and in what is
            maximised 2 counts as the row twice. Only proportions count: all weights times a
            constant give the same model. Where a rule asks for a number of rows (automatic
            penalties, noise levels, smallest leaves), it is the effective number,
            (sum w)^2 / sum w^2 of each class. With ``frequency_weights=True`` weights count
            copies instead: their sum is the number of rows, and weight 2 is the row twice in
            every respect (in distribution only, for estimators that draw rows at random).

        Returns
        -------
        self
        """
        table = read_table(X, accept_sparse=self._accepts_sparse)
        y = _check_target(y, type(self).__name__)
        self.__dict__.pop("feature_importances_", None)  # not every setting has them
        model, self.history_, self.certificate_ = self._fit_table(table, X, y, sample_weight)
        if isinstance(model, TermModel) and model.reference is None:
            # Added to another model, whose own reference is of other rows.
            model = model.with_reference(table, sample_weight, TRAINING)
        self.threshold_ = 0.0 if self.threshold == "youden" else float(self.threshold)
        self.model_ = replace(model, threshold=self.threshold_)  # a saved model predicts alike
        return self

    def _fit_table(
        self, table: Table, X: Any, y: npt.NDArray[Any], sample_weight: Any
    ) -> tuple[Model, Any, Certificate]:
        """From a table to what the learner returns: through the bins, unless overridden."""
        data = prepare(
            table,
            y,
            sample_weight=sample_weight,
            pos_label=self.pos_label,
            max_bins=self.max_bins,
            categorical_features=self.categorical_features,
            keep_sparse=self._keeps_sparse,
            frequency_weights=self.frequency_weights,
            n_jobs=self.n_jobs,
        )
        self._keep_names(table)
        self._keep_classes(data.classes)
        return self._learn(data)

    def _keep_classes(self, classes: npt.NDArray[Any]) -> None:
        # scikit-learn's tools count on sorted classes; ours ask for pos_label_.
        self.classes_ = np.unique(classes)
        self.pos_label_ = classes[1]

    def decision_function(self, X: Any) -> Floats:
        """The score of each row: larger means more likely positive.

        Youden's point of the training data lies at 0.
        """
        check_is_fitted(self)
        return self.model_.decision_function(self._read(X))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row: positive where the score is above ``threshold_``."""
        positive = self.decision_function(X) > self.threshold_
        return self.classes_[(positive == (self.classes_[1] == self.pos_label_)).astype(int)]

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, in the order of ``classes_``.

        It comes from a logistic curve through the training scores and ranks as the score does.
        Fitted on the training rows, it tends to be too sure of itself; for calibrated
        probabilities wrap the estimator in scikit-learn's ``CalibratedClassifierCV``.
        """
        scores = self.decision_function(X)
        probability = self.model_.probabilities(scores)  # (negative, positive)
        return probability if self.classes_[1] == self.pos_label_ else probability[:, ::-1]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The AUC of the score on labelled rows."""
        scores = self.decision_function(X)
        return auc(y, scores, sample_weight=sample_weight, pos_label=self.pos_label_)

    def explain(self, X: Any) -> Explanation | Explanations:
        """What each feature adds to the score of a row, compared with the average training row.

        For models whose score is a sum with a part for each feature: additive and linear ones.
        The average row is kept in the model, ``model_.reference``: a row has the same explanation
        alone, in a table, and from the saved model.

        Parameters
        ----------
        X : array-like, dict, Series or table
            One row, or a table of many. A dict and a Series have the features' names.

        Returns
        -------
        Explanation or Explanations
            Of one row, an explanation that prints as a table, the largest contribution first; of
            many, an object with ``contributions`` of shape (n_rows, n_terms).

        Examples
        --------
        >>> from auctor import RankBoost
        >>> from auctor.datasets import load_kyphosis
        >>> X, y = load_kyphosis()
        >>> ranker = RankBoost(n_estimators=20).fit(X, y)
        >>> one = ranker.explain(X[0])
        >>> one.base + sum(one.contributions) == one.score
        True
        >>> ranker.explain(X).contributions.shape
        (81, 3)
        """
        check_is_fitted(self)
        found: Explanation | Explanations = self.model_.explain(self._read(read_row(X)))
        return found

    def threshold_at(self, X: Any, y: Any, **wish: Any) -> Threshold:
        """The threshold that meets a criterion on labelled rows, with its interval.

        Parameters
        ----------
        X, y
            Labelled rows; on those of the fit every rate is too good.
        **wish
            One of ``fpr``, ``tpr``, ``budget`` and ``cost``, and what else
            :func:`auctor.metrics.threshold_at` takes; with ``confidence=0.95`` new rows meet the
            criterion in 95 % of cases. ``model_.with_threshold`` makes a model that predicts by it.

        Returns
        -------
        Threshold

        Examples
        --------
        >>> from auctor import RankBoost
        >>> from auctor.datasets import load_kyphosis
        >>> X, y = load_kyphosis()
        >>> ranker = RankBoost(n_estimators=20).fit(X, y)
        >>> plain = ranker.threshold_at(X, y, fpr=0.1)
        >>> plain.point.fpr <= 0.1
        True
        >>> ranker.threshold_at(X, y, fpr=0.1, confidence=0.95).value > plain.value
        True
        """
        check_is_fitted(self)
        return self.model_.threshold_at(self._read(X), y, **wish)

    def _keep_names(self, table: Table) -> None:
        self.n_features_in_ = table.n_columns
        if table.has_names:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _read(self, X: Any) -> Table:
        table = read_table(X, accept_sparse=self._accepts_sparse)
        if not table.has_names and table.n_columns != self.n_features_in_:
            raise ValueError(
                f"X has {table.n_columns} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        if hasattr(self, "feature_names_in_") and not table.has_names:
            warnings.warn(
                f"X does not have valid feature names, but {type(self).__name__} was fitted with "
                "feature names; columns are taken in order",
                UserWarning,
                stacklevel=3,
            )
        return table

    def _hold_out(self, data: RankingData) -> tuple[RankingData, RankingData | None]:
        """Training and validation rows, stratified; no validation unless ``early_stopping``.

        Copies of a row are held out together.
        """
        if not self.early_stopping:
            return data, None
        if min(data.n_pos, data.n_neg) < 2:
            raise ValueError(
                f"early_stopping needs rows of both classes to hold out, found {data.n_pos} "
                f"positive and {data.n_neg} negative; set early_stopping=False"
            )
        rng = check_random_state(self.random_state)
        share = self.validation_fraction
        held = [_draw(rows, data.copies, share, rng) for rows in data.class_rows]
        chosen = np.zeros(max(rows[-1] for rows in data.class_rows) + 1, dtype=bool)
        chosen[np.concatenate(held)] = True
        return data.take(~chosen), data.take(chosen)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = self._accepts_sparse
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags


def _draw(
    rows: Ints,
    copies: Ints | None,
    share: float,
    rng: np.random.RandomState,
) -> Ints:
    """A share of the rows of one class, at least one of them and never all."""
    first, unit = draw_units(copies, rows, 1.0 / share)
    size = min(max(1, round(share * len(first))), len(first) - 1)
    drawn = rng.choice(first, size=size, replace=False)
    return rows[np.isin(first, drawn)[unit]]


def _check_target(y: Any, name: str) -> npt.NDArray[Any]:
    """Labels as one dimension, with scikit-learn's words where they are no classes."""
    if y is None:
        raise ValueError(f"{name} requires y to be passed, but the target y is None")
    array = column_or_1d(y, warn=True)
    if array.dtype.kind == "O":  # may hold None, which the border reports
        return array
    assert_all_finite(array, input_name="y")
    distinct = np.unique(array)
    if len(distinct) > 2:
        check_classification_targets(array)
        found = ", ".join(map(str, distinct[:5].tolist())) + (", ..." if distinct[5:].size else "")
        raise ValueError(
            f"y has {len(distinct)} classes ({found}); auctor ranks two. Only binary "
            "classification is supported. The type of the target is multiclass."
        )
    return array
