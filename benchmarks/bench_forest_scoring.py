"""Scoring of forests: the same 1,000 trees of 64 leaves by auctor and LightGBM, and TreeRankForest.

Both libraries get the same array of floats. Coding it into bins is part of our time. Times are
proportional to the number of rows: ``--rows 1000000`` takes an hour or more.
"""

import argparse
from functools import partial
from statistics import median
from typing import Any

import lightgbm as lgb
import numpy as np
from bench_treerank import make_table
from timing import Row, print_table, race, seconds

from auctor import TreeRankForest
from auctor.data import number_feature
from auctor.kernels.trees import TreeNodes
from auctor.models import Calibration, ForestModel

N_FEATURES, N_TREES, N_LEAVES = 20, 1000, 64
N_TRAINING = 10_000


def train() -> lgb.Booster:
    """Train the trees on a small table; only their shape matters here."""
    X, y = make_table(N_TRAINING, N_FEATURES)
    parameters = {
        "objective": "binary",
        "num_leaves": N_LEAVES,
        "learning_rate": 0.02,
        "min_data_in_leaf": 5,
        "num_threads": 1,
        "verbose": -1,
    }
    return lgb.train(parameters, lgb.Dataset(X, y), N_TREES)


def list_nodes(tree: dict[str, Any], first: int) -> list[tuple[Any, ...]]:
    """List (feature, threshold, left, right, value) of the nodes, parents before children."""
    queue, rows = [tree], []
    for node in queue:
        if "split_feature" not in node:
            rows.append((-1, 0.0, -1, -1, node["leaf_value"]))
            continue
        left = first + len(queue)
        queue += [node["left_child"], node["right_child"]]
        rows.append((node["split_feature"], node["threshold"], left, left + 1, 0.0))
    return rows


def convert(booster: lgb.Booster) -> ForestModel:
    """Convert the trees of LightGBM to a forest that sums the same values."""
    rows: list[tuple[Any, ...]] = []
    roots = []
    for tree in booster.dump_model()["tree_info"]:
        roots.append(len(rows))
        rows += list_nodes(tree["tree_structure"], len(rows))
    feature, threshold, left, right, value = (
        np.array(column) for column in zip(*rows, strict=True)
    )
    cuts = [np.unique(threshold[feature == j]) for j in range(N_FEATURES)]
    cut = np.zeros(len(rows), dtype=np.int64)
    for j in range(N_FEATURES):
        cut[feature == j] = 1 + np.searchsorted(cuts[j], threshold[feature == j])
    zeros, numbers = np.zeros(len(rows), dtype=np.int64), np.full(len(rows), -1)
    table = np.empty(0, dtype=np.int64)
    return ForestModel(
        classes=(0, 1),
        threshold=0.0,
        calibration=Calibration(1.0, 0.0),
        features=tuple(number_feature(f"x{j}", cuts[j]) for j in range(N_FEATURES)),
        aggregate="sum",
        roots=np.array(roots),
        nodes=TreeNodes(feature, cut, zeros, zeros.copy(), numbers, table, left, right),
        rank=value,
        importance=np.full(N_FEATURES, 1.0 / N_FEATURES),
        intercept=0.0,
    )


def against_lightgbm(booster: lgb.Booster, X: np.ndarray, n_jobs: int) -> Row:
    """Time both libraries on the same trees, after a look at whether the scores agree."""
    model = convert(booster)
    ours = partial(model.decision_function, X, n_jobs=n_jobs)
    peer = partial(booster.predict, X, raw_score=True, num_threads=n_jobs)
    few = booster.predict(X[:1000], raw_score=True, num_threads=n_jobs)
    np.testing.assert_allclose(model.decision_function(X[:1000]), few, atol=1e-9)
    name = f"{N_TREES} trees of {N_LEAVES} leaves, {len(X):.0e} x 20, {n_jobs} thread(s), LightGBM"
    return race(name, ours, peer, "at least 1", n_rounds=5)


def time_alone(name: str, model: ForestModel, X: np.ndarray, n_jobs: int) -> Row:
    """Time a forest of ours, without a peer."""
    score = partial(model.decision_function, X, n_jobs=n_jobs)
    score()
    times = [seconds(score) for _ in range(5)]
    return {
        "name": f"{name}, {len(X):.0e} x 20, {n_jobs} thread(s)",
        "ours": median(times),
        "peer": None,
        "ratio": None,
        "spread": f"{min(times):.2f}..{max(times):.2f}",
        "target": "",
    }


def run(n_rows: int = 50_000) -> list[Row]:
    """Every case, one row each; ``n_rows`` is for the comparison with LightGBM."""
    X, _ = make_table(1_000_000, N_FEATURES)
    booster = train()
    rows = [against_lightgbm(booster, X[:n_rows], n_jobs) for n_jobs in (1, 2)]
    rows.append(time_alone("the same trees", convert(booster), X, 2))
    forest = TreeRankForest(n_jobs=2).fit(*make_table(N_TRAINING, N_FEATURES)).model_
    return rows + [time_alone("TreeRankForest of 200 trees", forest, X, n) for n in (1, 2)]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=50_000, help="rows of the comparison")
    print_table(run(parser.parse_args().rows))
