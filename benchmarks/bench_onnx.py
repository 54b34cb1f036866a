"""Exported models in onnxruntime beside ``decision_function``, which is "ours" here.

The models are 1,000 trees of 64 leaves and an additive model of 20 features with 255 bins. Both
score the same rows on one thread; for one row the time is that of one call.
"""

import argparse
from functools import partial
from typing import Any

import numpy as np
import onnxruntime
from bench_forest_scoring import N_FEATURES, convert, train
from bench_treerank import make_table
from timing import Row, print_table, race

from auctor import RankBoost
from auctor.models import Model, on_grid


def open_session(model: Model) -> Any:
    """The exported model on one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    data = model.to_onnx().SerializeToString()
    return onnxruntime.InferenceSession(data, options, providers=["CPUExecutionProvider"])


def against_model(name: str, model: Model, X: np.ndarray, n_calls: int = 1) -> Row:
    """Time both on the same rows, after a check that the scores are equal bit for bit."""
    session = open_session(model)
    columns = {own.name: int(own.name.removeprefix("x")) for own in session.get_inputs()}
    feed = {name: np.ascontiguousarray(X[:, [j]]) for name, j in columns.items()}
    np.testing.assert_array_equal(session.run(["score"], feed)[0], model.decision_function(X))
    ours = partial(repeat, partial(model.decision_function, X), n_calls)
    peer = partial(repeat, partial(session.run, ["score"], feed), n_calls)
    title = f"{name}, {len(X):,} row{'s' if len(X) > 1 else ''}, onnxruntime"
    return race(title, ours, peer, "", n_rounds=5, per=n_calls)


def repeat(function: Any, n_calls: int) -> None:
    for _ in range(n_calls):
        function()


def run(n_rows: int = 100_000) -> list[Row]:
    """Every case, one row each."""
    X, y = make_table(n_rows, N_FEATURES)
    forest = convert(train())
    forest = forest.finished(rank=on_grid(forest.rank))  # as the trees of SmoothTreeBoost are
    additive = RankBoost(n_estimators=300).fit(X[:10_000], y[:10_000]).model_
    rows = []
    for name, model in (("1000 trees of 64 leaves", forest), ("additive model", additive)):
        rows.append(against_model(name, model, X))
        rows.append(against_model(name, model, X[:1], 200))
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="rows of a table")
    print_table(run(parser.parse_args().rows))
