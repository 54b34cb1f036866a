"""TreeModel: a tree whose leaves are ranked (Clemencon & Vayatis 2009, Figure 2)."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from auctor._text import count, prediction_rule
from auctor._typing import Bools, Floats, Ints
from auctor.data import Feature, Table
from auctor.kernels.trees import TreeNodes, leaves_of
from auctor.models.base import Model
from auctor.models.export.plan import Constant, Lookup, Sum, Term
from auctor.models.export.plan_trees import plan_trees
from auctor.models.features import check_names, code_columns, feature_body, read_feature
from auctor.models.fields import Fields
from auctor.models.file import register
from auctor.models.serialization import Shared
from auctor.models.tree_cells import Cells, find_cells
from auctor.models.tree_nodes import read_nodes
from auctor.models.tree_rules import list_rules

_MAX_PRINTED = 40  # leaves of a printed model


@register
@dataclass(frozen=True, eq=False)
class TreeModel(Model):
    """A ranking tree: score(x) = intercept + the value of the leaf of x.

    Attributes
    ----------
    features : tuple of Feature
        The features with their bins.
    nodes : TreeNodes
        The tests of the nodes, and their children. Every row goes from node 0 to a leaf.
    is_cell : ndarray of shape (n_nodes,)
        Which nodes are cells of the ranking tree. The others are inner nodes of the small tree
        that splits a cell into two.
    neg, pos : ndarray of shape (n_nodes,)
        The weight of the training rows of each class at each node.
    value : ndarray of shape (n_nodes,)
        What each leaf adds to the score.
    probability : ndarray of shape (n_nodes,)
        The probability of the positive class in each leaf, which increases with ``value``. It
        takes the place of the logistic calibration of other models.
    intercept : float

    Examples
    --------
    >>> from auctor import TreeRank
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> print(TreeRank(max_depth=1).fit(X, y).model_)
    TreeModel: ranking tree of depth 1 over 3 features; 2 leaves, from the highest score to
    the lowest
    1 is predicted where score >= 0, 0 elsewhere
      score +0.5: 42.9% of 35 rows are 1 where x2 <= 12.5
      score -0.5: 4.3% of 46 rows are 1 where (x2 > 12.5 or missing)
    """

    features: tuple[Feature, ...]
    nodes: TreeNodes
    is_cell: Bools
    neg: Floats
    pos: Floats
    value: Floats
    probability: Floats
    intercept: float

    form: ClassVar[str] = "tree"

    def __post_init__(self) -> None:
        for array in (*self.nodes, self.is_cell, *(getattr(self, name) for name in _FLOATS)):
            array.flags.writeable = False

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    @cached_property
    def leaves(self) -> Ints:
        """The leaves, from the highest score to the lowest."""
        leaves = np.flatnonzero(self.nodes.feature < 0)
        return leaves[np.argsort(-self.value[leaves], kind="stable")]

    @cached_property
    def cells(self) -> Cells:
        """The ranking tree without the inner nodes of its splits."""
        return find_cells(self.nodes, self.is_cell, self.value)

    def apply(self, codes: npt.NDArray[Any]) -> Ints:
        """The leaf of each row; rows are given by their codes (features, rows)."""
        return leaves_of(codes, self.nodes)

    def _score(self, table: Table, columns: Ints) -> Floats:
        leaf = self.apply(code_columns(self.features, table, columns))
        return self.intercept + self.value[leaf]

    def probabilities(self, scores: Floats) -> Floats:
        """Probability of each class for scores that ``decision_function`` returned."""
        leaves = self.leaves[::-1]  # by increasing score
        index = np.searchsorted(self.intercept + self.value[leaves], scores, side="right") - 1
        p = self.probability[leaves][np.maximum(index, 0)]
        return np.column_stack([1.0 - p, p])

    def _plan_score(self) -> Term:
        (tree,) = plan_trees(self.features, self.nodes, np.zeros(1, dtype=np.int64), self.value)
        return Sum((Constant(float(self.intercept)), tree))

    def _plan_probability(self) -> Lookup:
        leaves = self.leaves[::-1]  # by increasing score
        scores = self.intercept + self.value[leaves]
        return Lookup(tuple(scores.tolist()), tuple(self.probability[leaves].tolist()))

    def body(self) -> dict[str, Any]:
        nodes = {name: array.tolist() for name, array in self.nodes._asdict().items()}
        floats = {name: getattr(self, name).tolist() for name in _FLOATS}
        return {
            "intercept": self.intercept,
            "features": [feature_body(feature) for feature in self.features],
            "nodes": {**nodes, "cell": self.is_cell.astype(int).tolist(), **floats},
        }

    @classmethod
    def from_body(cls, fields: Fields, shared: Shared) -> "TreeModel":
        intercept = fields.number("intercept")
        features = tuple(_feature_from(child) for child in fields.children("features"))
        check_names(fields, features)
        child = fields.child("nodes")
        nodes, (cell,) = read_nodes(child, features, flags=("cell",))
        is_cell = cell.astype(np.bool_)
        neg, pos, value, probability = (_floats_from(child, name, len(is_cell)) for name in _FLOATS)
        child.end()
        model = cls(*shared, features, nodes, is_cell, neg, pos, value, probability, intercept)
        model._check(child)
        return model

    def _check(self, fields: Fields) -> None:
        """Check what the columns of a file must satisfy together."""
        # Larger values could be tied after the intercept is added.
        if not (np.abs(self.value) <= 2.0**50).all() or not abs(self.intercept) <= 2.0**50:
            raise fields.fail("value", "a list of numbers below 2^50")
        if not (np.diff(self.intercept + self.value[self.leaves]) < 0).all():
            raise fields.fail("value", "a list with different numbers for different leaves")
        p = self.probability[self.leaves]
        if not ((p >= 0) & (p <= 1)).all() or not (np.diff(p) <= 0).all():
            wanted = "a list of numbers from 0 to 1 that do not decrease with 'value'"
            raise fields.fail("probability", wanted)
        for name, weight in (("neg", self.neg), ("pos", self.pos)):
            if not (weight >= 0).all():
                raise fields.fail(name, "a list of weights of 0 or more")
        try:
            _ = self.cells
        except ValueError as error:
            raise fields.fail("cell", str(error)) from None

    def finished(self, **changes: Any) -> "TreeModel":
        """A copy of the tree with other values in some fields."""
        return replace(self, **changes)

    def __str__(self) -> str:
        lines = [
            f"TreeModel: ranking tree of depth {self.cells.depth.max()} over "
            f"{count(len(self.features), 'feature')}; {len(self.leaves)} leaves, from "
            "the highest score to the lowest",
            prediction_rule(self.classes, self.threshold),
        ]
        shown = self.leaves[:_MAX_PRINTED]
        for leaf, rule in zip(shown.tolist(), list_rules(self, shown), strict=True):
            rows = self.neg[leaf] + self.pos[leaf]
            rate = self.pos[leaf] / rows if rows > 0 else 0.0
            lines.append(
                f"  score {self.intercept + self.value[leaf]:+g}: {rate:.1%} of {rows:g} rows "
                f"are {self.classes[1]!r} where {rule}"
            )
        if len(self.leaves) > len(shown):
            lines.append(f"  ... and {len(self.leaves) - len(shown)} more leaves")
        return "\n".join(lines)


_FLOATS = ("neg", "pos", "value", "probability")


def _feature_from(fields: Fields) -> Feature:
    feature = read_feature(fields)
    fields.end()
    return feature


def _floats_from(fields: Fields, name: str, n_nodes: int) -> Floats:
    column = fields.terms(name)
    if len(column) != n_nodes:
        raise fields.fail(name, f"a list of {n_nodes} numbers, one for each node")
    return column
