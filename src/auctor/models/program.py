"""ProgramModel: a layered branching program (Long & Servedio 2007, Figure 2)."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from auctor._text import count, prediction_rule
from auctor._typing import Floats, Ints
from auctor.data import Feature, Table
from auctor.kernels.program import Nodes, expect
from auctor.models.base import Model
from auctor.models.export.plan import Bins, Constant, Program, Steps, Sum, Term, bins_of
from auctor.models.features import check_names, code_columns, feature_body, read_feature
from auctor.models.fields import Fields
from auctor.models.file import register
from auctor.models.serialization import Calibration, Shared


@register
@dataclass(frozen=True, eq=False)
class ProgramModel(Model):
    """A branching program, in which each row goes down the layers to one of the final nodes.

    Layer t has t nodes. Each node sends a row left or right, depending on the bin of one feature,
    or with a probability that depends on it. Left leads from node i of a layer to node i of the
    next one, right to node i + 1. score(x) = intercept + the expected value of the final node.

    Attributes
    ----------
    features : tuple of Feature
        The features with their bins.
    n_layers : int
        Number of layers.
    nodes : Nodes
        For each node its feature and the probabilities of going right. Rows stop at a frozen
        node (feature -1), whose value takes the place of that of a final node.
    final : ndarray of shape (n_layers + 1,)
        The value of each final node.
    intercept : float

    Examples
    --------
    >>> from auctor import MartiRank
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = MartiRank(n_layers=2, min_samples_leaf=2).fit(X, y).model_
    >>> model.n_nodes
    3
    >>> print(model)
    ProgramModel: branching program of 2 layers and 3 nodes, 0 of them frozen (rows stop there)
    score = -0.2921 + the expected value of the node where the row ends
    1 is predicted where score >= 0, 0 elsewhere
      layer 1, node 0: probability of going right by x2: <= 12.5 84%, > 12.5 0%, missing 50%
      layer 2, node 0: probability of going right by x2: <= 12.5 100%, > 12.5 17%, missing 50%
      layer 2, node 1: probability of going right by x1: <= 4.5 0%, > 4.5 78%, missing 50%
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
        """The expected value of each row, without the intercept, from codes (features, rows)."""
        out = np.empty(codes.shape[1])
        expect(codes, self.nodes, self.final, out)
        return out

    def _plan_score(self) -> Term:
        gates = tuple(map(self._plan_gate, range(self.n_nodes)))
        program = Program(gates, tuple(self.final.tolist()))
        return Sum((Constant(float(self.intercept)), program))

    def _plan_gate(self, k: int) -> Steps | Constant:
        """The probability of going right at node k, or the value of a frozen node."""
        nodes, j = self.nodes, int(self.nodes.feature[k])
        if j < 0:
            return Constant(float(nodes.value[k]))
        feature = self.features[j]
        if feature.is_category:
            start = int(nodes.start[k])
            chances = nodes.table[start : start + feature.n_bins + 1]
            return Steps(bins_of(feature, j), tuple(chances.tolist()))
        low, high, missing = (float(x[k]) for x in (nodes.low, nodes.high, nodes.missing))
        code = int(nodes.cut[k])
        # A cut before the first bin or after the last one leaves one side empty.
        if code == 0 or code == feature.n_bins:
            return Steps(Bins(j), (missing, high if code == 0 else low))
        return Steps(Bins(j, (float(feature.cuts[code - 1]),)), (missing, low, high))

    def finished(self, calibration: Calibration, intercept: float) -> "ProgramModel":
        """A copy of the program with another calibration and intercept."""
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
            f"ProgramModel: branching program of {count(self.n_layers, 'layer')} and "
            f"{count(self.n_nodes, 'node')}, {frozen} of them frozen (rows stop there)",
            f"score = {self.intercept:+.4g} + the expected value of the node where the row ends",
            prediction_rule(self.classes, self.threshold),
        ]
        shown = [(t, i) for t in range(1, min(self.n_layers, 4) + 1) for i in range(t)]
        lines += [f"  layer {t}, node {i}: {self._describe(t, i)}" for t, i in shown]
        if self.n_layers > 4:
            lines.append(f"  ... and {self.n_layers - 4} more layers")
        return "\n".join(lines)

    def _describe(self, t: int, i: int) -> str:
        """The test of node i of layer t in words."""
        k = t * (t - 1) // 2 + i
        nodes = self.nodes
        j = int(nodes.feature[k])
        if j < 0:
            return f"frozen, value {nodes.value[k]:.3g}"
        feature = self.features[j]
        if feature.is_category:
            chances = nodes.table[nodes.start[k] :][: feature.n_bins + 1]
            names = ("missing", *map(str, feature.categories))
            parts = [f"{name} {p:.0%}" for name, p in zip(names, chances, strict=True)]
        else:
            parts = [*self._sides(k, feature), f"missing {nodes.missing[k]:.0%}"]
        return f"probability of going right by {feature.name}: {', '.join(parts[:8])}"

    def _sides(self, k: int, feature: Feature) -> list[str]:
        """The probabilities of numbers below and above the cut, or of all numbers together."""
        low, high, code = self.nodes.low[k], self.nodes.high[k], int(self.nodes.cut[k])
        # A cut before the first bin or after the last one leaves one side empty.
        if code == 0 or code == feature.n_bins:
            return [f"not missing {high if code == 0 else low:.0%}"]
        cut = f"{feature.cuts[code - 1]:.4g}"
        return [f"<= {cut} {low:.0%}", f"> {cut} {high:.0%}"]


def _feature_from(fields: Fields) -> Feature:
    feature = read_feature(fields)
    fields.end()
    return feature


_WHOLE_COLUMNS = ("feature", "cut", "start")


def _nodes_from(fields: Fields, features: tuple[Feature, ...], n_layers: int) -> Nodes:
    """Read the nodes of a file; every index is checked here, because kernels do not check any."""
    n_nodes = n_layers * (n_layers + 1) // 2
    columns = {name: fields.terms(name) for name in Nodes._fields}
    for name, column in columns.items():
        if name != "table" and len(column) != n_nodes:
            raise fields.fail(name, f"a list of {n_nodes} numbers, one for each node")
        is_whole = name in _WHOLE_COLUMNS
        if is_whole and not (np.rint(column) == column).all():
            raise fields.fail(name, "a list of whole numbers")
        if not is_whole and name != "value" and not ((column >= 0) & (column <= 1)).all():
            raise fields.fail(name, "a list of probabilities from 0 to 1")
    _check_indices(fields, columns, features)
    arrays: dict[str, Any] = dict(columns)
    for name in _WHOLE_COLUMNS:
        arrays[name] = columns[name].astype(np.int64)
    return Nodes(**arrays)


def _check_indices(
    fields: Fields, columns: dict[str, Floats], features: tuple[Feature, ...]
) -> None:
    feature = columns["feature"]
    if not ((feature >= -1) & (feature < len(features))).all():
        raise fields.fail("feature", f"a list of numbers from -1 to {len(features) - 1}")
    has_test = feature >= 0
    tested = feature[has_test].astype(np.int64)
    n_codes = np.array([f.n_bins + 1 for f in features])[tested]
    is_category = np.array([f.is_category for f in features], dtype=np.bool_)[tested]
    cut, start = columns["cut"][has_test], columns["start"][has_test]
    if not ((cut >= 0) & (cut < n_codes)).all():
        raise fields.fail("cut", "a list of bins of the nodes' features")
    fits = np.where(
        is_category, (start >= 0) & (start + n_codes <= len(columns["table"])), start == -1
    )
    if not fits.all():
        raise fields.fail("start", "a list of positions in 'table', -1 for numeric features")
