"""DaskGroup: the tasks that fit one model, one on each worker, as a group.

What is sent goes from worker to worker, by calls of actors. Sums and small items meet on the
worker of member 0; large ones go to their receivers directly.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any, cast

import numpy as np
import numpy.typing as npt
from dask.sizeof import sizeof
from distributed import get_worker

from auctor.dask.meeting import GATHER, SUM, GroupError, Meeting, StepError
from auctor.data.group import Group, check_counts

# While a member waits for an answer, it looks this often (in seconds) whether the fit was stopped.
_LOOK_EVERY = 1.0
# Rounds are told to the scheduler at most this often (in seconds), for messages only.
_TELL_EVERY = 0.1


class DaskGroup(Group):
    """A member of a fit on a Dask worker.

    Parameters
    ----------
    rank : int
        The number of this member.
    meetings : sequence of actors
        A ``Meeting`` on the worker of each member.
    topic : str
        The topic of the events by which rounds are told.
    """

    def __init__(self, rank: int, meetings: Sequence[Any], topic: str) -> None:
        self.rank, self.size = rank, len(meetings)
        self._meetings, self._topic = meetings, topic
        self._n_steps = 0
        self._told = -np.inf
        self.round = 0
        self.n_bytes = 0  # sent by this member
        self.bytes_before: list[int] = []  # sent before each round

    def gather(self, item: Any) -> list[Any]:
        if self.size == 1:
            return [item]
        self._n_steps += 1
        self.n_bytes += sizeof(item)
        return list(self._answer(self._ask(0, "meet", GATHER, self.rank, item)))

    def sum(self, counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
        check_counts(counts)
        if self.size == 1:
            return counts
        self._n_steps += 1
        self.n_bytes += counts.nbytes
        doing = f"{SUM} of {counts.dtype} {counts.shape}"
        # A copy, because it may be read-only, or be shared by workers that are threads.
        return np.array(self._answer(self._ask(0, "meet", doing, self.rank, counts)))

    def exchange(self, items: Sequence[Any]) -> list[Any]:
        if self.size == 1:
            return list(items)
        self._n_steps += 1
        self.n_bytes += sum(map(sizeof, items))
        sent = [self._ask(k, "deliver", self.rank, item) for k, item in enumerate(items)]
        received = list(self._answer(self._ask(self.rank, "collect")))
        for answer in sent:  # done by now, unless a worker is lost
            self._answer(answer)
        return received

    def begin_round(self, number: int, is_known: bool = False) -> None:
        self._check_stopped()  # a member on its own would not notice it elsewhere
        self.round = number
        self.bytes_before.append(self.n_bytes)
        if self.rank == 0 and not is_known and monotonic() - self._told > _TELL_EVERY:
            self._told = monotonic()
            get_worker().log_event(self._topic, {"round": number})

    @property
    def meeting(self) -> Meeting | None:
        """The meeting on the worker of this member; None if the fit was cancelled."""
        return cast(Meeting | None, get_worker().state.actors.get(self._meetings[self.rank].key))

    def abort(self, reason: str) -> None:
        """Stop the other members, after an error of this one."""
        for meeting in self._meetings:
            try:
                meeting.abort(reason).result(timeout=10)
            except Exception:  # a worker that is gone need not be stopped
                continue

    def _ask(self, rank: int, method: str, *arguments: Any) -> Any:
        """Call a method of the meeting on a member's worker, for the present step."""
        with _lost():
            return getattr(self._meetings[rank], method)(self._n_steps, *arguments)

    def _answer(self, future: Any) -> Any:
        """The answer of a meeting; a GroupError if it cannot be reached or the fit was stopped."""
        while True:
            try:
                with _lost():
                    return future.result(timeout=_LOOK_EVERY)
            except TimeoutError:
                self._check_stopped()

    def _check_stopped(self) -> None:
        own = self.meeting
        if own is None:
            raise GroupError("the fit was cancelled")
        if own.failure is not None:
            raise GroupError(own.failure)


@contextmanager
def _lost() -> Iterator[None]:
    """Turn the errors of calls to an actor that is gone, or whose worker is, into a GroupError."""
    try:
        yield
    except (GroupError, StepError, TimeoutError):
        raise
    except (OSError, KeyError, ValueError, RuntimeError) as error:
        raise GroupError(f"a worker of the fit was lost: {error!r}") from error
