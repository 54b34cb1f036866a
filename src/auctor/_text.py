"""Counts, lists and intervals as text, for results, warnings and errors."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import PurePath

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def count(number: int, noun: str) -> str:
    """A number with its noun, which is in the plural unless the number is 1.

    Examples
    --------
    >>> count(1, "positive"), count(3012, "negative")
    ('1 positive', '3012 negatives')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def without_controls(text: str) -> str:
    """The text with a sign in place of each control character, except tabs and ends of lines.

    Examples
    --------
    >>> without_controls("a\\x1b[31mb")
    'a�[31mb'
    """
    return _CONTROL.sub("\ufffd", text)


def one_line(text: str) -> str:
    """The text on one line, with single spaces and without control characters.

    Examples
    --------
    >>> one_line("two\\n lines")
    'two lines'
    """
    return without_controls(" ".join(text.split()))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """The rows of a table as lines of text with aligned columns.

    Examples
    --------
    >>> aligned([["name", "rows"], ["a", "12"]])
    ['name  rows', 'a     12']
    """
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def file_name(path: str) -> str:
    """The name of a file without its folder, as models and pages show it: folders may be private.

    Examples
    --------
    >>> file_name("/home/ann/bank x/loans.csv"), file_name("-")
    ('loans.csv', '-')
    """
    return PurePath(path).name or path


def rows_words(table: str | None, n_rows: int, n_pos: int) -> str:
    """The rows of a table in a few words.

    Examples
    --------
    >>> rows_words("loans.csv", 1500, 389), rows_words(None, 2, 1)
    ('loans.csv: 1,500 rows, 389 positive', '2 rows, 1 positive')
    """
    of = f"{table}: " if table else ""
    return f"{of}{n_rows:,} {'row' if n_rows == 1 else 'rows'}, {n_pos:,} positive"


def interval(low: float, high: float, level: float) -> str:
    """A confidence interval in words.

    Examples
    --------
    >>> interval(0.811, 0.873, 0.95)
    '95% CI 0.811 to 0.873'
    """
    return f"{100 * level:g}% CI {signless(low)} to {signless(high)}"


def signed(number: float, digits: int = 3) -> str:
    """A difference with its sign; without one if it rounds to zero.

    Examples
    --------
    >>> signed(0.0121), signed(-0.02), signed(-0.0002)
    ('+0.012', '-0.020', '0.000')
    """
    text = signless(number, digits)
    return f"+{text}" if number > 0 and float(text) != 0 else text


def signless(number: float, digits: int = 3) -> str:
    """A number with a few digits; without a sign if it rounds to zero.

    Examples
    --------
    >>> signless(-0.0002), signless(-0.02)
    ('0.000', '-0.020')
    """
    text = f"{number:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text


def p_words(p_value: float) -> str:
    """A p-value for people, who do not need the digits of very small ones.

    Examples
    --------
    >>> p_words(0.0312), p_words(1e-30)
    ('0.031', '<0.0001')
    """
    return "<0.0001" if p_value < 1e-4 else f"{p_value:.2g}"


def p_equation(p_value: float) -> str:
    """A p-value in a sentence.

    Examples
    --------
    >>> p_equation(0.0312), p_equation(0.0)
    ('p = 0.031', 'p < 0.0001')
    """
    words = p_words(p_value)
    return f"p < {words[1:]}" if words.startswith("<") else f"p = {words}"


def first_few(names: Iterable[object], most: int = 5, quote: bool = True) -> str:
    """The first ``most`` names of a list, quoted, and dots if there are more.

    Examples
    --------
    >>> first_few(["age", "start"]), first_few(range(9), most=3)
    ("'age', 'start'", '0, 1, 2, ...')
    """
    shown = [repr(name) if quote else str(name) for name in islice(names, most + 1)]
    return ", ".join(shown[:most]) + (", ..." if len(shown) > most else "")


def prediction_rule(classes: Sequence[object], threshold: float) -> str:
    """The rule by which a model predicts a class from a score, as a sentence.

    Examples
    --------
    >>> prediction_rule(["no", "yes"], 0.25)
    "'yes' is predicted where score >= 0.25, 'no' elsewhere"
    """
    return f"{classes[1]!r} is predicted where score >= {threshold:g}, {classes[0]!r} elsewhere"
