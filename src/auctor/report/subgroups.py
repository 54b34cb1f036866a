"""Facts on groups of rows: subgroups by the values of a column, and periods of time."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from auctor.metrics import GroupTable, by_group
from auctor.metrics.group_rows import GroupedRows
from auctor.metrics.group_values import GroupValues
from auctor.metrics.sample import read_sample
from auctor.report.periods import read_periods
from auctor.report.plain import LARGEST, clean
from auctor.report.rows import ReportRows

MOST_GROUPS = 40  # in the table of a column
MOST_TESTS = 80
_MIN_ROWS = 10.0

Compare = Literal["rest", "pairs"]


def subgroup_facts(
    rows: ReportRows, by: Mapping[str, Any] | None, compare: Compare, level: float
) -> list[dict[str, Any]]:
    """The table of each column, with its verdicts."""
    return [
        {"name": clean(name), **_table_facts(_by_group(rows, name, values, compare, level))}
        for name, values in (by or {}).items()
    ]


def _by_group(
    rows: ReportRows, name: str, values: Any, compare: Compare, level: float
) -> GroupTable:
    try:
        return by_group(
            rows.positive,
            rows.scores,
            values,
            threshold=rows.model.threshold,
            compare=compare,
            probability=_probability(rows),
            clusters=rows.groups,
            instability=_instability(rows),
            level=level,
            **rows.weighting,
        )
    except ValueError as error:
        raise ValueError(f"by[{name!r}]: {error}") from None


def period_facts(rows: ReportRows, time: Any, level: float) -> dict[str, Any] | None:
    """The table of the periods, in the order of time; None if there is no time."""
    if time is None:
        return None
    values = read_periods(time, len(rows.positive), rows.folds)
    table = _of_periods(rows, values, level)
    return _table_facts(table) | {"sentences": table.sentences("period")}


def _of_periods(rows: ReportRows, values: GroupValues, level: float) -> GroupTable:
    scores = {"scores": rows.scores, "probability": _probability(rows)}
    sample = read_sample(rows.positive, scores, sample_weight=rows.weight)
    codes = rows.group_codes
    if codes is not None and sample.kept is not None:
        codes = codes[sample.kept]
    grouped = GroupedRows(
        sample,
        values.keep(sample.kept),
        codes,
        rows.model.threshold,
        inflation=1.0 + _instability(rows),
    )
    return grouped.table("rest", _MIN_ROWS, level)


def _probability(rows: ReportRows) -> Any:
    return np.asarray(rows.model.probabilities(rows.scores)[:, 1])


def _instability(rows: ReportRows) -> float:
    """The fraction of the AUC's variance from the training sets, if scores are out of fold."""
    if rows.folds is None:
        return 0.0
    return 1.0 if rows.instability is None else rows.instability


def _table_facts(table: GroupTable) -> dict[str, Any]:
    """A table in plain values, with the first groups and the most significant tests."""
    facts = table.to_dict()
    tests = sorted(table.tests, key=lambda test: test.p_adjusted)
    threshold = min(max(table.threshold, -LARGEST), LARGEST)
    return facts | {
        "threshold": threshold,
        "n_groups": len(table.groups),
        "n_tests": len(tests),
        "n_small": len(table.small),
        "n_differing": len(table.differing),
        "differing": _differing(table),
        "groups": facts["groups"][:MOST_GROUPS],
        "tests": [test.to_dict() for test in tests[:MOST_TESTS]],
    }


def _differing(table: GroupTable) -> dict[str, dict[str, float]]:
    """Group -> the measures in which it differs, with the smallest adjusted p-value of each."""
    smallest: dict[str, dict[str, float]] = {group.name: {} for group in table.groups[:MOST_GROUPS]}
    for test in table.differing:  # sorted by the p-value
        for name in (test.group, test.other):  # a pair differs on both sides
            if name in smallest:
                smallest[name].setdefault(test.measure, test.p_adjusted)
    return {name: measures for name, measures in smallest.items() if measures}
