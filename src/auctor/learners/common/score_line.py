"""Scores of all rows in order, where several processes hold them: each process gets a range.

The sums are those of ``sweep`` in kernels/scores.py, in the same whole numbers.
"""

from typing import NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import RankingData
from auctor.data.cluster.sorted_line import Line, count_values, share_lines
from auctor.data.group import Group
from auctor.kernels.scores import LOW_BITS
from auctor.kernels.sorting import LONG, sort_floats

_LOW = (1 << LOW_BITS) - 1


def shared_line(data: RankingData, scores: list[Floats]) -> Line:
    """This process's range of the distinct scores, with the weights (negatives, positives)."""
    values = np.concatenate(scores)
    weight = np.concatenate([part.weight for part in data.partitions]).astype(np.int64)
    positive = np.concatenate([part.positive for part in data.partitions])
    counts = np.array([weight * ~positive, weight * positive])
    return share_lines(data.group, [count_values(values, counts)])[0]


class _Before(NamedTuple):
    """What the ranges before this one hold: the largest score and the weights of the classes."""

    last: float | None
    neg: int
    pos: int


def _before(group: Group, line: Line) -> _Before:
    last = float(line.values[-1]) if len(line.values) else None
    everyone = group.gather((last, *line.counts.sum(axis=1).tolist()))[: group.rank]
    lasts = [own[0] for own in everyone if own[0] is not None]
    return _Before(
        lasts[-1] if lasts else None, sum(own[1] for own in everyone), sum(o[2] for o in everyone)
    )


def sweep_shared(data: RankingData, scores: list[Floats]) -> tuple[float, float, float]:
    """The weight of wrongly ordered pairs, that of tied pairs, and Youden's threshold."""
    group, line = data.group, shared_line(data, scores)
    before = _before(group, line)
    neg, pos = line.counts
    below = np.array([before.neg + np.cumsum(neg), before.pos + np.cumsum(pos)])
    above_neg = data.class_weights[0] - below[0]
    sums = [
        (pos * (above_neg >> LOW_BITS)).sum(),
        (pos * (above_neg & _LOW)).sum(),
        (pos * (neg >> LOW_BITS)).sum(),
        (pos * (neg & _LOW)).sum(),
    ]
    wrong, wrong_low, tied, tied_low = group.sum(np.array(sums, dtype=np.int64))
    scale = 2.0**LOW_BITS
    cuts = [cut for cut in group.gather(_best_cut(line, below, before, data)) if cut is not None]
    # Among cuts of the same gap the highest is the last.
    best = max(range(len(cuts)), key=lambda rank: (cuts[rank].gap, rank))
    return float(wrong * scale + wrong_low), float(tied * scale + tied_low), cuts[best].value


class _Cut(NamedTuple):
    gap: tuple[int, int]  # the whole number in two parts
    value: float


def _best_cut(line: Line, below: Ints, before: _Before, data: RankingData) -> _Cut | None:
    """The best cut below a score of this range; None without scores."""
    if len(line.values) == 0:
        return None
    total_neg, total_pos = data.class_weights
    under_neg, under_pos = below - line.counts
    low = under_neg * (total_pos & _LOW) - under_pos * (total_neg & _LOW)
    high = under_neg * (total_pos >> LOW_BITS) - under_pos * (total_neg >> LOW_BITS)
    high, low = high + (low >> LOW_BITS), low & _LOW
    first = 1 if before.last is None else 0
    if first == len(line.values):  # all scores are equal, or they are in the other ranges
        score = float(line.values[0])
        return _Cut((np.iinfo(np.int64).min, 0), score + max(1.0, abs(score)))
    order = np.lexsort((low[first:], high[first:]))  # stable: the last of equals is the highest
    at = first + int(order[-1])
    last = float(line.values[at - 1]) if at else before.last
    assert last is not None
    score = float(line.values[at])
    cut = last / 2 + score / 2
    return _Cut((int(high[at]), int(low[at])), score if cut <= last else cut)


def _sorted(data: RankingData, scores: list[Floats]) -> Floats:
    values = scores[0] if len(scores) == 1 else np.concatenate(scores)
    ordered, spare = data.partitions[0].empty_rows((2, len(values)), np.float64)
    sort_floats(values, ordered, spare)
    return ordered + 0.0 if len(values) < LONG else ordered  # 0 for -0, as in a radix sort


def scores_at(data: RankingData, scores: list[Floats], places: list[int]) -> list[float]:
    """The smallest score, the scores of the rows at some places in order, and the largest score.

    A row of weight 2 takes two places; places count from 0.
    """
    if data.group.size == 1 and all((part.weight == 1).all() for part in data.partitions):
        ordered = _sorted(data, scores)
        return [float(ordered[at]) for at in (0, *places, -1)]
    line = shared_line(data, scores)
    before = _before(data.group, line)
    reached = before.neg + before.pos + np.cumsum(line.counts.sum(axis=0))
    at = np.searchsorted(reached, places, side="right")
    is_here = (np.array(places) >= before.neg + before.pos) & (at < len(line.values))
    own = {k: float(line.values[at[k]]) for k in np.flatnonzero(is_here).tolist()}
    low, high = line.values.min(initial=np.inf), line.values.max(initial=-np.inf)
    found: dict[int, float] = {}
    for of_member in data.group.gather(own):
        found.update(of_member)
    low, high = data.group.ends(low, high)
    return [low, *(found[k] for k in range(len(places))), high]
