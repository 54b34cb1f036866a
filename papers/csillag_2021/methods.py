"""Tables, folds, losses and methods of the paper's section 4, the same for all experiments."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor import DMKS, ExactBoost, RankBoost
from auctor._typing import Floats, Ints
from auctor.metrics import auc, ks, precision_at_k
from papers.tables import Rows, read_rows

OURS = "ExactBoost"
N_FOLDS = 5
OVERLAP = 1 / (N_FOLDS - 1)  # test rows over training rows, for the corrected resampled t
TOP_FRACTION = 0.1  # k of the precision at k, of the rows
MOST_ROWS = 20_000  # of a table in an ensemble
TABLES = ("a1a", "german", "gmsc", "heart", "ionosphere", "liver")
Make = Callable[[int], Any]  # from a seed to a model


class Fold(NamedTuple):
    """Training and test rows of one fold."""

    X: Floats
    y: Ints
    X_test: Floats
    y_test: Ints


def auc_loss(y: Ints, scores: Floats) -> float:
    """Equation (1), except that a tie counts one half, as everywhere in the library."""
    return 1.0 - float(auc(y, scores))


def ks_loss(y: Ints, scores: Floats) -> float:
    """Equation (2)."""
    return 1.0 - float(ks(y, scores))


def top_loss(y: Ints, scores: Floats) -> float:
    """Equation (3), divided by k and not by n."""
    return 1.0 - float(precision_at_k(y, scores, k=TOP_FRACTION))


LOSSES: dict[str, Callable[[Any, Any], float]] = {"AUC": auc_loss, "KS": ks_loss, "P@k": top_loss}
METRICS = {"AUC": "auc", "KS": "ks", "P@k": "precision_at_k"}  # as ExactBoost calls them


def read_whole(name: str, seed: int = 0, n_rows: int | None = None) -> Rows:
    """Read a table in random order, cut to ``n_rows`` rows with the classes in proportion."""
    X, y = read_rows(name, seed)
    if n_rows is None or len(y) <= n_rows:
        return Rows(X, y)
    from sklearn.model_selection import train_test_split

    X, _, y, _ = train_test_split(X, y, train_size=n_rows, stratify=y, random_state=seed)
    return Rows(X, y)


def folds_of(X: Floats, y: Ints, seed: int = 0) -> list[Fold]:
    """The folds, the same for every method."""
    from sklearn.model_selection import StratifiedKFold

    splits = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y)
    return [Fold(X[train], y[train], X[test], y[test]) for train, test in splits]


def read_fold(name: str, number: int, seed: int, n_rows: int | None = None) -> Fold:
    """One fold of a table."""
    return folds_of(*read_whole(name, seed, n_rows), seed)[number]


def score(model: Any, X: Floats) -> Floats:
    """The score by which the model ranks; log odds if there are any, since they do not saturate."""
    if hasattr(model, "get_booster"):  # XGBoost
        return np.asarray(model.predict(X, output_margin=True))
    if hasattr(model, "decision_function"):
        return np.asarray(model.decision_function(X))
    return np.asarray(model.predict_proba(X)[:, 1])


def loss_of(metric: str, model: Any, fold: Fold) -> float:
    """The loss on the test rows of a fitted model."""
    return float(LOSSES[metric](fold.y_test, score(model, fold.X_test)))


def exactboost(metric: str, seed: int, n_runs: int = 250, **settings: Any) -> Any:
    """ExactBoost at the paper's settings: T = 50 rounds, subsampling of 20 %, margin 0.05."""
    return ExactBoost(METRICS[metric], k=TOP_FRACTION, n_runs=n_runs, random_state=seed, **settings)


def rankboost(_: int) -> Any:
    """Freund et al. 2003, 500 rounds."""
    return RankBoost()


def dmks(_: int) -> Any:
    """Fang & Chen 2019."""
    return DMKS()


def _filled(model: Any, *before: Any) -> Any:
    """A model that needs complete data, with medians in place of missing values."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline

    return make_pipeline(SimpleImputer(strategy="median"), *before, model)


def _scaled(model: Any) -> Any:
    """A model that needs scaled columns, with scaling."""
    from sklearn.preprocessing import StandardScaler

    return _filled(model, StandardScaler())


def logistic(_: int) -> Any:
    """Logistic regression."""
    from sklearn.linear_model import LogisticRegression

    return _scaled(LogisticRegression(max_iter=2000))


def adaboost(seed: int, is_filled: bool = True) -> Any:
    """AdaBoost of stumps."""
    from sklearn.ensemble import AdaBoostClassifier

    model = AdaBoostClassifier(random_state=seed)
    return _filled(model) if is_filled else model


def neighbours(_: int) -> Any:
    """The five nearest neighbours."""
    from sklearn.neighbors import KNeighborsClassifier

    return _filled(KNeighborsClassifier())


def neural_net(seed: int) -> Any:
    """Four hidden layers of 100; the paper does not give the width."""
    from sklearn.neural_network import MLPClassifier

    return _scaled(MLPClassifier((100,) * 4, random_state=seed))


def forest(seed: int) -> Any:
    """Random forest."""
    from sklearn.ensemble import RandomForestClassifier

    return RandomForestClassifier(random_state=seed, n_jobs=1)


def xgboost(_: int) -> Any:
    """Gradient boosting."""
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1)


# The six base models of the ensembles, which are the surrogate methods of Figure 2 as well.
SURROGATES: dict[str, Make] = {
    "AdaBoost": adaboost,
    "neighbours": neighbours,
    "logistic": logistic,
    "neural net": neural_net,
    "forest": forest,
    "XGBoost": xgboost,
}
# Methods that optimise a metric itself, beside ExactBoost.
EXACT: dict[str, dict[str, Make]] = {"AUC": {"RankBoost": rankboost}, "KS": {"DMKS": dmks}}
# Base predictions have no gaps to fill.
ENSEMBLERS: dict[str, Make] = {
    "AdaBoost": partial(adaboost, is_filled=False),
    "logistic": logistic,
    "XGBoost": xgboost,
}


# How the base models' predictions of the training rows are made.
OUT_OF_FOLD, IN_SAMPLE = "out of fold", "in sample"
PROTOCOLS = (OUT_OF_FOLD, IN_SAMPLE)


def stacked(fold: Fold, seed: int, n_parts: int = 5) -> dict[str, Fold]:
    """The base models' predictions as columns, for each protocol.

    Those of the test rows come from models of all training rows. Those of the training rows are
    made by models of the other parts, as in StackingClassifier, or by the same models ("in
    sample"), which have seen these rows.
    """
    from sklearn.model_selection import cross_val_predict

    train: dict[str, list[npt.NDArray[Any]]] = {protocol: [] for protocol in PROTOCOLS}
    test: list[npt.NDArray[Any]] = []
    for make in SURROGATES.values():
        inner = cross_val_predict(make(seed), fold.X, fold.y, cv=n_parts, method="predict_proba")
        model = make(seed).fit(fold.X, fold.y)
        train[OUT_OF_FOLD].append(inner[:, 1])
        train[IN_SAMPLE].append(model.predict_proba(fold.X)[:, 1])
        test.append(model.predict_proba(fold.X_test)[:, 1])
    return {
        protocol: Fold(np.column_stack(columns), fold.y, np.column_stack(test), fold.y_test)
        for protocol, columns in train.items()
    }
