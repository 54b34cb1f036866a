"""Standard streams that are closed or full: one line and an exit code, never a traceback."""

import subprocess
import sys
from pathlib import Path

import pytest

AUCTOR = f"{sys.executable} -m auctor"


def shell(line: str, **more: object) -> subprocess.CompletedProcess[str]:
    """What a shell makes of a line: its exit code is that of the last command."""
    return subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        text=True,
        timeout=600,  # a command that hangs; a busy machine is no failure
        check=False,
        **more,  # type: ignore[call-overload]
    )


def test_closed_input(model: Path) -> None:
    done = shell(f"{AUCTOR} score {model} - <&-")
    assert done.returncode == 1
    assert done.stderr.startswith("auctor: error: standard input is closed")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("command", ["--version", "--help", ""])
def test_closed_output(command: str) -> None:
    done = shell(f"{AUCTOR} {command} >&-")
    assert done.returncode == 1
    assert "standard output is closed" in done.stderr and done.stderr.count("\n") == 1


def test_closed_output_is_noticed_before_the_work(train: Path, tmp_path: Path) -> None:
    done = shell(f"{AUCTOR} fit {train} --target y --out {tmp_path / 'm.json'} >&-")
    assert done.returncode == 1 and "standard output is closed" in done.stderr
    assert not (tmp_path / "m.json").exists()


def test_closed_error_stream_does_not_mix_with_the_output(tmp_path: Path) -> None:
    done = shell(f"{AUCTOR} score {tmp_path / 'none.json'} t.csv 2>&-")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is full")
@pytest.mark.parametrize("command", ["--version", "--help"])
@pytest.mark.parametrize("buffered", ["", "1"])
def test_full_output(command: str, buffered: str) -> None:
    done = shell(f"PYTHONUNBUFFERED={buffered} {AUCTOR} {command} >/dev/full")
    assert done.returncode == 1
    assert done.stderr.startswith("auctor: error: ") and done.stderr.count("\n") == 1
    assert done.stderr.endswith("No space left on device\n")


@pytest.mark.parametrize("command", ["--version", "--help", "learners --guess"])
def test_nobody_reads(command: str) -> None:
    # The reader is gone before the first line: `exec` closes its end at once.
    done = shell(f"set -o pipefail; {{ sleep 0.3; exec {AUCTOR} {command} 2>&1; }} | true")
    assert done.returncode == 141 or command == "learners --guess"
    assert done.stderr == ""
