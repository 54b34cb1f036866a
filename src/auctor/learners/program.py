"""From the nodes that a learner trained to a ProgramModel."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor.data import Feature, Partition, RankingData, number_feature
from auctor.kernels.program import Nodes
from auctor.models import Calibration, ProgramModel


@dataclass(frozen=True, eq=False)
class Node:
    """Node ``index`` of a layer: where it sends each code, and what passed it in training."""

    layer: int
    index: int
    feature: int  # -1 where it is frozen
    right: npt.NDArray[np.float64]  # chance of the right for each code
    weight_neg: float
    weight_pos: float
    epsilon: float  # error rate of the two-sided classifier
    edge: float  # AUC - 1/2 of the ranker
    label: int  # of a frozen node: -1, 1, or 0 for neither


def build_program(
    data: RankingData,
    layers: list[list[Node]],
    value: npt.NDArray[np.float64],
    final: npt.NDArray[np.float64],
) -> tuple[ProgramModel, list[npt.NDArray[np.uint16]]]:
    """The model without threshold and calibration, and the model's code of each training code.

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
    return np.stack([lut[line] for lut, line in zip(luts, part.codes, strict=True)])


def _step(node: Node, data: RankingData) -> tuple[int, float, float]:
    """(cut, chance up to it, chance above it) of a node of a number; cut 0 where it has none."""
    if node.feature < 0 or data.features[node.feature].is_category:
        return 0, 0.0, 0.0
    known = node.right[1 : data.features[node.feature].n_bins + 1]
    change = np.flatnonzero(known[1:] != known[:-1])
    return (int(change[0]) + 1 if len(change) else 0), float(known[0]), float(known[-1])


def _used_cuts(
    data: RankingData, nodes: list[Node], steps: list[tuple[int, float, float]]
) -> list[npt.NDArray[np.int64]]:
    """The cuts of each feature, as codes, that some node uses."""
    found: list[set[int]] = [set() for _ in data.features]
    for node, (cut, _, _) in zip(nodes, steps, strict=True):
        if cut:
            found[node.feature].add(cut)
    return [np.array(sorted(cuts), dtype=np.int64) for cuts in found]


def _lut(used: npt.NDArray[np.int64], feature: Feature) -> npt.NDArray[np.uint16]:
    """New code of each old one: 1 + the number of used cuts below it; missing stays 0."""
    old = np.arange(feature.n_bins + 1)
    new = old if feature.is_category else 1 + np.searchsorted(used, old)
    new[0] = 0
    return new.astype(np.uint16)


def _shorten(feature: Feature, used: npt.NDArray[np.int64]) -> Feature:
    """The feature with the used cuts only."""
    return feature if feature.is_category else number_feature(feature.name, feature.cuts[used - 1])
