"""What training guarantees, in plain words; the certificate itself is shown under details."""

from typing import Any, TypeGuard


def guarantee(estimator: Any) -> str | None:
    """A sentence on the training rows or on new rows; None if there is nothing worth saying.

    A bound of 1 or more says nothing about a loss between 0 and 1.
    """
    certificate = getattr(estimator, "certificate_", None)
    values = {} if certificate is None else certificate.values
    if _is_number(bound := values.get("best_bound")) and bound < 1:
        return (
            f"With a probability of {1 - values['delta']:.0%}, the training loss on new rows from "
            f"the same distribution is at most {bound:.3f} (a proven bound, not an estimate)."
        )
    if _is_number(area := values.get("auc")):
        return (
            f"On the rows that it was trained on, the model has the AUC {area:.3f}. New rows are "
            "expected to have that of the results above, not this one."
        )
    return None


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, (int, float)) and not isinstance(value, bool)
