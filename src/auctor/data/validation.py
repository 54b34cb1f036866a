"""Input validation: the table and the labels of a user are checked once and become RankingData."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from auctor._text import count, first_few
from auctor._threads import Workers, resolve_n_jobs
from auctor._typing import Ints
from auctor.data.binning import MAX_BINS, Rows, bin_table
from auctor.data.cluster.copies import find_shared_copies
from auctor.data.copies import find_copies
from auctor.data.labelled import read_rows
from auctor.data.ranking import Codes, Partition, RankingData
from auctor.data.sparse_binning import bin_sparse
from auctor.data.table import SparseTable, Table, default_names, read_table


def prepare(
    X: Any,
    y: Any,
    *,
    sample_weight: Any = None,
    pos_label: Any = None,
    max_bins: int = 255,
    categorical_features: Any = "from_dtype",
    accept_sparse: bool = False,
    keep_sparse: bool = False,
    frequency_weights: bool = False,
    n_jobs: int | None = None,
) -> RankingData:
    """Check a table and its labels, bin the columns, and sort the rows by class, positives first.

    Parameters
    ----------
    X : table
        A numpy array, list of rows, pandas, polars or pyarrow table, or scipy sparse matrix.
    y : array-like of shape (n_rows,)
        Labels of two classes.
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the rows. Rows of weight 0 are ignored.
    pos_label : label, optional
        The label of the positive class; the larger one by default.
    max_bins : int, default=255
        Maximum number of bins of a column.
    categorical_features : "from_dtype", None or array-like, default="from_dtype"
        Columns to be treated as categories, by name, index or mask, in addition to columns of text
        or of a categorical type.
    accept_sparse : bool, default=False
        Whether X may be a scipy sparse matrix.
    keep_sparse : bool, default=False
        Whether the codes of a sparse matrix are `SparseCodes`; otherwise they are dense.
    frequency_weights : bool, default=False
        Whether weights count copies of a row. Otherwise their scale does not matter.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    RankingData
        The binned table, with a single partition. Errors are raised before the first column is
        binned, except those for infinite values.

    Examples
    --------
    >>> data = prepare([[1.0], [2.0], [3.0]], [0, 1, 1])
    >>> data.n_pos, data.partitions[0].codes.tolist()
    (2, [[2, 3, 1]])
    """
    n_jobs = resolve_n_jobs(n_jobs)
    table = read_table(X, accept_sparse=accept_sparse)
    table.check_columns()
    _check_max_bins(max_bins)
    categorical = find_categorical(categorical_features, table)
    group = table.group
    labelled = read_rows(y, sample_weight, pos_label, table.n_rows, frequency_weights, group)
    weight = labelled.weight.astype(np.int64) if labelled.is_weighted else np.empty(0, np.int64)
    rows = Rows(labelled.positive, weight, labelled.kept)
    codes: Codes
    if keep_sparse and isinstance(table, SparseTable):
        features, codes = bin_sparse(table, rows, categorical, max_bins)
    else:
        with Workers(n_jobs) as workers:
            features, codes = bin_table(table, rows, categorical, max_bins, workers)
    positions = table.positions(labelled.kept)
    partition = Partition(
        codes,
        rows.positives_first(labelled.weight, table.empty_rows),
        rows.positives_first(positions, table.empty_rows),
        rows.n_pos,
        table.empty_codes,
        table.empty_rows,
    )
    if group.size > 1:
        copies = find_shared_copies(table, labelled.kept, positions, labelled.positive, categorical)
    else:
        copies = find_copies(table, labelled.kept, labelled.positive, categorical)
    units = labelled.rows_per_unit
    return RankingData(features, (partition,), labelled.classes, units, copies, group)


def _check_max_bins(max_bins: Any) -> None:
    if isinstance(max_bins, (int, np.integer)) and 2 <= max_bins <= MAX_BINS:
        return
    raise ValueError(f"max_bins is {max_bins!r}; give a whole number from 2 to {MAX_BINS}")


def find_categorical(categorical_features: Any, table: Table) -> frozenset[int]:
    """Indices of the columns that the user declared to be categorical."""
    if categorical_features is None or (
        isinstance(categorical_features, str) and categorical_features == "from_dtype"
    ):
        return frozenset()
    chosen = _as_list(categorical_features)
    if chosen and all(isinstance(item, (bool, np.bool_)) for item in chosen):
        return _from_mask(chosen, table)
    indices = {name: j for j, name in enumerate(table.names)}
    return frozenset(_column_index(item, table, indices) for item in chosen)


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ValueError(
            f"categorical_features is {value!r}; give 'from_dtype', column names, "
            "column indices or a mask"
        )
    return list(value)


def _from_mask(mask: list[Any], table: Table) -> frozenset[int]:
    if len(mask) != table.n_columns:
        raise ValueError(
            f"categorical_features is a mask of {len(mask)} values; give one for each of the "
            f"{table.n_columns} columns of X"
        )
    return frozenset(np.flatnonzero(mask).tolist())


def _column_index(item: Any, table: Table, indices: dict[str, int]) -> int:
    if isinstance(item, str):
        if item in indices:
            return indices[item]
        raise ValueError(
            f"categorical_features names {item!r}, which is not a column of X; give names of "
            "columns"
        )
    if not isinstance(item, (int, np.integer)) or isinstance(item, bool):
        raise ValueError(f"categorical_features holds {item!r}; give column names or indices")
    if not -table.n_columns <= item < table.n_columns:
        raise ValueError(
            f"categorical_features holds {item}, but X has {table.n_columns} columns; give indices "
            f"from 0 to {table.n_columns - 1}"
        )
    return int(item) % table.n_columns


def select(table: Table, names: Sequence[str], who: str) -> Ints:
    """The index of each named feature in the table; by order if the table has no names.

    ``who`` is the name of the model in errors.
    """
    if not table.has_names:
        if table.n_columns != len(names):
            raise ValueError(
                f"X has {table.n_columns} features, but {who} is expecting "
                f"{len(names)} features as input"
            )
        return np.arange(len(names))
    indices = {name: j for j, name in enumerate(table.names)}
    if tuple(names) == default_names(table.n_columns) and not indices.keys() & set(names):
        return np.arange(len(names))  # fitted without names: by order, as in scikit-learn
    missing = [name for name in names if name not in indices]
    if missing:
        columns = count(len(missing), "column")
        raise ValueError(f"X lacks {columns} that the model needs: {first_few(missing)}")
    return np.array([indices[name] for name in names])
