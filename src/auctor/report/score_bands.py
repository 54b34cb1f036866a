"""The table of score bands: ten groups of rows by score, with the rate of positives in each."""

from typing import Any

import numpy as np

from auctor.metrics import RocCurve
from auctor.metrics.rates import clopper_pearson
from auctor.metrics.thresholds import is_flagged
from auctor.models.training_record import N_BANDS
from auctor.report.plain import counts, finite
from auctor.report.rows import ReportRows


def band_facts(rows: ReportRows, curve: RocCurve, level: float) -> list[dict[str, Any]]:
    """Bands of a tenth of the rows each, the highest scores first.

    Rows with the same score are in the same band, so that there may be fewer bands, of different
    sizes. A band is read off the ROC curve: the rows that one threshold flags and the one before
    it does not.
    """
    total = float(curve.flagged[-1])
    wanted = np.arange(1, N_BANDS + 1) * total / N_BANDS
    # Rounding of weights must not move an end by one score.
    ends = np.unique(np.searchsorted(curve.flagged, wanted * (1 - 1e-12)))
    ends = ends[ends > 0]
    probability = rows.model.probabilities(rows.scores)[:, 1]
    facts, start = [], 0
    for end in ends.tolist():
        low, high = float(curve.thresholds[end]), float(curve.thresholds[start + 1])
        pos = float(curve.true_positives[end] - curve.true_positives[start])
        neg = float(curve.false_positives[end] - curve.false_positives[start])
        inside = is_flagged(rows.scores, low) & (rows.scores <= high) & rows.present
        facts.append(
            {
                "low": finite([low])[0],
                "high": finite([high])[0],
                "rows": counts([pos + neg])[0],
                "positives": counts([pos])[0],
                "rate": _rate(rows, pos, neg, level),
                "predicted": float(np.average(probability[inside], weights=rows.counted[inside])),
                "captured": float(curve.tpr[end]),
            }
        )
        start = end
    return facts


def _rate(rows: ReportRows, pos: float, neg: float, level: float) -> list[float | None]:
    """The fraction of positives; its interval needs independent rows of equal weight."""
    if not rows.is_counted:
        return [pos / (pos + neg), None, None]
    return [pos / (pos + neg), *clopper_pearson(pos, pos + neg, level)]
