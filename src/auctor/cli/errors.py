"""Errors of the command line: which ones are told in a line, and how."""

import os
from collections.abc import Iterable
from difflib import get_close_matches

# A line of a table can be quoted in an error, and lines can be long.
_LONGEST = 600


class UsageError(Exception):
    """The command was typed wrongly, which only came out after parsing: exit code 2."""


def is_expected(error: BaseException) -> bool:
    """Whether an error comes from the user's files and settings, and not from a bug.

    With AUCTOR_DEBUG set no error is, so that each shows where it was raised.
    """
    if os.environ.get("AUCTOR_DEBUG"):
        return False
    # pyarrow's errors are known by their module, so that main need not import pyarrow.
    from_arrow = any(kind.__module__.startswith("pyarrow") for kind in type(error).__mro__)
    return from_arrow or isinstance(error, (ValueError, TypeError, OSError))


def one_line(error: BaseException) -> str:
    """The message of an error as a single line, a file's name in front where there is one."""
    text = str(error)
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        text = f"{error.filename}: {error.strerror}"
    text = " ".join(text.split()) or type(error).__name__
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]} ..."


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of a sentence about a name that is not known: the nearest one, or all."""
    names = list(known)
    near = get_close_matches(name.casefold(), names, n=1)
    return f"; did you mean {near[0]!r}?" if near else f"; known: {', '.join(sorted(names))}"


def missing_column(name: str, known: Iterable[str], where: str) -> ValueError:
    """The error for a column that is not there, with the nearest name that is."""
    names = list(known)
    # Upper and lower case are the most usual slip, and count for nothing here.
    by_folded = {other.casefold(): other for other in names}
    near = get_close_matches(name.casefold(), by_folded, n=1)
    if near:
        return ValueError(f"{where} has no column {name!r}; did you mean {by_folded[near[0]]!r}?")
    return ValueError(f"{where} has no column {name!r}; it has {listed(names)}")


def listed(names: Iterable[object], most: int = 8) -> str:
    """The first few names, quoted, and dots where there are more."""
    every = [repr(name) for name in names]
    return ", ".join(every[:most]) + (", ..." if len(every) > most else "")
