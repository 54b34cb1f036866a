"""Oracles: where draws come from when there is no table that holds them all (paper 000, section 5).

A stream hands out blocks of coded rows, numbers the draws and keeps none of them: what it
holds is at most one batch of the oracle, as codes, besides the rows that it was asked for.
"""

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from auctor.data import (
    Categories,
    Feature,
    Partition,
    RankingData,
    Table,
    Workers,
    find_categorical,
    read_labels,
    read_table,
    read_vector,
    select,
)
from auctor.data.binning import Rows, bin_table, code_categories
from auctor.data.missing import count_missing
from auctor.kernels.binning import code_numbers
from auctor.models import Model
from auctor.models.features import refuse_other_kind

Batch = tuple[Any, Any]  # a table and its labels


class OracleError(ValueError):
    """An oracle failed; what was learned until then is kept.

    Attributes
    ----------
    n_draws : int
        Draws made before it failed.
    model : Model or None
        The program of the layers that were finished; None where there are none.
    history, certificate
        What goes with that program.
    """

    def __init__(
        self,
        message: str,
        n_draws: int = 0,
        model: Model | None = None,
        history: Any = None,
        certificate: Any = None,
    ) -> None:
        super().__init__(message)
        self.n_draws = n_draws
        self.model = model
        self.history = history
        self.certificate = certificate


class Stopped(Exception):  # noqa: N818 - it is caught by the learner, which says the rest
    """The stream cannot go on; the text says what the oracle did."""


class Stream(Protocol):
    """Draws as the learner sees them."""

    n_draws: int
    origin: str  # of the draws, in words
    skipped: npt.NDArray[np.int64]  # draws of each class that were counted but not handed out
    table: Table | None  # the first batch, for the names of its columns

    def start(self, n_rows: int, limit: int) -> RankingData:
        """The first draws, at least ``n_rows`` of them, which fix the bins and the classes."""

    def draw(self, n_rows: int) -> Partition:
        """So many fresh draws; a row's place is the number of its draw."""


class TableStream:
    """A table as its own oracle: rows drawn with replacement, in proportion to their weights.

    Rows are sorted by their codes first. So neither their order shows in the draws, nor
    whether a row has weight 2 or stands there twice.
    """

    origin = "draws from the training rows"

    def __init__(self, data: RankingData, rng: np.random.Generator) -> None:
        self.n_draws = 0
        self.skipped = np.zeros(2, dtype=np.int64)
        self.table: Table | None = None
        self._data, self._rng = data, rng
        sides = [_sorted_class(data, label) for label in (1, 0)]
        self._codes = np.concatenate([codes for codes, _ in sides], axis=1)
        self._n_pos = sides[0][0].shape[1]
        self._upto = np.cumsum(np.concatenate([weight for _, weight in sides]))

    def start(self, n_rows: int, limit: int) -> RankingData:
        n_rows = max(2, n_rows)
        first = self.draw(n_rows)
        while not 0 < first.n_pos < n_rows:  # both classes are there, and one of them is rare
            first = self.draw(n_rows)
        return RankingData(self._data.features, (first,), self._data.classes, 1.0)

    def draw(self, n_rows: int) -> Partition:
        tickets = self._rng.integers(self._upto[-1], size=n_rows)
        rows = np.searchsorted(self._upto, tickets, side="right")
        numbers = np.arange(self.n_draws, self.n_draws + n_rows)
        self.n_draws += n_rows
        return _positives_first(self._codes[:, rows], rows < self._n_pos, numbers)


class OracleStream:
    """Draws of an oracle, coded by the bins of its first ones.

    Parameters
    ----------
    oracle : callable, iterable of batches, or path
        ``draw(n, rng)`` returns (X, y) with n rows; an iterable gives such pairs of any size;
        a path names a Parquet file, read by row groups.
    target : str, optional
        The column of the labels in a file.
    """

    origin = "fresh draws"

    def __init__(
        self,
        oracle: Any,
        rng: np.random.Generator,
        *,
        target: str | None = None,
        pos_label: Any = None,
        max_bins: int = 255,
        categorical_features: Any = "from_dtype",
        batch_size: int = 10_000,
        n_jobs: int | None = None,
    ) -> None:
        self._batches = _open(oracle, target, rng, batch_size)
        self._pos_label, self._max_bins, self._n_jobs = pos_label, max_bins, n_jobs
        self._categorical_features, self._batch_size = categorical_features, batch_size
        self.n_draws = 0
        self.skipped = np.zeros(2, dtype=np.int64)
        self.table: Table | None = None
        self._features: tuple[Feature, ...] = ()
        self.classes: npt.NDArray[Any] = np.zeros(0)
        self._waiting: tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]

    def start(self, n_rows: int, limit: int) -> RankingData:
        tables, labels = self._first_batches(n_rows, limit)
        y = np.concatenate(labels)
        stack = Stack(tables)
        # Rows beyond those asked for wait in line: bins do not depend on the oracle's batches.
        wanted = n_rows if len(_distinct(y[:n_rows])) == 2 else len(y)
        with _told():
            known = read_labels(y, pos_label=self._pos_label)
            stack.check_columns()
            categorical = find_categorical(self._categorical_features, stack)
            rows = Rows(known.positive[:wanted], np.empty(0, dtype=np.int64), None)
            with Workers(self._n_jobs) as workers:
                head = Stack(tables, wanted)
                self._features, _ = bin_table(head, rows, categorical, self._max_bins, workers)
        self.classes = known.classes
        one_class = int(known.positive[0])
        self.skipped[one_class] = self.n_draws  # until here only dropped batches were counted
        self._waiting = self._code(stack), known.positive
        first = self.draw(wanted)
        return RankingData(self._features, (first,), self.classes, 1.0)

    def draw(self, n_rows: int) -> Partition:
        codes, positive = self._waiting
        parts = [(codes[:, :n_rows], positive[:n_rows])]
        self._waiting = codes[:, n_rows:], positive[n_rows:]
        missing = n_rows - parts[0][0].shape[1]
        while missing > 0:
            try:
                codes, positive = self._next_coded(missing)
            except Stopped:
                self.n_draws += n_rows - missing  # made, although they are of no use
                raise
            parts.append((codes[:, :missing], positive[:missing]))
            # A copy: what is left must not hold on to what was handed out.
            self._waiting = codes[:, missing:].copy(), positive[missing:].copy()
            missing -= parts[-1][0].shape[1]
        codes = np.concatenate([codes for codes, _ in parts], axis=1)
        positive = np.concatenate([positive for _, positive in parts])
        numbers = np.arange(self.n_draws, self.n_draws + n_rows)
        self.n_draws += n_rows
        return _positives_first(codes, positive, numbers)

    def _next_coded(self, n_rows: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]:
        """Codes and classes of the next batch of the oracle."""
        table, y = self._next(n_rows)
        with _told():
            codes, positive = self._code(table), self._read_classes(y)
        return codes, positive

    def _first_batches(self, n_rows: int, limit: int) -> tuple[list[Table], list[npt.NDArray[Any]]]:
        """Batches with ``n_rows`` rows and both classes; a class that is rare is waited for."""
        tables: list[Table] = []
        labels: list[npt.NDArray[Any]] = []
        n_held = 0
        while n_held < n_rows:
            try:
                table, y = self._next(n_rows - n_held)
            except Stopped:
                self.n_draws = n_held
                raise
            tables, labels, n_held = [*tables, table], [*labels, y], n_held + len(y)
        found = _distinct(np.concatenate(labels))
        while len(found) == 1:
            if n_held + self.n_draws >= limit:
                self.n_draws += n_held
                raise Stopped(f"gave one class only ({found[0]})")
            table, y = self._next(self._batch_size)
            if len(found := _distinct(np.concatenate([found, y]))) == 1:
                self.n_draws += len(y)
            else:
                tables, labels = [*tables, table], [*labels, y]
        return tables, labels

    def _next(self, n_rows: int) -> tuple[Table, npt.NDArray[Any]]:
        """The next batch of the oracle, checked."""
        try:
            batch = self._batches(n_rows)
        except Exception as error:
            raise Stopped(f"failed ({type(error).__name__}: {error})") from error
        if batch is None:
            raise Stopped("ran dry")
        with _told():
            table, y = _read_batch(batch)
        if self.table is None:
            self.table = table
        self._check_columns(table)
        return table, y

    def _check_columns(self, table: Table) -> None:
        first = self.table
        assert first is not None
        if not first.has_names and not table.has_names:
            if first.n_columns != table.n_columns:
                raise Stopped(
                    f"returned other columns than before ({table.n_columns} of them after "
                    f"{first.n_columns})"
                )
            return
        lost = sorted(set(first.names) - set(table.names))
        new = sorted(set(table.names) - set(first.names))
        if lost or new:
            said = [f"{word} {_shown(names)}" for word, names in (("without", lost), ("with", new))]
            kept = [text for text, names in zip(said, (lost, new), strict=True) if names]
            raise Stopped(f"returned other columns than before ({', '.join(kept)})")

    def _code(self, table: Table) -> npt.NDArray[Any]:
        """Codes (features, rows); columns are matched by name."""
        names = [feature.name for feature in self._features]
        columns = select(table, names, "the oracle")
        dtype = np.uint8 if self._max_bins <= 255 else np.uint16
        codes = np.empty((len(names), table.n_rows), dtype=dtype)
        nobody = np.zeros(table.n_rows, dtype=np.bool_)  # keeps the rows in their order
        for j, feature in enumerate(self._features):
            column = int(columns[j])
            if feature.is_category:
                values = table.categories(column)
                refuse_other_kind(feature, values)
                codes[j] = code_categories(feature, values)
            else:
                code_numbers(table.numbers(column), feature.cuts, nobody, 0, codes[j])
        return codes

    def _read_classes(self, y: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
        positive = np.asarray(y == self.classes[1], dtype=np.bool_)
        strange = y[~positive & ~np.asarray(y == self.classes[0], dtype=np.bool_)]
        if len(strange):
            known = ", ".join(map(str, self.classes.tolist()))
            raise ValueError(f"label {strange[0]!r} is none of the two classes before ({known})")
        return positive


class Stack(Table):
    """Tables of the same columns, one below the other, down to a row."""

    def __init__(self, tables: list[Table], n_rows: int | None = None) -> None:
        self._tables = tables
        self.names, self.has_names = tables[0].names, tables[0].has_names
        self.n_rows = sum(table.n_rows for table in tables) if n_rows is None else n_rows
        self._columns = [select(table, self.names, "the oracle") for table in tables]

    def is_text(self, j: int) -> bool:
        return any(table.is_text(int(at[j])) for table, at in self._parts())

    def _numbers(self, j: int, room: Any) -> npt.NDArray[np.float64]:
        values = np.concatenate([table.numbers(int(at[j])) for table, at in self._parts()])
        return values[: self.n_rows]

    def categories(self, j: int) -> Categories:
        place_of: dict[Any, int] = {}
        places = []
        for table, at in self._parts():
            part = table.categories(int(at[j]))
            new = [place_of.setdefault(value, len(place_of)) for value in part.values]
            places.append(np.array([*new, -1])[part.places])  # -1, missing, finds the last entry
        return Categories(list(place_of), np.concatenate(places)[: self.n_rows])

    def _parts(self) -> Iterable[tuple[Table, npt.NDArray[np.int64]]]:
        return zip(self._tables, self._columns, strict=True)


class _told:  # noqa: N801 - a context, used like a function
    """Errors of the border in the oracle's batch stop the stream."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, (ValueError, TypeError)):
            raise Stopped(f"gave a batch that cannot be used ({error})") from error


def _open(
    oracle: Any, target: str | None, rng: np.random.Generator, batch_size: int
) -> Callable[[int], Batch | None]:
    """Any oracle as a function of the number of rows wanted; None when it has run dry."""
    if isinstance(oracle, (str, Path)):
        batches = _read_file(Path(oracle), target, batch_size)
        return lambda n_rows: next(batches, None)
    if target is not None:
        raise ValueError(f"target={target!r} goes with a file; other oracles give (X, y)")
    if callable(oracle):
        return lambda n_rows: _none_if_empty(oracle(n_rows, rng))
    if isinstance(oracle, Iterable):
        given = iter(oracle)
        return lambda n_rows: next((b for b in given if _none_if_empty(b) is not None), None)
    raise TypeError(
        f"oracle is of type {type(oracle).__name__}; give a callable draw(n, rng), an iterable "
        "of (X, y) batches, or the path of a Parquet file"
    )


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
    if target not in names:
        raise ValueError(f"target={target!r} is not a column of {path}; it has {_shown(names)}")

    def batches() -> Iterator[Batch]:
        for batch in file.iter_batches(batch_size=batch_size):
            if batch.num_rows:
                yield batch.drop_columns([target]), batch.column(target).to_numpy(False)

    return batches()


def _read_batch(batch: Any) -> tuple[Table, npt.NDArray[Any]]:
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


def _distinct(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.unique(y) if y.dtype.kind != "O" else np.array(list(set(y.tolist())), dtype=object)


def _positives_first(
    codes: npt.NDArray[Any], positive: npt.NDArray[np.bool_], numbers: npt.NDArray[np.int64]
) -> Partition:
    order = np.argsort(~positive, kind="stable")
    ones = np.ones(len(order), dtype=np.uint32)
    return Partition(codes[:, order], ones, numbers[order], int(positive.sum()))


def _sorted_class(data: RankingData, label: int) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    """Codes and weights of one class, rows in the order of their codes."""
    ends = [(0, p.n_pos) if label else (p.n_pos, p.n_rows) for p in data.partitions]
    pairs = list(zip(data.partitions, ends, strict=True))
    codes = np.concatenate([part.codes[:, a:b] for part, (a, b) in pairs], axis=1)
    weight = np.concatenate([part.weight[a:b] for part, (a, b) in pairs]).astype(np.int64)
    order = np.lexsort(codes[::-1])
    return codes[:, order], weight[order]


def _shown(names: Iterable[str]) -> str:
    listed = [repr(name) for name in names]
    return ", ".join(listed[:5]) + (", ..." if listed[5:] else "")
