"""A fit that was interrupted and goes on ends with the same bits as one that was not."""

import json
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

import auctor
from auctor import Checkpoint, estimators, read_dataset
from auctor.estimators.checkpointing import WITH_CHECKPOINT
from auctor.exceptions import CheckpointWarning
from auctor.learners.checkpoint.records import encode
from auctor.learners.checkpoint.store import MemoryStore
from auctor.models.file import to_json

FITS = {
    "RankBoost": auctor.RankBoost(12),
    "RankBoost, early stopping": auctor.RankBoost(
        40, early_stopping=True, n_iter_no_change=4, n_jobs=2
    ),
    "SoftRankBoost": auctor.SoftRankBoost(12, epsilon=0.1),
    "AUCBoost": auctor.AUCBoost(n_estimators=10),
    "AUCBoost, stumps": auctor.AUCBoost("stump", n_estimators=10),
    "MartiRank": auctor.MartiRank(n_layers=8),
    "TreeRank": auctor.TreeRank(5),
    "TreeRank, pruned": auctor.TreeRank(3, split="tree", pruning="cv", cv=2),
    "SmoothAUCBoost": auctor.SmoothAUCBoost(max_iter=15),
    "SmoothAUCBoost, early stopping": auctor.SmoothAUCBoost(early_stopping=True),
    "SmoothAUCBoost, monotone": auctor.SmoothAUCBoost(
        monotonic_cst={"number": 1}, interactions=1, tol=1e-6, early_stopping=True
    ),
    "SmoothAUCBoost, stagewise": auctor.SmoothAUCBoost(
        solver="stagewise", n_estimators=12, early_stopping=True, n_iter_no_change=3
    ),
    "SmoothAUCBoostCV": auctor.SmoothAUCBoostCV(cv=2, max_iter=5),
    "SmoothAUCBoostCV, stagewise": auctor.SmoothAUCBoostCV(
        cv=2, solver="stagewise", n_estimators=4, penalties=[0.01]
    ),
    "SmoothTreeBoost": auctor.SmoothTreeBoost(6, cv=2, max_depth=2),
    "SmoothTreeBoost, no folds": auctor.SmoothTreeBoost(6, early_stopping=False),
    "ExactBoost": auctor.ExactBoost(n_runs=8, n_estimators=4, n_jobs=2),
}


class StoppedError(Exception):
    """Ends a fit."""


class StoppingStore(MemoryStore):
    """Ends a fit after a number of writes."""

    def __init__(self, contents=None, after=None):
        super().__init__(contents)
        self.n_writes, self._after = 0, after

    def write(self, key, content):
        super().write(key, content)
        self.n_writes += 1
        if self.n_writes == self._after:
            self.left = dict(self.contents)  # another thread may finish what it does, and write
            raise StoppedError


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    n_rows = 250
    number = rng.normal(size=n_rows)
    text = rng.choice(["x", "y", "z", None], n_rows)
    frame = pd.DataFrame(
        {
            "number": np.where(rng.random(n_rows) < 0.1, np.nan, number),
            "count": rng.poisson(3, n_rows),
            "text": text,
        }
    )
    y = number + (text == "x") + 0.5 * (frame["count"] > 3) + rng.normal(size=n_rows) > 1
    return frame, y.to_numpy(), rng.choice([0.0, 0.5, 1.0, 2.25], n_rows)


def result_of(estimator):
    """Everything that a fit gives, bit for bit."""
    certificate = estimator.certificate_
    return {
        "model": to_json(estimator.model_),
        "history": json.dumps(encode(estimator.history_)),
        "certificate": (certificate.statement, repr(certificate.values)),
        "importances": estimator.feature_importances_.tobytes(),
    }


def fit(estimator, table, store, rounds=1):
    X, y, weight = table
    checkpoint = Checkpoint(store, rounds=rounds)
    return clone(estimator).fit(X, y, sample_weight=weight, checkpoint=checkpoint)


def interrupt(estimator, table, after, contents=None):
    """A fit that ends after some writes; returns what it left."""
    store = StoppingStore(contents, after)
    with pytest.raises(StoppedError):
        fit(estimator, table, store)
    return store.left


def test_every_estimator_is_tested():
    assert {type(estimator).__name__ for estimator in FITS.values()} == set(WITH_CHECKPOINT)


@pytest.mark.parametrize("name", FITS)
def test_same_bits_after_an_interruption(name, table):
    estimator, (X, y, weight) = FITS[name], table
    expected = result_of(clone(estimator).fit(X, y, sample_weight=weight))
    store = StoppingStore()
    whole = fit(estimator, table, store)
    assert result_of(whole) == expected
    assert store.contents == {}, "the state is removed at the end"
    n_writes = store.n_writes
    assert n_writes > 4
    for after in (n_writes // 2, n_writes):
        contents = interrupt(estimator, table, after)
        resumed = StoppingStore(contents)
        assert result_of(fit(estimator, table, resumed)) == expected
        # Steps are not noted again; the parts of an iteration that was not finished may be.
        assert resumed.n_writes <= n_writes - after + 2
    # Interrupted twice.
    contents = interrupt(estimator, table, 1, interrupt(estimator, table, 3))
    assert result_of(fit(estimator, table, MemoryStore(contents))) == expected


@pytest.mark.parametrize("name", ["RankBoost", "SmoothTreeBoost"])
def test_other_partitions_and_threads_may_go_on(name, table, tmp_path):
    estimator, (X, y, weight) = FITS[name], table
    expected = to_json(clone(estimator).fit(X, y, sample_weight=weight).model_)
    X.assign(y=y, w=weight).to_parquet(tmp_path / "rows.parquet", row_group_size=40)
    dataset = read_dataset(tmp_path / "rows.parquet", target="y", weight="w", spill_dir=tmp_path)
    store = StoppingStore(after=5)
    with pytest.raises(StoppedError):
        clone(estimator).fit_dataset(dataset, checkpoint=Checkpoint(store, rounds=1))
    more_threads = clone(estimator).set_params(n_jobs=3)
    assert to_json(fit(more_threads, table, MemoryStore(store.contents)).model_) == expected
    again = clone(estimator).fit_dataset(dataset, checkpoint=Checkpoint(store))
    assert to_json(again.model_) == expected


def test_sparse_codes(table):
    from scipy.sparse import csr_array

    rng = np.random.default_rng(1)
    X = csr_array(rng.poisson(0.2, size=(200, 6)).astype(float))
    y = X[:, [0]].toarray().ravel() + rng.normal(size=200) > 0.5
    estimator, store = auctor.RankBoost(10), StoppingStore(after=5)
    with pytest.raises(StoppedError):
        estimator.fit(X, y, checkpoint=Checkpoint(store, rounds=1))
    resumed = clone(estimator).fit(X, y, checkpoint=Checkpoint(store))
    assert result_of(resumed) == result_of(estimator.fit(X, y))
    changed = X.copy()
    changed.data[7] += 1.0
    contents = StoppingStore(after=5)
    with pytest.raises(StoppedError):
        estimator.fit(X, y, checkpoint=Checkpoint(contents, rounds=1))
    with pytest.raises(ValueError, match=r"is of another fit: .* changed"):
        estimator.fit(changed, y, checkpoint=Checkpoint(contents))


def test_a_state_that_is_kept_repeats_the_fit(table):
    X, y, _ = table
    store = MemoryStore()
    first = auctor.RankBoost(20).fit(X, y, checkpoint=Checkpoint(store, keep=True))
    contents = dict(store.contents)
    again = auctor.RankBoost(20).fit(X, y, checkpoint=Checkpoint(store, keep=True))
    assert result_of(again) == result_of(first)
    assert store.contents == contents


def test_ctrl_c_writes_the_last_state(table, monkeypatch):
    X, y, _ = table
    store, n_calls = MemoryStore(), 0
    from auctor.learners.boosting import rankboost

    search = rankboost.best_edge

    def press(*arguments):
        nonlocal n_calls
        n_calls += 1
        if n_calls == 8:
            raise KeyboardInterrupt
        return search(*arguments)

    monkeypatch.setattr(rankboost, "best_edge", press)
    with pytest.raises(KeyboardInterrupt):
        auctor.RankBoost(20).fit(X, y, checkpoint=Checkpoint(store, seconds=1e6))
    assert len(json.loads(store.contents["fit"].splitlines()[1])["logs"]["rounds"]) == 7
    n_calls = 8
    auctor.RankBoost(20).fit(X, y, checkpoint=Checkpoint(store))
    assert n_calls == 8 + 13


def test_verbose_says_where_it_goes_on(table, capsys):
    estimator = auctor.RankBoost(20, verbose=True)
    contents = interrupt(estimator, table, 13)
    capsys.readouterr()
    fit(estimator, table, MemoryStore(contents))
    log = capsys.readouterr().err
    assert log.startswith("RankBoost: resumed from the checkpoint 'fit' in memory\n")
    assert "RankBoost: resumed at round 12 of 20\n" in log


_KILLED = """
import os, signal, sys
import pandas as pd
from auctor import Checkpoint, RankBoost
from auctor.learners.checkpoint.store import FolderStore

class KilledStore(FolderStore):
    n_writes = 0

    def write(self, key, content):
        self.n_writes += 1
        if self.n_writes == 9:
            (self.folder / ".auctor-0123.checkpoint").write_bytes(content[:99])
            os.kill(os.getpid(), signal.SIGKILL)
        super().write(key, content)

frame = pd.read_parquet(sys.argv[1])
ranker = RankBoost(60, early_stopping=True, n_iter_no_change=60)
checkpoint = Checkpoint(KilledStore(sys.argv[2]), rounds=3)
ranker.fit(frame.drop(columns="y"), frame["y"], checkpoint=checkpoint)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_same_bits_after_sigkill(table, tmp_path):
    X, y, _ = table
    frame, folder = X.assign(y=y), tmp_path / "state"
    frame.to_parquet(tmp_path / "rows.parquet")
    command = [sys.executable, "-c", _KILLED, str(tmp_path / "rows.parquet"), str(folder)]
    assert subprocess.run(command, check=False, timeout=600).returncode == -signal.SIGKILL
    assert sorted(path.name for path in folder.iterdir()) == [
        ".auctor-0123.checkpoint",
        "fit.checkpoint",
    ]
    ranker = auctor.RankBoost(60, early_stopping=True, n_iter_no_change=60)
    resumed = clone(ranker).fit(X, y, checkpoint=folder)
    assert result_of(resumed) == result_of(ranker.fit(X, y))
    assert list(folder.iterdir()) == []


OTHERS = [
    name
    for name in sorted(set(estimators.__all__) - set(WITH_CHECKPOINT))
    if hasattr(getattr(estimators, name), "fit_dataset")
]


@pytest.mark.parametrize("name", OTHERS)
def test_others_are_refused_by_name(name, table, tmp_path):
    kind = getattr(estimators, name)
    try:
        estimator = kind()
    except TypeError:
        estimator = kind([("a", auctor.RankBoost())])
    with pytest.raises(TypeError, match=f"{name} does not support checkpoints; .* RankBoost"):
        estimator.fit(*table[:2], checkpoint=tmp_path)


@pytest.mark.parametrize(
    ("estimator", "message"),
    [
        (auctor.AUCBoost("tree"), r"AUCBoost with estimator='tree' does not support checkpoints"),
        (auctor.MartiRank(auctor.RankBoost()), r"MartiRank with estimator=RankBoost\(\) does not"),
        (
            auctor.ExactBoost(auctor.RankMetric(len, len), n_runs=2),
            "metric.value is a builtin_function_or_method, of which a checkpoint cannot tell",
        ),
        (auctor.RankBoost(random_state=None), "random_state is None, .* give a number"),
    ],
)
def test_parameters_that_cannot_go_on(estimator, message, table, tmp_path):
    with pytest.raises(ValueError, match=message):
        estimator.fit(*table[:2], checkpoint=tmp_path)


def test_arguments_are_checked(table, tmp_path):
    (tmp_path / "file").write_text("")
    cases = [
        (lambda: tmp_path / "file", "file', which is a file; give the name of a folder"),
        (lambda: 5, "checkpoint is of type int; give the name of a folder, or a Checkpoint"),
        (lambda: Checkpoint(tmp_path, seconds=-1), "seconds is -1; give a number of 0 or more"),
        (lambda: Checkpoint(tmp_path, rounds=0), "rounds is 0; give a whole number of 1 or more"),
    ]
    for make, message in cases:
        with pytest.raises(ValueError, match=message):
            auctor.RankBoost(3).fit(*table[:2], checkpoint=make())


def test_another_fit_is_refused(table, tmp_path):
    X, y, weight = table
    ranker = auctor.RankBoost(10)
    store = MemoryStore(interrupt(ranker, table, 5))

    def refused(match, estimator=ranker, X=X, y=y, weight=weight):
        before = dict(store.contents)
        with pytest.raises(ValueError, match=match) as caught:
            clone(estimator).fit(X, y, sample_weight=weight, checkpoint=Checkpoint(store))
        assert "Give checkpoint another folder" in str(caught.value)
        assert store.contents == before

    refused("n_estimators was 10 and is 11", auctor.RankBoost(11))
    refused("learning_rate was 1.0 and is 0.5", auctor.RankBoost(10, learning_rate=0.5))
    refused("learner was 'RankBoost' and is 'SoftRankBoost'", auctor.SoftRankBoost(10))
    refused("the weights of the rows changed", weight=np.where(weight == 2.25, 2.5, weight))
    refused("the number of rows was .* and is", weight=None)
    refused("the names of the columns changed", X=X.rename(columns={"number": "amount"}))
    swapped = X.iloc[[1, 0, *range(2, len(X))]].reset_index(drop=True)
    refused("the values of the features changed", X=swapped)
    other = y.copy()
    rows = [np.flatnonzero((y == label) & (weight > 0))[0] for label in (True, False)]
    other[rows] = ~other[rows]
    refused("the rows that are positive changed", y=other)
    held_out = auctor.RankBoost(10, early_stopping=True)
    refused("the number of rows was", held_out)


def test_another_version_is_refused(table, monkeypatch):
    contents = interrupt(FITS["RankBoost"], table, 3)
    monkeypatch.setattr("auctor.learners.checkpoint.identity.__version__", "9.9")
    with pytest.raises(ValueError, match=r"the version of auctor was '.*' and is '9\.9'"):
        fit(FITS["RankBoost"], table, MemoryStore(contents))


def test_a_full_disk_does_not_end_the_fit(table):
    class Full(MemoryStore):
        def write(self, key, content):
            if self.contents:
                raise OSError(28, "No space left on device")
            super().write(key, content)

    with pytest.warns(CheckpointWarning, match="could not be written .*No space left") as caught:
        ranker = fit(auctor.RankBoost(10), table, Full())
    assert (ranker.n_iter_, len(caught)) == (10, 1)


def test_a_folder_that_cannot_be_written_is_an_error_at_once(table, tmp_path):
    class ReadOnly(MemoryStore):
        def write(self, key, content):
            raise PermissionError(13, "Permission denied")

    with pytest.raises(PermissionError):
        fit(auctor.RankBoost(10), table, ReadOnly())


def test_cross_validation_goes_on(table):
    X, y, weight = table
    options = {"cv": 3, "sample_weight": weight}
    ranker = auctor.RankBoost(15)
    expected = auctor.cross_val_auc(ranker, X, y, **options)
    store = StoppingStore(after=25)
    with pytest.raises(StoppedError):
        auctor.cross_val_auc(ranker, X, y, checkpoint=Checkpoint(store, rounds=1), **options)
    assert store.names() == ["fit-fold-1", "fit-fold-2"]
    resumed = StoppingStore(store.contents)
    result = auctor.cross_val_auc(ranker, X, y, checkpoint=Checkpoint(resumed, rounds=1), **options)
    np.testing.assert_array_equal(result.scores, expected.scores)
    assert resumed.n_writes == 3 * 16 - 25, "the first fold is not fitted again"
    assert resumed.names() == []
    with pytest.raises(ValueError, match="random_state is None, with which the folds"):
        auctor.cross_val_auc(ranker, X, y, checkpoint=Checkpoint(store), random_state=None)
