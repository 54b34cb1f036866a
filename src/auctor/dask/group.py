"""DaskGroup: the tasks that fit one model, one on each worker, as a group.

What is sent goes from worker to worker, by calls of actors. Sums and small items meet on the
worker of member 0; large ones go to their receivers directly.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import Future
from copy import deepcopy
from time import monotonic
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
from dask.sizeof import sizeof
from distributed import Worker, get_worker
from distributed.protocol import to_serialize

from auctor.dask.meeting import GATHER, SUM, GroupError, Meeting, StepError
from auctor.data.group import Group, check_counts

# While a member waits for an answer, it looks this often (in seconds) whether the fit was stopped.
_LOOK_EVERY = 1.0
# Rounds are told to the scheduler at most this often (in seconds), for messages only.
_TELL_EVERY = 0.1


class Place(NamedTuple):
    """Where a meeting is: the address of its worker, and its key among the actors there."""

    address: str
    key: Any


class DaskGroup(Group):
    """A member of a fit on a Dask worker.

    Parameters
    ----------
    rank : int
        The number of this member.
    meetings : sequence of Place
        Where the ``Meeting`` of each member is.
    topic : str
        The topic of the events by which rounds are told.
    """

    def __init__(self, rank: int, meetings: Sequence[Place], topic: str) -> None:
        self.rank, self.size = rank, len(meetings)
        self._worker = get_worker()
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
        # A copy, because the meeting of this process may still have to send it when the member goes
        # on and changes it.
        return list(self._answer(0, self._ask(0, "meet", GATHER, self.rank, deepcopy(item))))

    def sum(self, counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
        check_counts(counts)
        if self.size == 1:
            return counts
        self._n_steps += 1
        self.n_bytes += counts.nbytes
        doing = f"{SUM} of {counts.dtype} {counts.shape}"
        # A copy, because it may be read-only, or be shared by workers that are threads.
        return np.array(self._answer(0, self._ask(0, "meet", doing, self.rank, counts)))

    def exchange(self, items: Sequence[Any]) -> list[Any]:
        if self.size == 1:
            return list(items)
        self._n_steps += 1
        self.n_bytes += sum(map(sizeof, items))
        sent = [self._ask(k, "deliver", self.rank, item) for k, item in enumerate(items)]
        received = list(self._answer(self.rank, self._ask(self.rank, "collect")))
        for k, answer in enumerate(sent):  # done by now, unless a worker is lost
            self._answer(k, answer)
        return received

    def begin_round(self, number: int, is_known: bool = False) -> None:
        self._check_stopped()  # a member on its own would not notice it elsewhere
        self.round = number
        self.bytes_before.append(self.n_bytes)
        if self.rank == 0 and not is_known and monotonic() - self._told > _TELL_EVERY:
            self._told = monotonic()
            self._worker.log_event(self._topic, {"round": number})

    @property
    def n_threads(self) -> int:
        """The number of threads that the worker of this member has for tasks."""
        return int(self._worker.state.nthreads)

    @property
    def meeting(self) -> Meeting | None:
        """The meeting on the worker of this member; None if the fit was cancelled."""
        return cast(Meeting | None, self._worker.state.actors.get(self._meetings[self.rank].key))

    def abort(self, reason: str) -> None:
        """Stop the other members, after an error of this one."""
        calls = [self._call(rank, "abort", reason) for rank in range(self.size)]
        for call in calls:
            try:
                call.result(timeout=10)
            except Exception:  # a worker that is gone need not be stopped
                continue

    def _ask(self, rank: int, method: str, *arguments: Any) -> "Future[Any]":
        """Call a method of the meeting on a member's worker, for the present step."""
        return self._call(rank, method, self._n_steps, *arguments)

    def _call(self, rank: int, method: str, *arguments: Any) -> "Future[Any]":
        call = _call_meeting(self._worker, self._meetings[rank], method, arguments)
        loop = self._worker.loop.asyncio_loop  # type: ignore[attr-defined]
        return asyncio.run_coroutine_threadsafe(call, loop)

    def _answer(self, rank: int, future: "Future[Any]") -> Any:
        """The answer of a member's meeting; a GroupError if the fit was stopped.

        A meeting answers after its timeout at the latest. One that does not is on a worker that was
        paused, whose connections are still there: nobody else would notice it.
        """
        begin = monotonic()
        while True:
            try:
                return future.result(timeout=_LOOK_EVERY)
            except TimeoutError:  # of waiting: _call_meeting raises none
                limit = 2 * self._check_stopped().timeout
                if monotonic() > begin + limit:
                    raise StepError(
                        f"worker {self._meetings[rank].address} did not answer for {limit:g} "
                        "seconds; it may be paused, or too busy"
                    ) from None

    def _check_stopped(self) -> Meeting:
        own = self.meeting
        if own is None:
            raise GroupError("the fit was cancelled")
        if own.failure is not None:
            raise GroupError(own.failure)
        return own


async def _call_meeting(
    worker: Worker, place: Place, method: str, arguments: tuple[Any, ...]
) -> Any:
    """Call a method of a meeting, as an actor of Dask does but with less on the way.

    A meeting on the same worker is called without a message. Errors of calls to a meeting that is
    gone, or whose worker is, become a GroupError.
    """
    try:
        if place.address == worker.address:
            return await getattr(worker.state.actors[place.key], method)(*arguments)
        answer = await worker.rpc(place.address).actor_execute(
            function=method, actor=place.key, args=[to_serialize(a) for a in arguments], kwargs={}
        )
        if answer["status"] == "OK":
            return answer["result"]
        raise answer["exception"]
    except (GroupError, StepError):
        raise
    except (OSError, KeyError, ValueError, RuntimeError) as error:
        raise GroupError(f"a worker of the fit was lost: {error!r}") from error
