"""The drawing that displays of trees share: cells by depth, with tests between their branches."""

from textwrap import fill
from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Bools, Floats, Ints
from auctor.data import Feature
from auctor.models.tree_rules import condition

# Maximum length of a test in the drawing.
_MAX_LENGTH = 28


class CellLook(NamedTuple):
    """Size, colour and label of each cell."""

    total: Floats  # the area of a cell
    colour: Floats
    limits: tuple[float, float]  # of the colours
    labels: list[str]  # written below the leaves
    colour_label: str


def draw_tree(
    ax: Any, x: Floats, depth: Ints, parent: Ints, test: list[str], look: CellLook
) -> Any:
    """Draw the cells on given or new axes, which are returned."""
    import matplotlib.pyplot as plt

    n_leaves = 1 + int(x.max())
    if ax is None:
        _, ax = plt.subplots(figsize=(min(max(7.0, 1.1 * n_leaves), 20.0), 6.0))
    has_child = np.isin(np.arange(len(x)), parent)
    for k, above in enumerate(parent.tolist()):
        if above >= 0:
            ends = [x[above], x[k]], [-depth[above], -depth[k]]
            ax.plot(*ends, color="0.7", linewidth=0.9, zorder=1)
    size = 40 + 700 * look.total / max(float(look.total.max()), 1e-300)
    for marker, kind in (("o", has_child), ("s", ~has_child)):
        drawn = ax.scatter(
            *(values[kind] for values in (x, -1.0 * depth, size, look.colour)),
            marker=marker,
            cmap="coolwarm",
            vmin=look.limits[0],
            vmax=look.limits[1],
            edgecolors="black",
            linewidths=0.5,
            zorder=2,
        )
    _write_tests(ax, x, depth, parent, test, has_child)
    _write_labels(ax, x, depth, look.labels, has_child)
    ax.figure.colorbar(drawn, ax=ax, label=look.colour_label)
    ax.set_yticks(-np.arange(int(depth.max()) + 1.0), range(int(depth.max()) + 1))
    ax.set_xticks([])
    ax.set(xlabel="cells, with the better part of each on the left", ylabel="depth")
    ax.margins(x=0.08, y=0.14)
    ax.spines[["top", "right", "bottom"]].set_visible(False)
    return ax


def _write_tests(
    ax: Any, x: Floats, depth: Ints, parent: Ints, test: list[str], has_child: Bools
) -> None:
    """Write the tests between the branches.

    Texts that would overlap are omitted: of a wide tree only the shape is drawn.
    """
    n_leaves = 1 + int(x.max())
    for k in np.flatnonzero(has_child).tolist():
        width = float(np.ptp(x[parent == k]))
        if width >= n_leaves / 12 or n_leaves <= 10:
            # Below the cell, between its branches, and clear of the circle.
            position = (x[k], -depth[k] - 0.36)
            text = test[k] if width >= n_leaves / 5 else fill(test[k], 14)
            box = {"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.8}
            ax.annotate(text, position, ha="center", va="center", fontsize=8, bbox=box, zorder=3)


def _write_labels(ax: Any, x: Floats, depth: Ints, labels: list[str], has_child: Bools) -> None:
    """Write the labels below the leaves, unless they would overlap."""
    if 1 + int(x.max()) > 20:
        return
    for k in np.flatnonzero(~has_child).tolist():
        ax.annotate(
            labels[k], (x[k], -depth[k]), (0, -16), textcoords="offset points", ha="center",
            va="top", fontsize=7,
        )  # fmt: skip


def describe_test(feature: Feature, codes: Bools) -> str:
    """The condition that a feature has one of the codes, shortened for the drawing."""
    text = condition(feature, codes).strip("()")
    return text if len(text) <= _MAX_LENGTH else text[: _MAX_LENGTH - 3] + "..."


def cell_positions(upper: Ints, lower: Ints, depth: Ints, max_depth: int) -> Floats:
    """x positions: 0, 1, ... for leaves from left to right, the midpoint of the two parts else."""
    x = np.zeros(len(depth))
    n_leaves = 0
    order = []
    waiting = [0]
    while waiting:
        cell = waiting.pop()
        order.append(cell)
        if upper[cell] >= 0 and depth[cell] < max_depth:
            waiting += [int(lower[cell]), int(upper[cell])]
        else:
            x[cell] = n_leaves
            n_leaves += 1
    for cell in reversed(order):
        if upper[cell] >= 0 and depth[cell] < max_depth:
            x[cell] = (x[upper[cell]] + x[lower[cell]]) / 2
    return x
