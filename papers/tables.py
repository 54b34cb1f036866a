"""Real tables, from the folder that the environment variable AUCTOR_DATA names."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from auctor._typing import Floats, Ints


class Rows(NamedTuple):
    """The rows of a table as numbers, in random order."""

    X: Floats
    y: Ints


def data_folder() -> Path | None:
    """Return the folder of the tables, or None if there is none."""
    folder = os.environ.get("AUCTOR_DATA")
    return Path(folder) if folder and Path(folder).is_dir() else None


def find_file(name: str) -> Path | None:
    """Find the file of a table, compressed or not; a name with an extension is a file name."""
    folder = data_folder()
    if folder is None:
        return None
    if Path(name).suffix:
        return folder / name if (folder / name).exists() else None
    return next(iter(sorted(folder.glob(f"{name}.csv*"))), None)


def where_looked() -> str:
    """Describe where tables are searched, for messages."""
    folder = os.environ.get("AUCTOR_DATA")
    if not folder:
        return "set AUCTOR_DATA to the folder that contains it"
    return f"AUCTOR_DATA is {folder}" + ("" if Path(folder).is_dir() else ", which is not a folder")


def missing_files(names: Iterable[str]) -> list[str]:
    """Return the files of the named tables that do not exist."""
    return [n if Path(n).suffix else f"{n}.csv" for n in names if find_file(n) is None]


def read_rows(name: str, seed: int = 0, n_rows: int | None = None) -> Rows:
    """Read a table with a 0/1 column ``target``; a text column becomes one 0/1 column per category.

    The rows are shuffled, since files keep the order of their source; ``n_rows`` limits their
    number.
    """
    from pyarrow import csv

    path = find_file(name)
    if path is None:
        raise FileNotFoundError(f"{missing_files([name])[0]} is not in the folder of AUCTOR_DATA")
    table = csv.read_csv(path)
    y = table.column("target").to_numpy().astype(np.int64)
    features = [n for n in table.column_names if n != "target"]
    X = np.column_stack([part for n in features for part in _columns(table.column(n))])
    order = np.random.RandomState(seed).permutation(len(y))[:n_rows]
    return Rows(X[order], y[order])


def category_counts(name: str) -> list[int]:
    """How many columns `read_rows` makes of each feature of a table."""
    from pyarrow import csv

    path = find_file(name)
    assert path is not None, "cases name their tables"
    table = csv.read_csv(path)
    features = [n for n in table.column_names if n != "target"]
    return [len(_columns(table.column(feature))) for feature in features]


def _columns(column: object) -> list[Floats]:
    """A numeric column unchanged; a text column as one column of 0 and 1 for each value."""
    import pyarrow as pa
    from pyarrow import compute

    assert isinstance(column, pa.ChunkedArray)
    if not (pa.types.is_string(column.type) or pa.types.is_boolean(column.type)):
        return [column.cast(pa.float64()).to_numpy()]
    texts = compute.fill_null(column.cast(pa.string()), "").to_numpy(zero_copy_only=False)
    return [(texts == value).astype(np.float64) for value in np.unique(texts) if value != ""]
