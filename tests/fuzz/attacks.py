"""The modules that can be attacked, and one attack given by its seed.

A module has a function ``attack(rng)``. It makes one random call and raises AssertionError, which
says what was called, if the outcome is neither a result nor a clear error. Add a new module to
MODULES.
"""

import faulthandler
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module

import numpy as np

MODULES = ("tables", "csv_files", "metric_calls", "model_files")

_TOO_LONG = 300  # seconds: attacks take milliseconds, compiling on a busy machine a minute


def run_attack(name: str, seed: int) -> None:
    """The attack of a seed; an AssertionError says how to repeat it."""
    module = import_module(f"fuzz.{name}")
    try:
        with _time_limit():
            module.attack(np.random.default_rng(seed))
    except AssertionError as error:
        raise AssertionError(f"{repeat(name, seed)}\n{error}") from error


def repeat(name: str, seed: int) -> str:
    """The command that runs an attack again."""
    return f"to repeat: PYTHONPATH=tests python -m fuzz.run {name} --seed {seed}"


@contextmanager
def _time_limit() -> Iterator[None]:
    """An error where an attack takes too long; the end of the process where nothing else helps."""

    def stop(*_: object) -> None:
        raise AssertionError(f"it takes more than {_TOO_LONG} s")

    # Python hears of a signal only between two steps of its own: a kernel that never ends is
    # ended from outside, and the traceback shows which one.
    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_TOO_LONG)
    faulthandler.dump_traceback_later(2 * _TOO_LONG, exit=True)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
        faulthandler.cancel_dump_traceback_later()
