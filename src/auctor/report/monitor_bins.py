"""The rows of monitoring in the bins of a training record, and which bins are tested together."""

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.data import Table, select
from auctor.metrics.stability import Bins
from auctor.models import Model, TrainingRecord
from auctor.models.explanation import shorten
from auctor.models.make_record import band_of
from auctor.models.new_rows import tail_probability
from auctor.models.training_record import ColumnSummary, Validation

# Expected rows of a bin that is tested by itself, in the smaller of the two samples.
_FEWEST = 8.0
# Numbers are tested in so many bins, as is usual for PSI: more of them find less.
_MOST_BINS = 10
# A bin with fewer expected rows is tested by itself if it has grown beyond doubt. This is the
# probability that any bin of an unchanged feature seems to have done so.
_DOUBT = 0.001
_MOST_NEW = 50  # new categories with a bin of their own

Kind = Literal["number", "category", "score"]


@dataclass(frozen=True, eq=False)
class Binned:
    """A feature, or the score: its bins in training, and the bin of every new row.

    Bin 0 has the missing values. Categories that the record does not list have the bin ``rest``,
    except those that are new for sure, which have bins of their own at the end. Only bins with at
    least the fraction ``least`` of all rows are tested by themselves.
    """

    name: str
    kind: Kind
    column: ColumnSummary | None  # None for the score
    reference: Bins
    labels: tuple[str, ...]  # of the bins
    codes: Ints
    rest: int | None = None
    least: float = 0.0

    def count(self, rows: Bools | None, weight: Floats | None) -> Bins:
        """The counts of some of the new rows, or their weights."""
        codes = self.codes if rows is None else self.codes[rows]
        n_bins = len(self.labels)
        if weight is None:
            counts = np.bincount(codes, minlength=n_bins).astype(np.float64)
            return Bins(counts, counts)
        own = weight if rows is None else weight[rows]
        own = own / own.max()
        sums = np.bincount(codes, weights=own, minlength=n_bins).astype(np.float64)
        squares = np.bincount(codes, weights=own**2, minlength=n_bins).astype(np.float64)
        return Bins(sums, squares)


def bin_features(
    model: Model, table: Table, record: TrainingRecord, weighted: bool
) -> list[Binned]:
    """Every feature of the model; ``weighted`` if the new rows have weights."""
    places = select(table, model.feature_names, type(model).__name__).tolist()
    return [
        _bin_category(column, table, j, weighted)
        if column.is_category
        else _bin_numbers(column, table.numbers(j), weighted)
        for column, j in zip(record.columns, places, strict=False)
    ]


def _bin_numbers(column: ColumnSummary, values: Floats, weighted: bool) -> Binned:
    codes = np.where(np.isnan(values), 0, np.searchsorted(column.cuts, values) + 1)
    # A column without any number in training has one bin for all new ones.
    labels = ("missing", *interval_labels(column.cuts))
    reference = _reference(column.counts, column.weights, weighted)
    return Binned(column.name, "number", column, reference, labels, codes)


def _bin_category(column: ColumnSummary, table: Table, j: int, weighted: bool) -> Binned:
    """Categories; those of training and of the new rows have bins in the same way.

    A bin for all categories that are not in the record would be empty in training by definition,
    and would fill up without any change where rare categories are many.
    """
    values, indices = table.categories(j)
    rest = len(column.categories) + 1
    known = {value: k for k, value in enumerate(column.categories, start=1)}
    own = _new_categories(column, list(values), indices)
    known |= {value: k for k, value in enumerate(own, start=rest + 1)}
    code_of = np.array([*(known.get(value, rest) for value in values), 0])  # index -1 is missing
    names = [shorten(str(value)) for value in (*column.categories, *own)]
    labels = ("missing", *names[: rest - 1], "other", *names[rest - 1 :])
    listed = _reference(column.counts, column.weights, weighted)
    none = np.zeros(len(own))
    reference = Bins(*(np.append(part, none) for part in (listed.counts, listed.squares)))
    return Binned(
        column.name,
        "category",
        column,
        reference,
        labels,
        code_of[indices],
        rest,
        _listed_from(column),
    )


def _new_categories(column: ColumnSummary, values: list[Any], indices: Ints) -> list[Any]:
    """The most frequent categories that did not occur in training; none where this is not known."""
    if not _lists_all(column):
        return []
    listed = set(column.categories)
    totals = np.bincount(indices[indices >= 0], minlength=len(values))
    order = np.argsort(-totals, kind="stable").tolist()
    return [values[i] for i in order if totals[i] and values[i] not in listed][:_MOST_NEW]


def _lists_all(column: ColumnSummary) -> bool:
    return column.n_categories <= len(column.categories)


def _listed_from(column: ColumnSummary) -> float:
    """The fraction of the rows from which a category is surely among those of the record.

    The record lists the most frequent categories of the training rows. Among categories of about
    the same frequency, chance has chosen those with more training rows than usual.
    """
    if _lists_all(column):
        return 0.0
    fewest = float(column.counts.sum(axis=0)[1:-1].min())
    return (fewest + 3 * np.sqrt(fewest)) / max(column.n_rows, 1)


def bin_scores(
    record: TrainingRecord, validation: Validation | None, scores: Floats, weighted: bool
) -> Binned:
    """The score in the bands of the record.

    The reference is that of rows which the model had not seen, where there is one: the scores of
    training rows are more extreme than those of new rows.
    """
    source = record.scores if validation is None else validation
    cuts = record.scores.cuts
    none = np.zeros((2, 1))
    counts = np.hstack([none, source.counts])
    weights = None if source.weights is None else np.hstack([none, source.weights])
    reference = _reference(counts, weights, weighted)
    if validation is not None and validation.kind == "cross-validation":
        # The bands are quantiles of the training scores, and the out-of-fold scores are ranks among
        # such scores. Both vary with the training rows, so that their noise counts twice.
        reference = Bins(reference.counts, 2 * reference.squares)
    labels = ("missing", *interval_labels(cuts))
    return Binned("score", "score", None, reference, labels, band_of(scores, cuts) + 1)


def _reference(counts: Any, weights: Floats | None, weighted: bool) -> Bins:
    """The training rows, with their weights where the new rows have weights too."""
    if weighted and weights is not None:
        return Bins(weights[0], weights[1])
    sums = np.asarray(counts).sum(axis=0).astype(np.float64)
    return Bins(sums, sums)


def interval_labels(cuts: Floats) -> list[str]:
    """The bins between cuts, with as few digits, from 4, as tell the cuts apart."""
    texts: list[str] = []
    for digits in range(4, 18):
        texts = [_number_text(cut, digits) for cut in cuts.tolist()]
        if len(set(texts)) == len(texts):
            break
    if not texts:
        return ["all values"]
    middle = [f"{low} to {high}" for low, high in pairwise(texts)]
    return [f"up to {texts[0]}", *middle, f"above {texts[-1]}"]


def _number_text(number: float, digits: int) -> str:
    """A number with some digits; thousands are separated and are no power of ten.

    Examples
    --------
    >>> [_number_text(number, 4) for number in (0.12345, 9999.0, 16674.5, -1e6, 1e12)]
    ['0.1235', '9999', '16,670', '-1,000,000', '1e+12']
    """
    rounded = float(f"{number:.{digits}g}")
    return f"{rounded:,.12g}" if 1e4 <= abs(rounded) < 1e9 else f"{number:.{digits}g}"


def group_bins(binned: Binned, new: Bins) -> Ints:
    """The group of each bin, from 0: bins with few expected rows are tested together.

    Apart from bins that have grown beyond doubt, the groups depend on the sums of both samples
    only. Without a change it is then random which of these rows are the new ones, whatever the
    groups are, so that merging does not disturb the test.
    """
    reference = binned.reference
    sums = reference.effective + new.effective
    fractions = sums / sums.sum()
    least = _FEWEST / min(reference.n_rows, new.n_rows)
    alone = (fractions >= max(least, binned.least)) | _surely_changed(
        reference, new, fractions < least
    )
    if binned.rest is None:
        return _group_numbers(fractions, bool(alone[0]), least)
    alone[binned.rest] = False
    return _group_categories(fractions, alone, least)


def _group_numbers(fractions: Floats, missing_alone: bool, least: float) -> Ints:
    """Neighbouring bins together, up to a tenth of the values; missing values apart.

    A frequent value has a group of its own, and what lies on either side of it needs only the
    fraction ``least``: of a count that is mostly 0, the other values are tested too.
    """
    group = np.zeros(len(fractions), dtype=np.int64)
    body = fractions[1:]
    tenth = max(least, float(body.sum()) / (_MOST_BINS + 0.5))
    index, held, left = int(missing_alone), 0.0, float(body.sum())
    for k, own in enumerate(body.tolist(), start=1):
        if own >= tenth and held >= least:
            index, held = index + 1, 0.0
        group[k] = index
        held, left = held + own, left - own
        if held >= tenth and left >= least:
            index, held = index + 1, 0.0
    return group


def _group_categories(fractions: Floats, alone: Bools, least: float) -> Ints:
    """A group for each frequent category, and one for the rest."""
    group = np.where(alone, np.cumsum(alone) - 1, int(alone.sum()))
    rest = ~alone
    if alone.any() and rest.any() and float(fractions[rest].sum()) < least:
        smallest = np.flatnonzero(alone)[np.argmin(fractions[alone])]
        group[rest] = group[smallest]
    return np.unique(group, return_inverse=True)[1].astype(np.int64)


def _surely_changed(reference: Bins, new: Bins, rare: Bools) -> Bools:
    """Which of the rare bins have many more rows in one sample than by the other's fraction."""
    changed = np.zeros(len(rare), dtype=bool)
    samples = [(bins.effective, bins.n_rows) for bins in (new, reference)]
    for b in np.flatnonzero(rare).tolist():
        for (many, n_many), (few, n_few) in (samples, samples[::-1]):
            k, n, m, before = int(many[b]), int(n_many), int(np.ceil(few[b])), int(n_few)
            if k > _FEWEST / 2 and k / n > m / before:
                changed[b] |= tail_probability(k, n, m, before) < _DOUBT / (2 * len(rare))
    return changed
