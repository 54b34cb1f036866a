"""Branching programs (Long & Servedio 2007, section 4): counting, routing and scoring rows."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Ints
from auctor.kernels.jit import inner_kernel, kernel

# The node of a row that has left the program at a frozen node.
OUT = 65_535

# Number of rows whose nodes are looked up once for all features: 64 KB, which fit into the
# second-level cache beside the histograms of two features.
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
    """Add the weights of rows of one class to the histograms by feature, node and code.

    ``histogram`` is (features, (n_nodes + 1) * n_codes); rows that have left the program are
    counted at the last node.
    """
    n_codes = histogram.shape[1] // (n_nodes + 1)
    offset = np.empty(_BLOCK, dtype=np.uint32)
    first_feature, last_feature = features
    for first in range(rows[0], rows[1], _BLOCK):
        last = min(first + _BLOCK, rows[1])
        count = last - first
        for i in range(count):
            offset[i] = min(np.uint32(node[first + i]), np.uint32(n_nodes)) * np.uint32(n_codes)
        amounts = weight[first:last]
        j = first_feature
        while j + 1 < last_feature:  # two features share the look-ups
            bins_a, column_a = histogram[j - first_feature], codes[j, first:last]
            bins_b, column_b = histogram[j + 1 - first_feature], codes[j + 1, first:last]
            for i in range(count):
                amount = amounts[i]
                bins_a[offset[i] + column_a[i]] += amount
                bins_b[offset[i] + column_b[i]] += amount
            j += 2
        if j < last_feature:
            bins_a, column_a = histogram[j - first_feature], codes[j, first:last]
            for i in range(count):
                bins_a[offset[i] + column_a[i]] += amounts[i]


@inner_kernel
def _coin(seed: np.uint64, row: np.uint64, node: np.uint64) -> np.int64:
    """A pseudorandom whole number below 2^53 from the hash of its arguments (splitmix64)."""
    x = seed ^ (row * np.uint64(0x9E3779B97F4A7C15)) ^ (node * np.uint64(0xD1B54A32D192ED03))
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
    """Send each row from its node to the left (the same index) or to the right (the next one).

    ``right[i, code]`` is the probability of going right from node i, in units of 2^-53.
    ``base[i]`` is the index of the left node, or OUT if node i is frozen; the last row of these
    arrays is for rows that have left the program. ``coins`` is (seed, layer): the random number of
    a row depends on these, on its index in the table and on its node, but not on partitions or
    threads. There are no branches, because they could not be predicted.
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
    """``route`` rows of one class, and add the weights of those that went right to histograms.

    These are about half of the rows; the caller gets the counts of the others by subtraction from
    those of the layer before. ``histogram`` is (features, nodes * n_codes), by the node that a row
    arrives at.
    """
    seed = np.uint64(coins[0]) * np.uint64(0xA0761D6478BD642F)
    layer = np.uint64(coins[1]) * np.uint64(65_536)
    outside = len(base) - 1
    n_codes = right.shape[1]
    # Unsigned indices are faster: for signed ones Numba has to test whether they are negative.
    row = np.empty(_BLOCK, dtype=np.uint16)
    offset = np.empty(_BLOCK, dtype=np.uint32)
    amount = np.empty(_BLOCK, dtype=histogram.dtype)
    n_features = len(histogram)
    for first in range(rows[0], rows[1], _BLOCK):
        last = min(first + _BLOCK, rows[1])
        count = 0
        for r in range(last - first):  # lists the rows that went right, without a branch
            k = first + r
            i: Any = min(np.int64(node[k]), outside)
            toss = _coin(seed, np.uint64(row_ids[k]), layer + np.uint64(i))
            goes = toss < right[i, codes[feature[i], k]]
            arrived = base[i] + goes
            node[k] = arrived
            row[count] = r
            offset[count] = np.uint32(arrived) * np.uint32(n_codes)
            amount[count] = weight[k]
            count += goes
        j = 0
        while j + 1 < n_features:  # two features share the look-ups
            bins_a, column_a = histogram[j], codes[j, first:last]
            bins_b, column_b = histogram[j + 1], codes[j + 1, first:last]
            for i in range(count):
                start, k, own = offset[i], row[i], amount[i]
                bins_a[start + column_a[k]] += own
                bins_b[start + column_b[k]] += own
            j += 2
        if j < n_features:
            bins_a, column_a = histogram[j], codes[j, first:last]
            for i in range(count):
                bins_a[offset[i] + column_a[row[i]]] += amount[i]


class Nodes(NamedTuple):
    """The nodes of a program, layer after layer: node i of layer t has index t (t - 1) / 2 + i.

    A node that tests a number sends codes up to ``cut`` right with probability ``low``, larger
    codes with ``high`` and missing values with ``missing``. A node that tests a category has the
    probability of each code in ``table``, from ``start`` on; ``start`` is -1 for numbers. Feature
    -1 marks a frozen node, at which rows stop with ``value``.
    """

    feature: Ints
    cut: Ints
    low: Floats
    high: Floats
    missing: Floats
    start: Ints
    table: Floats
    value: Floats


# Number of rows that go down the program together: their probabilities at all nodes of a layer fit
# into the second-level cache, and each node is applied to them without a branch.
_LANES = 512


@inner_kernel
def _toss(
    column: npt.NDArray[np.uint16],
    nodes: Nodes,
    k: int,
    here: Floats,
    next_one: Floats,
) -> None:
    """Divide the probability of node k between the left node and the right one below it."""
    start = nodes.start[k]
    if start >= 0:
        for r in range(len(column)):
            p = nodes.table[start + column[r]]
            goes = here[r] * p
            next_one[r] += goes
            here[r] -= goes
        return
    cut, low, high, missing = nodes.cut[k], nodes.low[k], nodes.high[k], nodes.missing[k]
    for r in range(len(column)):
        code = np.int64(column[r])
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
    """The exact expected value of each row of ``codes`` (features, rows).

    The probability of each node is carried down the layers; ``final`` has the values of the nodes
    below the last layer.
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
            for i in range(t - 1, -1, -1):  # from the right: node i + 1 is done already
                if not reached[i]:
                    continue
                k = number + i
                j = nodes.feature[k]
                if j >= 0:
                    column = codes[j, first : first + count]
                    _toss(column, nodes, k, chance[i, :count], chance[i + 1, :count])
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
