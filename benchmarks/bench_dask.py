"""Fits on a cluster of worker processes on this machine: bytes sent in a round, and times.

    python benchmarks/bench_dask.py bytes             # 1e5, 1e6 and 1e7 rows
    python benchmarks/bench_dask.py times --rows 1e6  # beside xgboost.dask and LightGBM, in turns
    python benchmarks/bench_dask.py equal             # models on 1, 2 and 4 processes and in memory
    python benchmarks/bench_dask.py messages          # time of a sum, by workers and size
    python benchmarks/bench_dask.py simulate          # work of member 0 in a sum of up to 100

Bytes are those that a worker sends for its sums and messages, without the headers of messages.
"""

import argparse
import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster, secede, wait
from distributed.protocol import dumps, loads, to_serialize

from auctor import RankBoost, SmoothAUCBoost, SmoothTreeBoost
from auctor.dask import DaskRanker
from auctor.dask.group import DaskGroup, Place
from auctor.dask.meeting import SUM, Meeting

COLUMNS = 20


@contextmanager
def cluster(n_workers: int) -> Iterator[Client]:
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
            silence_logs=50,
        ) as local,
        Client(local) as client,
    ):
        yield client


def make_part(seed: int, n_rows: int, n_columns: int) -> Any:
    """Columns of which half carry a signal, and the label as the last one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = X[:, : n_columns // 2].sum(axis=1) + 3 * rng.normal(size=n_rows)
    return np.column_stack([X, y > np.sqrt(n_columns // 2 + 9)])


def make_table(client: Client, n_rows: int, n_columns: int, n_parts: int) -> tuple[Any, Any]:
    """The table and the labels as arrays on the workers."""
    size = n_rows // n_parts
    parts = [
        da.from_delayed(
            dask.delayed(make_part)(k, size, n_columns), (size, n_columns + 1), dtype=float
        )
        for k in range(n_parts)
    ]
    whole = da.concatenate(parts)
    X, y = client.persist([whole[:, :-1], whole[:, -1].astype(int)])
    wait([X, y])
    return X, y


def compare_bytes(options: argparse.Namespace) -> None:
    """Bytes of a round, which do not depend on the number of rows."""
    for n_rows in (10**5, 10**6, 10**7):
        if n_rows > options.rows:
            continue
        with cluster(2) as client:
            X, y = make_table(client, n_rows, 8, 8)
            for make in (
                lambda n: RankBoost(n_estimators=n),
                lambda n: SmoothTreeBoost(
                    n_estimators=n, max_depth=4, init=None, early_stopping=False
                ),
            ):
                start = time.perf_counter()
                ranker = DaskRanker(make(12), client).fit(X, y)
                elapsed, sizes = time.perf_counter() - start, ranker.round_bytes_
                name = type(ranker.estimator).__name__
                print(
                    f"{name}: {n_rows:>10,} rows, {np.median(sizes):,.0f} bytes in a round "
                    f"(median), {ranker.n_bytes_:,} in all, {elapsed:.0f} s",
                    flush=True,
                )


def compare_times(options: argparse.Namespace) -> None:
    """Boosted trees beside XGBoost and LightGBM, on the same cluster and data, in turns."""
    import lightgbm
    from xgboost import dask as dxgb

    n_trees, depth = 50, 6
    with cluster(2) as client:
        X, y = make_table(client, int(options.rows), COLUMNS, 8)

        def ours() -> Any:
            trees = SmoothTreeBoost(
                n_estimators=n_trees, max_depth=depth, init=None, early_stopping=False
            )
            return DaskRanker(trees, client).fit(X, y).decision_function(X)

        def xgboost() -> Any:
            settings = {"tree_method": "hist", "max_depth": depth, "objective": "binary:logistic"}
            table = dxgb.DaskDMatrix(client, X, y)
            fitted = dxgb.train(client, settings | {"nthread": 1}, table, num_boost_round=n_trees)
            return dxgb.predict(client, fitted, X)

        def light() -> Any:
            model = lightgbm.DaskLGBMClassifier(
                n_estimators=n_trees, max_depth=depth, num_leaves=2**depth, n_jobs=1, verbose=-1,
                client=client,
            )  # fmt: skip
            return model.fit(X, y).predict_proba(X)[:, 1]

        _in_turns({"auctor": ours, "xgboost": xgboost, "lightgbm": light}, y, client)
        rank, smooth = RankBoost(n_estimators=n_trees), SmoothAUCBoost()
        for name, estimator in (("RankBoost", rank), ("SmoothAUCBoost", smooth)):
            start = time.perf_counter()
            DaskRanker(estimator, client).fit(X, y)
            print(f"{name}: {time.perf_counter() - start:.1f} s")


def _in_turns(fits: dict[str, Callable[[], Any]], y: Any, client: Client, n_turns: int = 3) -> None:
    """The best time of each fit of several turns, and the AUC on the training rows."""
    from auctor.dask.metrics import auc

    times: dict[str, list[float]] = {name: [] for name in fits}
    areas = {}
    for turn in range(n_turns + 1):  # the first turn compiles and imports
        for name, fit in fits.items():
            start = time.perf_counter()
            scores = fit()
            elapsed = time.perf_counter() - start
            if turn == 0:
                areas[name] = auc(y, scores, client=client)
            else:
                times[name].append(elapsed)
    best = {name: min(own) for name, own in times.items()}
    for name in fits:
        shown = ", ".join(f"{value:.1f}" for value in times[name])
        ratio = best[name] / best["auctor"]
        print(f"{name}: {shown} s; {ratio:.2f} of auctor's time; AUC {areas[name]:.4f}", flush=True)


def compare_models(options: argparse.Namespace) -> None:
    """Models on 1, 2 and 4 processes in several partitions, beside the model in memory."""
    for n_workers in (1, 2, 4):
        with cluster(n_workers) as client:
            for n_parts in (1, 5, 12):
                X, y = make_table(client, 60_000, 6, n_parts)
                for estimator in (RankBoost(n_estimators=20), SmoothAUCBoost()):
                    found = DaskRanker(estimator, client).fit(X, y).model_.to_json()
                    alone = estimator.fit(X.compute(), y.compute()).model_.to_json()
                    name = type(estimator).__name__
                    verdict = "equal" if found == alone else "DIFFERENT"
                    print(
                        f"{name}: {n_workers} workers, {n_parts} partitions: {verdict}", flush=True
                    )


def _time_sums(rank: int, meetings: list[Place], n_values: int) -> float:
    secede()
    group = DaskGroup(rank, meetings, "benchmark")
    counts = np.ones(n_values, dtype=np.int64)
    group.sum(counts)
    start = time.perf_counter()
    for _ in range(20):
        group.sum(counts)
    return (time.perf_counter() - start) / 20


def time_messages(options: argparse.Namespace) -> None:
    """The time of a sum, where all workers share the cores of this machine."""
    for n_workers in (2, 4, 8):
        with cluster(n_workers) as client:
            addresses = sorted(client.nthreads())
            for n_values in (10, 10_000, 1_000_000):
                place = [{"workers": [address], "pure": False} for address in addresses]
                meetings = [client.submit(Meeting, addresses, 60.0, actor=True, **p) for p in place]
                wait(meetings)
                pairs = zip(addresses, meetings, strict=True)
                places = [Place(address, meeting.key) for address, meeting in pairs]
                sums = [
                    client.submit(_time_sums, rank, places, n_values, **p)
                    for rank, p in enumerate(place)
                ]
                taken = max(future.result() for future in sums)
                size = 8 * n_values
                print(f"{n_workers} workers, {size:,} bytes: {1e3 * taken:.1f} ms", flush=True)


async def _meet(n_members: int, counts: Any) -> float:
    """Processor seconds of member 0 in a sum: reading, adding and writing the others' messages."""
    meeting = Meeting([str(k) for k in range(n_members)], 60.0)
    doing = f"{SUM} of {counts.dtype} {counts.shape}"
    frames = dumps({"counts": to_serialize(counts)})

    async def member(rank: int) -> None:
        item = counts if rank == 0 else loads(frames)["counts"]
        total = await meeting.meet(1, doing, rank, item)
        if rank > 0:
            dumps({"result": to_serialize(total)})

    start = time.process_time()
    await asyncio.gather(*(member(rank) for rank in range(n_members)))
    return time.process_time() - start


def simulate(options: argparse.Namespace) -> None:
    """What a sum costs the worker where members meet, without the network."""
    for n_values in (10_240, 327_680):
        for n_members in (2, 10, 100):
            counts = np.ones(n_values, dtype=np.int64)
            taken = min(asyncio.run(_meet(n_members, counts)) for _ in range(5))
            size = 8 * n_values
            print(f"{n_members} members, {size:,} bytes: {1e3 * taken:.1f} ms", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=["bytes", "times", "equal", "messages", "simulate"])
    parser.add_argument("--rows", type=float, default=1e7)
    chosen = parser.parse_args()
    {
        "bytes": compare_bytes,
        "times": compare_times,
        "equal": compare_models,
        "messages": time_messages,
        "simulate": simulate,
    }[chosen.what](chosen)
