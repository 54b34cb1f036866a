"""A scorecard as a table with a row for each bin, and as CSV text."""

import csv
import io
import math
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

from auctor._spreadsheet import spreadsheet_safe as made_safe
from auctor.models.scorecard.axis import Axis
from auctor.models.scorecard.labels import (
    MISSING,
    OTHER,
    category_text,
    interval_ends,
    interval_texts,
)
from auctor.models.scorecard.points import CardTerm, PointsPerUnit, PointsTable

if TYPE_CHECKING:
    from auctor.models.scorecard.card import Scorecard

_COLUMNS = ("term", "kind", "feature", "bin", "lower", "upper", "closed")
_SECOND = ("feature_2", "bin_2", "lower_2", "upper_2", "closed_2")
_NUMBERS = ("points", "fraction", "positive_rate")


def table_columns(card: "Scorecard") -> dict[str, list[Any]]:
    """Name of a column -> its values, with None where a row has none.

    The columns of a second feature are there if the card has a pair of features, ``fraction`` and
    ``positive_rate`` if it was made with rows and labels.
    """
    rows = [
        {"term": "base points", "kind": "base", "points": _points(card, card.base_points)},
        *(row for term in card.terms for row in _term_rows(card, term)),
    ]
    columns = (*_COLUMNS, *_SECOND, *_NUMBERS)
    used = {name for row in rows for name, value in row.items() if value is not None}
    kept = (name for name in columns if name in used or name in (*_COLUMNS, "points"))
    return {name: [row.get(name) for row in rows] for name in kept}


def csv_text(card: "Scorecard", spreadsheet_safe: bool) -> str:
    """The table as CSV."""
    columns = table_columns(card)
    if spreadsheet_safe:
        columns = made_safe(columns)
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return file.getvalue()


def _points(card: "Scorecard", points: float) -> int | float:
    """Whole points as int, others as float."""
    return int(points) if card.digits == 0 and abs(points) < 2**53 else points


def _term_rows(card: "Scorecard", term: CardTerm) -> Iterator[dict[str, Any]]:
    if isinstance(term, PointsPerUnit):
        start = {"term": term.name, "feature": term.feature}
        yield {**start, "kind": "per unit", "bin": "each unit", "points": term.per_unit}
        missing = _points(card, term.missing)
        yield {**start, "kind": "missing", "bin": MISSING, "points": missing}
        return
    for cells in product(*map(_axis_rows, term.axes)):
        index = tuple(int(cell["index"]) for cell in cells)
        row: dict[str, Any] = {
            "term": term.name,
            "kind": " x ".join(cell["kind"] for cell in cells),
        }
        row |= {name: cells[0][name] for name in _COLUMNS[2:]}
        if len(cells) == 2:
            row |= {second: cells[1][second.removesuffix("_2")] for second in _SECOND}
        row["points"] = _points(card, float(term.points[index]))
        yield row | _fractions(term, index, cells)


def _fractions(
    term: PointsTable, index: tuple[int, ...], cells: tuple[dict[str, Any], ...]
) -> dict[str, float]:
    """Fraction and rate of a bin; not the fraction of a category that is not alone in its bin."""
    out = {}
    for name, values in (("fraction", term.fraction), ("positive_rate", term.rate)):
        is_alone = all(cell["is_alone"] for cell in cells) or name == "positive_rate"
        if values is not None and is_alone and not math.isnan(values[index]):
            out[name] = float(values[index])
    return out


def _axis_rows(axis: Axis) -> list[dict[str, Any]]:
    """The bins of an axis, missing values last, each category on its own."""
    empty: dict[str, Any] = {
        "feature": axis.name,
        "lower": None,
        "upper": None,
        "closed": None,
        "is_alone": True,
    }
    if axis.feature.is_category:
        pairs = zip(axis.feature.categories, axis.groups, strict=True)
        rows = [
            {
                **empty,
                "kind": "category",
                "bin": category_text(category),
                "index": group,
                "is_alone": len(axis.members(group)) == 1,
            }
            for category, group in pairs
        ]
        return [*rows, {**empty, "kind": "missing", "bin": OTHER, "index": 0}]
    numbers, closed = interval_ends(axis.feature.cuts)
    ends = zip([None, *numbers], [*numbers, None], interval_texts(axis.feature.cuts), strict=True)
    intervals: list[dict[str, Any]] = [
        {"bin": text, "lower": lower, "upper": upper, "closed": closed, "index": k}
        for k, (lower, upper, text) in enumerate(ends, start=1)
    ]
    rows = [{**empty, "kind": "interval", **row} for row in intervals]
    return [*rows, {**empty, "kind": "missing", "bin": MISSING, "index": 0}]
