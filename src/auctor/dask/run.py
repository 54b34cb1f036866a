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

from distributed import Client, Future, secede, wait

from auctor._text import count
from auctor.dask.group import DaskGroup
from auctor.dask.meeting import GroupError, Meeting
from auctor.dask.parts import Part
from auctor.dask.state import KeptState

# What a member does with its numbered partitions, together with the other members of the group.
Work = Callable[[DaskGroup, list[tuple[int, Part]]], Any]

# How often (in seconds) the client asks whether the workers of a fit are still there.
_ASK_EVERY = 0.5
# How long (in seconds) the scheduler may take to notice that a worker is gone, and members that
# are stopped to end.
_NOTICE = 30.0
# How long (in seconds) a worker may take to answer the client.
_ANSWER = 5.0
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
        _wait_for_parts(client, futures)
        found = _Attempt(client, work, futures, timeout, kept).run()
        if not isinstance(found, Lost):
            return found
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
        except CancelledError:  # data that only a lost worker had cannot be computed again
            _raise_failed(futures)
            raise
        except TimeoutError:
            without_workers = 0.0 if client.nthreads() else without_workers + _ASK_EVERY
        if without_workers > _NO_WORKER:
            raise RuntimeError(f"the cluster has had no worker for {_NO_WORKER:g} seconds")
        _raise_failed(futures)
    _raise_failed(futures)


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
        timeout: float,
        kept: KeptState | None,
    ) -> None:
        self._client, self._work, self._timeout = client, work, timeout
        self._kept, self._n_states = kept, 0
        self._actors: list[Any] = []
        self._asked: Any = None  # the answer of member 0 that is awaited
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
        try:
            self._actors = [meeting.result() for meeting in self._meetings]
            if self._kept is not None and self._kept.state is not None:
                self._actors[0].give_state(self._kept.state).result(timeout=self._timeout)
            actors = pickle.dumps(self._actors)
        except Exception as error:  # a worker was lost since
            return Lost(tuple(_gone(self._client, addresses)), 0, repr(error))
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
        except BaseException:
            self._keep_last(addresses)
            raise
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
            self._poll_state()
            _wait_for_one([future for future in self._members if not future.done()])
        self._keep_state(0)
        return [results[rank] for rank in range(len(self._members))]

    def _stop(self, addresses: Sequence[str]) -> Lost:
        """Stop the members that still run; raises the error of the one that failed by itself."""
        gone, until = _gone(self._client, addresses), monotonic() + _NOTICE
        self._abort(addresses, "another worker of the fit was lost")
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
        self._keep_survivor(addresses)
        ended = [f.result() for f in self._members if f.status == "finished"]
        stops = [member for member in ended if isinstance(member, Stopped)]
        rounds = [stop.round for stop in stops] + self._rounds_told()
        reason = stops[0].reason if stops else "the workers were lost"
        return Lost(tuple(gone), max(rounds, default=0), reason)

    def _abort(self, addresses: Sequence[str], reason: str) -> None:
        gone = _gone(self._client, addresses)
        for address, actor in zip(addresses, self._actors, strict=True):
            if address not in gone:
                with suppress(Exception):  # its worker is gone by now, and its member with it
                    actor.abort(reason).result(timeout=_ANSWER)

    def _keep_state(self, rank: int) -> bool:
        """Keep the state of a member; False if it has none or does not answer."""
        if self._kept is None:
            return False
        try:
            _, state = self._actors[rank].state_after(0).result(timeout=_ANSWER)
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

    def _keep_survivor(self, addresses: Sequence[str]) -> None:
        """Keep the state of the first member that is left: all of them have the last steps.

        A member that has not ended yet has noted none of its steps, unless it is member 0.
        """
        self._poll_state()  # the answer that is awaited may be the last one of member 0
        gone = _gone(self._client, addresses)
        for rank, (address, member) in enumerate(zip(addresses, self._members, strict=True)):
            if address not in gone and (rank == 0 or member.done()) and self._keep_state(rank):
                return

    def _keep_last(self, addresses: Sequence[str]) -> None:
        """Keep the last state after an error of a member, or Ctrl-C."""
        if self._kept is None:
            return
        with suppress(Exception):  # the error that is raised then is the first one
            self._abort(addresses, "the fit was stopped")
            with suppress(TimeoutError, CancelledError):
                wait(self._members, timeout=_ANSWER)
            self._keep_survivor(addresses)

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
    except (TimeoutError, CancelledError):
        return


def _gone(client: Client, addresses: Sequence[str]) -> list[str]:
    present = client.nthreads()
    return [address for address in addresses if address not in present]


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
