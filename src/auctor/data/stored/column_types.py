"""The kind of each column of a table that comes in several files or batches."""

from collections.abc import Iterable
from typing import NamedTuple

import narwhals.stable.v2 as nw
import pyarrow as pa

from auctor._text import first_few
from auctor.data.columns import read_column

NUMBER, TEXT, CATEGORY = "numbers", "text", "a categorical type with numbers"


class Part(NamedTuple):
    """The columns of one file or batch, and its name in messages."""

    name: str
    schema: pa.Schema


# Parquet files do not keep a categorical type of numbers. In copies of tables it is noted here.
_NOTE = {b"auctor": b"category"}


def without_dictionaries(table: pa.Table) -> pa.Table:
    """The table with plain values in its columns of a categorical type, which are marked."""
    for j, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            plain = field.with_type(field.type.value_type).with_metadata(_NOTE)
            table = table.set_column(j, plain, table.column(j).cast(plain.type))
    return table


def column_kind(field: pa.Field) -> str | None:
    """Numbers, text or categories; None for a column in which every value is missing.

    A type that no learner can use is refused with the error of a table in memory.
    """
    if pa.types.is_null(field.type):
        return None
    empty = pa.chunked_array([], type=field.type)
    column = read_column(nw.from_native(empty, series_only=True), field.name)
    if isinstance(column, pa.DictionaryArray):
        return TEXT
    is_marked = (field.metadata or {}).get(b"auctor") == _NOTE[b"auctor"]
    return CATEGORY if is_marked else NUMBER


def common_kinds(parts: Iterable[Part], names: tuple[str, ...]) -> dict[str, str]:
    """The kind of each of the named columns, which every part must have and agree on.

    Whole numbers and floats agree, and so do text and categories of text.
    """
    kinds: dict[str, tuple[str, str]] = {}  # kind, and the part that has it
    for part in parts:
        check_same_columns(part, names)
        for name in names:
            kind = column_kind(part.schema.field(name))
            if kind is None:
                continue
            known, first = kinds.setdefault(name, (kind, part.name))
            if kind != known:
                raise ValueError(
                    f"column {name!r} holds {known} in {first} and {kind} in {part.name}; give it "
                    "one type"
                )
    return {name: kinds[name][0] if name in kinds else NUMBER for name in names}


def check_same_columns(part: Part, names: tuple[str, ...]) -> None:
    """Raise an error if a part lacks a column, or has one twice."""
    missing = [name for name in names if name not in part.schema.names]
    if missing:
        raise ValueError(
            f"{part.name} lacks the column {first_few(missing)}; give all parts the same columns"
        )
    twice = [name for name in names if part.schema.names.count(name) > 1]
    if twice:
        raise ValueError(f"{part.name} has several columns {first_few(twice)}; rename them")
