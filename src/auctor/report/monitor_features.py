"""Which features have moved since training, and how: one verdict for each, and for the score."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from auctor._text import p_words
from auctor._typing import Bools, Floats, Ints
from auctor.metrics.stability import (
    Bins,
    LocationTest,
    PsiTest,
    compare_bins,
    compare_location,
    holm,
    psi_terms,
)
from auctor.models import Finding
from auctor.models.explanation import shorten
from auctor.models.new_rows import tail_probability
from auctor.models.training_record import ColumnSummary
from auctor.report.monitor_bins import Binned, Kind, group_bins

Verdict = Literal["moved", "unchanged", "too few rows"]

# The probability that any of the features and the score seems to have moved without a change.
ALPHA = 0.05
# Of it compare_rows has a fifth (missing values, ranges, categories); the tests have the rest.
_SHARE_OF_TESTS = 0.8
_ALPHA_OF_FINDINGS = 0.01
_KINDS_OF_FINDINGS = 4
# Rows are too few to say that nothing moved if even this PSI, a large change by the usual rule of
# thumb, could be noise.
LARGE_PSI = 0.25
_FEWEST_ROWS = 8  # of a test of location


@dataclass(frozen=True)
class Cell:
    """A bin of a feature: the fraction of the training rows and of the new rows in it."""

    label: str
    before: float
    now: float


@dataclass(frozen=True, repr=False)
class Movement:
    """How the distribution of a feature, or of the score, compares with training.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "score"}
    importance : float or None
        The fraction of the model's importance that the feature has.
    verdict : {"moved", "unchanged", "too few rows"}
        "moved" if the corrected p-value is below 0.05, or if missing values, new categories or
        values out of range are surely more frequent than in training. "too few rows" if a PSI of
        0.25 could be noise and nothing was found.
    how : str
        What has moved, in words; empty otherwise.
    psi : PsiTest or None
        PSI with the value that unchanged features exceed in 5 % of samples; None without rows.
    location : LocationTest or None
        Whether numbers are larger or smaller than in training.
    p_value : float or None
        Of both tests together (twice the smaller p-value), for this feature alone.
    p_corrected : float or None
        The same, corrected for the number of features (Holm).
    missing_before, missing_now : float
        Fractions of missing values.
    cells : tuple of Cell
        The distribution, missing values first.
    """

    name: str
    kind: Kind
    importance: float | None
    verdict: Verdict
    how: str
    psi: PsiTest | None
    location: LocationTest | None
    p_value: float | None
    p_corrected: float | None
    missing_before: float
    missing_now: float
    cells: tuple[Cell, ...]

    @property
    def title(self) -> str:
        """The name; "the score" for the score, since a feature may be called score."""
        return "the score" if self.kind == "score" else self.name

    @property
    def weight(self) -> float:
        """Importance times movement, by which features are sorted."""
        if self.psi is None:
            return 0.0
        return (self.importance or 0.0) * max(self.psi.value - self.psi.expected, 0.0)

    def facts(self) -> dict[str, Any]:
        """The movement in plain values."""
        psi, location = self.psi, self.location
        return {
            "name": self.name,
            "kind": self.kind,
            "importance": self.importance,
            "verdict": self.verdict,
            "how": self.how,
            "psi": None if psi is None else psi.value,
            "psi_expected": None if psi is None else psi.expected,
            "psi_limit": None if psi is None else psi.limit,
            "psi_p_value": None if psi is None else psi.p_value,
            "n_bins": None if psi is None else psi.n_bins,
            "superiority": None if location is None else location.superiority,
            "location_p_value": None if location is None else location.p_value,
            "p_value": self.p_value,
            "p_corrected": self.p_corrected,
            "missing_before": self.missing_before,
            "missing_now": self.missing_now,
            "cells": [vars(cell) for cell in self.cells],
        }

    def __repr__(self) -> str:
        name = self.title if self.kind == "score" else repr(shorten(self.name))
        if self.psi is None or self.p_corrected is None:
            return f"{name}: {VERDICTS[self.verdict]}{f' ({self.how})' if self.how else ''}"
        how = f" ({self.how})" if self.how else ""
        return (
            f"{name}: {VERDICTS[self.verdict]}{how}; PSI {self.psi.value:.3f}, noise up to "
            f"{self.psi.limit:.3f}, corrected p {p_words(self.p_corrected)}"
        )


VERDICTS: dict[Verdict, str] = {
    "moved": "moved",
    "unchanged": "no change found",
    "too few rows": "too few rows to say",
}


def compare_all(
    binned: Sequence[Binned],
    findings: Sequence[Finding],
    rows: Bools | None,
    weight: Floats | None,
    n_tables: int = 1,
) -> list[Movement]:
    """Compare features and score with training, in the order that was given.

    ``rows`` selects some of the rows. ``n_tables`` is the number of such calls (periods) that the
    p-values are corrected for.
    """
    movements = [_compare(one, one.count(rows, weight)) for one in binned]
    tested = [k for k, one in enumerate(movements) if one.p_value is not None]
    values = [one.p_value for one in movements if one.p_value is not None]
    corrected = np.minimum(holm(values) * n_tables / _SHARE_OF_TESTS, 1.0)
    p_of = dict(zip(tested, corrected.tolist(), strict=True))
    n_rows = len(binned[0].codes) if rows is None else int(np.count_nonzero(rows))
    alpha = _ALPHA_OF_FINDINGS / (_KINDS_OF_FINDINGS * max(len(binned) - 1, 1))
    return [
        _judge(one, movement, p_of.get(k), findings, n_rows, alpha, one.count(rows, weight))
        for k, (one, movement) in enumerate(zip(binned, movements, strict=True))
    ]


def _compare(binned: Binned, new: Bins) -> Movement:
    """The two tests; the verdict is left open."""
    reference, column = binned.reference, binned.column
    fractions = [
        bins.fractions if bins.total else np.zeros(len(bins.counts)) for bins in (reference, new)
    ]
    cells = tuple(
        Cell(label, float(before), float(now))
        for label, before, now in zip(binned.labels, *fractions, strict=True)
    )
    movement = Movement(
        name=binned.name,
        kind=binned.kind,
        importance=None if column is None else column.importance,
        verdict="unchanged",
        how="",
        psi=None,
        location=None,
        p_value=None,
        p_corrected=None,
        missing_before=cells[0].before,
        missing_now=cells[0].now,
        cells=cells,
    )
    if not reference.total or not new.total:
        return movement
    group = group_bins(binned, new)
    psi = compare_bins(reference.merged(group), new.merged(group))
    location = None if binned.kind == "category" else _location(reference, new)
    is_tested = psi.n_bins > 1
    p_values = ([psi.p_value] if is_tested else []) + ([location.p_value] if location else [])
    p_value = min(len(p_values) * min(p_values), 1.0) if p_values else None
    return replace(movement, psi=psi, location=location, p_value=p_value)


def _location(reference: Bins, new: Bins) -> LocationTest | None:
    """The test of location of the values that are not missing."""
    before, now = (Bins(bins.counts[1:], bins.squares[1:]) for bins in (reference, new))
    if not before.total or not now.total or min(before.n_rows, now.n_rows) < _FEWEST_ROWS:
        return None
    kept = (before.counts > 0) | (now.counts > 0)
    return compare_location(
        *(Bins(bins.counts[kept], bins.squares[kept]) for bins in (before, now))
    )


def _judge(
    binned: Binned,
    movement: Movement,
    p_corrected: float | None,
    findings: Sequence[Finding],
    n_rows: int,
    alpha: float,
    new: Bins,
) -> Movement:
    """The verdict, and what has moved in words."""
    own = [
        finding
        for finding in findings
        if binned.column is not None
        and finding.column == binned.name
        and _is_sure(finding, binned.column, n_rows, alpha)
    ]
    movement = replace(movement, p_corrected=p_corrected)
    if own or (p_corrected is not None and p_corrected < ALPHA):
        return replace(movement, verdict="moved", how=_how(binned, movement, own, n_rows, new))
    is_constant = _n_filled(binned.reference, new) < 2
    psi = movement.psi
    if psi is None or (not is_constant and (psi.n_bins < 2 or psi.limit >= LARGE_PSI)):
        return replace(movement, verdict="too few rows")
    return movement


def _n_filled(reference: Bins, new: Bins) -> int:
    return int(np.count_nonzero(reference.counts + new.counts))


def _is_sure(finding: Finding, column: ColumnSummary, n_rows: int, alpha: float) -> bool:
    """Whether so many rows are improbable without a change; a few new values alone are not."""
    before, m = column.n_rows, 0
    if finding.kind == "missing":
        m = column.n_missing
    elif finding.kind == "unseen category":
        m = column.n_single + column.n_unknown
    else:
        before -= column.n_missing
    return tail_probability(finding.n_rows, n_rows, m, before) < alpha


def _how(
    binned: Binned, movement: Movement, findings: Sequence[Finding], n_rows: int, new: Bins
) -> str:
    """What has moved, the most telling first."""
    words, kinds = [], {finding.kind: finding for finding in findings}
    location = movement.location
    if location is not None and 2 * location.p_value < ALPHA:
        way = "higher" if location.superiority > 0.5 else "lower"
        fraction = max(location.superiority, 1 - location.superiority)
        words.append(f"{way} values, in {fraction:.0%} of pairs of a new and a training row")
    if "missing" in kinds:
        words.append(f"more missing values, {_change(movement.cells[0])}")
    if "unseen category" in kinds:
        words.append(f"new categories in {kinds['unseen category'].n_rows / n_rows:.1%} of rows")
    for side in ("below range", "above range"):
        if side in kinds:
            words.append(f"{kinds[side].n_rows / n_rows:.1%} of rows {side}")
    if not words or (location is None and "unseen category" not in kinds):
        words += _largest(binned, movement, new, skip_missing="missing" in kinds)
    return "; ".join(words)


def _largest(binned: Binned, movement: Movement, new: Bins, skip_missing: bool) -> list[str]:
    """The bin that adds most to PSI."""
    terms = psi_terms(binned.reference, new)
    if skip_missing:
        terms[0] = 0.0
    order: Ints = np.argsort(-terms, kind="stable")
    if terms[order[0]] <= 0:
        return []
    cell = movement.cells[int(order[0])]
    label = "missing values" if order[0] == 0 else cell.label
    return [f"{label}: {_change(cell)}"]


def _change(cell: Cell) -> str:
    """A fraction before and now."""
    return f"{cell.before:.1%} before and {cell.now:.1%} now"


def by_relevance(movements: Sequence[Movement]) -> list[Movement]:
    """Features that moved first, sorted by importance times movement."""

    def key(one: Movement) -> tuple[bool, float, float]:
        return one.verdict != "moved", -one.weight, -(0.0 if one.psi is None else one.psi.value)

    return sorted(movements, key=key)
