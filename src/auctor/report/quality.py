"""How good the scores are: the headline, the curve with its thresholds, KS, gain, calibration."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from auctor._typing import Indices
from auctor.metrics import (
    MetricInterval,
    OperatingPoint,
    RocCurve,
    auc,
    auc_ci,
    calibration_table,
    gain_curve,
    ks_ci,
    partial_auc_ci,
    precision_at_k_ci,
    roc_band,
    roc_curve,
    score_histogram,
    threshold_table,
)
from auctor.report.comparison import is_other
from auctor.report.plain import LARGEST, counts, finite, shortened
from auctor.report.rows import ReportRows

MOST_POINTS = 500
# Shares of rows to flag that people ask for; each has a point on the thinned curve.
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


def headline(rows: ReportRows, curve: RocCurve, level: float) -> dict[str, Any]:
    """The AUC with its interval; no interval where a class has a single row."""
    facts: dict[str, Any] = {"curve_auc": curve.auc(), "folds": None}
    if min(curve.n_pos, curve.n_neg) < 2:
        value = auc(rows.positive, rows.scores, **rows.told)
        return facts | {
            "auc": value,
            "low": None,
            "high": None,
            "level": level,
            "method": "none: an interval needs two rows of each class",
            "sentence": f"AUC {value:.3f} (no interval: a class has one row)",
        }
    found = auc_ci(
        rows.positive,
        rows.fold_scores,
        level=level,
        **rows.within,
        **rows.told,
    )
    return facts | {
        "auc": found.value,
        "low": found.low,
        "high": found.high,
        "level": found.level,
        "method": found.method,
        "folds": found.n_folds,
        "sentence": str(found),
    }


def roc_facts(rows: ReportRows, curve: RocCurve, level: float, random_state: Any) -> dict[str, Any]:
    """The curve at no more than 500 thresholds, with the counts at each, and its band."""
    kept = thin_places(curve)
    band = roc_band(
        rows.positive,
        rows.scores,
        level=level,
        n_resamples=rows.n_resamples(500),
        groups=rows.groups,
        random_state=random_state,
        **rows.told,
    )
    return {
        # The first flags nothing: its threshold is above every score.
        "threshold": [None, *finite(curve.thresholds[kept][1:])],
        "true_positives": counts(curve.true_positives[kept]),
        "false_positives": counts(curve.false_positives[kept]),
        "n_thresholds": len(curve.thresholds),
        "largest": LARGEST,
        "youden": int(np.searchsorted(kept, youden_place(curve))),
        "marks": [int(np.searchsorted(kept, at_share(curve, share))) for share in SHARES],
        "shares": list(SHARES),
        "band": {
            "fpr": shortened(band.fpr),
            "low": shortened(band.low),
            "high": shortened(band.high),
            "method": band.method,
        },
        # The interval beside the slider is for rows that count once and are independent.
        "is_counted": rows.weight is None and rows.groups is None,
    }


def youden_place(curve: RocCurve) -> int:
    """Which threshold of the curve is Youden's."""
    return _place(curve, curve.youden())


def at_share(curve: RocCurve, share: float) -> int:
    """The last threshold that flags no more than this share of the rows."""
    return _place(curve, curve.at(budget=share))


def _place(curve: RocCurve, point: OperatingPoint) -> int:
    """By the rows flagged: two thresholds may both be infinite."""
    return int(np.searchsorted(curve.flagged, point.flagged))


def thin_places(curve: RocCurve, most: int = MOST_POINTS) -> Indices:
    """Which thresholds to keep: evenly along both rates and the flagged, and all that have names.

    Examples
    --------
    >>> y = np.arange(10_000) % 2
    >>> len(thin_places(roc_curve(y, np.arange(10_000.0)))) <= 500
    True
    """
    n = len(curve.thresholds)
    if n <= most:
        return np.arange(n)
    named = [0, n - 1, youden_place(curve), *(at_share(curve, share) for share in SHARES)]
    # Steps along tpr are fine where the curve is steep, along fpr where it is flat; a few in
    # shrinking shares of the rows, since the top matters most.
    even = np.linspace(0, 1, (most - len(named)) // 3 - 15)
    top = np.geomspace(1 / curve.flagged[-1], 1, 45)
    axes = ((curve.tpr, even), (curve.fpr, even), (curve.flagged / curve.flagged[-1], even))
    places = [np.searchsorted(axis, wanted) for axis, wanted in (*axes, (axes[2][0], top))]
    return np.unique(np.concatenate([named, *places]).clip(0, n - 1)).astype(np.intp)


def separation(
    rows: ReportRows, curve: RocCurve, level: float, random_state: Any
) -> dict[str, Any]:
    """KS with its interval, and the accuracy ratio; with folds the KS of the ranks within folds."""
    facts = {
        "ks": curve.ks(),
        "ks_low": None,
        "ks_high": None,
        "ks_pooled": curve.ks(),
        "ks_threshold": finite([curve.youden().threshold])[0],
        "accuracy_ratio": gain_curve(rows.positive, rows.scores, **rows.told).accuracy_ratio,
    }
    if min(curve.n_pos, curve.n_neg) < 2:
        return facts
    found = ks_ci(
        rows.positive,
        rows.fold_scores,
        level=level,
        random_state=random_state,
        **rows.within,
        **rows.told,
    )
    return facts | {"ks": found.value, "ks_low": found.low, "ks_high": found.high}


def judged(
    rows: ReportRows,
    metric: Mapping[str, Any] | None,
    curve: RocCurve,
    level: float,
    random_state: Any,
) -> dict[str, Any] | None:
    """The metric that the model was trained for with its interval; None where it is the AUC."""
    if not is_other(metric) or min(curve.n_pos, curve.n_neg) < 2:
        return None
    options = dict(metric)
    make: dict[str, Callable[..., MetricInterval]] = {
        "ks": ks_ci,
        "partial_auc": partial_auc_ci,
        "precision_at_k": precision_at_k_ci,
    }
    function = make[options.pop("metric")]
    told = {"level": level, "random_state": random_state, **rows.within, **rows.told}
    found = function(rows.positive, rows.fold_scores, **options, **told)
    return {
        "name": found.name,
        "where": found.where,
        "value": found.value,
        "low": found.low,
        "high": found.high,
        "sentence": str(found),
    }


def calibration(rows: ReportRows, level: float) -> dict[str, Any]:
    """Predicted probabilities beside the observed shares of positives."""
    probability = rows.model.probabilities(rows.scores)[:, 1]
    found = calibration_table(rows.positive, probability, level=level, **rows.told)
    names = ("mean_probability", "observed", "low", "high")
    return {name: shortened(getattr(found, name), 6) for name in names} | {
        "count": counts(found.count),
        "brier": float(found.brier),
        "expected_error": float(found.expected_error),
    }


def distributions(rows: ReportRows) -> dict[str, Any]:
    """Histograms of the scores of both classes over common edges."""
    found = score_histogram(rows.positive, rows.scores, **rows.told)
    return {
        "edges": shortened(found.edges, 6),
        "pos": counts(found.pos),
        "neg": counts(found.neg),
    }


def make_curve(rows: ReportRows) -> RocCurve:
    """The curve of all rows; of out-of-fold scores it pools the folds."""
    return roc_curve(rows.positive, rows.scores, **rows.told)


def threshold_rows(rows: ReportRows, level: float) -> dict[str, Any]:
    """What flagging 1 %, 2 %, ... of the rows does, with the intervals of the rates."""
    found = threshold_table(
        rows.positive,
        rows.scores,
        fractions=SHARES,
        level=level,
        groups=rows.groups,
        **rows.told,
    )
    return {"method": found.method, "rows": [_threshold_row(row) for row in found.rows]}


def _threshold_row(row: Any) -> dict[str, Any]:
    point = row.point
    rates = {
        name: [getattr(point, name), *getattr(row, name)] for name in ("tpr", "fpr", "precision")
    }
    nothing = point.flagged == 0
    return {
        "share": row.fraction,
        "threshold": None if nothing else finite([point.threshold])[0],
        "flagged": counts([point.flagged])[0],
        "flagged_share": row.flagged_fraction,
        **rates,
        "lift": row.lift,
    }
