"""What every learner and every model promises, as checks that a new one is handed to.

A learner is given as a function ``fit(data, n_jobs) -> model`` with its settings inside.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from auctor._typing import Bools, Floats
from auctor.data import RankingData, prepare
from auctor.models import Model, load, to_json

Fit = Callable[[RankingData, int], Model]


def messy_table(seed: int, n_rows: int = 60) -> tuple[Floats, Bools]:
    """Numbers, a coarse column with ties, a constant, and categories in the last column.

    The first two rows are of different classes.
    """
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    X[:, 1] = np.round(X[:, 1])
    X[:, 4] = rng.integers(0, 4, size=n_rows)
    X[rng.random((n_rows, 5)) < 0.15] = np.nan
    X[:, 3] = 7.0
    y = np.nan_to_num(X[:, 0]) + (X[:, 4] == 2) + rng.normal(size=n_rows) > 0.3
    y[:2] = False, True
    return X, y


def same_model(a: Model, b: Model) -> bool:
    """Whether two models are equal bit for bit."""
    return to_json(a) == to_json(b)


def check_weights_are_copies(fit: Fit, seed: int) -> None:
    """With frequency weights 2 is the row twice, weight 0 an absent row, exactly."""
    X, y = messy_table(seed)
    weight = np.random.default_rng(seed).integers(0, 4, size=len(y))
    weight[:2] = 1
    copies = np.repeat(np.arange(len(y)), weight)
    told: dict[str, Any] = {"categorical_features": [4], "frequency_weights": True}
    by_weight = fit(prepare(X, y, sample_weight=weight, **told), 1)
    by_copies = fit(prepare(X[copies], y[copies], **told), 1)
    assert same_model(by_weight, by_copies), "weights differ from copies of the rows"


def check_weight_scale(fit: Fit, seed: int) -> None:
    """All weights times a constant are the same weights, and equal weights are none."""
    X, y = messy_table(seed)
    rng = np.random.default_rng(seed)
    for weight in (rng.lognormal(size=len(y)), rng.integers(1, 6, size=len(y)).astype(float)):
        usual = fit(prepare(X, y, sample_weight=weight), 1)
        for constant in (3.0, 0.1, 2.0**-600):
            scaled = fit(prepare(X, y, sample_weight=weight * constant), 1)
            assert same_model(usual, scaled), f"weights times {constant:g} give another model"
    even = fit(prepare(X, y, sample_weight=np.full(len(y), 7.3)), 1)
    assert same_model(even, fit(prepare(X, y), 1)), "equal weights differ from no weights"


def check_row_order(fit: Fit, seed: int) -> None:
    """The order of the rows does not matter."""
    X, y = messy_table(seed)
    rng = np.random.default_rng(seed)
    weight, order = rng.random(len(y)) + 0.5, rng.permutation(len(y))
    usual = fit(prepare(X, y, sample_weight=weight), 1)
    turned = fit(prepare(X[order], y[order], sample_weight=weight[order]), 1)
    assert same_model(usual, turned), "the order of the rows shows in the model"


def check_partitions_and_threads(
    fit: Fit, cases: Sequence[tuple[int, int]] = ((3, 1), (1, 2), (7, 2))
) -> None:
    """Any cut into partitions and any number of threads give the same bits.

    ``cases`` are pairs of the two; all are compared with one fit of the whole on one thread.
    """
    rng = np.random.default_rng(3)
    n_rows = 30_000  # enough cells for two threads to share
    X = rng.normal(size=(n_rows, 15))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n_rows) > 1
    weight = rng.random(n_rows) + 0.5
    whole = fit(prepare(X, y, sample_weight=weight), 1)
    for n_partitions, n_jobs in cases:
        cut = prepare(X, y, sample_weight=weight, n_jobs=n_jobs).split(n_partitions)
        assert len(cut.partitions) == n_partitions
        shown = f"{n_partitions} partitions or {n_jobs} threads show in the model"
        assert same_model(fit(cut, n_jobs), whole), shown


def check_constants_are_never_used(fit: Fit, seed: int) -> None:
    """A constant column does not change the score, whatever is put into it."""
    X, y = messy_table(seed)
    model = fit(prepare(X, y), 1)
    other = X.copy()
    other[:, 3] = 1e6
    assert np.array_equal(model.decision_function(X), model.decision_function(other))


def check_saved_model(model: Model, X: Any, folder: Path) -> None:
    """A saved model loads to the same bits, scores the same and prints."""
    path = folder / "model.json"
    model.save(path)
    loaded = load(path)
    assert type(loaded) is type(model)
    assert same_model(loaded, model)
    assert np.array_equal(loaded.decision_function(X), model.decision_function(X))
    assert np.array_equal(loaded.predict_proba(X), model.predict_proba(X))
    assert np.array_equal(loaded.predict(X), model.predict(X))
    assert str(loaded) == str(model)
    assert repr(model.classes[1]) in str(model), "a printed model names the class it predicts"
