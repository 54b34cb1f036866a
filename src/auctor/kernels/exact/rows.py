"""The rows of ExactBoost: sorted by score all the time, drawn, moved by a stump, judged.

Scores are whole numbers in units of the run. The rows of a class are kept in the order of their
scores, so that a sample of places in increasing order is a sorted sample, and a stump, which moves
some rows by the same amount, leaves two sorted lists to merge: nothing is ever sorted anew.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints
from auctor.kernels.jit import kernel

# L'Ecuyer's combined generator (1988): no product leaves 63 bits, so it counts alike compiled and
# in plain Python; its period is 2.3e18.
_MODULUS_A, _FACTOR_A = 2147483563, 40014
_MODULUS_B, _FACTOR_B = 2147483399, 40692
_RANGE = 2147483562


@kernel
def next_uniform(state: Ints) -> float:
    """The next number of the stream, strictly between 0 and 1."""
    state[0] = _FACTOR_A * state[0] % _MODULUS_A
    state[1] = _FACTOR_B * state[1] % _MODULUS_B
    return float(((state[0] - state[1]) % _RANGE + 0.5) / _RANGE)


@kernel
def draw_places(n_rows: int, state: Ints, places: Ints) -> None:
    """A simple random sample of 0 .. n_rows - 1 without repeats, in increasing order."""
    drawn = 0
    for place in range(n_rows):
        if (n_rows - place) * next_uniform(state) < len(places) - drawn:
            places[drawn] = place
            drawn += 1
            if drawn == len(places):
                return


@kernel
def draw_by_weight(
    order: npt.NDArray[np.uint32],
    weight: npt.NDArray[np.uint32],
    total: float,
    state: Ints,
    places: Ints,
) -> None:
    """Places of rows drawn with chances in proportion to weight, with repeats, in order.

    ``order`` says which row stands at a place. Sorted uniforms come one by one from the law of the
    least of those that are left.
    """
    passed, place = float(weight[order[0]]), 0
    below = 1.0  # 1 - the uniform
    for i in range(len(places)):
        below *= next_uniform(state) ** (1.0 / (len(places) - i))
        while passed < (1.0 - below) * total and place < len(order) - 1:
            place += 1
            passed += weight[order[place]]
        places[i] = place


@kernel
def draw_some(n_drawn: int, state: Ints, items: Ints) -> None:
    """Bring a random choice of the items to the front, without repeats."""
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
    """The rank of each drawn row in each of the views: out[view, place]."""
    for v in range(len(views)):
        line, rank = codes[features[views[v]]], ranks[views[v]]
        for i in range(len(rows)):
            out[v, i] = rank[line[rows[i]]]


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
    """Places of the drawn rows by rank in each of the views, and the ranks in that order.

    A counting sort; ``count`` is room for as many ranks as there are, and one more.
    """
    for v in range(len(views)):
        line, rank = codes[features[views[v]]], ranks[views[v]]
        for c in range(len(count)):
            count[c] = 0
        for i in range(len(rows)):
            count[rank[line[rows[i]]] + 1] += 1
        for c in range(1, len(count)):
            count[c] += count[c - 1]
        for i in range(len(rows)):
            here = rank[line[rows[i]]]
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
    room_order: npt.NDArray[np.uint32],
    room_scores: Ints,
) -> None:
    """The sorted rows of a class after ``step`` was added to those of rank above ``cut``.

    The rows that stay are collected at the front of the new arrays, those that move in the
    rooms; then both are merged from the back.
    """
    n_stay, n_move = 0, 0
    for i in range(len(order)):
        row = order[i]
        stays = ranks[codes[row]] <= cut
        # Both are written, and the right one counts: a branch here is a coin toss.
        new_order[n_stay], room_order[n_move] = row, row
        new_scores[n_stay], room_scores[n_move] = scores[i], scores[i] + step
        n_stay += stays
        n_move += 1 - stays
    i, j = n_stay - 1, n_move - 1
    for place in range(len(order) - 1, -1, -1):
        if j < 0:
            return
        if i >= 0 and new_scores[i] > room_scores[j]:
            new_scores[place], new_order[place] = new_scores[i], new_order[i]
            i -= 1
        else:
            new_scores[place], new_order[place] = room_scores[j], room_order[j]
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
    """Equation (1) with the margin of (6): share of pairs without a lead above the margin."""
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
    """Equation (2) with the margin of (6): 1 less the widest gap of the distributions."""
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
    """Equation (3), divided by k and not by n, with the margin of (6).

    Weight of the positives among the ``top`` highest; of equal scores the negatives come first.
    """
    j = len(neg)
    above_pos, above_neg = 0.0, 0.0
    for i in range(len(pos) - 1, -1, -1):
        while j > 0 and neg[j - 1] >= pos[i] - margin:
            j -= 1
            above_neg += weight[order_neg[j]]
        room = top - above_neg - above_pos
        if room <= 0.0:
            break
        above_pos += min(float(weight[order_pos[i]]), room)
    return 1.0 - above_pos / top
