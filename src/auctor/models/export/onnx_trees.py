"""Trees in the form of the ONNX operator for trees, in which nodes may share children."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np


class Branch(NamedTuple):
    """A node that sends rows to ``yes`` if their column is at most ``cut``, others to ``no``.

    NaN goes to ``yes`` if ``nan_is_yes``. The children are numbers of nodes.
    """

    column: int
    cut: float
    yes: int
    no: int
    nan_is_yes: bool


@dataclass
class Tree:
    """A tree under construction: branches and leaves, in which nodes may share children.

    A leaf is a whole number, for instance the index of a value.
    """

    nodes: list[Branch | int] = field(default_factory=list)
    root: int = 0
    _leaves: dict[int, int] = field(default_factory=dict)

    def add(self, branch: Branch) -> int:
        """Add a branch, and return the number of its node."""
        self.nodes.append(branch)
        return len(self.nodes) - 1

    def leaf(self, leaf: int) -> int:
        """The number of the node of a leaf, which is added if it is not there yet."""
        if leaf not in self._leaves:
            self._leaves[leaf] = len(self.nodes)
            self.nodes.append(leaf)
        return self._leaves[leaf]

    def search(
        self, column: int, cuts: Sequence[float], children: Sequence[int], missing: int | None
    ) -> int:
        """Add a binary search among the intervals between cuts, and return the number of its root.

        ``children`` has one node for each interval, which includes its upper end. NaN goes to
        ``missing``; it is None for columns without NaN.
        """
        differs = [k for k in range(len(cuts)) if children[k] != children[k + 1]]
        kept = [children[k] for k in differs] + [children[-1]]
        if missing is not None and missing != kept[-1]:
            # NaN is not at most a cut. It arrives in the last interval, like large numbers.
            kept[-1] = self.add(Branch(column, np.inf, kept[-1], missing, False))
        return self._halve(column, [cuts[k] for k in differs], kept)

    def _halve(self, column: int, cuts: list[float], children: list[int]) -> int:
        if not cuts:
            return children[0]
        middle = len(cuts) // 2
        yes = self._halve(column, cuts[:middle], children[: middle + 1])
        no = self._halve(column, cuts[middle + 1 :], children[middle + 1 :])
        return self.add(Branch(column, cuts[middle], yes, no, False))


class Layout:
    """The nodes of a tree in an order that onnxruntime accepts.

    It places the child ``no`` right behind its parent, and only the child ``yes`` may be that of
    several nodes. Leaves are copied. A shared node that is the child ``no`` of one more node is
    reached by a branch that sends every row to it.
    """

    def __init__(self, tree: Tree) -> None:
        self.nodes: list[Branch | int] = []
        self._tree = tree
        self._placed: dict[int, int] = {}
        stack = [(tree.root, -1, True)]
        while stack:
            number, parent, is_yes = stack.pop()
            position = self._place(number, is_yes)
            if parent >= 0:
                self._link(parent, is_yes, position)
            node = tree.nodes[number]
            if position == len(self.nodes) - 1 and isinstance(node, Branch):
                stack += [(node.yes, position, True), (node.no, position, False)]

    def _place(self, number: int, is_yes: bool) -> int:
        node, position = self._tree.nodes[number], len(self.nodes)
        if isinstance(node, int):
            self.nodes.append(node)
        elif number not in self._placed:
            self._placed[number] = position
            self.nodes.append(node)
        elif is_yes:
            return self._placed[number]
        else:
            self.nodes += [Branch(0, np.inf, self._placed[number], position + 1, True), 0]
        return position

    def _link(self, parent: int, is_yes: bool, child: int) -> None:
        node = self.nodes[parent]
        assert isinstance(node, Branch)
        self.nodes[parent] = node._replace(yes=child) if is_yes else node._replace(no=child)
