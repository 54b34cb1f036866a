"""Hostile labels, scores and weights through the metrics: a fraction, or a clear error."""

from collections.abc import Callable
from typing import Any

import numpy as np
from fuzz.outcome import RefusedError, call
from fuzz.vectors import draw_labels, draw_scores, draw_weights

from auctor import metrics

Rng = np.random.Generator


def _region(rng: Rng) -> dict[str, Any]:
    ends = sorted(rng.choice([0.0, 0.1, 0.3, 0.5, 1.0], size=2, replace=False).tolist())
    return {str(rng.choice(["fpr_range", "tpr_range"])): tuple(ends)}


def _top(rng: Rng) -> float:
    return float(rng.choice([1, 2, 5, 0.1, 0.5]))


# Metric -> a call with labels, scores and weights; all of them lie between 0 and 1.
METRICS: dict[str, Callable[[Rng, Any, Any, dict[str, Any]], float]] = {
    "auc": lambda rng, y, s, options: metrics.auc(y, s, **options),
    "ks": lambda rng, y, s, options: metrics.ks(y, s, **options),
    "roc_curve": lambda rng, y, s, options: metrics.roc_curve(y, s, **options).auc(),
    "partial_auc": lambda rng, y, s, options: metrics.partial_auc(y, s, **_region(rng), **options),
    "precision_at_k": lambda rng, y, s, options: metrics.precision_at_k(
        y, s, k=_top(rng), **options
    ),
    "recall_at_k": lambda rng, y, s, options: metrics.recall_at_k(y, s, k=_top(rng), **options),
    "margin_auc": lambda rng, y, s, options: metrics.margin_auc(y, s, rho=0.1, **options),
    "by_group": lambda rng, y, s, options: (
        metrics.by_group(
            y, s, np.resize(["a", "b", None, "c"], np.size(y)), threshold=0.0, min_rows=1, **options
        ).overall.flagged.value
    ),
}


def attack(rng: Rng) -> None:
    """One metric of one hostile sample."""
    n = int(rng.choice([1, 2, 3, 8, 30]))
    labels, kind_of_labels = draw_labels(rng, n)
    scores, kind_of_scores = draw_scores(rng, n)
    weights, kind_of_weights = draw_weights(rng, n)
    options: dict[str, Any] = {"sample_weight": weights}
    if rng.random() < 0.1:
        options["pos_label"] = [0, 1, "no", (0, 1), np.nan][rng.integers(5)]
    name = str(rng.choice(list(METRICS)))
    what = f"{name} of {n} rows: labels {kind_of_labels}; scores {kind_of_scores}; weights "
    what += f"{kind_of_weights}; pos_label {options.get('pos_label')}"
    try:
        value = call(what, lambda: METRICS[name](rng, labels, scores, options))
    except RefusedError:
        return
    assert 0 <= value <= 1, f"{what}: {value}"
