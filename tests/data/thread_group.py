"""Several members of a group as threads of one process."""

import threading
from concurrent.futures import ThreadPoolExecutor

from auctor.data.group import Group


class _Meeting:
    """Where threads meet: each brings an item and gets those of all."""

    def __init__(self, size):
        self.size = size
        self._barrier = threading.Barrier(size)
        self._items = [None] * size

    def gather(self, rank, item):
        self._items[rank] = item
        self._barrier.wait(60)
        items = list(self._items)
        self._barrier.wait(60)
        return items

    def abort(self):
        self._barrier.abort()


class ThreadGroup(Group):
    def __init__(self, rank, meeting):
        self.rank, self.size, self._meeting = rank, meeting.size, meeting

    def gather(self, item):
        return self._meeting.gather(self.rank, item)


def run_members(size, member):
    """The results of ``member(group)`` for each member; the first error that is not of waiting."""
    meeting = _Meeting(size)

    def run(rank):
        try:
            return member(ThreadGroup(rank, meeting))
        except BaseException:
            meeting.abort()
            raise

    with ThreadPoolExecutor(size) as pool:
        futures = [pool.submit(run, rank) for rank in range(size)]
    errors = [future.exception() for future in futures]
    own = [
        error for error in errors if error and not isinstance(error, threading.BrokenBarrierError)
    ]
    if own or any(errors):
        raise (own or errors)[0]
    return [future.result() for future in futures]
