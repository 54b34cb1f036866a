"""Drawing of one tree of a forest or of boosted trees."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from auctor._checks import is_whole
from auctor._text import count
from auctor._typing import Floats, Ints
from auctor.display.look import ShortRepr
from auctor.display.tree_drawing import CellLook, cell_positions, describe_test, draw_tree
from auctor.models import ForestModel, SumModel
from auctor.models.tree_rules import codes_left


@dataclass(eq=False, repr=False)
class ForestTreeDisplay(ShortRepr):
    """The nodes of one tree of a forest, with what each leaf adds to the score.

    Attributes
    ----------
    x, depth : ndarray of shape (n_nodes,)
        Position of each node: leaves from left to right. Of the two parts of a node, the one with
        the higher mean value is on the left.
    parent : ndarray of shape (n_nodes,)
        The index of the parent node; -1 for the root.
    cover : ndarray of shape (n_nodes,)
        Number (or weight) of the training rows that reached the node.
    value : ndarray of shape (n_nodes,)
        What a leaf adds to the score; of other nodes, the mean over their training rows.
    test : list of str
        The condition under which rows of a node go left; empty for leaves.
    tree : int
        The position of the tree in the forest.
    n_trees : int
        Number of trees in the forest.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from auctor import SmoothTreeBoost
    >>> from auctor.display import ForestTreeDisplay
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> ranker = SmoothTreeBoost(3, init=None, early_stopping=False, max_depth=2).fit(X, y)
    >>> display = ForestTreeDisplay.from_estimator(ranker, tree=1)
    >>> display.n_trees, display.test[0]
    (3, 'x2 <= 12.5 or missing')
    """

    x: Floats
    depth: Ints
    parent: Ints
    cover: Floats
    value: Floats
    test: list[str]
    tree: int
    n_trees: int

    @classmethod
    def from_estimator(cls, estimator: Any, *, tree: int = 0, max_depth: int = 5) -> Self:
        """Read a tree of a fitted estimator; :meth:`plot` draws it.

        Parameters
        ----------
        estimator : fitted SmoothTreeBoost
            Another estimator will do if its model has trees with the cover of their nodes.
        tree : int, default=0
            The position of the tree, from 0. The first trees of a boosted model add most.
        max_depth : int, default=5
            Maximum depth of the drawing.

        Returns
        -------
        ForestTreeDisplay

        Examples
        --------
        >>> from auctor.display import ForestTreeDisplay
        >>> from auctor import SmoothTreeBoost
        >>> X, y = [[1.0], [2.0], [3.0], [4.0]] * 10, [0, 0, 1, 1] * 10
        >>> ranker = SmoothTreeBoost(3, early_stopping=False).fit(X, y)
        >>> ForestTreeDisplay.from_estimator(ranker).test
        ['x0 > 2.5', '', '']
        """
        return cls.from_model(
            getattr(estimator, "model_", estimator), tree=tree, max_depth=max_depth
        )

    @classmethod
    def from_model(cls, model: Any, *, tree: int = 0, max_depth: int = 5) -> Self:
        """Read a tree of a model; :meth:`plot` draws it.

        Parameters
        ----------
        model : ForestModel or SumModel
            A forest with the cover of its nodes, or a sum of models of which one is a forest.
        tree, max_depth
            As in :meth:`from_estimator`.

        Returns
        -------
        ForestTreeDisplay
        """
        forest, weight = _forest_of(model)
        if not is_whole(tree) or not 0 <= tree < forest.n_trees:
            raise ValueError(
                f"tree is {tree!r}, but the forest has {count(forest.n_trees, 'tree')}; give a "
                f"number from 0 to {forest.n_trees - 1}"
            )
        nodes = _read_tree(forest, weight, tree, max_depth)
        return cls(**nodes, tree=tree, n_trees=forest.n_trees)

    def plot(self, ax: Any = None) -> Self:
        """Draw the tree with the root on top, and higher values on the left of each node.

        The area of a node is the fraction of the training rows in it, its colour what it adds to
        the score. Squares are leaves of the drawing.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default a new figure.

        Returns
        -------
        ForestTreeDisplay
        """
        most = float(np.abs(self.value).max()) or 1.0
        labels = [f"{v:+.3g}\nof {c:g}" for v, c in zip(self.value, self.cover, strict=True)]
        look = CellLook(
            self.cover, self.value, (-most, most), labels, "what a leaf adds to the score"
        )
        self.ax_ = draw_tree(ax, self.x, self.depth, self.parent, self.test, look)
        self.ax_.set_title(f"tree {self.tree}, counted from 0, of {self.n_trees}", fontsize=10)
        self.figure_ = self.ax_.figure
        return self


def _forest_of(model: Any) -> tuple[ForestModel, float]:
    """The first forest of a model, and the weight of its trees in the score."""
    pairs = [(model, 1.0)]
    if isinstance(model, SumModel):
        pairs = list(zip(model.parts, model.weights.tolist(), strict=True))
    for part, weight in pairs:
        if isinstance(part, ForestModel) and part.cover is not None:
            return part, weight * (1.0 if part.aggregate == "sum" else 1.0 / part.n_trees)
    raise ValueError(
        f"{type(model).__name__} has no trees with the weight of the training rows at their nodes "
        "(cover); give a SmoothTreeBoost whose model_ has trees"
    )


def _read_tree(forest: ForestModel, weight: float, tree: int, max_depth: int) -> dict[str, Any]:
    """The attributes of the display for the nodes down to the maximum depth."""
    assert forest.cover is not None
    start = int(forest.roots[tree])
    end = int(forest.roots[tree + 1]) if tree + 1 < forest.n_trees else len(forest.rank)
    cover = forest.cover[start:end]
    left, right = (
        np.where(child[start:end] < 0, -1, child[start:end] - start)
        for child in (forest.nodes.left, forest.nodes.right)
    )
    value = _means(left, right, cover, weight * forest.rank[start:end])
    swapped = (left >= 0) & (value[left] < value[right])
    upper, lower = np.where(swapped, right, left), np.where(swapped, left, right)
    depth, parent = np.zeros((2, end - start), dtype=np.int64)
    parent[0] = -1
    for k in np.flatnonzero(left >= 0).tolist():
        depth[[left[k], right[k]]], parent[[left[k], right[k]]] = depth[k] + 1, k
    shown = np.flatnonzero(depth <= max_depth)
    number = np.full(end - start, -1)
    number[shown] = np.arange(len(shown))
    return {
        "x": cell_positions(upper, lower, depth, max_depth)[shown],
        "depth": depth[shown],
        "parent": np.where(parent[shown] < 0, -1, number[parent[shown]]),
        "cover": cover[shown],
        "value": value[shown],
        "test": [_test(forest, start + k, bool(swapped[k])) for k in shown.tolist()],
    }


def _means(left: Ints, right: Ints, cover: Floats, value: Floats) -> Floats:
    """The values of leaves, and the means over the training rows of other nodes."""
    out = value.copy()
    for k in np.flatnonzero(left >= 0)[::-1].tolist():
        children = [left[k], right[k]]
        weight = cover[children] if cover[children].sum() > 0 else np.ones(2)
        out[k] = np.average(out[children], weights=weight)
    return out


def _test(forest: ForestModel, k: int, is_swapped: bool) -> str:
    """The condition for going to the part that is drawn on the left, in words."""
    feature = int(forest.nodes.feature[k])
    if feature < 0:
        return ""
    codes = codes_left(forest, k)
    return describe_test(forest.features[feature], ~codes if is_swapped else codes)
