"""Values of all members of a group in order: each member gets one range of them.

Members choose the ends of the ranges from samples of their values, so that the ranges have about
equal numbers of values, and send each other the values of their ranges. A value is in one range
only, with the sum of its counts over all rows. Much as in a merge sort, the work and the memory of
a member do not depend on how many members there are.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data.group import Group
from auctor.kernels.arrays import read_only
from auctor.kernels.sorted_values import count_runs, merge_values

# Samples of a member for each range: more make the ranges more even.
_SAMPLES = 4


class Line(NamedTuple):
    """Distinct values in ascending order, and what was counted at each."""

    values: Floats
    counts: Ints  # (kinds of counts, values)


def count_values(values: Floats, counts: Ints) -> Line:
    """The distinct values with the sums of their counts (kinds of counts, values); 0 for -0.

    Examples
    --------
    >>> line = count_values(np.array([2.0, 1.0, 2.0]), np.array([[1, 1, 3]]))
    >>> line.values.tolist(), line.counts.tolist()
    ([1.0, 2.0], [[1, 4]])
    """
    order = np.argsort(values, kind="stable")
    values = values[order] + 0.0
    if len(values) == 0:
        return Line(values, np.zeros((len(counts), 0), dtype=np.int64))
    first = np.flatnonzero(np.concatenate([[True], values[1:] != values[:-1]]))
    sums = np.add.reduceat(counts[:, order].astype(np.int64, copy=False), first, axis=1)
    return Line(values[first], sums)


def count_sorted(ordered: Floats) -> Line:
    """The distinct values of a sorted column without NaN, and how often each occurs.

    Examples
    --------
    >>> count_sorted(np.array([1.0, 2.0, 2.0])).counts.tolist()
    [[1, 2]]
    """
    values, counts = np.empty(len(ordered)), np.empty(len(ordered), dtype=np.int64)
    size = count_runs(ordered, values, counts)
    return Line(values[:size] + 0.0, counts[None, :size])


def share_lines(group: Group, lines: Sequence[Line]) -> list[Line]:
    """This member's range of each line: ranges ascend with the rank and are the whole together."""
    if group.size == 1:
        return list(lines)
    samples = group.gather([_sample(line.values, group.size) for line in lines])
    sent: list[list[Line]] = [[] for _ in range(group.size)]
    for j, (values, counts) in enumerate(lines):
        ends = _range_ends([own[j] for own in samples], group.size)
        edges = [0, *np.searchsorted(values, ends, side="right").tolist(), len(values)]
        for own, start, stop in zip(sent, edges, edges[1:], strict=False):
            own.append(_sent(Line(values[start:stop], counts[:, start:stop])))
    received = group.exchange(sent)
    return [_merge([own[j] for own in received]) for j in range(len(lines))]


def _sample(values: Floats, size: int) -> tuple[Floats, float]:
    """Values at equal distances, and the number of values that each of them stands for."""
    n_samples = min(len(values), _SAMPLES * size)
    at = (np.arange(n_samples) + 0.5) * (len(values) / max(n_samples, 1))
    return values[at.astype(np.int64)], len(values) / max(n_samples, 1)


def _range_ends(samples: Sequence[tuple[Floats, float]], size: int) -> Floats:
    """The largest value of each range but the last."""
    values = np.concatenate([own for own, _ in samples])
    weight = np.concatenate([np.full(len(own), each) for own, each in samples])
    if len(values) == 0:
        return np.zeros(size - 1)
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    wanted = reached[-1] * np.arange(1, size) / size
    at = np.minimum(np.searchsorted(reached, wanted), len(values) - 1)
    return np.asarray(values[order][at])


def _sent(line: Line) -> Line:
    """The line with counts of as few bytes as they need: most often they are 1."""
    return Line(line.values, line.counts.astype(np.min_scalar_type(line.counts.max(initial=0))))


def _merge(lines: Sequence[Line]) -> Line:
    """The values of several lines, two by two, so that each value is passed log2(lines) times."""
    if len(lines) == 1:
        return lines[0]
    if len(lines) > 2:
        half = len(lines) // 2
        lines = [_merge(lines[:half]), _merge(lines[half:])]
    first, second = (Line(v, c.astype(np.int64, copy=False)) for v, c in lines)
    size = len(first.values) + len(second.values)
    values, counts = np.empty(size), np.empty((len(first.counts), size), dtype=np.int64)
    size = merge_values(*map(read_only, (*first, *second)), values, counts)
    return Line(values[:size], counts[:, :size])


def gather_line(group: Group, line: Line) -> Line:
    """The whole line for every member, from their ranges."""
    if group.size == 1:
        return line
    lines = group.gather(line)
    values = np.concatenate([own.values for own in lines])
    return Line(values, np.concatenate([own.counts for own in lines], axis=1))
