"""Writing files atomically: a file is complete, or it is not there at all."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_KINDS = (
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISSOCK, "a socket"),
)


def output_file(path: str | Path) -> Path:
    """The path of an output file, with links followed; the file need not exist.

    Raises
    ------
    ValueError
        If the path is a device, a pipe or a socket, which would be replaced by the file.
    OSError
        If it is a folder, or a circular link.

    Examples
    --------
    >>> output_file("new.json").name
    'new.json'
    """
    path = Path(path)
    # The links of /proc, such as /dev/stdout, lead to names that do not exist. Only stat follows
    # them correctly.
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return path.resolve()
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        kind = next((name for is_kind, name in _KINDS if is_kind(mode)), "something else")
        raise ValueError(
            f"cannot write {path}: it is {kind}, not a regular file; give the name of a file"
        )
    return path.resolve()


@contextmanager
def complete_file(path: str | Path) -> Iterator[Path]:
    """A temporary file beside ``path``, which is renamed to it at the end or removed on error.

    If ``path`` is a link, the file that it leads to is replaced. The new file has the permissions
    of the one that it replaces, or those of any new file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with complete_file(Path(folder) / "a.txt") as temporary:
    ...         _ = temporary.write_text("done")
    ...     (Path(folder) / "a.txt").read_text()
    'done'
    """
    target = output_file(path)
    temporary = _create_beside(target)
    try:
        yield temporary
        _flush_to_disk(temporary)
        _take_permissions(temporary, target)
        temporary.replace(target)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.errno and error.filename in (None, str(temporary)):
            error.filename = str(path)  # the name that the user knows
        raise


def write_text_file(path: str | Path, text: str) -> None:
    """Write a file of UTF-8 text atomically; line ends are those of the text."""
    with complete_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def _create_beside(target: Path) -> Path:
    """A new, empty file in the folder of the target, where a rename is atomic."""
    # The extension is kept, since some writers depend on it, if it is not too long.
    ending = target.suffix if len(target.suffix) <= 16 else ""
    temporary = target.with_name(f".auctor-{secrets.token_hex(8)}{ending}")
    try:
        # O_EXCL: never write through a link that someone else has created.
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except OSError as error:  # name the target, which the user knows
        raise type(error)(error.errno, error.strerror, str(target)) from None
    return temporary


def _flush_to_disk(temporary: Path) -> None:
    """Flush to disk, so that a power failure cannot leave an empty file under the new name."""
    # Windows flushes only files that are open for writing.
    handle = os.open(temporary, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _take_permissions(temporary: Path, target: Path) -> None:
    """Owner and permissions of the file that is replaced, as far as the system allows."""
    try:
        old = target.stat()
    except OSError:
        return
    if hasattr(os, "chown") and (old.st_uid, old.st_gid) != (os.geteuid(), os.getegid()):
        with suppress(OSError):
            os.chown(temporary, old.st_uid, old.st_gid)
    with suppress(OSError):
        temporary.chmod(stat.S_IMODE(old.st_mode))
