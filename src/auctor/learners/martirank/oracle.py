"""Streams of draws as learners see them (Long & Servedio 2007, section 5), and how they end.

``oracle_stream.py`` reads the oracle of a user, ``table_stream.py`` draws rows from a table.
"""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from auctor._typing import Bools, Ints
from auctor.data import Partition, RankingData, Table


class Stopped(Exception):  # noqa: N818 - the learner catches it and raises an OracleError
    """Training cannot continue; ``what`` says why, and ``advice`` what to do about it."""

    def __init__(self, what: str, advice: str = "") -> None:
        super().__init__(what)
        self.advice = advice


class OracleExhausted(Stopped):
    """The oracle has no more rows; the learner adds how many it needs."""


class Stream(Protocol):
    """Draws as the learner sees them."""

    n_draws: int
    origin: str  # of the draws, for the certificate
    is_fresh: bool  # whether every draw is a new row; rows of a table are drawn repeatedly
    skipped: Ints  # draws of each class that were counted and not returned
    table: Table | None  # the first batch, for the names of its columns

    def start(self, n_rows: int, limit: int) -> RankingData:
        """The first draws, at least ``n_rows`` of them, which determine the bins and the classes.

        Draws continue until both classes have occurred, up to ``limit`` draws.
        """

    def draw(self, n_rows: int) -> Partition:
        """The next ``n_rows`` draws; ``rows`` of the partition are the numbers of the draws."""


def positives_first(codes: npt.NDArray[Any], positive: Bools, numbers: Ints) -> Partition:
    """Draws and their numbers as a partition, which has the positives first."""
    order = np.argsort(~positive, kind="stable")
    ones = np.ones(len(order), dtype=np.uint32)
    return Partition(codes[:, order], ones, numbers[order], int(positive.sum()))
