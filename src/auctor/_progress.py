"""A progress bar on stderr; silent unless asked for."""

import sys
import time
from typing import TextIO


class Progress:
    """Shows the number of rounds done: a bar on a terminal, a line every few seconds in a log.

    Parameters
    ----------
    total : int or None
        Number of rounds; None if it is not known. There is a bar and an estimate of the time left
        if it or ``work`` is given.
    label : str
        The text before the bar.
    verbose : bool or int
        Whether anything is shown.
    out : file, optional
        Where it is shown; stderr by default.
    work : float, optional
        Total amount of work, if rounds differ in it (see ``step``), or their number is not known.
    resumed : int, default=0
        Number of rounds that were made by an earlier run and are only repeated. The time left is
        estimated from the rounds after them.
    """

    def __init__(
        self,
        total: int | None,
        label: str,
        verbose: bool | int,
        out: TextIO | None = None,
        work: float | None = None,
        resumed: int = 0,
    ):
        self._total, self._label = total, label
        self._work = work if work is not None else total
        self._out = out or sys.stderr
        self._on = bool(verbose)
        self._terminal = self._on and self._out.isatty()
        self._start = self._shown = time.monotonic()
        self._done, self._drawn, self._work_done = 0, -1, 0.0
        self._resumed, self._work_repeated = resumed, 0.0
        if resumed > 0:
            self._announce(resumed)
        if self._terminal:  # the first round may take long
            self._draw(self._start, "")

    def skip(self, rounds: int) -> None:
        """Count rounds of an earlier run that are not repeated."""
        self._done += rounds
        self._announce(self._done)

    def _announce(self, rounds: int) -> None:
        if self._on:
            of = "" if self._total is None else f" of {self._total}"
            line = f"{self._label}: resumed at round {rounds}{of}\n"
            self._out.write(f"\r\x1b[K{line}" if self._terminal else line)

    def step(self, note: str = "", work: float = 1.0) -> None:
        """Count one round, which took ``work``; the bar is redrawn at most ten times a second."""
        self._done += 1
        self._work_done += work
        if not self._on:
            return
        now = time.monotonic()
        if self._done <= self._resumed:
            self._start, self._work_repeated = now, self._work_done
        if now - self._shown >= (0.1 if self._terminal else 5.0):
            self._shown = now
            self._draw(now, note)

    def close(self, note: str = "", *, is_complete: bool = False) -> None:
        """Show the last state and end the line.

        ``is_complete`` says that no round is left, although ``total`` allowed for more.
        """
        if is_complete and self._total is not None:
            self._total = self._done
        elif is_complete and self._work is not None:
            self._work_done = self._work
        # In a log the last round may have been shown already.
        if self._on and (self._terminal or self._drawn != self._done):
            self._draw(time.monotonic(), note)
        if self._on:
            if self._terminal:
                self._out.write("\n")
            self._out.flush()

    def _draw(self, now: float, note: str) -> None:
        self._drawn = self._done
        spent = now - self._start
        if self._work is None:
            text = f"{self._label} {self._done} rounds {spent:.0f}s"
        else:
            new = self._work_done - self._work_repeated
            left = spent / max(new, 1e-9) * max(self._work - self._work_done, 0.0)
            is_counted = self._total is not None
            done, total = (self._done, self._total) if is_counted else (self._work_done, self._work)
            bar = "#" * int(20 * done / max(total or 0, 1))
            rounds = f"{done}/{total}" if is_counted else f"{self._done} rounds"
            text = f"{self._label} [{bar:<20}] {rounds} {spent:.0f}s"
            if new > 0:
                text += f", {left if done < (total or 0) else 0.0:.0f}s left"
        text = f"{text} {note}".rstrip()
        self._out.write(f"\r\x1b[K{text}" if self._terminal else f"{text}\n")
        self._out.flush()
