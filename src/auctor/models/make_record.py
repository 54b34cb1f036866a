"""Make a training record: count the training rows in bins of each feature and of the score."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from auctor._typing import Bools, Floats, Indices, Ints
from auctor.data import Table, read_weights, select
from auctor.kernels.binning import code_numbers, find_cuts
from auctor.models.base import Model
from auctor.models.batches import scores_of_table
from auctor.models.training_record import (
    ColumnSummary,
    Measured,
    Origin,
    ScoreBands,
    TrainingRecord,
    Validation,
)

# Rows that decide the edges of the bins, evenly spaced; all rows are counted in the bins.
_MOST_SORTED = 100_000
_MOST_COLUMNS = 2_000
_N_BINS = 20
_MOST_BINS = 20_000  # of all columns together, so that wide tables have small records
_MOST_CATEGORIES = 50
_N_BANDS = 20
_NO_WEIGHTS = np.empty(0, dtype=np.int64)


def make_record(
    model: Model,
    X: Any,
    positive: Bools,
    sample_weight: Any = None,
    *,
    origin: Origin | None = None,
    importances: Sequence[float] | Floats | None = None,
    scores: Floats | None = None,
) -> TrainingRecord | None:
    """The record of a model's training rows; None for a model that does not know its columns.

    Parameters
    ----------
    model : Model
    X : table
        The training rows, of any kind that the model can score.
    positive : ndarray of bool
        Which rows are positive.
    sample_weight : array-like, default=None
        Rows of weight 0 are left out. The others are counted without weights, and the weights
        in each bin are noted beside the counts.
    origin : Origin, default=None
        Where the model comes from.
    importances : sequence of float, default=None
        The importance of each feature.
    scores : ndarray, default=None
        The scores of the rows, where they are known already.

    Examples
    --------
    >>> from auctor.models import make_record
    >>> from dataclasses import replace
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = RankBoost(n_estimators=20).fit(X, y).model_
    >>> model = replace(model, training=make_record(model, X, y == 1))  # saved with the model
    >>> model.training.n_rows, model.training.columns[0].high
    (81, 206.0)
    """
    kinds, table = model._columns, model._read(X)
    if not kinds:
        return None
    positive = np.asarray(positive, dtype=bool)
    rows = _Rows(positive, read_weights(sample_weight, len(positive)))
    columns: tuple[ColumnSummary, ...] = ()
    if len(kinds) <= _MOST_COLUMNS:
        n_bins = max(1, min(_N_BINS, _MOST_BINS // len(kinds)))
        known = [None] * len(kinds) if importances is None else list(map(float, importances))
        places = select(table, model.feature_names, type(model).__name__).tolist()
        columns = tuple(
            _category_column(kind, table, j, rows, importance)
            if kind.is_category
            else _number_column(kind.name, table, j, rows, n_bins, importance)
            for kind, j, importance in zip(kinds, places, known, strict=True)
        )
    own = scores_of_table(model, table) if scores is None else scores
    bands = _bands(rows.pick(own), rows)
    return TrainingRecord(
        origin=origin or Origin(),
        n_neg=rows.n_neg,
        n_pos=rows.n_pos,
        effective_rows=rows.effective,
        columns=columns,
        scores=bands,
    )


class _Rows:
    """The rows of positive weight."""

    def __init__(self, positive: Bools, weight: Floats | None) -> None:
        kept = None if weight is None or bool((weight > 0).all()) else weight > 0
        self._kept = kept
        self.positive = self.pick(positive)
        self.n_pos = int(np.count_nonzero(self.positive))
        self.n_neg = len(self.positive) - self.n_pos
        self.effective = _effective(positive, weight)
        self.weight = None if weight is None else self.pick(weight)

    def pick(self, values: Any) -> Any:
        """The values of these rows, from one value for each row of the table."""
        return values if self._kept is None else np.ascontiguousarray(values[self._kept])


def _effective(positive: Bools, weight: Floats | None) -> tuple[float, float]:
    """Kish's number of negatives and of positives."""
    if weight is None:
        n_pos = float(np.count_nonzero(positive))
        return len(positive) - n_pos, n_pos
    sums = [weight[~positive], weight[positive]]
    negative, positives = (
        float(w.sum()) ** 2 / float((w * w).sum()) if w.any() else 0.0 for w in sums
    )
    return negative, positives


def _number_column(
    name: str, table: Table, j: int, rows: _Rows, n_bins: int, importance: float | None
) -> ColumnSummary:
    values = rows.pick(table.numbers(j))
    # fmin and fmax pass over missing values.
    low, high = (float(end.reduce(values)) for end in (np.fmin, np.fmax))
    if np.isnan(low):
        empty = np.zeros(len(values), dtype=np.intp)
        counts, weights = _class_counts(empty, rows.positive, 2), _weights(empty, rows.weight, 2)
        return ColumnSummary(name, "number", counts, importance=importance, weights=weights)
    cuts = _cuts(values, n_bins)
    codes = np.empty(len(values), dtype=np.uint8)
    code_numbers(values, cuts, rows.positive, rows.n_pos, codes)
    parts = (codes[rows.n_pos :], codes[: rows.n_pos])
    counts = np.array([np.bincount(part, minlength=len(cuts) + 2) for part in parts])
    weights = None
    if rows.weight is not None:
        own = np.where(np.isnan(values), 0, np.searchsorted(cuts, values) + 1)
        weights = _weights(own, rows.weight, len(cuts) + 2)
    return ColumnSummary(
        name, "number", counts, low, high, cuts, importance=importance, weights=weights
    )


def _cuts(values: Floats, n_bins: int) -> Floats:
    """Cuts between bins of about equal size; missing values do not count."""
    n = len(values)
    if n > _MOST_SORTED:
        values = values[np.linspace(0, n - 1, _MOST_SORTED).astype(np.intp)]
    ordered = np.sort(values)
    return find_cuts(ordered[: np.searchsorted(ordered, np.nan)], _NO_WEIGHTS, n_bins)


def _category_column(
    kind: Any, table: Table, j: int, rows: _Rows, importance: float | None
) -> ColumnSummary:
    values, indices = table.categories(j)
    indices = rows.pick(indices)
    totals = np.bincount(indices[indices >= 0], minlength=len(values))
    present = np.flatnonzero(totals)
    frequent = present[np.argsort(-totals[present], kind="stable")][:_MOST_CATEGORIES]
    # Index -1, a missing value, refers to the last entry.
    code_of = np.full(len(values) + 1, len(frequent) + 1)
    code_of[frequent] = np.arange(1, len(frequent) + 1)
    code_of[-1] = 0
    known = set(kind.categories)
    unknown = [i for i in present.tolist() if values[i] not in known]
    return ColumnSummary(
        kind.name,
        "category",
        _class_counts(code_of[indices], rows.positive, len(frequent) + 2),
        categories=tuple(values[i] for i in frequent.tolist()),
        n_categories=len(present),
        n_single=int(np.count_nonzero(totals == 1)),
        n_unknown=int(totals[unknown].sum()),
        importance=importance,
        weights=_weights(code_of[indices], rows.weight, len(frequent) + 2),
    )


def _bands(scores: Floats, rows: _Rows) -> ScoreBands:
    cuts = _cuts(scores, _N_BANDS)
    band, n_bands = band_of(scores, cuts), len(cuts) + 1
    counts = _class_counts(band, rows.positive, n_bands)
    return ScoreBands(cuts, counts, _weights(band, rows.weight, n_bands))


def _weights(codes: Any, weight: Floats | None, n_codes: int) -> Floats | None:
    """The fraction of the weight in each bin, and the sum of its rows' squared fractions."""
    if weight is None or bool((weight == weight[0]).all()):
        return None
    fraction = weight / weight.sum()
    sums = [np.bincount(codes, weights=part, minlength=n_codes) for part in (fraction, fraction**2)]
    # The last digits say nothing here and make the file longer.
    return np.array([[float(f"{value:.9g}") for value in part.tolist()] for part in sums])


def band_of(scores: Floats, cuts: Floats) -> Indices:
    """The band of each score; a score equal to a cut is in the band below it."""
    return np.searchsorted(cuts, scores)


def _class_counts(codes: Any, positive: Bools, n_codes: int) -> Ints:
    """The number of rows of each code, of the negatives and of the positives."""
    parts = (codes[~positive], codes[positive])
    return np.array([np.bincount(part, minlength=n_codes) for part in parts], dtype=np.int64)


def make_validation(
    model: Model,
    record: TrainingRecord,
    scores: Floats,
    positive: Bools,
    metrics: dict[str, Measured],
    *,
    kind: str,
    description: str,
    weight: Floats | None = None,
) -> Validation:
    """How good a model was on rows that it had not seen; ``scores`` are on the model's scale.

    ``weight`` has the weights of the rows, all above 0.
    """
    band = band_of(scores, record.scores.cuts)
    n_bands = len(record.scores.cuts) + 1
    counts = _class_counts(band, positive, n_bands)
    total = np.bincount(band, weights=model.probabilities(scores)[:, 1], minlength=n_bands)
    probability = np.clip(total / np.maximum(counts.sum(axis=0), 1), 0.0, 1.0)
    # Exponentials differ between processors in the last digits, which say nothing here.
    weights = _weights(band, weight, n_bands)
    return Validation(kind, description, metrics, counts, np.round(probability, 9), weights)
