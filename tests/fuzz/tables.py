"""Hostile tables through every learner: a model with finite scores, or a clear error."""

import warnings
from typing import Any

import numpy as np
import polars as pl
from fuzz.columns import draw_column, draw_kind
from fuzz.containers import CONTAINERS, FREQUENCIES
from fuzz.outcome import RefusedError, call
from fuzz.vectors import draw_labels, draw_weights
from scipy import sparse

from auctor import DMKS, RankBoost
from auctor.estimators.registry import LEARNERS
from auctor.models.file import from_json, to_json

Rng = np.random.Generator

# Learner -> few rounds, so that an attack takes milliseconds.
SMALL: dict[str, dict[str, Any]] = {
    "aucboost": {"n_estimators": 3},
    "dmks": {"max_iter": 3},
    "ensemble": {"estimators": [RankBoost(n_estimators=3), DMKS(max_iter=3)], "cv": 2},
    "exactboost": {"n_estimators": 2, "n_runs": 2},
    "exactboost-cv": {"max_iter": 5, "n_estimators": 2, "n_runs": 2, "cv": 2},
    "margin-ranker": {"max_iter": 15},
    "margin-ranker-cv": {"max_iter": 15, "cv": 2, "epsilons": (0.1, 0.3), "extend": False},
    "martirank": {"n_layers": 3},
    "rankboost": {"n_estimators": 3},
    "sampling-martirank": {"n_layers": 2, "max_draws": 400, "sample_size": 200},
    "treerank": {"max_depth": 2},
    "treerank-forest": {"n_estimators": 2, "max_depth": 2},
    "smooth-aucboost": {"max_iter": 5, "n_estimators": 3},
    "smooth-aucboost-cv": {"max_iter": 5, "n_estimators": 3, "cv": 2},
    "smooth-tree-boost": {"n_estimators": 3, "cv": 2, "max_depth": 3},
    "soft-rankboost": {"n_estimators": 3},
}
# Of these some, as far as the learner knows them; what does not go together it must refuse.
OPTIONS: dict[str, list[Any]] = {
    "adaptive": [False],
    "aggregate": ["median"],
    "balanced": [False],
    "bootstrap": [False],
    "combiner": ["equal", "margin", "dmks"],
    "coef_penalty": [0.0, 1e-12, 1e12, 1e300],
    "early_stopping": [True, False],
    "epsilon": [0.01, 0.5, 0.99],
    "estimator": ["stump", "tree"],
    "fpr_range": [(0.0, 0.3), (0.5, 1.0)],
    "gap_tol": [0.0, 0.5],
    "hypotheses": ["stumps", "words", "columns"],
    "init": [None],
    "interaction_cst": ["pairwise", "no_interactions", [[0]], [[0, 9]]],
    "interactions": [0, 1, 3],
    "k": [1, 5, 0.5, -1, 10**6],
    "l2_regularization": [0.0, 1e300],
    "learning_rate": [0.1, 1e-300],
    "loss": ["auc"],
    "margin": [0.0, 1.0],
    "max_features": [1, 0.1, None],
    "max_samples": [1, 0.5],
    "max_samples_per_class": [1, 7],
    "method": ["reduced", "heuristic"],
    "metric": ["ks", "precision_at_k", "partial_auc"],
    "min_samples_leaf": [1.0, 1e-3, 1e-9, 1e6, 1e9],
    "monotonic_cst": [[1], [1, -1], [1, 0, -1, 1, 1], {"a": 1}],
    "noise_rate": [0.0, 0.4],
    "nu_neg": [1.0, 1.5, 1e9],
    "nu_pos": [1.0, 1.5, 1e9],
    "order": ["rate"],
    "output": ["majority"],
    "penalty": [0.0, 1e-12, 1e12, 1e300],
    "positive_rate": [1e-6, 0.5],
    "pruning": ["cv"],
    "refit": [True],
    "roughness": ["curvature", "bins"],
    "scale": ["arcsinh", "linear"],
    "search": ["bisect"],
    "shrinkage": [0.0, 1e12],
    "soft_margin": [False],
    "solver": ["stagewise"],
    "split": ["stump", "tree"],
    "subsample": [1.0, 0.5, 1e-6],
    "target_error": [0.01, 0.5, 0.99],
    "target_loss": [0.01, 0.5, 0.99],
    "threshold": [0.0, 1e308],
    "tol": [0.0, 0.5],
}


def attack(rng: Rng) -> None:
    """Fit a learner to a hostile table, score with it, and look at what comes out."""
    n_rows = int(rng.choice([1, 2, 3, 8, 30], p=[0.01, 0.04, 0.08, 0.3, 0.57]))
    n_columns = int(rng.integers(1, 6))
    table, about = _table(rng, n_rows, n_columns)
    labels, kind_of_labels = draw_labels(rng, n_rows)
    weights, kind_of_weights = draw_weights(rng, n_rows)
    name = str(rng.choice(list(LEARNERS)))
    options = _settings(rng, name, n_columns)
    what = f"{name} {options} on {about}; labels {kind_of_labels}; weights {kind_of_weights}"
    try:
        fitted = call(what, lambda: LEARNERS[name](**options).fit(table, labels, weights))
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
    probabilities = call(f"{what}; probabilities", lambda: fitted.predict_proba(table))
    is_probability = (probabilities >= 0) & (probabilities <= 1)
    assert probabilities.shape == (len(scores), 2) and is_probability.all(), (
        f"{what}: probabilities {probabilities}"
    )
    predicted = call(f"{what}; classes", lambda: fitted.predict(table))
    assert set(predicted.tolist()) <= set(fitted.classes_.tolist()), f"{what}: {predicted}"
    assert call(f"{what}; printed", lambda: str(fitted.model_)), f"{what}: prints nothing"
    if hasattr(fitted, "explain") and not sparse.issparse(table) and len(scores):
        row = table[:1] if isinstance(table, (np.ndarray, list)) else None
        if row is not None:
            call(f"{what}; explained", lambda: str(fitted.explain(row)))
    try:
        text = call(f"{what}; saved", lambda: to_json(fitted.model_))
    except RefusedError as error:
        # Labels of odd types, and weak rankers that are estimators, have no place in a file.
        known = ("classes holds", "as weak rankers", "not a weighted sum")
        is_known = any(words in str(error) for words in known)
        assert is_known, f"{what}; saved: {error}"
        return
    try:
        again = from_json(text)
    except ValueError as error:
        raise AssertionError(f"{what}: a saved model cannot be loaded: {error}") from error
    same = call(f"{what}; loaded", lambda: again.decision_function(table))
    assert np.array_equal(same, scores), f"{what}: a saved model scores {same}, not {scores}"


def _table(rng: Rng, n_rows: int, n_columns: int) -> tuple[Any, str]:
    """A table in some container; where the columns do not fit into it, in another one."""
    container = str(rng.choice(list(CONTAINERS), p=FREQUENCIES))
    numbers_only = container == "sparse" or rng.random() < 0.5
    for _ in range(20):
        kinds = [draw_kind(rng, numbers_only) for _ in range(n_columns)]
        columns = [draw_column(rng, kind, n_rows) for kind in kinds]
        try:
            with warnings.catch_warnings(action="ignore"):
                made = CONTAINERS[container](rng, columns)
        except (Exception, pl.exceptions.PanicException):  # not every container holds every column
            numbers_only = True
            continue
        return made, f"{container} ({type(made).__name__}) of {n_rows} rows, columns {kinds}"
    return np.zeros((n_rows, n_columns)), "zeros"


def _settings(rng: Rng, name: str, n_columns: int) -> dict[str, Any]:
    known = LEARNERS[name]().get_params()
    options = dict(SMALL[name])
    for option, values in OPTIONS.items():
        if option in known and rng.random() < 0.12:
            options[option] = values[rng.integers(len(values))]
    if rng.random() < 0.2 and "max_bins" in known:
        options["max_bins"] = int(rng.choice([2, 3, 300, 65_535]))
    if rng.random() < 0.2:
        options["categorical_features"] = [int(rng.integers(n_columns))]
    if rng.random() < 0.1 and "n_jobs" in known:
        options["n_jobs"] = 2
    if rng.random() < 0.05:
        options["pos_label"] = [0, 1, "no", None][rng.integers(4)]
    return options
