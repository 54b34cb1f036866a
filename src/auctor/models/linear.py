"""LinearModel: a weight for each number, a term for each category."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data import Category, SparseTable, Table
from auctor.data.binning import code_categories
from auctor.data.features import category_feature
from auctor.models.base import Shared
from auctor.models.features import refuse_other_kind
from auctor.models.fields import Fields
from auctor.models.file import register
from auctor.models.reference import Reference, check_reference, read_reference, weighted_mean
from auctor.models.terms import TermModel

# No term of a score is larger, in files too: the range above is left for adding up.
_LARGEST = 1e300


# Scores are rounded to whole multiples of this: sums that are equal in theory differ in their last
# bits by the order of their terms, and rows that tie must tie in fact.
SCORE_GRID = 2.0**-36


def round_scores(scores: Floats) -> Floats:
    """The nearest multiples of ``SCORE_GRID``; scores too large for it are kept."""
    is_small = np.abs(scores) < 2.0**15
    rounded: Floats = np.rint(np.where(is_small, scores, 0.0) / SCORE_GRID) * SCORE_GRID
    return np.where(is_small, rounded, scores)


@dataclass(frozen=True, eq=False)
class LinearTerm:
    """What one column adds to the score.

    A number adds ``weight`` times itself. A category adds the entry of ``terms`` that belongs
    to it. What is missing, or a category never seen, adds ``missing``.
    """

    name: str
    weight: float
    missing: float
    categories: tuple[Category, ...] | None = None  # None for a number
    terms: tuple[float, ...] = ()

    @property
    def is_category(self) -> bool:
        return self.categories is not None

    @property
    def size(self) -> float:
        """How far the score can move: 0 where the column is not used."""
        if not self.is_category:
            return abs(self.weight) or abs(self.missing)
        return float(np.ptp([*self.terms, self.missing]))


@register
@dataclass(frozen=True, eq=False)
class LinearModel(TermModel):
    """score(x) = intercept + the sum of what each column adds.

    ``reference`` has what each column adds on average over the training rows.
    """

    columns: tuple[LinearTerm, ...]
    intercept: float
    reference: Reference | None = None

    form: ClassVar[str] = "linear"

    def __post_init__(self) -> None:
        check_reference(self.reference, len(self.columns))

    @property
    def feature_names(self) -> tuple[str, ...]:
        return tuple(term.name for term in self.columns)

    @property
    def _columns(self) -> tuple[LinearTerm, ...]:
        return self.columns

    @property
    def used(self) -> list[int]:
        """Columns that change the score, the largest weight first."""
        sizes = [term.size for term in self.columns]
        return sorted((j for j, size in enumerate(sizes) if size > 0), key=lambda j: -sizes[j])

    @property
    def term_names(self) -> tuple[str, ...]:
        """The columns: each is a term of the sum."""
        return self.feature_names

    def _term_features(self) -> list[tuple[int, ...]]:
        return [(j,) for j in range(len(self.columns))]

    def _term(self, k: int, table: Table, columns: Ints) -> Floats:
        term, column = self.columns[k], int(columns[k])
        if term.is_category:
            return _category(term, table, column)
        return _number(term, table.numbers(column))

    def _constant(self, k: int) -> float | None:
        return self.columns[k].missing if self.columns[k].size == 0 else None

    def _average(self, k: int, table: Table, columns: Ints, share: Floats) -> float:
        term = self.columns[k]
        if isinstance(table, SparseTable) and not term.is_category and term.size > 0:
            rows, values = table.entries(int(columns[k]))
            return weighted_mean(_number(term, values), share[rows])
        return super()._average(k, table, columns, share)

    def _contributions(self, table: Table, columns: Ints) -> Floats:
        """Rounded as the score is; what rounding leaves, some 1e-11, goes to the largest."""
        parts = round_scores(super()._contributions(table, columns))
        left = self._score(table, columns) - self.intercept - parts.sum(axis=1)
        parts[np.arange(len(parts)), np.abs(parts).argmax(axis=1)] += left
        return parts

    def _on_grid(self, averages: Floats) -> Floats:
        return round_scores(averages)

    def _score(self, table: Table, columns: Ints) -> Floats:
        out = np.zeros(table.n_rows)
        if isinstance(table, SparseTable):
            table.refuse_infinities()
        for term, column in zip(self.columns, columns.tolist(), strict=True):
            if isinstance(table, SparseTable) and not term.is_category:
                if term.weight or term.missing:
                    rows, values = table.entries(column)
                    out[rows] += _number(term, values)
            elif term.is_category:
                out += _category(term, table, column)
            else:
                out += _number(term, table.numbers(column))
        # Last, as in training: rounding must not move a score across Youden's point.
        return round_scores(out) + self.intercept

    def body(self) -> dict[str, Any]:
        return {
            "intercept": float(self.intercept),
            "columns": [_to_body(term) for term in self.columns],
            **({"reference": self.reference.body()} if self.reference is not None else {}),
        }

    @classmethod
    def from_body(cls, fields: Fields, shared: Shared) -> "LinearModel":
        intercept = fields.number("intercept")
        columns = tuple(_from_body(child) for child in fields.children("columns"))
        names = [term.name for term in columns]
        if not names or len(set(names)) < len(names):
            raise fields.fail("columns", "one or more columns of different names")
        return cls(*shared, columns, intercept, read_reference(fields, len(columns)))

    def __str__(self) -> str:
        lines = [
            f"LinearModel: score = {self.intercept:+.4g} + terms of {len(self.used)} columns "
            f"(of {len(self.columns)})",
            f"{self.classes[1]!r} is predicted where score > {self.threshold:g}, "
            f"{self.classes[0]!r} elsewhere",
        ]
        shown = self.used[:20]
        lines += [_describe(self.columns[j]) for j in shown]
        if len(self.used) > len(shown):
            lines.append(f"  ... and {len(self.used) - len(shown)} more columns")
        return "\n".join(lines)


def _number(term: LinearTerm, values: Floats) -> Floats:
    with np.errstate(over="ignore"):
        # A sum of infinities would be no number.
        parts = np.clip(term.weight * values, -_LARGEST, _LARGEST)
    is_missing = np.isnan(values)
    return np.where(is_missing, term.missing, parts) if is_missing.any() else parts


def _category(term: LinearTerm, table: Table, column: int) -> Floats:
    assert term.categories is not None
    feature = category_feature(term.name, term.categories)
    values = table.categories(column)
    refuse_other_kind(feature, values)
    return np.array([term.missing, *term.terms])[code_categories(feature, values)]


def _to_body(term: LinearTerm) -> dict[str, Any]:
    if term.categories is None:
        return {
            "name": term.name,
            "kind": "number",
            "weight": float(term.weight),
            "missing": float(term.missing),
        }
    return {
        "name": term.name,
        "kind": "category",
        "categories": list(term.categories),
        "terms": [float(value) for value in term.terms],
        "missing": float(term.missing),
    }


def _from_body(fields: Fields) -> LinearTerm:
    name = fields.text("name")
    if fields.choice("kind", ("number", "category")) == "number":
        term = LinearTerm(name, fields.number("weight"), fields.number("missing"))
    else:
        categories = fields.scalars("categories")
        terms = tuple(fields.terms("terms").tolist())
        if len(terms) != len(categories):
            raise fields.fail("terms", f"a list of {len(categories)} numbers, one per category")
        term = LinearTerm(name, 0.0, fields.number("missing"), categories, terms)
    fields.end()
    return term


def _describe(term: LinearTerm, most: int = 6) -> str:
    if term.categories is None:
        return f"  {term.weight:+.4g} * {term.name}; missing: {term.missing:+.4g}"
    order = np.argsort(-np.array(term.terms), kind="stable")
    parts = [f"{term.categories[i]}: {term.terms[i]:+.4g}" for i in order[:most]]
    more = f", ... {len(order) - most} more" if len(order) > most else ""
    return f"  {term.name}: {', '.join(parts)}{more}; missing: {term.missing:+.4g}"
