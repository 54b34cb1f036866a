"""The metric of ``--metric``: what a model is trained for and compared by."""

from auctor.cli.errors import UsageError
from auctor.metrics.training_metric import Metric, read_metric

__all__ = ["Metric", "parse_metric"]


def parse_metric(text: str) -> Metric:
    """Read the value of ``--metric``."""
    metric = read_metric(text)
    if metric is None:
        raise UsageError(f"--metric is {text!r}; give auc, ks, p@k:100, p@k:0.1 or pauc:0-0.1")
    return metric
