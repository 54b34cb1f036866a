"""Files that are written whole: complete under their name, or not there at all."""

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
    """The file that an output goes to: links are followed, and it need not exist yet.

    Raises
    ------
    ValueError
        If the path is a device, a pipe or a socket, which a finished file would replace.
    OSError
        If it is a folder, or a link that leads round in a circle.

    Examples
    --------
    >>> output_file("new.json").name
    'new.json'
    """
    path = Path(path)
    # The links of /proc (as /dev/stdout is one) lead to names that do not exist: only the
    # system's own stat sees what is behind them.
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
    """A temporary file beside ``path``, renamed to it at the end or removed after an error.

    A link stays, and the file that it leads to is replaced. A file that was there hands on
    its permissions; a new one has those that any newly opened file would have.

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
    """A file of UTF-8 text, complete or not there at all; line ends as they are in the text."""
    with complete_file(path) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="")


def _create_beside(target: Path) -> Path:
    """A new, empty file in the target's folder: only there a rename is one step."""
    # The ending stays, since some writers go by it; the rest of a name may be too long for more.
    ending = target.suffix if len(target.suffix) <= 16 else ""
    temporary = target.with_name(f".auctor-{secrets.token_hex(8)}{ending}")
    try:
        # O_EXCL: never through a link that someone else put there.
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
    except OSError as error:  # about the target, whose name the user knows
        raise type(error)(error.errno, error.strerror, str(target)) from None
    return temporary


def _flush_to_disk(temporary: Path) -> None:
    """Without it a power failure could leave the name without the content."""
    # Windows flushes only what is open for writing.
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
