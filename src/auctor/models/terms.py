"""TermModel: the base class of models whose score is an intercept plus a sum of terms."""

from abc import abstractmethod

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Table
from auctor.models.explained import ExplainedModel
from auctor.models.export.plan import Explained, ExplainedTerm, Term
from auctor.models.reference import weighted_mean


class TermModel(ExplainedModel):
    """A model whose score is an intercept plus a sum of terms, each computed on its own.

    ``reference`` has the average of each term over the training rows. The model file holds it.

    Examples
    --------
    >>> from auctor import RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = RankBoost(n_estimators=5).fit(X, y).model_
    >>> model.term_names, model.contributions(X[:1]).shape
    (('x0', 'x1', 'x2'), (1, 3))
    """

    @abstractmethod
    def _term(self, k: int, table: Table, columns: Ints) -> Floats:
        """What term k adds to each row; feature j is column ``columns[j]`` of the table."""

    @abstractmethod
    def _constant(self, k: int) -> float | None:
        """What term k adds to every row, if that is the same for all rows, else None."""

    @abstractmethod
    def _plan_terms(self) -> tuple[Term, ...]:
        """What each term adds to a row, as a term of a plan."""

    def _plan_adds(self, term: Term) -> Term:
        """A term rounded as contributions are."""
        return term

    def _plan_explained(self) -> Explained | None:
        average = self.average_row
        if average is None:
            return None
        terms = zip(
            self.term_names,
            self._term_features(),
            map(self._plan_adds, self._plan_terms()),
            average.contributions.tolist(),
            strict=True,
        )
        base = float(self.constant + average.contributions.sum())
        return Explained(
            average.name, float(self.constant), base, tuple(ExplainedTerm(*term) for term in terms)
        )

    def _contributions(self, table: Table, columns: Ints) -> Floats:
        out = np.zeros((len(self.term_names), table.n_rows))
        for k, term in enumerate(out):
            term[:] = self._term(k, table, columns)
        return out.T

    def _averages(self, table: Table, columns: Ints, row_fraction: Floats) -> Floats:
        terms = range(len(self.term_names))
        return np.array([self._average(k, table, columns, row_fraction) for k in terms])

    def _average(self, k: int, table: Table, columns: Ints, row_fraction: Floats) -> float:
        """The average of term k over the rows, whose fractions of the weight are given."""
        constant = self._constant(k)  # saves time in wide tables, most of whose terms are constant
        if constant is not None:
            return constant
        return weighted_mean(self._term(k, table, columns), row_fraction)
