"""Rows of a table of any kind, and scores of an estimator of any library."""

from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse
from sklearn.utils import _safe_indexing

from auctor._pos_label import grows_towards
from auctor._typing import Floats, Indices
from auctor.data import check_sparse


def estimator_scores(fitted: Any, rows: Any, positive_label: Any) -> Floats:
    """Scores that are larger for rows that are more likely positive."""
    if hasattr(fitted, "decision_function"):
        scores = np.asarray(fitted.decision_function(rows), dtype=np.float64)
        return scores if grows_towards(fitted) == positive_label else -scores
    column = int(np.flatnonzero(np.asarray(fitted.classes_) == positive_label)[0])
    return np.asarray(fitted.predict_proba(rows), dtype=np.float64)[:, column]


def collect_rows(X: Any) -> Any:
    """A narwhals frame where X is a data frame of any library, else X."""
    if sparse.issparse(X):
        check_sparse(X)  # before rows are taken from it
    frame = nw.from_native(X, pass_through=True)
    return frame.collect() if isinstance(frame, nw.LazyFrame) else frame


def count_rows(table: Any) -> int:
    """The number of rows of a table of any kind."""
    return table.shape[0] if hasattr(table, "shape") else len(table)


def take_rows(table: Any, rows: Indices) -> Any:
    """Some rows of a table, as a table of the same kind."""
    if isinstance(table, nw.DataFrame):
        return table[rows, :].to_native()
    return _safe_indexing(table, rows)
