"""Group: the processes that fit one model together, each of which holds some of the rows.

Every member runs the same learner on its own rows. A sum over all rows is the sum of the members'
sums, and these are whole numbers: every member gets the same total, whoever holds which rows, and
takes the same decisions. A single process is a group of one, for which nothing is sent.

All members must make the same calls in the same order.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


class Group:
    """A group of one: the process on its own.

    A group of several processes is a subclass that overrides ``rank``, ``size`` and ``gather``, and
    whatever it can do faster than by gathering.

    Attributes
    ----------
    rank : int
        The number of this member, from 0.
    size : int
        The number of members.
    """

    rank: int = 0
    size: int = 1

    def gather(self, item: Any) -> list[Any]:
        """The items of all members, in the order of their ranks, for every member."""
        return [item]

    def exchange(self, items: Sequence[Any]) -> list[Any]:
        """Send ``items[k]`` to member k; returns what each member has sent to this one."""
        return [sent[self.rank] for sent in self.gather(items)]

    def sum(self, counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The sum of the members' arrays of whole numbers, entry by entry.

        Examples
        --------
        >>> Group().sum(np.array([1, 2])).tolist()
        [1, 2]
        """
        check_counts(counts)
        return counts if self.size == 1 else add_up(self.gather(counts))

    def begin_round(self, number: int, is_known: bool = False) -> None:
        """Note the number of the round that begins, for messages about members that are lost.

        ``is_known`` says that the round is one of an earlier run and is only repeated.
        """

    def total(self, number: int) -> int:
        """The sum of one whole number of each member, of any size."""
        return sum(map(int, self.gather(int(number))))

    def any(self, flag: bool) -> bool:
        """Whether the flag of some member is set."""
        return any(self.gather(bool(flag)))

    def largest(self, number: float) -> float:
        """The largest number of all members; NaN if some number is NaN."""
        return float(np.max(self.gather(float(number))))

    def ends(self, low: float, high: float) -> tuple[float, float]:
        """The smallest ``low`` and the largest ``high`` of all members; NaN if one is NaN."""
        lows, highs = zip(*self.gather((float(low), float(high))), strict=True)
        return float(np.min(lows)), float(np.max(highs))

    def smallest(self, number: float) -> float:
        """The smallest number of all members; NaN if some number is NaN."""
        return float(np.min(self.gather(float(number))))


ALONE = Group()


def check_counts(counts: npt.NDArray[Any]) -> None:
    """Raise an error for floats: their sum would depend on which member holds which rows."""
    if counts.dtype.kind not in "iu":
        raise TypeError(f"counts are of type {counts.dtype}; give whole numbers")


def add_up(arrays: Sequence[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """The sum of arrays of the same shape and type; an error if they differ in these."""
    kinds = {(array.shape, array.dtype.str) for array in arrays}
    if len(kinds) > 1:
        raise ValueError(f"the members of a group have arrays of different shapes: {sorted(kinds)}")
    total = arrays[0].copy()
    for array in arrays[1:]:
        total += array
    return total
