"""Models of other libraries behind the same border: any table in, a score out.

They run at their own defaults. Each library is imported where it is used: only scikit-learn has to
be there.
"""

import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from auctor.estimators.encoding import CodeEncoder, Encoder

Floats = npt.NDArray[np.float64]


class Peer(ClassifierMixin, BaseEstimator):
    """A model of another library on the columns that it wants."""

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
            warnings.simplefilter("ignore")  # advice to users of that library: it runs at defaults
            self.model_.fit(self.encoder_.transform(X), codes, sample_weight=sample_weight)
        return self

    def predict_proba(self, X: Any) -> Floats:
        """Probability of each class, in the order of ``classes_``."""
        matrix = self.encoder_.transform(X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return np.asarray(self.model_.predict_proba(matrix))

    def decision_function(self, X: Any) -> Floats:
        """Log odds of the larger label, which do not tie near 0 and 1 as probabilities do."""
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
    """A peer by its name on the command line."""

    make: Callable[..., Peer]
    package: str


PEERS: dict[str, Entry] = {
    "logistic": Entry(Logistic, "sklearn"),
    "hist-gradient-boosting": Entry(HistGradientBoosting, "sklearn"),
    "random-forest": Entry(RandomForest, "sklearn"),
    "lightgbm": Entry(LightGBM, "lightgbm"),
    "xgboost": Entry(XGBoost, "xgboost"),
    "ebm": Entry(EBM, "interpret"),
}


def installed_peers() -> list[str]:
    """The names of those whose library is there."""
    return [name for name, entry in PEERS.items() if find_spec(entry.package) is not None]
