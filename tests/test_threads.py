"""Threads over items: order kept, errors passed on, bad numbers refused."""

import gc
import os
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from time import sleep

import numpy as np
import pytest

from auctor._threads import _Job
from auctor.data import Workers, resolve_n_jobs


def test_n_jobs():
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    assert resolve_n_jobs(None) == 1
    assert resolve_n_jobs(3) == 3
    assert resolve_n_jobs(np.int64(3)) == 3
    assert resolve_n_jobs(-1) == cores
    assert resolve_n_jobs(-1000) == 1


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", [1]])
def test_bad_n_jobs(n_jobs):
    with pytest.raises(ValueError, match=r"n_jobs is .*; give a positive number of threads"):
        resolve_n_jobs(n_jobs)


@pytest.mark.parametrize("n_jobs", [None, 1, 3])
def test_results_in_the_order_of_the_items(n_jobs):
    with Workers(n_jobs) as workers:
        assert workers.map(lambda i: i * i, range(20)) == [i * i for i in range(20)]
        assert workers.map(str, iter([7])) == ["7"]
        assert workers.map(str, []) == []


def test_one_worker_runs_in_place():
    with Workers(1) as workers:
        assert (
            workers.map(lambda _: threading.current_thread(), [1, 2])
            == [threading.current_thread()] * 2
        )


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_errors_come_through(n_jobs):
    with pytest.raises(ZeroDivisionError), Workers(n_jobs) as workers:
        workers.map(lambda i: 1 // i, [1, 0, 1])


def test_the_first_error_is_raised_and_later_items_are_not_begun():
    begun = []

    def work(i):
        begun.append(i)
        raise KeyboardInterrupt if i == 0 else ValueError(f"item {i}")

    with pytest.raises(KeyboardInterrupt), Workers(2) as workers:
        workers.map(work, range(1000))
    assert len(begun) <= 2  # a thread may have taken the second one before the first failed


def test_an_item_before_one_that_failed_is_still_begun():
    job = _Job(lambda i: 1 // i, [0, 1, 2])
    job._errors[1] = ValueError("another thread was faster")
    with pytest.raises(ZeroDivisionError), ThreadPoolExecutor(1) as pool:
        job.run(pool, 0)


class Large:
    """Something that can be seen to be gone."""


def test_an_error_keeps_no_items():
    """Items may be large, and the error is not to keep them until garbage is looked for."""
    items = [Large() for _ in range(4)]
    kept = [weakref.ref(item) for item in items]
    gc.disable()
    try:
        with Workers(2) as workers:
            with pytest.raises(ZeroDivisionError):
                workers.map(lambda _: 1 // 0, items)
            del items
        assert [item() for item in kept] == [None] * 4
    finally:
        gc.enable()


def test_ctrl_c_before_all_threads_are_asked_begins_no_further_item(monkeypatch):
    begun = []

    def work(_):
        begun.append(0)
        sleep(0.01)

    with Workers(3) as workers:
        submit, calls = workers._pool.submit, iter([True])

        def ask(function):
            if not next(calls, False):
                raise KeyboardInterrupt
            return submit(function)

        monkeypatch.setattr(workers._pool, "submit", ask)
        with pytest.raises(KeyboardInterrupt):
            workers.map(work, range(1000))
    assert len(begun) < 10


def test_all_threads_take_items():
    """Both threads meet at a barrier, which one alone could not pass."""
    barrier = threading.Barrier(2, timeout=60)
    with Workers(2) as workers:
        threads = workers.map(lambda _: barrier.wait() * 0 + threading.get_ident(), range(6))
    assert len(set(threads)) == 2


def test_a_map_within_a_map_ends():
    with Workers(2) as workers:
        totals = workers.map(lambda i: sum(workers.map(lambda j: i * j, range(5))), range(8))
    assert totals == [10 * i for i in range(8)]
