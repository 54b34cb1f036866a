"""Drawings of a ranking tree (Clemencon and Vayatis 2009, Figures 2 and 3)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from auctor._text import count, first_few
from auctor._typing import Bools, Floats, Ints
from auctor.display.look import ShortRepr
from auctor.display.tree_drawing import CellLook, cell_positions, describe_test, draw_tree
from auctor.models import TreeModel
from auctor.models.tree_rules import codes_left


@dataclass(eq=False, repr=False)
class TreeDisplay(ShortRepr):
    """The cells of a ranking tree, from the root down, with the rows of each class in them.

    Attributes
    ----------
    x, depth : ndarray of shape (n_cells,)
        Position of each cell: leaves from left to right, the best first.
    parent : ndarray of shape (n_cells,)
        The index of the parent cell; -1 for the root.
    weight_neg, weight_pos : ndarray of shape (n_cells,)
        Number (or weight) of the training rows of each class in the cell.
    test : list of str
        The condition under which rows of a cell go left, to the better part; empty for leaves.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from auctor import TreeRank
    >>> from auctor.display import TreeDisplay
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> display = TreeDisplay.from_estimator(TreeRank(max_depth=2).fit(X, y))
    >>> display.test[0], display.weight_pos[0]
    ('x2 <= 12.5', np.float64(17.0))
    """

    x: Floats
    depth: Ints
    parent: Ints
    weight_neg: Floats
    weight_pos: Floats
    test: list[str]

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_depth: int = 5) -> Self:
        """Read the first levels of a fitted TreeRank; :meth:`plot` draws them.

        Parameters
        ----------
        estimator : fitted TreeRank
            The estimator to draw.
        max_depth : int, default=5
            Maximum depth.

        Returns
        -------
        TreeDisplay
        """
        return cls.from_model(_tree_of(estimator), max_depth=max_depth)

    @classmethod
    def from_model(cls, model: TreeModel, *, max_depth: int = 5) -> Self:
        """Read the first levels of a TreeModel; :meth:`plot` draws them.

        Parameters
        ----------
        model : TreeModel
            The model to draw.
        max_depth : int, default=5
            Maximum depth.

        Returns
        -------
        TreeDisplay
        """
        upper, lower, depth = model.cells
        cells = np.flatnonzero((depth >= 0) & (depth <= max_depth))
        number = np.full(len(depth), -1)
        number[cells] = np.arange(len(cells))
        parent = np.full(len(cells), -1)
        for cell in cells.tolist():
            if upper[cell] >= 0 and depth[cell] < max_depth:
                parent[number[[upper[cell], lower[cell]]]] = number[cell]
        return cls(
            cell_positions(upper, lower, depth, max_depth)[cells],
            depth[cells],
            parent,
            model.neg[cells],
            model.pos[cells],
            [_test(model, cell) for cell in cells.tolist()],
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw the tree with the root on top and the leaves in order, the best one on the left.

        The area of a cell is the fraction of the rows in it, its colour the fraction of positives.
        Squares are leaves of the drawing. The test between the branches of a cell holds for the
        rows that go left.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default a new figure.

        Returns
        -------
        TreeDisplay
        """
        total = self.weight_neg + self.weight_pos
        rate = np.divide(self.weight_pos, total, out=np.full(len(total), 0.5), where=total > 0)
        look = CellLook(
            total,
            rate,
            (0.0, 1.0),
            [f"{r:.0%}\nof {t:g}" for r, t in zip(rate, total, strict=True)],
            "fraction of positives in a cell",
        )
        self.ax_ = draw_tree(ax, self.x, self.depth, self.parent, self.test, look)
        self.figure_ = self.ax_.figure
        return self


@dataclass(eq=False, repr=False)
class PartitionDisplay(ShortRepr):
    """The partition of the plane by a ranking tree over two features.

    Attributes
    ----------
    x_edges, y_edges : ndarray
        The cuts of both features between the limits of the axes.
    rank : ndarray of shape (len(y_edges) - 1, len(x_edges) - 1)
        The rank of the cell that each rectangle belongs to; 1 is the best.
    names : tuple of str
        The names of the two features.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from auctor import TreeRank
    >>> from auctor.display import PartitionDisplay
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> ranker = TreeRank(max_depth=2).fit(X[:, [0, 2]], y)
    >>> display = PartitionDisplay.from_estimator(ranker)
    >>> display.names, display.rank.shape
    (('x0', 'x1'), (3, 2))
    """

    x_edges: Floats
    y_edges: Floats
    rank: Ints
    names: tuple[str, str]

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Read the partition of a TreeRank over two numeric features; :meth:`plot` draws it."""
        return cls.from_model(_tree_of(estimator))

    @classmethod
    def from_model(cls, model: TreeModel) -> Self:
        """Read the partition of a TreeModel that uses two numeric features; :meth:`plot` draws it.

        The model may have been fitted to other features too, if no split uses them.
        """
        used = np.unique(model.nodes.feature[model.nodes.feature >= 0]).tolist()
        chosen = used if len(used) == 2 else list(range(len(model.features)))
        if len(chosen) != 2 or any(model.features[j].is_category for j in chosen):
            names = first_few((model.features[j].name for j in chosen), quote=False)
            raise ValueError(
                f"the tree has {count(len(chosen), 'feature')} ({names}); give a tree over two "
                "numeric features, or draw a TreeDisplay"
            )
        first, second = (model.features[j] for j in chosen)
        codes = np.zeros((len(model.features), first.n_bins * second.n_bins), dtype=np.uint16)
        down, across = np.meshgrid(
            np.arange(1, second.n_bins + 1), np.arange(1, first.n_bins + 1), indexing="ij"
        )
        codes[chosen[0]], codes[chosen[1]] = across.ravel(), down.ravel()
        rank = np.zeros(len(model.value), dtype=np.int64)
        rank[model.leaves] = np.arange(len(model.leaves)) + 1
        grid = rank[model.apply(codes)].reshape(second.n_bins, first.n_bins)
        edges = _edges(first.cuts), _edges(second.cuts)
        return cls(*edges, grid, (first.name, second.name))

    def plot(self, ax: Any = None, *, x_limits: Any = None, y_limits: Any = None) -> Self:
        """Draw the plane with a colour and a rank for each cell; 1 is the best.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default a new figure.
        x_limits, y_limits : pair of floats, optional
            Limits of the axes. The outer cells are unbounded; by default they are drawn up to a
            tenth of the range of the cuts.

        Returns
        -------
        PartitionDisplay
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(6.5, 5.5))
        x, y = _within(self.x_edges, x_limits), _within(self.y_edges, y_limits)
        n_cells = int(self.rank.max())
        ax.pcolormesh(x, y, self.rank, cmap="coolwarm_r", vmin=1, vmax=max(n_cells, 2))
        self._draw_boundaries(ax, x, y)
        if n_cells <= 40:
            self._number_cells(ax, x, y)
        ax.set(xlabel=self.names[0], ylabel=self.names[1])
        ax.set(xlim=(x[0], x[-1]), ylim=(y[0], y[-1]))
        ax.set_title("cells by rank, 1 is the best", fontsize=10)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_boundaries(self, ax: Any, x: Floats, y: Floats) -> None:
        """Draw the boundaries between cells."""
        rows, columns = np.nonzero(np.diff(self.rank, axis=1))
        ax.vlines(x[columns + 1], y[rows], y[rows + 1], color="black", linewidth=0.8)
        rows, columns = np.nonzero(np.diff(self.rank, axis=0))
        ax.hlines(y[rows + 1], x[columns], x[columns + 1], color="black", linewidth=0.8)

    def _number_cells(self, ax: Any, x: Floats, y: Floats) -> None:
        """Write the rank of each cell near its centre."""
        area = np.diff(y)[:, None] * np.diff(x)[None]
        for rank in np.unique(self.rank).tolist():
            row, column = _middle(self.rank == rank, area)
            position = (x[column] + x[column + 1]) / 2, (y[row] + y[row + 1]) / 2
            ax.annotate(
                str(rank), position, ha="center", va="center", fontsize=8,
                bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.7},
            )  # fmt: skip


def _middle(inside: Bools, area: Floats) -> tuple[int, int]:
    """The rectangle of a cell nearest to the centre of gravity of the cell."""
    rows, columns = np.nonzero(inside)
    weight = area[rows, columns]
    centre = np.array([rows @ weight, columns @ weight]) / weight.sum()
    nearest = np.argmin((rows - centre[0]) ** 2 + (columns - centre[1]) ** 2)
    return int(rows[nearest]), int(columns[nearest])


def _edges(cuts: Floats) -> Floats:
    """Cuts with an additional edge on both sides, a tenth of their range away."""
    if len(cuts) == 0:
        return np.array([0.0, 1.0])
    margin = 0.1 * float(np.ptp(cuts)) or 1.0
    return np.concatenate([[cuts[0] - margin], cuts, [cuts[-1] + margin]])


def _within(edges: Floats, limits: Any) -> Floats:
    """Edges with the outer ones moved to the limits."""
    edges = edges.copy()
    if limits is not None:
        edges[0], edges[-1] = min(limits[0], edges[1]), max(limits[1], edges[-2])
    return edges


def _test(model: TreeModel, cell: int) -> str:
    """The condition for going left, in words; of a split by a small tree, its first feature."""
    feature = int(model.nodes.feature[cell])
    if feature < 0:
        return ""
    if not (model.is_cell[model.nodes.left[cell]] and model.is_cell[model.nodes.right[cell]]):
        return f"a tree, by {model.features[feature].name} first"
    codes = codes_left(model, cell)
    if model.cells.upper[cell] != model.nodes.left[cell]:
        codes = ~codes  # the better part, drawn on the left, is the right child in the model
    return describe_test(model.features[feature], codes)


def _tree_of(estimator: Any) -> TreeModel:
    model = getattr(estimator, "model_", None)
    if not isinstance(model, TreeModel):
        raise ValueError(
            f"{type(estimator).__name__} has no tree; give a fitted TreeRank, or draw one of "
            "several trees as a ForestTreeDisplay"
        )
    return model
