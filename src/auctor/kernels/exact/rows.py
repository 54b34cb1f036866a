"""The rows of ExactBoost: samples of them, their new order after a stump, and the losses.

Scores are whole numbers. The rows of each class are always sorted by score. A sample of increasing
positions is then sorted, too; and a stump, which adds the same number to some of the scores, leaves
two sorted lists that are merged. No sort is needed.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints
from auctor.kernels.jit import kernel

# L'Ecuyer's combined generator (1988). No product exceeds 63 bits, so that compiled code and plain
# Python give the same numbers. Its period is 2.3e18.
_MODULUS_A, _FACTOR_A = 2147483563, 40014
_MODULUS_B, _FACTOR_B = 2147483399, 40692
_RANGE = 2147483562


@kernel
def next_uniform(state: Ints) -> float:
    """The next random number, strictly between 0 and 1; ``state`` is updated."""
    state[0] = _FACTOR_A * state[0] % _MODULUS_A
    state[1] = _FACTOR_B * state[1] % _MODULUS_B
    return float(((state[0] - state[1]) % _RANGE + 0.5) / _RANGE)


@kernel
def draw_positions(n_rows: int, state: Ints, positions: Ints) -> None:
    """Draw a simple random sample from 0 .. n_rows - 1 without replacement, in increasing order."""
    drawn = 0
    for position in range(n_rows):
        if (n_rows - position) * next_uniform(state) < len(positions) - drawn:
            positions[drawn] = position
            drawn += 1
            if drawn == len(positions):
                return


@kernel
def draw_by_weight(
    order: npt.NDArray[np.uint32],
    weight: npt.NDArray[np.uint32],
    total: float,
    state: Ints,
    positions: Ints,
) -> None:
    """Draw positions with replacement and probabilities proportional to weight, sorted.

    ``order`` has the row at each position. Sorted uniform numbers are drawn one after the other,
    from the distribution of the smallest of those that are left.
    """
    passed, position = float(weight[order[0]]), 0
    below = 1.0  # 1 - the uniform
    for i in range(len(positions)):
        below *= next_uniform(state) ** (1.0 / (len(positions) - i))
        while passed < (1.0 - below) * total and position < len(order) - 1:
            position += 1
            passed += weight[order[position]]
        positions[i] = position


@kernel
def draw_some(n_drawn: int, state: Ints, items: Ints) -> None:
    """Move a random sample of the items, drawn without replacement, to the front."""
    for i in range(n_drawn):
        pick = i + int(next_uniform(state) * (len(items) - i))
        item = items[pick]
        items[pick] = items[i]
        items[i] = item


@kernel
def rank_sample(
    codes: npt.NDArray[Any],
    features: Ints,
    ranks: npt.NDArray[np.uint32],
    views: Ints,
    rows: npt.NDArray[np.uint32],
    out: npt.NDArray[np.uint32],
) -> None:
    """Look up the rank of each drawn row in each view, as out[view, position]."""
    for v in range(len(views)):
        column, rank = codes[features[views[v]]], ranks[views[v]]
        for i in range(len(rows)):
            out[v, i] = rank[column[rows[i]]]


@kernel
def sort_sample(
    codes: npt.NDArray[Any],
    features: Ints,
    ranks: npt.NDArray[np.uint32],
    views: Ints,
    rows: npt.NDArray[np.uint32],
    count: Ints,
    order: npt.NDArray[np.uint32],
    sorted_ranks: npt.NDArray[np.uint32],
) -> None:
    """Sort the drawn rows by rank in each view: their positions, and the sorted ranks.

    This is a counting sort; ``count`` is a buffer with one entry more than there are ranks.
    """
    for v in range(len(views)):
        column, rank = codes[features[views[v]]], ranks[views[v]]
        for c in range(len(count)):
            count[c] = 0
        for i in range(len(rows)):
            count[rank[column[rows[i]]] + 1] += 1
        for c in range(1, len(count)):
            count[c] += count[c - 1]
        for i in range(len(rows)):
            here = rank[column[rows[i]]]
            order[v, count[here]] = i
            sorted_ranks[v, count[here]] = here
            count[here] += 1


@kernel
def move_rows(
    order: npt.NDArray[np.uint32],
    scores: Ints,
    codes: npt.NDArray[Any],
    ranks: npt.NDArray[np.uint32],
    cut: int,
    step: int,
    new_order: npt.NDArray[np.uint32],
    new_scores: Ints,
    moved_order: npt.NDArray[np.uint32],
    moved_scores: Ints,
) -> None:
    """Add ``step`` to the scores of rank above ``cut``, and keep the rows sorted by score.

    The rows that stay are collected at the front of the new arrays, those that move in the
    buffers ``moved_order`` and ``moved_scores``; then both are merged from the back.
    """
    n_stay, n_move = 0, 0
    for i in range(len(order)):
        row = order[i]
        stays = ranks[codes[row]] <= cut
        # Both are written, and only the right one is counted: a branch could not be predicted.
        new_order[n_stay], moved_order[n_move] = row, row
        new_scores[n_stay], moved_scores[n_move] = scores[i], scores[i] + step
        n_stay += stays
        n_move += 1 - stays
    i, j = n_stay - 1, n_move - 1
    for position in range(len(order) - 1, -1, -1):
        if j < 0:
            return
        if i >= 0 and new_scores[i] > moved_scores[j]:
            new_scores[position], new_order[position] = new_scores[i], new_order[i]
            i -= 1
        else:
            new_scores[position], new_order[position] = moved_scores[j], moved_order[j]
            j -= 1


@kernel
def auc_loss(
    pos: Ints,
    order_pos: npt.NDArray[np.uint32],
    neg: Ints,
    order_neg: npt.NDArray[np.uint32],
    weight: npt.NDArray[np.uint32],
    margin: int,
) -> float:
    """The AUC loss with a margin (Csillag et al. 2021, equations 1 and 6).

    It is the weighted fraction of pairs whose difference of scores does not exceed the margin.
    """
    j = 0
    beaten, total_pos, won = 0.0, 0.0, 0.0
    for i in range(len(pos)):
        while j < len(neg) and neg[j] < pos[i] - margin:
            beaten += weight[order_neg[j]]
            j += 1
        won += float(weight[order_pos[i]]) * beaten
        total_pos += weight[order_pos[i]]
    total_neg = beaten
    for k in range(j, len(neg)):
        total_neg += weight[order_neg[k]]
    return 1.0 - won / (total_neg * total_pos)


@kernel
def ks_loss(
    pos: Ints,
    order_pos: npt.NDArray[np.uint32],
    neg: Ints,
    order_neg: npt.NDArray[np.uint32],
    weight: npt.NDArray[np.uint32],
    margin: int,
) -> float:
    """The KS loss with a margin (Csillag et al. 2021, equations 2 and 6).

    It is 1 minus the largest difference of the two distribution functions.
    """
    total_pos, total_neg = 0.0, 0.0
    for i in range(len(pos)):
        total_pos += weight[order_pos[i]]
    for j in range(len(neg)):
        total_neg += weight[order_neg[j]]
    i, best = 0, 0.0
    below_pos, below_neg = 0.0, 0.0
    for j in range(len(neg)):
        while i < len(pos) and pos[i] - margin <= neg[j]:
            below_pos += weight[order_pos[i]]
            i += 1
        below_neg += weight[order_neg[j]]
        best = max(best, below_neg * total_pos - below_pos * total_neg)
    return 1.0 - best / (total_neg * total_pos)


@kernel
def top_loss(
    pos: Ints,
    order_pos: npt.NDArray[np.uint32],
    neg: Ints,
    order_neg: npt.NDArray[np.uint32],
    weight: npt.NDArray[np.uint32],
    margin: int,
    top: float,
) -> float:
    """The loss of precision at k with a margin (Csillag et al. 2021, equations 3 and 6).

    It is 1 minus the weight of the positives among the ``top`` highest, divided by k and not by n
    as in the paper. Among equal scores the negatives come first.
    """
    j = len(neg)
    above_pos, above_neg = 0.0, 0.0
    for i in range(len(pos) - 1, -1, -1):
        while j > 0 and neg[j - 1] >= pos[i] - margin:
            j -= 1
            above_neg += weight[order_neg[j]]
        free = top - above_neg - above_pos
        if free <= 0.0:
            break
        above_pos += min(float(weight[order_pos[i]]), free)
    return 1.0 - above_pos / top
