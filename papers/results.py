"""What cases have found, kept line by line in a file: a stopped run goes on where it was."""

import json
from pathlib import Path
from typing import Any

from auctor import __version__
from auctor._files import write_text_file
from papers.experiment import Result, Setup


class Results:
    """The kept results of one experiment: a head, then one line of JSON for each case.

    Opening it changes nothing on disk. Results of another version of auctor are not mixed in:
    the file is put aside when the first new result is added.
    """

    def __init__(self, path: Path, setup: Setup, again: bool = False) -> None:
        self.path = path
        self.put_aside: Path | None = None
        self._head = {"auctor": __version__, "seed": setup.seed, "size": setup.size.value}
        self._found: dict[str, Result] = {}
        self._is_fresh = True  # whether the file is still to be begun
        if path.exists() and not again:
            self._read()

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def found(self) -> dict[str, Result]:
        """Case name -> result."""
        return dict(self._found)

    def add(self, name: str, result: Result) -> None:
        """Keep a result, on disk before anything else happens."""
        line = json.dumps({"case": name, "result": result}, allow_nan=False)
        if self._is_fresh:
            self._begin()
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        # As JSON gives it back, so that a report is the same now and after a stop.
        self._found[name] = json.loads(line)["result"]

    def _begin(self) -> None:
        """A new file with what is to stay; one that was there is put aside under a free name."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if self.path.exists() and not self._found:
            self.put_aside = _free_name(self.path)
            self.path.replace(self.put_aside)
        kept = ({"case": name, "result": result} for name, result in self._found.items())
        text = "".join(json.dumps(line) + "\n" for line in (self._head, *kept))
        write_text_file(self.path, text)
        self._is_fresh = False

    def _read(self) -> None:
        lines = [_parse(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        if not lines or lines[0] != self._head:
            return
        kept = [line for line in lines[1:] if line is not None]
        self._found = {line["case"]: line["result"] for line in kept}
        # A line that was being written when the run was killed goes with the next writing.
        self._is_fresh = len(kept) < len(lines) - 1


def _free_name(path: Path) -> Path:
    """A name beside the file that nothing has yet."""
    number = 1
    while (aside := path.with_suffix(f".old{number}")).exists():
        number += 1
    return aside


def _parse(line: str) -> Any:
    """The line's object; None where it is cut off."""
    try:
        return json.loads(line)
    except ValueError:
        return None
