"""The base class of the estimators: the input of a fit, its result, and scoring after it."""

import warnings
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, _fit_context
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from auctor._typing import Floats, Ints
from auctor.data import RankingData, Table, prepare, read_table
from auctor.data.copies import draw_units
from auctor.estimators.checkpointing import read_checkpoint
from auctor.estimators.fit_input import FitInput, FitResult
from auctor.estimators.recording import recorded_model
from auctor.estimators.target import check_target
from auctor.learners.certificate import Certificate
from auctor.learners.checkpoint.checkpoint import Checkpoint
from auctor.metrics import Threshold, auc
from auctor.metrics.thresholds import is_flagged
from auctor.models import (
    ExplainedModel,
    Explanation,
    Explanations,
    ForestModel,
    Model,
    ScorerModel,
    StackedModel,
    SumModel,
)
from auctor.models.explanation import read_row
from auctor.models.reference import TRAINING

if TYPE_CHECKING:
    from auctor.data.cluster.parts_table import PartsRows
    from auctor.data.stored.dataset import Dataset, StoredRows


# Constraints of the parameters that most estimators have.
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
    ``_fit`` where it does not work on bins alone. Both return a FitResult; ``fit`` sets the
    fitted attributes at its end, so that a fit that fails leaves those of the one before.

    Among the parameters of every subclass are ``categorical_features``, ``pos_label``,
    ``threshold`` and ``verbose``; of one that implements ``_learn`` also ``max_bins``,
    ``frequency_weights`` and ``n_jobs``, which binning reads. ``_hold_out`` needs
    ``early_stopping``, ``validation_fraction`` and ``random_state``.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]]
    _accepts_sparse: ClassVar[bool] = True
    _keeps_sparse: ClassVar[bool] = False  # whether the learner can use SparseCodes
    _trains_for: ClassVar[str] = "auc"  # the metric of a learner without a parameter ``metric``

    frequency_weights: bool = False

    model_: Model
    history_: Any
    certificate_: Certificate
    classes_: npt.NDArray[Any]
    pos_label_: Any
    threshold_: float
    n_features_in_: int
    feature_names_in_: npt.NDArray[Any]

    def _learn(self, data: RankingData, checkpoint: Checkpoint | None) -> FitResult:
        """Run the learner on binned rows."""
        raise NotImplementedError

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, checkpoint: Any = None) -> Self:
        """Fit the model to a table and labels of two classes.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            A numpy array, a pandas, polars or pyarrow table, a list of rows, or a scipy sparse
            matrix. NaN and None are missing values.
        y : array-like of shape (n_samples,)
            Labels of two values. The larger one is the positive class unless ``pos_label`` is
            given.
        sample_weight : array-like of shape (n_samples,), default=None
            The importance of each row. A row of weight 0 is ignored, and in the objective a row of
            weight 2 counts as two rows. Only the proportions matter: all weights times a constant
            give the same model. Rules that need a number of rows (automatic penalties, noise
            levels, minimum leaf sizes) use the effective number, (sum w)^2 / sum w^2 of each
            class. With ``frequency_weights=True`` weights count copies: their sum is the number of
            rows, and a row of weight 2 is two rows in every respect (in distribution only, for
            estimators that draw rows at random).
        checkpoint : str, Path or Checkpoint, default=None
            A folder for the state of the fit. If the fit is interrupted, call ``fit`` again with
            the same arguments: it goes on, and ends with the same model, bit for bit. The state is
            removed at the end. Estimators that do not support it raise an error.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        kept = read_checkpoint(checkpoint, self)
        table = read_table(X, accept_sparse=self._accepts_sparse)
        given = FitInput(table, X, check_target(y, type(self).__name__), sample_weight, kept)
        return self._fit_input(given)

    @_fit_context(prefer_skip_nested_validation=True)
    def fit_dataset(self, dataset: "Dataset", *, checkpoint: Any = None) -> Self:
        """Fit the model to a table that is too large for memory.

        The model is the same, bit for bit, as that of ``fit`` on the whole table. Estimators and
        parameters that need the whole table in memory are refused with an error.

        Parameters
        ----------
        dataset : Dataset
            Files or batches with the names of the target and of the weights, from
            :func:`auctor.read_dataset`.
        checkpoint : str, Path or Checkpoint, default=None
            A folder for the state of the fit, as in ``fit``.

        Returns
        -------
        self : estimator
            The fitted estimator.
        """
        # Imported here, because a fit to a table in memory does not need it.
        from auctor.estimators.dataset_fit import open_rows

        kept = read_checkpoint(checkpoint, self)
        with open_rows(dataset, self) as rows:
            return self._fit_rows(rows, kept)

    def _fit_rows(
        self, rows: "StoredRows | PartsRows", checkpoint: Checkpoint | None = None
    ) -> Self:
        """Fit the model to the rows of an open data set, or of a member of a group."""
        y = check_target(rows.y, type(self).__name__)
        return self._fit_input(FitInput(rows.table, rows.table, y, rows.weight, checkpoint))

    def _fit_input(self, given: FitInput) -> Self:
        self._set_fitted(self._fit(given), given.table, given.sample_weight)
        if given.checkpoint is not None:
            given.checkpoint.finish()
        return self

    def _fit(self, given: FitInput) -> FitResult:
        """Bin the table and run the learner. Overridden where a fit needs more than the bins."""
        return self._learn(self._prepare(given), given.checkpoint)

    def _prepare(self, given: FitInput) -> RankingData:
        """The rows of positive weight, binned."""
        return prepare(
            given.table,
            given.y,
            sample_weight=given.sample_weight,
            pos_label=self.pos_label,
            max_bins=self.max_bins,
            categorical_features=self.categorical_features,
            keep_sparse=self._keeps_sparse,
            frequency_weights=self.frequency_weights,
            n_jobs=self.n_jobs,
        )

    def _set_fitted(self, result: FitResult, table: Table, sample_weight: Any = None) -> None:
        """Replace all fitted attributes by those of a new fit. Nothing else sets them."""
        model = result.model
        if isinstance(model, ExplainedModel) and model.needs_reference:
            # Added to another model, whose own reference is of other rows.
            model = model.with_reference(table, sample_weight, TRAINING)
        self._forget()
        self.n_features_in_ = table.n_columns
        if table.has_names:
            self.feature_names_in_ = np.array(table.names, dtype=object)
        # scikit-learn's tools count on sorted classes; ours ask for pos_label_.
        self.classes_ = np.unique(result.classes)
        self.pos_label_ = result.classes[1]
        self.history_, self.certificate_ = result.history, result.certificate
        for name, value in result.attributes.items():
            setattr(self, name, value)
        self.threshold_ = 0.0 if self.threshold == "youden" else float(self.threshold)
        # The threshold is kept in the model too, so that a saved model predicts the same.
        self.model_ = replace(model, threshold=self.threshold_)

    def _forget(self) -> None:
        """Delete the attributes of an earlier fit: not every setting has all of them."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)

    def decision_function(self, X: Any) -> Floats:
        """The score of each row; a larger score means that the positive class is more likely.

        Scores are shifted so that 0 is the threshold with the largest TPR - FPR on the training
        rows.

        Parameters
        ----------
        X : table of shape (n_samples, n_features)
            Columns are matched by name where X and the training table have names.

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        table = self._read(X)
        if isinstance(self.model_, ForestModel | SumModel):
            return self.model_.decision_function(table, n_jobs=getattr(self, "n_jobs", None))
        return self.model_.decision_function(self._for_model(X, table))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row: positive where the score is at or above ``threshold_``.

        By default this is the score with the largest TPR - FPR on the training rows (Youden's
        index), and not a probability of 0.5: where positives are rare, many more rows than the
        positives are flagged. ``threshold_at`` finds the threshold for a false positive rate, a
        number of rows or a cost. Set it by the parameter ``threshold``, or afterwards by
        ``model_.with_threshold``.
        """
        positive = is_flagged(self.decision_function(X), self.threshold_)
        return self.classes_[(positive == (self.classes_[1] == self.pos_label_)).astype(int)]

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, in the order of ``classes_``.

        A logistic function of the score, fitted on the training rows, so that it ranks rows as the
        score does. It tends to be overconfident; for calibrated probabilities wrap the estimator
        in scikit-learn's ``CalibratedClassifierCV``.
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

        It works for additive and linear models, whose score is a sum over the features, for
        forests with the cover of their nodes, by Shapley values, and for sums of such models. The
        average row is stored in the model (``model_.average_row``), so that a row has the same
        explanation on its own, in a table, and from the saved model.

        Parameters
        ----------
        X : array-like, dict, Series or table
            One row, or a table of rows. The keys of a dict or Series are the feature names.

        Returns
        -------
        Explanation or Explanations
            For one row, an explanation that prints as a table, the largest contribution first;
            for a table, an object with ``contributions`` of shape (n_rows, n_terms).

        Examples
        --------
        >>> from auctor import RankBoost
        >>> from auctor.datasets import load_kyphosis
        >>> X, y = load_kyphosis()
        >>> ranker = RankBoost(n_estimators=20).fit(X, y)
        >>> one = ranker.explain(X[0])
        >>> [round(part, 3) for part in (one.base, *one.contributions, one.score)]
        [-0.8, 1.235, -0.139, -0.063, 0.234]
        >>> ranker.explain(X).contributions.shape
        (81, 3)
        """
        check_is_fitted(self)
        explanation: Explanation | Explanations = self.model_.explain(self._read(read_row(X)))
        return explanation

    def threshold_at(self, X: Any, y: Any, **criterion: Any) -> Threshold:
        """The threshold that meets a criterion on labelled rows, with its interval.

        Parameters
        ----------
        X, y
            Labelled rows. On the training rows every rate is too optimistic.
        **criterion
            One of ``fpr``, ``tpr``, ``budget``, ``cost`` and ``precision``, and other arguments of
            :func:`auctor.metrics.threshold_at`. With ``confidence=0.95`` new rows meet the
            criterion in 95 % of cases. ``model_.with_threshold`` returns a model that predicts by
            the threshold.

        Returns
        -------
        Threshold

        Examples
        --------
        >>> from auctor import RankBoost
        >>> from auctor.datasets import load_kyphosis
        >>> X, y = load_kyphosis()
        >>> ranker = RankBoost(n_estimators=20).fit(X, y)
        >>> round(ranker.threshold_at(X, y, fpr=0.1).point.fpr, 3)
        0.062
        >>> round(ranker.threshold_at(X, y, fpr=0.1, confidence=0.95).point.fpr, 3)
        0.031
        """
        check_is_fitted(self)
        return self.model_.threshold_at(self._for_model(X, self._read(X)), y, **criterion)

    def save(
        self,
        path: str | Path,
        X: Any = None,
        y: Any = None,
        *,
        sample_weight: Any = None,
        validation: Any = None,
    ) -> None:
        """Write the fitted model to a JSON file, which :func:`auctor.load` reads.

        With the training rows, ``save(path, X, y)``, the file also remembers them in aggregate, as
        `auctor fit` writes it: counts in bins of each feature and of the score, and no row.
        `auctor score` then warns of new rows that are unlike them, as
        :func:`auctor.models.compare_rows` does in Python.

        The file holds the model, not the parameters of the estimator: the loaded model scores,
        predicts and explains rows as this estimator does, but cannot be fitted again. A model that
        holds estimators of other libraries cannot be saved; pickle such an estimator.

        Parameters
        ----------
        path : str or Path
            The file. After an error no incomplete file is left behind.
        X, y, sample_weight : optional
            The rows of the fit. They are counted, which takes less time than the fit. After
            ``fit_dataset`` give the data set as ``X``, and nothing else.
        validation : CrossValidation, optional
            The result of :func:`auctor.cross_val_auc` on the same rows: the file then has the
            cross-validated AUC and KS with their intervals, and the calibration.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from auctor import RankBoost, load
        >>> ranker = RankBoost().fit([[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1])
        >>> with TemporaryDirectory() as folder:
        ...     ranker.save(f"{folder}/model.json")
        ...     model = load(f"{folder}/model.json")
        >>> model.predict([[1.5], [3.5]]).tolist()
        [0, 1]

        With the training rows the model knows new rows that are unlike them:

        >>> from auctor.datasets import load_kyphosis
        >>> from auctor.models import compare_rows
        >>> X, y = load_kyphosis()
        >>> with TemporaryDirectory() as folder:
        ...     RankBoost().fit(X, y).save(f"{folder}/model.json", X, y)
        ...     model = load(f"{folder}/model.json")
        >>> print(compare_rows(model, [[9000.0, 3.0, 5.0]])[0])
        column 'x0' (35.5% of the importance): 1 of 1 row is above 206, the largest ...
        """
        check_is_fitted(self)
        # Imported here, because other models do not need it.
        from auctor.data.stored.dataset import Dataset

        if isinstance(X, Dataset) and y is None and sample_weight is None and validation is None:
            self._save_with_dataset(path, X)
            return
        if (X is None) != (y is None):
            raise ValueError("only one of X and y is given; give both, or neither")
        if X is None and (sample_weight is not None or validation is not None):
            raise ValueError("sample_weight or validation is given without X and y; give these too")
        model = self.model_
        if X is not None:
            model = recorded_model(self, self._read(X), y, sample_weight, validation)
        model.save(path)

    def _save_with_dataset(self, path: str | Path, dataset: "Dataset") -> None:
        """Write the model with a record of the rows of a data set."""
        from auctor.estimators.dataset_fit import RECORD_BYTES, open_rows

        with open_rows(dataset, self, RECORD_BYTES) as rows:
            model = recorded_model(
                self, rows.table, rows.y, rows.weight, None, target=dataset.target
            )
        model.save(path)

    def _for_model(self, X: Any, table: Table) -> Any:
        """A model that holds estimators of other libraries hands them X as it is."""
        return X if isinstance(self.model_, ScorerModel | StackedModel) else table

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
        """Training and validation rows, stratified; none for validation without ``early_stopping``.

        Copies of a row are held out together.
        """
        if not self.early_stopping:
            return data, None
        if min(data.n_pos, data.n_neg) < 2:
            raise ValueError(
                f"early_stopping is True with {data.n_pos} positive and {data.n_neg} negative "
                "rows; give two rows of each class, or early_stopping=False"
            )
        rng = check_random_state(self.random_state)
        fraction = self.validation_fraction
        held = [_draw(rows, data.copies, fraction, rng) for rows in data.class_rows]
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
    fraction: float,
    rng: np.random.RandomState,
) -> Ints:
    """A fraction of the rows of one class, at least one of them and never all."""
    first, unit = draw_units(copies, rows, 1.0 / fraction)
    size = min(max(1, round(fraction * len(first))), len(first) - 1)
    drawn = rng.choice(first, size=size, replace=False)
    if copies is None:
        return drawn
    return rows[np.isin(first, drawn)[unit]]
