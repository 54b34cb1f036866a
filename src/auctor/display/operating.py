"""The operating point that a display marks: a threshold, or the one that meets a wish."""

from typing import Any

from auctor.display.predictions import Predictions
from auctor.metrics import OperatingPoint, roc_curve, threshold_at


def choose_point(
    found: Predictions, *, threshold: float | None = None, **wishes: float | None
) -> tuple[OperatingPoint | None, str]:
    """The point of the first score that was asked for, if any, and the wish in words."""
    given: dict[str, Any] = {name: wish for name, wish in wishes.items() if wish is not None}
    if threshold is None and not given:
        return None, ""
    if threshold is not None and given:
        raise ValueError(f"give threshold or one of {', '.join(wishes)}; got several")
    if found.folds is not None:
        raise ValueError(
            "an operating point is a threshold of one model, and the folds have one each; "
            "leave it out, or draw the scores of one model"
        )
    score = next(iter(found.scores.values()))
    if threshold is not None:
        return roc_curve(found.positive, score, **found.told).at(threshold=threshold), ""
    chosen = threshold_at(found.positive, score, **given, **found.told)
    return chosen.point, chosen.criterion
