"""Hostile tables through every learner: a model with finite scores, or a clear error."""

import warnings
from typing import Any

import numpy as np
import polars as pl
from fuzz.columns import draw_column, draw_kind
from fuzz.containers import CONTAINERS, SHARES
from fuzz.outcome import RefusedError, call
from fuzz.vectors import draw_labels, draw_weights
from scipy import sparse

from auctor.estimators.registry import LEARNERS
from auctor.models.file import from_json, to_json

Rng = np.random.Generator

# Learner -> settings: few rounds, and of some options one at random.
SETTINGS: dict[str, dict[str, list[Any]]] = {
    "aucboost": {"n_estimators": [3], "weak": ["feature", "stump", "tree"]},
    "dmks": {"max_iter": [3], "penalty": [0.0, 0.1]},
    "exactboost": {
        "n_estimators": [2],
        "n_runs": [2],
        "subsample": [1.0, 0.5],
        "metric": ["auc", "ks", "precision_at_k"],
        "search": ["exact", "bisect"],
        "margin": [0.05, 0.0],
    },
    "margin-ranker": {
        "max_iter": [15],
        "margin": ["soft", "hard"],
        "hypotheses": ["features", "stumps"],
    },
    "margin-ranker-cv": {"max_iter": [15], "cv": [2], "epsilons": [(0.1, 0.3)], "extend": [False]},
    "martirank": {
        "n_estimators": [3],
        "min_class": [1.0, 10.0],
        "output": ["position", "majority"],
    },
    "rankboost": {"n_estimators": [3], "early_stopping": [False, True]},
    "sampling-martirank": {"n_estimators": [2], "max_draws": [400], "sample_size": [200]},
    "treerank": {
        "max_depth": [2],
        "min_samples_leaf": [1.0, 5.0],
        "split": ["stump", "tree"],
        "pruning": [None, "cv"],
    },
    "treerank-forest": {"n_estimators": [2], "max_depth": [2]},
    "smooth-aucboost": {"max_iter": [5], "n_estimators": [3], "solver": ["newton", "stagewise"]},
    "smooth-aucboost-cv": {"max_iter": [5], "cv": [2], "interactions": [0, "auto"]},
    "soft-rankboost": {"n_estimators": [3], "early_stopping": [False, True]},
}


def attack(rng: Rng) -> None:
    """Fit a learner to a hostile table, score with it, and look at what comes out."""
    n_rows = int(rng.choice([1, 2, 3, 8, 30], p=[0.01, 0.04, 0.08, 0.3, 0.57]))
    n_columns = int(rng.integers(1, 6))
    table, about = _table(rng, n_rows, n_columns)
    labels, kind_of_labels = draw_labels(rng, n_rows)
    weights, kind_of_weights = draw_weights(rng, n_rows)
    name = str(rng.choice(list(LEARNERS)))
    told = _settings(rng, name, n_columns)
    what = f"{name} {told} on {about}; labels {kind_of_labels}; weights {kind_of_weights}"
    try:
        fitted = call(what, lambda: LEARNERS[name](**told).fit(table, labels, weights))
        _check(what, fitted, table)
    except RefusedError:
        return
    other, about = _table(rng, int(rng.integers(1, 4)), n_columns)
    try:
        scores = call(f"{what}; scoring {about}", lambda: fitted.model_.decision_function(other))
        assert np.isfinite(scores).all(), f"{what}; scoring {about}: scores {scores}"
    except RefusedError:
        pass


def _check(what: str, fitted: Any, table: Any) -> None:
    """Scores, probabilities, classes, the file and the explanation of a fitted model."""
    scores = call(f"{what}; scores", lambda: fitted.decision_function(table))
    assert scores.ndim == 1 and np.isfinite(scores).all(), f"{what}: scores {scores}"
    shares = call(f"{what}; probabilities", lambda: fitted.predict_proba(table))
    is_share = (shares >= 0) & (shares <= 1)
    assert shares.shape == (len(scores), 2) and is_share.all(), f"{what}: probabilities {shares}"
    predicted = call(f"{what}; classes", lambda: fitted.predict(table))
    assert set(predicted.tolist()) <= set(fitted.classes_.tolist()), f"{what}: {predicted}"
    assert call(f"{what}; printed", lambda: str(fitted.model_)), f"{what}: prints nothing"
    if hasattr(fitted, "explain") and not sparse.issparse(table) and len(scores):
        row = table[:1] if isinstance(table, (np.ndarray, list)) else None
        if row is not None:
            call(f"{what}; explained", lambda: str(fitted.explain(row)))
    try:
        again = from_json(call(f"{what}; saved", lambda: to_json(fitted.model_)))
    except RefusedError:  # labels that JSON has no place for
        return
    same = call(f"{what}; loaded", lambda: again.decision_function(table))
    assert np.array_equal(same, scores), f"{what}: a saved model scores {same}, not {scores}"


def _table(rng: Rng, n_rows: int, n_columns: int) -> tuple[Any, str]:
    """A table in some container; where the columns do not fit into it, in another one."""
    container = str(rng.choice(list(CONTAINERS), p=SHARES))
    numbers_only = container == "sparse" or rng.random() < 0.5
    for _ in range(20):
        kinds = [draw_kind(rng, numbers_only) for _ in range(n_columns)]
        columns = [draw_column(rng, kind, n_rows) for kind in kinds]
        try:
            with warnings.catch_warnings(action="ignore"):
                made = CONTAINERS[container](rng, columns)
        except (Exception, pl.exceptions.PanicException):  # a container's limits are none of ours
            numbers_only = True
            continue
        return made, f"{container} ({type(made).__name__}) of {n_rows} rows, columns {kinds}"
    return np.zeros((n_rows, n_columns)), "zeros"


def _settings(rng: Rng, name: str, n_columns: int) -> dict[str, Any]:
    told = {key: values[rng.integers(len(values))] for key, values in SETTINGS[name].items()}
    known = LEARNERS[name]().get_params()
    if rng.random() < 0.2 and "max_bins" in known:
        told["max_bins"] = int(rng.choice([2, 3, 300, 65_535]))
    if rng.random() < 0.2:
        told["categorical_features"] = [int(rng.integers(n_columns))]
    if rng.random() < 0.1 and "n_jobs" in known:
        told["n_jobs"] = 2
    if rng.random() < 0.05:
        told["pos_label"] = [0, 1, "no", None][rng.integers(4)]
    return told
