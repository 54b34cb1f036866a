"""The border: whatever the user has, checked once, becomes RankingData."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from auctor._threads import Workers, resolve_n_jobs
from auctor._typing import Ints
from auctor.data.binning import MAX_BINS, Rows, bin_table
from auctor.data.copies import find_copies
from auctor.data.labelled import read_rows
from auctor.data.ranking import Partition, RankingData
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
    """Check a table and its labels, bin the columns, and put the positives first.

    Rows of weight 0 are absent: they decide no bin and no class. The scale of the weights does
    not matter, unless ``frequency_weights`` says that they count copies of a row. Every error is
    raised before the first column is binned, except for infinities, which are found on the way.
    With ``keep_sparse`` the codes of a scipy sparse table are ``SparseCodes``; they are dense
    otherwise, and for every other table.

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
    found = read_rows(y, sample_weight, pos_label, table.n_rows, frequency_weights)
    ordering = found.weight.astype(np.int64) if found.is_weighted else np.empty(0, dtype=np.int64)
    rows = Rows(found.positive, ordering, found.kept)
    codes: Any
    if keep_sparse and isinstance(table, SparseTable):
        features, codes = bin_sparse(table, rows, categorical, max_bins)
    else:
        with Workers(n_jobs) as workers:
            features, codes = bin_table(table, rows, categorical, max_bins, workers)
    places = np.arange(len(found.positive))  # among the rows that count: absent rows leave no gap
    partition = Partition(
        codes, rows.positives_first(found.weight), rows.positives_first(places), rows.n_pos
    )
    copies = find_copies(table, found.kept, found.positive, categorical)
    return RankingData(features, (partition,), found.classes, found.rows_per_unit, copies)


def _check_max_bins(max_bins: Any) -> None:
    if isinstance(max_bins, (int, np.integer)) and 2 <= max_bins <= MAX_BINS:
        return
    raise ValueError(f"max_bins is {max_bins!r}; it must be a whole number from 2 to {MAX_BINS}")


def find_categorical(categorical_features: Any, table: Table) -> frozenset[int]:
    """Positions of the columns that hold categories by the user's word."""
    if categorical_features is None or (
        isinstance(categorical_features, str) and categorical_features == "from_dtype"
    ):
        return frozenset()
    chosen = _as_list(categorical_features)
    if chosen and all(isinstance(item, (bool, np.bool_)) for item in chosen):
        return _from_mask(chosen, table)
    places = {name: j for j, name in enumerate(table.names)}
    return frozenset(_position(item, table, places) for item in chosen)


def _as_list(value: Any) -> list[Any]:
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable):
        raise ValueError(
            f"categorical_features is {value!r}; give 'from_dtype', column names, "
            "positions or a mask"
        )
    return list(value)


def _from_mask(mask: list[Any], table: Table) -> frozenset[int]:
    if len(mask) != table.n_columns:
        raise ValueError(
            f"categorical_features is a mask of {len(mask)} for {table.n_columns} columns"
        )
    return frozenset(np.flatnonzero(mask).tolist())


def _position(item: Any, table: Table, places: dict[str, int]) -> int:
    if isinstance(item, str):
        if item in places:
            return places[item]
        raise ValueError(f"categorical_features names {item!r}, which is not a column of X")
    if not isinstance(item, (int, np.integer)) or isinstance(item, bool):
        raise ValueError(f"categorical_features holds {item!r}; give column names or positions")
    if not -table.n_columns <= item < table.n_columns:
        raise ValueError(f"categorical_features holds {item}, but X has {table.n_columns} columns")
    return int(item) % table.n_columns


def select(table: Table, names: Sequence[str], who: str) -> Ints:
    """Position in ``table`` of each named feature; by order where the table has no names."""
    if not table.has_names:
        if table.n_columns != len(names):
            raise ValueError(
                f"X has {table.n_columns} features, but {who} is expecting "
                f"{len(names)} features as input"
            )
        return np.arange(len(names))
    place = {name: j for j, name in enumerate(table.names)}
    if tuple(names) == default_names(table.n_columns) and not place.keys() & set(names):
        return np.arange(len(names))  # fitted without names: by order, as scikit-learn does
    missing = [name for name in names if name not in place]
    if missing:
        shown = ", ".join(repr(name) for name in missing[:5]) + (", ..." if missing[5:] else "")
        raise ValueError(f"X lacks {len(missing)} column(s) that the model needs: {shown}")
    return np.array([place[name] for name in names])
