"""Where checkpoints are kept: in a folder, or in memory."""

import warnings
from pathlib import Path
from typing import Protocol

from auctor._files import complete_file
from auctor.exceptions import CheckpointWarning

_ENDING = ".checkpoint"


class Store(Protocol):
    """Keeps one content for each key; a content is replaced as a whole or not at all."""

    def read(self, key: str) -> bytes | None:
        """The content of a key; None if there is none."""

    def write(self, key: str, content: bytes) -> None:
        """Replace the content of a key."""

    def remove(self, key: str) -> None:
        """Remove a key, if it is there."""

    def names(self) -> list[str]:
        """All keys, sorted."""

    def place(self, key: str) -> str:
        """Where the content of a key is, in words for messages."""


class FolderStore:
    """A folder with one file for each key; it is created when the first file is written.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     store = FolderStore(folder)
    ...     store.write("fit", b"state")
    ...     store.names(), store.read("fit")
    (['fit'], b'state')
    """

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            raise ValueError(
                f"checkpoint is {str(folder)!r}, which is a file; give the name of a folder"
            )

    def read(self, key: str) -> bytes | None:
        path = self._path(key)
        if not path.exists():
            return None
        if not path.is_file():  # reading a named pipe would wait for ever
            raise ValueError(f"{path} is not a regular file; remove it, or give another folder")
        return path.read_bytes()

    def write(self, key: str, content: bytes) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        with complete_file(self._path(key)) as temporary:
            temporary.write_bytes(content)

    def remove(self, key: str) -> None:
        self._path(key).unlink(missing_ok=True)
        # What a process left that was killed while it wrote.
        for path in self.folder.glob(f".auctor-*{_ENDING}"):
            path.unlink(missing_ok=True)

    def names(self) -> list[str]:
        files = (path.name for path in self.folder.glob(f"*{_ENDING}"))
        return sorted(name.removesuffix(_ENDING) for name in files if not name.startswith("."))

    def place(self, key: str) -> str:
        return str(self._path(key))

    def _path(self, key: str) -> Path:
        return self.folder / f"{key}{_ENDING}"


class MemoryStore:
    """A dict of contents, for fits that another process repeats: it can be pickled and sent.

    Examples
    --------
    >>> store = MemoryStore()
    >>> store.write("fit", b"state")
    >>> MemoryStore(store.contents).read("fit")
    b'state'
    """

    def __init__(self, contents: dict[str, bytes] | None = None) -> None:
        self.contents: dict[str, bytes] = {} if contents is None else dict(contents)

    def read(self, key: str) -> bytes | None:
        return self.contents.get(key)

    def write(self, key: str, content: bytes) -> None:
        self.contents[key] = content

    def remove(self, key: str) -> None:
        self.contents.pop(key, None)

    def names(self) -> list[str]:
        return sorted(self.contents)

    def place(self, key: str) -> str:
        return f"{key!r} in memory"


def warn_not_written(place: str, error: OSError) -> None:
    """Warn that a state could not be written: a full disk must not end a fit of hours."""
    warnings.warn(
        f"the checkpoint {place} could not be written ({error}); the fit goes on, and tries again "
        "later",
        CheckpointWarning,
        stacklevel=3,
    )
