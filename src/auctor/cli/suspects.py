"""Columns that one should look at before trusting a model: ids, dates, leaks, odd numbers.

They are told of and not dropped: only the user knows.
"""

import re
from typing import Any

import numpy as np
import pyarrow as pa

from auctor._typing import Bools, Floats, Indices
from auctor.cli.odd_cells import odd_cells
from auctor.cli.problem import Problem
from auctor.data import Table, read_table
from auctor.estimators.copied_rows import find_copied_rows
from auctor.metrics import auc

_LEAK = 0.995
_ID_NAME = re.compile(r"(^|[_\s.-])(id|key|nr|no|number|index|uuid|guid)$|^(id|uuid|guid|index)\b")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_COMMAS = re.compile(r"-?\d{1,3}(,\d{3})+(\.\d+)?|-?\d+,\d+(e-?\d+)?")
_MOST_ROWS = 100_000  # that are looked at: what is a leak in these is one
_MANY = 50  # categories, and more than a tenth of the rows, are hardly ever any use
_FEWEST = 20  # rows below which all values may well differ by chance


def table_warnings(problem: Problem, chosen: str | None, n_folds: int) -> list[str]:
    """All that is to be said of a table before the work begins."""
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
    found = []
    for j, name in enumerate(table.names):
        # A single cell is looked for among all rows.
        odd = odd_cells(whole.categories(j), problem.line_of) if whole.is_text(j) else None
        sentence = _odd(name, odd) if odd else _suspect(table, j, name, positive)
        if sentence is not None:
            found.append(sentence)
    return found


def label_warning(problem: Problem, chosen: str | None) -> list[str]:
    """Words that stand for two classes do not say which is the one to look for."""
    negative, positive = problem.labels
    if chosen is not None or not isinstance(positive, str):
        return []
    return [
        f"{positive!r} counts as positive, the later of the two labels; if it is {negative!r} that "
        f"you look for, say --positive {negative}"
    ]


def copies_warning(problem: Problem, n_folds: int) -> list[str]:
    """Where most rows of a class are copies: how many rows differ, and what is done about it."""
    if n_folds == 0 or problem.groups is not None:
        return []
    copied = find_copied_rows(problem.X, problem.positive, problem.weight)
    groups = None if copied is None else copied.groups(n_folds)
    if copied is None or groups is None:
        return []
    n_distinct = len(np.unique(groups[copied.present]))
    return [
        f"{len(copied.present)} rows are {n_distinct} distinct rows: copies of a row stay in one "
        "fold, and count once in the intervals"
    ]


def _some_rows(problem: Problem) -> Indices:
    """All rows, or an even choice of them; positives and negatives as they come."""
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
    return None


def _suspect_text(table: Table, j: int, name: str, positive: Bools) -> str | None:
    values, places = table.categories(j)
    n_known = int(np.count_nonzero(places >= 0))
    if _share(_COMMAS, values) > 0.5:
        return _commas(name)
    if n_known >= _FEWEST and len(values) > 0.9 * n_known:
        return _date(name) if _share(_DATE, values) > 0.9 else _identity(name)
    if _share(_DATE, values) == 1:
        return _date(name)
    if len(values) > max(_MANY, n_known / 10):
        return _many(name, len(values))
    area = _category_auc(places, len(values), positive)
    return _leak(name, area) if area > _LEAK and len(values) < n_known / 5 else None


def _share(pattern: re.Pattern[str], values: list[Any]) -> float:
    """How many of the first values begin as the pattern says."""
    some = [str(value) for value in values[:100]]
    return sum(bool(pattern.match(text)) for text in some) / max(len(some), 1)


def _looks_like_an_id(name: str, known: Floats) -> bool:
    """By its name, or because it counts the rows."""
    steps = np.diff(known)
    counts = len(steps) > 0 and bool((steps == 1).all() or (steps == -1).all())
    return counts or _ID_NAME.search(name.lower()) is not None


def _number_auc(values: Floats, positive: Bools) -> float:
    """The AUC of one column alone, whichever way round; missing values below all others."""
    if not np.isfinite(values).any():
        return 0.5
    area = auc(positive, np.where(np.isnan(values), -np.inf, values)) if _both(positive) else 0.5
    return max(area, 1 - area)


def _category_auc(places: Any, n_values: int, positive: Bools) -> float:
    """The AUC of each category's share of positives, missing ones a category of their own."""
    if not _both(positive) or n_values == 0:
        return 0.5
    codes = places + 1
    share = np.bincount(codes, positive, n_values + 1) / np.maximum(
        np.bincount(codes, minlength=n_values + 1), 1
    )
    return auc(positive, share[codes])


def _both(positive: Bools) -> bool:
    return 0 < int(np.count_nonzero(positive)) < len(positive)


def _leak(name: str, area: float) -> str:
    return (
        f"column {name!r} alone has an AUC of {area:.3f}: is it known before the outcome? "
        "If not, leave it out with --drop"
    )


def _identity(name: str) -> str:
    return f"column {name!r} looks like an id (all values differ); leave it out with --drop"


def _many(name: str, n_values: int) -> str:
    return (
        f"column {name!r} has {n_values} different texts: if they name who a row belongs to, use "
        "--group; if they say nothing, --drop"
    )


def _odd(name: str, cells: str) -> str:
    return (
        f"column {name!r} is read as text because of {cells}; if that means missing, leave the "
        "cell empty, else correct it"
    )


def _commas(name: str) -> str:
    return (
        f"column {name!r} has numbers with commas, which are read as text; save them with a "
        "decimal point and nothing between thousands"
    )


def _date(name: str) -> str:
    return (
        f"column {name!r} looks like a date, which is read as text; make numbers of it (an age, "
        "a month), or leave it out with --drop"
    )
