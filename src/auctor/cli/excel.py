"""The first sheet of an Excel file as a table; needs openpyxl (the extra ``excel``)."""

from collections.abc import Collection, Iterable, Sequence
from datetime import date, datetime, time
from typing import Any

import pyarrow as pa
import pyarrow.csv as arrow_csv

from auctor.cli.table_file import TableFile

_MISSING = frozenset(arrow_csv.ConvertOptions().null_values)


class ExcelFile(TableFile):
    """The first sheet of an Excel file, whose first row has the names of the columns."""

    def __init__(self, path: str) -> None:
        self.name = path
        rows = _read_sheet(path)
        if not rows:
            raise ValueError(f"{path}: the first sheet is empty")
        width = max((k + 1 for row in rows for k, cell in enumerate(row) if _is_known(cell)))
        header = [*rows[0], *[None] * width][:width]
        self.columns = tuple("" if cell is None else str(cell) for cell in header)
        self._refuse_duplicates()
        self._rows = [row for row in rows[1:] if len(self.columns) == 1 or any(map(_is_known, row))]

    def _column(self, name: str) -> list[Any]:
        k = self.columns.index(name)
        return [row[k] if k < len(row) else None for row in self._rows]

    def _read(self, names: Sequence[str], text: Collection[str]) -> pa.Table:
        return pa.table(
            {name: _to_arrow(self._column(name), as_text=name in text) for name in names}
        )

    def read_verbatim(self, names: Sequence[str]) -> pa.Table:
        return pa.table({name: _to_arrow(self._column(name), as_text=True) for name in names})


def _read_sheet(path: str) -> list[tuple[Any, ...]]:
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise ValueError(
            f"{path} is an Excel file, which needs the package openpyxl; install it with "
            "pip install 'auctor[excel]', or save the sheet as CSV"
        ) from None
    try:
        book = load_workbook(path, read_only=True, data_only=True)
        try:
            # Formulas as Excel last computed them; a cell that was never computed is empty.
            rows = [tuple(row) for row in book.worksheets[0].iter_rows(values_only=True)]
        finally:
            book.close()
    except Exception as error:  # zip files and XML can be damaged in many ways
        reason = " ".join(str(error).split()) or type(error).__name__
        raise ValueError(f"{path} cannot be read as an Excel file: {reason}") from None
    while rows and not any(map(_is_known, rows[-1])):
        rows.pop()
    return rows


def _is_known(cell: Any) -> bool:
    return cell is not None and cell != ""


def _to_arrow(cells: Iterable[Any], as_text: bool) -> pa.Array:
    """A column of numbers, truth values, dates or text, whichever all of its cells are."""
    values = [None if isinstance(cell, str) and cell in _MISSING else cell for cell in cells]
    kinds = {type(value) for value in values if value is not None}
    if not as_text:
        if not kinds:
            return pa.nulls(len(values))
        if kinds <= {int, float}:
            kind = pa.int64() if kinds == {int} and _fits(values) else pa.float64()
            return pa.array(values, kind)
        if kinds == {bool}:
            return pa.array(values, pa.bool_())
        if kinds == {datetime}:
            return pa.array(values, pa.timestamp("us"))
    return pa.array([None if value is None else _text(value) for value in values], pa.string())


def _fits(values: Iterable[Any]) -> bool:
    return all(value is None or abs(value) < 2**63 for value in values)


def _text(value: Any) -> str:
    """A cell as a CSV file would have it."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, datetime) and value.time() == time():
        return value.date().isoformat()
    return value.isoformat() if isinstance(value, (date, time)) else str(value)
