"""Small pieces of HTML; every text from a table is escaped here."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from auctor.report.plain import LARGEST

_LONGEST = 60
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
# A date or time of ISO 8601 as a whole entry, or at the end of one; not a part of a file's name.
_DATE = re.compile(r"(^|; fitted on )(\d{4})-(\d\d)-(\d\d)(?:T(\d\d:\d\d)(?::[\d.]+)?Z)?$")


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(value: Any, longest: int = _LONGEST) -> Markup:
    """A value as HTML; a long text is shortened, with the whole of it as a title.

    Examples
    --------
    >>> text("<b>")
    '&lt;b&gt;'
    """
    whole = str(value)
    if len(whole) <= longest:
        return Markup(escape(whole))
    short = shortened(whole, longest)
    return Markup(f'<span title="{escape(whole)}">{escape(short)}</span>')


def shortened(whole: str, longest: int = _LONGEST) -> str:
    """The text without its middle if it is too long.

    Examples
    --------
    >>> shortened("a name that goes on", 12)
    'a name …s on'
    """
    if len(whole) <= longest:
        return whole
    n_end = longest // 3
    return f"{whole[: longest - n_end - 1]}…{whole[len(whole) - n_end :]}"


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[Any]], name: str = ""
) -> Markup:
    """A table that can be scrolled on a phone; the first cell of a row is its header."""
    top = "".join(f'<th scope="col">{text(cell)}</th>' for cell in head)
    body = "".join(_row(cells) for cells in rows)
    own = f' id="{name}"' if name else ""
    return Markup(
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(caption)}">'
        f"<table{own}><caption><span>{escape(caption)}</span></caption><thead><tr>{top}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )


def _row(cells: Sequence[Any]) -> str:
    first, *rest = (cell if isinstance(cell, Markup) else text(cell) for cell in cells)
    others = "".join(f"<td>{cell}</td>" for cell in rest)
    return f'<tr><th scope="row">{first}</th>{others}</tr>'


def paragraph(words: str, kind: str = "") -> Markup:
    """A paragraph of plain text."""
    own = f' class="{kind}"' if kind else ""
    return Markup(f"<p{own}>{escape(words)}</p>")


def number(value: float | None, digits: int = 3) -> str:
    """A number for a table; a dash for None.

    Examples
    --------
    >>> number(0.12345), number(None), number(1234567.0, 0)
    ('0.123', '–', '1,234,567')
    """
    return "–" if value is None else f"{value:,.{digits}f}"


def percent(value: float | None, digits: int = 1) -> str:
    """A fraction in percent.

    Examples
    --------
    >>> percent(0.256)
    '25.6%'
    """
    return "–" if value is None else f"{100 * value:.{digits}f}%"


def threshold(value: float | None) -> str:
    """A threshold with a few digits."""
    if value is None:
        return "none"
    if abs(value) >= LARGEST:
        return "∞" if value > 0 else "−∞"
    return f"{value:.4g}"


def interval(low: float | None, high: float | None, digits: int = 3) -> str:
    """The ends of an interval; a dash if it has none."""
    if low is None or high is None:
        return "–"
    return f"{low:.{digits}f} to {high:.{digits}f}"


def dated(words: Any) -> str:
    """An entry of the page with its date in words; the facts have it as in ISO 8601.

    Examples
    --------
    >>> dated("2026-11-18T15:49:07Z"), dated("loans.csv, 80 rows; fitted on 2026-11-18")
    ('18 November 2026, 15:49 UTC', 'loans.csv, 80 rows; fitted on 18 November 2026')
    """
    match = _DATE.search(str(words))
    if match is None or not (1 <= int(match[3]) <= 12 and 1 <= int(match[4]) <= 31):
        return str(words)
    before, year, month, day, time = match.groups()
    clock = f", {time} UTC" if time else ""
    date = f"{int(day)} {_MONTHS[int(month) - 1]} {year}{clock}"
    return f"{str(words)[: match.start()]}{before}{date}"
