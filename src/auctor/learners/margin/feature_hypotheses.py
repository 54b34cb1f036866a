"""The columns of a table as hypotheses: numbers scaled to [-1, 1], categories one by one.

Where a number is missing it counts as the mean, and a further hypothesis says that it is: so
what a missing value adds to the score is learned. Most of a sparse table's cells are 0, and stay
so: no constant is taken off its columns, which margins do not see.
"""

from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from auctor._typing import Floats, Ints
from auctor.data import Category, SparseTable, Table
from auctor.data.distinct import distinct_rows
from auctor.data.labelled import LabelledRows
from auctor.learners.margin.hypotheses import MatrixHypotheses, vector_times
from auctor.models.linear import LinearTerm

# Below this share of cells that are not 0 the matrix is kept sparse. What was given, dense or
# sparse, plays no part, so that both give the same model.
_DENSE = 0.25

# Sums of numbers from here on may overflow; a column of a smaller range counts as constant, as
# its weight would.
_LARGEST, _NARROWEST = 1e290, 1e-290

Scaling = Literal["features", "words", "columns"]


class Hypothesis(NamedTuple):
    """One column of the matrix: h = factor * x, up to a constant."""

    feature: int
    kind: Literal["number", "category", "missing"]
    code: int = 0  # of a category, from 1 on
    factor: float = 1.0


class FeatureHypotheses(MatrixHypotheses):
    """Hypotheses read off a table, and the terms of the linear model that their weights make."""

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
            places = np.flatnonzero(mine)
            chosen, weight = distinct_rows(raw[places], rows.weight[places])
            matrices.append(raw[places[chosen]])
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
        """What each hypothesis asks for, in words."""
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
        )  # no means: nothing was ever known
        if j in self._categories:
            # No value of training was missing: then a missing one adds what the average row has.
            other = average if missing is None else missing
            terms = tuple(values.tolist())
            return LinearTerm(self._names[j], 0.0, other, self._categories[j], terms)
        weight = float(values[0])
        return LinearTerm(self._names[j], weight, average + (missing or 0.0))


def _read(
    table: Table, rows: LabelledRows, categorical: frozenset[int]
) -> tuple[Any, list[Hypothesis], dict[int, tuple[Category, ...]]]:
    """The raw matrix of the rows that count, NaN where a number is missing."""
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
    """The same of a sparse table: runs of numbers between columns of categories."""
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
            f"hypotheses='words' takes columns of 0 and 1, found {values[is_other].flat[0]:g}; "
            "hypotheses='features' scales columns of any numbers"
        )


def _dense_or_sparse(raw: Any) -> Any:
    return raw if raw.nnz < _DENSE * raw.shape[0] * raw.shape[1] else raw.toarray()


def _one_hot(table: Table, j: int, rows: LabelledRows) -> tuple[Any, tuple[Category, ...]]:
    """A column for each category that occurs, in order, and one for missing where some are."""
    found = table.categories(j)
    places = rows.pick(found.indices)
    used = sorted(np.unique(places[places >= 0]).tolist(), key=found.values.__getitem__)
    code = np.full(len(found.values) + 1, len(used))  # the last, -1, is for missing
    code[used] = np.arange(len(used))
    column = code[places]
    width = max(int(column.max()) + 1, len(used))
    cells = np.ones(len(places)), (np.arange(len(places)), column)
    block = sparse.csr_array(cells, shape=(len(places), width))
    return block, tuple(found.values[place] for place in used)


def _fill_missing(
    both: Any, weight: Floats, columns: list[Hypothesis]
) -> tuple[Any, list[Hypothesis], dict[int, Floats]]:
    """The mean where a number is missing, with a column that says so.

    Also returns the means of each feature: of a number, or the share of each category.
    """
    known, gone = _apart(both)
    there = weight.sum() - vector_times(weight, gone)
    with np.errstate(over="ignore", invalid="ignore"):  # refused below, in ``_scale``
        sums = vector_times(weight, known)
    means = np.divide(sums, there, out=np.zeros(len(columns)), where=there > 0)
    means[~np.isfinite(means)] = 0.0  # of a column that is refused; 0 times infinity would warn
    by_feature: dict[int, Floats] = {}
    for mean, column in zip(means.tolist(), columns, strict=True):
        if column.kind != "missing":
            by_feature[column.feature] = np.append(by_feature.get(column.feature, ()), mean)
    with_missing = np.flatnonzero(there < weight.sum())
    if len(with_missing) == 0:
        return known, columns, by_feature
    says_so = [Hypothesis(columns[k].feature, "missing") for k in with_missing.tolist()]
    if sparse.issparse(both):
        filled: Any = known + gone @ sparse.diags_array(means)
        both = sparse.hstack([filled, gone[:, with_missing]], format="csr")
    else:
        both = np.hstack([known + gone * means, gone[:, with_missing]])
    return both, columns + says_so, by_feature


def _apart(both: Any) -> tuple[Any, Any]:
    """The matrix with 0 for NaN, and one with 1 there and 0 elsewhere."""
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
    """Columns scaled to a range of 2, without those that are constant."""
    low, high = _range(both)
    huge = np.flatnonzero(np.maximum(-low, high) >= _LARGEST)
    if len(huge):
        raise ValueError(
            f"column {names[columns[int(huge[0])].feature]!r} has values of {_LARGEST:g} or more, "
            "too large for a weighted sum; scale it, or use hypotheses='stumps'"
        )
    outside = np.flatnonzero((low < -1.0) | (high > 1.0))
    if scaling == "columns" and len(outside):
        k = int(outside[0])
        raise ValueError(
            f"hypotheses='columns' takes columns with values in [-1, 1]; column "
            f"{names[columns[k].feature]!r} has values from {low[k]:g} to {high[k]:g}; "
            "hypotheses='features' scales them"
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
