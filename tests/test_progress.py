"""The progress bar: on a terminal from the start, with the time left as soon as it is known."""

import io

import pytest

from auctor._progress import Progress


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    """A clock that the test sets."""
    now = [100.0]
    monkeypatch.setattr("auctor._progress.time.monotonic", lambda: now[0])
    return now


def test_a_bar_is_there_before_the_first_round_ends():
    out = Terminal()
    Progress(5, "folds", True, out)
    assert out.getvalue().endswith("folds [                    ] 0/5 0s")


def test_time_left_is_by_work(clock):
    out = Terminal()
    progress = Progress(4, "candidates", True, out, work=8.0)
    clock[0] += 10
    progress.step("AUC 0.7")
    assert out.getvalue().endswith("candidates [#####               ] 1/4 10s, 70s left AUC 0.7")
    clock[0] += 50
    progress.step(work=5.0)
    assert out.getvalue().endswith("2/4 60s, 20s left")


def test_fewer_rounds_than_expected(clock):
    out = Terminal()
    progress = Progress(4, "candidates", True, out)
    progress.step()
    progress.close("done", is_complete=True)
    assert out.getvalue().endswith("[####################] 1/1 0s, 0s left done\n")


def test_rounds_of_unknown_number_have_a_bar_by_work(clock):
    out = Terminal()
    progress = Progress(None, "fit", True, out, work=1.0)
    clock[0] += 10
    progress.step(work=0.25)
    assert out.getvalue().endswith("fit [#####               ] 1 rounds 10s, 30s left")
    progress.close("converged", is_complete=True)
    assert out.getvalue().endswith("[####################] 1 rounds 10s, 0s left converged\n")


def test_a_log_gets_a_line_every_few_seconds_and_silence_if_not_asked(clock):
    log, silent = io.StringIO(), io.StringIO()
    for out, verbose in ((log, True), (silent, False)):
        progress = Progress(10, "rounds", verbose, out)
        for _ in range(10):
            clock[0] += 1
            progress.step()
        progress.close()
    assert [line.split("] ")[1] for line in log.getvalue().splitlines()] == [
        "5/10 5s, 5s left",
        "10/10 10s, 0s left",
    ]
    assert silent.getvalue() == ""
