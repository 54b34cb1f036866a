"""The sources of the site name what they should; ``make docs`` builds it and runs its examples."""

import re
import runpy
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
