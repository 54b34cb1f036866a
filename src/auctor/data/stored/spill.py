"""A folder for arrays and tables that do not fit into memory; it is removed after use."""

import os
import shutil
import tempfile
from contextlib import suppress
from itertools import count
from math import prod
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from auctor.data.stored.memory import memory_text


class SpillFolder:
    """A temporary folder with memory-mapped arrays.

    As a context manager it is removed at the end, also after an error or Ctrl-C. Arrays remain
    valid after that: their files have no name any more, and the system frees them with the last
    array that uses them.

    Parameters
    ----------
    parent : str, Path or None
        Where the folder is made; None is the system's folder for temporary files.
    """

    def __init__(self, parent: str | Path | None = None) -> None:
        check_spill_dir(parent)
        self._folder = tempfile.TemporaryDirectory(
            prefix="auctor-", dir=parent, ignore_cleanup_errors=True
        )
        self.path = Path(self._folder.name)
        self._numbers = count(1)  # the next one is taken by one thread only

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._folder.cleanup()

    def new_file(self, ending: str) -> Path:
        """The path of a file that does not exist yet."""
        return self.path / f"{next(self._numbers):04d}.{ending}"

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """An array in a file of the folder, used like ``np.empty``."""
        n_bytes = prod(shape) * np.dtype(dtype).itemsize
        if n_bytes == 0:  # an empty file cannot be mapped
            return np.empty(shape, dtype=dtype)
        path = self.new_file("codes")
        self._reserve(path, n_bytes)
        array = np.asarray(np.memmap(path, dtype=dtype, mode="r+", shape=shape))
        # Where a mapped file may lose its name (not on Windows), nothing is left of it even if the
        # process is killed.
        with suppress(OSError):
            path.unlink()
        return array

    def _reserve(self, path: Path, n_bytes: int) -> None:
        """Make a file of this size, or raise an error if the disk is full.

        Without blocks of its own, writing to a mapped file on a full disk kills the process.
        """
        free = shutil.disk_usage(self.path).free
        if free < n_bytes:
            raise OSError(
                f"spill_dir {str(self.path.parent)!r} has {memory_text(free)} free, and "
                f"{memory_text(n_bytes)} are needed; give a folder on a larger disk"
            )
        with path.open("wb") as file:
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, n_bytes)
            else:
                file.truncate(n_bytes)


def check_spill_dir(parent: Any) -> None:
    """Raise an error unless ``parent`` is a folder in which files can be made, or None."""
    if parent is None:
        return
    if not isinstance(parent, (str, Path)):
        raise ValueError(f"spill_dir is {parent!r}; give the path of a folder")
    if not Path(parent).is_dir():
        raise ValueError(f"spill_dir is {str(parent)!r}, which is not a folder; make it first")
    if not os.access(parent, os.W_OK):
        raise ValueError(f"spill_dir is {str(parent)!r}, which cannot be written to")
