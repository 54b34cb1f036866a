"""Scores of tables larger than memory, batch by batch."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from auctor._checks import check_whole
from auctor._typing import Floats
from auctor.data import Table
from auctor.data.stored.sources import check_source, table_batches
from auctor.data.stored.table import StoredTable


def score_batches(model: Any, source: Any, *, batch_rows: int = 100_000) -> Iterator[Floats]:
    """Scores of a table that is too large for memory, batch by batch.

    Parameters
    ----------
    model : Model or fitted estimator
        Anything with a ``decision_function``.
    source : path, list of tables, function or numpy array
        As in :func:`auctor.read_dataset`. Of Parquet files only the columns of the model are read.
    batch_rows : int, default=100_000
        The most rows of a Parquet file or an array that are in memory at a time. CSV files are
        read in blocks of a megabyte, and tables of a list are scored as they are.

    Yields
    ------
    ndarray
        The scores of the next rows, in the order of the source.

    Examples
    --------
    >>> import numpy as np
    >>> from auctor import RankBoost, score_batches
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = RankBoost(n_estimators=20).fit(X, y).model_
    >>> parts = list(score_batches(model, X, batch_rows=50))
    >>> [len(part) for part in parts]
    [50, 31]
    >>> bool((np.concatenate(parts) == model.decision_function(X)).all())
    True
    """
    check_source(source)
    size = check_whole(batch_rows, "batch_rows", minimum=1)
    names = getattr(model, "feature_names_in_", getattr(model, "feature_names", None))
    columns = None if names is None else [str(name) for name in names]
    return (model.decision_function(batch) for batch in table_batches(source, columns, size))


def scores_of_table(model: Any, table: Table) -> Floats:
    """The scores of all rows of a table; of one in files batch by batch."""
    if isinstance(table, StoredTable):
        return np.concatenate([model.decision_function(batch) for batch in table.row_batches()])
    return np.asarray(model.decision_function(table))
