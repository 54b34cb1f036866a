"""What cases have found, kept line by line in a file: a stopped run goes on where it was."""

import json
from pathlib import Path
from typing import Any

from auctor import __version__
from auctor.papers.experiment import Result, Setup


class Results:
    """The kept results of one experiment: a head, then one line of JSON for each case.

    Results of another version, seed or size are put aside, not mixed in.
    """

    def __init__(self, path: Path, setup: Setup, again: bool = False) -> None:
        self.path = path
        self.put_aside: Path | None = None
        self._head = {"auctor": __version__, "seed": setup.seed, "size": setup.size.value}
        self._found: dict[str, Result] = {}
        if path.exists():
            self._read(again)

    def __contains__(self, name: str) -> bool:
        return name in self._found

    def found(self) -> dict[str, Result]:
        """Case name -> result."""
        return dict(self._found)

    def add(self, name: str, result: Result) -> None:
        """Keep a result, on disk before anything else happens."""
        line = json.dumps({"case": name, "result": result}, allow_nan=False)
        if not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.write_text(json.dumps(self._head) + "\n", encoding="utf-8")
        with self.path.open("a", encoding="utf-8") as file:
            file.write(line + "\n")
        # As JSON gives it back, so that a report is the same now and after a stop.
        self._found[name] = json.loads(line)["result"]

    def _read(self, again: bool) -> None:
        lines = [_parse(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        if again or not lines or lines[0] != self._head:
            self.put_aside = self.path.with_suffix(".old")
            self.path.replace(self.put_aside)
            return
        kept = [line for line in lines[1:] if line is not None]
        self._found = {line["case"]: line["result"] for line in kept}
        if len(kept) < len(lines) - 1:  # the line that was being written when the run was killed
            self._rewrite()

    def _rewrite(self) -> None:
        whole = [self._head, *({"case": n, "result": r} for n, r in self._found.items())]
        aside = self.path.with_suffix(".part")
        aside.write_text("".join(json.dumps(line) + "\n" for line in whole), encoding="utf-8")
        aside.replace(self.path)


def _parse(line: str) -> Any:
    """The line's object; None where it is cut off."""
    try:
        return json.loads(line)
    except ValueError:
        return None
