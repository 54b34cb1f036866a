"""TermModel: models whose score is a sum of terms, which explains each row."""

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
    "this model has no reference to compare a row with: it was saved by a release of auctor that "
    "did not keep one; fit the model again, or give the rows of the fit: "
    "model.with_reference(X).explain(row)"
)


class TermModel(Model):
    """A model whose score is an intercept plus what each of its terms adds.

    Every explanation compares with ``reference``, the average contribution of each term on the
    training rows. It is kept in the model's file, so that a row has the same explanation alone,
    in its table, from an estimator and from a loaded model.
    """

    intercept: float
    reference: Reference | None

    @property
    @abstractmethod
    def term_names(self) -> tuple[str, ...]:
        """Names of all that adds up to a score, each of them once."""

    @abstractmethod
    def _term_features(self) -> list[tuple[int, ...]]:
        """The features that each term looks at."""

    @abstractmethod
    def _term(self, k: int, table: Table, columns: Ints) -> Floats:
        """What term k adds to each row; feature j stands in column ``columns[j]``."""

    @abstractmethod
    def _constant(self, k: int) -> float | None:
        """What term k adds to every row; None where rows differ."""

    @abstractmethod
    def _on_grid(self, averages: Floats) -> Floats:
        """Averages on the grid of the scores, where sums are exact."""

    def contributions(self, X: Any) -> Floats:
        """What each term adds to the score of each row, without the intercept: (rows, terms)."""
        table = read_table(X, accept_sparse=True)
        return self._contributions(table, self._select(table))

    def _contributions(self, table: Table, columns: Ints) -> Floats:
        out = np.zeros((len(self.term_names), table.n_rows))
        for k, line in enumerate(out):
            line[:] = self._term(k, table, columns)
        return out.T

    def _average(self, k: int, table: Table, columns: Ints, share: Floats) -> float:
        """What term k adds on average over rows of these shares."""
        constant = self._constant(k)  # of which wide tables have many
        if constant is not None:
            return constant
        return weighted_mean(self._term(k, table, columns), share)

    def with_reference(
        self, X: Any, sample_weight: Any = None, name: str = "the average of the given rows"
    ) -> Self:
        """The same model, whose explanations compare with the average of these rows.

        Parameters
        ----------
        X : table of any kind
            The rows of the fit, for a model whose file was written by a release that kept no
            reference; or any rows that others are to be compared with.
        sample_weight : array-like of shape (n_rows,), optional
        name : str
            What explanations call the average row.

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
        share = weight / fsum(weight.tolist())
        columns, n_terms = self._select(table), len(self.term_names)
        averages = np.array([self._average(k, table, columns, share) for k in range(n_terms)])
        # mypy takes the fields of the base class for all that there are.
        changed: Self = replace(self, reference=Reference(self._on_grid(averages), name))  # type: ignore[call-arg]
        return changed

    def explain(self, X: Any) -> Explanation | Explanations:
        """What each term adds to a row's score, compared with the average training row.

        Parameters
        ----------
        X : array-like, dict, Series or table
            One row, or a table of many. A dict and a Series have the features' names.

        Returns
        -------
        Explanation or Explanations
            Of one row, an explanation that prints as a table; of many, all of them in one object.

        Examples
        --------
        >>> from auctor import RankBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1]
        >>> model = RankBoost(n_estimators=5).fit(X, y).model_
        >>> one = model.explain([4.0])
        >>> one.base + sum(one.contributions) == one.score
        True
        >>> model.explain(X).contributions.shape
        (4, 1)
        """
        rows = self.explain_rows(read_row(X))
        return rows[0] if len(rows) == 1 else rows

    def explain_rows(self, X: Any) -> Explanations:
        """The explanations of a table's rows, also where it has one row only."""
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
