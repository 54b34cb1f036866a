"""Reads the oracle of a user: a callable, an iterable of batches, or a Parquet file."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._text import count, first_few
from auctor.data import Table, read_table, read_vector
from auctor.data.missing import count_missing

Batch = tuple[Any, Any]  # a table and its labels

_ORACLES = "a callable draw(n, rng), an iterable of (X, y) batches, or the path of a Parquet file"


def open_oracle(
    oracle: Any, target: str | None, rng: np.random.Generator, batch_size: int
) -> Callable[[int], Batch | None]:
    """Any oracle as a function from a number of rows to a batch; None when it has no more rows."""
    if isinstance(oracle, (str, Path)):
        batches = _read_file(Path(oracle), target, batch_size)
        return lambda n_rows: next(batches, None)
    _refuse_tables(oracle)
    if target is not None:
        raise ValueError(
            f"target is {target!r}, but the oracle is not a file; give target=None and an oracle "
            "that returns (X, y)"
        )
    if callable(oracle):
        return lambda n_rows: _none_if_empty(_call(oracle, n_rows, rng))
    if isinstance(oracle, Iterable):
        given = iter(oracle)
        return lambda n_rows: next((b for b in given if _none_if_empty(b) is not None), None)
    raise TypeError(f"oracle is of type {type(oracle).__name__}; give {_ORACLES}")


def _call(oracle: Callable[..., Any], n_rows: int, rng: np.random.Generator) -> Batch | None:
    """The next batch of a callable, which may raise StopIteration when it has no more rows."""
    try:
        batch: Batch = oracle(n_rows, rng)
    except StopIteration:
        return None
    return batch


def _refuse_tables(oracle: Any) -> None:
    """Refuse a table, or a table with its labels, which would be read as an iterable of batches."""
    kind = type(oracle).__name__
    if _is_table(oracle):
        raise TypeError(
            f"oracle is a table ({kind} of {_size(oracle)}); use fit(X, y) for a table, or give "
            f"{_ORACLES}"
        )
    # Iterators are not checked, because reading from one would lose its first batch.
    if not isinstance(oracle, Iterable) or isinstance(oracle, Iterator) or callable(oracle):
        return
    first = next(islice(oracle, 1), None)
    if _is_table(first):
        raise TypeError(
            f"oracle is a {kind} that begins with a table ({type(first).__name__} of "
            f"{_size(first)}); use fit(X, y) for one table and its labels, or give [(X, y)] for a "
            "single batch"
        )


def _is_table(value: Any) -> bool:
    return hasattr(value, "shape") and not callable(value)


def _size(table: Any) -> str:
    return " x ".join(map(str, table.shape))


def _none_if_empty(batch: Any) -> Any:
    """None for a batch without rows, any other batch as it is."""
    is_empty = isinstance(batch, tuple) and len(batch) == 2 and _length(batch[1]) == 0
    return None if is_empty else batch


def _length(values: Any) -> int | None:
    return len(values) if hasattr(values, "__len__") else None


def _read_file(path: Path, target: str | None, batch_size: int) -> Iterator[Batch]:
    """Batches of a Parquet file; errors of the file itself are raised at once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path} is not a Parquet file ({error}); give one") from None
    names = file.schema_arrow.names
    if target is None:
        raise ValueError(
            f"target is None; give the name of the column of {path} that has the labels, one of "
            f"{first_few(names)}"
        )
    if target not in names:
        raise ValueError(
            f"target is {target!r}, which is not a column of {path}; give one of {first_few(names)}"
        )

    def batches() -> Iterator[Batch]:
        for batch in file.iter_batches(batch_size=batch_size):
            if batch.num_rows:
                yield batch.drop_columns([target]), batch.column(target).to_numpy(False)

    return batches()


def read_batch(batch: Any) -> tuple[Table, npt.NDArray[Any]]:
    """The table and the labels of a batch, checked."""
    is_pair = isinstance(batch, Iterable) and not hasattr(batch, "shape")
    pair = list(batch) if is_pair else []
    if len(pair) != 2:
        raise ValueError(f"the batch is a {type(batch).__name__}; give a pair (X, y)")
    table, y = read_table(pair[0], accept_sparse=True), read_vector(pair[1], "y")
    if len(y) != table.n_rows:
        raise ValueError(
            f"X has {table.n_rows} rows and y has {len(y)}; give one label for each row"
        )
    if count_missing(y):
        raise ValueError(
            f"y has {count(count_missing(y), 'missing label')}; give a label for each row"
        )
    return table, y
