"""Checks that every learner and every model must pass, for people who add one.

A learner is given to a check as a function ``fit(data, n_jobs) -> model`` that has its settings
inside. A check raises an AssertionError that says what is wrong, and returns nothing otherwise.

Examples
--------
A toy learner, whose steps are the difference of the class frequencies of each bin:

>>> from auctor.learners.common.histogram import class_histogram
>>> from auctor.models import AdditiveModel, Calibration, on_grid
>>> def fit(data, n_jobs):
...     counts = class_histogram(data)
...     negative, positive = counts / counts.sum(axis=2, keepdims=True)
...     tables = [on_grid(table) for table in positive - negative]
...     steps = tuple(t[: f.n_bins + 1] for t, f in zip(tables, data.features, strict=True))
...     shared = tuple(data.classes.tolist()), 0.0, Calibration(1.0, 0.0)
...     return AdditiveModel(*shared, data.features, steps, 0.0)
>>> check_row_order(fit, seed=0)
>>> check_weight_scale(fit, seed=0)
>>> check_constants_are_never_used(fit, seed=0)
"""

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from auctor._typing import Bools, Floats
from auctor.data import RankingData, prepare
from auctor.models import Model, load, to_json

Fit = Callable[[RankingData, int], Model]


def messy_table(seed: int, n_rows: int = 60) -> tuple[Floats, Bools]:
    """A small table (X, y) with the difficulties of real ones.

    Column 1 has many ties, column 3 is constant, column 4 has the numbers of categories, and 15 %
    of the values of the other columns are missing. The first two rows are of different classes.
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


def first_difference(a: Model, b: Model) -> str:
    """A place where the files of two models differ, with both values; empty if they are equal.

    The body comes first: where it differs, calibration and checksum only follow.

    Examples
    --------
    >>> from auctor.learners.boosting.rankboost import RankBoostSettings, fit_rankboost
    >>> data = prepare(*messy_table(0))
    >>> one, two = (fit_rankboost(data, RankBoostSettings(n))[0] for n in (1, 2))
    >>> first_difference(one, two)
    'body.intercept: ... and ...'
    """
    one, other = (json.loads(to_json(model)) for model in (a, b))
    bodies = _differences(one.pop("body"), other.pop("body"), "body")
    return next(chain(bodies, _differences(one, other)), "")


def _differences(a: Any, b: Any, place: str = "") -> Iterator[str]:
    if isinstance(a, dict) and isinstance(b, dict) and list(a) == list(b):
        for name in a:
            yield from _differences(a[name], b[name], f"{place}.{name}" if place else name)
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (left, right) in enumerate(zip(a, b, strict=True)):
            yield from _differences(left, right, f"{place}[{i}]")
    elif repr(a) != repr(b):  # 0.0 == -0.0, but the files differ
        yield f"{place}: {a!r} and {b!r}"


def _assert_same(a: Model, b: Model, message: str) -> None:
    assert same_model(a, b), f"{message}; the first difference is {first_difference(a, b)}"


def check_weights_are_copies(fit: Fit, seed: int) -> None:
    """Frequency weights: weight 2 gives the same bits as the row twice, weight 0 as no row."""
    X, y = messy_table(seed)
    weight = np.random.default_rng(seed).integers(0, 4, size=len(y))
    weight[:2] = 1
    copies = np.repeat(np.arange(len(y)), weight)
    options: dict[str, Any] = {"categorical_features": [4], "frequency_weights": True}
    by_weight = fit(prepare(X, y, sample_weight=weight, **options), 1)
    by_copies = fit(prepare(X[copies], y[copies], **options), 1)
    _assert_same(by_weight, by_copies, "frequency weights differ from copies of the rows")


def check_weight_scale(fit: Fit, seed: int) -> None:
    """Weights times a constant give the same model, and equal weights the one without weights."""
    X, y = messy_table(seed)
    rng = np.random.default_rng(seed)
    for weight in (rng.lognormal(size=len(y)), rng.integers(1, 6, size=len(y)).astype(float)):
        usual = fit(prepare(X, y, sample_weight=weight), 1)
        for constant in (3.0, 0.1, 2.0**-600):
            scaled = fit(prepare(X, y, sample_weight=weight * constant), 1)
            _assert_same(usual, scaled, f"weights times {constant:g} give another model")
    even = fit(prepare(X, y, sample_weight=np.full(len(y), 7.3)), 1)
    _assert_same(even, fit(prepare(X, y), 1), "equal weights differ from no weights")


def check_row_order(fit: Fit, seed: int) -> None:
    """The model does not depend on the order of the rows."""
    X, y = messy_table(seed)
    rng = np.random.default_rng(seed)
    weight, order = rng.random(len(y)) + 0.5, rng.permutation(len(y))
    usual = fit(prepare(X, y, sample_weight=weight), 1)
    turned = fit(prepare(X[order], y[order], sample_weight=weight[order]), 1)
    _assert_same(usual, turned, "the model depends on the order of the rows")


def check_partitions_and_threads(
    fit: Fit, cases: Sequence[tuple[int, int]] = ((3, 1), (1, 2), (7, 2))
) -> None:
    """The bits of the model do not depend on the partitions or on the number of threads.

    ``cases`` are pairs (n_partitions, n_jobs), which are compared with one partition and thread.
    """
    rng = np.random.default_rng(3)
    n_rows = 30_000  # enough for the learners to use two threads
    X = rng.normal(size=(n_rows, 15))
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=n_rows) > 1
    weight = rng.random(n_rows) + 0.5
    whole = fit(prepare(X, y, sample_weight=weight), 1)
    for n_partitions, n_jobs in cases:
        cut = prepare(X, y, sample_weight=weight, n_jobs=n_jobs).split(n_partitions)
        assert len(cut.partitions) == n_partitions
        message = f"{n_partitions} partitions or {n_jobs} threads change the model"
        _assert_same(fit(cut, n_jobs), whole, message)


def check_constants_are_never_used(fit: Fit, seed: int) -> None:
    """The score does not depend on a column that was constant in training."""
    X, y = messy_table(seed)
    model = fit(prepare(X, y), 1)
    other = X.copy()
    other[:, 3] = 1e6
    is_same = np.array_equal(model.decision_function(X), model.decision_function(other))
    assert is_same, "the score depends on a column that was constant in training"


def check_saved_model(model: Model, X: Any, folder: Path) -> None:
    """A model that is saved to ``folder`` and loaded has the same bits, scores and text."""
    path = folder / "model.json"
    model.save(path)
    loaded = load(path)
    assert type(loaded) is type(model), "the loaded model is of another type"
    _assert_same(loaded, model, "the loaded model has other content")
    for method in ("decision_function", "predict_proba", "predict"):
        ours, theirs = getattr(model, method)(X), getattr(loaded, method)(X)
        assert np.array_equal(ours, theirs), f"{method} of the loaded model differs"
    assert str(loaded) == str(model), "the loaded model prints other text"
    assert repr(model.classes[1]) in str(model), "a printed model must name the positive class"
