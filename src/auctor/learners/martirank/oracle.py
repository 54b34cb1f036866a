"""What an oracle of draws is to a learner (paper 000, section 5): a stream, and how it ends.

``oracle_stream.py`` reads a user's oracle, ``table_stream.py`` draws from a table.
"""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Ints
from auctor.data import Partition, RankingData, Table


class Stopped(Exception):  # noqa: N818 - it is caught by the learner, which says the rest
    """Learning cannot go on; ``what`` says what happened, ``advice`` what would do."""

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(what)
        self.advice = advice


class OracleExhausted(Stopped):
    """The oracle has no more rows to give; the learner knows how many it may want."""


class Stream(Protocol):
    """Draws as the learner sees them."""

    n_draws: int
    origin: str  # of the draws, in words
    is_fresh: bool  # whether no draw was seen before; a table's rows come again
    skipped: Ints  # draws of each class that were counted but not handed out
    table: Table | None  # the first batch, for the names of its columns

    def start(self, n_rows: int, limit: int) -> RankingData:
        """The first draws, at least ``n_rows`` of them, which fix the bins and the classes.

        A class that is rare is waited for until ``limit`` draws were made.
        """

    def draw(self, n_rows: int) -> Partition:
        """So many fresh draws; a row's place is the number of its draw."""


def positives_first(codes: npt.NDArray[Any], positive: Bools, numbers: Ints) -> Partition:
    """Draws with their numbers as a partition."""
    order = np.argsort(~positive, kind="stable")
    ones = np.ones(len(order), dtype=np.uint32)
    return Partition(codes[:, order], ones, numbers[order], int(positive.sum()))
