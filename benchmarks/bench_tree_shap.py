"""Explanations of boosted trees: auctor against shap.TreeExplainer and LightGBM's pred_contrib."""

import warnings
from collections.abc import Callable
from typing import Any

import checkout  # noqa: F401 - for tests
import lightgbm as lgb
import numpy as np
from timing import Row, print_table, race

from auctor.models import ForestModel
from tests.reference.lightgbm_forest import forest_of, shap_trees

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of its imports
    import shap

N_ROWS, N_FEATURES, N_TREES, N_LEAVES = 20_000, 20, 100, 64
Explain = Callable[[np.ndarray], Any]


def fit_booster() -> tuple[lgb.Booster, np.ndarray]:
    """Boost trees on normal features, of which the first three are informative."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=N_ROWS) > 0
    parameters = {"objective": "binary", "num_leaves": N_LEAVES, "verbose": -1, "num_threads": 1}
    return lgb.train(parameters, lgb.Dataset(X, y), N_TREES), X


def shap_of(model: ForestModel) -> Explain:
    """The explanations of shap's own code, which for a LightGBM model calls LightGBM instead."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        explainer = shap.TreeExplainer(
            shap_trees(model), feature_perturbation="tree_path_dependent", model_output="raw"
        )
    return lambda codes: explainer.shap_values(codes, check_additivity=False)


def compare(name: str, ours: Explain, peer: Explain, X: np.ndarray, Z: np.ndarray) -> list[Row]:
    """Time a table, and rows one by one; the peer has the same rows in Z."""
    few = range(50)
    return [
        race(
            f"explain 1000 rows, against {name}",
            lambda: ours(X),
            lambda: peer(Z),
            "at least 1",
            n_rounds=5,
        ),
        race(
            f"explain a row alone, against {name}",
            lambda: [ours(X[[i]]) for i in few],
            lambda: [peer(Z[[i]]) for i in few],
            "at least 1",
            n_rounds=5,
            per=len(few),
        ),
    ]


def run() -> list[Row]:
    """Every case, one row each: 100 trees of 64 leaves, one thread."""
    booster, X = fit_booster()
    model, X = forest_of(booster), X[:1000]
    codes = model.codes(X).T.astype(np.float64)  # shap's trees are over the codes

    def lightgbm(rows: np.ndarray) -> Any:
        return booster.predict(rows, pred_contrib=True, num_threads=1)

    ours = model.explain_rows
    return [
        *compare("LightGBM", ours, lightgbm, X, X),
        *compare("shap", ours, shap_of(model), X, codes),
    ]


if __name__ == "__main__":
    print_table(run())
