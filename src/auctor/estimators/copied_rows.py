"""Copies among the rows of a table, which cross-validation must keep in one fold."""

from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np

from auctor._typing import Bools, Ints
from auctor.data import read_table
from auctor.data.copies import find_copies, mostly_copies, unit_of_rows


class CopiedRows(NamedTuple):
    """Copies among the rows whose weight is above 0."""

    first: Ints  # for each of these rows: the position of its first copy among them
    positive: Bools  # whether each of these rows is positive
    present: Ints  # the positions of these rows in the table
    n_rows: int  # of the table

    def units(self, n_folds: int) -> Ints:
        """For each row with weight, the first of the rows that go to the same fold.

        A unit is at most half of a fold's rows of its class, so that every fold has at least two
        units of each class, which a confidence interval needs.
        """
        # Inner folds, which only choose between models, use units of at most a quarter of a fold
        # (``draw_units``). With few distinct rows that would let copies leak into the result.
        return unit_of_rows(self.first, self.positive, n_folds / 2)

    def groups(self, n_folds: int) -> Ints | None:
        """The group of each row of the table; None where few rows of each class are copies."""
        units, groups, is_any = self.units(n_folds), np.arange(self.n_rows), False
        for rows in (np.flatnonzero(~self.positive), np.flatnonzero(self.positive)):
            if mostly_copies(self.first, rows):
                groups[self.present[rows]] = self.present[units[rows]]
                is_any = is_any or len(np.unique(units[rows])) < len(rows)
        return groups if is_any else None


def find_copied_rows(X: Any, positive: Bools, weight: Any = None) -> CopiedRows | None:
    """Copies among the rows of a table of any kind; None if there are none.

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
        return None  # auctor cannot read the table, but the estimator may: dates, infinities
    return None if first is None else CopiedRows(first, positive[present], present, len(positive))
