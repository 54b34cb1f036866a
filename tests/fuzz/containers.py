"""The same columns in every container that people have tables in."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from scipy import sparse

Rng = np.random.Generator
Columns = dict[str, list[Any]]

ODD_NAMES = [
    ["a", "b", "c", "d", "e"],
    ["", " ", "a", "x0", "x1"],
    ["x1", "x0", "x3", "x2", "x4"],
    ["é", "e\u0301", "🦆", "two\nlines", "x" * 3000],
    ["a", "a", "b", "b", "c"],
    [0, 1, 2, 3, 4],
    [3, 1, 2, 0, 4],
    [None, 1.5, (1, 2), True, "x"],
    ["\ud800", "a", "b", "c", "d"],
    ["<script>", "${x}", "{name}", "%s", "\0"],
]


def _names(rng: Rng, count: int, plain: bool = False) -> list[Any]:
    names = ODD_NAMES[0] if plain or rng.random() < 0.6 else ODD_NAMES[rng.integers(len(ODD_NAMES))]
    return names[:count]


def _objects(columns: list[list[Any]]) -> np.ndarray:
    n_rows = len(columns[0]) if columns else 0
    array = np.empty((n_rows, len(columns)), dtype=object)
    for j, column in enumerate(columns):
        for i, value in enumerate(column):
            array[i, j] = value
    return array


def _array(rng: Rng, columns: list[list[Any]]) -> Any:
    dtypes = [
        "f8",
        "f4",
        "f2",
        "g",
        ">f8",
        "i8",
        "i1",
        "u8",
        "u2",
        "?",
        "O",
        "U",
        "S",
        "c16",
        "M8[D]",
    ]
    dtype = str(rng.choice(dtypes, p=[0.3, 0.1, 0.05, 0.05, 0.05, *[0.045] * 10]))
    with np.errstate(all="ignore"):
        array = _objects(columns).astype(dtype)
    twist = int(rng.integers(8))
    if twist == 0:
        array = np.asfortranarray(array)
    elif twist == 1:
        array = np.repeat(array, 2, axis=0)[::2]
    elif twist == 2:
        array.flags.writeable = False
    elif twist == 3:
        array = np.ma.array(array, mask=rng.random(array.shape) < 0.2)
    elif twist == 4 and rng.random() < 0.3:
        array = array[..., None] if rng.random() < 0.5 else array[:, 0]
    return array


def _frame(rng: Rng, columns: list[list[Any]]) -> Any:
    names = _names(rng, len(columns))
    frame = pd.DataFrame(dict(enumerate(columns)), dtype=object if rng.random() < 0.2 else None)
    twist = int(rng.integers(7))
    if twist == 0:
        frame = frame.convert_dtypes()
    elif twist == 1:
        frame = frame.astype({j: "category" for j in frame.columns if rng.random() < 0.5})
    elif twist == 2:
        frame = frame.convert_dtypes(dtype_backend="pyarrow")
    elif twist == 3:
        frame.index = pd.Index(rng.integers(3, size=len(frame)))
    elif twist == 4:
        numbers = frame.select_dtypes("number").columns
        frame = frame.astype({j: pd.SparseDtype("float64", 0.0) for j in numbers})
    frame.columns = (
        pd.MultiIndex.from_tuples([(name, "z") for name in names])
        if rng.random() < 0.03
        else pd.Index(names, dtype=object)
    )
    return frame


def _polars(rng: Rng, columns: list[list[Any]]) -> Any:
    names = [str(name) for name in _names(rng, len(columns))]
    frame = pl.DataFrame(dict(zip(names, columns, strict=True)), strict=False)
    twist = int(rng.integers(4))
    if twist == 0:
        return frame.lazy()
    if twist == 1:
        texts = [name for name, kind in frame.schema.items() if kind == pl.String]
        return frame.with_columns(pl.col(texts).cast(pl.Categorical)) if texts else frame
    if twist == 2:
        return frame.with_columns(pl.selectors.float().cast(pl.Float32))
    return frame


def _arrow(rng: Rng, columns: list[list[Any]]) -> Any:
    names = [str(name) for name in _names(rng, len(columns))]
    table = pa.Table.from_arrays([pa.array(column) for column in columns], names=names)
    twist = int(rng.integers(4))
    if twist == 0 and table.num_rows > 1:
        return pa.concat_tables([table.slice(0, 1), table.slice(1)])
    if twist == 1 and table.num_rows:
        return table.to_batches()[0]
    if twist == 2:
        arrays = [
            column.dictionary_encode() if pa.types.is_string(column.type) else column
            for column in table.columns
        ]
        return pa.Table.from_arrays(arrays, names=table.column_names)
    return table


def _sparse(rng: Rng, columns: list[list[Any]]) -> Any:
    dtype = str(
        rng.choice(["f8", "f4", "i8", "i1", "?", "c16"], p=[0.5, 0.2, 0.1, 0.1, 0.05, 0.05])
    )
    with np.errstate(all="ignore"):
        dense = _objects(columns).astype("f8").astype(dtype)
    dense[rng.random(dense.shape) < 0.5] = 0
    form = str(rng.choice(["csr", "csc", "coo", "bsr", "lil", "dok", "dia"]))
    kind = str(rng.choice(["array", "matrix"]))
    matrix = getattr(sparse, f"{form}_{kind}")(dense)
    if rng.random() < 0.25:
        _damage(rng, matrix)
    return matrix


def _damage(rng: Rng, matrix: Any) -> None:
    """One index of a sparse matrix points to nowhere."""
    name = str(rng.choice(["indices", "indptr", "row", "col"]))
    if isinstance(getattr(matrix, name, None), np.ndarray) and len(getattr(matrix, name)):
        array = getattr(matrix, name).copy()
        array[rng.integers(len(array))] = rng.choice([-1, 10**6, 2**31 - 1])
        setattr(matrix, name, array)


def _lists(rng: Rng, columns: list[list[Any]]) -> Any:
    rows = [list(row) for row in zip(*columns, strict=True)]
    twist = int(rng.integers(6))
    if twist == 0:
        return tuple(map(tuple, rows))
    if twist == 1 and rows and rng.random() < 0.3:
        rows[-1] = rows[-1][:-1]
    if twist == 2 and rng.random() < 0.3:
        return [dict(enumerate(row)) for row in rows]
    return rows


def _nothing(rng: Rng, columns: list[list[Any]]) -> Any:
    """No table at all."""
    things: list[Any] = [
        None,
        3,
        "text",
        [],
        [[]],
        {},
        {1, 2},
        np.empty((0, 2)),
        np.empty((3, 0)),
        pd.DataFrame(),
        object(),
        iter([[1.0]]),
        np.float64(1),
        pd.Series([1, 2]),
    ]
    return things[rng.integers(len(things))]


CONTAINERS: dict[str, Callable[[Rng, list[list[Any]]], Any]] = {
    "array": _array,
    "pandas": _frame,
    "polars": _polars,
    "arrow": _arrow,
    "sparse": _sparse,
    "lists": _lists,
    "nothing": _nothing,
}
FREQUENCIES = [0.28, 0.25, 0.12, 0.12, 0.1, 0.11, 0.02]
