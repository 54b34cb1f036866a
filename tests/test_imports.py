"""The way through the rooms: read off the imports of every module."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import auctor

SOURCE = Path(auctor.__file__).parent

# A room may import itself and the rooms on earlier lines, none on its own line.
ORDER = [
    {"kernels"},
    {"data", "datasets"},
    {"metrics"},
    {"models"},
    {"weak"},
    {"learners"},
    {"estimators"},
    {"display", "report", "dask"},
    {"papers"},
    {"cli"},
]
LEVEL = {room: level for level, rooms in enumerate(ORDER) for room in rooms}
HEAVY = ("numba", "sklearn", "scipy", "pandas", "pyarrow", "polars", "narwhals", "matplotlib")


def imported(path):
    """Dotted names of all that a module imports, wherever in it the import stands."""
    package = ["auctor", *path.relative_to(SOURCE).parent.parts]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*start, *([node.module] if node.module else [])])
            # `from auctor import models` names a room in its last part.
            yield from (f"{module}.{alias.name}" for alias in node.names)


def room_of(path):
    """The first folder or module below the package."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


MODULES = sorted(SOURCE.rglob("*.py"))
IN_ROOMS = [path for path in MODULES if room_of(path) in LEVEL]


def backward(room, names):
    """The imports that go back against the order, or into the testing room.

    The papers are witnesses themselves, and may call others.
    """
    found = []
    for name in names:
        parts = name.split(".")
        target = parts[1] if parts[0] == "auctor" and len(parts) > 1 else None
        if (target == "testing" and room != "papers") or (
            target in LEVEL and target != room and LEVEL[target] >= LEVEL[room]
        ):
            found.append(name)
    return found


def test_there_are_modules_to_read():
    assert {"kernels", "data", "models"} <= {room_of(path) for path in IN_ROOMS}


def test_imports_go_one_way():
    offenders = {}
    for path in IN_ROOMS:
        found = backward(room_of(path), imported(path))
        if path.name == "run.py":  # of a paper: started by itself it calls the command line
            found = [name for name in found if name != "auctor.cli.main.main"]
        if found:
            offenders[str(path.relative_to(SOURCE))] = found
    assert offenders == {}


def test_a_room_has_its_place_in_the_order():
    rooms = {p.parent.name for p in SOURCE.glob("*/__init__.py")}
    assert rooms - set(LEVEL) == {"testing"}


@pytest.mark.parametrize(
    ("room", "name", "is_backward"),
    [
        ("kernels", "auctor.data.border", True),
        ("data", "auctor.datasets", True),
        ("data", "auctor.testing.strategies", True),
        ("cli", "auctor.testing", True),
        ("papers", "auctor.testing", False),
        ("papers", "auctor.cli.output", True),
        ("models", "auctor.metrics.auc", False),
        ("models", "auctor.models.base", False),
        ("metrics", "auctor.models", True),
        ("learners", "numpy", False),
    ],
)
def test_the_test_itself(room, name, is_backward):
    assert bool(backward(room, [name])) is is_backward


def test_relative_imports_are_followed(tmp_path, monkeypatch):
    monkeypatch.setattr(f"{__name__}.SOURCE", tmp_path)
    module = tmp_path / "data" / "odd.py"
    module.parent.mkdir()
    module.write_text("from ..models import base\nfrom . import table\nfrom .. import learners\n")
    assert list(imported(module)) == [
        "auctor.models.base",
        "auctor.data.table",
        "auctor.learners",
    ]


def test_numba_stays_in_the_kernels():
    users = [
        str(path.relative_to(SOURCE))
        for path in MODULES
        if room_of(path) != "kernels"
        and any(name.split(".")[0] == "numba" for name in imported(path))
    ]
    assert users == []


def test_import_loads_nothing_heavy():
    script = "import sys, auctor; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60
    )
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert "auctor" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_public_names_resolve():
    assert [name for name in auctor.__all__ if getattr(auctor, name, None) is None] == []
    assert set(auctor.__all__) <= set(dir(auctor))


def test_unknown_names_do_not():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        auctor.nonsense  # noqa: B018
