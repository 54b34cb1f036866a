"""ExplainedModel: the base class of models that say what each feature adds to a row's score."""

from abc import abstractmethod
from dataclasses import replace
from math import fsum
from typing import Any, Self

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Table, read_weights, select
from auctor.models.base import Model
from auctor.models.explanation import Explanation, Explanations, Values, read_row
from auctor.models.reference import Reference, weighted_mean

NO_REFERENCE = (
    "this model has no reference to compare a row with, because it was saved by a release of "
    "auctor that did not store one; fit the model again, or give the training rows: "
    "model.with_reference(X).explain(row)"
)


class ExplainedModel(Model):
    """A model whose score is a constant plus what each of its terms adds.

    Every explanation compares a row with ``average_row``, the average contribution of each term on
    the training rows. It is computed from the model file, so that a row has the same explanation
    alone or within a table, and from an estimator or a loaded model.

    Examples
    --------
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = RankBoost(n_estimators=5).fit(X, y).model_
    >>> model.contributions(X[:2]).round(2).tolist()
    [[0.37, 0.0, 0.0], [0.7, 0.0, -1.07]]
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
    def _contributions(self, table: Table, columns: Ints) -> Floats:
        """What each term adds to each row (rows, terms), as ``contributions`` returns it."""

    def _explain(self, table: Table, columns: Ints) -> tuple[Floats, Floats]:
        """The contributions and the scores, for models that need the scores for the former."""
        return self._contributions(table, columns), self._score(table, columns)

    @abstractmethod
    def _on_grid(self, averages: Floats) -> Floats:
        """Averages rounded to the grid of the scores, on which sums are exact."""

    @property
    def average_row(self) -> Reference | None:
        """What explanations compare a row with; None if the model does not know it."""
        return self.reference

    @property
    def why_unexplained(self) -> str | None:
        """Why this model cannot explain rows, as a sentence; None if it can."""
        return None

    @property
    def needs_reference(self) -> bool:
        """Whether the model can explain rows, but has nothing to compare them with."""
        return self.why_unexplained is None and self.average_row is None

    @property
    def constant(self) -> float:
        """The score of a row to which no term adds anything."""
        return self.intercept

    def contributions(self, X: Any) -> Floats:
        """What each term adds to the score of each row, as an array (rows, terms).

        The sum over a row, plus ``constant``, is the score.
        """
        self._check_explained()
        table = self._read(X)
        return self._contributions(table, self._select(table))

    def _averages(self, table: Table, columns: Ints, row_fraction: Floats) -> Floats:
        """The average of each term over the rows, whose fractions of the weight are given."""
        parts = self._contributions(table, columns)
        return np.array([weighted_mean(part, row_fraction) for part in parts.T])

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
        self._check_explained()
        table = self._read(X)
        weight = read_weights(sample_weight, table.n_rows)
        weight = np.ones(table.n_rows) if weight is None else weight
        fraction = weight / fsum(weight.tolist())
        averages = self._on_grid(self._averages(table, self._select(table), fraction))
        # mypy sees only the fields of the base class.
        changed: Self = replace(self, reference=Reference(averages, name))  # type: ignore[call-arg]
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
        self._check_explained()
        average = self.average_row
        if average is None:
            raise ValueError(NO_REFERENCE)
        table = self._read(X)
        columns = self._select(table)
        contributions, scores = self._explain(table, columns)
        return Explanations(
            self.term_names,
            contributions - average.contributions,
            scores,
            float(self.constant + average.contributions.sum()),
            average,
            self.classes,
            float(self.threshold),
            Values(table, columns, self._columns, self._term_features()),
        )

    def _check_explained(self) -> None:
        if self.why_unexplained is not None:
            raise ValueError(self.why_unexplained)

    def _select(self, table: Table) -> Ints:
        return select(table, self.feature_names, type(self).__name__)


def add_error(contributions: Floats, constant: float, scores: Floats) -> None:
    """Add what is missing to the scores, after rounding, to the largest contribution of each row.

    Examples
    --------
    >>> parts = np.array([[0.5, -2.0]])
    >>> add_error(parts, 1.0, np.array([-0.25]))
    >>> parts.tolist()
    [[0.5, -1.75]]
    """
    largest = np.abs(contributions).argmax(axis=1)
    # Where scores are on no grid, the sum is itself rounded: the second pass adds a last bit.
    for _ in range(2):
        error = scores - (constant + contributions.sum(axis=1))
        contributions[np.arange(len(scores)), largest] += error
