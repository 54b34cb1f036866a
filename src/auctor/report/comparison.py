"""The model beside others on the same rows."""

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
    """For each other score the paired difference in the metric of the loss, and in AUC.

    Within folds where there are any.
    """
    found = []
    for name, scores in (baseline or {}).items():
        told = {
            **rows.told,
            **rows.within,
            "y_true": rows.positive,
            "score_a": rows.fold_scores,
            "score_b": scores,
            "instability": (instability or {}).get(name),
            "level": level,
            "n_resamples": rows.n_resamples(500),
            "random_state": random_state,
        }
        area = compare_metric(metric="auc", **told)
        judged = compare_metric(**metric, **told) if is_other(metric) else area
        found.append(
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
    return found


def at_headline(compared: list[dict[str, Any]], headline: Mapping[str, Any] | None) -> None:
    """Move both KS of each comparison to where the page's own KS stands; differences stay.

    Each KS is corrected for its own bias, which is known roughly: a page shows one value of it.
    """
    for one in compared:
        if headline is not None and one["metric"] == headline["name"] == "KS":
            shift = headline["value"] - one["own_value"]
            one["own_value"] += shift
            one["value"] = min(max(one["value"] + shift, 0.0), 1.0)


def is_other(metric: Mapping[str, Any] | None) -> TypeGuard[Mapping[str, Any]]:
    """Whether the model is judged by something else than the AUC."""
    return metric is not None and metric["metric"] != "auc"


def _facts(found: MetricComparison) -> dict[str, Any]:
    return {
        "value": found.value_b,
        "own_value": found.value_a,
        "difference": found.difference,
        "low": found.low,
        "high": found.high,
        "p_value": found.p_value,
        "method": found.method,
        "sentence": str(found),
    }
