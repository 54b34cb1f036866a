"""A branching program as a drawing (paper 000, Figure 2)."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from auctor._typing import Bools, Floats, Ints


@dataclass(eq=False)
class ProgramDisplay:
    """The nodes of a branching program and the rows of each class that pass them.

    Attributes
    ----------
    layer, index : ndarray of shape (n_nodes,)
        Where each node stands; layers count from 1.
    weight_neg, weight_pos : ndarray of shape (n_nodes,)
        Training rows (or their weight) of each class that reach the node.
    frozen : ndarray of shape (n_nodes,)
        Whether rows end there.
    figure_, ax_
        Set by :meth:`plot`.
    """

    layer: Ints
    index: Ints
    weight_neg: Floats
    weight_pos: Floats
    frozen: Bools

    @classmethod
    def from_estimator(cls, estimator: Any, *, max_layers: int = 20) -> Self:
        """The first layers of a fitted MartiRank."""
        if max_layers < 1:
            raise ValueError(f"max_layers is {max_layers}; it must be 1 or more")
        layers = getattr(getattr(estimator, "history_", None), "layers", None)
        if not layers:
            raise ValueError(
                f"{type(estimator).__name__} holds no branching program; give a fitted MartiRank"
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
        """Draw the program: the first layer on top, left is negative, right positive.

        The area of a node is the share of its layer's rows, its colour the share of positives
        among them; squares are frozen.
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
        share = np.divide(self.weight_pos, total, out=np.full(len(total), 0.5), where=reached)
        for marker, kind in (("o", ~self.frozen), ("s", self.frozen)):
            drawn = ax.scatter(
                *(values[reached & kind] for values in (x, y, size, share)),
                marker=marker,
                cmap="coolwarm",
                vmin=0,
                vmax=1,
                edgecolors="black",
                linewidths=0.5,
                zorder=2,
            )
        ax.figure.colorbar(drawn, ax=ax, label="share of positives among the rows at a node")
        ax.set_yticks(np.unique(y), np.unique(-y).astype(int)[::-1])
        ax.set(xlabel="steps to the right less steps to the left, halved", ylabel="layer")
        ax.margins(y=0.08)  # the first node is the largest
        ax.spines[["top", "right"]].set_visible(False)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def _draw_edges(self, ax: Any, x: Floats, y: Floats, reached: Bools) -> None:
        """Lines to the nodes below, from nodes that send rows on."""
        last = int(self.layer.max())
        for k in np.flatnonzero(reached & ~self.frozen & (self.layer < last)):
            for side in (-0.5, 0.5):
                ends = [x[k], x[k] + side], [y[k], y[k] - 1]
                ax.plot(*ends, color="0.8", linewidth=0.8, zorder=1)
