"""Work on the workers of a cluster: one task for each worker that holds partitions.

The tasks are the members of a group. If a worker is lost, the others are stopped and the work
begins again on the workers that are left: Dask computes the lost partitions again, and results do
not depend on who holds which rows.
"""

import pickle
from collections.abc import Callable, Sequence
from time import monotonic, sleep
from typing import Any, NamedTuple
from uuid import uuid4

from distributed import Client, Future, secede, wait

from auctor._text import count
from auctor.dask.group import DaskGroup
from auctor.dask.meeting import GroupError, Meeting
from auctor.dask.parts import Part
from auctor.data.group import Group

# What a member does with its numbered partitions, together with the other members of the group.
Work = Callable[[Group, list[tuple[int, Part]]], Any]

# How often (in seconds) the client asks whether the workers of a fit are still there.
_ASK_EVERY = 0.5
# How long (in seconds) the scheduler may take to notice that a worker is gone, and members that
# are stopped to end.
_NOTICE = 30.0
# How long (in seconds) a fit waits for a worker where there is none.
_NO_WORKER = 60.0


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
    client: Client, work: Work, parts: Sequence[Any], max_restarts: int, timeout: float
) -> list[Done]:
    """Run the work on delayed parts; the results of all members, in the order of their ranks."""
    futures = client.compute(list(parts), optimize_graph=True)
    lost: list[Lost] = []
    while len(lost) <= max_restarts:
        _wait_for_parts(client, futures)
        found = _Attempt(client, work, futures, timeout).run()
        if not isinstance(found, Lost):
            return found
        # The next attempt begins with the first round: nothing is kept of this one.
        lost.append(found)
    attempts = count(len(lost), "attempt")
    raise RuntimeError(f"the work on the cluster was given up after {attempts}: {lost[-1]}")


def _wait_for_parts(client: Client, futures: Sequence[Future]) -> None:
    """Wait until all partitions are computed; an error names the partition that raised one."""
    without_workers = 0.0
    while True:
        try:
            wait(futures, timeout=_ASK_EVERY)
            break
        except TimeoutError:
            without_workers = 0.0 if client.nthreads() else without_workers + _ASK_EVERY
        if without_workers > _NO_WORKER:
            raise RuntimeError(f"the cluster has had no worker for {_NO_WORKER:g} seconds")
        _raise_failed(futures)
    _raise_failed(futures)


def _raise_failed(futures: Sequence[Future]) -> None:
    for number, future in enumerate(futures):
        if future.status in ("error", "cancelled", "lost"):
            error = future.exception() if future.status == "error" else future.status
            message = f"partition {number} could not be computed: {error!r}"
            raise RuntimeError(message) from (error if isinstance(error, Exception) else None)


class _Attempt:
    """One attempt of a fit: who holds which partitions, their meetings and their tasks."""

    def __init__(self, client: Client, work: Work, parts: Sequence[Future], timeout: float) -> None:
        self._client, self._work, self._timeout = client, work, timeout
        self._topic = f"auctor-{uuid4().hex}"
        self._parts = list(parts)
        self._holders = _divide(client, self._parts)

    def run(self) -> list[Done] | Lost:
        """The results of the members, or which workers were lost."""
        addresses = sorted(self._holders)
        if not addresses:  # a worker was lost after the partitions had been computed
            return Lost((), 0, "the partitions were lost")
        self._meetings = [
            self._client.submit(
                Meeting, addresses, self._timeout,
                actor=True, workers=[address], allow_other_workers=False, pure=False,
            )
            for address in addresses
        ]  # fmt: skip
        # Pickled, so that Dask does not see the actors among the arguments: a task that depends on
        # the actor of a lost worker would be ended by the scheduler, before the member can say
        # which round it was in.
        gone = self._wait_for_meetings(addresses)
        if gone or any(meeting.status != "finished" for meeting in self._meetings):
            return Lost(tuple(gone), 0, "the workers were lost")
        actors = pickle.dumps([meeting.result() for meeting in self._meetings])
        self._members = [
            self._client.submit(
                run_member, self._work, rank, actors, self._topic,
                self._holders[address], [self._parts[k] for k in self._holders[address]],
                workers=[address], allow_other_workers=False, pure=False, retries=0,
            )
            for rank, address in enumerate(addresses)
        ]  # fmt: skip
        try:
            return self._watch(addresses)
        finally:
            self._client.cancel([*self._members, *self._meetings], force=True)

    def _wait_for_meetings(self, addresses: Sequence[str]) -> list[str]:
        """Wait until all meetings are there; returns the workers that are gone instead."""
        while any(not meeting.done() for meeting in self._meetings):
            if gone := _gone(self._client, addresses):
                return gone
            _wait_for_one([meeting for meeting in self._meetings if not meeting.done()])
        return _gone(self._client, addresses)

    def _watch(self, addresses: Sequence[str]) -> list[Done] | Lost:
        """Wait for all members; if a worker is gone or a member fails, stop the others."""
        results: dict[int, Any] = {}
        while len(results) < len(self._members):
            for rank, future in enumerate(self._members):
                if rank not in results and future.done():
                    is_finished = future.status == "finished"
                    results[rank] = future.result() if is_finished else None
            ended_early = any(not isinstance(result, Done) for result in results.values())
            if ended_early or _gone(self._client, addresses):
                return self._stop(addresses)
            _wait_for_one([future for future in self._members if not future.done()])
        return [results[rank] for rank in range(len(self._members))]

    def _stop(self, addresses: Sequence[str]) -> Lost:
        """Stop the members that still run; raises the error of the one that failed by itself."""
        gone, until = _gone(self._client, addresses), monotonic() + _NOTICE
        for address, meeting in zip(addresses, self._meetings, strict=True):
            if address not in gone and meeting.status == "finished":
                _abort(meeting, "another worker of the fit was lost")
        while monotonic() < until:
            gone = _gone(self._client, addresses)
            left = [
                future
                for address, future in zip(addresses, self._members, strict=True)
                if address not in gone and not future.done()
            ]
            self._raise_own_error()
            if not left and gone:
                break
            sleep(_ASK_EVERY)
        ended = [f.result() for f in self._members if f.status == "finished"]
        stops = [member for member in ended if isinstance(member, Stopped)]
        rounds = [stop.round for stop in stops] + self._rounds_told()
        reason = stops[0].reason if stops else "the workers were lost"
        return Lost(tuple(gone), max(rounds, default=0), reason)

    def _raise_own_error(self) -> None:
        for future in self._members:
            if future.status == "error":
                error = future.exception()
                if not isinstance(error, GroupError):
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
    except TimeoutError:
        return


def _gone(client: Client, addresses: Sequence[str]) -> list[str]:
    present = client.nthreads()
    return [address for address in addresses if address not in present]


def _abort(meeting: Future, reason: str) -> None:
    try:
        meeting.result(timeout=5).abort(reason).result(timeout=5)
    except Exception:  # its worker is gone by now, and its member with it
        return


def run_member(
    work: Work,
    rank: int,
    actors: bytes,
    topic: str,
    numbers: Sequence[int],
    parts: Sequence[Part],
) -> Done | Stopped:
    """The task of one member."""
    # The task takes no place among the worker's threads: two fits could otherwise wait for each
    # other, each with some of its members not begun.
    secede()
    group = DaskGroup(rank, pickle.loads(actors), topic)
    try:
        result = work(group, list(zip(numbers, parts, strict=True)))
        return Done(result, group.n_bytes, group.bytes_before)
    except GroupError as error:
        return Stopped(group.round, str(error))
    except BaseException as error:
        group.abort(f"worker {rank} of the fit stopped with {error!r}")
        raise
