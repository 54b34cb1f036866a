"""TermModel: the base class of models whose score is a sum of terms, and can be explained."""

from abc import abstractmethod
from dataclasses import replace
from math import fsum
from typing import Any, Self

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Table, read_table, read_weights, select
from auctor.models.base import Model
from auctor.models.explanation import Explanation, Explanations, Values, read_row
from auctor.models.reference import Reference, weighted_mean

NO_REFERENCE = (
    "this model has no reference to compare a row with, because it was saved by a release of "
    "auctor that did not store one; fit the model again, or give the training rows: "
    "model.with_reference(X).explain(row)"
)


class TermModel(Model):
    """A model whose score is an intercept plus a sum of terms.

    Every explanation compares a row with ``reference``, the average contribution of each term on
    the training rows. The model file holds it, so that a row has the same explanation alone or
    within a table, and from an estimator or a loaded model.
    """

    intercept: float
    reference: Reference | None

    @property
    @abstractmethod
    def term_names(self) -> tuple[str, ...]:
        """Names of the terms of the sum; no name occurs twice."""

    @abstractmethod
    def _term_features(self) -> list[tuple[int, ...]]:
        """The indices of the features that each term depends on."""

    @abstractmethod
    def _term(self, k: int, table: Table, columns: Ints) -> Floats:
        """What term k adds to each row; feature j is column ``columns[j]`` of the table."""

    @abstractmethod
    def _constant(self, k: int) -> float | None:
        """What term k adds to every row, if that is the same for all rows, else None."""

    @abstractmethod
    def _on_grid(self, averages: Floats) -> Floats:
        """Averages rounded to the grid of the scores, on which sums are exact."""

    def contributions(self, X: Any) -> Floats:
        """What each term adds to the score of each row, as an array (rows, terms).

        The sum over a row, plus the intercept, is the score.
        """
        table = read_table(X, accept_sparse=True)
        return self._contributions(table, self._select(table))

    def _contributions(self, table: Table, columns: Ints) -> Floats:
        out = np.zeros((len(self.term_names), table.n_rows))
        for k, term in enumerate(out):
            term[:] = self._term(k, table, columns)
        return out.T

    def _average(self, k: int, table: Table, columns: Ints, row_fraction: Floats) -> float:
        """The average of term k over the rows, whose fractions of the weight are given."""
        constant = self._constant(k)  # saves time in wide tables, most of whose terms are constant
        if constant is not None:
            return constant
        return weighted_mean(self._term(k, table, columns), row_fraction)

    def with_reference(
        self, X: Any, sample_weight: Any = None, name: str = "the average of the given rows"
    ) -> Self:
        """A copy of the model whose explanations compare with the average of these rows.

        Parameters
        ----------
        X : table
            The rows to compare with. For a model file without a reference (written by an early
            release), give the training rows.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows in the average.
        name : str
            The name of the average row in explanations.

        Examples
        --------
        >>> from auctor import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> model = RankBoost(n_estimators=5).fit(X, y).model_
        >>> model.with_reference([[4.0]]).explain([4.0]).contributions
        (0.0,)
        """
        table = read_table(X, accept_sparse=True)
        weight = read_weights(sample_weight, table.n_rows)
        weight = np.ones(table.n_rows) if weight is None else weight
        fraction = weight / fsum(weight.tolist())
        columns, n_terms = self._select(table), len(self.term_names)
        averages = np.array([self._average(k, table, columns, fraction) for k in range(n_terms)])
        # mypy sees only the fields of the base class.
        changed: Self = replace(self, reference=Reference(self._on_grid(averages), name))  # type: ignore[call-arg]
        return changed

    def explain(self, X: Any) -> Explanation | Explanations:
        """What each term adds to the score of a row, compared with the average training row.

        Parameters
        ----------
        X : array-like, dict, Series or table
            One row, or a table of rows. The keys of a dict or Series are the names of features.

        Returns
        -------
        Explanation or Explanations
            For one row an `Explanation`, which prints as a table; for several rows one
            `Explanations` object that holds them all.

        Examples
        --------
        >>> from auctor import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> model = RankBoost(n_estimators=5).fit(X, y).model_
        >>> one = model.explain([4.0])
        >>> print(f"{one.base:.3f} + {sum(one.contributions):.3f} = {one.score:.3f}")
        0.000 + 0.700 = 0.700
        >>> model.explain(X).contributions.shape
        (4, 1)
        """
        rows = self.explain_rows(read_row(X))
        return rows[0] if len(rows) == 1 else rows

    def explain_rows(self, X: Any) -> Explanations:
        """The explanations of the rows of a table, even if it has only one."""
        if self.reference is None:
            raise ValueError(NO_REFERENCE)
        table = read_table(X, accept_sparse=True)
        columns = self._select(table)
        return Explanations(
            self.term_names,
            self._contributions(table, columns) - self.reference.contributions,
            self._score(table, columns),
            float(self.intercept + self.reference.contributions.sum()),
            self.reference,
            self.classes,
            float(self.threshold),
            Values(table, columns, self._columns, self._term_features()),
        )

    def _select(self, table: Table) -> Ints:
        return select(table, self.feature_names, type(self).__name__)
