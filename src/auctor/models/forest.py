"""ForestModel: many ranking trees, and for each row the mean or the median of its ranks."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Floats, Ints
from auctor.data import Feature, Table, read_table, select
from auctor.kernels.trees import TreeNodes, forest_values
from auctor.models.base import Model, Shared
from auctor.models.features import check_names, code_columns, feature_body, read_feature
from auctor.models.fields import Fields
from auctor.models.file import register
from auctor.models.tree_nodes import read_nodes, read_whole

AGGREGATES = ("mean", "median", "sum")

# Rows that go through all trees at a time: their codes stay in the cache meanwhile.
_BLOCK = 512
_SHOWN_FEATURES = 10
_RANK = "rank of the row's leaf, from 0 to 1"


@register
@dataclass(frozen=True, eq=False)
class ForestModel(Model):
    """score(x) = intercept + the mean or median over the trees of the rank of x's leaf.

    The nodes of all trees stand one behind the other; tree t begins at ``roots[t]``. The ``rank``
    of a leaf is a number from 0, the worst, to 1, and means nothing at other nodes. Trees that
    were boosted are added up (``aggregate="sum"``), and their ranks are the terms of that sum.
    ``importance`` is each feature's share of what all splits gained.
    """

    features: tuple[Feature, ...]
    aggregate: str
    roots: Ints
    nodes: TreeNodes
    rank: Floats
    importance: Floats
    intercept: float

    form: ClassVar[str] = "forest"

    def __post_init__(self) -> None:
        for array in (*self.nodes, self.roots, self.rank, self.importance):
            array.flags.writeable = False

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    @property
    def n_trees(self) -> int:
        return len(self.roots)

    @cached_property
    def depths(self) -> Ints:
        """The longest way through each tree."""
        depth = _depths(self.nodes)
        return np.maximum.reduceat(depth, self.roots)

    @cached_property
    def walker(self) -> "Walker":
        return Walker(self.nodes, self.roots, self.rank)

    def codes(self, X: Any) -> npt.NDArray[np.uint16]:
        """The rows of any table as codes (features, rows)."""
        table = read_table(X, accept_sparse=True)
        columns = select(table, self.feature_names, type(self).__name__)
        return code_columns(self.features, table, columns)

    def score_codes(self, codes: npt.NDArray[Any]) -> Floats:
        """Scores of rows given by their codes (features, rows)."""
        return self.intercept + score_blocks(self.walker, codes, self.aggregate)

    def _score(self, table: Table, columns: Ints) -> Floats:
        return self.score_codes(code_columns(self.features, table, columns))

    def finished(self, **changes: Any) -> "ForestModel":
        """The same forest with other values in some fields."""
        return replace(self, **changes)

    def body(self) -> dict[str, Any]:
        nodes = {name: array.tolist() for name, array in self.nodes._asdict().items()}
        return {
            "intercept": self.intercept,
            "aggregate": self.aggregate,
            "features": [
                {**feature_body(feature), "importance": share}
                for feature, share in zip(self.features, self.importance.tolist(), strict=True)
            ],
            "roots": self.roots.tolist(),
            "nodes": {**nodes, "rank": self.rank.tolist()},
        }

    @classmethod
    def from_body(cls, fields: Fields, shared: Shared) -> "ForestModel":
        intercept = fields.number("intercept")
        aggregate = fields.choice("aggregate", AGGREGATES)
        pairs = [_feature_from(child) for child in fields.children("features")]
        features = tuple(feature for feature, _ in pairs)
        check_names(fields, features)
        roots = read_whole(fields, "roots")
        child = fields.child("nodes")
        nodes, _ = read_nodes(child, features)
        rank = _ranks_from(child, len(nodes.feature), aggregate)
        child.end()
        _check_roots(fields, roots, nodes)
        importance = np.array([share for _, share in pairs])
        return cls(*shared, features, aggregate, roots, nodes, rank, importance, intercept)

    def __str__(self) -> str:
        n_leaves = int((self.nodes.feature < 0).sum())
        lines = [
            f"ForestModel: {self.n_trees} trees over {len(self.features)} features, up to "
            f"{self.depths.max()} tests deep, {n_leaves / self.n_trees:.4g} leaves each on average",
            f"score = {self.intercept:+.4g} + the {self.aggregate} over the trees of the "
            + ("value of the row's leaf" if self.aggregate == "sum" else _RANK),
            f"{self.classes[1]!r} is predicted where score > {self.threshold:g}, "
            f"{self.classes[0]!r} elsewhere",
        ]
        used = [j for j in np.argsort(-self.importance, kind="stable") if self.importance[j] > 0]
        for j in used[:_SHOWN_FEATURES]:
            lines.append(f"  {self.importance[j]:6.1%} of the gain: {self.features[j].name}")
        if len(used) > _SHOWN_FEATURES:
            lines.append(f"  ... and {len(used) - _SHOWN_FEATURES} more features")
        return "\n".join(lines)


class Walker:
    """The trees as the kernel wants them."""

    def __init__(self, nodes: TreeNodes, roots: Ints, rank: Floats) -> None:
        above, below = (np.where(nodes.above == i, nodes.left, nodes.right) for i in (1, 0))
        missing = np.where(nodes.missing == 1, nodes.left, nodes.right)
        self._nodes = np.column_stack(
            [nodes.feature, nodes.cut, above, below, missing, nodes.start, nodes.left, nodes.right]
        ).astype(np.int32)
        self._table, self._roots, self._rank = nodes.table, roots, rank

    def ranks(self, codes: npt.NDArray[Any], start: int, size: int) -> Floats:
        """Ranks (trees, rows) of ``size`` rows from ``start`` on."""
        tile = np.ascontiguousarray(codes[:, start : start + size].T)
        place, active = np.empty((2, size), dtype=np.int64)
        ranks = np.empty((len(self._roots), size))
        trees = self._nodes, self._table, self._roots, self._rank
        forest_values(tile, *trees, place, active, ranks)
        return ranks


def score_blocks(walker: Walker, codes: npt.NDArray[Any], aggregate: str) -> Floats:
    """Mean, median or sum over the trees for each row, some rows at a time."""
    scores = np.empty(codes.shape[1])
    for start in range(0, len(scores), _BLOCK):
        ranks = walker.ranks(codes, start, min(_BLOCK, len(scores) - start))
        scores[start : start + _BLOCK] = aggregated(ranks, aggregate)
    return scores


def aggregated(ranks: Floats, aggregate: str, counts: Bools | None = None) -> Floats:
    """Mean, median or sum of each column (trees, rows), of the trees that count for it.

    The median of an even number is the mean of the two in the middle. Ranks stand on a grid, so
    that sums are exact and no order of the trees shows. NaN where no tree counts.

    Examples
    --------
    >>> ranks = np.array([[0.0], [0.25], [1.0], [0.5]])
    >>> aggregated(ranks, "mean").tolist(), aggregated(ranks, "median").tolist()
    ([0.4375], [0.375])
    """
    size = np.full(ranks.shape[1], len(ranks)) if counts is None else counts.sum(axis=0)
    some = np.maximum(size, 1)
    if aggregate != "median":
        shown = ranks if counts is None else np.where(counts, ranks, 0.0)
        out = shown.sum(axis=0) / (some if aggregate == "mean" else 1)
    else:
        shown = ranks if counts is None else np.where(counts, ranks, np.inf)
        rising = np.sort(shown.T, axis=1)  # those that do not count come last
        row = np.arange(len(some))
        out = (rising[row, (some - 1) // 2] + rising[row, some // 2]) / 2.0
    return np.where(size > 0, out, np.nan)


def _depths(nodes: TreeNodes) -> Ints:
    """Depth of each node: children stand behind their parents."""
    depth = np.zeros(len(nodes.feature), dtype=np.int64)
    inner = np.flatnonzero(nodes.feature >= 0).tolist()
    for k, left, right in zip(inner, nodes.left[inner], nodes.right[inner], strict=True):
        depth[left] = max(depth[left], depth[k] + 1)
        depth[right] = max(depth[right], depth[k] + 1)
    return depth


def _feature_from(fields: Fields) -> tuple[Feature, float]:
    feature, share = read_feature(fields), fields.number("importance")
    if not 0.0 <= share <= 1.0:
        raise fields.fail("importance", "from 0 to 1")
    fields.end()
    return feature, share


def _ranks_from(fields: Fields, n_nodes: int, aggregate: str) -> Floats:
    rank = fields.terms("rank")
    if len(rank) != n_nodes:
        raise fields.fail("rank", f"a list of {n_nodes} numbers, one per node")
    if aggregate == "sum":
        if not (np.abs(rank) < 2.0**50).all():
            raise fields.fail("rank", "a list of numbers below 2^50")
    elif not ((rank >= 0) & (rank <= 1)).all():
        raise fields.fail("rank", "a list of numbers from 0 to 1")
    return rank


def _check_roots(fields: Fields, roots: Ints, nodes: TreeNodes) -> None:
    """Trees stand one behind the other, and none leads into the next."""
    n_nodes = len(nodes.feature)
    if len(roots) == 0 or roots[0] != 0 or (np.diff(roots) <= 0).any() or roots[-1] >= n_nodes:
        raise fields.fail("roots", f"a rising list from 0 on of nodes below {n_nodes}")
    end = np.repeat(np.append(roots[1:], n_nodes), np.diff(roots, append=n_nodes))
    if (np.maximum(nodes.left, nodes.right) >= end).any():
        raise fields.fail("roots", "such that the children of a node belong to its tree")
