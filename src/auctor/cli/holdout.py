"""`fit --holdout`: the final model measured on another table, beside the cross-validation."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from auctor._text import file_name, interval
from auctor._typing import Bools, Floats
from auctor.cli.facts import interval_facts
from auctor.cli.labels import match_labels, read_target
from auctor.cli.metric import Metric
from auctor.cli.model_rows import read_labelled
from auctor.cli.options import ColumnRoles
from auctor.cli.problem import Problem
from auctor.cli.tables import TableFile
from auctor.metrics import (
    AucInterval,
    MetricInterval,
    auc_ci,
    ks_ci,
    partial_auc_ci,
    precision_at_k_ci,
)
from auctor.models import Model


@dataclass(frozen=True, eq=False)
class HoldoutResult:
    """The metrics of the final model on the rows of another table."""

    table: str  # its name
    positive: Bools
    scores: Floats
    metrics: dict[str, AucInterval | MetricInterval]  # by name: auc, ks, and that of --metric

    def facts(self) -> dict[str, Any]:
        """The result in plain values."""
        n_pos = int(np.count_nonzero(self.positive))
        values = [interval_facts(name, metric) for name, metric in self.metrics.items()]
        facts: dict[str, Any] = {
            "table": self.table,
            "n_pos": n_pos,
            "n_neg": len(self.positive) - n_pos,
        }
        for value in values:
            facts |= value
        return facts

    def lines(self, learner: str) -> list[str]:
        """The result in lines of text."""
        parts = []
        for name, metric in self.metrics.items():
            title = name.upper() if name in ("auc", "ks") else name
            ends = interval(metric.low, metric.high, metric.level)
            parts.append(f"{title} {metric.value:.3f} ({ends})")
        n_pos = int(np.count_nonzero(self.positive))
        return [
            f"{learner} on {self.table} ({len(self.positive)} rows, {n_pos} of them positive): "
            f"{', '.join(parts)}"
        ]


def check_labels(source: TableFile, problem: Problem, roles: ColumnRoles) -> None:
    """Raise an error, before the fit, for labels that the model will not know."""
    text = [roles.target] if isinstance(problem.labels[1], str) else []
    column = source.read([roles.target], text=text)[roles.target]
    match_labels(read_target(column, roles.target), problem.labels, roles.target)


def measure_holdout(
    model: Model, source: TableFile, roles: ColumnRoles, metric: Metric, seed: int
) -> HoldoutResult:
    """Score the rows of the table and measure."""
    rows = read_labelled(model, source, roles.evaluated)
    sample: dict[str, Any] = {"sample_weight": rows.weight, "groups": rows.groups}
    resampled = {**sample, "random_state": seed}
    metrics: dict[str, AucInterval | MetricInterval] = {
        "auc": auc_ci(rows.positive, rows.scores, **sample),
        "ks": ks_ci(rows.positive, rows.scores, **resampled),
    }
    if metric.has_own_interval:
        arguments = metric.arguments(len(rows.scores))
        measure = partial_auc_ci if arguments.pop("metric") == "partial_auc" else precision_at_k_ci
        metrics[str(metric)] = measure(rows.positive, rows.scores, **arguments, **resampled)
    return HoldoutResult(file_name(source.name), rows.positive, rows.scores, metrics)
