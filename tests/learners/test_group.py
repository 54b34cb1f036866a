"""A fit by several members of a group gives the model of one process, bit for bit."""

import json

import numpy as np
import pandas as pd
import pytest
from data.thread_group import run_members
from sklearn.base import clone

from auctor import (
    AUCBoost,
    Checkpoint,
    MartiRank,
    RankBoost,
    SmoothAUCBoost,
    SmoothAUCBoostCV,
    SmoothTreeBoost,
    SoftRankBoost,
    TreeRank,
)
from auctor.data.cluster.parts_table import PartsRows, PartsTable, read_part
from auctor.estimators.fit_input import FitInput
from auctor.learners.checkpoint.records import encode
from auctor.learners.checkpoint.store import MemoryStore
from auctor.learners.martirank import martirank
from auctor.learners.tree_boost import grower

N_ROWS = 240

CASES = {
    "rankboost": RankBoost(n_estimators=6),
    "early_stopping": RankBoost(n_estimators=6, early_stopping=True, max_bins=16),
    "frequency": RankBoost(n_estimators=4, frequency_weights=True),
    "soft_rankboost": SoftRankBoost(n_estimators=5),
    "aucboost": AUCBoost(n_estimators=5),
    "martirank": MartiRank(n_layers=6),
    "treerank": TreeRank(max_depth=4),
    "pruned": TreeRank(max_depth=3, split="tree", order="rate", pruning="cv", cv=2),
    "smooth": SmoothAUCBoost(interactions=1, tol=1e-4),
    "partial": SmoothAUCBoost(fpr_range=(0, 0.4), early_stopping=True, tol=1e-4),
    "stagewise": SmoothAUCBoost(solver="stagewise", n_estimators=4),
    "smooth_cv": SmoothAUCBoostCV(cv=2, penalties=[1e-3], shrinkages=[1e-3, 1e-2]),
    "tree_boost": SmoothTreeBoost(n_estimators=6, cv=2, max_depth=2, init=None),
    "mixture": SmoothTreeBoost(
        n_estimators=4, early_stopping=False, subsample=0.5, max_features=0.5
    ),
}


def make_table(copies):
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        {
            "number": rng.normal(size=N_ROWS),
            "count": rng.integers(0, 9, size=N_ROWS),
            "text": rng.choice(["a", "b", "c", None], size=N_ROWS),
            "gaps": np.where(rng.random(N_ROWS) < 0.2, np.nan, rng.exponential(size=N_ROWS)),
        }
    )
    noise = rng.normal(size=N_ROWS)
    y = (table["number"] + (table["text"] == "b") + noise > 0.8).to_numpy().astype(int)
    weight = rng.integers(0, 4, size=N_ROWS) * 0.1
    if copies:
        rows = rng.integers(0, N_ROWS // 3, size=N_ROWS)
        table, y = table.iloc[rows].reset_index(drop=True), y[rows]
    return table, y, weight


def fit_members(estimator, size, table, y, weight, seed=0, stores=None):
    """The estimators that the members of a group have fitted, each to some of five partitions.

    ``stores`` are those of the members' states, which are written after every round.
    """
    rng = np.random.default_rng(seed)
    edges = np.sort([0, len(table), *rng.integers(0, len(table), size=4)])
    edges[2] = edges[1]  # a partition without rows
    owner = rng.permutation([k % size for k in range(5)])

    def fit(group):
        own = [k for k in range(5) if owner[k] == group.rank]
        slices = [slice(edges[k], edges[k + 1]) for k in own]
        parts = [read_part(k, table.iloc[s]) for k, s in zip(own, slices, strict=True)]
        labels = np.concatenate([y[:0], *(y[s] for s in slices)])
        weights = None
        if weight is not None:
            weights = np.concatenate([weight[:0], *(weight[s] for s in slices)])
        whole = PartsTable([part for part in parts if part is not None], group)
        kept = None if stores is None else Checkpoint(stores[group.rank], rounds=1)
        return clone(estimator)._fit_rows(PartsRows(whole, labels, weights), kept)

    return run_members(size, fit)


@pytest.mark.parametrize("case", CASES)
def test_members_of_a_group_fit_the_model_of_one_process(case):
    estimator, copies = CASES[case], case in ("early_stopping", "pruned", "smooth_cv")
    table, y, weight = make_table(copies)
    weight = None if case in ("soft_rankboost", "partial") else weight
    alone = estimator.fit(table, y, sample_weight=weight)
    for member in fit_members(estimator, 3, table, y, weight):
        assert member.model_.to_json() == alone.model_.to_json()
        assert member.certificate_.values == alone.certificate_.values
        assert member.classes_.tolist() == alone.classes_.tolist()


def test_the_rows_that_calibrate_martirank_are_those_of_one_process(monkeypatch):
    monkeypatch.setattr(martirank, "_N_CALIBRATION_ROWS", 60)
    table, y, weight = make_table(copies=False)
    alone = CASES["martirank"].fit(table, y, sample_weight=weight)
    for member in fit_members(CASES["martirank"], 2, table, y, weight, seed=1):
        assert member.model_.to_json() == alone.model_.to_json()


def test_members_add_up_tiles_of_features_and_histograms_that_are_not_kept(monkeypatch):
    table, y, _ = make_table(copies=False)
    estimator = SmoothTreeBoost(n_estimators=3, max_depth=4, init=None, early_stopping=False)
    alone = estimator.fit(table, y)
    monkeypatch.setattr(grower, "_TILE", 1)
    monkeypatch.setattr(grower, "_SINGLE_TILE_CELLS", 0)
    tiles = fit_members(estimator, 2, table, y, None)
    monkeypatch.setattr(grower, "_HISTOGRAM_BYTES", 1000)
    for member in [*tiles, *fit_members(estimator, 2, table, y, None, seed=1)]:
        assert member.model_.to_json() == alone.model_.to_json()


def test_a_member_without_rows_takes_part():
    table, y, _ = make_table(copies=False)

    def fit(group):
        parts = [read_part(0, table)] if group.rank == 1 else []
        labels = y if group.rank == 1 else y[:0]
        whole = PartsTable(parts, group)
        return clone(CASES["rankboost"])._fit_rows(PartsRows(whole, labels, None))

    alone = CASES["rankboost"].fit(table, y)
    for member in run_members(2, fit):
        assert member.model_.to_json() == alone.model_.to_json()


class LostError(Exception):
    """Ends a member in mid-fit."""


class CountingStore(MemoryStore):
    """Counts how often a state is written, and ends its member after some of these."""

    def __init__(self, contents=None, last=None):
        super().__init__(contents)
        self.n_writes, self._last = 0, last

    def write(self, key, content):
        super().write(key, content)
        self.n_writes += 1
        if self.n_writes == self._last:
            raise LostError


def everything(estimator):
    """Model, history and certificate, bit for bit."""
    certificate = estimator.certificate_
    history = json.dumps(encode(estimator.history_))
    return estimator.model_.to_json(), history, certificate.statement, repr(certificate.values)


@pytest.mark.parametrize(
    "case",
    ["early_stopping", "aucboost", "martirank", "treerank", "smooth", "smooth_cv", "tree_boost"],
)
def test_members_go_on_from_the_state_of_one_that_is_left(case):
    estimator, (table, y, weight) = CASES[case], make_table(case == "early_stopping")
    whole = CountingStore()
    kept = Checkpoint(whole, rounds=1)
    expected = everything(clone(estimator).fit(table, y, sample_weight=weight, checkpoint=kept))
    half = whole.n_writes // 2
    stores = [MemoryStore(), CountingStore(last=half), MemoryStore()]
    with pytest.raises(LostError):
        fit_members(estimator, 3, table, y, weight, stores=stores)
    # Two other members with other rows, and a process alone, go on from the state of member 2.
    left = [CountingStore(stores[2].contents) for _ in range(3)]
    found = fit_members(estimator, 2, table, y, weight, seed=1, stores=left[:2])
    alone = Checkpoint(left[2], rounds=1)
    found.append(clone(estimator).fit(table, y, sample_weight=weight, checkpoint=alone))
    assert [everything(member) for member in found] == [expected] * 3
    # The steps of the first half were not chosen again.
    assert {store.n_writes for store in left} <= {whole.n_writes - half + k for k in (-1, 0, 1)}


def test_a_group_refuses_the_state_of_other_rows():
    table, y, _ = make_table(copies=False)
    store = MemoryStore()
    CASES["rankboost"].fit(table, y, checkpoint=Checkpoint(store, keep=True))
    table.loc[3, "number"] = 77.0
    stores = [MemoryStore(store.contents) for _ in range(2)]
    with pytest.raises(ValueError, match=r"is of another fit.*the values of the features changed"):
        fit_members(CASES["rankboost"], 2, table, y, None, stores=stores)


def test_members_may_have_different_numbers_of_threads():
    table, y, _ = make_table(copies=False)
    wide = pd.concat([table["number"].rename(f"x{k}") + k for k in range(5)], axis=1)
    alone = TreeRank(max_depth=2).fit(wide, y)

    def fit(group):
        rows = slice(0, 100) if group.rank else slice(100, None)
        whole = PartsTable([read_part(1 - group.rank, wide.iloc[rows])], group)
        estimator = TreeRank(max_depth=2, n_jobs=1 + 3 * group.rank)
        return estimator._fit_rows(PartsRows(whole, y[rows], None))

    for member in run_members(2, fit):
        assert member.model_.to_json() == alone.model_.to_json()


def test_labels_are_counted_alike_whatever_their_type():
    table, y, _ = make_table(copies=False)

    def count(group):
        rows = slice(0, 100) if group.rank else slice(100, None)
        whole = PartsTable([read_part(group.rank, table.iloc[rows])], group)
        labels = y[rows].astype([np.int64, np.float64][group.rank])
        return FitInput(whole, whole, labels).count_labels()

    assert run_members(2, count) == [[int((y == 0).sum()), int((y == 1).sum())]] * 2
