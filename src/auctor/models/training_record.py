"""TrainingRecord: what a model remembers of its training rows, in aggregate. No row is kept.

The record says what the model was trained on and how good it was on rows that it had not seen. New
rows are compared with it (``auctor.models.new_rows``), and it is the baseline of monitoring: for
each feature the numbers of rows in its bins by class, the same for bands of the score, and measured
metrics. ``auctor.models.read_record`` reads it from a model file.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Category

# In arrays of counts by class, row 0 is the negative class and row 1 the positive class.
NEGATIVE, POSITIVE = 0, 1
# Score bands in tables for people; a record has up to twice as many, which monitoring compares.
N_BANDS = 10


@dataclass(frozen=True, eq=False)
class ColumnSummary:
    """One feature of the training rows.

    Attributes
    ----------
    name : str
    kind : {"number", "category"}
    low, high : float or None
        The smallest and largest number; None for categories, and where every value is missing.
    cuts : ndarray
        Increasing numbers between bins of about equal size; a value equal to a cut is in the bin
        below it. Empty for categories.
    categories : tuple
        The most frequent categories. Empty for numbers.
    n_categories, n_single, n_unknown : int
        The number of different categories, how many of them occur in one row only, and the number
        of rows whose category is too rare to have a bin in the model.
    counts : ndarray of shape (2, n_bins)
        The number of rows of each class in each bin: missing values first, then the bins of
        numbers; or missing values, each of ``categories``, and all other categories.
    importance : float or None
        The fraction of the model's importance that the feature has, where the learner says so.
    weights : ndarray of shape (2, n_bins) or None
        Where rows have weights: the fraction of the weight in each bin, and the sum of the squares
        of such fractions of single rows, by which weighted rows can be compared with these.
    """

    name: str
    kind: Literal["number", "category"]
    counts: Ints
    low: float | None = None
    high: float | None = None
    cuts: Floats = field(default_factory=lambda: np.empty(0))
    categories: tuple[Category, ...] = ()
    n_categories: int = 0
    n_single: int = 0
    n_unknown: int = 0
    importance: float | None = None
    weights: Floats | None = None

    @property
    def is_category(self) -> bool:
        return self.kind == "category"

    @property
    def n_rows(self) -> int:
        """The number of rows that were counted."""
        return int(self.counts.sum())

    @property
    def n_missing(self) -> int:
        """The number of missing values among them."""
        return int(self.counts[:, 0].sum())

    def body(self) -> dict[str, Any]:
        """The summary as plain JSON values."""
        plain: dict[str, Any] = {"name": self.name, "kind": self.kind}
        if self.is_category:
            plain |= {"categories": list(self.categories), "n_categories": self.n_categories}
            plain |= {"n_single": self.n_single, "n_unknown": self.n_unknown}
        else:
            plain |= {"low": self.low, "high": self.high, "cuts": self.cuts.tolist()}
        plain |= {"counts": self.counts.tolist(), "importance": self.importance}
        return plain | _weights_body(self.weights)


@dataclass(frozen=True, eq=False)
class ScoreBands:
    """Bands of the score with about equally many training rows.

    Attributes
    ----------
    cuts : ndarray of shape (n_bands - 1,)
        Increasing scores between the bands; a score equal to a cut is in the band below it.
    counts : ndarray of shape (2, n_bands)
        The number of training rows of each class in each band.
    weights : ndarray of shape (2, n_bands) or None
        As in `ColumnSummary`.
    """

    cuts: Floats
    counts: Ints
    weights: Floats | None = None

    def coarser(self, most: int) -> Ints:
        """The first band of each of at most ``most`` groups of neighbouring bands of similar size.

        Examples
        --------
        >>> bands = ScoreBands(np.arange(7.0), np.array([[4] * 8, [1] * 8]))
        >>> bands.coarser(4).tolist()
        [0, 2, 4, 6]
        """
        below = np.cumsum(self.counts.sum(axis=0))
        wanted = np.arange(1, most) * below[-1] / most
        nearest = np.abs(below[:-1, None] - wanted).argmin(axis=0) if len(self.cuts) else []
        return np.unique(np.array([0, *(k + 1 for k in nearest)]))

    def body(self) -> dict[str, Any]:
        """The bands as plain JSON values."""
        plain = {"cuts": self.cuts.tolist(), "counts": self.counts.tolist()}
        return plain | _weights_body(self.weights)


def _weights_body(weights: Floats | None) -> dict[str, Any]:
    """The weights as a field of the file, which only weighted rows have."""
    return {} if weights is None else {"weights": weights.tolist()}


@dataclass(frozen=True)
class Measured:
    """A metric with its confidence interval."""

    value: float
    low: float
    high: float
    level: float

    def body(self) -> list[float]:
        """The four numbers in order."""
        return [self.value, self.low, self.high, self.level]


@dataclass(frozen=True, eq=False)
class Validation:
    """How good the model was on rows that it had not seen.

    Attributes
    ----------
    kind : str
        "cross-validation" or "holdout".
    description : str
        Which rows: "5 folds", "4 folds in the order of 'month'", or the name of a table.
    metrics : dict
        Name of a metric ("auc", "ks", "p@k:0.1") -> its value with a confidence interval.
    counts : ndarray of shape (2, n_bands)
        The number of rows of each class in each of the model's score bands; out-of-fold scores are
        brought to the scale of the final model first.
    probability : ndarray of shape (n_bands,)
        The mean predicted probability in each band, 0 where no row is: together with ``counts`` it
        is the calibration.
    weights : ndarray of shape (2, n_bands) or None
        As in `ColumnSummary`.
    """

    kind: str
    description: str
    metrics: dict[str, Measured]
    counts: Ints
    probability: Floats
    weights: Floats | None = None

    def body(self) -> dict[str, Any]:
        """The validation as plain JSON values."""
        return {
            "kind": self.kind,
            "description": self.description,
            "metrics": {name: measured.body() for name, measured in self.metrics.items()},
            "counts": self.counts.tolist(),
            "probability": self.probability.tolist(),
            **_weights_body(self.weights),
        }


@dataclass(frozen=True)
class Origin:
    """Where a model comes from; every field may be None or empty.

    Attributes
    ----------
    version : str
        The version of auctor that fitted the model.
    date : str
        When it was fitted, UTC, as "2025-01-31T12:00:00Z".
    learner, parameters, metric : str, dict, str
        The learner, its parameters as JSON values, and the metric that it was trained for.
    target, table, sha256 : str
        The column of the labels, the name of the table, and the SHA-256 of its file.
    """

    version: str | None = None
    date: str | None = None
    learner: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    metric: str | None = None
    target: str | None = None
    table: str | None = None
    sha256: str | None = None

    def body(self) -> dict[str, Any]:
        """The origin as plain JSON values."""
        return dict(vars(self))


@dataclass(frozen=True, eq=False)
class TrainingRecord:
    """What a model remembers of its training, in aggregate: ``model.training``.

    Attributes
    ----------
    origin : Origin
        Learner, parameters, metric, target, table, version and date.
    n_neg, n_pos : int
        The numbers of training rows of each class, not counting rows of weight 0.
    effective_rows : tuple of float
        Kish's effective numbers of negatives and positives, lower where rows have weights.
    columns : tuple of ColumnSummary
        One for each feature of the model; empty for tables of more than 2,000 columns.
    scores : ScoreBands
        Bands of the model's score.
    validations : tuple of Validation
        How good the model was on rows that it had not seen.

    Examples
    --------
    >>> from auctor.models import make_record
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = RankBoost(n_estimators=5).fit(X, y).model_
    >>> record = make_record(model, X, y == 1)
    >>> record.n_rows, record.n_pos, [column.name for column in record.columns]
    (81, 17, ['x0', 'x1', 'x2'])
    """

    origin: Origin
    n_neg: int
    n_pos: int
    effective_rows: tuple[float, float]
    columns: tuple[ColumnSummary, ...]
    scores: ScoreBands
    validations: tuple[Validation, ...] = ()

    @property
    def n_rows(self) -> int:
        return self.n_neg + self.n_pos

    @property
    def has_weights(self) -> bool:
        """Whether the training rows had different weights."""
        return sum(self.effective_rows) < self.n_rows - 1e-6

    def body(self) -> dict[str, Any]:
        """The record as plain JSON values."""
        return {
            "origin": self.origin.body(),
            "n_neg": self.n_neg,
            "n_pos": self.n_pos,
            "effective_rows": list(self.effective_rows),
            "columns": [column.body() for column in self.columns],
            "scores": self.scores.body(),
            "validations": [validation.body() for validation in self.validations],
        }
