"""Benchmarks start as scripts do: with their own folder on the path, and not the checkout's."""

import runpy
import subprocess
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"


def test_a_benchmark_finds_the_papers_and_the_slow_versions(tmp_path: Path) -> None:
    script = "import bench_exactboost, bench_margin; print(bench_exactboost.fit_plain.__module__)"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r}); {script}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout.strip() == "tests.reference.exact_bisection", done.stderr


def test_pages_have_the_tables_of_the_stored_results(monkeypatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    pages = runpy.run_path(str(BENCHMARKS / "pages.py"))
    texts = {page.name: page.read_text(encoding="utf-8") for page in pages["PAGES"]}
    for name, text in texts.items():
        assert pages["updated"](text) == text, f"`make pages` writes {name}"
    # Every table is on a page, and a figure that was changed by hand is put right.
    n_tables = sum(text.count("<!-- results: ") for text in texts.values())
    assert n_tables == len(pages["TABLES"])
    text = texts["tree_boost.md"]
    wrong = text.replace("| mean of 23 | 0.9133 |", "| mean of 23 | 0.9233 |")
    assert wrong != text and pages["updated"](wrong) == text
