"""The model beside others on the same rows."""

from collections.abc import Mapping
from typing import Any

from auctor.metrics import compare_auc
from auctor.report.plain import clean
from auctor.report.rows import ReportRows


def comparisons(
    rows: ReportRows, baseline: Mapping[str, Any] | None, level: float, random_state: Any
) -> list[dict[str, Any]]:
    """For each other score the paired difference of the AUCs, within folds where there are any."""
    found = []
    for name, scores in (baseline or {}).items():
        told = compare_auc(
            rows.positive,
            rows.fold_scores,
            scores,
            level=level,
            method=None if rows.weight is None else "bootstrap",
            n_resamples=rows.n_resamples(2000),
            groups=rows.groups,
            folds=rows.folds,
            random_state=random_state,
            **rows.told,
        )
        found.append(
            {
                "name": clean(name),
                "auc": told.auc_b,
                "own_auc": told.auc_a,
                "difference": told.difference,
                "low": told.low,
                "high": told.high,
                "p_value": told.p_value,
                "method": told.method,
                "sentence": str(told),
            }
        )
    return found
