"""A table as the columns of a linear score, and the coefficients that DMKS starts from."""

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from auctor._typing import Floats, Ints
from auctor.data import Table
from auctor.data.labelled import LabelledRows
from auctor.kernels.dmks import Column, Rows
from auctor.learners.dmks.logistic import fit_logistic
from auctor.learners.margin.feature_hypotheses import FeatureHypotheses
from auctor.learners.margin.problems import LinearProblem

# Values this small beside the spread of their column count as 0: no coefficient that is allowed
# moves their row by more than rounding.
_TINY = 2.0**-50


class ScoreColumns(FeatureHypotheses):
    """The columns of a table over its distinct rows, the negatives first.

    Columns of a dense matrix have median 0: a coefficient that moves then turns the score about
    the middle of its column and does not shift all scores past the threshold. (About the mean,
    which a few outliers can put far from all other rows, the climb ends much earlier.) Those of
    a sparse matrix stay 0 where they are 0.
    """

    def __init__(self, table: Table, rows: LabelledRows, categorical: frozenset[int]) -> None:
        super().__init__(table, rows, categorical)
        weight, n_neg = self.counts, len(self.weight_neg)
        self.rows = Rows(weight, n_neg, int(weight[:n_neg].sum()), int(weight[n_neg:].sum()))
        # They add up to the effective number of rows, which regularisation is measured by.
        self.row_weight: Floats = np.asarray(
            weight * rows.without_codes().row_unit, dtype=np.float64
        )
        if sparse.issparse(self._neg):
            self._read_sparse(sparse.csc_array(sparse.vstack([self._neg, self._pos])))
        else:
            self._read_dense(np.asfortranarray(np.vstack([self._neg, self._pos])))
        self.parts = [self._part(j) for j in range(self.count)]

    def _read_dense(self, matrix: Floats) -> None:
        """Centre the columns; how wide they are is seen by their middle half, not by outliers."""
        share = self.row_weight / self.row_weight.sum()
        self.matrix: Any = matrix
        self.deviation, self.spread = np.empty(self.count), np.empty(self.count)
        for j in range(self.count):
            x = matrix[:, j]
            low, middle, high = _quartiles(x, self.rows.weight)
            x -= middle
            self.deviation[j] = np.sqrt((share * (x - (share * x).sum()) ** 2).sum())
            self.spread[j] = high - low if high > low else self.deviation[j]
        self._neg, self._pos = matrix[: self.rows.n_neg], matrix[self.rows.n_neg :]  # views

    def _read_sparse(self, matrix: Any) -> None:
        """The same, nothing centred; the middle half of most columns is all 0."""
        matrix.sort_indices()
        share = self.row_weight / self.row_weight.sum()
        self.matrix = matrix
        self.deviation = np.empty(self.count)
        for j in range(self.count):
            x, own = _entries(matrix, j)[1], share[_entries(matrix, j)[0]]
            mean = (own * x).sum()
            square = (own * (x - mean) ** 2).sum() + (1.0 - own.sum()) * mean**2
            self.deviation[j] = np.sqrt(square)
        self.spread = self.deviation

    def _part(self, j: int) -> Column:
        if sparse.issparse(self.matrix):
            place, x = _entries(self.matrix, j)
        else:
            place, x = np.arange(len(self.matrix)), self.matrix[:, j]
        is_large = np.abs(x) > _TINY * self.spread[j]
        return Column(place[is_large].astype(np.int64), np.ascontiguousarray(x[is_large]))


def _entries(matrix: Any, j: int) -> tuple[npt.NDArray[Any], Floats]:
    """Rows and values of a column of a CSC array."""
    own = slice(matrix.indptr[j], matrix.indptr[j + 1])
    return matrix.indices[own], matrix.data[own]


def _quartiles(x: Floats, weight: Ints) -> list[float]:
    """The values where a quarter, a half and three quarters of the weight are reached."""
    order = np.argsort(x, kind="stable")
    reached = weight[order].cumsum()
    places = [int(np.searchsorted(4 * reached, k * reached[-1])) for k in (1, 2, 3)]
    return [float(x[order[place]]) for place in places]


class ColumnProblem(LinearProblem):
    """Columns of a table whose coefficients become a LinearModel."""

    hypotheses: ScoreColumns

    def __init__(self, table: Table, rows: LabelledRows, categorical: frozenset[int]) -> None:
        self._table, self._rows = table, rows
        self.hypotheses = ScoreColumns(table, rows, categorical)

    @property
    def labelled(self) -> LabelledRows:
        """The labels and weights of the table's rows."""
        return self._rows

    def training_scores(self, model: Any) -> Floats:
        """What the model says of the table's rows that count."""
        scores: Floats = self._rows.pick(model.decision_function(self._table))
        return scores

    @property
    def units(self) -> Floats:
        """From a coefficient of a scaled column to that of the column as it is given."""
        return np.array([column.factor for column in self.hypotheses.columns])


def logistic_start(columns: ScoreColumns) -> Floats:
    """Coefficients of a logistic regression on standardised columns, with scikit-learn's penalty.

    It sees the distinct rows in their own order and adds up in a fixed order: neither the order of
    the table nor the machine can show.
    """
    if columns.count == 0:
        return np.zeros(0)
    positive = np.arange(len(columns.row_weight)) >= columns.rows.n_neg
    beta = fit_logistic(_standardised(columns), positive, columns.row_weight)
    return np.asarray(beta / columns.deviation)


def _standardised(columns: ScoreColumns) -> Any:
    """Columns of deviation 1; those of a dense matrix have mean 0, too."""
    if sparse.issparse(columns.matrix):
        return sparse.csr_array(columns.matrix @ sparse.diags_array(1.0 / columns.deviation))
    share = columns.row_weight / columns.row_weight.sum()
    out = columns.matrix / columns.deviation
    for j in range(columns.count):
        out[:, j] -= (share * out[:, j]).sum()
    return np.ascontiguousarray(out)


def given_start(init: Any, problem: ColumnProblem) -> Floats:
    """Coefficients that were given, in the units of the table's columns."""
    names = problem.hypotheses.names
    try:
        beta = np.asarray(init, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"init is {init!r}; give 'logistic' or an array of numbers") from None
    if beta.shape != (len(names),):
        shown = ", ".join(names[:5]) + (", ..." if names[5:] else "")
        raise ValueError(
            f"init has shape {beta.shape}; {len(names)} coefficients are wanted, one for each of "
            f"{shown} (a column that is constant has none), or 'logistic'"
        )
    if not np.isfinite(beta).all():
        raise ValueError("init has NaN or infinite coefficients; give finite numbers")
    # KS does not see the scale: at a size of 1 no product with a column can overflow.
    size = int(np.frexp(np.abs(beta).max(initial=0.0))[1])
    return np.asarray(np.ldexp(beta, -size) / problem.units)
