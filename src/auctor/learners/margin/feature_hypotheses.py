"""The columns of a table as hypotheses: numbers scaled to [-1, 1], and one for each category.

A missing number is replaced by the mean of its column, and a further hypothesis indicates that it
is missing, so that the effect of a missing value is learned. The columns of a sparse table are not
centred, so that they stay sparse; margins do not depend on the centre.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from auctor._typing import Floats, Ints
from auctor.data import Category, SparseTable, Table
from auctor.data.copies import distinct_rows
from auctor.data.labelled import LabelledRows
from auctor.learners.margin.hypotheses import MatrixHypotheses, vector_times
from auctor.models.linear import LinearTerm

# The matrix is sparse if a smaller fraction of its cells is nonzero, whether the given table was
# dense or sparse, so that both give the same model.
_DENSE = 0.25

# Sums of numbers from _LARGEST on may overflow. A column with a range below _NARROWEST counts as
# constant, because its weight could overflow.
_LARGEST, _NARROWEST = 1e290, 1e-290

Scaling = Literal["features", "words", "columns"]


class Hypothesis(NamedTuple):
    """One column of the matrix: h = factor * x, up to a constant."""

    feature: int
    kind: Literal["number", "category", "missing"]
    code: int = 0  # of a category, from 1 on
    factor: float = 1.0


class FeatureHypotheses(MatrixHypotheses):
    """The hypotheses of a table, and the terms of the linear model that their weights make."""

    def __init__(
        self,
        table: Table,
        rows: LabelledRows,
        categorical: frozenset[int],
        scaling: Scaling = "features",
    ) -> None:
        raw, columns, self._categories = _read(table, rows, categorical)
        if scaling == "words":
            _check_words(raw)
        self._names = table.names
        matrices, counts = [], list[Ints]()
        for mine in (~rows.positive, rows.positive):
            own = np.flatnonzero(mine)
            chosen, weight = distinct_rows(raw[own], rows.weight[own])
            matrices.append(raw[own[chosen]])
            counts.append(weight)
        stack = sparse.vstack if sparse.issparse(raw) else np.vstack
        both: Any = stack(matrices)
        self.counts = np.concatenate(counts)  # whole weights, the negatives first
        both, columns, self._means = _fill_missing(both, self.counts.astype(np.float64), columns)
        both, self.columns = _scale(both, columns, self._names, scaling)
        cut = len(counts[0])
        pairs = zip(counts, rows.row_units, strict=True)
        neg, pos = (np.asarray(count * unit, dtype=np.float64) for count, unit in pairs)
        super().__init__(both[:cut], both[cut:], neg, pos)

    @property
    def names(self) -> list[str]:
        """The name of each hypothesis."""
        return [self._describe(column) for column in self.columns]

    def _describe(self, column: Hypothesis) -> str:
        name = self._names[column.feature]
        if column.kind == "category":
            return f"{name} is {self._categories[column.feature][column.code - 1]}"
        return f"{name} is missing" if column.kind == "missing" else name

    def terms(self, beta: Floats) -> tuple[LinearTerm, ...]:
        """What each column of the table adds to the score."""
        known = [np.zeros(len(self._categories.get(j, (0,)))) for j in range(len(self._names))]
        missing: dict[int, float] = {}
        for column, weight in zip(self.columns, (beta * self._factors + 0.0).tolist(), strict=True):
            if column.kind == "missing":
                missing[column.feature] = weight
            else:
                known[column.feature][max(column.code - 1, 0)] = weight
        return tuple(self._term(j, values, missing.get(j)) for j, values in enumerate(known))

    @property
    def _factors(self) -> Floats:
        return np.array([column.factor for column in self.columns])

    def _term(self, j: int, values: Floats, missing: float | None) -> LinearTerm:
        average = float(
            (values * self._means.get(j, values)).sum()
        )  # without a mean, all values are missing
        if j in self._categories:
            # If no value was missing in training, a missing one adds what the average row has.
            other = average if missing is None else missing
            terms = tuple(values.tolist())
            return LinearTerm(self._names[j], 0.0, other, self._categories[j], terms)
        weight = float(values[0])
        return LinearTerm(self._names[j], weight, average + (missing or 0.0))


def _read(
    table: Table, rows: LabelledRows, categorical: frozenset[int]
) -> tuple[Any, list[Hypothesis], dict[int, tuple[Category, ...]]]:
    """The matrix of the rows with positive weight, with NaN for missing numbers."""
    if isinstance(table, SparseTable):
        return _read_sparse(table, rows, categorical)
    blocks: list[Any] = []
    columns, categories = [], {}
    for j in range(table.n_columns):
        if j in categorical or table.is_text(j):
            block, categories[j] = _one_hot(table, j, rows)
            columns += _of_category(j, len(categories[j]), block.shape[1])
        else:
            numbers = rows.pick(table.numbers(j)) + 0.0  # no negative zero
            block = numbers[:, None]
            columns.append(Hypothesis(j, "number"))
        blocks.append(block)
    filled = sum(b.nnz if sparse.issparse(b) else np.count_nonzero(b) for b in blocks)
    if filled < _DENSE * blocks[0].shape[0] * len(columns):
        whole = sparse.hstack([sparse.csr_array(block) for block in blocks], format="csr")
        return whole, columns, categories
    dense = [block.toarray() if sparse.issparse(block) else block for block in blocks]
    return np.hstack(dense), columns, categories


def _read_sparse(
    table: SparseTable, rows: LabelledRows, categorical: frozenset[int]
) -> tuple[Any, list[Hypothesis], dict[int, tuple[Category, ...]]]:
    """The same for a sparse table: blocks of numbers between columns of categories."""
    table.refuse_infinities()
    blocks: list[Any] = []
    columns: list[Hypothesis] = []
    categories = {}
    first = 0
    for j in [*sorted(categorical), table.n_columns]:
        if j > first:
            blocks.append(rows.pick(sparse.csr_array(table.columns[:, first:j])))
            columns += [Hypothesis(k, "number") for k in range(first, j)]
        if j < table.n_columns:
            block, categories[j] = _one_hot(table, j, rows)
            columns += _of_category(j, len(categories[j]), block.shape[1])
            blocks.append(block)
        first = j + 1
    raw = sparse.hstack(blocks, format="csr")
    raw.eliminate_zeros()
    return _dense_or_sparse(raw), columns, categories


def _of_category(j: int, n_categories: int, width: int) -> list[Hypothesis]:
    """The columns of ``_one_hot``."""
    known = [Hypothesis(j, "category", code) for code in range(1, n_categories + 1)]
    return known + [Hypothesis(j, "missing")] * (width - n_categories)


def _check_words(raw: Any) -> None:
    """Every known value must be 0 or 1."""
    values = raw.data if sparse.issparse(raw) else raw
    is_other = ~(np.isin(values, (0.0, 1.0)) | np.isnan(values))
    if is_other.any():
        raise ValueError(
            f"X has the value {values[is_other].flat[0]:g}, but hypotheses='words' takes columns "
            "of 0 and 1; give hypotheses='features' for columns of any numbers"
        )


def _dense_or_sparse(raw: Any) -> Any:
    return raw if raw.nnz < _DENSE * raw.shape[0] * raw.shape[1] else raw.toarray()


def _one_hot(table: Table, j: int, rows: LabelledRows) -> tuple[Any, tuple[Category, ...]]:
    """A column for each category that occurs, and one for missing values if there are any."""
    categories = table.categories(j)
    places = rows.pick(categories.indices)
    used = sorted(np.unique(places[places >= 0]).tolist(), key=categories.values.__getitem__)
    code = np.full(len(categories.values) + 1, len(used))  # the last entry is for -1, missing
    code[used] = np.arange(len(used))
    column = code[places]
    width = max(int(column.max()) + 1, len(used))
    cells = np.ones(len(places)), (np.arange(len(places)), column)
    block = sparse.csr_array(cells, shape=(len(places), width))
    return block, tuple(categories.values[place] for place in used)


def _fill_missing(
    both: Any, weight: Floats, columns: list[Hypothesis]
) -> tuple[Any, list[Hypothesis], dict[int, Floats]]:
    """Replace missing numbers by the mean, and add columns that indicate them.

    Also returns the mean of each numeric feature and the fraction of each category.
    """
    known, gone = _apart(both)
    there = weight.sum() - vector_times(weight, gone)
    with np.errstate(over="ignore", invalid="ignore"):  # ``_scale`` refuses such columns
        sums = vector_times(weight, known)
    means = np.divide(sums, there, out=np.zeros(len(columns)), where=there > 0)
    means[~np.isfinite(means)] = 0.0  # such a column is refused later; 0 times infinity would warn
    by_feature: dict[int, Floats] = {}
    for mean, column in zip(means.tolist(), columns, strict=True):
        if column.kind != "missing":
            by_feature[column.feature] = np.append(by_feature.get(column.feature, ()), mean)
    with_missing = np.flatnonzero(there < weight.sum())
    if len(with_missing) == 0:
        return known, columns, by_feature
    indicators = [Hypothesis(columns[k].feature, "missing") for k in with_missing.tolist()]
    if sparse.issparse(both):
        filled: Any = known + gone @ sparse.diags_array(means)
        both = sparse.hstack([filled, gone[:, with_missing]], format="csr")
    else:
        both = np.hstack([known + gone * means, gone[:, with_missing]])
    return both, columns + indicators, by_feature


def _apart(both: Any) -> tuple[Any, Any]:
    """The matrix with 0 in place of NaN, and a matrix that is 1 where it was NaN."""
    if not sparse.issparse(both):
        gone = np.isnan(both)
        return np.where(gone, 0.0, both), gone.astype(np.float64)
    is_gone = np.isnan(both.data)
    known, gone = both.copy(), both.copy()
    known.data, gone.data = np.where(is_gone, 0.0, both.data), is_gone.astype(np.float64)
    for matrix in (known, gone):
        matrix.eliminate_zeros()
    return known, gone


def _scale(
    both: Any, columns: list[Hypothesis], names: tuple[str, ...], scaling: Scaling
) -> tuple[Any, list[Hypothesis]]:
    """The columns scaled to a range of 2, without constant columns."""
    low, high = _range(both)
    huge = np.flatnonzero(np.maximum(-low, high) >= _LARGEST)
    if len(huge):
        raise ValueError(
            f"column {names[columns[int(huge[0])].feature]!r} has values of {_LARGEST:g} or more, "
            "too large for a weighted sum; rescale it, or give hypotheses='stumps'"
        )
    outside = np.flatnonzero((low < -1.0) | (high > 1.0))
    if scaling == "columns" and len(outside):
        k = int(outside[0])
        raise ValueError(
            f"column {names[columns[k].feature]!r} has values from {low[k]:g} to {high[k]:g}, but "
            "hypotheses='columns' takes values in [-1, 1]; give hypotheses='features', which "
            "scales them"
        )
    spread = high / 2 - low / 2
    kept = np.flatnonzero(spread > _NARROWEST)
    factor = 1.0 / spread[kept] if scaling == "features" else np.ones(len(kept))
    if sparse.issparse(both):
        scaled: Any = sparse.csr_array(both[:, kept] @ sparse.diags_array(factor))
        scaled.sort_indices()
    else:
        middle = (low[kept] / 2 + high[kept] / 2) if scaling == "features" else 0.0
        scaled = np.ascontiguousarray((both[:, kept] - middle) * factor)
    named = [columns[k]._replace(factor=float(f)) for k, f in zip(kept, factor, strict=True)]
    return scaled, named


def _range(both: Any) -> tuple[Floats, Floats]:
    if not sparse.issparse(both):
        return both.min(axis=0), both.max(axis=0)
    by_column = sparse.csc_array(both)
    low, high = by_column.min(axis=0), by_column.max(axis=0)
    return low.toarray().ravel(), high.toarray().ravel()
