"""LinearModel: a weight for each numeric column, a term for each category of the others."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from auctor._text import count, prediction_rule
from auctor._typing import Floats, Ints
from auctor.data import Category, SparseTable, Table
from auctor.data.binning import code_categories
from auctor.data.features import category_feature
from auctor.models.export.plan import (
    LARGEST_TERM,
    Bins,
    Constant,
    Rounded,
    Slope,
    Steps,
    Sum,
    Term,
)
from auctor.models.features import refuse_other_kind
from auctor.models.fields import Fields
from auctor.models.file import register
from auctor.models.reference import Reference, check_reference, read_reference, weighted_mean
from auctor.models.serialization import Shared
from auctor.models.terms import TermModel

# Scores are rounded to whole multiples of this. Sums that are equal in theory can differ in their
# last bits, depending on the order of their terms; after rounding they are tied.
SCORE_GRID = 2.0**-36
_GRID_BOUND = 2.0**15  # only scores below it are rounded


def round_scores(scores: Floats) -> Floats:
    """Scores rounded to multiples of ``SCORE_GRID``; those above 2^15 in size are unchanged."""
    is_small = np.abs(scores) < _GRID_BOUND
    rounded: Floats = np.rint(np.where(is_small, scores, 0.0) / SCORE_GRID) * SCORE_GRID
    return np.where(is_small, rounded, scores)


@dataclass(frozen=True, eq=False)
class LinearTerm:
    """What one column adds to the score.

    A number adds ``weight`` times its value, a category its entry in ``terms``. A missing value,
    or a category that did not occur in training, adds ``missing``.

    Examples
    --------
    >>> from auctor import MarginRanker
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> term = MarginRanker(epsilon=0.4).fit(X, y).model_.columns[0]
    >>> term.name, term.is_category, round(term.weight, 4)
    ('x0', False, 0.0023)
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
        """How much the column can change the score; 0 if it is not used."""
        if not self.is_category:
            return abs(self.weight) or abs(self.missing)
        return float(np.ptp([*self.terms, self.missing]))


@register
@dataclass(frozen=True, eq=False)
class LinearModel(TermModel):
    """A linear scoring function: score(x) = intercept + one term for each column.

    Attributes
    ----------
    columns : tuple of LinearTerm
        What each column adds to the score.
    intercept : float
    reference : Reference or None
        What each column adds on average over the training rows.

    Examples
    --------
    >>> from auctor import MarginRanker
    >>> from auctor.datasets import load_kyphosis
    >>> X, y = load_kyphosis()
    >>> model = MarginRanker(epsilon=0.4).fit(X, y).model_
    >>> print(model)
    LinearModel: score = +0.01728 + terms of 3 of 3 columns
    1 is predicted where score >= 0, 0 elsewhere
      +0.09089 * x1; missing: +0.368
      -0.04706 * x2; missing: -0.5409
      +0.002307 * x0; missing: +0.193
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
        """Indices of the columns that change the score, the largest weight first."""
        sizes = [term.size for term in self.columns]
        return sorted((j for j, size in enumerate(sizes) if size > 0), key=lambda j: -sizes[j])

    @property
    def term_names(self) -> tuple[str, ...]:
        """Names of the terms of the sum, which are the columns."""
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

    def _average(self, k: int, table: Table, columns: Ints, row_fraction: Floats) -> float:
        term = self.columns[k]
        if isinstance(table, SparseTable) and not term.is_category and term.size > 0:
            rows, values = table.entries(int(columns[k]))
            return weighted_mean(_number(term, values), row_fraction[rows])
        return super()._average(k, table, columns, row_fraction)

    def _contributions(self, table: Table, columns: Ints) -> Floats:
        """Terms rounded as the score is; the rounding error, about 1e-11, is put on the largest."""
        parts = round_scores(super()._contributions(table, columns))
        error = self._score(table, columns) - self.intercept - parts.sum(axis=1)
        parts[np.arange(len(parts)), np.abs(parts).argmax(axis=1)] += error
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
        # The intercept is added last, as in training: rounding must not move a score across the
        # threshold.
        return round_scores(out) + self.intercept

    def _plan_terms(self) -> tuple[Term, ...]:
        return tuple(_plan_term(term, j) for j, term in enumerate(self.columns))

    def _plan_adds(self, term: Term) -> Term:
        return Rounded(term, SCORE_GRID, _GRID_BOUND)

    def _plan_score(self) -> Term:
        sum_ = Rounded(Sum((Constant(0.0), *self._plan_terms())), SCORE_GRID, _GRID_BOUND)
        return Sum((sum_, Constant(float(self.intercept))))

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
            raise fields.fail("columns", "a list of one or more columns with different names")
        return cls(*shared, columns, intercept, read_reference(fields, len(columns)))

    def __str__(self) -> str:
        lines = [
            f"LinearModel: score = {self.intercept:+.4g} + terms of "
            f"{len(self.used)} of {count(len(self.columns), 'column')}",
            prediction_rule(self.classes, self.threshold),
        ]
        shown = self.used[:20]
        lines += [_describe(self.columns[j]) for j in shown]
        if len(self.used) > len(shown):
            lines.append(f"  ... and {len(self.used) - len(shown)} more columns")
        return "\n".join(lines)


def _number(term: LinearTerm, values: Floats) -> Floats:
    with np.errstate(over="ignore"):
        # Without infinities no sum of terms is NaN.
        parts = np.clip(term.weight * values, -LARGEST_TERM, LARGEST_TERM)
    is_missing = np.isnan(values)
    return np.where(is_missing, term.missing, parts) if is_missing.any() else parts


def _category(term: LinearTerm, table: Table, column: int) -> Floats:
    assert term.categories is not None
    feature = category_feature(term.name, term.categories)
    values = table.categories(column)
    refuse_other_kind(feature, values)
    return np.array([term.missing, *term.terms])[code_categories(feature, values)]


def _plan_term(term: LinearTerm, j: int) -> Term:
    if term.categories is None:
        return Slope(j, float(term.weight), float(term.missing))
    return Steps(
        Bins(j, categories=term.categories), (float(term.missing), *map(float, term.terms))
    )


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
            n = len(categories)
            raise fields.fail("terms", f"a list of {n} numbers, one for each category")
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
