"""The partitions of Dask collections, as one delayed object for each."""

from typing import Any, NamedTuple

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import numpy.typing as npt
from dask.delayed import Delayed

from auctor.data.cluster.parts_table import PartsRows, PartsTable, read_part
from auctor.data.group import Group
from auctor.data.labelled import check_lengths
from auctor.data.labels import join_labels, read_vector


class Part(NamedTuple):
    """One partition: a table, its labels and weights."""

    X: Any
    y: Any
    weight: Any = None


def delayed_parts(X: Any, y: Any, sample_weight: Any) -> list[Delayed]:
    """A delayed ``Part`` for each partition of Dask collections, or of a list of delayed parts.

    ``y`` and ``sample_weight`` may be names of columns of a dask.dataframe. Delayed parts are
    (X, y) or (X, y, sample_weight).
    """
    if isinstance(X, list):
        return _from_list(X, y, sample_weight)
    if isinstance(X, dd.DataFrame):
        names = [name for name in (y, sample_weight) if isinstance(name, str)]
        y, sample_weight = (X[v] if isinstance(v, str) else v for v in (y, sample_weight))
        X = X.drop(columns=names)
    if y is None:
        raise ValueError("y is None; give the labels, or the name of their column in X")
    columns = {"X": X, "y": y}
    if sample_weight is not None:
        columns["sample_weight"] = sample_weight
    return [dask.delayed(_part, pure=True)(*own) for own in delayed_blocks(columns)]


def delayed_blocks(columns: dict[str, Any]) -> list[tuple[Any, ...]]:
    """For each partition the delayed blocks of several collections, which are named for errors."""
    (first, whole), *_ = columns.items()
    blocks = {name: _blocks(value, name, whole) for name, value in columns.items()}
    for name, own in blocks.items():
        if len(own) != len(blocks[first]):
            raise ValueError(
                f"{first} has {len(blocks[first])} partitions and {name} has {len(own)}; give both "
                "the same partitions"
            )
    return list(zip(*blocks.values(), strict=True))


def _part(X: Any, y: Any, weight: Any = None) -> Part:
    return Part(X, y, weight)


def _from_list(parts: list[Any], y: Any, sample_weight: Any) -> list[Delayed]:
    if y is not None or sample_weight is not None:
        raise ValueError("X is a list of delayed parts; give (X, y) parts and no y beside them")
    odd = next((part for part in parts if not isinstance(part, Delayed)), None)
    if not parts or odd is not None:
        found = "an empty list" if odd is None else f"a list with a {type(odd).__name__}"
        raise ValueError(f"X is {found}; give a list of delayed parts (X, y)")
    return [dask.delayed(_unpack, pure=True)(part) for part in parts]


def _unpack(part: Any) -> Part:
    if not isinstance(part, tuple | list) or not 2 <= len(part) <= 3:
        raise ValueError(f"it is a {type(part).__name__}; give (X, y) or (X, y, sample_weight)")
    return Part(*part)


def _blocks(value: Any, name: str, X: Any) -> list[Any]:
    """The delayed blocks of rows of one collection; those of a vector are divided as X is."""
    if isinstance(value, list) and value and all(isinstance(part, Delayed) for part in value):
        return value
    if isinstance(value, dd.DataFrame | dd.Series):
        return list(value.to_delayed())
    if isinstance(value, da.Array):
        if value.ndim == 2:
            value = value.rechunk({1: -1})
        elif isinstance(X, da.Array) and not np.isnan([*X.chunks[0], *value.chunks[0]]).any():
            check_lengths(len(X), len(value))
            value = value.rechunk({0: X.chunks[0]})
        return list(value.to_delayed().ravel())
    raise TypeError(
        f"{name} is of type {type(value).__name__}; give a dask.dataframe, a dask.array, or a list "
        "of delayed parts (X, y) as X"
    )


def read_parts(parts: list[tuple[int, Part]], group: Group) -> PartsRows:
    """The rows of a member from its numbered partitions, in the order of their numbers."""
    tables, labels, weights = [], [], []
    is_weighted = group.any(any(part.weight is not None for _, part in parts))
    for number, part in sorted(parts, key=lambda both: both[0]):
        table = read_part(number, part.X)
        y = _vector(part.y, "y", number)
        check_length(number, "y", len(y), 0 if table is None else table.table.n_rows)
        if table is None:
            continue
        tables.append(table)
        labels.append(y)
        if is_weighted:
            weights.append(_weights(part.weight, number, len(y)))
    weight = np.concatenate([np.empty(0), *weights]) if is_weighted else None
    return PartsRows(PartsTable(tables, group), join_labels(labels, "y"), weight)


def _vector(values: Any, name: str, number: int) -> npt.NDArray[Any]:
    try:
        return read_vector(values, name)
    except ValueError as error:
        raise ValueError(f"partition {number}: {error}") from None


def _weights(values: Any, number: int, n_rows: int) -> npt.NDArray[Any]:
    if values is None:
        raise ValueError(f"partition {number} has no weights where others have; give all of them")
    weight = _vector(values, "sample_weight", number)
    check_length(number, "sample_weight", len(weight), n_rows)
    return weight


def check_length(number: int, name: str, found: int, n_rows: int) -> None:
    """Raise an error for a partition whose rows are not those of the table."""
    if found != n_rows:
        raise ValueError(
            f"partition {number} has {n_rows} rows and {found} values of {name}; give the same "
            "partitions to both"
        )
