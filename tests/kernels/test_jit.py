"""The decorator: kernels also run where no cache can be written."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from auctor.kernels.jit import SharedCacheFile

SCRIPT = """
import numpy as np
from auctor.kernels.scores import add_table
out = np.zeros(2)
add_table(np.array([1, 0], dtype=np.uint8), np.array([5.0, 7.0]), out)
print(out.tolist())
"""


def test_kernels_compile_without_a_cache(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    # A file in the place of the cache folder, and no home to fall back to.
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(blocked / "cache"), "HOME": str(blocked)}
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "[7.0, 5.0]", done.stderr


def test_two_processes_that_compile_at_once_do_not_mix_up_their_code(tmp_path: Path) -> None:
    """Both have read the empty index before either writes."""
    first, second = (SharedCacheFile(str(tmp_path), "function", 1.0) for _ in range(2))
    for file in (first, second):
        file._load_index = dict  # type: ignore[method-assign]
    first.save("int64", "code for int64")
    second.save("float64", "code for float64")
    reader = SharedCacheFile(str(tmp_path), "function", 1.0)
    found = {key: reader.load(key) for key in ("int64", "float64")}
    # One of them may have to compile again; neither is given the code of the other.
    assert found["int64"] in (None, "code for int64")
    assert found["float64"] == "code for float64"
    assert len(list(tmp_path.glob("*.nbc"))) == 2


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="nothing is compiled")
def test_a_kernel_is_read_back_from_the_cache(tmp_path: Path) -> None:
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    for hits in (0, 1):
        script = f"{SCRIPT}print(sum(add_table.stats.cache_hits.values()))"
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True
        )
        assert done.stdout.split("\n")[1] == str(hits), done.stderr
