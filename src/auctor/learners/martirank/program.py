"""From the nodes that a learner trained to a ProgramModel."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import binom

from auctor._typing import Floats, Ints
from auctor.data import Feature, Partition, RankingData, number_feature
from auctor.kernels.program import OUT, Nodes
from auctor.kernels.stumps import LEAST_GAIN
from auctor.models import Calibration, ProgramModel
from auctor.weak.feature import CodeRanker, FeatureRanking, StumpRanking
from auctor.weak.two_sided import Sides, TwoSided


@dataclass(frozen=True, eq=False)
class Node:
    """Node ``index`` of a layer: where it sends rows, and the rows that passed it in training."""

    layer: int
    index: int
    feature: int  # -1 if it is frozen
    right: Floats  # probability of going right, for each code of the feature
    weight_neg: float
    weight_pos: float
    epsilon: float  # error rate of the two-sided classifier
    edge: float  # AUC - 1/2 of the ranker
    label: int  # vote of a frozen node: -1, 1, or 0 for no vote
    lean: float  # of a frozen node: expected remaining steps, from all left (-1) to all right (1)


class BestFeatures:
    """The best feature of each node of a layer, from class histograms offered in blocks."""

    def __init__(self, ranking: FeatureRanking | StumpRanking, n_nodes: int, n_codes: int) -> None:
        self._ranking = ranking
        self._gain = np.zeros(n_nodes)
        self.feature = np.full(n_nodes, -1)  # -1 if no feature is better than chance
        self.counts = np.zeros((2, n_nodes, n_codes), dtype=np.int64)  # (class, node, code)
        self.totals = np.zeros((2, n_nodes), dtype=np.int64)

    def offer(self, first: int, counts: Ints) -> None:
        """Consider the features from ``first`` on, with counts (class, feature, node, code)."""
        n_nodes = len(self.feature)
        if first == 0:  # the same for every feature
            self.totals = counts[:, 0, :n_nodes].sum(axis=2)
        for k, gains in enumerate(self._ranking.gains(first, counts, n_nodes)):
            better = gains > self._gain + LEAST_GAIN
            if better.any():
                self._gain[better], self.feature[better] = gains[better], first + k
                self.counts[:, better] = counts[:, k, :n_nodes][:, better]

    def rankers(self, nodes: Ints) -> list[CodeRanker]:
        """The weak rankers of the nodes."""
        return self._ranking.of_nodes(self.feature[nodes], self.counts[:, nodes])

    def ranker(self, i: int) -> CodeRanker:
        """The weak ranker of node i."""
        return self.rankers(np.array([i]))[0]


def groups_of(ranker: CodeRanker, counts: Ints) -> tuple[Floats, Floats]:
    """Fraction of the negatives and of the positives in each rank."""
    groups = groups_of_nodes([ranker], counts[:, None])
    return groups[0, 0], groups[1, 0]


def groups_of_nodes(rankers: list[CodeRanker], counts: Ints) -> Floats:
    """Fraction of each class in each rank (class, node, rank), from counts (class, node, code)."""
    fractions = counts / counts.sum(axis=2, keepdims=True)
    n_nodes, n_codes = counts.shape[1:]
    ranks = np.array([ranker.ranks for ranker in rankers])
    cells = (ranks + n_codes * np.arange(n_nodes)[:, None]).ravel()
    flat = [np.bincount(cells, of_class.ravel(), cells.size) for of_class in fractions]
    groups: Floats = np.array(flat, dtype=np.float64).reshape(counts.shape)
    return groups


def live_node(
    t: int,
    i: int,
    ranker: CodeRanker,
    counts: Ints,
    side: TwoSided,
    data: RankingData,
) -> Node:
    """A node with a two-sided classifier; ``counts`` are the weights at it: (class, code)."""
    sides = Sides(*(np.array([field]) for field in side))
    return live_nodes(t, np.array([i]), [ranker], counts[:, None], sides, data)[0]


def live_nodes(
    t: int,
    indices: Ints,
    rankers: list[CodeRanker],
    counts: Ints,
    sides: Sides,
    data: RankingData,
) -> list[Node]:
    """Nodes with two-sided classifiers; ``counts`` are the weights (class, node, code)."""
    ranks = np.array([ranker.ranks for ranker in rankers])
    is_below = ranks < sides.cut[:, None]
    right = (1.0 + np.where(is_below, sides.below[:, None], sides.above[:, None])) / 2.0
    # If no value was missing here in training, a missing value gets a fair coin.
    right[counts[:, :, 0].sum(axis=0) == 0, 0] = 0.5
    neg, pos = (counts.sum(axis=2) * np.array(data.row_units)[:, None]).tolist()
    epsilon = sides.epsilon.tolist()
    nodes = []
    for k, (i, ranker) in enumerate(zip(indices.tolist(), rankers, strict=True)):
        # A copy, so that the history does not keep the whole array alive.
        own = right[k, : data.features[ranker.feature].n_bins + 1].copy()
        edge = ranker.auc - 0.5
        nodes.append(Node(t, i, ranker.feature, own, neg[k], pos[k], epsilon[k], edge, 0, 0.0))
    return nodes


# The probabilities of frozen nodes: one array for all of them, because deep programs have many.
_NOWHERE = np.zeros(1)
_NOWHERE.flags.writeable = False


def frozen_node(t: int, i: int, neg: float, pos: float, label: int, lean: float) -> Node:
    """A frozen node, where rows end."""
    return Node(t, i, -1, _NOWHERE, neg, pos, 0.5, 0.0, label, lean)


def check_layer(nodes: list[Node], data: RankingData) -> None:
    """Raise an error if nodes of an earlier run cannot be a layer of these data."""
    for i, node in enumerate(nodes):
        if (node.layer, node.index) != (len(nodes), i) or abs(node.label) > 1:
            raise ValueError(f"has a node {i} of another layer")
        if not -1 <= node.feature < data.n_features:
            raise ValueError(f"has the feature {node.feature} of {data.n_features}")
        n_codes = data.features[node.feature].n_bins + 1 if node.feature >= 0 else 1
        if node.right.shape != (n_codes,) or not ((node.right >= 0) & (node.right <= 1)).all():
            raise ValueError(f"has a node {i} without a probability for each of {n_codes} codes")


class Gates(NamedTuple):
    """A layer as the routing kernel takes it; the last entry is for rows that have ended."""

    feature: Ints
    right: Ints
    base: Ints


def gates_of(nodes: list[Node], n_codes: int) -> Gates:
    """Where each node of a layer sends each code."""
    feature = np.array([max(node.feature, 0) for node in nodes] + [0])
    base = np.array([OUT if node.feature < 0 else node.index for node in nodes] + [OUT])
    right = np.zeros((len(nodes) + 1, n_codes), dtype=np.int64)
    for i, node in enumerate(nodes):
        right[i, : len(node.right)] = np.ceil(node.right * 2.0**53)
    return Gates(feature, right, base)


def split_range(first: int, last: int, n_parts: int) -> list[tuple[int, int]]:
    """Up to ``n_parts`` parts of a range, all of the same even size; the last may be shorter."""
    size = -(-(last - first) // n_parts)
    size += size % 2
    return [(start, min(start + size, last)) for start in range(first, last, max(size, 1))]


def program_values(
    layers: list[list[Node]], output: str, n_layers: int | None = None
) -> tuple[Floats, Floats]:
    """The output of each frozen node, and of each position below the last layer.

    "position" is the fraction of steps to the right, where the lean of a frozen node gives the
    remaining steps. "majority" is the classifier of Long & Servedio: 1 where j >= T/2, and the
    label of a frozen node; a node without a label continues with fair coin tosses.

    ``n_layers`` is T if the program has fewer layers because all rows end at frozen nodes. The
    values are those of a program with all T layers.
    """
    T, built = n_layers or len(layers), len(layers)
    nodes = [node for layer in layers for node in layer]
    # The positions below the last layer count as nodes without a label.
    rest = np.array([T + 1 - node.layer for node in nodes] + [T - built] * (built + 1))
    at = np.array([node.index for node in nodes] + list(range(built + 1)))
    if output == "position":
        lean = np.array([node.lean for node in nodes] + [0.0] * (built + 1))
        value = (at + rest * (lean + 1) / 2) / T
    else:
        label = np.array([node.label for node in nodes] + [0] * (built + 1))
        fair: Floats = binom.sf(np.ceil(T / 2 - at) - 1, rest, 0.5)
        value = np.where(label == 0, fair, (label + 1) / 2)
    return value[: len(nodes)], value[len(nodes) :]


def build_program(
    data: RankingData,
    layers: list[list[Node]],
    value: Floats,
    final: Floats,
) -> tuple[ProgramModel, list[npt.NDArray[np.uint16]]]:
    """The model without threshold and calibration, and its code of each training code.

    Only the cuts that some node uses are kept.
    """
    nodes = [node for layer in layers for node in layer]
    steps = [_step(node, data) for node in nodes]
    used = _used_cuts(data, nodes, steps)
    luts = [_lut(used[j], feature) for j, feature in enumerate(data.features)]
    table: list[float] = []
    columns: dict[str, list[Any]] = {name: [] for name in Nodes._fields if name != "table"}
    for k, (node, (cut, low, high)) in enumerate(zip(nodes, steps, strict=True)):
        is_category = node.feature >= 0 and data.features[node.feature].is_category
        columns["feature"].append(node.feature)
        columns["cut"].append(int(np.searchsorted(used[node.feature], cut)) + 1 if cut else 0)
        columns["low"].append(low)
        columns["high"].append(high)
        columns["missing"].append(float(node.right[0]))
        columns["start"].append(len(table) if is_category else -1)
        columns["value"].append(float(value[k]))
        if is_category:
            table += node.right[: data.features[node.feature].n_bins + 1].tolist()
    arrays: dict[str, Any] = {
        name: np.array(column, dtype=np.int64 if name in _WHOLE else np.float64)
        for name, column in columns.items()
    }
    program = Nodes(table=np.array(table, dtype=np.float64), **arrays)
    features = tuple(_shorten(f, used[j]) for j, f in enumerate(data.features))
    negative, positive = data.classes.tolist()
    plain = Calibration(1.0, 0.0)
    model = ProgramModel(
        (negative, positive), 0.0, plain, features, len(layers), program, final, 0.0
    )
    return model, luts


_WHOLE = ("feature", "cut", "start")


def recode(part: Partition, luts: list[npt.NDArray[np.uint16]]) -> npt.NDArray[np.uint16]:
    """The model's codes of the rows of a partition: (features, rows)."""
    return np.stack([lut[codes] for lut, codes in zip(luts, part.dense_codes, strict=True)])


def _step(node: Node, data: RankingData) -> tuple[int, float, float]:
    """(cut, probability up to it, probability above it) of a numeric node; cut 0 if it has none."""
    if node.feature < 0 or data.features[node.feature].is_category:
        return 0, 0.0, 0.0
    known = node.right[1 : data.features[node.feature].n_bins + 1]
    change = np.flatnonzero(known[1:] != known[:-1])
    return (int(change[0]) + 1 if len(change) else 0), float(known[0]), float(known[-1])


def _used_cuts(
    data: RankingData, nodes: list[Node], steps: list[tuple[int, float, float]]
) -> list[Ints]:
    """The cuts of each feature, as codes, that some node uses."""
    used: list[set[int]] = [set() for _ in data.features]
    for node, (cut, _, _) in zip(nodes, steps, strict=True):
        if cut:
            used[node.feature].add(cut)
    return [np.array(sorted(cuts), dtype=np.int64) for cuts in used]


def _lut(used: Ints, feature: Feature) -> npt.NDArray[np.uint16]:
    """New code of each old one: 1 + the number of used cuts below it; missing stays 0."""
    old = np.arange(feature.n_bins + 1)
    new = old if feature.is_category else 1 + np.searchsorted(used, old)
    new[0] = 0
    return new.astype(np.uint16)


def _shorten(feature: Feature, used: Ints) -> Feature:
    """The feature with the used cuts only."""
    return feature if feature.is_category else number_feature(feature.name, feature.cuts[used - 1])
