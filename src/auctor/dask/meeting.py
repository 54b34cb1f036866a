"""Where the workers of a fit meet: an actor on each worker that collects what they send.

Steps are numbered. Every worker says which step it is at and what it does there, so that workers
that are not at the same step get an error and never a wrong sum.
"""

import asyncio
from collections.abc import Sequence
from typing import Any

from auctor.data.group import add_up

GATHER, SUM, DELIVER = "gather", "sum", "deliver"


class GroupError(RuntimeError):
    """A worker of the fit was lost, or the fit was stopped because of another worker."""


class StepError(RuntimeError):
    """A worker of the fit did not come to a step in time, or workers do different things there."""


class _Step:
    """What has been brought to one step, and who waits for it."""

    def __init__(self, doing: str) -> None:
        self.doing = doing
        self.items: dict[int, Any] = {}
        self.n_left = 0
        self.result: asyncio.Future[Any] = asyncio.get_running_loop().create_future()


class Meeting:
    """An actor. ``meet`` and ``collect`` return when all members have come to the same step.

    ``names`` are those of the members, for errors, and ``timeout`` is how many seconds they wait.
    """

    def __init__(self, names: Sequence[str], timeout: float) -> None:
        self._names, self._size, self.timeout = names, len(names), timeout
        self._steps: dict[int, _Step] = {}
        self.failure: str | None = None
        # The state of the fit as the member on this worker last noted it, and how often it did.
        self.state: bytes | None = None
        self.n_states = 0

    async def meet(self, number: int, doing: str, rank: int, item: Any) -> Any:
        """Bring an item to a step; returns all items, or their sum."""
        step = self._bring(number, doing, rank, item)
        return await self._wait(number, step)

    async def deliver(self, number: int, rank: int, item: Any) -> None:
        """Bring an item for the member on this worker, who collects it."""
        self._bring(number, DELIVER, rank, item)

    async def collect(self, number: int) -> Any:
        """What all members have delivered for a step, in the order of their ranks."""
        step = self._step(number, DELIVER)
        step.n_left = self._size - 1  # only one member comes for it
        return await self._wait(number, step)

    async def abort(self, reason: str) -> None:
        """Let all who wait here, or come later, fail with a GroupError."""
        self.failure = self.failure or reason
        for step in self._steps.values():
            if not step.result.done():
                step.result.set_exception(GroupError(self.failure))
                step.result.exception()  # asyncio complains about errors that nobody asks for

    def note_state(self, state: bytes | None) -> None:
        """Replace the state of the fit; the member on this worker calls it directly."""
        self.state = state
        self.n_states += 1

    async def give_state(self, state: bytes) -> None:
        """Bring the state from which the fit is to go on."""
        self.note_state(state)

    async def state_after(self, n_known: int) -> tuple[int, bytes | None]:
        """How often the state was noted, and the state if that is more often than ``n_known``."""
        return self.n_states, self.state if self.n_states > n_known else None

    def _step(self, number: int, doing: str) -> _Step:
        if self.failure is not None:
            raise GroupError(self.failure)
        if number not in self._steps:
            self._steps[number] = _Step(doing)
        step = self._steps[number]
        if step.doing != doing:
            raise StepError(
                f"the workers of a fit do different things at step {number}: {step.doing} and "
                f"{doing}"
            )
        return step

    def _bring(self, number: int, doing: str, rank: int, item: Any) -> _Step:
        step = self._step(number, doing)
        if rank in step.items:
            raise StepError(f"worker {self._names[rank]} came to step {number} of the fit twice")
        step.items[rank] = item
        if len(step.items) == self._size and not step.result.done():
            try:
                step.result.set_result(_join(step, self._size))
            except ValueError as error:
                step.result.set_exception(StepError(str(error)))
        return step

    async def _wait(self, number: int, step: _Step) -> Any:
        """The result of a step; the last one who gets it clears the table."""
        try:
            result = await asyncio.wait_for(asyncio.shield(step.result), self.timeout)
        except TimeoutError:
            late = [name for k, name in enumerate(self._names) if k not in step.items]
            raise StepError(
                f"worker {', '.join(late)} did not come to step {number} of the fit in "
                f"{self.timeout:g} seconds; give a larger timeout if its rows take that long"
            ) from None
        step.n_left += 1
        if step.n_left == self._size:
            self._steps.pop(number, None)
        return result


def _join(step: _Step, size: int) -> Any:
    items = [step.items[rank] for rank in range(size)]
    return add_up(items) if step.doing.startswith(SUM) else items
