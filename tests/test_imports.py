"""Which module may import which, read off the sources: one way between packages, and no cycles."""

import ast
import subprocess
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import auctor

SOURCE = Path(auctor.__file__).parent

# A package may import itself and the packages on earlier lines, none on its own line. Modules that
# lie directly in `auctor` (`_files`, `exceptions`, ...) serve all of them and come first.
ORDER = [
    {"kernels"},
    {"data", "datasets"},
    {"metrics"},
    {"models"},
    {"weak"},
    {"learners"},
    {"estimators"},
    {"display", "report", "dask"},
    {"cli"},
]
LEVEL = {package: level for level, packages in enumerate(ORDER) for package in packages}
# Helps those who write tests: it may import everything, and nothing imports it.
TESTING = "testing"

# A family of learners imports itself and what all learners share. Where it builds on another
# family, the two stand here with the reason.
SHARED_BY_LEARNERS = {"common", "certificate", "checkpoint"}
ACROSS_FAMILIES = {
    ("boosting", "trees"): "AUCBoost boosts small trees",
    ("dmks", "margin"): "both read their columns in the same way",
    ("dmks", "smooth"): "its logistic regression is fitted by the same solver",
    ("exact", "smooth"): "KS and precision at k start from the smooth model",
    ("martirank", "trees"): "the nodes of MartiRank may split by small trees",
    ("tree_boost", "smooth"): "its score is a mixture with the smooth model",
}

HEAVY = (
    "numba", "sklearn", "scipy", "pandas", "pyarrow", "polars", "narwhals", "matplotlib", "onnx",
    "sqlglot", "dask", "distributed",
)  # fmt: skip


def module_name(path, source=SOURCE):
    """``auctor.data.table`` for ``data/table.py``, ``auctor.data`` for ``data/__init__.py``."""
    parts = path.relative_to(source).with_suffix("").parts
    return ".".join(("auctor", *parts)).removesuffix(".__init__")


def is_type_checking(node):
    """Whether a statement is ``if TYPE_CHECKING:``; its imports never run."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def import_nodes(node):
    """All import statements in a tree, also those in functions, except under ``TYPE_CHECKING``."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield node
    for child in node.orelse if is_type_checking(node) else ast.iter_child_nodes(node):
        yield from import_nodes(child)


@cache
def imported(path, source=SOURCE):
    """Dotted names of everything that a module imports: ``auctor.data.table.Table``."""
    return tuple(_imported(path, source))


def _imported(path, source):
    package = ["auctor", *path.relative_to(source).parent.parts]
    for node in import_nodes(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
            continue
        start = package[: len(package) - node.level + 1] if node.level else []
        module = ".".join([*start, *([node.module] if node.module else [])])
        yield from (f"{module}.{alias.name}" for alias in node.names)


def import_graph(source=SOURCE):
    """The modules of the package that each of its modules imports.

    An imported name belongs to the longest module name that it begins with. That importing
    ``a.b`` also runs ``a/__init__.py`` is not counted: every package would be a cycle then. Nor are
    names that are imported as text, by ``importlib``, and the package's version.
    """
    paths = {module_name(path, source): path for path in sorted(source.rglob("*.py"))}
    graph = {}
    for module, path in paths.items():
        names = (name for name in imported(path, source) if name != "auctor.__version__")
        targets = (longest_module(name, paths) for name in names)
        graph[module] = {target for target in targets if target and target != module}
    return graph


def longest_module(name, modules):
    """``auctor.data.table`` for ``auctor.data.table.Table``; None for other packages' names."""
    while name and name not in modules:
        name = name.rpartition(".")[0]
    return name or None


def cycles(graph):
    """Groups of modules each of which imports, over some way, every other one of its group."""
    names = sorted(graph)
    edges = [(names.index(a), names.index(b)) for a, targets in graph.items() for b in targets]
    rows, columns = np.array(edges).reshape(-1, 2).T
    matrix = coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(names), len(names)))
    _, component = connected_components(matrix, connection="strong")
    groups = [[name for name, c in zip(names, component, strict=True) if c == i] for i in component]
    return sorted({" <-> ".join(group) for group in groups if len(group) > 1})


def package_of(module):
    """``data`` for ``auctor.data.table``; empty for ``auctor`` itself."""
    return (*module.split("."), "")[1]


def backward(module, targets):
    """The imports of a module that go against the order, or into the package for tests."""
    package = package_of(module)
    if package in (TESTING, "__main__"):  # the ends of the order: nothing imports them
        return []

    def is_backward(target):
        above = target in LEVEL and LEVEL[target] >= LEVEL.get(package, -1)
        return target != package and (above or target in (TESTING, ""))

    return [target for target in sorted(targets) if is_backward(package_of(target))]


def family_of(module):
    """``trees`` for ``auctor.learners.trees.forest``; empty outside ``learners``."""
    parts = module.split(".")
    return parts[2] if parts[1:2] == ["learners"] and len(parts) > 2 else ""


def across_families(graph):
    """Imports between two families of learners: ``(family, other family): [modules]``."""
    crossings = {}
    for module, targets in graph.items():
        for target in sorted(targets):
            family, other = family_of(module), family_of(target)
            if family and other and family != other and other not in SHARED_BY_LEARNERS:
                crossings.setdefault((family, other), []).append(f"{module} imports {target}")
    return crossings


@pytest.fixture(scope="module")
def graph():
    edges = import_graph()
    assert {"auctor.kernels.roc", "auctor.data", "auctor.cli.main"} <= set(edges)
    return edges


def test_packages_import_only_those_before_them(graph):
    offenders = [
        f"{module} imports {target}"
        for module, targets in graph.items()
        for target in backward(module, targets)
    ]
    assert not offenders, "\n".join(offenders)


def test_no_module_imports_itself_over_others(graph):
    offenders = cycles(graph)
    assert not offenders, "\n".join(offenders)


def test_families_of_learners_do_not_import_each_other(graph):
    crossings = across_families(graph)
    offenders = [line for pair in crossings.keys() - ACROSS_FAMILIES for line in crossings[pair]]
    assert not offenders, "\n".join(sorted(offenders))
    unused = [f"{a} no longer imports {b}" for a, b in ACROSS_FAMILIES.keys() - crossings]
    assert not unused, "\n".join(sorted(unused))


def test_every_package_has_its_level():
    assert {path.parent.name for path in SOURCE.glob("*/__init__.py")} == {*LEVEL, TESTING}


def test_only_kernels_import_numba():
    users = [
        module_name(path)
        for path in sorted(SOURCE.rglob("*.py"))
        if package_of(module_name(path)) != "kernels"
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


@pytest.mark.parametrize(
    ("module", "target", "is_backward"),
    [
        ("auctor.kernels.roc", "auctor.data.validation", True),
        ("auctor.data.table", "auctor.datasets", True),
        ("auctor.data.table", "auctor.testing.strategies", True),
        ("auctor.cli.main", "auctor", True),
        ("auctor._files", "auctor.data", True),
        ("auctor.models.base", "auctor.metrics.auc", False),
        ("auctor.models.base", "auctor.models.tree", False),
        ("auctor.models.base", "auctor._files", False),
        ("auctor.testing.contracts", "auctor.models", False),
    ],
)
def test_what_counts_as_backward(module, target, is_backward):
    assert bool(backward(module, [target])) is is_backward


def test_what_counts_as_a_cycle(tmp_path):
    (tmp_path / "data").mkdir()
    files = {
        "data/__init__.py": "from auctor.data.a import A\n",
        "data/a.py": "from auctor.data import b\n",
        "data/b.py": "def f():\n    from ..c import c\n",
        "c.py": "import auctor.data.a\n",
        "d.py": "if TYPE_CHECKING:\n    from auctor.e import E\nelse:\n    import auctor.c\n",
        "e.py": "from . import d\nfrom os import path\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    graph = import_graph(tmp_path)
    assert graph["auctor.d"] == {"auctor.c"} and graph["auctor.e"] == {"auctor.d"}
    assert cycles(graph) == ["auctor.c <-> auctor.data.a <-> auctor.data.b"]


def test_what_counts_as_another_family():
    forest, finish = "auctor.learners.trees.forest", "auctor.learners.common.finish"
    assert across_families({forest: {finish, "auctor.data.table"}}) == {}
    assert across_families({finish: {forest}}) == {
        ("common", "trees"): [f"{finish} imports {forest}"]
    }
