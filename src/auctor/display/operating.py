"""The operating point that a display marks: a given threshold, or one that meets a criterion."""

from typing import Any

from auctor.display.predictions import Predictions
from auctor.metrics import OperatingPoint, roc_curve, threshold_at


def choose_point(
    rows: Predictions, *, threshold: float | None = None, **criteria: float | None
) -> tuple[OperatingPoint | None, str]:
    """The operating point of the first score, if one was asked for, and the criterion in words."""
    given: dict[str, Any] = {name: value for name, value in criteria.items() if value is not None}
    if threshold is None and not given:
        return None, ""
    if threshold is not None and given:
        raise ValueError(
            f"threshold and {next(iter(given))} are given; give threshold or one of "
            f"{', '.join(criteria)}"
        )
    if rows.folds is not None:
        raise ValueError(
            "folds and an operating point are given, but every fold has a model with a threshold "
            "of its own; give the scores of one model, or leave the operating point out"
        )
    score = next(iter(rows.scores.values()))
    if threshold is not None:
        return roc_curve(rows.positive, score, **rows.options).at(threshold=threshold), ""
    chosen = threshold_at(rows.positive, score, **given, **rows.options)
    return chosen.point, chosen.criterion
