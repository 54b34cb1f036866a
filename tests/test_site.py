"""The sources of the site name what they should; ``make docs`` builds it and runs its examples."""

import ast
import builtins
import doctest
import inspect
import re
import runpy
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest
from public_api import MODULES, public_names

import auctor

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
GALLERY = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))


def api_names() -> set[str]:
    """Names with their module, as the pages of the API reference list them."""
    names = set()
    for page in (DOCS / "api").glob("*.rst"):
        module = ""
        for line in page.read_text(encoding="utf-8").splitlines():
            if found := re.match(r"\.\. (?:current)?module:: (\S+)", line):
                module = found[1]
            elif found := re.match(r"(?:   |\.\. py:data:: )(\w+)$", line):
                names.add(f"{module}.{found[1]}")
    return names


def test_the_api_reference_has_every_public_name() -> None:
    wanted = {
        f"{module}.{name}" for module in MODULES for name in public_names(import_module(module))
    }
    elsewhere = {"auctor.__version__", "auctor.OracleError"}
    packages = {"auctor.datasets", "auctor.metrics", "auctor.dask.metrics"}
    assert wanted - elsewhere - packages <= api_names(), "add the names to docs/api"


def public_examples() -> Iterator[tuple[str, str]]:
    """The examples of every public name and of its methods, each as a piece of code."""
    parser = doctest.DocTestParser()
    for module in map(import_module, MODULES):
        for name in public_names(module):
            whole = getattr(module, name)
            of_class = inspect.getmembers(whole, callable) if inspect.isclass(whole) else []
            for part, one in [("", whole), *((f".{n}", m) for n, m in of_class if n[0] != "_")]:
                examples = parser.get_examples(inspect.getdoc(one) or "")
                if "auctor" in str(getattr(one, "__module__", "auctor")) and examples:
                    yield f"{module.__name__}.{name}{part}", "".join(e.source for e in examples)


def undefined_names(code: str) -> set[str]:
    """Names that a piece of code uses and neither defines nor imports."""
    used, known = set(), set(dir(builtins))
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Name):
            (used if isinstance(node.ctx, ast.Load) else known).add(node.id)
        elif isinstance(node, ast.alias):
            known.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            known.add(node.name)
        elif isinstance(node, ast.arg):
            known.add(node.arg)
        elif isinstance(node, ast.ExceptHandler) and node.name is not None:
            known.add(node.name)
    return used - known


def test_every_public_class_and_function_has_an_example() -> None:
    with_example = set(dict(public_examples()))
    lacking = {
        f"{module}.{name}"
        for module in MODULES
        for name in public_names(import_module(module))
        if callable(getattr(import_module(module), name))
    } - with_example
    # The example of `auctor.dask.metrics.auc` has them all, so that one cluster is started.
    assert lacking == {f"auctor.dask.metrics.{name}" for name in ("auc_ci", "ks", "roc_curve")}


def test_examples_can_be_pasted() -> None:
    """A doctest has the names of its module; a reader who copies it has only what it imports."""
    assert undefined_names("import a.b as c\nprint(c, [d for d in e])") == {"e"}
    examples = dict(public_examples())
    assert len(examples) > 150
    lacking = {name: found for name, code in examples.items() if (found := undefined_names(code))}
    assert not lacking


def test_public_classes_have_an_example() -> None:
    # Base classes, and warnings that are only caught.
    without = {"Model", "ExplainedModel", "TermModel"}
    for module in map(import_module, MODULES):
        for name in public_names(module):
            one = getattr(module, name)
            if inspect.isclass(one) and not issubclass(one, Exception) and name not in without:
                assert ">>> " in (one.__doc__ or ""), f"{module.__name__}.{name}"


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.name)
def test_no_line_of_a_page_is_taken_for_a_comment(page: Path) -> None:
    """MyST leaves out a line that begins with a percent sign, such as the rest of "95 %"."""
    lines = page.read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if line.startswith("%")]


def test_gallery_examples_are_many_and_short() -> None:
    assert len(GALLERY) >= 15
    for path in GALLERY:
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 60, path.name
        assert re.fullmatch("=+", lines[2]) and len(lines[2]) == len(lines[1]), path.name


def test_the_citation_has_the_version_of_the_package() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {auctor.__version__}\n" in text
    assert text.count("  - type: ") == 5  # the papers


def test_broken_links_and_outside_files_are_found(tmp_path, capsys) -> None:
    check = runpy.run_path(str(ROOT / "tools" / "check_links.py"))["main"]
    (tmp_path / "index.html").write_text(
        '<a href="b.html#here">b</a> <a href="https://x.org">x</a>'
    )
    (tmp_path / "b.html").write_text(
        '<h1 id="here">b</h1> <img src="no.png"> <a href="#gone">g</a>'
    )
    assert check(tmp_path) == 1
    assert capsys.readouterr().out.splitlines() == [
        "b.html: #gone: no such anchor",
        "b.html: no.png: no such file",
        "2 pages, 2 broken links",
    ]
    (tmp_path / "b.html").write_text('<h1 id="here">b</h1> <script src="https://x.org/a.js">')
    assert check(tmp_path) == 1
    assert "b.html: loads https://x.org/a.js" in capsys.readouterr().out


@pytest.mark.parametrize("page", ["changelog.md", "contributing.md"])
def test_included_pages_are_there(page: str) -> None:
    found = re.search(r"\{include\} (\S+)", (DOCS / page).read_text(encoding="utf-8"))
    assert found is not None and (DOCS / found[1]).is_file()
