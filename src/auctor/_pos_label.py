"""The positive class of an estimator, also of one inside a pipeline or a search."""

from typing import Any


def asked_pos_label(estimator: Any) -> Any:
    """The ``pos_label`` that an estimator was given, which need not be fitted; None if none was."""
    while True:
        if getattr(estimator, "pos_label", None) is not None:
            return estimator.pos_label
        if getattr(estimator, "steps", None):
            estimator = estimator.steps[-1][1]
        elif hasattr(estimator, "estimator"):
            estimator = estimator.estimator
        else:
            return None


def grows_towards(fitted: Any) -> Any:
    """The label of the class for which ``decision_function`` is larger.

    Learners of auctor have it in ``pos_label_``; those of other libraries, the larger label.
    """
    inner = fitted
    while not hasattr(inner, "pos_label_"):
        if getattr(inner, "steps", None):
            inner = inner.steps[-1][1]
            continue
        name = next((own for own in ("best_estimator_", "estimator_") if hasattr(inner, own)), None)
        if name is None:
            return fitted.classes_[1]
        inner = getattr(inner, name)
    return inner.pos_label_
