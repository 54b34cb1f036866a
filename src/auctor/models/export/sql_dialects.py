"""SQL dialects: names, text, numbers and types as each database wants them.

A number must come back as the same double. In most databases 0.1 is a DECIMAL, and the arithmetic
of SQLite's own conversion is not correctly rounded, so that each dialect has its own literals.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from math import frexp, ldexp
from typing import Literal, NoReturn

from auctor.data.features import Category

_MOST_COMPARISONS = 64  # that DuckDB is given in place of an IN
_EXACT_DIGITS = 15  # a decimal of so many digits that is exact as a double is read as such anywhere
_NUMBER = "^ *[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)? *$"  # without a backslash


@dataclass(frozen=True)
class Dialect:
    """What differs between databases; the defaults are those of DuckDB."""

    name: str = "duckdb"
    double: str = "DOUBLE"
    text: str = "VARCHAR"
    nan: Literal["equal", "unequal", "none"] = "equal"  # whether NaN = NaN
    has_booleans: bool = True  # whether truth values are a type of their own, and not numbers
    same_case: bool = False  # whether names that differ only by case are the same name
    fails_on_underflow: bool = False  # whether a product that is rounded to 0 is an error
    # A bin is found among so many by one comparison after the other, among more by bisection.
    # Measured in DuckDB, whose CASE works on whole columns: 60 comparisons take two thirds of the
    # time of six nested CASEs.
    list_bins: int = 4

    def name_of(self, *parts: str) -> str:
        """A quoted name; several parts are joined by dots, as in "schema"."table"."""
        for part in parts:
            _refuse_nul(part, "name")
        return ".".join('"' + part.replace('"', '""') + '"' for part in parts)

    def text_of(self, value: str) -> str:
        """A text literal."""
        _refuse_nul(value, "text")
        return "'" + value.replace("'", "''") + "'"

    def number_of(self, value: float) -> str:
        """A literal that the database reads as exactly this double."""
        return f"{value!r}" if "e" in repr(value) else f"{value!r}e0"

    def literal(self, value: Category) -> str:
        """A label: text, a boolean or a number."""
        if isinstance(value, str):
            return self.text_of(value)
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        return str(value) if isinstance(value, int) else self.number_of(value)

    def number_column(self, column: str) -> str:
        """A column as a double; NULL stays NULL."""
        return f"CAST({column} AS {self.double})"

    def text_column(self, column: str) -> str:
        """A column as text, of which an enumeration is none."""
        return f"CAST({column} AS {self.text})"

    def is_one_of(self, column: str, values: Sequence[str]) -> str:
        """The condition that a column equals one of some literals."""
        return f"{column} IN ({', '.join(values)})"

    def without_nan(self, column: str) -> str:
        """A double with NULL in place of NaN."""
        if self.nan == "none":
            return column
        if self.nan == "equal":
            return f"NULLIF({column}, CAST('NaN' AS {self.double}))"
        return f"CASE WHEN {column} = {column} THEN {column} END"

    def sorted_at(self, values: Sequence[str], index: int) -> str:
        """The value at a position (from 0) of the values of a row in increasing order."""
        rows = ", ".join(f"({value})" for value in values)
        name = self.name_of("auctor_value")
        return (
            f"(SELECT {name} FROM (SELECT * FROM (VALUES {rows}) AS {self.name_of('auctor_list')}"
            f"({name})) AS {self.name_of('auctor_values')} ORDER BY {name} LIMIT 1 OFFSET {index})"
        )

    def stage(self, name: str, select: str) -> str:
        """A named query whose columns are computed once, even if they are used several times."""
        return f"{name} AS (\n{select}\n)"


class DuckDB(Dialect):
    def text_column(self, column: str) -> str:
        # A column whose collation ignores upper and lower case would find other categories.
        return f"{super().text_column(column)} COLLATE C"

    def is_one_of(self, column: str, values: Sequence[str]) -> str:
        # DuckDB makes a join of each IN of five or more, and boosted trees have thousands of them:
        # 343 trees over 1,000 rows then take more than 35 seconds instead of 4. Longer lists, of
        # which there are few, stay an IN: the depth of an expression is limited.
        if len(values) > _MOST_COMPARISONS:
            return super().is_one_of(column, values)
        return f"({' OR '.join(f'{column} = {value}' for value in values)})"

    def without_nan(self, column: str) -> str:
        # Neither by isnan nor by = NaN: the ranges of columns in Parquet files do not count NaN,
        # and DuckDB concludes from them that these tests never hold.
        return f"CASE WHEN {column} IS DISTINCT FROM CAST('NaN' AS DOUBLE) THEN {column} END"

    def sorted_at(self, values: Sequence[str], index: int) -> str:
        return f"list_sort([{', '.join(values)}])[{index + 1}]"


class Postgres(Dialect):
    def text_column(self, column: str) -> str:
        return f'{super().text_column(column)} COLLATE "C"'  # as in DuckDB

    def number_of(self, value: float) -> str:
        return f"float8 '{value!r}'"

    def stage(self, name: str, select: str) -> str:
        # The optimizer does not merge a query with an OFFSET into the next one, so that a column
        # that is used twice is not computed twice; and nothing is written to disk.
        return f"{name} AS (\n{select}\nOFFSET 0\n)"


class SQLite(Dialect):
    def number_of(self, value: float) -> str:
        """A short decimal, or a whole number times or divided by powers of two.

        SQLite converts decimals of more than 15 digits with an error in the last bit at times.
        """
        digits = Decimal(value).as_tuple().digits
        if len(digits) <= _EXACT_DIGITS and 1e-9 < abs(value) < 1e15:
            return repr(value)
        if value == 0:
            return "0.0"
        return _times_powers(value)

    def number_column(self, column: str) -> str:
        # Any column can hold text, and those of an imported CSV file hold nothing else. A cast
        # makes 0 of "abc", which is not equal to it; the text "12" is equal to the number.
        number = f"WHEN {column} = CAST({column} AS NUMERIC) THEN CAST({column} AS REAL)"
        return f"CASE {number} {_truth_values(column)} END"

    def text_column(self, column: str) -> str:
        return f"CASE WHEN typeof({column}) <> 'blob' THEN CAST({column} AS TEXT) END"

    def sorted_at(self, values: Sequence[str], index: int) -> str:
        rows = ", ".join(f"({value})" for value in values)
        return f"(SELECT column1 FROM (VALUES {rows}) ORDER BY column1 LIMIT 1 OFFSET {index})"

    def stage(self, name: str, select: str) -> str:
        # Otherwise the columns of a query are copied into the next one, each as often as it is
        # used there.
        return f"{name} AS MATERIALIZED (\n{select}\n)"


class Translated(Dialect):
    """A dialect that sqlglot writes from the text of this one."""

    def number_of(self, value: float) -> str:
        return f"CAST('{value!r}' AS DOUBLE)"

    def sorted_at(self, values: Sequence[str], index: int) -> str:
        _refuse_median(self.name)


class MySQL(Dialect):
    """MariaDB and MySQL, run in MariaDB.

    Text is written as the bytes of UTF-8: what a backslash means depends on a setting of the
    server, and all collations for text ignore spaces at the end or the case of letters.
    """

    def name_of(self, *parts: str) -> str:
        for part in parts:
            _refuse_nul(part, "name")
        return ".".join("`" + part.replace("`", "``") + "`" for part in parts)

    def text_of(self, value: str) -> str:
        return f"X'{value.encode().hex()}'"

    def literal(self, value: Category) -> str:
        if isinstance(value, str):
            return f"CONVERT({self.text_of(value)} USING utf8mb4)"
        return super().literal(value)

    def number_column(self, column: str) -> str:
        # A cast makes 0 of "abc", and 5 of "5x".
        text = f"CONVERT({column} USING utf8mb4)"
        number = f"WHEN {text} REGEXP '{_NUMBER}' THEN CAST({column} AS DOUBLE)"
        return f"CASE {number} {_truth_values(text)} END"

    def text_column(self, column: str) -> str:
        return f"CAST(CONVERT({column} USING utf8mb4) AS BINARY)"

    def sorted_at(self, values: Sequence[str], index: int) -> str:
        _refuse_median(self.name)

    def stage(self, name: str, select: str) -> str:
        # A query with a LIMIT is not merged into the next one, as in PostgreSQL.
        return f"{name} AS (\n{select}\nLIMIT {2**63 - 1}\n)"


NATIVE: dict[str, Dialect] = {
    "duckdb": DuckDB(same_case=True, list_bins=64),
    "sqlite": SQLite("sqlite", "REAL", "TEXT", nan="none", has_booleans=False, same_case=True),
    "postgres": Postgres("postgres", "double precision", "text", fails_on_underflow=True),
    "mysql": MySQL("mysql", nan="none", has_booleans=False, same_case=True),
}
# Databases whose text is compared letter by letter, and of whose NaN it is known what it equals.
TRANSLATED: dict[str, Dialect] = {
    "bigquery": Translated("bigquery", nan="unequal", same_case=True),
    "databricks": Translated("databricks", same_case=True),
    "redshift": Translated("redshift", same_case=True, fails_on_underflow=True),
    "snowflake": Translated("snowflake"),
    "spark": Translated("spark", same_case=True),
    "trino": Translated("trino", nan="unequal", same_case=True),
}
DIALECTS = {**NATIVE, **TRANSLATED}


def _truth_values(text: str) -> str:
    """Truth values that are stored as text, as in an imported CSV file, for a CASE."""
    return f"WHEN LOWER({text}) = 'true' THEN 1.0 WHEN LOWER({text}) = 'false' THEN 0.0"


def _refuse_median(dialect: str) -> NoReturn:
    raise ValueError(
        "this forest takes the median over its trees, which is not written for "
        f"{dialect}; give a dialect of duckdb, sqlite, postgres"
    )


def _refuse_nul(value: str, what: str) -> None:
    if "\0" in value:
        raise ValueError(
            f"the {what} {value!r} holds a NUL character, which SQL cannot write; replace it"
        )


def _times_powers(value: float) -> str:
    """A double as a whole number below 2^53 times or divided by powers of two, all exact.

    Examples
    --------
    >>> _times_powers(0.1)
    '(3602879701896397.0 / 36028797018963968.0)'
    """
    fraction, exponent = frexp(value)
    whole, exponent = int(ldexp(fraction, 53)), exponent - 53
    while whole % 2 == 0:
        whole, exponent = whole // 2, exponent + 1
    sign = " * " if exponent > 0 else " / "
    powers = [55] * (abs(exponent) // 55) + [abs(exponent) % 55]
    return "(" + sign.join([f"{whole}.0", *(f"{2**power}.0" for power in powers if power)]) + ")"
