"""Work on the workers of a cluster: one task for each worker that holds partitions.

The tasks are the members of a group. If a worker is lost, the others are stopped and the work
begins again on the workers that are left: Dask computes the lost partitions again, and results do
not depend on who holds which rows. A fit goes on from the state of one of the members that are
left.
"""

import pickle
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from time import monotonic, sleep
from typing import Any, NamedTuple
from uuid import uuid4

from distributed import Client, Future, KilledWorker, secede, wait

from auctor._text import count
from auctor.dask.group import DaskGroup, Place
from auctor.dask.meeting import GroupError, Meeting
from auctor.dask.parts import Part
from auctor.dask.state import KeptState

# What a member does with its numbered partitions, together with the other members of the group.
Work = Callable[[DaskGroup, list[tuple[int, Part]]], Any]

# How often (in seconds) the client asks whether the workers of a fit are still there.
_ASK_EVERY = 0.5
# How long (in seconds) the scheduler may take to notice that a worker is gone, and a worker that
# is left to tell its state.
_NOTICE = 30.0
# How long (in seconds) a worker may take to answer the client.
_ANSWER = 5.0
# The client may learn a little later than the scheduler that a partition was lost with its worker:
# how often it looks again, and after how many seconds.
_LOOKS, _SOON = 300, 0.1
# How long (in seconds) a fit waits where there is no worker, or none that computes anything.
_IDLE = 60.0


class Stopped(NamedTuple):
    """A member that had to stop because of another one, and the round it was in."""

    round: int
    reason: str


class Done(NamedTuple):
    """What a member returns, and about how many bytes it sent, in all and before each round."""

    result: Any
    n_bytes: int
    bytes_before: list[int]


class Lost(NamedTuple):
    """Workers that were lost, and the round in which that happened, as far as it is known."""

    workers: tuple[str, ...]
    round: int
    reason: str

    def __str__(self) -> str:
        where = f"in round {self.round}" if self.round else "before the first round"
        who = ", ".join(self.workers)
        return f"worker {who} was lost {where}" if who else f"{self.reason} ({where})"


def run_on_cluster(
    client: Client,
    work: Work,
    parts: Sequence[Any],
    max_restarts: int,
    timeout: float,
    kept: KeptState | None = None,
) -> list[Done]:
    """Run the work on delayed parts; the results of all members, in the order of their ranks.

    ``kept`` is the state from which a fit goes on, and is replaced while it runs.
    """
    futures = client.compute(list(parts), optimize_graph=True)
    lost: list[Lost] = []
    while len(lost) <= max_restarts:
        holders = _find_parts(client, futures)
        found = _Attempt(client, work, futures, holders, timeout, kept).run()
        if not isinstance(found, Lost):
            return found
        lost.append(found)
    attempts = count(len(lost), "attempt")
    raise RuntimeError(f"the work on the cluster was given up after {attempts}: {lost[-1]}")


def _find_parts(client: Client, futures: Sequence[Future]) -> dict[str, list[int]]:
    """Wait until all partitions are computed; the numbers of the partitions of each worker."""
    for _ in range(_LOOKS):
        _wait_for_parts(client, futures)
        if holders := _divide(client, futures):
            return holders
        sleep(_SOON)
    raise RuntimeError("partitions were computed, and no worker holds them")


def _wait_for_parts(client: Client, futures: Sequence[Future]) -> None:
    """Wait until all partitions are computed; an error names the partition that raised one."""
    busy_at = monotonic()
    while True:
        try:
            wait(futures, timeout=_ASK_EVERY)
            break
        except CancelledError:  # data that only a lost worker had cannot be computed again
            _raise_failed(futures)
            raise
        except TimeoutError:
            if client.run_on_scheduler(_is_working):
                busy_at = monotonic()
        if monotonic() > busy_at + _IDLE:
            raise RuntimeError(_why_idle(client, futures))
        _raise_failed(futures)
    _raise_failed(futures)


def _is_working(dask_scheduler: Any) -> bool:
    """Whether a worker computes anything; tasks that wait for a paused worker do not count."""
    return any(
        worker.processing
        and (
            worker.status.name == "running"
            or worker.metrics.get("task_counts", {}).get("executing", 0)
        )
        for worker in dask_scheduler.workers.values()
    )


def _why_idle(client: Client, futures: Sequence[Future]) -> str:
    """The message for partitions that nobody computes: Dask itself would wait for ever."""
    if not client.nthreads():
        return f"the cluster has had no worker for {_IDLE:g} seconds"
    number = next((k for k, future in enumerate(futures) if not future.done()), 0)
    return (
        f"partition {number} is not computed: no worker has worked for {_IDLE:g} seconds. The "
        "workers may be paused for lack of memory, or the partition may be bound to workers that "
        "were lost"
    )


def _raise_failed(futures: Sequence[Future]) -> None:
    for number, future in enumerate(futures):
        # One that is "lost" is computed again; if that is impossible, Dask cancels it.
        if future.status in ("error", "cancelled"):
            error = future.exception() if future.status == "error" else future.status
            message = f"partition {number} could not be computed: {error!r}"
            raise RuntimeError(message) from (error if isinstance(error, Exception) else None)


class _Attempt:
    """One attempt of a fit: who holds which partitions, their meetings and their tasks."""

    def __init__(
        self,
        client: Client,
        work: Work,
        parts: Sequence[Future],
        holders: dict[str, list[int]],
        timeout: float,
        kept: KeptState | None,
    ) -> None:
        self._client, self._work, self._timeout = client, work, timeout
        self._kept, self._n_states = kept, 0
        self._asked: Any = None  # the answer of member 0 that is awaited
        self._topic = f"auctor-{uuid4().hex}"
        self._parts, self._holders, self._addresses = parts, holders, sorted(holders)
        # The meeting and the task of each member, and the meetings as actors.
        self._meetings: list[Future] = []
        self._members: list[Future] = []
        self._actors: list[Any] = []

    def run(self) -> list[Done] | Lost:
        """The results of the members, or which workers were lost."""
        try:
            return self._open_meetings() or self._run_members()
        except BaseException:
            self._keep_last()
            raise
        finally:
            self._client.cancel([*self._members, *self._meetings], force=True)

    def _open_meetings(self) -> Lost | None:
        """Make a meeting on each worker, and give the first one the state from which to go on."""
        for address in self._addresses:
            meeting = self._client.submit(
                Meeting, self._addresses, self._timeout,
                actor=True, workers=[address], allow_other_workers=False, pure=False,
            )  # fmt: skip
            self._meetings.append(meeting)
        begin = monotonic()
        while waiting := [meeting for meeting in self._meetings if not meeting.done()]:
            if self._gone():
                break
            if monotonic() > begin + self._timeout:
                raise RuntimeError(self._who_is_late())
            _wait_for_one(waiting)
        if gone := self._gone():
            self._raise_unable()
            return Lost(tuple(gone), 0, "the workers were lost")
        try:
            self._actors = [meeting.result(timeout=self._timeout) for meeting in self._meetings]
            if self._kept is not None and self._kept.state is not None:
                self._actors[0].give_state(self._kept.state).result(timeout=self._timeout)
        except Exception as error:  # a worker was lost since
            return Lost(tuple(self._gone()), 0, repr(error))
        return None

    def _who_is_late(self) -> str:
        pairs = zip(self._addresses, self._meetings, strict=True)
        late = [address for address, meeting in pairs if not meeting.done()]
        return (
            f"worker {', '.join(late)} did not begin the fit in {self._timeout:g} seconds; it may "
            "be busy with other tasks, for which a larger timeout waits, or paused for lack of "
            "memory"
        )

    def _raise_unable(self) -> None:
        """Raise an error if a worker is there but cannot make a meeting, for lack of auctor say."""
        present = self._client.nthreads()
        for address, meeting in zip(self._addresses, self._meetings, strict=True):
            if meeting.status == "error" and address in present:
                error = meeting.exception()
                if isinstance(error, ImportError | AttributeError):
                    raise RuntimeError(
                        f"worker {address} cannot take part in the fit ({error!r}); install the "
                        "same version of auctor there"
                    ) from error

    def _run_members(self) -> list[Done] | Lost:
        # Their keys and no futures: a task that depends on the actor of a lost worker would be
        # ended by the scheduler, before the member can say which round it was in.
        pairs = zip(self._addresses, self._meetings, strict=True)
        meetings = pickle.dumps([Place(address, meeting.key) for address, meeting in pairs])
        for rank, address in enumerate(self._addresses):
            own = self._holders[address]
            member = self._client.submit(
                run_member, self._work, rank, meetings, self._topic, own,
                [self._parts[k] for k in own],
                workers=[address], allow_other_workers=False, pure=False, retries=0,
            )  # fmt: skip
            self._members.append(member)
        return self._watch()

    def _gone(self) -> list[str]:
        """The workers that are lost.

        One that comes back under the same address, as with a fixed port, has lost its meeting.
        """
        present = self._client.nthreads()
        return [
            address
            for address, meeting in zip(self._addresses, self._meetings, strict=True)
            if address not in present or meeting.status in ("error", "lost", "cancelled")
        ]

    def _watch(self) -> list[Done] | Lost:
        """Wait for all members; if a worker is gone or a member fails, stop the others."""
        results: dict[int, Any] = {}
        while len(results) < len(self._members):
            for rank, future in enumerate(self._members):
                if rank not in results and future.done():
                    results[rank] = _result(future)
            ended_early = any(not isinstance(result, Done) for result in results.values())
            if ended_early or self._gone():
                return self._stop()
            self._poll_state()
            _wait_for_one([future for future in self._members if not future.done()])
        self._keep_state(0)
        return [results[rank] for rank in range(len(self._members))]

    def _stop(self) -> Lost:
        """Stop the members that still run; raises the error of the one that failed by itself."""
        begin, gone, left = monotonic(), self._gone(), True
        # Members that go on would take memory and processors of the next attempt.
        while (left and monotonic() < begin + self._timeout) or (
            not gone and monotonic() < begin + _NOTICE
        ):
            left = self._abort("another worker of the fit was lost")
            self._raise_own_error()
            sleep(_ASK_EVERY if left or not gone else 0.0)
            gone = self._gone()
        self._keep_survivor()
        ended = [_result(future) for future in self._members]
        stops = [member for member in ended if isinstance(member, Stopped)]
        rounds = [stop.round for stop in stops] + self._rounds_told()
        reason = stops[0].reason if stops else "the workers were lost"
        return Lost(tuple(gone), max(rounds, default=0), reason)

    def _abort(self, reason: str) -> bool:
        """Tell the members that still run to stop; whether there are any."""
        gone = self._gone()
        left = [
            actor
            for address, actor, member in zip(
                self._addresses, self._actors, self._members, strict=True
            )
            if address not in gone and not member.done()
        ]
        for actor in left:
            with suppress(Exception):  # its worker is gone by now, and its member with it
                actor.abort(reason).result(timeout=_ANSWER)
        return bool(left)

    def _keep_state(self, rank: int) -> bool:
        """Keep the state of a member; False if it has none or does not answer."""
        if self._kept is None:
            return False
        try:
            _, state = self._actors[rank].state_after(0).result(timeout=_NOTICE)
        except Exception:  # its worker is lost, or busy
            return False
        self._kept.update(state)
        return state is not None

    def _poll_state(self) -> None:
        """Keep the state of member 0 if there is a new one, without waiting for the answer."""
        if self._kept is None or (self._asked is not None and not self._asked.done()):
            return
        asked, self._asked, state = self._asked, None, None
        with suppress(Exception):  # its worker is lost, which is noticed elsewhere
            if asked is not None:
                self._n_states, state = asked.result(timeout=_ANSWER)
            self._asked = self._actors[0].state_after(self._n_states)
        self._kept.update(state)

    def _keep_survivor(self) -> None:
        """Keep the state of the first member that is left: all of them have the last steps.

        A member that has not ended yet has noted none of its steps, unless it is member 0.
        """
        self._poll_state()  # the answer that is awaited may be the last one of member 0
        gone = self._gone()
        for rank, (address, member) in enumerate(zip(self._addresses, self._members, strict=True)):
            if address not in gone and (rank == 0 or member.done()) and self._keep_state(rank):
                return

    def _keep_last(self) -> None:
        """Keep the last state after an error of a member, or Ctrl-C."""
        if self._kept is None or not self._members:
            return
        with suppress(Exception):  # the error that is raised then is the first one
            self._abort("the fit was stopped")
            with suppress(TimeoutError, CancelledError):
                wait(self._members, timeout=_ANSWER)
            self._keep_survivor()

    def _raise_own_error(self) -> None:
        for future in self._members:
            if future.status == "error":
                error = future.exception()
                # Dask ends the task of a lost worker itself, if it is told not to try again.
                if not isinstance(error, GroupError | KilledWorker):
                    raise error

    def _rounds_told(self) -> list[int]:
        """The rounds that member 0 has told the scheduler."""
        return [message["round"] for _, message in self._client.get_events(self._topic)]


def _divide(client: Client, parts: Sequence[Future]) -> dict[str, list[int]]:
    """The numbers of the partitions of each worker; a partition goes to one that holds it."""
    holders = client.who_has(list(parts))
    out: dict[str, list[int]] = {}
    for number, part in enumerate(parts):
        addresses = holders.get(part.key, ())
        if not addresses:
            return {}
        fewest = min(sorted(addresses), key=lambda address: len(out.get(address, ())))
        out.setdefault(fewest, []).append(number)
    return out


def _wait_for_one(futures: Sequence[Future]) -> None:
    """Wait for the first of the futures, but not for long."""
    if not futures:
        return
    try:
        wait(futures, timeout=_ASK_EVERY, return_when="FIRST_COMPLETED")
    except (TimeoutError, CancelledError):
        return


def _result(future: Future) -> Any:
    """What a member has returned; None if it failed, or if its worker was lost since."""
    if future.status != "finished":
        return None
    try:
        # Without a limit this would wait until the task has run again on a worker that is lost.
        return future.result(timeout=_NOTICE)
    except Exception:
        return None


def run_member(
    work: Work,
    rank: int,
    meetings: bytes,
    topic: str,
    numbers: Sequence[int],
    parts: Sequence[Part],
) -> Done | Stopped:
    """The task of one member."""
    # The task takes no place among the worker's threads: two fits could otherwise wait for each
    # other, each with some of its members not begun.
    secede()
    group = DaskGroup(rank, pickle.loads(meetings), topic)
    try:
        result = work(group, list(zip(numbers, parts, strict=True)))
        return Done(result, group.n_bytes, group.bytes_before)
    except GroupError as error:
        return Stopped(group.round, str(error))
    except BaseException as error:
        group.abort(f"worker {rank} of the fit stopped with {error!r}")
        raise
