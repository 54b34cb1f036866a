"""Rows of a table that are copies of each other, for a cross-validation that is not to leak."""

from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from auctor._typing import Bools, Ints
from auctor.data import read_table
from auctor.data.copies import find_copies, mostly_copies, unit_of_rows


class CopiedRows(NamedTuple):
    """Copies among the rows that count, those of weight above zero."""

    first: Ints  # of each row that counts: the place of its first copy among them
    positive: Bools  # of each row that counts
    present: Ints  # the places of these rows in the table
    n_rows: int  # of the table

    def units(self, n_folds: int) -> Ints:
        """For each row that counts the first of those that go to one fold with it.

        No unit is more than half of a fold's rows of its class. So there are at least two units
        of each class in every fold, as many as an interval needs.
        """
        # A quarter of a fold (``draw_units``) is right for inner folds, which only have to choose
        # between models; of few distinct rows it would let the copies leak into the result.
        return unit_of_rows(self.first, self.positive, n_folds / 2)

    def groups(self, n_folds: int) -> Ints | None:
        """For each row of the table what it varies with; None where few rows are copies."""
        units, groups, is_any = self.units(n_folds), np.arange(self.n_rows), False
        for rows in (np.flatnonzero(~self.positive), np.flatnonzero(self.positive)):
            if mostly_copies(self.first, rows):
                groups[self.present[rows]] = self.present[units[rows]]
                is_any = is_any or len(np.unique(units[rows])) < len(rows)
        return groups if is_any else None


def find_copied_rows(X: Any, positive: Bools, weight: Any = None) -> CopiedRows | None:
    """Copies among the rows of a table of any kind; None where there are none.

    Examples
    --------
    >>> X, positive = np.repeat(np.arange(12.0), 2)[:, None], np.arange(24) >= 12
    >>> find_copied_rows(X, positive).groups(n_folds=2).tolist()[:6]
    [0, 0, 2, 2, 4, 4]
    """
    kept = None if weight is None or bool((weight > 0).all()) else weight > 0
    present = np.arange(len(positive)) if kept is None else np.flatnonzero(kept)
    try:
        native = X.to_native() if isinstance(X, nw.DataFrame) else X
        table = read_table(native, accept_sparse=True)
        first = find_copies(table, kept, positive[present])
    except (TypeError, ValueError):
        return None  # what auctor cannot read, the estimator may: dates, texts, infinities
    return None if first is None else CopiedRows(first, positive[present], present, len(positive))
