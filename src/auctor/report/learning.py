"""Learning curves, from the history of whichever learner was fitted."""

from collections.abc import Callable
from typing import Any

import numpy as np

from auctor.report.plain import plain, shortened

_MOST_POINTS = 200


def learning_facts(estimator: Any, about: dict[str, Any]) -> list[dict[str, Any]]:
    """The curve that the caller gave, if any, and those of the estimator."""
    given = about.get("learning_curve")
    curves = [] if given is None else [_checked(given)]
    history = getattr(estimator, "history_", None)
    readers: tuple[Callable[[Any], Any], ...] = (
        _rounds,
        _smoothed,
        _validation,
        _losses,
        _subtrees,
    )
    curves += [curve for read in readers if (curve := read(history)) is not None]
    is_partial = getattr(estimator, "fpr_range", None) is not None
    mixed = _mixture(history, "partial AUC" if is_partial else "AUC")
    return [*curves, mixed] if mixed is not None else curves


def _checked(given: Any) -> dict[str, Any]:
    """The caller's curve, completed; x and y need the same length."""
    curve: dict[str, Any] = plain(given)
    if not isinstance(curve, dict) or len(curve.get("x", ())) != len(curve.get("y", (1,))):
        raise ValueError(
            "about['learning_curve'] has no lists x and y of the same length; give a dict with both"
        )
    words = {"title": "Learning curve", "x_label": "x", "y_label": "AUC"}
    return {"low": None, "high": None, **words, **curve}


def _curve(y: Any, title: str, x_label: str, y_label: str, x: Any = None) -> dict[str, Any] | None:
    """A curve over x, by default 1, 2, 3, ...; None if it has fewer than two points."""
    values = np.asarray(y, dtype=np.float64)
    if len(values) < 2:
        return None
    positions = np.arange(1, len(values) + 1) if x is None else np.asarray(x, dtype=np.float64)
    kept = np.unique(np.linspace(0, len(values) - 1, _MOST_POINTS).round().astype(int))
    return {
        "title": title,
        "x": shortened(positions[kept], 6),
        "y": shortened(values[kept], 6),
        "low": None,
        "high": None,
        "x_label": x_label,
        "y_label": y_label,
    }


def _rounds(history: Any) -> Any:
    z = [step.z for step in getattr(history, "rounds", None) or [] if hasattr(step, "z")]
    title = "Bound on the training error by round"
    return _curve(np.cumprod(z), title, "rounds", "bound on the fraction of misordered pairs")


def _smoothed(history: Any) -> Any:
    values = getattr(history, "smoothed_auc", [])
    return _curve(values, "Smoothed AUC by iteration", "iterations", "smoothed AUC, training rows")


def _validation(history: Any) -> Any:
    values = getattr(history, "validation_auc", [])
    return _curve(values, "Validation AUC by round", "rounds", "AUC, held-out rows")


def _losses(history: Any) -> Any:
    values = getattr(history, "mean_losses", [])
    return _curve(
        values, "Training loss by round, mean of the runs", "rounds", "margin loss, training rows"
    )


def _mixture(history: Any, metric: str) -> Any:
    """Boosted trees beside a smooth model, whose weight is constant along the curve."""
    mixture = getattr(history, "mixture", None)
    if mixture is None or mixture.weight == 0:
        return None
    # Without trees there is no score if the smooth model has weight 0.
    start = int(mixture.weight == 1 and mixture.checks[0] == 0)
    title = f"{metric} by number of trees, which have weight {mixture.weight:.3g}"
    words = title, "trees", f"{metric}, held-out rows"
    return _curve(mixture.auc_by_size[start:], *words, mixture.checks[start:])


def _subtrees(history: Any) -> Any:
    trees = sorted(getattr(history, "subtrees", []), key=lambda tree: tree.n_leaves)
    sizes = [tree.n_leaves for tree in trees]
    return _curve(
        [t.auc for t in trees],
        "AUC by size of the pruned tree",
        "leaves",
        "AUC, held-out rows",
        sizes,
    )
