"""Ctrl-C on a real command: exit code 130, and nothing is written."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

pty = pytest.importorskip("pty", reason="needs a terminal to watch the progress bar on")

# A process that was started in the background ignores Ctrl-C unless it is told otherwise.
_COMMAND = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from auctor.cli.main import main
sys.exit(main())
"""
_LIMIT = 600  # seconds after which a command that hangs is killed


def interrupt(words: Sequence[str], shows: str) -> tuple[int, str, str]:
    """Run a command, press Ctrl-C once its stderr shows a text, and wait for its end.

    Stderr is a terminal, on which the progress bar is redrawn ten times a second.
    """
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", _COMMAND, *words], stdout=subprocess.PIPE, stderr=theirs
    ) as process:
        os.close(theirs)
        try:
            log = read_until(ours, shows)
            process.send_signal(signal.SIGINT)
            log += read_until(ours, None)
            out, _ = process.communicate(timeout=_LIMIT)
        finally:
            process.kill()
            os.close(ours)
    return process.returncode, out.decode(), log


def read_until(terminal: int, shows: str | None) -> str:
    """What a terminal shows up to a text (a regular expression), or to its end."""
    text = ""
    while shows is None or not re.search(shows, text):
        try:
            read = os.read(terminal, 4096)
        except OSError:  # how Linux says that the other side has closed it
            read = b""
        if not read:
            assert shows is None, f"the command ended before it showed {shows!r}: {text}"
            break
        text += read.decode()
    return text


# Runs of ExactBoost have been finished, of which a model could be made; of ExactBoostCV the smooth
# model is about to be fitted, and its rounds would take minutes.
@pytest.mark.parametrize(
    ("learner", "jobs", "shows"),
    [
        ("exactboost", "1", r"ExactBoost \[#* *\] [1-9]"),
        ("exactboost", "2", r"ExactBoost \[#* *\] [1-9]"),
        ("exactboost-cv", "2", r"cross-validation .* \d+ candidates"),
    ],
)
def test_ctrl_c_in_a_fit_writes_nothing(
    train: Path, tmp_path: Path, learner: str, jobs: str, shows: str
) -> None:
    out = tmp_path / "old.json"
    out.write_text("the old model")
    words = ["fit", str(train), "--target", "y", "--drop", "id", "--metric", "ks", "--cv", "0"]
    words += ["--learner", learner, "--param", "n_runs=20000", "--jobs", jobs]
    code, printed, log = interrupt([*words, "--out", str(out)], shows)
    assert (code, printed) == (130, ""), log
    assert log.endswith("auctor: interrupted\r\n")
    assert out.read_text() == "the old model"
    assert {path.name for path in tmp_path.iterdir()} == {"old.json", "train.csv"}


def test_ctrl_c_in_a_comparison_prints_the_learners_that_are_done(train: Path) -> None:
    words = ["compare", str(train), "--target", "y", "--drop", "id", "--cv", "2"]
    words += ["--learner", "rankboost", "--learner", "exactboost"]
    code, printed, log = interrupt(words, r"ExactBoost \[#* *\] [1-9]")
    assert code == 130, log
    assert printed.endswith("interrupted: 1 of 2 learners were compared\n")
    assert "\nrankboost " in printed and "\nexactboost " not in printed
