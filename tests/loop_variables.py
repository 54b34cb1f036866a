"""Names the case in which a loop of a test failed.

A test may check many cases in one loop. pytest shows the values in the assertion that failed, but
not which case it was. ``describe`` finds it: the values of the variables of all loops around the
line that failed.
"""

import ast
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from _pytest._code.code import Traceback
from _pytest._io.saferepr import saferepr

TESTS = Path(__file__).parent


def describe(traceback: Traceback) -> str:
    """One line for each loop variable in the functions of tests that a failure went through."""
    lines = []
    for entry in traceback:
        path = Path(entry.path)
        if path.is_relative_to(TESTS):
            local = entry.frame.f_locals
            names = loop_names(path, entry.lineno + 1)
            lines += [f"{name} = {saferepr(local[name])}" for name in names if name in local]
    return "\n".join(lines)


@lru_cache
def _loops(path: Path) -> list[ast.For]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, ast.For)]


def loop_names(path: Path, line: int) -> list[str]:
    """Names of the variables of the ``for`` loops around a line of a file, outer loops first."""
    around = [loop for loop in _loops(path) if loop.lineno <= line <= (loop.end_lineno or 0)]
    around.sort(key=lambda loop: loop.lineno)
    return [name for loop in around for name in _names(loop.target)]


def _names(target: Any) -> Iterator[str]:
    return (node.id for node in ast.walk(target) if isinstance(node, ast.Name))
