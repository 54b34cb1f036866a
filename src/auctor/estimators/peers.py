"""Models of other libraries for comparison, on any table that auctor can read.

They use their own default parameters. Each library is imported where it is used, so that only
scikit-learn has to be installed.
"""

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from itertools import groupby
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from auctor._typing import Floats
from auctor.data import Table, find_categorical, read_table

# Number of categories of a column that are encoded, the most frequent ones.
_MOST_CATEGORIES = 100
_MOST_CELLS = 10**7  # of a dense matrix of indicators


class _Numbers(NamedTuple):
    """A numeric column: the value that replaces missing ones, and its scale."""

    middle: float
    mean: float
    spread: float
    has_missing: bool


class _Names(NamedTuple):
    """A column of categories: the frequent ones, each with its code."""

    codes: dict[Any, int]


class Encoder:
    """The columns of a table as a linear model needs them.

    Numbers are standardised, missing numbers are replaced by the median with an indicator column,
    and each frequent category has an indicator column.
    """

    def __init__(self, categorical_features: Any = "from_dtype") -> None:
        self.categorical_features = categorical_features

    def fit(self, X: Any) -> "Encoder":
        """Learn medians, scales and categories."""
        table = read_table(X)
        by_hand = find_categorical(self.categorical_features, table)
        self._columns: list[_Numbers | _Names] = [
            _learn_names(table, j) if table.is_text(j) or j in by_hand else _learn_numbers(table, j)
            for j in range(table.n_columns)
        ]
        return self

    def transform(self, X: Any) -> Any:
        """A matrix of floats; sparse where it would be large."""
        table = read_table(X)
        parts: list[Any] = [
            _zeros_and_ones(table, j, column.codes)
            if isinstance(column, _Names)
            else _scaled(table, j, column)
            for j, column in enumerate(self._columns)
        ]
        if table.n_rows * sum(part.shape[1] for part in parts) <= _MOST_CELLS:
            return np.hstack([p.toarray() if sparse.issparse(p) else p for p in parts])
        return sparse.hstack([sparse.csc_array(part) for part in _runs(parts)], format="csr")


def _runs(parts: list[Any]) -> list[Any]:
    """The same columns, with neighbouring dense ones in one array.

    Making a sparse array takes as long as hundreds of columns.
    """
    runs = groupby(parts, key=sparse.issparse)
    return [part for is_sparse, run in runs for part in (run if is_sparse else [np.hstack([*run])])]


class CodeEncoder:
    """The columns of a table as trees need them: numbers as they are, categories as codes."""

    def __init__(self, categorical_features: Any = "from_dtype") -> None:
        self.categorical_features = categorical_features

    def fit(self, X: Any) -> "CodeEncoder":
        """Learn the categories."""
        table = read_table(X)
        by_hand = find_categorical(self.categorical_features, table)
        chosen = [j for j in range(table.n_columns) if table.is_text(j) or j in by_hand]
        self.names = {j: _learn_names(table, j) for j in chosen}
        others = (j for j in range(table.n_columns) if j not in self.names)
        self._empty = {j for j in others if np.isnan(table.numbers(j)).all()}
        self.n_columns = table.n_columns
        return self

    def transform(self, X: Any) -> Floats:
        """A matrix of floats; an unknown category is a missing value."""
        table = read_table(X)
        matrix = np.empty((table.n_rows, table.n_columns))
        for j in range(table.n_columns):
            names = self.names.get(j)
            if j in self._empty:  # some libraries fail on a column without any value
                matrix[:, j] = 0.0
                continue
            matrix[:, j] = table.numbers(j) if names is None else _codes(table, j, names.codes)
        return matrix


def _learn_numbers(table: Table, j: int) -> _Numbers:
    values = table.numbers(j)
    known = values[~np.isnan(values)]
    if len(known) == 0:
        return _Numbers(0.0, 0.0, 1.0, False)
    return _Numbers(
        float(np.median(known)),
        float(known.mean()),
        float(known.std()) or 1.0,
        len(known) < len(values),
    )


def _learn_names(table: Table, j: int) -> _Names:
    values, codes = table.categories(j)
    counts = np.bincount(codes[codes >= 0], minlength=len(values))
    order = np.argsort(-counts, kind="stable")[:_MOST_CATEGORIES]
    return _Names({values[k]: code for code, k in enumerate(order) if counts[k] > 0})


def _scaled(table: Table, j: int, column: _Numbers) -> Floats:
    values = table.numbers(j)
    missing = np.isnan(values)
    filled = np.where(missing, column.middle, values)
    scaled = (filled - column.mean) / column.spread
    return np.column_stack([scaled, missing] if column.has_missing else [scaled])


def _codes(table: Table, j: int, known: dict[Any, int]) -> Floats:
    """The code of each row's category; NaN for unknown categories and missing values."""
    values, own = table.categories(j)
    codes = np.array([known.get(value, np.nan) for value in values] + [np.nan])
    return codes[own]  # a missing value has -1, the last entry


def _zeros_and_ones(table: Table, j: int, known: dict[Any, int]) -> sparse.csc_array:
    codes = _codes(table, j, known)
    rows = np.flatnonzero(~np.isnan(codes))
    columns = codes[rows].astype(np.int64)
    return sparse.csc_array(
        (np.ones(len(rows)), (rows, columns)), shape=(table.n_rows, max(len(known), 1))
    )


class Peer(ClassifierMixin, BaseEstimator):
    """A model of another library on columns in the form that it needs."""

    _encoder: ClassVar[type] = CodeEncoder

    def __init__(
        self, categorical_features: Any = "from_dtype", random_state: int = 0, n_jobs: int = 1
    ) -> None:
        self.categorical_features = categorical_features
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Encode the table and fit the other library's model."""
        self.encoder_ = self._encoder(self.categorical_features).fit(X)
        self.classes_, codes = np.unique(np.asarray(y), return_inverse=True)
        self.model_ = self._make()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # advice about parameters: the defaults are meant
            self.model_.fit(self.encoder_.transform(X), codes, sample_weight=sample_weight)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, in the order of ``classes_``."""
        matrix = self.encoder_.transform(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(self.model_.predict_proba(matrix))

    def decision_function(self, X: Any) -> Floats:
        """Log odds of the larger label; unlike probabilities they do not tie near 0 and 1."""
        matrix = self.encoder_.transform(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self._log_odds(matrix)

    def _make(self) -> Any:
        raise NotImplementedError

    def _log_odds(self, matrix: Any) -> Floats:
        return np.asarray(self.model_.decision_function(matrix))


class Logistic(Peer):
    """Logistic regression of scikit-learn, the baseline that every model has to beat."""

    _encoder = Encoder

    def _make(self) -> Any:
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression(max_iter=2000)


class LightGBM(Peer):
    """LightGBM at its defaults, categories as categories."""

    def _make(self) -> Any:
        from lightgbm import LGBMClassifier

        chosen = sorted(self.encoder_.names)
        names: dict[str, Any] = {"categorical_feature": chosen} if chosen else {}
        return LGBMClassifier(
            verbose=-1, random_state=self.random_state, n_jobs=self.n_jobs, **names
        )

    def _log_odds(self, matrix: Any) -> Floats:
        return np.asarray(self.model_.predict(matrix, raw_score=True))


class XGBoost(Peer):
    """XGBoost at its defaults, categories as categories."""

    def _make(self) -> Any:
        from xgboost import XGBClassifier

        chosen = self.encoder_.names
        kinds = ["c" if j in chosen else "q" for j in range(self.encoder_.n_columns)]
        return XGBClassifier(
            random_state=self.random_state,
            n_jobs=self.n_jobs,
            enable_categorical=bool(chosen),
            feature_types=kinds if chosen else None,
        )

    def _log_odds(self, matrix: Any) -> Floats:
        return np.asarray(self.model_.predict(matrix, output_margin=True), dtype=np.float64)


class EBM(Peer):
    """The explainable boosting machine of interpret, at its defaults."""

    def _make(self) -> Any:
        from interpret.glassbox import ExplainableBoostingClassifier

        chosen = self.encoder_.names
        kinds = ["nominal" if j in chosen else None for j in range(self.encoder_.n_columns)]
        return ExplainableBoostingClassifier(
            random_state=self.random_state, n_jobs=self.n_jobs, feature_types=kinds
        )


class HistGradientBoosting(Peer):
    """scikit-learn's gradient boosted trees at their defaults."""

    def _make(self) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        chosen = sorted(self.encoder_.names)
        return HistGradientBoostingClassifier(
            random_state=self.random_state, categorical_features=chosen or None
        )


class RandomForest(Peer):
    """scikit-learn's random forest at its defaults."""

    def _make(self) -> Any:
        from sklearn.ensemble import RandomForestClassifier

        return RandomForestClassifier(random_state=self.random_state, n_jobs=self.n_jobs)

    def _log_odds(self, matrix: Any) -> Floats:
        return np.asarray(self.model_.predict_proba(matrix)[:, 1])


class Entry(NamedTuple):
    """A model of another library, and the package that it needs."""

    make: Callable[..., Peer]
    package: str  # as it is imported
    distribution: str  # as pip installs it


PEERS: dict[str, Entry] = {
    "logistic": Entry(Logistic, "sklearn", "scikit-learn"),
    "hist-gradient-boosting": Entry(HistGradientBoosting, "sklearn", "scikit-learn"),
    "random-forest": Entry(RandomForest, "sklearn", "scikit-learn"),
    "lightgbm": Entry(LightGBM, "lightgbm", "lightgbm"),
    "xgboost": Entry(XGBoost, "xgboost", "xgboost"),
    "ebm": Entry(EBM, "interpret", "interpret-core"),
}


def installed_peers() -> list[str]:
    """The names of those whose package is installed."""
    return [name for name, entry in PEERS.items() if find_spec(entry.package) is not None]
