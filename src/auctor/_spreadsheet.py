"""Text that a spreadsheet must not run as a formula."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

# The first characters of a formula; the last four are the full-width forms of East Asian keyboards.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def spreadsheet_safe(columns: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """Columns in which no text can run as a formula: an apostrophe is put before such texts.

    Spreadsheets run cells that begin with one of = + - @, a tab or a carriage return. Numbers
    do not change, nor do texts that are numbers.

    Examples
    --------
    >>> spreadsheet_safe({"a": ["=1+1", "-5.2", "plain", -3]})
    {'a': ["'=1+1", '-5.2', 'plain', -3]}
    """
    return {
        str(_safe(name)): [_safe(value) for value in values] for name, values in columns.items()
    }


def _safe(value: Any) -> Any:
    if not isinstance(value, str) or not value.startswith(_FORMULA) or _NUMBER.fullmatch(value):
        return value
    return f"'{value}"
