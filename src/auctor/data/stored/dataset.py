"""Dataset: a table in files or batches, with its target, that an estimator can be fitted to."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor._text import first_few
from auctor.data.stored.column_types import NUMBER, check_same_columns
from auctor.data.stored.memory import memory_text, read_memory
from auctor.data.stored.parquet_store import ParquetStore
from auctor.data.stored.sources import check_source, is_parquet, open_parquet, open_store
from auctor.data.stored.spill import SpillFolder, check_spill_dir
from auctor.data.stored.table import StoredTable
from auctor.data.table import default_names


class RowBytes(NamedTuple):
    """Bytes of memory for each row, with arrays of rows in memory and with those in files.

    ``spilled`` is None where they cannot be in files.
    """

    in_memory: int
    spilled: int | None = None

    def __add__(self, more: "RowBytes") -> "RowBytes":  # type: ignore[override]
        if self.spilled is None or more.spilled is None:
            return RowBytes(self.in_memory + more.in_memory)
        return RowBytes(self.in_memory + more.in_memory, self.spilled + more.spilled)


# The interpreter with the libraries and the compiled kernels, and the batches that are read.
FIXED_BYTES = 250_000_000
# Bytes for each row, measured by `extras` of benchmarks/dataset_memory.py and rounded up. Labels of
# text add nothing to the peak.
WEIGHT_BYTES, CATEGORY_BYTES = RowBytes(16, 16), RowBytes(16, 16)


class StoredRows(NamedTuple):
    """An open data set: the features as a table, the labels and the weights."""

    table: StoredTable
    y: npt.NDArray[Any]
    weight: npt.NDArray[Any] | None


@dataclass(frozen=True, eq=False)
class Dataset:
    """A table in files or batches, with the names of its target and weight columns.

    It is made by :func:`read_dataset` and holds no rows.

    Attributes
    ----------
    source : path, list of tables, function or numpy array
    target : str or int
        The column with the labels.
    weight : str, int or None
        The column with the weights.
    features : tuple of str or None
        The columns to use; None for all others.
    max_memory : int
        Bytes of memory that a fit may use.
    spill_dir : str, Path or None
        Where temporary files are written; None is the system's folder.

    Examples
    --------
    >>> import numpy as np
    >>> from auctor import RankBoost, read_dataset
    >>> rows = np.array([[1.0, 0.0], [2.0, 0.0], [3.0, 1.0], [4.0, 1.0]])
    >>> dataset = read_dataset(rows, target=-1)
    >>> dataset.max_memory
    2000000000
    >>> RankBoost(n_estimators=5).fit_dataset(dataset).predict([[1.5], [3.5]]).tolist()
    [0.0, 1.0]
    """

    source: Any
    target: str | int
    weight: str | int | None
    features: tuple[str, ...] | None
    max_memory: int
    spill_dir: str | Path | None

    def column_names(self, names: tuple[str, ...]) -> tuple[str, str | None, tuple[str, ...]]:
        """The names of the target, of the weight, and of the features."""
        target = self._name(self.target, "target", names)
        weight = None if self.weight is None else self._name(self.weight, "weight", names)
        wanted = names if self.features is None else self.features
        missing = [name for name in wanted if name not in names]
        if missing:
            raise ValueError(
                f"features names {first_few(missing)}, not among the columns of source: "
                f"{first_few(names)}"
            )
        chosen = tuple(name for name in wanted if name not in (target, weight))
        if not chosen:
            raise ValueError("source has no column beside target and weight; give features too")
        return target, weight, chosen

    def _name(self, column: str | int, argument: str, names: tuple[str, ...]) -> str:
        if isinstance(self.source, np.ndarray) and isinstance(column, int):
            if -len(names) <= column < len(names):
                return default_names(len(names))[column]
        elif column in names:
            return str(column)
        raise ValueError(
            f"{argument}={column!r} is not a column of source; it has {first_few(names)}"
        )


@contextmanager
def open_dataset(dataset: Dataset, row_bytes: RowBytes, who: str) -> Iterator[StoredRows]:
    """Open a data set; its temporary files are removed at the end, also after an error.

    ``who`` is the name, for errors, of what needs ``row_bytes`` bytes of memory for each row.
    """
    with SpillFolder(dataset.spill_dir) as spill:
        store = open_store(dataset.source, spill)
        if store.n_rows == 0:
            raise ValueError("source has no rows; auctor needs rows of two classes")
        target, weight, features = dataset.column_names(store.all_names)
        labels = (target,) if weight is None else (target, weight)
        for part in store.parts:
            check_same_columns(part, labels)
        row_bytes += _extra_bytes(store, weight, features)
        spills_rows = _must_spill(dataset.max_memory, store.n_rows, row_bytes, who)
        has_names = not isinstance(dataset.source, np.ndarray)
        table = StoredTable(store, features, spill, has_names=has_names, spills_rows=spills_rows)
        yield StoredRows(
            table, table.vector(target), None if weight is None else table.vector(weight)
        )


def _extra_bytes(store: ParquetStore, weight: str | None, features: tuple[str, ...]) -> RowBytes:
    """Bytes for each row that weights and columns of text add to a fit."""
    added = RowBytes(0, 0)
    if weight is not None:
        added += WEIGHT_BYTES
    if any(kind != NUMBER for kind in store.kinds(features).values()):
        added += CATEGORY_BYTES
    return added


def _must_spill(max_memory: int, n_rows: int, row_bytes: RowBytes, who: str) -> bool:
    """Whether arrays of rows must be in files; an error if that needs too much memory, too."""
    if FIXED_BYTES + n_rows * row_bytes.in_memory <= max_memory:
        return False
    least = row_bytes.in_memory if row_bytes.spilled is None else row_bytes.spilled
    needed = FIXED_BYTES + n_rows * least
    if needed > max_memory:
        raise ValueError(
            f"max_memory is {memory_text(max_memory)}, and {who} needs about "
            f"{memory_text(needed)} for {n_rows:,} rows ({least} bytes for each row); "
            "give a larger max_memory, fewer threads (n_jobs; on the command line --jobs), or "
            "another estimator"
        )
    return True


def read_dataset(
    source: Any,
    *,
    target: str | int,
    weight: str | int | None = None,
    features: Sequence[str] | None = None,
    max_memory: str | int = "2GB",
    spill_dir: str | Path | None = None,
) -> Dataset:
    """Describe a table that is too large for memory, for ``estimator.fit_dataset``.

    Parquet files are read where they are, one column at a time. Other sources are first copied to
    a Parquet file in the spill folder. The binned table, one byte for each value, is in the spill
    folder too. The fitted model is the same, bit for bit, as that of ``fit`` on the whole table in
    memory.

    Parameters
    ----------
    source : path, list of tables, function or numpy array
        A Parquet file, a folder of Parquet files, or a CSV file with a header (also compressed by
        gzip); a list of tables, or a function that returns an iterator of tables (pandas, polars,
        pyarrow or numpy); or a numpy array, which may be a memory map.
    target : str or int
        The column with the labels; for an array its index.
    weight : str or int, optional
        The column with the weights of the rows.
    features : list of str, optional
        The columns to use. By default all others are used.
    max_memory : str or int, default="2GB"
        The memory that a fit may use, such as "500MB" or "2GB". A fit that needs more is refused
        before it starts. Pages of the temporary files are not counted: the operating system drops
        them when memory is short.
    spill_dir : str or Path, optional
        A folder on a disk with space for a byte for each value (two with more than 255 bins), and
        for a copy of the table if the source is not Parquet. By default the system's folder for
        temporary files; name another one where that folder is kept in memory (tmpfs).

    Returns
    -------
    Dataset

    Examples
    --------
    >>> import pandas as pd
    >>> from auctor import RankBoost, read_dataset
    >>> tables = [
    ...     pd.DataFrame({"age": [20, 30, 40], "default": [1, 1, 0]}),
    ...     pd.DataFrame({"age": [25, 50, 60], "default": [1, 0, 0]}),
    ... ]
    >>> ranker = RankBoost(n_estimators=5).fit_dataset(read_dataset(tables, target="default"))
    >>> ranker.decision_function(pd.DataFrame({"age": [22, 55]})).tolist()
    [8.0, -8.0]
    """
    check_source(source)
    check_spill_dir(spill_dir)
    dataset = Dataset(
        source,
        target,
        weight,
        None if features is None else tuple(features),
        read_memory(max_memory),
        spill_dir,
    )
    if is_parquet(source):
        names = open_parquet(source).all_names
        if names:
            dataset.column_names(names)
    return dataset
