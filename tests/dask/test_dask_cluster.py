"""Fits and metrics on a real cluster of worker processes, compared bit for bit with memory."""

import os
import signal
import threading
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from auctor import AUCBoost, Checkpoint, ExactBoost, RankBoost, SmoothTreeBoost
from auctor import metrics as in_memory
from auctor.learners.checkpoint.store import FolderStore, MemoryStore

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")

import dask.array as da  # noqa: E402
import dask.dataframe as dd  # noqa: E402

from auctor.dask import DaskRanker, metrics  # noqa: E402
from auctor.dask import ranker as ranker_module  # noqa: E402
from auctor.dask import run as run_module  # noqa: E402
from auctor.dask.ranker import FitWork  # noqa: E402
from auctor.dask.state import KeptState  # noqa: E402

N_ROWS = 300


def start(n_workers, processes):
    """A cluster on this machine, without a dashboard."""
    host = {"host": "127.0.0.1"} if processes else {}
    return distributed.LocalCluster(
        n_workers=n_workers,
        threads_per_worker=1,
        processes=processes,
        dashboard_address="127.0.0.1:0",  # any free port: another cluster may be there
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
    # A worker that was killed may need longer than usual to come back on a busy machine; after that
    # time Dask gives it up.
    patience = dask.config.set({"distributed.deploy.lost-worker-timeout": "60s"})
    with patience, start(2, processes=True) as cluster, distributed.Client(cluster) as client:
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


def in_parts(table, n_parts, *, weighted=False):
    """The table in partitions, of which one has no rows if there are more than two."""
    table = table if weighted else table.drop(columns="weight")
    edges = np.linspace(0, len(table), n_parts + 1).astype(int)
    if n_parts > 2:
        edges[2] = edges[1]
    parts = [table.iloc[a:b] for a, b in pairwise(edges)]
    return dd.from_delayed([dask.delayed(part) for part in parts], meta=table.iloc[:0])


@pytest.mark.parametrize("n_parts", [1, 2, 9])
def test_models_are_those_of_memory(client, table, n_parts):
    for estimator in (RankBoost(n_estimators=4), SmoothTreeBoost(n_estimators=2, init=None, cv=2)):
        ranker = DaskRanker(estimator, client).fit(
            in_parts(table, n_parts, weighted=True), "target", "weight"
        )
        local = estimator.fit(table[FEATURES], table["target"], table["weight"])
        assert everything(ranker.to_local()) == everything(local)
        assert ranker.classes_.tolist() == [0, 1]
        assert ranker.feature_names_in_.tolist() == FEATURES


def test_arrays_and_delayed_parts_are_tables_too(client, table):
    X, y = table[["number", "gaps"]].to_numpy(), table["target"].to_numpy()
    estimator = RankBoost(n_estimators=3)
    local = estimator.fit(X, y)
    arrays = da.from_array(X, chunks=(100, 1)), da.from_array(y, chunks=120)
    ranker = DaskRanker(estimator, client).fit(*arrays)
    assert everything(ranker.to_local()) == everything(local)
    assert ranker.predict(arrays[0]).compute().tolist() == local.predict(X).tolist()
    assert ranker.predict_proba(arrays[0]).compute().tolist() == local.predict_proba(X).tolist()
    parts = [dask.delayed((X[a : a + 100], y[a : a + 100])) for a in (0, 100, 200)]
    ranker = DaskRanker(estimator, client).fit(parts)
    assert everything(ranker.to_local()) == everything(local)
    first, *_ = ranker.decision_function([dask.delayed(X[:100])])
    assert first.compute().tolist() == local.decision_function(X[:100]).tolist()
    assert ranker.decision_function(X[:5]).tolist() == local.decision_function(X[:5]).tolist()


def test_scores_are_computed_by_partition(client, table):
    parts = in_parts(table, 5)
    ranker = DaskRanker(RankBoost(n_estimators=5), client).fit(parts, "target")
    local, X = ranker.to_local(), table[FEATURES]
    scores = ranker.decision_function(parts[FEATURES])
    assert isinstance(scores, dd.Series)
    assert scores.compute().tolist() == local.decision_function(X).tolist()
    chances = ranker.predict_proba(parts[FEATURES]).compute()
    assert chances.columns.tolist() == [0, 1]
    assert chances.to_numpy().tolist() == local.predict_proba(X).tolist()
    assert ranker.predict(parts[FEATURES]).compute().tolist() == local.predict(X).tolist()
    assert ranker.score(parts, "target") == local.score(X, table["target"])


def test_metrics_are_those_of_memory(client, table):
    rng = np.random.default_rng(1)
    y = table["target"].to_numpy()
    score = np.round(y + rng.normal(size=N_ROWS), 1)
    weight = rng.integers(0, 4, size=N_ROWS)
    arrays = [da.from_array(values, chunks=70) for values in (y, score, weight)]
    for given, whole in (({}, {}), ({"sample_weight": arrays[2]}, {"sample_weight": weight})):
        curve = metrics.roc_curve(*arrays[:2], client=client, **given)
        expected = in_memory.roc_curve(y, score, **whole)
        for name in ("thresholds", "true_positives", "false_positives"):
            assert getattr(curve, name).tolist() == getattr(expected, name).tolist()
        assert repr(curve) == repr(expected)
        interval = metrics.auc_ci(*arrays[:2], level=0.9, client=client, **given)
        expected = in_memory.auc_ci(y, score, level=0.9, **whole)
        assert repr(interval) == repr(expected)
        assert interval.low == pytest.approx(expected.low, rel=1e-12)
        assert interval.high == pytest.approx(expected.high, rel=1e-12)
    found = metrics.ks(*arrays[:2], sample_weight=arrays[2], client=client)
    assert found == in_memory.ks(y, score, sample_weight=weight)
    assert metrics.auc(*arrays[:2], client=client) == in_memory.auc(y, score)


def test_a_partition_of_one_class_and_labels_of_text(client, table):
    ordered = table.sort_values("target").reset_index(drop=True)
    ordered["target"] = np.where(ordered["target"] == 1, "yes", "no")
    estimator = AUCBoost(n_estimators=2, pos_label="no")
    ranker = DaskRanker(estimator, client).fit(in_parts(ordered, 4), "target")
    local = estimator.fit(ordered[FEATURES], ordered["target"])
    assert everything(ranker.to_local()) == everything(local)
    assert ranker.predict(ordered[FEATURES]).tolist() == local.predict(ordered[FEATURES]).tolist()


def delayed_tables(*tables):
    return [dask.delayed((table[FEATURES], table["target"])) for table in tables]


def test_types_that_differ_by_partition_are_joined_or_named(client, table):
    first, second = table.iloc[:100].copy(), table.iloc[100:].copy()
    first["count"] = first["count"].astype("int8")
    second["count"] = second["count"].astype(float)
    first["text"] = first["text"].astype("category")
    second["gaps"] = second["gaps"].astype("float32").astype(float)
    whole = pd.concat([first, second])
    whole["text"] = whole["text"].astype(str)
    estimator = RankBoost(n_estimators=3)
    ranker = DaskRanker(estimator, client).fit(delayed_tables(first, second[::-1][::-1]))
    local = estimator.fit(whole[FEATURES], whole["target"])
    assert everything(ranker.to_local()) == everything(local)
    second["text"] = 1.0
    with pytest.raises(ValueError, match="column 'text' holds text in partition 0 and numbers in"):
        DaskRanker(estimator, client).fit(delayed_tables(first, second))
    narrow = [dask.delayed((table[FEATURES], table["target"])),
              dask.delayed((table[FEATURES[:2]], table["target"]))]  # fmt: skip
    with pytest.raises(ValueError, match="partition 1 lacks the column 'text', 'gaps'"):
        DaskRanker(estimator, client).fit(narrow)


def test_errors_name_what_is_wrong(client, table):
    estimator = RankBoost(n_estimators=2)
    with pytest.raises(TypeError, match="ExactBoost cannot be fitted on a cluster"):
        DaskRanker(ExactBoost(), client).fit(in_parts(table, 2), "target")
    with pytest.raises(ValueError, match="estimator='tree' cannot be fitted on a cluster"):
        DaskRanker(AUCBoost(estimator="tree"), client).fit(in_parts(table, 2), "target")
    with pytest.raises(TypeError, match="y is of type ndarray; give a dask"):
        DaskRanker(estimator, client).fit(in_parts(table, 2)[FEATURES], np.ones(N_ROWS))
    with pytest.raises(ValueError, match="X has 3 partitions and y has 2"):
        DaskRanker(estimator, client).fit(in_parts(table, 3), in_parts(table, 2)["target"])
    with pytest.raises(ValueError, match="y has 1 class"):
        DaskRanker(estimator, client).fit(in_parts(table.assign(target=1), 2), "target")
    mixed = [table.assign(target=table["target"].astype(kind)) for kind in (int, str) * 3]
    with pytest.raises(ValueError, match="y has numbers and text in different parts"):
        DaskRanker(estimator, client).fit(delayed_tables(*mixed))
    y, score = (da.from_array(table["target"].to_numpy(), chunks=50) for _ in range(2))
    weight = [dask.delayed(np.ones(50 + (-1) ** k)) for k in range(N_ROWS // 50)]
    with pytest.raises(ValueError, match=r"partition \d has 50 rows and \d+ values of"):
        metrics.auc(y, score, sample_weight=weight, client=client)
    with pytest.raises(ValueError, match="y_true has 1 class"):
        metrics.auc(y * 0, score, client=client)
    infinite = table.assign(number=np.where(np.arange(N_ROWS) == 250, np.inf, 0.0))
    with pytest.raises(ValueError, match="column 'number' holds 1 infinity"):
        DaskRanker(estimator, client).fit(in_parts(infinite, 4), "target")


def fail():
    raise OSError("the file is gone")


def test_a_partition_that_raises_is_named(client, table):
    parts = [*delayed_tables(table), dask.delayed(fail)()]
    with pytest.raises(RuntimeError, match=r"partition 1 could not be computed.*the file is gone"):
        DaskRanker(RankBoost(n_estimators=2), client).fit(parts)


def test_partitions_that_no_worker_may_compute_are_named(client, table, monkeypatch):
    monkeypatch.setattr(run_module, "_IDLE", 0.6)
    with dask.annotate(workers=["tcp://127.0.0.1:9"]):  # a worker that was lost
        bound = dask.delayed(take_rows)(table, slice(100, None))
    parts = [*delayed_tables(table.iloc[:100]), bound]
    with pytest.raises(RuntimeError, match="partition 1 is not computed: no worker has worked for"):
        DaskRanker(RankBoost(n_estimators=2), client).fit(parts)


def test_two_fits_at_the_same_time_do_not_wait_for_each_other(client, table):
    estimator, found = RankBoost(n_estimators=3), []
    parts = in_parts(table, 6)
    fits = [
        threading.Thread(
            target=lambda: found.append(DaskRanker(estimator, client).fit(parts, "target"))
        )
        for _ in range(2)
    ]
    for fit in fits:
        fit.start()
    for fit in fits:
        fit.join(60)
    local = estimator.fit(table[FEATURES], table["target"])
    assert [everything(ranker) for ranker in found] == [everything(local)] * 2
    copy = clone(found[0])
    assert copy.client is client and not hasattr(copy, "model_")


def rounds_told(client):
    """The first and the last round that each attempt has told, by the topic of its events."""
    events = client.get_events().items()
    return {
        topic: (own[0][1]["round"], own[-1][1]["round"])
        for topic, own in events
        if topic.startswith("auctor-")
    }


LAST_ROUND = 20


class DyingWork(FitWork):
    """The work of a fit in which the process of one member is killed at the start of a round.

    ``alive`` is a file that is removed before, so that the next attempt ends.
    """

    def __init__(self, estimator, plan, rank, alive):
        super().__init__(estimator, plan)
        self._rank, self._alive = rank, alive

    def __call__(self, group, parts):
        begin = group.begin_round

        def begin_round(number, is_known=False):
            begin(number, is_known)
            if (group.rank, number) == (self._rank, LAST_ROUND) and self._alive.exists():
                self._alive.unlink()
                os.kill(os.getpid(), signal.SIGKILL)

        group.begin_round = begin_round
        return super().__call__(group, parts)


def take_rows(table, rows):
    return table.iloc[rows][FEATURES], table.iloc[rows]["target"]


def parts_on_all_workers(client, table):
    """Delayed parts, one on each worker: Dask alone may put all of them on one of two busy ones.

    If a worker is lost, its part is computed on another one.
    """
    workers = sorted(client.nthreads())
    edges = np.linspace(0, len(table), len(workers) + 1).astype(int)
    parts = []
    for worker, (start, stop) in zip(workers, pairwise(edges), strict=True):
        with dask.annotate(workers=[worker], allow_other_workers=True):
            parts.append(dask.delayed(take_rows)(table, slice(start, stop)))
    return parts


# Dask repeats the task of a lost worker, or gives it up if it allows no failures.
@pytest.mark.parametrize(("max_restarts", "rank", "allowed_failures"), [(0, 0, 3), (3, 1, 0)])
def test_a_worker_process_that_is_killed_in_mid_fit(
    processes, table, max_restarts, rank, allowed_failures, monkeypatch, tmp_path
):
    monkeypatch.setattr(processes.cluster.scheduler, "allowed_failures", allowed_failures)
    alive = tmp_path / "alive"
    alive.touch()
    monkeypatch.setattr(
        ranker_module, "FitWork", lambda *given: DyingWork(*given, rank=rank, alive=alive)
    )
    estimator = RankBoost(n_estimators=LAST_ROUND + 10, learning_rate=0.1)
    processes.wait_for_workers(2, timeout=60)
    before, parts = set(rounds_told(processes)), parts_on_all_workers(processes, table)
    ranker = DaskRanker(estimator, processes, max_restarts=max_restarts, timeout=60)
    if max_restarts == 0:
        with pytest.raises(RuntimeError, match=r"given up.* tcp://.* was lost in round 20"):
            ranker.fit(parts)
        return
    ranker.fit(parts)
    assert not alive.exists()
    firsts = [first for topic, (first, _) in rounds_told(processes).items() if topic not in before]
    assert firsts == [1, LAST_ROUND]  # the second attempt went on where the survivor was
    local = estimator.fit(table[FEATURES], table["target"])
    assert everything(ranker.to_local()) == everything(local)


def test_partitions_that_a_client_believes_to_be_there_are_looked_for_again(
    client, table, monkeypatch
):
    divide, answers = run_module._divide, iter([{}, {}])
    monkeypatch.setattr(run_module, "_divide", lambda *given: next(answers, None) or divide(*given))
    estimator = RankBoost(n_estimators=2)
    ranker = DaskRanker(estimator, client, max_restarts=0).fit(in_parts(table, 3), "target")
    local = estimator.fit(table[FEATURES], table["target"])
    assert everything(ranker.to_local()) == everything(local)


class FullStore(MemoryStore):
    """Ends a fit after its second round."""

    def write(self, key, content):
        super().write(key, content)
        if content.count(b'"stump"') == 2:
            raise RuntimeError("stopped")


@pytest.fixture
def interrupted(table):
    """The state of a fit in memory after two rounds."""
    store = FullStore()
    with pytest.raises(RuntimeError, match="stopped"):
        RankBoost(n_estimators=5).fit(
            table[FEATURES], table["target"], checkpoint=Checkpoint(store, rounds=1)
        )
    return store.contents["fit"]


def test_a_fit_goes_on_from_a_checkpoint(client, table, tmp_path, interrupted):
    estimator, parts = RankBoost(n_estimators=5), in_parts(table, 5)
    store, before = FolderStore(tmp_path), set(rounds_told(client))
    store.write("fit", interrupted)
    kept = Checkpoint(store, keep=True)
    ranker = DaskRanker(estimator, client).fit(parts, "target", checkpoint=kept)
    local = estimator.fit(table[FEATURES], table["target"])
    assert everything(ranker.to_local()) == everything(local)
    told = [rounds for topic, rounds in rounds_told(client).items() if topic not in before]
    assert [first for first, _ in told] == [3]
    # The whole fit is in the folder now, and a fit in memory has nothing left to choose.
    finished = store.read("fit")
    assert finished.count(b'"stump"') == 5
    DaskRanker(estimator, client).fit(parts, "target", checkpoint=tmp_path)
    assert store.names() == []  # removed at the end
    store.write("fit", finished)
    again = clone(estimator).fit(table[FEATURES], table["target"], checkpoint=kept)
    assert everything(again) == everything(local)
    assert store.read("fit") == finished


def test_states_of_other_fits_are_refused(client, table, tmp_path, interrupted, monkeypatch):
    FolderStore(tmp_path).write("fit", interrupted)
    parts = in_parts(table, 3)
    with pytest.raises(ValueError, match=r"fit\.checkpoint is of another fit: n_estimators was 5"):
        DaskRanker(RankBoost(n_estimators=6), client).fit(parts, "target", checkpoint=tmp_path)
    assert FolderStore(tmp_path).read("fit") == interrupted
    with pytest.raises(ValueError, match="random_state is None"):
        estimator = SmoothTreeBoost(n_estimators=2, random_state=None)
        DaskRanker(estimator, client).fit(parts, "target", checkpoint=tmp_path)

    def kept_from_before(checkpoint):
        kept = KeptState(checkpoint)
        kept.state = interrupted
        return kept

    monkeypatch.setattr(ranker_module, "KeptState", kept_from_before)
    other = in_parts(table.assign(number=-table["number"]), 3)
    with pytest.raises(RuntimeError, match=r"computed again.*the values of the features changed"):
        DaskRanker(RankBoost(n_estimators=5), client).fit(other, "target")
