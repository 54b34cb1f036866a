"""The rows of each node of a growing tree, as lists of row numbers."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from auctor._typing import Ints
from auctor.data import RankingData, Workers
from auctor.kernels.trees import copy_lists, send_lists
from auctor.learners.common.blocks import class_blocks

Lists = npt.NDArray[np.uint32]


@dataclass(eq=False)
class Run:
    """Rows of one class in one partition: list k is ``order[begin[k]:end[k]]``.

    Weights are stored beside the row numbers, so that they are read in sequence. New lists are
    written to the spare arrays, which are then swapped with these.
    """

    partition: int
    label: int
    order: Lists
    amount: Lists
    spare_order: Lists
    spare_amount: Lists
    begin: Ints
    end: Ints

    def swap(self) -> None:
        self.order, self.spare_order = self.spare_order, self.order
        self.amount, self.spare_amount = self.spare_amount, self.amount


class NodeRows:
    """Keeps a list of rows for each node, and sends rows from nodes to their children.

    Lists of leaves are dropped, so that the cost of a level depends on its remaining rows only.
    """

    def __init__(
        self, data: RankingData, workers: Workers, weights: list[Lists] | None = None
    ) -> None:
        self._data, self._workers = data, workers
        self._n_lists = 1
        blocks = [block for each in class_blocks(data, workers.count) for block in each]
        self.runs = []
        for k, label, start, stop in blocks:
            weight = data.partitions[k].weight if weights is None else weights[k]
            present = np.flatnonzero(weight[start:stop])
            order = (present + start).astype(np.uint32)
            amount = weight[order]
            begin, end = np.array([0]), np.array([len(order)])
            spare = np.empty_like(order), np.empty_like(amount)
            self.runs.append(Run(k, label, order, amount, *spare, begin, end))

    @property
    def sizes(self) -> Ints:
        """Number of rows of each list."""
        sizes = np.zeros(self._n_lists, dtype=np.int64)
        for run in self.runs:
            sizes += run.end - run.begin
        return self._data.group.sum(sizes)

    @property
    def totals(self) -> Ints:
        """Weight of the negatives and of the positives in all lists."""
        totals = np.zeros(2, dtype=np.int64)
        for run in self.runs:
            totals[run.label] += run.amount.sum(dtype=np.int64)
        return self._data.group.sum(totals)

    def send(self, feature: Ints, goes_left: npt.NDArray[np.uint8]) -> None:
        """Replace each list by two: the rows that go left and those that go right.

        ``goes_left`` is (list, code). With feature -1 all rows of a list go left.
        """

        def send_run(run: Run) -> None:
            middle = np.empty_like(run.begin)
            codes = self._data.partitions[run.partition].codes
            lists = run.order, run.amount, run.begin, run.end
            send_lists(codes, *lists, feature, goes_left, run.spare_order, run.spare_amount, middle)
            run.begin = np.column_stack([run.begin, middle]).ravel()
            run.end = np.column_stack([middle, run.end]).ravel()
            run.swap()

        self._workers.map(send_run, self.runs)
        self._n_lists *= 2

    def take(self, lists: Ints) -> None:
        """Keep these lists only, in this order."""
        self._n_lists = len(lists)
        for run in self.runs:
            run.begin, run.end = run.begin[lists], run.end[lists]

    def merge(self, group: Ints) -> None:
        """Join the lists of each group 0, 1, ..., which need not be neighbours."""
        n_groups = int(group.max(initial=-1)) + 1
        by_group = np.argsort(group, kind="stable")

        def merge_run(run: Run) -> None:
            begin, end = run.begin[by_group], run.end[by_group]
            ends = np.cumsum(end - begin)
            copy_lists(
                run.order, run.amount, begin, end, ends - (end - begin),
                run.spare_order, run.spare_amount,
            )  # fmt: skip
            last = np.searchsorted(group[by_group], np.arange(n_groups), side="right")
            run.end = np.concatenate([[0], ends])[last]
            run.begin = np.concatenate([[0], run.end[:-1]])
            run.swap()

        self._workers.map(merge_run, self.runs)
        self._n_lists = n_groups
