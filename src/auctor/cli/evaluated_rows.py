"""The measures of scored rows: of rows in memory, or by their ROC curve in files."""

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from auctor.cli.facts import with_interval
from auctor.cli.model_rows import Labelled
from auctor.cli.seen_rows import seen_by_curve, seen_warning
from auctor.metrics import (
    AucInterval,
    MetricInterval,
    OperatingPoint,
    RocCurve,
    Threshold,
    auc_ci,
    from_curve,
    ks_ci,
    partial_auc_ci,
    precision_at_k_ci,
    roc_curve,
    threshold_at,
)
from auctor.models import Model

FPR_RANGE = (0.0, 0.1)  # the false positive rates that most users can afford
TOP = 0.1


@dataclass(frozen=True)
class Criterion:
    """What a threshold has to meet: ``fpr=0.1``, ``budget=100``, ``precision=0.5`` or the like."""

    kind: str
    value: float

    def arguments(self) -> dict[str, Any]:
        """The criterion as the keyword argument of :func:`auctor.metrics.threshold_at`."""
        return {self.kind: self.value}


@dataclass(frozen=True)
class Measures:
    """How good the scores of some rows are."""

    auc: AucInterval
    ks: MetricInterval
    partial_auc: MetricInterval
    precision: MetricInterval
    point: OperatingPoint  # at the threshold of the model
    threshold: float


class EvaluatedRows(Protocol):
    """Scored rows whose labels are known."""

    n_pos: int
    n_neg: int

    def measure(self, threshold: float, seed: int) -> Measures:
        """All measures of the scores."""
        ...

    def threshold(self, criterion: Criterion, confidence: float | None) -> Threshold:
        """The threshold that meets a criterion."""
        ...

    def seen(self, model: Model, sha256: str) -> list[str]:
        """A warning if these are the rows that the model was fitted to."""
        ...

    def size(self) -> tuple[float, str]:
        """The number of rows or their weight, and the same in words."""
        ...


class RowsInMemory:
    """Rows with their scores, and with weights and groups if there are any."""

    def __init__(self, rows: Labelled) -> None:
        self._rows = rows
        self.n_pos = int(np.count_nonzero(rows.positive))
        self.n_neg = len(rows.positive) - self.n_pos

    def measure(self, threshold: float, seed: int) -> Measures:
        """All measures of the scores."""
        rows = self._rows
        positive, scores = rows.positive, rows.scores
        sample: dict[str, Any] = {"sample_weight": rows.weight, "groups": rows.groups}
        resampled = {**sample, "random_state": seed}
        curve = roc_curve(positive, scores, sample_weight=rows.weight)
        return Measures(
            auc=auc_ci(positive, scores, **sample),
            ks=ks_ci(positive, scores, **resampled),
            partial_auc=partial_auc_ci(
                positive, scores, fpr_range=FPR_RANGE, scaled=True, **resampled
            ),
            precision=precision_at_k_ci(positive, scores, k=TOP, **resampled),
            point=curve.at(threshold=threshold),
            threshold=threshold,
        )

    def threshold(self, criterion: Criterion, confidence: float | None) -> Threshold:
        """The threshold that meets a criterion."""
        return threshold_at(
            self._rows.positive,
            self._rows.scores,
            **criterion.arguments(),
            confidence=confidence,
            sample_weight=self._rows.weight,
            groups=self._rows.groups,
        )

    def seen(self, model: Model, sha256: str) -> list[str]:
        """A warning if these are the rows that the model was fitted to."""
        return seen_warning(
            model, self._rows.positive, self._rows.scores, self._rows.weight, sha256
        )

    def size(self) -> tuple[float, str]:
        """The number of rows or their weight, and the same in words."""
        if self._rows.weight is None:
            return len(self._rows.scores), f"the {len(self._rows.scores)} rows"
        total = float(self._rows.weight.sum())
        return total, f"the total weight {total:g}"


class RowsInFiles:
    """Rows without weights and groups, of which the ROC curve says all that is measured."""

    def __init__(self, curve: RocCurve) -> None:
        self._curve = curve
        self.n_pos, self.n_neg = curve.n_pos, curve.n_neg

    def measure(self, threshold: float, seed: int) -> Measures:
        """All measures of the scores."""
        curve = self._curve
        return Measures(
            auc=from_curve.auc_ci(curve),
            ks=from_curve.ks_ci(curve, random_state=seed),
            partial_auc=from_curve.partial_auc_ci(curve, fpr_range=FPR_RANGE, scaled=True),
            precision=from_curve.precision_at_k_ci(curve, k=TOP, random_state=seed),
            point=curve.at(threshold=threshold),
            threshold=threshold,
        )

    def threshold(self, criterion: Criterion, confidence: float | None) -> Threshold:
        """The threshold that meets a criterion."""
        return from_curve.threshold_at(self._curve, **criterion.arguments(), confidence=confidence)

    def seen(self, model: Model, sha256: str) -> list[str]:
        """A warning if these are the rows that the model was fitted to."""
        return seen_by_curve(model, self._curve, sha256)

    def size(self) -> tuple[float, str]:
        """The number of rows, and the same in words."""
        n_rows = self.n_pos + self.n_neg
        return n_rows, f"the {n_rows} rows"


def budget_warning(criterion: Criterion, rows: EvaluatedRows) -> list[str]:
    """A warning for a budget of more rows than the table has, which flags every row."""
    total, size = rows.size()
    if criterion.kind != "budget" or criterion.value < 1 or criterion.value <= total:
        return []
    return [
        f"--at budget={criterion.value:g} is more than {size} of the table, so that every row is "
        "flagged; a fraction such as budget=0.05 applies to tables of any length"
    ]


def measure_lines(measures: Measures) -> list[str]:
    """The measures, one on each line."""
    point, (low, high) = measures.point, FPR_RANGE
    # The precision of no rows is NaN: words are clearer.
    precision = f"precision {point.precision:.3f}" if point.flagged else "no row is flagged"
    return [
        str(measures.auc),
        f"KS {with_interval(measures.ks)}",
        f"partial AUC {with_interval(measures.partial_auc)} for false positive rates from {low:g} "
        f"to {high:g}, scaled so that 0.5 is a random order and 1 a perfect one",
        f"precision {with_interval(measures.precision)} in the {TOP:.0%} of the rows with the "
        "highest scores",
        f"at the model's threshold (positive if score >= {measures.threshold:g}): true positive "
        f"rate {point.tpr:.3f}, false positive rate {point.fpr:.3f}, {precision}",
    ]
