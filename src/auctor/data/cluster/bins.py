"""Cuts and centres of numbers that are spread over a group, the same as those of one process.

Each member gets one range of the distinct values of a column with their weights
(``sorted_line``). Where a bin ends depends on where the bins before it end, so that the members
find the cuts of their ranges one after the other, each beginning where the one before it stopped.
A member does not pass over its values for that: it looks up in cumulative weights where the next
bin is full. ``kernels/binning.py`` explains the rules; all arithmetic is in whole numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.data.cluster.sorted_line import Line, share_lines
from auctor.data.group import Group


class Bins(NamedTuple):
    """The cuts of a column, and the median of each bin."""

    cuts: Floats
    centres: Floats


def find_bins(group: Group, lines: Sequence[Line], max_bins: int) -> list[Bins]:
    """The bins of several columns, from each member's values and weights of them.

    Examples
    --------
    >>> line = Line(np.array([1.0, 2.0, 5.0]), np.array([[1, 1, 2]]))
    >>> find_bins(Group(), [line], 2)
    [Bins(cuts=array([3.5]), centres=array([1., 5.]))]
    """
    columns = [_Column(own.values, own.counts[0]) for own in share_lines(group, lines)]
    _set_heavy_apart(group, columns, max_bins)
    _find_neighbours(group, columns)
    states = [_State(max_bins, column) for column in columns]
    for rank in range(group.size):
        if rank == group.rank:
            for state, column in zip(states, columns, strict=True):
                state.pass_over(column)
        states = group.gather(states if rank == group.rank else None)[rank]
    cuts = [np.array(state.cuts) for state in states]
    return [Bins(*both) for both in zip(cuts, _find_centres(group, columns, cuts), strict=True)]


@dataclass(eq=False)
class _Column:
    """A range of the distinct values of a column, and what is known of all of them."""

    values: Floats
    weight: Ints
    heavy: Bools = field(init=False)  # values that have a bin of their own
    n_heavy: int = 0  # of all members, as are the next two
    stretches: int = 0  # runs of light values that follow a heavy one
    light: int = 0
    next_value: float = np.nan  # the first value of the next range
    next_heavy: bool = False

    def __post_init__(self) -> None:
        self.reached = np.cumsum(self.weight)
        self.heavy = np.ones(len(self.values), dtype=np.bool_)

    @property
    def total(self) -> int:
        return int(self.reached[-1]) if len(self.reached) else 0


class _Counts(NamedTuple):
    """What a member counts in its range of a column."""

    n_heavy: int
    light: int
    stretches: int
    ends: tuple[bool, bool] | None  # whether the first and the last value are heavy


def _set_heavy_apart(group: Group, columns: Sequence[_Column], max_bins: int) -> None:
    """Find the heavy values of each column, as ``_set_heavy_apart`` of kernels/binning.py does.

    A column with at most ``max_bins`` values has a bin for each: all are heavy, and nothing else
    need be known of it.
    """
    sizes = group.gather([(len(column.values), column.total) for column in columns])
    n_values, totals = np.sum(sizes, axis=0, dtype=np.int64).reshape(-1, 2).T
    open_columns = [j for j in range(len(columns)) if n_values[j] > max_bins]
    for j in open_columns:
        columns[j].light = int(totals[j])
    while open_columns:
        # The same for all members, like all counts that decide here.
        bins = [max_bins - columns[j].n_heavy for j in open_columns]
        for j, left in zip(open_columns, bins, strict=True):
            columns[j].heavy = columns[j].weight >= -(-columns[j].light // left)
        found = group.gather([_count(columns[j]) for j in open_columns])
        still_open = []
        for i, j in enumerate(open_columns):
            column, before = columns[j], columns[j].n_heavy
            own = [counts[i] for counts in found]
            column.n_heavy = sum(counts.n_heavy for counts in own)
            column.light = sum(counts.light for counts in own)
            column.stretches = _count_stretches(own)
            if column.n_heavy > before:
                still_open.append(j)
        open_columns = still_open


def _count(column: _Column) -> _Counts:
    heavy = column.heavy
    ends = (bool(heavy[0]), bool(heavy[-1])) if len(heavy) else None
    return _Counts(
        int(heavy.sum()),
        int(column.weight[~heavy].sum()),
        int((heavy[:-1] & ~heavy[1:]).sum()),
        ends,
    )


def _count_stretches(found: Sequence[_Counts]) -> int:
    """Runs of light values after a heavy one, also those that begin with a new range."""
    ends = [counts.ends for counts in found if counts.ends is not None]
    across = sum(last and not first for (_, last), (first, _) in pairwise(ends))
    return across + sum(counts.stretches for counts in found)


def _find_neighbours(group: Group, columns: Sequence[_Column]) -> None:
    """The first value after each member's range, and whether it is heavy; NaN if there is none."""
    firsts = group.gather(
        [(float(c.values[0]), bool(c.heavy[0])) if len(c.values) else None for c in columns]
    )
    for j, column in enumerate(columns):
        after = [own[j] for own in firsts[group.rank + 1 :] if own[j] is not None]
        if after:
            column.next_value, column.next_heavy = after[0]


class _State:
    """The cuts so far, and what is left: the variables of ``find_cuts`` in kernels/binning.py."""

    def __init__(self, max_bins: int, column: _Column) -> None:
        self.cuts: list[float] = []
        self.bins = max_bins  # number of bins left, including the open one
        self.held = 0  # light weight in the open bin
        self.light = column.light  # light weight from this bin on
        self.heavy_left, self.stretches_left = column.n_heavy, column.stretches

    def pass_over(self, column: _Column) -> None:
        """Find the cuts in one range of values."""
        has_next = not np.isnan(column.next_value)
        heavy_at = [*np.flatnonzero(column.heavy).tolist(), len(column.values)]
        start = 0
        for at in heavy_at:
            ends_range = at == len(column.values)
            if at > start:
                self._pass_light(column, start, at, column.next_heavy if ends_range else True)
            if ends_range or (at + 1 == len(column.values) and not has_next):
                break
            self._pass_heavy(column, at)
            start = at + 1

    def _pass_heavy(self, column: _Column, at: int) -> None:
        inside = at + 1 < len(column.values)
        heavy_next = bool(column.heavy[at + 1]) if inside else column.next_heavy
        self.heavy_left -= 1
        self.stretches_left -= not heavy_next
        if self.bins > 1:
            self._close(column, at)

    def _pass_light(self, column: _Column, start: int, stop: int, heavy_next: bool) -> None:
        """Values start..stop, all of them light; ``heavy_next`` is whether the next one is."""
        is_last = stop == len(column.values) and np.isnan(column.next_value)
        # The last value before a heavy one has its own rule, and the last of all closes no bin.
        plain_stop = stop - 1 if heavy_next or is_last else stop
        while start < plain_stop:
            before = int(column.reached[start - 1]) if start else 0
            end = plain_stop
            if self.bins > 1 + self.heavy_left + self.stretches_left:
                full = -(-self.light // (self.bins - self.heavy_left))
                end = int(np.searchsorted(column.reached, before + full - self.held))
                end = max(end, start)
            is_full = end < plain_stop
            end = min(end, plain_stop - 1)
            self.held += int(column.reached[end]) - before
            if is_full:
                self._close(column, end)
            start = end + 1
        if plain_stop < stop and not is_last:
            self.held += int(column.weight[stop - 1])
            if self.bins > self.heavy_left:
                self._close(column, stop - 1)

    def _close(self, column: _Column, at: int) -> None:
        """End the open bin after the value at an index."""
        inside = at + 1 < len(column.values)
        high = float(column.values[at + 1]) if inside else column.next_value
        self.cuts.append(_midpoint(float(column.values[at]), high))
        self.bins -= 1
        self.light -= self.held
        self.held = 0


def _midpoint(low: float, high: float) -> float:
    """A cut with low <= cut < high, the same as in kernels/binning.py."""
    cut = low / 2 + high / 2
    return cut if low <= cut < high else low


def _find_centres(group: Group, columns: Sequence[_Column], cuts: Sequence[Floats]) -> list[Floats]:
    """The lower weighted median of each bin; 0 for a bin without rows."""
    own = [_bin_weights(*both) for both in zip(columns, cuts, strict=True)]
    gathered = group.gather(own)
    found = []
    for j, (column, cut) in enumerate(zip(columns, cuts, strict=True)):
        weights = np.array([members[j] for members in gathered])
        found.append(_own_centres(column, cut, weights, group.rank))
    everyone = group.gather(found)
    return [np.sum([members[j] for members in everyone], axis=0) for j in range(len(columns))]


def _bin_weights(column: _Column, cuts: Floats) -> Ints:
    """The weight of a member's values in each bin."""
    stops = np.append(np.searchsorted(column.values, cuts, side="right"), len(column.values))
    reached = np.concatenate([[0], column.reached])[stops]
    return np.diff(reached, prepend=0)


def _own_centres(column: _Column, cuts: Floats, weights: Ints, rank: int) -> Floats:
    """The centres of the bins whose median is among this member's values; 0 for the others."""
    before, own = weights[:rank].sum(axis=0), weights[rank]
    total = weights.sum(axis=0)
    is_here = (2 * before < total) & (total <= 2 * (before + own))
    starts = np.searchsorted(column.values, cuts, side="right")
    reached = np.concatenate([[0], column.reached])[np.concatenate([[0], starts])]
    # The first value up to which half of the bin's weight is reached.
    half = reached + (total + 1) // 2 - before
    at = np.minimum(np.searchsorted(column.reached, half), max(len(column.values) - 1, 0))
    centres = np.zeros(len(cuts) + 1)
    centres[is_here] = column.values[at[is_here]]
    return centres
