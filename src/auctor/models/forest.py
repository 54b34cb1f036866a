"""ForestModel: many ranking trees, whose leaves' ranks are averaged for each row."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from auctor._text import count, prediction_rule
from auctor._typing import Bools, Floats, Ints
from auctor.data import Feature, Table, Workers, select
from auctor.kernels.arrays import read_only
from auctor.kernels.forest import PackedTrees, forest_values, packed_sums, packed_values
from auctor.kernels.trees import TreeNodes
from auctor.models.additive import on_grid_if_small
from auctor.models.explained import ExplainedModel, add_error
from auctor.models.export.plan import Constant, Forest, Sum, Term
from auctor.models.export.plan_trees import plan_trees
from auctor.models.features import check_names, code_columns, feature_body, read_feature
from auctor.models.fields import Fields
from auctor.models.file import register
from auctor.models.packed_trees import pack_trees
from auctor.models.reference import Reference, check_reference, read_reference
from auctor.models.serialization import Shared
from auctor.models.tree_nodes import read_nodes, read_whole
from auctor.models.tree_shapley import ShapleyTrees, cover_fault

AGGREGATES = ("mean", "median", "sum")

# Number of rows that go through all trees together, so that their codes stay in the cache.
_BLOCK = 512
_CALL = 16 * _BLOCK  # rows of one call of a kernel, which cannot be interrupted
_MAX_PRINTED = 10  # features of a printed model

_NO_COVER = (
    "this forest does not have the weight of the training rows at each node (cover), from which "
    "the average row is computed that an explanation compares with; additive and linear models "
    "explain rows without it. print(model) shows how this one scores"
)
_MEDIAN = (
    "this forest takes the median over its trees, which is not a sum over them; give "
    "aggregate='mean' or 'sum' to explain rows. print(model) shows how this one scores"
)


@register
@dataclass(frozen=True, eq=False)
class ForestModel(ExplainedModel):
    """A forest: score(x) = intercept + the mean, median or sum over trees of the rank of x's leaf.

    Attributes
    ----------
    features : tuple of Feature
        The features with their bins.
    aggregate : {"mean", "median", "sum"}
        How the trees are combined. Boosted trees are summed.
    roots : ndarray of shape (n_trees,)
        The index of the first node of each tree; the nodes of all trees are in one list.
    nodes : TreeNodes
        The tests of the nodes, and their children.
    rank : ndarray of shape (n_nodes,)
        The rank of each leaf, from 0 (lowest scores) to 1; for ``aggregate="sum"`` the term that
        the leaf adds. The entries of other nodes are not used.
    importance : ndarray of shape (n_features,)
        The fraction of the gain of all splits that each feature has.
    intercept : float
    cover : ndarray of shape (n_nodes,) or None
        The weight of the training rows that reached each node. With it rows can be explained by
        Shapley values. No two nodes of such a forest may have the same child.
    reference : Reference or None
        What explanations compare with, if it is not the average training row that ``cover`` has.

    Examples
    --------
    A tree that adds 1 where x is above 2, which three of four training rows are:

    >>> import numpy as np
    >>> from auctor.data import number_feature
    >>> from auctor.kernels.trees import TreeNodes
    >>> from auctor.models import Calibration, ForestModel
    >>> columns = np.array([[0, -1, -1], [1, 0, 0], [1, 0, 0], [0, 0, 0], [-1, -1, -1]])
    >>> children = np.array([[1, -1, -1], [2, -1, -1]])
    >>> nodes = TreeNodes(*columns, np.empty(0, dtype=np.int64), *children)
    >>> x, rank = number_feature("x", np.array([2.0])), np.array([0.0, 1.0, 0.0])
    >>> shared, trees = ((0, 1), 0.5, Calibration(1.0, 0.0)), (np.array([0]), nodes, rank)
    >>> cover = np.array([4.0, 3.0, 1.0])
    >>> model = ForestModel(*shared, (x,), "sum", *trees, np.ones(1), 0.0, cover)
    >>> one = model.explain([2.5])
    >>> one.base, one.contributions, one.score
    (0.75, (0.25,), 1.0)
    """

    features: tuple[Feature, ...]
    aggregate: str
    roots: Ints
    nodes: TreeNodes
    rank: Floats
    importance: Floats
    intercept: float
    cover: Floats | None = None
    reference: Reference | None = None

    form: ClassVar[str] = "forest"

    def __post_init__(self) -> None:
        check_reference(self.reference, len(self.features))
        fault = None if self.cover is None else cover_fault(self.cover, self.nodes)
        if fault is not None:
            raise ValueError(f"cover must be {fault}")
        known = () if self.cover is None else (self.cover,)
        for array in (*self.nodes, self.roots, self.rank, self.importance, *known):
            array.flags.writeable = False

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(feature.name for feature in self.features)

    @property
    def n_trees(self) -> int:
        return len(self.roots)

    @cached_property
    def depths(self) -> Ints:
        """The depth of each tree: the number of tests on its longest path."""
        depth = _depths(self.nodes)
        return np.maximum.reduceat(depth, self.roots)

    @cached_property
    def walker(self) -> "Walker":
        """The trees in the layout of the kernel that scores rows."""
        return Walker(self.nodes, self.roots, self.rank)

    def codes(self, X: Any) -> npt.NDArray[np.uint16]:
        """The rows of a table of any type as codes (features, rows)."""
        table = self._read(X)
        columns = select(table, self.feature_names, type(self).__name__)
        return code_columns(self.features, table, columns)

    def decision_function(self, X: Any, n_jobs: int | None = None) -> Floats:
        """The score of each row. A larger score means that the row is more likely positive.

        Parameters
        ----------
        X : table
            A numpy array, list of rows, scipy sparse matrix, or pandas, polars or pyarrow table.
            Columns are matched by name if the table has names; columns that the model does not
            know are ignored.
        n_jobs : int, default=None
            Number of threads. None is 1, and -1 is all cores. The scores are the same, bit for
            bit, for any number.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        table = self._read(X)
        columns = select(table, self.feature_names, type(self).__name__)
        with Workers(n_jobs) as workers:
            # A thread costs more than it gains if all rows are the work of one call.
            return self._score(table, columns, workers if table.n_rows > _CALL else None)

    def score_codes(self, codes: npt.NDArray[Any], workers: Workers | None = None) -> Floats:
        """Scores of rows given by their codes (features, rows)."""
        return self.intercept + score_blocks(self.walker, codes, self.aggregate, workers)

    def _score(self, table: Table, columns: Ints, workers: Workers | None = None) -> Floats:
        return self.score_codes(code_columns(self.features, table, columns, workers), workers)

    @property
    def term_names(self) -> tuple[str, ...]:
        """Names of the terms of an explanation, which are the features."""
        return self.feature_names

    def _term_features(self) -> list[tuple[int, ...]]:
        return [(j,) for j in range(len(self.features))]

    @property
    def why_unexplained(self) -> str | None:
        """Why this forest cannot explain rows, as a sentence; None if it can."""
        if self.aggregate == "median":
            return _MEDIAN
        return _NO_COVER if self.cover is None else None

    @property
    def average_row(self) -> Reference | None:
        """What explanations compare a row with: the average training row, unless set."""
        if self.reference is not None or self.why_unexplained is not None:
            return self.reference
        return Reference(np.zeros(len(self.features)))

    @cached_property
    def shapley(self) -> ShapleyTrees:
        """The trees in the layout of the kernel that explains rows."""
        assert self.cover is not None
        return ShapleyTrees(self.nodes, self.roots, self.cover, self.rank)

    @property
    def constant(self) -> float:
        """The average score of the training rows, to which the contributions of a row are added."""
        if self.why_unexplained is not None:
            return self.intercept
        mean = on_grid_if_small(np.array(self._weight * self.shapley.expected))
        return float(self.intercept + mean)

    @property
    def _weight(self) -> float:
        """The weight of each tree in the score."""
        return 1.0 if self.aggregate == "sum" else 1.0 / self.n_trees

    def _contributions(self, table: Table, columns: Ints) -> Floats:
        return self._explain(table, columns)[0]

    def _explain(self, table: Table, columns: Ints) -> tuple[Floats, Floats]:
        """Shapley values, rounded as scores are; the error, about 1e-10, is put on the largest."""
        codes = code_columns(self.features, table, columns)
        parts = on_grid_if_small(self._weight * self.shapley.values(codes)).T.copy()
        scores = self.score_codes(codes)
        add_error(parts, self.constant, scores)
        return parts, scores

    def _on_grid(self, averages: Floats) -> Floats:
        return on_grid_if_small(averages)

    def _plan_score(self) -> Term:
        trees = plan_trees(self.features, self.nodes, self.roots, self.rank)
        return Sum((Constant(float(self.intercept)), Forest(trees, self.aggregate)))

    def finished(self, **changes: Any) -> "ForestModel":
        """A copy of the forest with other values in some fields."""
        return replace(self, **changes)

    def body(self) -> dict[str, Any]:
        nodes = {name: array.tolist() for name, array in self.nodes._asdict().items()}
        return {
            "intercept": self.intercept,
            "aggregate": self.aggregate,
            "features": [
                {**feature_body(feature), "importance": importance}
                for feature, importance in zip(self.features, self.importance.tolist(), strict=True)
            ],
            "roots": self.roots.tolist(),
            "nodes": {**nodes, "rank": self.rank.tolist(), **self._cover_body()},
            **({"reference": self.reference.body()} if self.reference is not None else {}),
        }

    def _cover_body(self) -> dict[str, Any]:
        return {} if self.cover is None else {"cover": self.cover.tolist()}

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
        cover = _cover_from(child, nodes)
        child.end()
        _check_roots(fields, roots, nodes)
        importance = np.array([number for _, number in pairs])
        reference = read_reference(fields, len(features))
        head = *shared, features, aggregate, roots
        return cls(*head, nodes, rank, importance, intercept, cover, reference)

    def __str__(self) -> str:
        n_leaves = int((self.nodes.feature < 0).sum())
        lines = [
            f"ForestModel: {count(self.n_trees, 'tree')} over "
            f"{count(len(self.features), 'feature')}, maximum depth {self.depths.max()}, "
            f"{n_leaves / self.n_trees:.4g} leaves per tree on average",
            f"score = {self.intercept:+.4g} + the {self.aggregate} over the trees of the "
            + ("value" if self.aggregate == "sum" else "rank (0 to 1)")
            + " of the row's leaf",
            prediction_rule(self.classes, self.threshold),
        ]
        used = [j for j in np.argsort(-self.importance, kind="stable") if self.importance[j] > 0]
        for j in used[:_MAX_PRINTED]:
            lines.append(f"  {self.importance[j]:6.1%} of the gain: {self.features[j].name}")
        if len(used) > _MAX_PRINTED:
            lines.append(f"  ... and {len(used) - _MAX_PRINTED} more features")
        return "\n".join(lines)


class Walker:
    """Trees in the layout of the kernels that score rows."""

    def __init__(self, nodes: TreeNodes, roots: Ints, rank: Floats) -> None:
        self._trees = nodes, roots, rank
        self._packed = pack_trees(nodes, roots, rank)
        self.n_trees = len(roots)

    def ranks(self, codes: npt.NDArray[Any], start: int, size: int) -> Floats:
        """Ranks (trees, rows) of rows ``start`` to ``start + size``."""
        ranks = np.empty((self.n_trees, size))
        if self._packed is not None and codes.dtype.itemsize <= 2:
            packed_values(
                read_only(codes), start, self._packed, *_buffers(self._packed, size), ranks
            )
            return ranks
        tile = np.ascontiguousarray(codes[:, start : start + size].T)
        node, active = np.empty((2, size), dtype=np.int64)
        forest_values(tile, *self._unpacked, node, active, ranks)
        return ranks

    def sums(self, codes: npt.NDArray[Any], start: int, size: int) -> Floats:
        """Sum over the trees of the ranks of rows ``start`` to ``start + size``."""
        if self._packed is None or codes.dtype.itemsize > 2:
            return self.ranks(codes, start, size).sum(axis=0)
        sums = np.empty(size)
        packed_sums(read_only(codes), start, self._packed, *_buffers(self._packed, size), sums)
        return sums

    @cached_property
    def _unpacked(self) -> tuple[npt.NDArray[np.int32], Ints, Ints, Floats]:
        """The arguments of ``forest_values``: nodes, table, roots and ranks."""
        nodes, roots, rank = self._trees
        above, below = (np.where(nodes.above == i, nodes.left, nodes.right) for i in (1, 0))
        missing = np.where(nodes.missing == 1, nodes.left, nodes.right)
        columns = np.column_stack(
            [nodes.feature, nodes.cut, above, below, missing, nodes.start, nodes.left, nodes.right]
        )
        return columns.astype(np.int32), nodes.table, roots, rank


def _buffers(trees: PackedTrees, size: int) -> tuple[npt.NDArray[Any], ...]:
    """The buffers of the kernels for blocks of up to ``size`` rows."""
    n_rows = min(size, _BLOCK)
    tile = np.empty((len(trees.feature), n_rows), dtype=np.uint16)
    return tile, np.empty(n_rows, dtype=np.uint64), np.empty(n_rows, dtype=np.uint32)


def score_blocks(
    walker: Walker, codes: npt.NDArray[Any], aggregate: str, workers: Workers | None = None
) -> Floats:
    """Mean, median or sum over the trees for each row, computed in blocks of rows."""
    scores = np.empty(codes.shape[1])
    block = _BLOCK if aggregate == "median" else _CALL

    def score(start: int) -> None:
        size = min(block, len(scores) - start)
        if aggregate == "median":
            values = aggregated(walker.ranks(codes, start, size), aggregate)
        else:
            values = walker.sums(codes, start, size)
        scores[start : start + size] = values

    (workers or Workers(1)).map(score, range(0, len(scores), block))
    return scores / walker.n_trees if aggregate == "mean" else scores


def aggregated(ranks: Floats, aggregate: str, counts: Bools | None = None) -> Floats:
    """Mean, median or sum over the trees of each column of ``ranks`` (trees, rows).

    ``counts`` (trees, rows) marks the trees that count for a row; the result is NaN if none does.
    The median of an even number of ranks is the mean of the two in the middle. Ranks are multiples
    of a power of two, so that sums are exact and do not depend on the order of the trees.

    Examples
    --------
    >>> ranks = np.array([[0.0], [0.25], [1.0], [0.5]])
    >>> aggregated(ranks, "mean").tolist(), aggregated(ranks, "median").tolist()
    ([0.4375], [0.375])
    """
    size = np.full(ranks.shape[1], len(ranks)) if counts is None else counts.sum(axis=0)
    at_least_one = np.maximum(size, 1)
    if aggregate != "median":
        counted = ranks if counts is None else np.where(counts, ranks, 0.0)
        out = counted.sum(axis=0) / (at_least_one if aggregate == "mean" else 1)
    else:
        counted = ranks if counts is None else np.where(counts, ranks, np.inf)
        ordered = np.sort(counted.T, axis=1)  # trees that do not count come last
        row = np.arange(len(size))
        middle = ordered[row, (at_least_one - 1) // 2], ordered[row, at_least_one // 2]
        out = (middle[0] + middle[1]) / 2.0
    return np.where(size > 0, out, np.nan)


def _depths(nodes: TreeNodes) -> Ints:
    """Depth of each node; children come after their parents in the list."""
    depth = np.zeros(len(nodes.feature), dtype=np.int64)
    inner = np.flatnonzero(nodes.feature >= 0).tolist()
    for k, left, right in zip(inner, nodes.left[inner], nodes.right[inner], strict=True):
        depth[left] = max(depth[left], depth[k] + 1)
        depth[right] = max(depth[right], depth[k] + 1)
    return depth


def _feature_from(fields: Fields) -> tuple[Feature, float]:
    feature, importance = read_feature(fields), fields.number("importance")
    if not 0.0 <= importance <= 1.0:
        raise fields.fail("importance", "a number from 0 to 1")
    fields.end()
    return feature, importance


def _ranks_from(fields: Fields, n_nodes: int, aggregate: str) -> Floats:
    rank = fields.terms("rank")
    if len(rank) != n_nodes:
        raise fields.fail("rank", f"a list of {n_nodes} numbers, one for each node")
    if aggregate == "sum":
        if not (np.abs(rank) < 2.0**50).all():
            raise fields.fail("rank", "a list of numbers below 2^50")
    elif not ((rank >= 0) & (rank <= 1)).all():
        raise fields.fail("rank", "a list of numbers from 0 to 1")
    return rank


def _cover_from(fields: Fields, nodes: TreeNodes) -> Floats | None:
    """The weight of the training rows at each node; None if there is none, as in old files."""
    if not fields.has("cover"):
        return None
    cover = fields.terms("cover")
    fault = cover_fault(cover, nodes)
    if fault is not None:
        raise fields.fail("cover", fault)
    return cover


def _check_roots(fields: Fields, roots: Ints, nodes: TreeNodes) -> None:
    """Check that the trees follow one another, and that no child belongs to another tree."""
    n_nodes = len(nodes.feature)
    if len(roots) == 0 or roots[0] != 0 or (np.diff(roots) <= 0).any() or roots[-1] >= n_nodes:
        raise fields.fail(
            "roots", f"an increasing list of nodes from 0 to {n_nodes - 1} that begins with 0"
        )
    end = np.repeat(np.append(roots[1:], n_nodes), np.diff(roots, append=n_nodes))
    if (np.maximum(nodes.left, nodes.right) >= end).any():
        raise fields.fail("roots", "such that the children of a node belong to its tree")
