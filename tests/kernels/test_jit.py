"""The decorator: kernels also run where no cache can be written."""

import os
import subprocess
import sys
from pathlib import Path

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
