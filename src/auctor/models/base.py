"""The base class of every fitted model: scores, probabilities, predictions and saving."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from auctor._checks import check_number
from auctor._files import write_text_file
from auctor._typing import Floats, Ints
from auctor.data import Category, Table, read_table, select
from auctor.data.missing_codes import MissingCodes, RecodedTable
from auctor.metrics.area import auc
from auctor.metrics.thresholds import Threshold, is_flagged, threshold_at
from auctor.models.export.plan import (
    Explained,
    Logistic,
    Lookup,
    Plan,
    Term,
    make_input,
    simplified,
)
from auctor.models.export.script import plan_to_js, plan_to_python
from auctor.models.export.sql import plan_to_sql
from auctor.models.fields import Fields
from auctor.models.serialization import Calibration, Shared, plain_label, write_model_text
from auctor.models.training_record import TrainingRecord

_LARGEST_THRESHOLD = 9e299  # model files hold numbers below 1e300


@dataclass(frozen=True, eq=False)
class Model(ABC):
    """A fitted scoring function. It is immutable, and it scores without its estimator.

    Attributes
    ----------
    classes : tuple
        The labels (negative, positive).
    threshold : float
        Rows whose score is at or above it are predicted to be positive.
    calibration : Calibration
        The logistic function from scores to probabilities.
    training : TrainingRecord or None
        What the model remembers of its training rows, in aggregate. `auctor fit` adds it; sums
        and other new models that are made of a model do not have it.
    missing_codes : dict
        Name of a feature -> values of it that the model takes as missing, such as (-9, -8).
    """

    classes: tuple[Category, Category]  # (negative, positive)
    threshold: float
    calibration: Calibration
    training: TrainingRecord | None = field(default=None, kw_only=True)
    missing_codes: MissingCodes = field(default_factory=dict, kw_only=True)

    form: ClassVar[str]

    @property
    @abstractmethod
    def feature_names(self) -> tuple[str, ...]:
        """The columns that the model was fitted on, in order."""

    @property
    def text_features(self) -> tuple[str, ...]:
        """Features whose categories are text, in which "1" must not be read as a number."""
        return tuple(
            column.name
            for column in self._columns
            if column.is_category and any(isinstance(value, str) for value in column.categories)
        )

    @property
    def _columns(self) -> tuple[Any, ...]:
        """A description of each feature: a `Feature`, or a term of a linear model."""
        columns: tuple[Any, ...] = getattr(self, "features", ())
        return columns

    @abstractmethod
    def _score(self, table: Table, columns: Ints) -> Floats:
        """Score of each row; feature j is column ``columns[j]`` of the table."""

    @abstractmethod
    def body(self) -> dict[str, Any]:
        """The part of the model file that depends on the form, as plain JSON values."""

    @classmethod
    @abstractmethod
    def from_body(cls, fields: Fields, shared: Shared) -> "Model":
        """The model of a file; raises a ValueError that names a field which is wrong."""

    def decision_function(self, X: Any) -> Floats:
        """The score of each row. A larger score means that the row is more likely positive.

        Parameters
        ----------
        X : table
            A numpy array, list of rows, scipy sparse matrix, or pandas, polars or pyarrow table.
            Columns are matched by name if the table has names; columns that the model does not
            know are ignored.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        table = self._read(X)
        return self._score(table, select(table, self.feature_names, type(self).__name__))

    def _read(self, X: Any) -> Table:
        """The rows as a table, in which the values of ``missing_codes`` are missing."""
        table = read_table(X, accept_sparse=True)
        if not self.missing_codes:
            return table
        columns = select(table, self.feature_names, type(self).__name__).tolist()
        named = dict(zip(self.feature_names, columns, strict=True))
        return RecodedTable(table, {named[name]: own for name, own in self.missing_codes.items()})

    def predict_proba(self, X: Any) -> Floats:
        """Calibrated probability of each class, in the order of ``classes``."""
        return self.probabilities(self.decision_function(X))

    def probabilities(self, scores: Floats) -> Floats:
        """Calibrated probability of each class for scores that ``decision_function`` returned."""
        with np.errstate(over="ignore"):  # an infinite z is a probability of 0 or 1
            z = self.calibration.slope * scores + self.calibration.offset
        # Each column by its own formula: 1 - p would lose what is left of a small p.
        return np.column_stack([_logistic(-z), _logistic(z)])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """The class of each row: positive where the score is at or above the threshold.

        ``with_threshold`` returns a model with another one.
        """
        flagged = is_flagged(self.decision_function(X), self.threshold)
        return np.asarray(self.classes)[flagged.astype(int)]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The AUC of the score on labelled rows, as the ``score`` of the estimators."""
        scores = self.decision_function(X)
        return auc(y, scores, sample_weight=sample_weight, pos_label=self.classes[1])

    def threshold_at(self, X: Any, y: Any, **criterion: Any) -> Threshold:
        """The threshold that meets a criterion on labelled rows; see `metrics.threshold_at`.

        Parameters
        ----------
        X, y
            Labelled rows, preferably not those of the fit, on which every rate looks too good.
        **criterion
            One of ``fpr``, ``tpr``, ``budget``, ``cost`` and ``precision``, and other options of
            :func:`auctor.metrics.threshold_at`, such as ``confidence=0.95``.
        """
        return threshold_at(y, self.decision_function(X), pos_label=self.classes[1], **criterion)

    def with_threshold(self, threshold: "Threshold | float") -> Self:
        """A copy of the model with another threshold.

        Parameters
        ----------
        threshold : float or Threshold
            Rows whose score is at or above it are predicted to be positive. A result of
            ``threshold_at`` stands for its value.
        """
        given = threshold.value if isinstance(threshold, Threshold) else threshold
        number = check_number(given, "threshold")
        # Model files have a bound on numbers; beyond it all rows are on the same side anyway.
        return replace(self, threshold=min(max(number, -_LARGEST_THRESHOLD), _LARGEST_THRESHOLD))

    def explain(self, X: Any) -> Any:
        """What each feature adds to the score of each row, for models that can tell.

        These are additive and linear models, forests with the cover of their nodes, and sums of
        such models.
        """
        raise ValueError(
            f"this is a {self.form} model, whose score is not a sum with a term for each feature; "
            "only additive and linear models, forests with the cover of their nodes, and sums of "
            "these explain rows. print(model) shows how this one scores"
        )

    def plan(self) -> Plan:
        """How the model scores one row, as plain data: what all exports are made from.

        Models that cannot be saved as JSON have no plan and raise a ValueError.
        """
        codes = self.missing_codes
        return Plan(
            tuple(make_input(column, codes.get(column.name, ())) for column in self._columns),
            simplified(self._plan_score()),
            self._plan_probability(),
            float(self.threshold),
            (plain_label(self.classes[0]), plain_label(self.classes[1])),
            self._plan_explained(),
        )

    @abstractmethod
    def _plan_score(self) -> Term:
        """The score of a row; input j of the plan is feature j."""

    def _plan_probability(self) -> Logistic | Lookup:
        return Logistic(float(self.calibration.slope), float(self.calibration.offset))

    def _plan_explained(self) -> Explained | None:
        """How scores are explained, for models whose score is a sum of terms."""
        return None

    def to_sql(
        self,
        dialect: str = "duckdb",
        table: str | Sequence[str] = "data",
        *,
        keep: Sequence[str] = (),
        booleans: Sequence[str] = (),
    ) -> str:
        """An SQL query that scores the rows of a table: score, probability and label.

        NULL and NaN are missing values, and so are the values of ``missing_codes``. Categories that
        the model does not know are treated as missing, as the model does. The scores are those of
        ``decision_function``, to the last bit where sums are exact.

        Parameters
        ----------
        dialect : str, default="duckdb"
            "duckdb", "sqlite" and "postgres" are tested with these databases. "bigquery",
            "databricks", "redshift", "snowflake", "spark" and "trino" are written by the package
            sqlglot and have not been run.
        table : str or sequence of str, default="data"
            The name of the table, or of a schema and a table. It has the features as columns.
        keep : sequence of str
            Columns of the table that the result has beside the outputs, such as a key.
        booleans : sequence of str
            Features that are of the type BOOLEAN in the table, which PostgreSQL does not convert
            to numbers by itself.

        Returns
        -------
        str

        Examples
        --------
        >>> from auctor import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
        >>> model = RankBoost(n_estimators=1).fit(X, y).model_
        >>> print(model.to_sql("sqlite", "customers", keep=["id"]))
        WITH "auctor_step_1" AS MATERIALIZED (
        SELECT
          "auctor_source"."id" AS "id",
        ...
        """
        return plan_to_sql(self.plan(), dialect, table, keep, booleans)

    def to_python(self) -> str:
        """The text of a Python module that scores rows and imports nothing but Python's own.

        Its function ``score_row`` takes a dict of name -> value and returns a dict with the score,
        the probability, the label, and for additive and linear models the contributions, as
        ``explain`` has them. None and NaN are missing values.

        Examples
        --------
        >>> from auctor import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
        >>> model = RankBoost(n_estimators=1).fit(X, y).model_
        >>> scorer = {}
        >>> exec(model.to_python(), scorer)
        >>> result = scorer["score_row"]({"x0": 3.5})
        >>> result["label"], [result["score"]] == model.decision_function([[3.5]]).tolist()
        (1, True)
        """
        return plan_to_python(self.plan())

    def to_js(self) -> str:
        """The text of a JavaScript file that scores rows in a browser or in Node, without packages.

        Its function ``scoreRow`` takes an object of name -> value and returns an object with the
        score, the probability, the label, and for additive and linear models the contributions, as
        ``explain`` has them. null and NaN are missing values. In Node ``require`` the file; in a
        page the function is ``scoreRow(row, MODEL)``.
        """
        return plan_to_js(self.plan())

    def save(self, path: str | Path) -> None:
        """Write the model to a JSON file; after an error no incomplete file is left behind."""
        write_text_file(path, self.to_json())

    def to_json(self) -> str:
        """The text of the model's file."""
        shared = Shared(self.classes, self.threshold, self.calibration)
        return write_model_text(self.form, shared, self.body(), self.training, self.missing_codes)


def _logistic(z: Floats) -> Floats:
    # exp of a negative number only, so that nothing overflows
    decayed = np.exp(-np.abs(z))
    return np.where(z >= 0, 1.0, decayed) / (1.0 + decayed)
