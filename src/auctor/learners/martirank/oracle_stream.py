"""The oracle of a user as a stream of coded rows.

``OracleStream`` reads the batches of the oracle and codes them by the bins of the first ones. It
numbers the draws and does not keep them: besides the rows that it was asked for, it holds at most
one batch of the oracle, as codes. ``Stack`` joins the tables of the first batches into one.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor._text import first_few
from auctor._typing import Bools, Floats, Ints
from auctor.data import (
    Categories,
    Feature,
    Partition,
    RankingData,
    Table,
    Workers,
    find_categorical,
    read_labels,
    select,
)
from auctor.data.binning import Rows, bin_table, code_categories
from auctor.kernels.arrays import read_only
from auctor.kernels.binning import code_numbers
from auctor.learners.martirank.oracle import OracleExhausted, Stopped, positives_first
from auctor.learners.martirank.oracle_source import open_oracle, read_batch
from auctor.models.features import refuse_other_kind


class Stack(Table):
    """The rows of several tables with the same columns, up to a number of rows."""

    def __init__(self, tables: list[Table], n_rows: int | None = None) -> None:
        self._tables = tables
        self.names, self.has_names = tables[0].names, tables[0].has_names
        self.n_rows = sum(table.n_rows for table in tables) if n_rows is None else n_rows
        self._columns = [select(table, self.names, "the oracle") for table in tables]

    def is_text(self, j: int) -> bool:
        return any(table.is_text(int(at[j])) for table, at in self._parts())

    def _numbers(self, j: int, buffer: Any) -> Floats:
        values = np.concatenate([table.numbers(int(at[j])) for table, at in self._parts()])
        return values[: self.n_rows]

    def categories(self, j: int) -> Categories:
        codes: dict[Any, int] = {}
        codes_of_rows = []
        for table, at in self._parts():
            part = table.categories(int(at[j]))
            own = [codes.setdefault(value, len(codes)) for value in part.values]
            # Missing values have -1, which takes the last entry.
            codes_of_rows.append(np.array([*own, -1])[part.indices])
        return Categories(list(codes), np.concatenate(codes_of_rows)[: self.n_rows])

    def _parts(self) -> Iterable[tuple[Table, Ints]]:
        return zip(self._tables, self._columns, strict=True)


class OracleStream:
    """The draws of an oracle, coded by the bins of the first ones.

    Parameters
    ----------
    oracle : callable, iterable of batches, or path
        ``draw(n, rng)`` returns (X, y) with n rows; an iterable gives such pairs of any size; a
        path names a Parquet file, which is read in batches.
    target : str, default=None
        The column of a Parquet file that has the labels.
    """

    origin = "new draws"
    is_fresh = True

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
        self._batches = open_oracle(oracle, target, rng, batch_size)
        self._pos_label, self._max_bins, self._n_jobs = pos_label, max_bins, n_jobs
        self._categorical_features, self._batch_size = categorical_features, batch_size
        self.n_draws = 0
        self.skipped = np.zeros(2, dtype=np.int64)
        self.table: Table | None = None
        self._features: tuple[Feature, ...] = ()
        self.classes: npt.NDArray[Any] = np.zeros(0)
        self._waiting: tuple[npt.NDArray[Any], Bools]

    def start(self, n_rows: int, limit: int) -> RankingData:
        tables, labels = self._first_batches(n_rows, limit)
        y = np.concatenate(labels)
        # Further rows are kept for later, so that the bins do not depend on the size of batches.
        wanted = n_rows if len(_distinct(y[:n_rows])) == 2 else len(y)
        stack = Stack(tables)
        # Errors in pos_label and categorical_features are the user's, not the oracle's.
        with _batch_errors():
            read_labels(y)
        known = read_labels(y, pos_label=self._pos_label, name="the oracle's labels")
        categorical = find_categorical(self._categorical_features, stack)
        with _batch_errors(), Workers(self._n_jobs) as workers:
            stack.check_columns()
            rows = Rows(known.positive[:wanted], np.empty(0, dtype=np.int64), None)
            head = Stack(tables, wanted)
            self._features, _ = bin_table(head, rows, categorical, self._max_bins, workers)
            self._waiting = self._code(stack), known.positive
        self.classes = known.classes
        # Draws are counted again when they are returned; skipped draws stay counted.
        self.n_draws -= len(y)
        one_class = int(known.positive[0])
        self.skipped[one_class] = self.n_draws
        first = self.draw(wanted)
        return RankingData(self._features, (first,), self.classes, (1.0, 1.0))

    def draw(self, n_rows: int) -> Partition:
        codes, positive = self._waiting
        parts = [(codes[:, :n_rows], positive[:n_rows])]
        self._waiting = codes[:, n_rows:], positive[n_rows:]
        missing = n_rows - parts[0][0].shape[1]
        while missing > 0:
            try:
                codes, positive = self._next_coded(missing)
            except Stopped:
                self.n_draws += n_rows - missing  # these were drawn, although they are not used
                raise
            parts.append((codes[:, :missing], positive[:missing]))
            # A copy, so that the remaining rows do not keep the whole batch in memory.
            self._waiting = codes[:, missing:].copy(), positive[missing:].copy()
            missing -= parts[-1][0].shape[1]
        codes = np.concatenate([codes for codes, _ in parts], axis=1)
        positive = np.concatenate([positive for _, positive in parts])
        numbers = np.arange(self.n_draws, self.n_draws + n_rows)
        self.n_draws += n_rows
        return positives_first(codes, positive, numbers)

    def _next_coded(self, n_rows: int) -> tuple[npt.NDArray[Any], Bools]:
        """Codes and classes of the next batch of the oracle."""
        table, y = self._next(n_rows)
        with _batch_errors():
            codes, positive = self._code(table), self._read_classes(y)
        return codes, positive

    def _first_batches(self, n_rows: int, limit: int) -> tuple[list[Table], list[npt.NDArray[Any]]]:
        """Batches with at least ``n_rows`` rows and both classes.

        ``n_draws`` counts every row that was drawn, also if an error is raised.
        """
        tables: list[Table] = []
        labels: list[npt.NDArray[Any]] = []
        while self.n_draws < n_rows:
            table, y = self._next(n_rows - self.n_draws)
            tables, labels = [*tables, table], [*labels, y]
            self.n_draws += len(y)
        classes = _distinct(np.concatenate(labels))
        while len(classes) == 1:
            if self.n_draws >= limit:
                raise Stopped(
                    f"the oracle gave only one class ({classes[0]})",
                    "give a larger max_draws to wait longer for the other class, and shuffle rows "
                    "that are sorted by their labels",
                )
            table, y = self._next(min(self._batch_size, limit - self.n_draws))
            self.n_draws += len(y)
            if len(classes := _distinct(np.concatenate([classes, y]))) > 1:
                tables, labels = [*tables, table], [*labels, y]
        return tables, labels

    def _next(self, n_rows: int) -> tuple[Table, npt.NDArray[Any]]:
        """The next batch of the oracle, checked."""
        try:
            batch = self._batches(n_rows)
        except Exception as error:
            raise Stopped(f"the oracle failed ({type(error).__name__}: {error})") from error
        if batch is None:
            raise OracleExhausted("the oracle ran out of rows")
        with _batch_errors():
            table, y = read_batch(batch)
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
                    f"the oracle returned {table.n_columns} columns, but {first.n_columns} in the "
                    "first batch",
                    "give batches with the same columns",
                )
            return
        lost = sorted(set(first.names) - set(table.names))
        new = sorted(set(table.names) - set(first.names))
        if lost or new:
            changes = (("without", lost), ("with", new))
            listed = ", ".join(f"{word} {first_few(names)}" for word, names in changes if names)
            raise Stopped(
                f"the oracle returned other columns than in the first batch ({listed})",
                "give batches with the same columns",
            )

    def _code(self, table: Table) -> npt.NDArray[Any]:
        """Codes (features, rows); columns are matched by name."""
        names = [feature.name for feature in self._features]
        columns = select(table, names, "the oracle")
        dtype = np.uint8 if self._max_bins <= 255 else np.uint16
        codes = np.empty((len(names), table.n_rows), dtype=dtype)
        no_row = np.zeros(table.n_rows, dtype=np.bool_)  # so that the rows keep their order
        for j, feature in enumerate(self._features):
            column = int(columns[j])
            if feature.is_category:
                values = table.categories(column)
                refuse_other_kind(feature, values)
                codes[j] = code_categories(feature, values)
            else:
                numbers, cuts = read_only(table.numbers(column)), read_only(feature.cuts)
                code_numbers(numbers, cuts, no_row, 0, codes[j])
        return codes

    def _read_classes(self, y: npt.NDArray[Any]) -> Bools:
        positive = np.asarray(y == self.classes[1], dtype=np.bool_)
        unknown = y[~positive & ~np.asarray(y == self.classes[0], dtype=np.bool_)]
        if len(unknown):
            known = ", ".join(map(str, self.classes.tolist()))
            raise ValueError(
                f"a label is {unknown[0]!r}, which is neither of the two classes of earlier draws "
                f"({known})"
            )
        return positive


class _batch_errors:  # noqa: N801 - a context, used like a function
    """Turns errors of the input validation in a batch of the oracle into Stopped."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if isinstance(error, (ValueError, TypeError)):
            raise Stopped(f"the oracle gave a batch that cannot be used ({error})") from error


def _distinct(y: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.unique(y) if y.dtype.kind != "O" else np.array(list(set(y.tolist())), dtype=object)
