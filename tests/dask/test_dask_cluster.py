"""Fits and metrics on a real cluster of worker processes, compared bit for bit with memory."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest

from auctor import AUCBoost, ExactBoost, RankBoost, SoftRankBoost
from auctor import metrics as in_memory

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

from auctor.dask import DaskRanker, metrics  # noqa: E402

N_ROWS = 300


def start(n_workers, processes):
    """A cluster on this machine, without a dashboard."""
    host = {"host": "127.0.0.1"} if processes else {}
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=processes,
        dashboard_address=None,
        silence_logs=50,
        **host,
    )


@pytest.fixture(scope="module")
def client():
    """Four workers that are threads of this process: they start at once."""
    with start(4, processes=False) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def processes():
    """Two workers that are processes."""
    with start(2, processes=True) as cluster, distributed.Client(cluster) as client:
        yield client


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=N_ROWS),
            "count": rng.integers(0, 9, size=N_ROWS),
            "text": rng.choice(["a", "b", "c"], size=N_ROWS),
            "gaps": np.where(rng.random(N_ROWS) < 0.2, np.nan, rng.exponential(size=N_ROWS)),
        }
    )
    noise = rng.normal(size=N_ROWS)
    frame["target"] = (frame["number"] + (frame["text"] == "b") + noise > 1).astype(int)
    frame["weight"] = rng.integers(1, 4, size=N_ROWS) * 0.1
    return frame


FEATURES = ["number", "count", "text", "gaps"]


def everything(estimator):
    """The model file and the certificate of a fitted estimator."""
    return estimator.model_.to_json(), estimator.certificate_.values


def in_parts(table, n_parts):
    """The table in partitions, of which one has no rows if there are more than two."""
    edges = np.linspace(0, len(table), n_parts + 1).astype(int)
    if n_parts > 2:
        edges[2] = edges[1]
    parts = [table.iloc[a:b] for a, b in zip(edges, edges[1:], strict=False)]
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=table.iloc[:0])


@pytest.mark.parametrize("n_parts", [1, 2, 9])
def test_models_are_those_of_memory(client, table, n_parts):
    for estimator in (RankBoost(n_estimators=8), SoftRankBoost(4), AUCBoost(n_estimators=4)):
        ranker = DaskRanker(estimator, client).fit(in_parts(table, n_parts), "target", "weight")
        local = estimator.fit(table[FEATURES], table["target"], table["weight"])
        assert everything(ranker.to_local()) == everything(local)
        assert ranker.classes_.tolist() == [0, 1]
        assert ranker.feature_names_in_.tolist() == FEATURES
