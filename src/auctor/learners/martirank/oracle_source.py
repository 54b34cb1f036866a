"""Whatever a user gives as an oracle, as a function that returns the next batch."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor.data import Table, read_table, read_vector
from auctor.data.missing import count_missing

Batch = tuple[Any, Any]  # a table and its labels

_WHAT_WOULD_DO = (
    "a callable draw(n, rng), an iterable of (X, y) batches, or the path of a Parquet file"
)


def open_oracle(
    oracle: Any, target: str | None, rng: np.random.Generator, batch_size: int
) -> Callable[[int], Batch | None]:
    """Any oracle as a function of the number of rows wanted; None when it has run dry."""
    if isinstance(oracle, (str, Path)):
        batches = _read_file(Path(oracle), target, batch_size)
        return lambda n_rows: next(batches, None)
    _refuse_tables(oracle)
    if target is not None:
        raise ValueError(f"target={target!r} goes with a file; other oracles give (X, y)")
    if callable(oracle):
        return lambda n_rows: _none_if_empty(_call(oracle, n_rows, rng))
    if isinstance(oracle, Iterable):
        given = iter(oracle)
        return lambda n_rows: next((b for b in given if _none_if_empty(b) is not None), None)
    raise TypeError(f"oracle is of type {type(oracle).__name__}; give {_WHAT_WOULD_DO}")


def _call(oracle: Callable[..., Any], n_rows: int, rng: np.random.Generator) -> Batch | None:
    """The next batch of a callable, which may end as an iterator does."""
    try:
        batch: Batch = oracle(n_rows, rng)
    except StopIteration:
        return None
    return batch


def _refuse_tables(oracle: Any) -> None:
    """A table, or a table with its labels, would pass for an iterable of batches."""
    kind = type(oracle).__name__
    if _is_table(oracle):
        raise TypeError(
            f"oracle is a table ({kind} of {_size(oracle)}); fit(X, y) learns from a table, and "
            f"fit_oracle from {_WHAT_WOULD_DO}"
        )
    # An iterator is not looked into: what is taken out of it is gone.
    if not isinstance(oracle, Iterable) or isinstance(oracle, Iterator) or callable(oracle):
        return
    first = next(islice(oracle, 1), None)
    if _is_table(first):
        raise TypeError(
            f"oracle is a {kind} that begins with a table ({type(first).__name__} of "
            f"{_size(first)}); if that is one table and its labels, use fit(X, y), or give "
            "[(X, y)] for a single batch"
        )


def _is_table(value: Any) -> bool:
    return hasattr(value, "shape") and not callable(value)


def _size(table: Any) -> str:
    return " x ".join(map(str, table.shape))


def _none_if_empty(batch: Any) -> Any:
    """None for a batch without rows, whatever else it is."""
    is_empty = isinstance(batch, tuple) and len(batch) == 2 and _length(batch[1]) == 0
    return None if is_empty else batch


def _length(values: Any) -> int | None:
    return len(values) if hasattr(values, "__len__") else None


def _read_file(path: Path, target: str | None, batch_size: int) -> Iterator[Batch]:
    """Batches of a Parquet file; errors about the file itself come at once."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        file = pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path} is not a Parquet file ({error})") from None
    names = file.schema_arrow.names
    if target is None:
        raise ValueError(
            f"target is not given: name the column of {path} that holds the labels; it has "
            f"{shown(names)}"
        )
    if target not in names:
        raise ValueError(f"target={target!r} is not a column of {path}; it has {shown(names)}")

    def batches() -> Iterator[Batch]:
        for batch in file.iter_batches(batch_size=batch_size):
            if batch.num_rows:
                yield batch.drop_columns([target]), batch.column(target).to_numpy(False)

    return batches()


def read_batch(batch: Any) -> tuple[Table, npt.NDArray[Any]]:
    """The table and the labels of a batch, or an error that names what was found."""
    is_pair = isinstance(batch, Iterable) and not hasattr(batch, "shape")
    pair = list(batch) if is_pair else []
    if len(pair) != 2:
        raise ValueError(f"a batch must be a pair (X, y), got {type(batch).__name__}")
    table, y = read_table(pair[0], accept_sparse=True), read_vector(pair[1], "y")
    if len(y) != table.n_rows:
        raise ValueError(f"X has {table.n_rows} rows and y {len(y)}")
    if count_missing(y):
        raise ValueError(f"y has {count_missing(y)} missing label(s)")
    return table, y


def shown(names: Iterable[str]) -> str:
    """The first few names, quoted."""
    listed = [repr(name) for name in names]
    return ", ".join(listed[:5]) + (", ..." if listed[5:] else "")
