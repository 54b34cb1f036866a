"""Results of cases, stored line by line in a file, so that a stopped run can be resumed."""

import json
from pathlib import Path
from typing import Any

from auctor import __version__
from auctor._files import write_text_file
from papers.experiment import Result, Setup

# A development version counts as the release that it leads to: a release changes no result.
_RELEASE = __version__.partition(".dev")[0]


class Results:
    """The stored results of one experiment: a header line, then one line of JSON for each case.

    Opening the file does not change it. Results of another version of auctor are not mixed in:
    the file is renamed when the first new result is added.
    """

    def __init__(self, path: Path, setup: Setup, again: bool = False) -> None:
        self.path = path
        self.put_aside: Path | None = None
        self._head = {"auctor": _RELEASE, "seed": setup.seed, "size": setup.size.value}
        self._stored: dict[str, Result] = {}
        self._is_fresh = True  # whether the file has yet to be written
        if path.exists() and not again:
            self._read()

    def __contains__(self, name: str) -> bool:
        return name in self._stored

    def stored(self) -> dict[str, Result]:
        """Case name -> result."""
        return dict(self._stored)

    def add(self, name: str, result: Result) -> None:
        """Store a result, on disk before the next case starts."""
        line = json.dumps({"case": name, "result": result}, allow_nan=False)
        if self._is_fresh:
            self._begin()
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        # As JSON reads it back, so that a report is the same now and after a resumed run.
        self._stored[name] = json.loads(line)["result"]

    def _begin(self) -> None:
        """Start a new file with the results so far; an outdated file is renamed."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists() and not self._stored:
            self.put_aside = _free_name(self.path)
            self.path.replace(self.put_aside)
        kept = ({"case": name, "result": result} for name, result in self._stored.items())
        text = "".join(json.dumps(line) + "\n" for line in (self._head, *kept))
        write_text_file(self.path, text)
        self._is_fresh = False

    def _read(self) -> None:
        lines = [_parse(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        if not lines or lines[0] != self._head:
            return
        kept = [line for line in lines[1:] if line is not None]
        self._stored = {line["case"]: line["result"] for line in kept}
        # A line that was cut off when the run was killed is dropped at the next write.
        self._is_fresh = len(kept) < len(lines) - 1


def _free_name(path: Path) -> Path:
    """Return an unused name beside the file."""
    number = 1
    while (aside := path.with_suffix(f".old{number}")).exists():
        number += 1
    return aside


def _parse(line: str) -> Any:
    """Parse a line; None if it is cut off."""
    try:
        return json.loads(line)
    except ValueError:
        return None
