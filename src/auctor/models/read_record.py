"""Read a training record from a model file; a ValueError names the field that is wrong."""

from typing import Any, Literal

import numpy as np

from auctor._typing import Floats, Ints
from auctor.models.fields import Fields
from auctor.models.training_record import (
    ColumnSummary,
    Measured,
    Origin,
    ScoreBands,
    TrainingRecord,
    Validation,
)

_MOST_ROWS = 2**53  # sums of counts stay exact
_LONGEST_TEXT = 100_000
_DEEPEST = 4  # lists and objects within each other in a parameter


def read_record(fields: Fields, names: tuple[str, ...]) -> TrainingRecord:
    """The record of a model whose features are ``names``."""
    origin = _read_origin(fields.child("origin"))
    n_neg, n_pos = _count(fields, "n_neg"), _count(fields, "n_pos")
    effective = fields.terms("effective_rows")
    if len(effective) != 2 or not (effective >= 0).all():
        raise fields.fail("effective_rows", "two numbers of at least 0")
    columns = tuple(_read_column(child) for child in fields.children("columns"))
    if columns and tuple(column.name for column in columns) != names:
        raise fields.fail("columns", "a list with the features of the model, in their order")
    child = fields.child("scores")
    cuts = child.increasing("cuts")
    scores = ScoreBands(cuts, _counts(child, len(cuts) + 1), _weights(child, len(cuts) + 1))
    child.end()
    validations = tuple(
        _read_validation(child, len(cuts) + 1) for child in fields.children("validations")
    )
    fields.end()
    pair = float(effective[0]), float(effective[1])
    return TrainingRecord(origin, n_neg, n_pos, pair, columns, scores, validations)


def _read_origin(fields: Fields) -> Origin:
    parameters = fields.take("parameters")
    if not isinstance(parameters, dict) or not _is_plain(parameters, _DEEPEST):
        raise fields.fail("parameters", "an object of texts, numbers, booleans, nulls and lists")
    names = ("version", "date", "learner", "metric", "target", "table", "sha256")
    texts = {name: _optional_text(fields, name) for name in names}
    fields.end()
    return Origin(parameters=parameters, **texts)


def _read_column(fields: Fields) -> ColumnSummary:
    name = fields.text("name")
    kind: Literal["number", "category"] = "number"
    parts: dict[str, Any]
    if fields.choice("kind", ("number", "category")) == "category":
        kind = "category"
        categories = fields.scalars("categories")
        numbers = {part: _count(fields, part) for part in ("n_categories", "n_single", "n_unknown")}
        parts, n_bins = {"categories": categories, **numbers}, len(categories) + 2
    else:
        low, high = _optional_number(fields, "low"), _optional_number(fields, "high")
        if (low is None) != (high is None) or (low is not None and high is not None and low > high):
            raise fields.fail("high", "a number of at least low, or null where low is null")
        cuts = fields.increasing("cuts")
        parts, n_bins = {"low": low, "high": high, "cuts": cuts}, len(cuts) + 2
    counts, importance = _counts(fields, n_bins), _optional_number(fields, "importance")
    weights = _weights(fields, n_bins)
    fields.end()
    return ColumnSummary(name, kind, counts, importance=importance, weights=weights, **parts)


def _read_validation(fields: Fields, n_bands: int) -> Validation:
    kind, description = fields.text("kind"), fields.text("description")
    child = fields.child("metrics")
    metrics = {name: _read_measured(child, name) for name in child.names()}
    counts, probability = _counts(fields, n_bands), _probabilities(fields, n_bands)
    weights = _weights(fields, n_bands)
    fields.end()
    return Validation(kind, description, metrics, counts, probability, weights)


def _read_measured(fields: Fields, name: str) -> Measured:
    numbers = fields.terms(name).tolist()
    if len(numbers) != 4 or not 0 < numbers[3] < 1:
        raise fields.fail(name, "four numbers: value, low, high, and a level between 0 and 1")
    return Measured(*numbers)


def _probabilities(fields: Fields, n_bands: int) -> Floats:
    values = fields.terms("probability")
    if len(values) != n_bands or not ((values >= 0) & (values <= 1)).all():
        raise fields.fail("probability", f"a list of {n_bands} numbers from 0 to 1")
    return values


def _count(fields: Fields, name: str) -> int:
    number = fields.integer(name)
    if not 0 <= number <= _MOST_ROWS:
        raise fields.fail(name, "a whole number of at least 0")
    return number


def _counts(fields: Fields, n_bins: int) -> Ints:
    """The field ``counts``: whole numbers of at least 0 for both classes."""
    rows = fields.items("counts")
    wanted = f"two lists of {n_bins} whole numbers of at least 0"
    if len(rows) != 2 or any(not isinstance(row, list) or len(row) != n_bins for row in rows):
        raise fields.fail("counts", wanted)
    cells = [cell for row in rows for cell in row]
    if any(isinstance(cell, bool) or not isinstance(cell, int) for cell in cells):
        raise fields.fail("counts", wanted)
    if any(not 0 <= cell <= _MOST_ROWS for cell in cells) or sum(cells) > _MOST_ROWS:
        raise fields.fail("counts", wanted)
    return np.array(rows, dtype=np.int64).reshape(2, n_bins)


def _weights(fields: Fields, n_bins: int) -> Floats | None:
    """The field ``weights``, which only records of weighted rows have."""
    if not fields.has("weights"):
        return None
    wanted = f"two lists of {n_bins} numbers from 0 to 1, not all of them 0"
    rows = fields.items("weights")
    if len(rows) != 2 or any(not isinstance(row, list) or len(row) != n_bins for row in rows):
        raise fields.fail("weights", wanted)
    cells = np.array([[fields.as_number(cell, "weights") for cell in row] for row in rows])
    if not ((cells >= 0) & (cells <= 1)).all() or not cells.any(axis=1).all():
        raise fields.fail("weights", wanted)
    return cells


def _optional_number(fields: Fields, name: str) -> float | None:
    value = fields.take(name)
    return None if value is None else fields.as_number(value, name)


def _optional_text(fields: Fields, name: str) -> str | None:
    value = fields.take(name)
    if value is not None and not isinstance(value, str):
        raise fields.fail(name, "text or null")
    return value


def _is_plain(value: Any, depth: int) -> bool:
    """Whether a value consists of texts, finite numbers, booleans and nulls, not nested deeply."""
    if depth < 0:
        return False
    if isinstance(value, dict):
        return all(_is_plain(item, depth - 1) for item in value.values())
    if isinstance(value, list):
        return all(_is_plain(item, depth - 1) for item in value)
    if isinstance(value, str):
        return len(value) <= _LONGEST_TEXT
    return value is None or isinstance(value, (bool, int, float))
