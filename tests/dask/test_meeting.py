"""The actor in which the workers of a fit meet, without a cluster."""

import asyncio
from concurrent.futures import Future, ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("distributed")

from auctor.dask import group as group_module
from auctor.dask import run as run_module
from auctor.dask.meeting import GATHER, SUM, GroupError, Meeting, StepError


def run(*calls, timeout=5.0):
    """The results of calls that are made at the same time; errors are results, too."""

    async def meet():
        meeting = Meeting(["first", "second"], timeout)
        return await asyncio.gather(*(call(meeting) for call in calls), return_exceptions=True)

    # In a thread of its own: the browser of other tests keeps an event loop running in this one.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, meet()).result()


def test_all_members_get_all_items_or_the_sum():
    found = run(lambda m: m.meet(1, GATHER, 1, "b"), lambda m: m.meet(1, GATHER, 0, "a"))
    assert found == [["a", "b"], ["a", "b"]]
    counts = np.array([1, 2])
    found = run(lambda m: m.meet(1, SUM, 1, counts), lambda m: m.meet(1, SUM, 0, counts))
    assert [total.tolist() for total in found] == [[2, 4], [2, 4]]


def test_a_member_collects_what_is_delivered():
    found = run(
        lambda m: m.collect(7), lambda m: m.deliver(7, 1, "b"), lambda m: m.deliver(7, 0, "a")
    )
    assert found == [["a", "b"], None, None]


def test_a_state_is_told_once():
    found = run(
        lambda m: m.state_after(0),
        lambda m: m.give_state(b"a"),
        lambda m: m.state_after(0),
        lambda m: m.state_after(1),
    )
    assert found == [(0, None), None, (1, b"a"), (1, None)]


def test_members_at_different_steps_get_an_error_and_no_sum():
    _, other = run(lambda m: m.meet(1, GATHER, 0, 1), lambda m: m.meet(1, SUM, 1, 1), timeout=0.1)
    assert isinstance(other, StepError)
    _, twice = run(
        lambda m: m.meet(1, GATHER, 0, 1), lambda m: m.meet(1, GATHER, 0, 1), timeout=0.1
    )
    assert isinstance(twice, StepError)
    found = run(
        lambda m: m.meet(1, SUM, 0, np.array([1])), lambda m: m.meet(1, SUM, 1, np.array([1, 2]))
    )
    assert all(isinstance(error, StepError) for error in found)


def test_a_member_that_does_not_come_is_named():
    (error,) = run(lambda m: m.meet(3, GATHER, 0, 1), timeout=0.05)
    assert isinstance(error, StepError)
    assert "worker second did not come to step 3 of the fit" in str(error)


def test_a_fit_that_is_stopped_stops_all_who_wait_and_who_come_later():
    async def abort(meeting):
        await asyncio.sleep(0.01)
        await meeting.abort("worker 1 is gone")

    async def late(meeting):
        await asyncio.sleep(0.05)
        return await meeting.meet(2, GATHER, 1, 1)

    waiting, _, later = run(lambda m: m.meet(1, GATHER, 0, 1), abort, late)
    for error in (waiting, later):
        assert isinstance(error, GroupError)
        assert str(error) == "worker 1 is gone"


def test_a_worker_that_is_back_without_its_meeting_is_lost():
    present = {"tcp://a:1": 1, "tcp://b:1": 1}
    client = SimpleNamespace(nthreads=lambda: present)
    holders = {"tcp://b:1": [1], "tcp://c:1": [2], "tcp://a:1": [0]}
    attempt = run_module._Attempt(client, None, [], holders, 60.0, None)
    attempt._meetings = [
        SimpleNamespace(status=status) for status in ("finished", "error", "finished")
    ]
    assert attempt._gone() == ["tcp://b:1", "tcp://c:1"]


def test_the_result_of_a_worker_that_was_lost_is_not_waited_for():
    def result(timeout):
        assert timeout is not None
        raise TimeoutError

    assert run_module._result(SimpleNamespace(status="finished", result=result)) is None
    assert run_module._result(SimpleNamespace(status="error", result=result)) is None


def test_a_worker_that_does_not_begin_is_named(monkeypatch):
    waiting = SimpleNamespace(status="pending", done=lambda: False)
    client = SimpleNamespace(
        nthreads=lambda: {"tcp://a:1": 1},
        submit=lambda *args, **options: waiting,
        cancel=lambda *args, **options: None,
    )
    monkeypatch.setattr(run_module, "_wait_for_one", lambda futures: None)
    attempt = run_module._Attempt(client, None, [], {"tcp://a:1": [0]}, 0.05, None)
    with pytest.raises(RuntimeError, match=r"worker tcp://a:1 did not begin the fit in 0\.05 sec"):
        attempt.run()


def test_a_worker_that_cannot_make_a_meeting_is_named():
    client = SimpleNamespace(nthreads=lambda: {"tcp://a:1": 1})
    attempt = run_module._Attempt(client, None, [], {"tcp://a:1": [0]}, 60.0, None)
    error = ModuleNotFoundError("No module named 'auctor'")
    attempt._meetings = [SimpleNamespace(status="error", exception=lambda: error)]
    with pytest.raises(RuntimeError, match=r"worker tcp://a:1 cannot take part.*install the same"):
        attempt._raise_unable()


def test_a_worker_that_does_not_answer_is_named(monkeypatch):
    """A process that is paused keeps its connections, so that no call to it ever fails."""
    monkeypatch.setattr(group_module, "get_worker", lambda: worker)
    monkeypatch.setattr(group_module, "_LOOK_EVERY", 0.01)
    worker = SimpleNamespace(state=SimpleNamespace(actors={"own": Meeting(["a", "b"], 0.05)}))
    places = [group_module.Place("tcp://paused", "there"), group_module.Place("tcp://b", "own")]
    group = group_module.DaskGroup(1, places, "topic")
    monkeypatch.setattr(group, "_ask", lambda *call: Future())
    with pytest.raises(StepError, match=r"worker tcp://paused did not answer for 0\.1 seconds"):
        group.sum(np.array([1, 2]))
