"""The base class of every fitted model: scores, probabilities, predictions and saving."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from auctor._checks import check_number
from auctor._files import write_text_file
from auctor._typing import Floats, Ints
from auctor.data import Category, Table, read_labels, read_table, read_weights, select
from auctor.data.labelled import check_lengths
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
from auctor.models.fields import Fields
from auctor.models.serialization import Calibration, Shared, plain_label, write_model_text
from auctor.models.training_record import TrainingRecord

# Scorecards and the writers of other formats are imported by the methods that need them: scoring
# rows with a saved model does not wait for them.
if TYPE_CHECKING:
    from auctor.models.scorecard.card import Scorecard
    from auctor.models.scorecard.measure import CardRows
    from auctor.models.scorecard.scale import Direction

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
        What the model remembers of its training rows, in aggregate. `auctor fit` and
        ``estimator.save(path, X, y)`` add it to the file; sums and other new models that are made
        of a model do not have it.
    missing_codes : dict
        Name of a feature -> values of it that the model takes as missing, such as (-9, -8).

    Examples
    --------
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = RankBoost(n_estimators=5).fit(X, y).model_
    >>> model.classes, model.feature_names, model.threshold
    ((0, 1), ('x0', 'x1', 'x2'), 0.0)
    >>> model.predict_proba(X[:1]).round(3).tolist()
    [[0.622, 0.378]]
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

    def to_scorecard(
        self,
        *,
        pdo: float = 20.0,
        odds: float = 50.0,
        base_score: float = 600.0,
        direction: "Direction" = "lower_risk",
        digits: int | None = 0,
        max_bins: int | None = None,
        zero: str = "lowest",
        cuts: str = "exact",
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
    ) -> "Scorecard":
        """The model as a scorecard: points for each bin of each feature, to be added up.

        Before rounding and without merging, the points of a row are an affine function of its
        score: ``base_score + factor * ln(odds of the row / odds)``, with the odds of the model's
        calibration and ``factor = pdo / ln(2)``.

        Parameters
        ----------
        pdo : float, default=20
            Points to double the odds.
        odds : float, default=50
            The odds at which a row has ``base_score`` points: those of the negative class (50 good
            rows for each bad one), or of the positive class if ``direction="higher_risk"``.
        base_score : float, default=600
        direction : {"lower_risk", "higher_risk"}, default="lower_risk"
            What more points mean. With "lower_risk", as in credit, points fall as the probability
            of the positive class rises; with "higher_risk", as in medicine, they rise with it.
        digits : int or None, default=0
            Decimals of the points; 0 gives whole points, and None does not round.
        max_bins : int, default=None
            Merge the bins of each feature to at most so many, besides the one for missing values,
            so that the points of the rows change least (in the mean square): neighbouring intervals
            of numbers, and categories of similar points. Columns of a linear model are cut into
            intervals. None keeps the bins, and points for each unit of a linear model.
        zero : {"lowest", "average"}, default="lowest"
            Which bin has 0 points. With "lowest" no bin has negative points, and the base points
            are the lowest possible score; with "average" a feature has 0 points on average over
            the rows. Points for each unit are 0 where the number is 0.
        cuts : {"exact", "short"}, default="exact"
            "exact" keeps the model's cuts to the last digit. "short" moves each cut to the shortest
            decimal between the neighbouring values of ``X``: the given rows keep their points, and
            other rows may change bins only where their value lies between those of the given rows.
        X, y, sample_weight : table and arrays, default=None
            Rows, preferably those of the training. They weigh the bins that are merged and
            rounded; without them the training record of `auctor fit` does, and without a record all
            bins count the same. With the labels ``y`` the card states the AUC that is lost.

        Returns
        -------
        Scorecard
            It scores rows (``score``), explains them (``reasons``), and is saved as JSON, CSV,
            Excel and HTML.

        Examples
        --------
        >>> from auctor import RankBoost
        >>> from auctor.datasets import load_kyphosis
        >>> X, y = load_kyphosis()
        >>> model = RankBoost(n_estimators=50).fit(X, y).model_
        >>> card = model.to_scorecard(max_bins=3, X=X, y=y)
        >>> print(card.quality)  # doctest: +ELLIPSIS
        AUC 0.9... of the card, 0.9... of the model, difference ...
        """
        from auctor.models.scorecard.build import CardOptions, make_scorecard
        from auctor.models.scorecard.scale import PointScale

        options = CardOptions(
            PointScale(pdo, odds, base_score, direction), digits, max_bins, zero, cuts
        ).checked(has_rows=X is not None)
        rows = self._card_rows(X, y, sample_weight)
        return make_scorecard(self.plan(), self.to_json(), self.training, rows, options)

    def _card_rows(self, X: Any, y: Any, sample_weight: Any) -> "CardRows | None":
        """The rows that a scorecard is made with."""
        if X is None:
            for name, given in (("y", y), ("sample_weight", sample_weight)):
                if given is not None:
                    raise ValueError(f"{name} is given without X; give the rows as well")
            return None
        from auctor.models.scorecard.measure import CardRows

        table = self._read(X)
        columns = select(table, self.feature_names, type(self).__name__)
        weight = read_weights(sample_weight, table.n_rows)
        positive = None
        if y is not None:
            positive = read_labels(y, pos_label=self.classes[1]).positive
            check_lengths(table.n_rows, len(positive))
        return CardRows(
            table,
            dict(zip(self.feature_names, columns.tolist(), strict=True)),
            np.ones(table.n_rows) if weight is None else weight,
            self._score(table, columns),
            positive,
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
            "duckdb", "sqlite" and "postgres" are tested with these databases, and "mysql" with
            MariaDB. "bigquery", "databricks", "redshift", "snowflake", "spark" and "trino" are
            written by the package sqlglot; of these only "spark" has been run.
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
        from auctor.models.export.sql import plan_to_sql

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
        from auctor.models.export.script import plan_to_python

        return plan_to_python(self.plan())

    def to_js(self) -> str:
        """The text of a JavaScript file that scores rows in a browser or in Node, without packages.

        Its function ``scoreRow`` takes an object of name -> value and returns an object with the
        score, the probability, the label, and for additive and linear models the contributions, as
        ``explain`` has them. null and NaN are missing values. In Node ``require`` the file; in a
        page the function is ``scoreRow(row, MODEL)``.
        """
        from auctor.models.export.script import plan_to_js

        return plan_to_js(self.plan())

    def to_onnx(
        self,
        path: str | Path | None = None,
        *,
        input_types: str | Mapping[str, str] | None = None,
    ) -> Any:
        """The model as an ONNX graph, which onnxruntime scores rows with.

        The graph computes in float64, and onnxruntime gives the scores of ``decision_function`` bit
        for bit. It needs the ``export`` extra.

        Parameters
        ----------
        path : str or Path, optional
            A file to write the graph to; after an error no incomplete file is left behind.
        input_types : str or dict, optional
            "float32" if numbers come as float32: the score is then that of the rounded number,
            which is in another bin than the number if a threshold lies between the two. A dict
            has the types of single columns by their names: "float64", "float32", "int64" or "bool"
            for a number; "int64", "float64" or "bool" for a category that is a number. By default
            numbers are "float64", and categories have the type of their values.

        Returns
        -------
        onnx.ModelProto
            The inputs are the columns that the score depends on, by their names, each of shape
            [N, 1]. NaN is a missing number. A category that the model does not know counts as a
            missing value, for instance an empty string. The outputs are ``score``, ``probability``
            (of the positive class) and ``label``, of shape [N].

        Examples
        --------
        >>> import numpy as np
        >>> from onnxruntime import InferenceSession
        >>> from auctor import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> model = RankBoost(n_estimators=5).fit(X, y).model_
        >>> session = InferenceSession(model.to_onnx().SerializeToString())
        >>> [column.name for column in session.get_inputs()]
        ['x0']
        >>> score, probability, label = session.run(None, {"x0": np.array(X)})
        >>> bool((score == model.decision_function(X)).all()), label.tolist()
        (True, [0, 1, 0, 1])
        """
        from auctor.models.export.onnx import plan_to_onnx

        return plan_to_onnx(self.plan(), path, input_types)

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
