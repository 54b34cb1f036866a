"""Layered branching programs (paper 000, section 4): counting, routing and scoring rows."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Ints
from auctor.kernels.jit import kernel

# Node of a row that has left the program at a frozen node.
OUT = 65_535

# Rows whose node is looked up once for all features: 64 KB, which the second-level cache
# holds beside the histograms of two features.
_BLOCK = 16_384


@kernel
def count_nodes(
    codes: npt.NDArray[Any],
    node: npt.NDArray[np.uint16],
    weight: npt.NDArray[np.uint32],
    rows: tuple[int, int],
    features: tuple[int, int],
    n_nodes: int,
    histogram: npt.NDArray[Any],
) -> None:
    """Add the weights of rows of one class per feature, node and code.

    ``histogram`` is (features, (n_nodes + 1) * n_codes); rows that are out go to the last node.
    """
    n_codes = histogram.shape[1] // (n_nodes + 1)
    offset = np.empty(_BLOCK, dtype=np.uint32)
    first_feature, last_feature = features
    for first in range(rows[0], rows[1], _BLOCK):
        last = min(first + _BLOCK, rows[1])
        count = last - first
        for i in range(count):
            offset[i] = min(np.uint32(node[first + i]), np.uint32(n_nodes)) * np.uint32(n_codes)
        share = weight[first:last]
        j = first_feature
        while j + 1 < last_feature:  # two features share the look-ups
            bins_a, line_a = histogram[j - first_feature], codes[j, first:last]
            bins_b, line_b = histogram[j + 1 - first_feature], codes[j + 1, first:last]
            for i in range(count):
                amount = share[i]
                bins_a[offset[i] + line_a[i]] += amount
                bins_b[offset[i] + line_b[i]] += amount
            j += 2
        if j < last_feature:
            bins_a, line_a = histogram[j - first_feature], codes[j, first:last]
            for i in range(count):
                bins_a[offset[i] + line_a[i]] += share[i]


@kernel
def _coin(seed: np.uint64, row: np.uint64, place: np.uint64) -> np.int64:
    """A whole number below 2^53 that depends on nothing but its arguments (splitmix64)."""
    x = seed ^ (row * np.uint64(0x9E3779B97F4A7C15)) ^ (place * np.uint64(0xD1B54A32D192ED03))
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((x ^ (x >> np.uint64(31))) >> np.uint64(11))


@kernel
def route(
    codes: npt.NDArray[Any],
    row_ids: Ints,
    rows: tuple[int, int],
    feature: Ints,
    right: Ints,
    base: Ints,
    coins: tuple[int, int],
    node: npt.NDArray[np.uint16],
) -> None:
    """Send each row from its node to the left (the same number) or to the right (one more).

    ``right[i, code]`` is the chance of the right at node i in units of 2^-53. ``base[i]`` is
    the number of the left, or OUT where node i is frozen; the last line of the arrays is for
    rows that are out. ``coins`` is (seed, layer): with the row's place in the table and the
    node they decide the toss, so that neither partitions nor threads do. No branches: which
    way a row goes cannot be foretold.
    """
    seed = np.uint64(coins[0]) * np.uint64(0xA0761D6478BD642F)
    layer = np.uint64(coins[1]) * np.uint64(65_536)
    outside = len(base) - 1
    for k in range(rows[0], rows[1]):
        i: Any = min(np.int64(node[k]), outside)
        toss = _coin(seed, np.uint64(row_ids[k]), layer + np.uint64(i))
        node[k] = base[i] + (toss < right[i, codes[feature[i], k]])


@kernel
def route_and_count(
    codes: npt.NDArray[Any],
    row_ids: Ints,
    weight: npt.NDArray[np.uint32],
    rows: tuple[int, int],
    feature: Ints,
    right: Ints,
    base: Ints,
    coins: tuple[int, int],
    node: npt.NDArray[np.uint16],
    histogram: npt.NDArray[Any],
) -> None:
    """``route`` rows of one class, and add the weights of those that went right.

    They are about half of the rows, and what is known of all the nodes before gives the rest.
    ``histogram`` is (features, nodes * n_codes), by the node that a row arrives at.
    """
    seed = np.uint64(coins[0]) * np.uint64(0xA0761D6478BD642F)
    layer = np.uint64(coins[1]) * np.uint64(65_536)
    outside = len(base) - 1
    n_codes = right.shape[1]
    # Unsigned indices: Numba turns a signed one that is negative to the other end.
    row = np.empty(_BLOCK, dtype=np.uint16)
    offset = np.empty(_BLOCK, dtype=np.uint32)
    amount = np.empty(_BLOCK, dtype=histogram.dtype)
    n_features = len(histogram)
    for first in range(rows[0], rows[1], _BLOCK):
        last = min(first + _BLOCK, rows[1])
        count = 0
        for r in range(last - first):  # a list of those that moved, without a branch
            k = first + r
            i: Any = min(np.int64(node[k]), outside)
            toss = _coin(seed, np.uint64(row_ids[k]), layer + np.uint64(i))
            goes = toss < right[i, codes[feature[i], k]]
            place = base[i] + goes
            node[k] = place
            row[count] = r
            offset[count] = np.uint32(place) * np.uint32(n_codes)
            amount[count] = weight[k]
            count += goes
        j = 0
        while j + 1 < n_features:  # two features share the look-ups
            bins_a, line_a = histogram[j], codes[j, first:last]
            bins_b, line_b = histogram[j + 1], codes[j + 1, first:last]
            for i in range(count):
                start, k, share = offset[i], row[i], amount[i]
                bins_a[start + line_a[k]] += share
                bins_b[start + line_b[k]] += share
            j += 2
        if j < n_features:
            bins_a, line_a = histogram[j], codes[j, first:last]
            for i in range(count):
                bins_a[offset[i] + line_a[row[i]]] += amount[i]


class Nodes(NamedTuple):
    """The nodes of a program, layer after layer: node i of layer t is number t (t - 1) / 2 + i.

    A node of a number sends codes up to ``cut`` right with chance ``low``, higher ones with
    ``high`` and missing ones with ``missing``; one of a category looks its chance up in
    ``table``, from ``start`` on (-1 for numbers). Feature -1 marks a frozen node, where a row
    ends with ``value``.
    """

    feature: Ints
    cut: Ints
    low: Floats
    high: Floats
    missing: Floats
    start: Ints
    table: Floats
    value: Floats


# Rows that go down the program side by side: their chances at all nodes of a layer fit
# into the second-level cache, and each node works on them without a branch.
_LANES = 512


@kernel
def _toss(
    line: npt.NDArray[np.uint16],
    nodes: Nodes,
    k: int,
    here: Floats,
    next_one: Floats,
) -> None:
    """Split the chance of being at node k between staying at its number and the next one."""
    start = nodes.start[k]
    if start >= 0:
        for r in range(len(line)):
            p = nodes.table[start + line[r]]
            goes = here[r] * p
            next_one[r] += goes
            here[r] -= goes
        return
    cut, low, high, missing = nodes.cut[k], nodes.low[k], nodes.high[k], nodes.missing[k]
    for r in range(len(line)):
        code = np.int64(line[r])
        p = high if code > cut else low
        p = missing if code == 0 else p
        goes = here[r] * p
        next_one[r] += goes
        here[r] -= goes


@kernel
def expect(
    codes: npt.NDArray[np.uint16],
    nodes: Nodes,
    final: Floats,
    out: Floats,
) -> None:
    """Expected value of each row (features, rows) over the coins of the program, exactly.

    The chance of being at each node of a layer is carried down the layers; ``final`` is the
    value of the nodes below the last one.
    """
    n_layers = len(final) - 1
    chance = np.empty((n_layers + 1, _LANES), dtype=np.float64)
    reached = np.empty(n_layers + 1, dtype=np.bool_)
    for first in range(0, len(out), _LANES):
        count = min(_LANES, len(out) - first)
        for i in range(n_layers + 1):
            reached[i] = i == 0
            for r in range(count):
                chance[i, r] = 1.0 if i == 0 else 0.0
        for r in range(count):
            out[first + r] = 0.0
        number = 0
        for t in range(1, n_layers + 1):
            for i in range(t - 1, -1, -1):  # from the right: node i + 1 has tossed already
                if not reached[i]:
                    continue
                k = number + i
                j = nodes.feature[k]
                if j >= 0:
                    line = codes[j, first : first + count]
                    _toss(line, nodes, k, chance[i, :count], chance[i + 1, :count])
                    reached[i + 1] = True
                else:
                    for r in range(count):
                        out[first + r] += chance[i, r] * nodes.value[k]
                        chance[i, r] = 0.0
                    reached[i] = False
            number += t
        for i in range(n_layers + 1):
            if reached[i]:
                for r in range(count):
                    out[first + r] += chance[i, r] * final[i]
