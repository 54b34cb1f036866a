"""Benchmarks start as scripts do: with their own folder on the path, and not the checkout's."""

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
