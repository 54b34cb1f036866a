"""Standard input and output that are closed, full, or cannot show a character."""

import io
import os
import sys
from contextlib import suppress
from pathlib import Path


def prepare_streams() -> None:
    """Make sure that a command can print; an error, before any work, where it cannot."""
    # Python has None for a stream that was closed before it started. What is printed to None
    # goes to the other stream or nowhere.
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise OSError("standard output is closed; send it to a file or a pipe")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names of files and columns may hold what the terminal's encoding has no character for.
        sys.stdout.reconfigure(errors="backslashreplace")


def read_stdin() -> bytes:
    """All of standard input; an error where it was closed."""
    if sys.stdin is None:
        raise ValueError("standard input is closed; give the table as a file, or pipe it in")
    return sys.stdin.buffer.read()


def drop_output() -> None:
    """Forget what could not be printed, so that Python does not try again when it ends."""
    for stream in (sys.stdout, sys.stderr):
        # Where a stream is no real file there is nothing to redirect.
        with suppress(OSError, ValueError, AttributeError):
            try:
                stream.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
