"""Store the results of a benchmark in a file while it runs, and print them."""

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from scipy.stats import t

# Table (or distribution) -> method -> lists of results.
Kept = dict[str, dict[str, dict[str, list[Any]]]]


def read_kept(path: Path | None) -> Kept:
    """Read the results of earlier runs."""
    if path is None or not path.exists():
        return {}
    return json.loads(path.read_text())


def keep(path: Path | None, kept: Kept, key: str, method: str, lists: dict[str, list]) -> None:
    """Add lists to the stored results and to the file."""
    kept.setdefault(key, {})[method] = lists
    if path is None:
        return
    with locked(path):
        whole = read_kept(path)  # read again, since another run may have added results
        whole.setdefault(key, {})[method] = lists
        aside = path.with_name(f"{path.name}.{os.getpid()}")
        aside.write_text(json.dumps(whole, indent=1))
        aside.replace(path)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Let one run at a time add its results to the file."""
    with path.with_name(f"{path.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def interval(differences: Sequence[float], overlap: float = 0.0) -> tuple[float, float, float]:
    """Return the mean and its 95 % t interval.

    Folds share training rows, so their differences vary less than those of fresh samples:
    Nadeau and Bengio (2003) add the overlap, test rows over training rows, to 1 / n.
    """
    n, middle = len(differences), mean(differences)
    if n < 2:
        return middle, float("nan"), float("nan")
    half = float(t.ppf(0.975, n - 1)) * stdev(differences) * (1 / n + overlap) ** 0.5
    return middle, middle - half, middle + half


def signed(numbers: tuple[float, float, float]) -> str:
    """A difference with its interval, in bold if the interval excludes zero."""
    middle, low, high = numbers
    text = f"{middle:+.4f} ({low:+.4f}, {high:+.4f})"
    return f"**{text}**" if low > 0 or high < 0 else text


def row(cells: Sequence[str]) -> str:
    """A row of a table in Markdown."""
    return "| " + " | ".join(cells) + " |"


def print_row(cells: Sequence[str]) -> None:
    """Print a row of a table in Markdown."""
    print(row(cells))
