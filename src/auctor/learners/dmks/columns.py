"""The columns of a table for a linear score, and the coefficients that DMKS starts from."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from auctor._text import first_few
from auctor._typing import Floats, Ints
from auctor.data import Table
from auctor.data.labelled import LabelledRows
from auctor.kernels.dmks import Column, Rows
from auctor.learners.dmks.logistic import logistic_coefficients
from auctor.learners.margin.feature_hypotheses import FeatureHypotheses
from auctor.learners.margin.problems import LinearProblem

# Values this small relative to the spread of their column count as 0: no coefficient within the
# limits moves their row by more than rounding error.
_TINY = 2.0**-50


class ScoreColumns(FeatureHypotheses):
    """The columns of a table over its distinct rows, the negatives first.

    Columns of a dense matrix are centred at their median, so that a coefficient that moves does not
    shift all scores past the threshold. (With columns centred at the mean, which a few outliers can
    move far from all other rows, the search ends much earlier.) Columns of a sparse matrix are not
    centred, so that they stay sparse.
    """

    def __init__(self, table: Table, rows: LabelledRows, categorical: frozenset[int]) -> None:
        super().__init__(table, rows, categorical)
        weight, n_neg = self.counts, len(self.weight_neg)
        self.rows = Rows(weight, n_neg, int(weight[:n_neg].sum()), int(weight[n_neg:].sum()))
        # Their sum is the effective number of rows, which the regularisation depends on.
        self.row_weight: Floats = np.asarray(
            weight * rows.without_codes().row_unit, dtype=np.float64
        )
        if sparse.issparse(self._neg):
            self._read_sparse(sparse.csc_array(sparse.vstack([self._neg, self._pos])))
        else:
            self._read_dense(np.asfortranarray(np.vstack([self._neg, self._pos])))
        self.parts = [self._part(j) for j in range(self.count)]

    def _read_dense(self, matrix: Floats) -> None:
        """Centre the columns; their spread is the interquartile range, which ignores outliers."""
        fraction = self.row_weight / self.row_weight.sum()
        self.matrix: Any = matrix
        self.deviation, self.spread = np.empty(self.count), np.empty(self.count)
        for j in range(self.count):
            x = matrix[:, j]
            low, middle, high = _quartiles(x, self.rows.weight)
            x -= middle
            self.deviation[j] = np.sqrt((fraction * (x - (fraction * x).sum()) ** 2).sum())
            self.spread[j] = high - low if high > low else self.deviation[j]
        self._neg, self._pos = matrix[: self.rows.n_neg], matrix[self.rows.n_neg :]  # views

    def _read_sparse(self, matrix: Any) -> None:
        """The same without centring; the spread is the deviation, as most quartiles are 0."""
        matrix.sort_indices()
        fraction = self.row_weight / self.row_weight.sum()
        self.matrix = matrix
        self.deviation = np.empty(self.count)
        for j in range(self.count):
            x, own = _entries(matrix, j)[1], fraction[_entries(matrix, j)[0]]
            mean = (own * x).sum()
            square = (own * (x - mean) ** 2).sum() + (1.0 - own.sum()) * mean**2
            self.deviation[j] = np.sqrt(square)
        self.spread = self.deviation

    def _part(self, j: int) -> Column:
        if sparse.issparse(self.matrix):
            rows, x = _entries(self.matrix, j)
        else:
            rows, x = np.arange(len(self.matrix)), self.matrix[:, j]
        is_large = np.abs(x) > _TINY * self.spread[j]
        return Column(rows[is_large].astype(np.int64), np.ascontiguousarray(x[is_large]))


def _entries(matrix: Any, j: int) -> tuple[npt.NDArray[Any], Floats]:
    """Rows and values of a column of a CSC array."""
    own = slice(matrix.indptr[j], matrix.indptr[j + 1])
    return matrix.indices[own], matrix.data[own]


def _quartiles(x: Floats, weight: Ints) -> list[float]:
    """The values where a quarter, a half and three quarters of the weight are reached."""
    order = np.argsort(x, kind="stable")
    reached = weight[order].cumsum()
    positions = [int(np.searchsorted(4 * reached, k * reached[-1])) for k in (1, 2, 3)]
    return [float(x[order[position]]) for position in positions]


class ColumnProblem(LinearProblem):
    """The columns of a table, and the LinearModel that their coefficients make."""

    hypotheses: ScoreColumns

    def __init__(self, table: Table, rows: LabelledRows, categorical: frozenset[int]) -> None:
        self._table, self._rows = table, rows
        self.hypotheses = ScoreColumns(table, rows, categorical)

    @property
    def labelled(self) -> LabelledRows:
        """The labels and weights of the table's rows."""
        return self._rows

    def training_scores(self, model: Any) -> Floats:
        """The scores of the rows of the table with positive weight."""
        scores: Floats = self._rows.pick(model.decision_function(self._table))
        return scores

    @property
    def units(self) -> Floats:
        """Factors from coefficients of the scaled columns to those of the given columns."""
        return np.array([column.factor for column in self.hypotheses.columns])


def logistic_start(columns: ScoreColumns) -> Floats:
    """Coefficients of a logistic regression on standardised columns, with scikit-learn's penalty.

    It uses the distinct rows, in an order that depends on their values, and a fixed order of
    summation: the result depends neither on the order of the table nor on the machine.
    """
    if columns.count == 0:
        return np.zeros(0)
    positive = np.arange(len(columns.row_weight)) >= columns.rows.n_neg
    beta = logistic_coefficients(_standardised(columns), positive, columns.row_weight)
    return np.asarray(beta / columns.deviation)


def _standardised(columns: ScoreColumns) -> Any:
    """Columns with standard deviation 1; those of a dense matrix also have mean 0."""
    if sparse.issparse(columns.matrix):
        return sparse.csr_array(columns.matrix @ sparse.diags_array(1.0 / columns.deviation))
    fraction = columns.row_weight / columns.row_weight.sum()
    out = columns.matrix / columns.deviation
    for j in range(columns.count):
        out[:, j] -= (fraction * out[:, j]).sum()
    return np.ascontiguousarray(out)


def given_start(coef_init: Any, problem: ColumnProblem) -> Floats:
    """The start from given coefficients, which are in the units of the columns of the table."""
    names = problem.hypotheses.names
    try:
        beta = np.asarray(coef_init, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"coef_init is {coef_init!r}; give 'logistic' or an array of numbers"
        ) from None
    if beta.shape != (len(names),):
        raise ValueError(
            f"coef_init has shape {beta.shape}; give {len(names)} coefficients, one for each of "
            f"{first_few(names, quote=False)} (constant columns have none), or 'logistic'"
        )
    if not np.isfinite(beta).all():
        raise ValueError("coef_init has NaN or infinite coefficients; give finite numbers")
    # KS does not depend on the scale; with a size of 1 no product with a column overflows.
    size = int(np.frexp(np.abs(beta).max(initial=0.0))[1])
    return np.asarray(np.ldexp(beta, -size) / problem.units)
