"""The columns of `auctor score` for some rows: by a model, or by a scorecard."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from auctor._spreadsheet import spreadsheet_safe
from auctor.cli.options import split_names
from auctor.cli.table_file import TableFile
from auctor.metrics.thresholds import is_flagged
from auctor.models import ExplainedModel, Model, Scorecard

# Rows are explained in blocks, since one number for each term and row takes much memory.
MOST_CELLS = 4_000_000
# So many digits distinguish all numbers of 64 bits.
_ALL_DIGITS = 17

Columns = dict[str, list[Any]]


class Scorer(Protocol):
    """Makes the columns of the result."""

    schema: pa.Schema  # of the columns
    rounded: tuple[str, ...]  # the columns that ``--digits`` is about
    positive: Any  # the positive label

    def columns(self, rows: pa.Table) -> Columns:
        """The columns as Python values, from the features of some rows."""
        ...


class ModelScorer:
    """Score, probability and prediction by a model, and the reasons by ``explaining``."""

    rounded: tuple[str, ...] = ("score", "probability")

    def __init__(
        self, model: Model, explaining: ExplainedModel | None, n_reasons: int, direction: str | None
    ) -> None:
        self._model, self._explaining = model, explaining
        self._n_reasons, self._direction = n_reasons, direction
        self.positive = model.classes[1]
        label = pa.array(np.asarray(model.classes).tolist()).type
        numbers = [("score", pa.float64()), ("probability", pa.float64())]
        self.schema = pa.schema([*numbers, ("prediction", label), *_reason_fields(n_reasons)])

    def columns(self, rows: pa.Table) -> Columns:
        """The columns as Python values."""
        scored = _score(self._model, rows)
        if self._explaining is not None:
            scored |= reason_columns(self._explaining, rows, self._n_reasons, self._direction)
        return scored


class CardScorer:
    """Points and probability by a scorecard, and the reasons that cost a row most points."""

    rounded: tuple[str, ...] = ("probability",)

    def __init__(self, card: Scorecard, n_reasons: int) -> None:
        self._card, self._n_reasons = card, n_reasons
        self.positive = card.classes[1]
        points = pa.int64() if card.digits == 0 else pa.float64()
        numbers = [("points", points), ("probability", pa.float64())]
        self.schema = pa.schema([*numbers, *_reason_fields(n_reasons)])

    def columns(self, rows: pa.Table) -> Columns:
        """The columns as Python values."""
        card = self._card
        points = card.score(rows)
        plain = points.astype(int) if card.digits == 0 and (abs(points) < 2**53).all() else points
        columns = {"points": plain.tolist(), "probability": card.probability(points).tolist()}
        reasons = card.reasons(rows, self._n_reasons) if self._n_reasons else []
        return columns | dict(zip(_reason_names(self._n_reasons), reasons, strict=True))


def _score(model: Model, table: pa.Table) -> Columns:
    """The columns score, probability and prediction as Python values."""
    scores = model.decision_function(table.select(list(model.feature_names)))
    flagged = is_flagged(scores, model.threshold).astype(int)
    return {
        "score": scores.tolist(),
        "probability": model.probabilities(scores)[:, 1].tolist(),
        "prediction": np.asarray(model.classes)[flagged].tolist(),
    }


def reason_columns(
    model: ExplainedModel, table: pa.Table, n_reasons: int, direction: str | None
) -> dict[str, list[str]]:
    """Columns reason_1, reason_2, ...: the terms that move each row's score most."""
    names = _reason_names(n_reasons)
    columns: dict[str, list[str]] = {name: [] for name in names}
    n_block = max(1, MOST_CELLS // len(model.term_names))
    for start in range(0, table.num_rows, n_block):
        block = table.slice(start, n_block)
        reasons = model.explain_rows(block).reasons(n_reasons, direction or "both")
        for name, texts in zip(names, reasons, strict=True):
            columns[name] += texts
    return columns


def _reason_names(n_reasons: int) -> list[str]:
    return [f"reason_{k}" for k in range(1, n_reasons + 1)]


def _reason_fields(n_reasons: int) -> list[tuple[str, pa.DataType]]:
    return [(name, pa.string()) for name in _reason_names(n_reasons)]


def check_keep(keep: Sequence[str], source: TableFile, scorer: Scorer) -> list[str]:
    """The columns of ``--keep``, which must not have the name of a column of the result."""
    keep = split_names(keep, source.columns)
    source.require(keep)
    clash = [name for name in keep if name in scorer.schema.names]
    if clash:
        raise ValueError(
            f"--keep {clash[0]!r} has the name of a column of the result; rename it in the table"
        )
    return list(keep)


def as_written(
    kept: Columns, scored: Columns, scorer: Scorer, digits: int | None, safe: bool
) -> tuple[Columns, Columns]:
    """The columns as they are written, with ``digits`` significant digits if the file is CSV."""
    if digits is not None:
        scored = scored | rounded(scored, digits, scorer.rounded)
    if safe:
        return spreadsheet_safe(kept), spreadsheet_safe(scored)
    return kept, scored


def rounded(
    scored: Columns, digits: int, names: Sequence[str] = ("score", "probability")
) -> Columns:
    """The score and the probability with fewer significant digits.

    Examples
    --------
    >>> rounded({"score": [1.23456789], "probability": [2 / 3]}, 6)
    {'score': [1.23457], 'probability': [0.666667]}
    """
    if digits >= _ALL_DIGITS:
        return {}
    return {name: [float(f"{value:.{digits}g}") for value in scored[name]] for name in names}
