"""ProgramModel: a layered branching program (paper 000, Figure 2)."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from auctor._typing import Floats, Ints
from auctor.data import Feature, Table
from auctor.kernels.program import Nodes, expect
from auctor.models.base import Calibration, Model, Shared
from auctor.models.features import check_names, code_columns, feature_body, read_feature
from auctor.models.fields import Fields
from auctor.models.file import register


@register
@dataclass(frozen=True, eq=False)
class ProgramModel(Model):
    """Rows go down ``n_layers`` layers, at each node left or right by the bin of one feature.

    From node i of a layer the left leads to node i of the next and the right to node i + 1.
    Where a node tosses a coin, the score is the expectation over it: ``final`` holds the value
    of each end, and score = intercept + expected value.
    """

    features: tuple[Feature, ...]
    n_layers: int
    nodes: Nodes
    final: Floats
    intercept: float

    form: ClassVar[str] = "program"

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    @property
    def n_nodes(self) -> int:
        return len(self.nodes.feature)

    def _score(self, table: Table, columns: Ints) -> Floats:
        return self.intercept + self.score_codes(code_columns(self.features, table, columns))

    def score_codes(self, codes: npt.NDArray[np.uint16]) -> Floats:
        """Expected value of rows given by their codes (features, rows), without the intercept."""
        out = np.empty(codes.shape[1])
        expect(codes, self.nodes, self.final, out)
        return out

    def finished(self, calibration: Calibration, intercept: float) -> "ProgramModel":
        """The same program with its calibration and intercept."""
        return replace(self, calibration=calibration, intercept=intercept)

    def body(self) -> dict[str, Any]:
        return {
            "intercept": self.intercept,
            "n_layers": self.n_layers,
            "final": self.final.tolist(),
            "features": [feature_body(feature) for feature in self.features],
            "nodes": {name: array.tolist() for name, array in self.nodes._asdict().items()},
        }

    @classmethod
    def from_body(cls, fields: Fields, shared: Shared) -> "ProgramModel":
        intercept = fields.number("intercept")
        n_layers = fields.integer("n_layers")
        if not 1 <= n_layers <= 65_534:
            raise fields.fail("n_layers", "between 1 and 65534")
        final = fields.terms("final")
        if len(final) != n_layers + 1:
            raise fields.fail("final", f"a list of {n_layers + 1} numbers")
        features = tuple(_feature_from(child) for child in fields.children("features"))
        check_names(fields, features)
        child = fields.child("nodes")
        nodes = _nodes_from(child, features, n_layers)
        child.end()
        return cls(*shared, features, n_layers, nodes, final, intercept)

    def __str__(self) -> str:
        frozen = int((self.nodes.feature < 0).sum())
        lines = [
            f"ProgramModel: {self.n_layers} layers, {self.n_nodes} nodes, {frozen} of them frozen; "
            f"score = {self.intercept:+.4g} + the expected value of the end",
            f"{self.classes[1]!r} is predicted where score > {self.threshold:g}, "
            f"{self.classes[0]!r} elsewhere",
        ]
        shown = [(t, i) for t in range(1, min(self.n_layers, 4) + 1) for i in range(t)]
        lines += [f"  layer {t}, node {i}: {self._describe(t, i)}" for t, i in shown]
        if self.n_layers > 4:
            lines.append(f"  ... and {self.n_layers - 4} more layers")
        return "\n".join(lines)

    def _describe(self, t: int, i: int) -> str:
        """The test of one node in words."""
        k = t * (t - 1) // 2 + i
        nodes = self.nodes
        j = int(nodes.feature[k])
        if j < 0:
            return f"frozen, ends with {nodes.value[k]:.3g}"
        feature = self.features[j]
        if feature.is_category:
            chances = nodes.table[nodes.start[k] :][: feature.n_bins + 1]
            names = ("missing", *map(str, feature.categories))
            parts = [f"{name} {p:.0%}" for name, p in zip(names, chances, strict=True)]
        else:
            parts = [*self._sides(k, feature), f"missing {nodes.missing[k]:.0%}"]
        return f"{feature.name} goes right: {', '.join(parts[:8])}"

    def _sides(self, k: int, feature: Feature) -> list[str]:
        """The chances of known numbers: below and above the cut, or of all of them alike."""
        low, high, code = self.nodes.low[k], self.nodes.high[k], int(self.nodes.cut[k])
        # In front of the first bin, or behind the last, a cut leaves one side empty.
        if code == 0 or code == feature.n_bins:
            return [f"not missing {high if code == 0 else low:.0%}"]
        cut = f"{feature.cuts[code - 1]:.4g}"
        return [f"<= {cut} {low:.0%}", f"> {cut} {high:.0%}"]


def _feature_from(fields: Fields) -> Feature:
    feature = read_feature(fields)
    fields.end()
    return feature


_WHOLE = ("feature", "cut", "start")


def _nodes_from(fields: Fields, features: tuple[Feature, ...], n_layers: int) -> Nodes:
    """The nodes of a file; every index is checked, because kernels do not check theirs."""
    n_nodes = n_layers * (n_layers + 1) // 2
    columns = {name: fields.terms(name) for name in Nodes._fields}
    for name, column in columns.items():
        if name != "table" and len(column) != n_nodes:
            raise fields.fail(name, f"a list of {n_nodes} numbers, one per node")
        whole = name in _WHOLE
        if whole and not (np.rint(column) == column).all():
            raise fields.fail(name, "a list of whole numbers")
        if not whole and name != "value" and not ((column >= 0) & (column <= 1)).all():
            raise fields.fail(name, "a list of chances between 0 and 1")
    _check_indices(fields, columns, features)
    arrays: dict[str, Any] = dict(columns)
    for name in _WHOLE:
        arrays[name] = columns[name].astype(np.int64)
    return Nodes(**arrays)


def _check_indices(
    fields: Fields, columns: dict[str, Floats], features: tuple[Feature, ...]
) -> None:
    feature = columns["feature"]
    if not ((feature >= -1) & (feature < len(features))).all():
        raise fields.fail("feature", f"a list of numbers from -1 to {len(features) - 1}")
    live = feature >= 0
    at = feature[live].astype(np.int64)
    n_codes = np.array([f.n_bins + 1 for f in features])[at]
    is_category = np.array([f.is_category for f in features], dtype=np.bool_)[at]
    cut, start = columns["cut"][live], columns["start"][live]
    if not ((cut >= 0) & (cut < n_codes)).all():
        raise fields.fail("cut", "a list of bins of the nodes' features")
    fits = np.where(
        is_category, (start >= 0) & (start + n_codes <= len(columns["table"])), start == -1
    )
    if not fits.all():
        raise fields.fail("start", "a list of places in the table, -1 for numbers")
