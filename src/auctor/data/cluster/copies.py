"""Copies of rows in a table that is spread over a group: the same as ``data/copies.py`` finds.

Each member is responsible for some of the hashes, and the others send it theirs.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Hashes, Ints
from auctor.data.copies import DROP_BELOW, column_bits, column_salt, reading_order
from auctor.data.group import Group
from auctor.data.table import Table
from auctor.kernels.copies import mix_column
from auctor.kernels.sorting import sorted_hashes


def find_shared_copies(
    table: Table,
    kept: Bools | None,
    positions: Ints,
    positive: Bools,
    categorical: frozenset[int],
) -> Ints | None:
    """The index of the first copy of each row of the whole table, or None if no row has a copy.

    ``positions`` are the indices of this member's kept rows. The result is for all rows of all
    members, as far as there are copies: it takes 8 bytes for each row of the whole table.
    """
    group = table.group
    rows, hashes = _repeated_rows(table, kept, categorical)
    if group.total(len(rows)) == 0:
        return None
    groups = _Sent(group, hashes).ask(_first_copies, positions[rows], positive[rows])
    found = groups >= 0
    if not group.any(bool(found.any())):
        return None
    own = positions.copy()
    own[rows[found]] = groups[found]
    everyone = group.gather((positions, own))
    copies = np.empty(sum(len(indices) for indices, _ in everyone), dtype=np.int64)
    for indices, first in everyone:
        copies[indices] = first
    return copies


def _repeated_rows(
    table: Table, kept: Bools | None, categorical: frozenset[int]
) -> tuple[Ints, Hashes]:
    """The kept rows of this member that equal another row of the whole table, and their hashes."""
    kept_rows = np.arange(table.n_rows) if kept is None else np.flatnonzero(kept)
    rows, hashes = np.arange(len(kept_rows)), np.zeros(len(kept_rows), dtype=np.uint64)
    salts = column_salt(np.arange(table.n_columns))
    for n_read, (j, is_category) in enumerate(reading_order(table, categorical), start=1):
        bits = column_bits(table, j, is_category)[kept_rows][rows]
        mix_column(bits, salts[j], hashes)
        if n_read & (n_read - 1) == 0:
            rows, hashes = _still_repeated(table.group, rows, hashes, DROP_BELOW)
        if table.group.total(len(rows)) == 0:
            break
    return _still_repeated(table.group, rows, hashes)


def _still_repeated(
    group: Group, rows: Ints, hashes: Hashes, max_fraction: float = 1.0
) -> tuple[Ints, Hashes]:
    """The rows whose hash is repeated; all rows if more than ``max_fraction`` of them are."""
    sent = _Sent(group, hashes)
    if not group.any(sent.has_repeated()):  # as in most tables, after one column of numbers
        return rows[:0], hashes[:0]
    again = sent.ask(_is_repeated) > 0
    if group.total(again.sum()) > max_fraction * group.total(len(rows)):
        return rows, hashes
    return rows[again], hashes[again]


class _Columns(NamedTuple):
    """Hashes that one member is responsible for, with what their rows' members have sent."""

    hashes: Hashes
    others: Sequence[npt.NDArray[Any]]


def _is_repeated(columns: _Columns) -> Ints:
    """1 for each hash that occurs more than once."""
    _, group_of, n_times = np.unique(columns.hashes, return_inverse=True, return_counts=True)
    return (n_times[group_of] > 1).astype(np.int64)


def _first_copies(columns: _Columns) -> Ints:
    """For each hash the first position, or -1 where its rows have different labels."""
    position, positive = columns.others
    _, group_of, n_times = np.unique(columns.hashes, return_inverse=True, return_counts=True)
    first = np.full(len(n_times), np.iinfo(np.int64).max)
    np.minimum.at(first, group_of, position)
    n_pos = np.bincount(group_of, positive, minlength=len(n_times))
    is_pure = (n_pos == 0) | (n_pos == n_times)
    return np.where(is_pure, first, -1)[group_of]


class _Sent:
    """Hashes of this member's rows, sent to the members that are responsible for them."""

    def __init__(self, group: Group, hashes: Hashes) -> None:
        self._group, self._hashes = group, hashes
        # The hash is spread evenly: its upper half is divided among the members.
        high = hashes >> np.uint64(32)
        owner = ((high * np.uint64(group.size)) >> np.uint64(32)).astype(np.uint16)  # sorts fast
        self._order = np.argsort(owner, kind="stable")
        self._edges = np.searchsorted(owner[self._order], np.arange(1, group.size))

    def has_repeated(self) -> bool:
        """Whether a hash that this member is responsible for occurs more than once."""
        parts = np.split(self._hashes[self._order], self._edges)
        ordered = sorted_hashes(np.concatenate(self._group.exchange(parts)))
        return bool((ordered[1:] == ordered[:-1]).any())

    def ask(self, answer: Callable[[_Columns], Ints], *others: npt.NDArray[Any]) -> Ints:
        """What the responsible member answers about each row, in the order of the rows."""
        sent = [np.split(array[self._order], self._edges) for array in (self._hashes, *others)]
        received = self._group.exchange(list(zip(*sent, strict=True)))
        joined = [np.concatenate(parts) for parts in zip(*received, strict=True)]
        answers = answer(_Columns(joined[0], joined[1:]))
        ends = np.cumsum([len(parts[0]) for parts in received])[:-1]
        returned = self._group.exchange(np.split(answers, ends))
        out = np.empty(len(self._hashes), dtype=np.int64)
        out[self._order] = np.concatenate(returned)
        return out
