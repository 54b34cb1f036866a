"""Standard input and output that are closed, full, or cannot encode a character."""

import io
import os
import sys
from contextlib import suppress
from pathlib import Path


def prepare_streams() -> None:
    """Make sure that a command can print; raise an error before any work if it cannot."""
    # A stream that was closed before Python started is None. Printing to it would use the other
    # stream, or print nothing at all.
    if sys.stderr is None:
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        raise OSError("standard output is closed; redirect it to a file or a pipe")
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names of files and columns may have characters that the terminal cannot show.
        sys.stdout.reconfigure(errors="backslashreplace")


def read_stdin() -> bytes:
    """All of standard input; an error if it is closed."""
    if sys.stdin is None:
        raise ValueError("standard input is closed; give the table as a file, or pipe it in")
    return sys.stdin.buffer.read()


def drop_output() -> None:
    """Discard what could not be printed, so that Python does not try again when it exits."""
    for stream in (sys.stdout, sys.stderr):
        # A stream that is not a real file cannot be redirected, and need not be.
        with suppress(OSError, ValueError, AttributeError):
            try:
                stream.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
