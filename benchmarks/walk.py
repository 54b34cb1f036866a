"""Count the files of the package that `auctor fit` and `auctor score` pass through.

Run it with ``python benchmarks/walk.py``; it takes about a minute. Each command runs on a small
table with its default learner and one job, in a process of its own, under `sys.setprofile`. The
counts are defined as follows.

- A **file** counts if at least one of its functions is entered while the command runs. Code that
  runs because a module is imported (module bodies, decorators, registrations) does not count.
- A **hop** is a call from a function in one file of the package to a function in another one. Each
  pair (caller, callee) counts once. A nested function, a lambda or a comprehension counts as the
  function that contains it. The caller is the nearest function of the package on the stack, so a
  call that goes through scikit-learn or the standard library counts too; the first function of a
  thread has no caller.
- **Kernels** run uncompiled here (``NUMBA_DISABLE_JIT=1``), because the profiler does not see
  compiled code. They count as ordinary functions, and the total without them is given beside.

``--src`` measures another version of the package, for example ``--src ../before/src``.
"""

import argparse
import csv
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from statistics import median
from types import CodeType, FrameType
from typing import Any, NamedTuple

N_ROWS = 120
N_IMPORTS = 9

Function = tuple[str, str]  # file below the package, qualified name


class Walk(NamedTuple):
    """The files that a command enters, and its hops between them."""

    files: list[str]
    hops: list[tuple[Function, Function]]


class Tracer:
    """A profile function that notes entered functions of the package and calls between files."""

    def __init__(self, package: Path) -> None:
        self._root = f"{package}{os.sep}"
        self._functions: dict[CodeType, Function | None] = {}
        self._here = threading.local()
        self.entered: set[Function] = set()
        self.hops: set[tuple[Function, Function]] = set()

    def __call__(self, frame: FrameType, event: str, argument: object) -> None:
        if event not in ("call", "return"):
            return
        if frame.f_code.co_name == "<module>":
            step = 1 if event == "call" else -1
            self._here.importing = getattr(self._here, "importing", 0) + step
        elif event == "call" and not getattr(self._here, "importing", 0):
            self._note(frame)

    def walk(self) -> Walk:
        """What was noted so far."""
        return Walk(sorted({file for file, _ in self.entered}), sorted(self.hops))

    def _note(self, frame: FrameType) -> None:
        callee = self._function(frame.f_code)
        if callee is None:
            return
        self.entered.add(callee)
        caller = self._caller(frame)
        if caller is not None and caller[0] != callee[0]:
            self.hops.add((caller, callee))

    def _caller(self, frame: FrameType) -> Function | None:
        """The nearest function of the package below a frame on the stack."""
        above = frame.f_back
        while above is not None:
            function = self._function(above.f_code)
            if function is not None:
                return function
            above = above.f_back
        return None

    def _function(self, code: CodeType) -> Function | None:
        """The function that a code object belongs to; None outside the package."""
        if code not in self._functions:
            inside = code.co_filename.startswith(self._root)
            name = code.co_qualname.split(".<locals>")[0]
            file = code.co_filename.removeprefix(self._root)
            self._functions[code] = (file, name) if inside else None
        return self._functions[code]


def trace(src: Path, arguments: list[str]) -> None:
    """Run the `auctor` command of ``src`` under the tracer and print the walk as JSON."""
    sys.path.insert(0, str(src))
    import auctor.cli.main

    output, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: SIM115, PTH123 - until the end
    tracer = Tracer(src / "auctor")
    threading.setprofile(tracer)
    sys.setprofile(tracer)
    try:
        code = auctor.cli.main.main(arguments)
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]
    if code:
        raise SystemExit(f"auctor {' '.join(arguments)} ended with code {code}")
    loaded = sum(name.split(".")[0] == "auctor" for name in sys.modules)
    json.dump({"walk": tracer.walk(), "n_modules": loaded}, output)


def measure(src: Path, folder: Path) -> dict[str, dict[str, Any]]:
    """Trace both commands, each in a process of its own."""
    table, model = str(folder / "table.csv"), str(folder / "table.model.json")
    write_table(Path(table))
    commands = {
        "fit": ["fit", table, "--target", "y", "--out", model, "--jobs", "1"],
        "score": ["score", model, table, "--out", str(folder / "scores.csv")],
    }
    # Uncompiled, the hash of copies.py warns of the overflow that it relies on.
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONWARNINGS": "ignore"}
    results = {}
    for name, arguments in commands.items():
        command = [sys.executable, __file__, "--src", str(src), "--trace", *arguments]
        done = subprocess.run(command, capture_output=True, text=True, env=environment)
        if done.returncode:
            raise SystemExit(done.stderr)
        results[name] = json.loads(done.stdout)
    return results


def write_table(path: Path) -> None:
    """Write a small table: two numeric columns, one with missing values, and one of text."""
    draw = random.Random(0)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["y", "income", "age", "region"])
        for _ in range(N_ROWS):
            income, age = draw.gauss(0, 1), draw.gauss(0, 1)
            region = draw.choice(["north", "south", "east"])
            y = int(income + 0.5 * age + draw.gauss(0, 1) > 0)
            writer.writerow(
                [y, f"{income:.4f}", "" if draw.random() < 0.1 else f"{age:.4f}", region]
            )


def print_walk(name: str, walk: Walk, n_modules: int) -> None:
    """Print files per folder and the arrows between folders, with their numbers of hops."""
    folders = Counter(folder_of(file) for file in walk.files)
    arrows = Counter((folder_of(a[0]), folder_of(b[0])) for a, b in walk.hops)
    plain = [file for file in walk.files if not folder_of(file).startswith("kernels")]
    outside = [hop for hop in walk.hops if not folder_of(hop[1][0]).startswith("kernels")]
    print(f"\n{name}: {len(walk.files)} files, {len(walk.hops)} hops; without kernels ", end="")
    print(f"{len(plain)} files, {len(outside)} hops; {n_modules} modules of auctor imported")
    print("  files per folder:")
    for folder, count in sorted(folders.items()):
        print(f"    {count:3d}  {folder}")
    print("  hops between folders:")
    for (start, end), count in sorted(arrows.items(), key=lambda item: (-item[1], item[0])):
        print(f"    {count:3d}  {start} -> {end}")


def folder_of(file: str) -> str:
    """The folder of a file below the package; the package itself is ``(auctor)``."""
    parent = Path(file).parent.as_posix()
    return "(auctor)" if parent == "." else parent


def import_seconds(src: Path, statement: str) -> float:
    """Median wall time of a new process that runs one statement."""
    environment = {**os.environ, "PYTHONPATH": str(src)}
    times = []
    for _ in range(N_IMPORTS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", statement], check=True, env=environment)
        times.append(time.perf_counter() - start)
    return median(times)


def print_package(src: Path) -> None:
    """Print the size of the package and the time that importing it takes."""
    files = sorted((src / "auctor").rglob("*.py"))
    n_lines = sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files)
    print(f"{src}: {len(files)} Python files, {n_lines} lines")
    own, bare = import_seconds(src, "import auctor"), import_seconds(src, "pass")
    print(f"import auctor: {own - bare:.3f} s (process {own:.3f} s, bare interpreter {bare:.3f} s)")


def main() -> None:
    """Measure one version of the package and print the result."""
    parser = argparse.ArgumentParser(description="Count the files that fit and score pass through.")
    default = Path(__file__).resolve().parent.parent / "src"
    parser.add_argument("--src", type=Path, default=default, help="folder that contains auctor/")
    parser.add_argument("--list", action="store_true", help="print every file and hop as well")
    parser.add_argument("--trace", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args()
    src = options.src.resolve()
    if options.trace:
        trace(src, options.trace)
        return
    print_package(src)
    with tempfile.TemporaryDirectory() as folder:
        for name, result in measure(src, Path(folder)).items():
            walk = Walk(*result["walk"])
            print_walk(name, walk, result["n_modules"])
            if options.list:
                print("\n".join(f"  {file}" for file in walk.files))
                print("\n".join(f"  {a[0]}:{a[1]} -> {b[0]}:{b[1]}" for a, b in walk.hops))


if __name__ == "__main__":
    main()
