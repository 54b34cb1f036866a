"""What the page takes from a training record: the training rows, and the metric of training."""

from typing import Any

from auctor._learner_names import class_name
from auctor._text import rows_words
from auctor.metrics.training_metric import read_metric
from auctor.models import TrainingRecord


def record_facts(record: TrainingRecord) -> dict[str, Any]:
    """Entries of ``about`` of ``summarize``; those that the caller gives take their place."""
    origin = record.origin
    rows = rows_words(origin.table, record.n_rows, record.n_pos)
    known = {
        "learner": origin.learner and class_name(origin.learner),
        "parameters": origin.parameters,
        "target": origin.target,
        "trained_on": f"{rows}; fitted on {origin.date[:10]}" if origin.date else rows,
        "trained_for": origin.metric,
        "training_table_hash": origin.sha256,
    }
    return {name: value for name, value in known.items() if value}


def recorded_metric(record: TrainingRecord | None, n_rows: int) -> dict[str, Any] | None:
    """The metric of training as an argument of ``summarize``; None if it is not known.

    It is not known either if it counts more rows than there are, as p@k:100 does in 50 rows.
    """
    metric = None if record is None else read_metric(record.origin.metric or "")
    if metric is None or (metric.k or 0) >= n_rows:
        return None
    return metric.arguments(n_rows)
