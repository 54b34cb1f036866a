"""Warnings about columns that may spoil a model: ids, dates, leaks, numbers read as text.

Such columns are reported and not dropped, since only the user knows what they mean.
"""

import re
import shlex
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from auctor._typing import Bools, Floats, Indices
from auctor.cli.labels import OddCells, common_unit, has_comma, odd_cells
from auctor.cli.missing import sentinel_warning, zero_warning
from auctor.cli.problem import Problem
from auctor.data import Table, read_table
from auctor.estimators.folds import find_copied_rows
from auctor.metrics import auc
from auctor.models.explanation import shorten

_LEAK = 0.995
_ID_NAME = re.compile(r"(^|[_\s.-])(id|key|nr|no|number|index|uuid|guid)$|^(id|uuid|guid|index)\b")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_MOST_ROWS = 100_000  # rows to examine: enough to detect a leak
_MANY = 50  # more categories than this, and than a tenth of the rows, are hardly ever useful
_FEWEST = 20  # with fewer rows, all values may differ by chance


def table_warnings(problem: Problem, chosen: str | None, n_folds: int) -> list[str]:
    """All warnings about a table, for the user to read before the fit."""
    return [
        *label_warning(problem, chosen),
        *suspicious_columns(problem),
        *copies_warning(problem, n_folds),
    ]


def suspicious_columns(problem: Problem) -> list[str]:
    """A sentence for each column that looks like an id, a date or a leak."""
    rows = _some_rows(problem)
    table, whole = read_table(problem.X.take(pa.array(rows))), read_table(problem.X)
    positive = problem.positive[rows]
    sentences = []
    for j, name in enumerate(table.names):
        # A single odd cell can be anywhere, so that all rows are searched for it.
        odd = odd_cells(whole.categories(j), problem.line_of) if whole.is_text(j) else None
        sentence = _odd(name, odd) if odd else _suspect(table, j, name, positive)
        if sentence is not None:
            sentences.append(sentence)
    return sentences


def label_warning(problem: Problem, chosen: str | None) -> list[str]:
    """A warning which of two text labels counts as positive, unless ``--positive`` was given."""
    negative, positive = problem.labels
    if chosen is not None or not isinstance(positive, str):
        return []
    return [
        f"{positive!r} is taken as the positive label, as the later one in alphabetical order; "
        f"if {negative!r} is the positive label, add --positive {shlex.quote(str(negative))}"
    ]


def copies_warning(problem: Problem, n_folds: int) -> list[str]:
    """A warning if most rows of a class are copies of other rows, and what is done about it."""
    if n_folds == 0 or problem.groups is not None:
        return []
    copied = find_copied_rows(problem.X, problem.positive, problem.weight)
    groups = None if copied is None else copied.groups(n_folds)
    if copied is None or groups is None:
        return []
    n_distinct = len(np.unique(groups[copied.present]))
    return [
        f"the {len(copied.present)} rows contain only {n_distinct} distinct rows; copies of a row "
        "stay in the same fold, and count once in the confidence intervals"
    ]


def _some_rows(problem: Problem) -> Indices:
    """All rows, or evenly spaced ones if there are very many."""
    n = problem.X.num_rows
    return np.arange(n) if n <= _MOST_ROWS else np.linspace(0, n - 1, _MOST_ROWS).astype(np.intp)


def _suspect(table: Table, j: int, name: str, positive: Bools) -> str | None:
    if table.is_text(j):
        return _suspect_text(table, j, name, positive)
    values = table.numbers(j)
    area = _number_auc(values, positive)
    if area > _LEAK:
        return _leak(name, area)
    known = values[~np.isnan(values)]
    is_whole = len(known) >= _FEWEST and bool((known == np.floor(known)).all())
    if is_whole and len(np.unique(known)) == len(known) and _looks_like_an_id(name, known):
        return _identity(name)
    code = sentinel_warning(name, values, positive, table.n_columns)
    return zero_warning(name, values) if code is None else code


def _suspect_text(table: Table, j: int, name: str, positive: Bools) -> str | None:
    values, codes = table.categories(j)
    n_known = int(np.count_nonzero(codes >= 0))
    if _fraction(has_comma, values) > 0.5:
        return _commas(name, shorten(str(values[0])))
    unit = common_unit(values[:100]) if len(values) >= _FEWEST else None
    if unit is not None:
        return _with_unit(name, unit, str(values[0]))
    if n_known >= _FEWEST and len(values) > 0.9 * n_known:
        is_date = _fraction(_DATE.match, values) > 0.9
        return _date(name) if is_date else _identity(name, len(values) < n_known)
    if _fraction(_DATE.match, values) == 1:
        return _date(name)
    if len(values) > max(_MANY, n_known / 10):
        return _many(name, len(values))
    area = _category_auc(codes, len(values), positive)
    return _leak(name, area) if area > _LEAK and len(values) < n_known / 5 else None


def _fraction(matches: Callable[[str], object], values: list[Any]) -> float:
    """The fraction of the first values that match."""
    some = [str(value) for value in values[:100]]
    return sum(bool(matches(text)) for text in some) / max(len(some), 1)


def _looks_like_an_id(name: str, known: Floats) -> bool:
    """Whether the column has the name of an id, or numbers the rows."""
    steps = np.diff(known)
    numbers_rows = len(steps) > 0 and bool((steps == 1).all() or (steps == -1).all())
    return numbers_rows or _ID_NAME.search(name.lower()) is not None


def _number_auc(values: Floats, positive: Bools) -> float:
    """The AUC of one column alone, in the better direction; missing values rank lowest."""
    if not np.isfinite(values).any():
        return 0.5
    area = (
        auc(positive, np.where(np.isnan(values), -np.inf, values)) if _has_both(positive) else 0.5
    )
    return max(area, 1 - area)


def _category_auc(codes: Any, n_values: int, positive: Bools) -> float:
    """The AUC of the fraction of positives in each category; missing is a category too."""
    if not _has_both(positive) or n_values == 0:
        return 0.5
    shifted = codes + 1  # the code of a missing value is -1
    fraction = np.bincount(shifted, positive, n_values + 1) / np.maximum(
        np.bincount(shifted, minlength=n_values + 1), 1
    )
    return auc(positive, fraction[shifted])


def _has_both(positive: Bools) -> bool:
    return 0 < int(np.count_nonzero(positive)) < len(positive)


def _leak(name: str, area: float) -> str:
    return (
        f"column {name!r} alone has an AUC of {area:.3f}; if its value is known only after the "
        "outcome, leave it out with --drop"
    )


def _identity(name: str, nearly: bool = False) -> str:
    differ = f"({'nearly ' if nearly else ''}all values differ)"
    return f"column {name!r} looks like an id {differ}; leave it out with --drop"


def _many(name: str, n_values: int) -> str:
    return (
        f"column {name!r} has {n_values} different texts; if they identify a customer or the like, "
        "use it as --group; if they carry no information, leave it out with --drop"
    )


def _odd(name: str, odd: OddCells) -> str:
    advice = "leave cells with missing values empty, and correct the others"
    if len(odd.values) == 1 and "," not in odd.values[0]:
        option = shlex.quote(f"{name}={odd.values[0]}")
        advice = f"if they are missing values, add --missing {option}; otherwise correct them"
    return f"column {name!r} is read as text because of {odd.words}; {advice}"


def _commas(name: str, example: str) -> str:
    return (
        f"column {name!r} has numbers with decimal commas or thousands separators (such as "
        f"{example!r}), which are read as text; save them with a decimal point and without "
        "thousands separators"
    )


def _with_unit(name: str, unit: str, example: str) -> str:
    return (
        f"column {name!r} has numbers with {unit!r} beside them (such as {example!r}), which are "
        f"read as text; save them without {unit!r}"
    )


def _date(name: str) -> str:
    return (
        f"column {name!r} looks like a date, which is read as text; give it as --time to test "
        "the model on later rows, convert it to a number (an age, a month), or leave it out with "
        "--drop"
    )
