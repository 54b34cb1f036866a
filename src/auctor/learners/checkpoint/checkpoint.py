"""Checkpoint: an interrupted fit goes on where it was, and ends with the same bits.

A fit is deterministic, and most of its time goes into choosing steps. A learner therefore notes
every step that it has chosen in a ``Journal``. When the fit is started again, it runs through the
same code and takes the steps of the journal instead of choosing them, which rebuilds what it knows
of each row; after the last one it goes on choosing. The journal has no rows: it is small, and the
rows may be divided among partitions or machines in another way than before.
"""

import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Generic, overload

from auctor.data import RankingData
from auctor.learners.checkpoint.file import damaged, read_text, write_text
from auctor.learners.checkpoint.identity import check_same, identify
from auctor.learners.checkpoint.records import Record, decode, encode
from auctor.learners.checkpoint.store import FolderStore, Store, warn_not_written

# At most this part of the time is spent on writing, whatever ``seconds`` is.
_MOST_OF_TIME = 0.01


class Checkpoint:
    """Where a fit keeps its progress, so that it can go on after an interruption.

    Give it to ``fit`` or ``fit_dataset``. If the process is killed, call ``fit`` again with the
    same rows, parameters and folder: the fit goes on, and the model is the same, bit for bit, as
    that of a fit that was never interrupted. A folder holds the state of one fit; the state of
    another one, or of other rows or parameters, is refused with an error that says what differs.

    The state has the steps chosen so far and no rows. It is JSON text: reading it runs no code.

    Parameters
    ----------
    store : str, Path or Store
        A folder, which is created if it does not exist, or another place.
    seconds : float, default=30.0
        The state is written when so much time has passed since it was last written. It is written
        less often where writing would take more than 1 % of the time, and always after an
        interruption by Ctrl-C or an error.
    rounds : int, default=None
        The state is also written after so many rounds, whatever time has passed.
    keep : bool, default=False
        Whether to keep the state after the end of the fit. By default it is removed. If it is
        kept, ``fit`` repeats the steps and ends soon with the same model.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from auctor import Checkpoint, RankBoost
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> with TemporaryDirectory() as folder:
    ...     ranker = RankBoost(20).fit(X, y, checkpoint=Checkpoint(folder, rounds=5))
    >>> ranker.n_iter_
    20
    """

    def __init__(
        self,
        store: "str | os.PathLike[str] | Store",
        *,
        seconds: float = 30.0,
        rounds: int | None = None,
        keep: bool = False,
    ) -> None:
        if not seconds >= 0:
            raise ValueError(f"seconds is {seconds!r}; give a number of 0 or more")
        if rounds is not None and (isinstance(rounds, bool) or not rounds >= 1):
            raise ValueError(f"rounds is {rounds!r}; give a whole number of 1 or more, or None")
        is_path = isinstance(store, (str, os.PathLike))
        self.store: Store = FolderStore(Path(store)) if is_path else store  # type: ignore[arg-type,assignment]
        self.seconds, self.rounds, self.keep, self._key = seconds, rounds, keep, "fit"

    def part(self, name: str) -> "Checkpoint":
        """The checkpoint of one of several fits, such as a fold; it is kept until ``remove``."""
        part = Checkpoint(self.store, seconds=self.seconds, rounds=self.rounds, keep=True)
        part._key = f"{self._key}-{name}"
        return part

    def remove(self) -> None:
        """Remove the state of this fit and of its parts; other files of a folder are kept."""
        for key in self.store.names():
            if key == self._key or key.startswith(f"{self._key}-"):
                self.store.remove(key)

    def finish(self) -> None:
        """Remove the state at the end of a fit, unless it is to be kept."""
        if not self.keep:
            self.remove()

    @contextmanager
    def open(
        self,
        learner: str,
        data: RankingData,
        settings: Any,
        **others: Any,
    ) -> Iterator["Journal"]:
        """The journal of a fit, with the steps of an earlier run if there was one.

        Everything that decides the model is compared with the earlier run: the rows of ``data``,
        the settings and ``others``, which are further arguments of the learner by name. If the fit
        ends by an error or Ctrl-C, the last state is written.
        """
        state = _State(self, identify(learner, data, settings, **others))
        is_resumed = state.read()
        if not is_resumed:
            state.write()  # an error if that is not possible, before the fit begins
        elif settings.verbose:
            print(f"{learner}: resumed from the checkpoint {state.place}", file=sys.stderr)
        try:
            yield Journal(state)
        except BaseException:
            state.try_write()
            raise
        if self.keep:
            state.try_write()

    @property
    def key(self) -> str:
        """The name of the state in the store."""
        return self._key


def open_journal(
    checkpoint: Checkpoint | None,
    learner: str,
    data: RankingData,
    settings: Any,
    **others: Any,
) -> "AbstractContextManager[Journal]":
    """The journal of a fit; one that keeps nothing without a checkpoint."""
    if checkpoint is None:
        return nullcontext(NO_JOURNAL)
    return checkpoint.open(learner, data, settings, **others)


class _State:
    """The logs of a fit, and when they are written."""

    def __init__(self, checkpoint: Checkpoint, identity: dict[str, Any]) -> None:
        self._checkpoint, self._identity = checkpoint, identity
        self.place = checkpoint.store.place(checkpoint.key)
        self._logs: dict[str, _Records] = {}
        self._unread: dict[str, list[Any]] = {}  # of an earlier run, which no log has asked for
        self.lock = threading.RLock()
        self.is_damaged = False
        self._n_rounds, self._is_changed, self._has_warned = 0, False, False
        self._next_write = time.monotonic() + checkpoint.seconds

    def read(self) -> bool:
        """Read the state of an earlier run; False if there is none."""
        content = self._checkpoint.store.read(self._checkpoint.key)
        if content is None:
            return False
        identity, self._unread = read_text(content, self.place)
        check_same(identity, self._identity, self.place)
        return True

    def add_log(self, name: str, records: "_Records") -> list[Any]:
        """Register a log; returns its plain records of an earlier run."""
        with self.lock:
            assert name not in self._logs, f"there are two logs called {name}"
            self._logs[name] = records
            return self._unread.pop(name, [])

    def note_round(self) -> None:
        """Count a round, and write the state if it is time."""
        rounds = self._checkpoint.rounds
        self._n_rounds, self._is_changed = self._n_rounds + 1, True
        is_due = rounds is not None and self._n_rounds >= rounds
        if is_due or time.monotonic() >= self._next_write:
            self.try_write()

    def write(self) -> None:
        """Write the state."""
        with self.lock:
            start = time.monotonic()
            logs = {name: log.encoded() for name, log in self._logs.items()}
            text = write_text(self._identity, {**self._unread, **logs})
            self._n_rounds = 0
            try:
                self._checkpoint.store.write(self._checkpoint.key, text)
                self._is_changed = False
            finally:
                end = time.monotonic()
                pause = max(self._checkpoint.seconds, (end - start) / _MOST_OF_TIME)
                self._next_write = end + pause

    def try_write(self) -> None:
        """Write the state if it has changed; a full disk must not end a fit of hours."""
        try:
            if self._is_changed and not self.is_damaged:
                self.write()
        except OSError as error:
            self._warn(error)

    def _warn(self, error: OSError) -> None:
        if not self._has_warned:
            self._has_warned = True
            warn_not_written(self.place, error)


class _Records:
    """Records and their plain values, which are made when they are written."""

    def __init__(self) -> None:
        self.records: list[Any] = []
        self._encoded: list[Any] = []

    def encoded(self) -> list[Any]:
        """The plain values of all records; those of earlier calls are not made again."""
        self._encoded += [encode(record) for record in self.records[len(self._encoded) :]]
        return self._encoded

    def replace(self, record: Any) -> None:
        """Make a record the only one."""
        self.records, self._encoded = [record], []


class Log(Generic[Record]):
    """The steps of one loop in their order, first those of an earlier run.

    Learners get it from ``Journal.log``.
    """

    def __init__(self, state: _State | None, name: str, known: list[Record]) -> None:
        self._state, self._name = state, name
        self._own = _Records()
        self.known = known
        self._n_taken = 0

    @property
    def is_known(self) -> bool:
        """Whether the next step is one of the earlier run."""
        return self._n_taken < len(self.known)

    @overload
    def next(
        self, make: Callable[[], Record], repeat: Callable[[Record], object] | None = None
    ) -> Record: ...

    @overload
    def next(
        self, make: Callable[[], Record | None], repeat: Callable[[Record], object] | None = None
    ) -> Record | None: ...

    def next(
        self, make: Callable[[], Record | None], repeat: Callable[[Record], object] | None = None
    ) -> Record | None:
        """The next step: that of the earlier run, or else a new one, which is noted.

        ``make`` chooses a step and does what follows from it; it returns None at the end of the
        loop. ``repeat`` does what follows from a step that is known, if anything does.
        """
        if self.is_known:
            record = self.known[self._n_taken]
            self._n_taken += 1
            if repeat is not None:
                repeat(record)
            return record
        made = make()
        if made is not None:
            self.add(made)
        return made

    def take(self, count: int) -> list[Record]:
        """The next ``count`` steps of the earlier run."""
        steps = self.known[self._n_taken : self._n_taken + count]
        if len(steps) < count:
            raise self.fail(f"has {len(steps)} entries instead of {count}")
        self._n_taken += count
        return steps

    def fail(self, reason: str) -> ValueError:
        """The error for a step of the earlier run that does not fit where it is repeated."""
        place = "" if self._state is None else self._state.place
        return damaged(place, ValueError(f"field '{self._name}' {reason}"))

    def add(self, record: Record) -> None:
        """Note a new step."""
        if self._state is not None:
            with self._state.lock:
                self._own.records.append(record)
                self._state.note_round()


class Latest(Generic[Record]):
    """The last state of an iteration, for loops whose steps would take too much space.

    ``known`` is the state of an earlier run, or None.
    """

    def __init__(self, state: _State | None, known: Record | None) -> None:
        self._state, self.known = state, known
        self._own = _Records()

    def set(self, record: Record) -> None:
        """Note the state after an iteration; nothing in it may change later."""
        if self._state is not None:
            with self._state.lock:
                self._own.replace(record)
                self._state.note_round()


class Journal:
    """What a fit notes of its steps: logs by name, in parts for folds and the like."""

    def __init__(self, state: _State | None, prefix: str = "") -> None:
        self._state, self._prefix = state, prefix
        self._counts: dict[str, int] = {}

    @property
    def is_kept(self) -> bool:
        """Whether there is a checkpoint."""
        return self._state is not None

    def part(self, name: object) -> "Journal":
        """A journal of its own for a part of the fit, which may be done by another thread."""
        return self if self._state is None else Journal(self._state, f"{self._prefix}{name}/")

    def numbered(self, name: str) -> "Journal":
        """The next of several parts that follow each other in the same order in every run."""
        if self._state is None:
            return self
        self._counts[name] = self._counts.get(name, 0) + 1
        return self.part(f"{name} {self._counts[name]}")

    def log(
        self, name: str, kind: type[Record], check: Callable[[Record], None] | None = None
    ) -> Log[Record]:
        """The log of a loop, whose steps are dataclasses, named tuples, numbers, arrays or lists.

        ``check`` raises a ValueError for a step that cannot be of this data, such as one with the
        number of a feature that does not exist: kernels do not check their indices.
        """
        log: Log[Record] = Log(self._state, f"{self._prefix}{name}", [])
        log.known = self._known(name, kind, check, log._own)
        return log

    def latest(
        self, name: str, kind: type[Record], check: Callable[[Record], None] | None = None
    ) -> Latest[Record]:
        """The last state of an iteration."""
        latest: Latest[Record] = Latest(self._state, None)
        known = self._known(name, kind, check, latest._own)
        latest.known = known[-1] if known else None
        return latest

    def _known(
        self,
        name: str,
        kind: type[Record],
        check: Callable[[Record], None] | None,
        own: _Records,
    ) -> list[Record]:
        """The checked records of an earlier run."""
        if self._state is None:
            return []
        full = f"{self._prefix}{name}"
        plain = self._state.add_log(full, own)
        try:
            for i, value in enumerate(plain):
                own.records.append(decode(kind, value, f"{full}[{i}]"))
                _check(check, own.records[-1], f"{full}[{i}]")
        except (ValueError, RecursionError) as error:
            self._state.is_damaged = True
            raise damaged(self._state.place, error) from None
        own._encoded = plain
        return own.records[:]


def _check(check: Callable[[Record], None] | None, record: Record, path: str) -> None:
    if check is not None:
        try:
            check(record)
        except ValueError as error:
            raise ValueError(f"field '{path}' {error}") from None


NO_JOURNAL = Journal(None)
