"""Paired comparisons of the model with other scores of the same rows."""

from collections.abc import Mapping
from typing import Any, TypeGuard

from auctor.metrics import MetricComparison, compare_metric
from auctor.report.plain import clean
from auctor.report.rows import ReportRows


def comparisons(
    rows: ReportRows,
    baseline: Mapping[str, Any] | None,
    instability: Mapping[str, float] | None,
    metric: Mapping[str, Any] | None,
    level: float,
    random_state: Any,
) -> list[dict[str, Any]]:
    """For each baseline the paired difference in the metric and in AUC, within folds if any."""
    compared = []
    for name, scores in (baseline or {}).items():
        arguments = {
            **rows.weighting,
            **rows.dependence,
            "y_true": rows.positive,
            "score_a": rows.fold_scores,
            "score_b": scores,
            "instability": (instability or {}).get(name),
            "level": level,
            "n_resamples": rows.n_resamples(500),
            "random_state": random_state,
        }
        area = compare_metric(metric="auc", **arguments)
        judged = compare_metric(**metric, **arguments) if is_other(metric) else area
        compared.append(
            {
                "name": clean(name),
                "metric": judged.name,
                "where": judged.where,
                "auc": area.value_b,
                "own_auc": area.value_a,
                **_facts(judged),
                "in_auc": _facts(area),
            }
        )
    return compared


def at_headline(compared: list[dict[str, Any]], headline: Mapping[str, Any] | None) -> None:
    """Shift both KS of each comparison so that the model's KS is that of the summary.

    Each KS is corrected for a bias that is known only roughly, so that two computations of the
    same KS differ a little. The page shows one value; the differences do not change.
    """
    for one in compared:
        if headline is not None and one["metric"] == headline["name"] == "KS":
            shift = headline["value"] - one["own_value"]
            one["own_value"] += shift
            one["value"] = min(max(one["value"] + shift, 0.0), 1.0)


def is_other(metric: Mapping[str, Any] | None) -> TypeGuard[Mapping[str, Any]]:
    """Whether the metric is another one than the AUC."""
    return metric is not None and metric["metric"] != "auc"


def _facts(result: MetricComparison) -> dict[str, Any]:
    return {
        "value": result.value_b,
        "own_value": result.value_a,
        "difference": result.difference,
        "low": result.low,
        "high": result.high,
        "p_value": result.p_value,
        "method": result.method,
        "sentence": str(result),
    }
