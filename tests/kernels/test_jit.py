"""The decorator: kernels also run where no cache can be written."""

import errno
import importlib.util
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest

from auctor import kernels
from auctor.kernels.jit import SharedCacheFile, tree_stamp

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
    result = {key: reader.load(key) for key in ("int64", "float64")}
    # One of them may have to compile again; neither is given the code of the other.
    assert result["int64"] in (None, "code for int64")
    assert result["float64"] == "code for float64"
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


SMALL = """
from auctor.kernels.jit import kernel

@kernel
def small(x):
    return x + 1
"""


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """A kernel as a new process would have it, with a cache of its own in tmp_path."""
    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    return lambda: load_module(tmp_path, SMALL).small


def load_module(folder: Path, text: str) -> Any:
    """A module with this text, as a new process would import it."""
    path = folder / "small.py"
    # With Numba 0.61 a file that is written again, even with the same text, is a new one.
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
    spec = importlib.util.spec_from_file_location("small", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def cached(tmp_path: Path, ending: str) -> Path:
    """The newest file of the cache with an ending."""
    return max((tmp_path / "cache").rglob(f"*.{ending}"), key=lambda path: path.stat().st_mtime_ns)


def n_hits(kernel: Any) -> int:
    return sum(kernel.stats.cache_hits.values())


def flip(content: bytes) -> bytes:
    """One bit in the middle is another one."""
    middle = len(content) // 2
    return content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :]


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize(
    "damage",
    [
        lambda content: b"",
        lambda content: content[: len(content) // 2],
        lambda content: content[:-1],
        lambda content: b"nonsense",
        flip,
    ],
    ids=["empty", "half", "one byte less", "nonsense", "one bit"],
)
def test_a_damaged_cache_is_compiled_around_and_mended(
    tmp_path: Path, fresh: Callable[[], Any], ending: str, damage: Callable[[bytes], bytes]
) -> None:
    assert fresh()(1) == 2
    path = cached(tmp_path, ending)
    path.write_bytes(damage(path.read_bytes()))
    assert fresh()(1) == 2
    again = fresh()
    assert (again(1), n_hits(again)) == (2, 1)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_cache_that_cannot_be_written_is_done_without(
    fresh: Callable[[], Any], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(SharedCacheFile, "_open_for_write", refuse)
    small = fresh()
    assert (small(1), small(1.5)) == (2, 2.5)


def test_a_cache_that_is_gone_or_cannot_be_read_is_done_without(
    tmp_path: Path, fresh: Callable[[], Any]
) -> None:
    small = fresh()
    shutil.rmtree(tmp_path / "cache")
    (tmp_path / "cache").write_text("a file in its place")
    assert small(1) == 2
    (tmp_path / "cache").unlink()
    assert fresh()(1) == 2
    path = cached(tmp_path, "nbi")
    path.unlink()
    path.mkdir()  # nobody reads a folder, the superuser neither
    assert fresh()(1) == 2


CALLER = """
from auctor.kernels.jit import kernel
from called import called

@kernel
def calls(x):
    return called(x) + 1
"""
CALLED = """
from auctor.kernels.jit import kernel

@kernel
def called(x):
    return x + {}
"""


def test_a_kernel_is_compiled_anew_when_one_that_it_calls_has_changed(tmp_path: Path) -> None:
    """Of another file: its code is compiled into the caller's."""
    (tmp_path / "caller.py").write_text(CALLER)
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for added in (10, 20):
        (tmp_path / "called.py").write_text(CALLED.format(added))
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
        done = subprocess.run(
            [sys.executable, "-c", "from caller import calls; print(calls(1))"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
        )
        assert done.stdout.strip() == str(2 + added), done.stderr


def test_the_stamp_changes_with_names_and_contents_in_all_folders(tmp_path: Path) -> None:
    files = [("a.py", "1"), ("a.py", "2"), ("b.py", "2"), ("deep/b.py", "2"), ("deep/b.py", "3")]
    stamps = set()
    for i, (name, text) in enumerate([*files, ("b.txt", "3")]):
        folder = tmp_path / str(i)
        (folder / "deep").mkdir(parents=True)
        (folder / name).write_text(text)
        (folder / ".#lock.py").symlink_to("nowhere")  # as Emacs leaves it
        (folder / "folder.py").mkdir()
        stamps.add(tree_stamp(folder / "kernel.py"))
    assert len(stamps) == 6


def test_all_kernels_of_the_package_share_one_stamp() -> None:
    package = Path(kernels.__file__).parent
    stamps = {tree_stamp(path) for path in package.rglob("*.py")}
    assert len(stamps) == 1


def test_code_of_old_sources_is_removed(tmp_path: Path) -> None:
    old = SharedCacheFile(str(tmp_path), "function", "old stamp")
    old.save("int64", "old code")
    old.save("float64", "old code")
    assert len(list(tmp_path.glob("*.nbc"))) == 2
    new = SharedCacheFile(str(tmp_path), "function", "new stamp")
    new.save("int64", "new code")
    new.save("float64", "new code")
    assert len(list(tmp_path.glob("*.nbc"))) == 2
    assert (new.load("int64"), new.load("float64")) == ("new code", "new code")
    assert old.load("int64") is None


INNER = """
from auctor.kernels.jit import inner_kernel, kernel

@inner_kernel
def inner(x):
    return x + 1

@kernel
def outer(x):
    return inner(x) + 1
"""


def test_an_inner_kernel_is_called_by_kernels_and_refuses_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if numba.config.DISABLE_JIT:
        pytest.skip("nothing is compiled")
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    for _ in range(2):  # compiled, and read back from the cache
        module = load_module(tmp_path, INNER)
        assert module.outer(1) == 3
        with pytest.raises(TypeError, match="inner is called by kernels only"):
            module.inner(1)
