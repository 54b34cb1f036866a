"""Drawing of a branching program (Long and Servedio 2007, Figure 2)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from auctor._checks import check_whole
from auctor._typing import Bools, Floats, Ints
from auctor.display.look import ShortRepr


@dataclass(eq=False, repr=False)
class ProgramDisplay(ShortRepr):
    """The nodes of a branching program with the training rows of each class that reach them.

    Attributes
    ----------
    layer, index : ndarray of shape (n_nodes,)
        Layer of each node, counted from 1, and its index within the layer.
    weight_neg, weight_pos : ndarray of shape (n_nodes,)
        Number (or weight) of the training rows of each class that reach the node.
    frozen : ndarray of shape (n_nodes,)
        Whether the node is frozen: rows that reach it do not continue.
    figure_, ax_
        Set by :meth:`plot`.

    Examples
    --------
    >>> from auctor import MartiRank
    >>> from auctor.display import ProgramDisplay
    >>> from auctor.datasets import make_r_of_k
    >>> X, y = make_r_of_k(500, n_features=9, k=9, r=5, random_state=0)
    >>> display = ProgramDisplay.from_estimator(MartiRank(n_layers=3).fit(X, y))
    >>> display.layer.tolist(), int(display.frozen.sum())
    ([1, 2, 2, 3, 3, 3], 0)
    """

    layer: Ints
    index: Ints
    weight_neg: Floats
    weight_pos: Floats
    frozen: Bools

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_layers: int = 20) -> Self:
        """Read the first layers of a fitted MartiRank; :meth:`plot` draws them.

        Parameters
        ----------
        estimator : fitted MartiRank
            The estimator to draw.
        max_layers : int, default=20
            Maximum number of layers.

        Returns
        -------
        ProgramDisplay
        """
        check_whole(max_layers, "max_layers")
        layers = getattr(getattr(estimator, "history_", None), "layers", None)
        if not layers:
            raise ValueError(
                f"{type(estimator).__name__} has no branching program; give a fitted MartiRank"
            )
        layers = layers[:max_layers]
        nodes = [node for layer in layers for node in layer]
        return cls(
            np.array([node.layer for node in nodes]),
            np.array([node.index for node in nodes]),
            np.array([node.weight_neg for node in nodes]),
            np.array([node.weight_pos for node in nodes]),
            np.array([node.feature < 0 for node in nodes]),
        )

    def plot(self, ax: Any = None) -> Self:
        """Draw the program with the first layer on top, negatives to the left, positives right.

        The area of a node is its fraction of the rows of the layer, its colour the fraction of
        positives among them. Squares are frozen nodes.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            The axes to draw on. By default a new figure.

        Returns
        -------
        ProgramDisplay
        """
        import matplotlib.pyplot as plt

        if ax is None:
            _, ax = plt.subplots(figsize=(7, 5))
        x, y = self.index - (self.layer - 1) / 2, -1.0 * self.layer
        total = self.weight_neg + self.weight_pos
        reached = total > 0
        self._draw_edges(ax, x.astype(np.float64), y.astype(np.float64), reached)
        of_layer = np.bincount(self.layer, total)[self.layer]
        size = 10 + 900 * np.divide(total, of_layer, out=np.zeros(len(total)), where=of_layer > 0)
        positive = np.divide(self.weight_pos, total, out=np.full(len(total), 0.5), where=reached)
        for marker, kind in (("o", ~self.frozen), ("s", self.frozen)):
            drawn = ax.scatter(
                *(values[reached & kind] for values in (x, y, size, positive)),
                marker=marker,
                cmap="coolwarm",
                vmin=0,
                vmax=1,
                edgecolors="black",
                linewidths=0.5,
                zorder=2,
            )
        ax.figure.colorbar(drawn, ax=ax, label="fraction of positives among the rows at a node")
        ax.set_yticks(np.unique(y), np.unique(-y).astype(int)[::-1])
        ax.set(xlabel="(steps to the right - steps to the left) / 2", ylabel="layer")
        ax.margins(y=0.08)  # space for the first node, which is the largest
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_edges(self, ax: Any, x: Floats, y: Floats, reached: Bools) -> None:
        """Draw edges to the next layer, from nodes that are not frozen."""
        last = int(self.layer.max())
        for k in np.flatnonzero(reached & ~self.frozen & (self.layer < last)):
            for side in (-0.5, 0.5):
                ends = [x[k], x[k] + side], [y[k], y[k] - 1]
                ax.plot(*ends, color="0.8", linewidth=0.8, zorder=1)
