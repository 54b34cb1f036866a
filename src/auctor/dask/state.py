"""The state of a fit on a cluster: from where it goes on after a worker was lost.

Every member notes its steps in a journal, as a fit with a checkpoint does, and keeps the state
in the meeting on its worker. The client asks for it. It gives the state of one member to the next
attempt, and writes it to the checkpoint of the user, if there is one.
"""

from math import inf

from auctor.dask.group import DaskGroup
from auctor.dask.meeting import GroupError, Meeting
from auctor.data.group import Group
from auctor.learners.checkpoint.checkpoint import Checkpoint
from auctor.learners.checkpoint.store import MemoryStore, warn_not_written

_IN_MEMORY = "of the rounds before a worker was lost"


class MeetingStore:
    """A store of one state in a meeting, where the client finds it; ``name`` is for messages."""

    def __init__(self, meeting: Meeting, name: str) -> None:
        self._meeting, self._name = meeting, name

    def read(self, key: str) -> bytes | None:
        return self._meeting.state

    def write(self, key: str, content: bytes) -> None:
        self._meeting.note_state(content)

    def remove(self, key: str) -> None:
        self._meeting.note_state(None)

    def names(self) -> list[str]:
        return [] if self._meeting.state is None else ["fit"]

    def place(self, key: str) -> str:
        return self._name

    def share(self, group: Group) -> None:
        """Give the state of member 0 to all, so that all of them repeat the same steps."""
        state = group.gather(self._meeting.state if group.rank == 0 else None)[0]
        if state is not None:
            self._meeting.note_state(state)


class StatePlan:
    """How the members of a fit keep their states; the client sends it to them.

    Member 0 keeps its state as often as the checkpoint of the user says. The others do so only
    when they are stopped: then one of those that are left has the last steps.
    """

    def __init__(self, checkpoint: Checkpoint | None) -> None:
        self.is_given = checkpoint is not None
        kept = Checkpoint(MemoryStore()) if checkpoint is None else checkpoint
        self._seconds, self._rounds = kept.seconds, kept.rounds
        self._name = kept.store.place(kept.key) if self.is_given else _IN_MEMORY

    def open(self, group: DaskGroup) -> Checkpoint:
        """The checkpoint of a member, with the state from which all members go on."""
        meeting = group.meeting
        if meeting is None:
            raise GroupError("the fit was cancelled")
        store = MeetingStore(meeting, self._name)
        store.share(group)
        # Kept at the end, too: another worker may be lost before it has finished.
        if group.rank > 0:
            return Checkpoint(store, seconds=inf, keep=True)
        return Checkpoint(store, seconds=self._seconds, rounds=self._rounds, keep=True)


class KeptState:
    """The last state that the client knows of, which is also that of the user's checkpoint."""

    def __init__(self, checkpoint: Checkpoint | None) -> None:
        self._checkpoint = checkpoint
        self.state = None if checkpoint is None else checkpoint.store.read(checkpoint.key)
        # A folder that cannot be written is an error at the beginning of a fit only.
        self._is_written, self._has_warned = self.state is not None, False

    def update(self, state: bytes | None) -> None:
        """Replace the state, unless there is no other one."""
        if state is None or state == self.state:
            return
        self.state = state
        if self._checkpoint is not None:
            self._write(self._checkpoint, state)

    def _write(self, checkpoint: Checkpoint, state: bytes) -> None:
        try:
            checkpoint.store.write(checkpoint.key, state)
            self._is_written = True
        except OSError as error:
            if not self._is_written:
                raise
            if not self._has_warned:
                self._has_warned = True
                warn_not_written(checkpoint.store.place(checkpoint.key), error)

    def finish(self) -> None:
        """Remove the checkpoint of the user at the end, unless it is to be kept."""
        if self._checkpoint is not None:
            self._checkpoint.finish()
