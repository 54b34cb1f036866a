"""Facts on the quality of the scores: AUC, ROC curve, thresholds, KS, calibration."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import binom

from auctor._typing import Floats, Indices
from auctor.metrics import (
    CalibrationTable,
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
# Fractions of rows to flag; each has a point on the thinned curve.
N_PROBABILITY_BINS = 25
FRACTIONS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5)


def headline(rows: ReportRows, curve: RocCurve, level: float) -> dict[str, Any]:
    """The AUC with its interval; there is no interval if a class has a single row."""
    facts: dict[str, Any] = {"curve_auc": curve.auc(), "folds": None}
    if min(curve.n_pos, curve.n_neg) < 2:
        value = auc(rows.positive, rows.scores, **rows.weighting)
        return facts | {
            "auc": value,
            "low": None,
            "high": None,
            "level": level,
            "method": "none: a confidence interval needs two rows of each class",
            "sentence": f"AUC {value:.3f} (no confidence interval: a class has only one row)",
        }
    result = auc_ci(
        rows.positive,
        rows.fold_scores,
        level=level,
        **rows.dependence,
        **rows.weighting,
    )
    return facts | {
        "auc": result.value,
        "low": result.low,
        "high": result.high,
        "level": result.level,
        "method": result.method,
        "folds": result.n_folds,
        "sentence": str(result),
    }


def roc_facts(rows: ReportRows, curve: RocCurve, level: float, random_state: Any) -> dict[str, Any]:
    """The curve at 500 thresholds at most, with the counts at each, and its band."""
    kept = thin(curve, threshold=rows.model.threshold)
    points = _with_model(curve, kept, rows.model.threshold)
    band = roc_band(
        rows.positive,
        rows.scores,
        level=level,
        n_resamples=rows.n_resamples(500),
        groups=rows.groups,
        random_state=random_state,
        **rows.weighting,
    )
    return {
        # The first threshold is above every score and flags nothing.
        "threshold": [None, *finite(points.threshold[1:])],
        "true_positives": counts(curve.true_positives[points.place]),
        "false_positives": counts(curve.false_positives[points.place]),
        "n_thresholds": len(curve.thresholds),
        "largest": LARGEST,
        "model": points.model,
        "youden": int(np.searchsorted(points.place, youden_index(curve))),
        "marks": [int(np.searchsorted(points.place, index_at(curve, f))) for f in FRACTIONS],
        "fractions": list(FRACTIONS),
        "band": {
            "fpr": shortened(band.fpr),
            "low": shortened(band.low),
            "high": shortened(band.high),
            "method": band.method,
        },
        # The intervals beside the slider assume independent rows of equal weight.
        "is_counted": rows.is_counted,
    }


class _Points(NamedTuple):
    """The thresholds of the page, and the point of the curve that each belongs to."""

    threshold: Floats
    place: Indices  # on the curve
    model: int  # the position of the model's own threshold


def _with_model(curve: RocCurve, kept: Indices, threshold: float) -> _Points:
    """The thresholds to keep, and that of the model, which need not be the score of a row."""
    at = _index(curve, curve.at(threshold=threshold))
    place = int(np.searchsorted(kept, at))
    own = curve.thresholds[kept]
    if own[place] == threshold:
        return _Points(own, kept, place)
    return _Points(np.insert(own, place + 1, threshold), np.insert(kept, place + 1, at), place + 1)


def youden_index(curve: RocCurve) -> int:
    """The index of the threshold with the largest Youden's index."""
    return _index(curve, curve.youden())


def index_at(curve: RocCurve, fraction: float) -> int:
    """The index of the lowest threshold that flags this fraction of the rows at most."""
    return _index(curve, curve.at(budget=fraction))


def _index(curve: RocCurve, point: OperatingPoint) -> int:
    # By the number of flagged rows, since two thresholds may both be infinite.
    return int(np.searchsorted(curve.flagged, point.flagged))


def thin(curve: RocCurve, most: int = MOST_POINTS, threshold: float = np.inf) -> Indices:
    """The indices of the thresholds to keep, evenly spaced along both rates and the flagged rows.

    The thresholds of the buttons and of the table are always among them, and that of the model.

    Examples
    --------
    >>> y = np.arange(10_000) % 2
    >>> curve = roc_curve(y, np.arange(10_000.0))
    >>> len(curve.thresholds), len(thin(curve)), len(thin(curve, most=100))
    (10001, 341, 74)
    """
    n = len(curve.thresholds)
    if n <= most:
        return np.arange(n)
    named = [0, n - 1, youden_index(curve), *(index_at(curve, f) for f in FRACTIONS)]
    if np.isfinite(threshold):
        named.append(_index(curve, curve.at(threshold=threshold)))
    # Steps along tpr are fine where the curve is steep, steps along fpr where it is flat. Some
    # are in ever smaller fractions of the rows, since the top of the list matters most.
    even = np.linspace(0, 1, (most - len(named)) // 3 - 15)
    top = np.geomspace(1 / curve.flagged[-1], 1, 45)
    axes = ((curve.tpr, even), (curve.fpr, even), (curve.flagged / curve.flagged[-1], even))
    indices = [np.searchsorted(axis, wanted) for axis, wanted in (*axes, (axes[2][0], top))]
    return np.unique(np.concatenate([named, *indices]).clip(0, n - 1)).astype(np.intp)


def separation(
    rows: ReportRows, curve: RocCurve, level: float, random_state: Any
) -> dict[str, Any]:
    """KS with its interval, and the accuracy ratio; with folds, KS is measured within them."""
    facts = {
        "ks": curve.ks(),
        "ks_low": None,
        "ks_high": None,
        "average_precision": _average_precision(curve),
        "ks_threshold": finite([curve.youden().threshold])[0],
        "accuracy_ratio": gain_curve(rows.positive, rows.scores, **rows.weighting).accuracy_ratio,
    }
    if min(curve.n_pos, curve.n_neg) < 2:
        return facts
    result = ks_ci(
        rows.positive,
        rows.fold_scores,
        level=level,
        random_state=random_state,
        **rows.dependence,
        **rows.weighting,
    )
    return facts | {"ks": result.value, "ks_low": result.low, "ks_high": result.high}


def _average_precision(curve: RocCurve) -> float:
    """The mean of the precision over the positives, as in scikit-learn."""
    precision = curve.true_positives[1:] / curve.flagged[1:]
    return float((np.diff(curve.tpr) * precision).sum())


def judged(
    rows: ReportRows,
    metric: Mapping[str, Any] | None,
    curve: RocCurve,
    level: float,
    random_state: Any,
) -> dict[str, Any] | None:
    """The metric that the model was trained for, with its interval; None if it is the AUC."""
    if not is_other(metric) or min(curve.n_pos, curve.n_neg) < 2:
        return None
    options = dict(metric)
    make: dict[str, Callable[..., MetricInterval]] = {
        "ks": ks_ci,
        "partial_auc": partial_auc_ci,
        "precision_at_k": precision_at_k_ci,
    }
    function = make[options.pop("metric")]
    arguments = {"level": level, "random_state": random_state, **rows.dependence, **rows.weighting}
    result = function(rows.positive, rows.fold_scores, **options, **arguments)
    return {
        "name": result.name,
        "where": result.where,
        "value": result.value,
        "low": result.low,
        "high": result.high,
        "sentence": str(result),
    }


def calibration(rows: ReportRows, level: float) -> dict[str, Any]:
    """Predicted probabilities and observed fractions of positives."""
    probability = rows.model.probabilities(rows.scores)[:, 1]
    result = calibration_table(rows.positive, probability, level=level, **rows.weighting)
    names = ("mean_probability", "observed", "low", "high")
    edges = np.linspace(0.0, 1.0, N_PROBABILITY_BINS + 1)
    drawn = [
        np.histogram(probability[own], edges, weights=rows.counted[own])[0]
        for own in (rows.positive, ~rows.positive)
    ]
    return {name: shortened(getattr(result, name), 6) for name in names} | {
        "count": counts(result.count),
        "brier": float(result.brier),
        "expected_error": float(result.expected_error),
        "histogram": {"pos": counts(drawn[0]), "neg": counts(drawn[1])},
        "verdict": _verdict(result, level),
    }


def _verdict(result: CalibrationTable, level: float) -> str:
    """Whether the predicted probabilities agree with the observed fractions, in a sentence."""
    inside = (result.low <= result.mean_probability) & (result.mean_probability <= result.high)
    n_bins, n_inside = len(inside), int(inside.sum())
    weights = result.count / result.count.sum()
    predicted = float((weights * result.mean_probability).sum())
    observed = float((weights * result.observed).sum())
    groups = (
        f"the predicted probability lies within the {100 * level:g}% confidence interval of the "
        f"observed fraction in {n_inside} of {n_bins} groups of rows; on average {predicted:.1%} "
        f"are predicted and {observed:.1%} observed"
    )
    # A group of calibrated probabilities is outside with probability 1 - level.
    if binom.sf(n_bins - n_inside - 1, n_bins, 1 - level) >= 0.05:
        return f"The probabilities agree with these rows: {groups}."
    off = result.mean_probability[~inside] - result.observed[~inside]
    side = "too high" if (off > 0).all() else "too low" if (off < 0).all() else None
    where = f"{side} in the other groups" if side else "too high in some groups, too low in others"
    return f"The probabilities do not agree with these rows: {groups}. They are {where}."


def distributions(rows: ReportRows) -> dict[str, Any]:
    """Histograms of the scores of both classes, with the same edges."""
    result = score_histogram(rows.positive, rows.scores, **rows.weighting)
    return {
        "edges": shortened(result.edges, 6),
        "pos": counts(result.pos),
        "neg": counts(result.neg),
    }


def make_curve(rows: ReportRows) -> RocCurve:
    """The ROC curve of all rows; it pools the folds of out-of-fold scores."""
    return roc_curve(rows.positive, rows.scores, **rows.weighting)


def threshold_rows(rows: ReportRows, level: float) -> dict[str, Any]:
    """The rates, with intervals, of flagging 1 %, 2 %, ... of the rows."""
    result = threshold_table(
        rows.positive,
        rows.scores,
        fractions=FRACTIONS,
        level=level,
        groups=rows.groups,
        **rows.weighting,
    )
    return {"method": result.method, "rows": [_threshold_row(row) for row in result.rows]}


def _threshold_row(row: Any) -> dict[str, Any]:
    point = row.point
    rates = {
        name: [getattr(point, name), *getattr(row, name)] for name in ("tpr", "fpr", "precision")
    }
    nothing = point.flagged == 0
    return {
        "fraction": row.fraction,
        "threshold": None if nothing else finite([point.threshold])[0],
        "flagged": counts([point.flagged])[0],
        "flagged_fraction": row.flagged_fraction,
        **rates,
        "lift": row.lift,
    }
