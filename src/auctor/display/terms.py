"""Which terms of an additive score to draw: checks that its displays share."""

from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

from auctor.models import AdditiveModel


def additive_model(found: Any) -> AdditiveModel:
    """The additive model of an estimator, or the model itself."""
    model = getattr(found, "model_", found)
    if not isinstance(model, AdditiveModel):
        raise ValueError(
            f"{type(found).__name__} holds no additive model; give a fitted SmoothAUCBoost or "
            "another estimator whose model_ is an AdditiveModel"
        )
    return model


def read_terms(features: Any, names: Sequence[str]) -> list[int]:
    """Positions of the terms asked for, by name or position, in the order given.

    Examples
    --------
    >>> read_terms(["b", 0, "a x b"], ["a", "b", "a x b"])
    [1, 0, 2]
    """
    if isinstance(features, (str, Integral)):
        features = [features]
    if isinstance(features, bytes) or not isinstance(features, Iterable):
        raise ValueError(f"features is {features!r}; give a list of names or positions")
    found = [_read_term(item, names) for item in features]
    if not found:
        raise ValueError("features is empty; name one or more, or give None for all")
    for place, term in enumerate(found):
        if term in found[:place]:
            raise ValueError(f"features has {names[term]!r} twice")
    return found


def _read_term(item: Any, names: Sequence[str]) -> int:
    if isinstance(item, str) and item in names:
        return list(names).index(item)
    if is_whole(item) and 0 <= item < len(names):
        return int(item)
    if isinstance(item, str):
        shown = ", ".join(names[:10]) + (", ..." if len(names) > 10 else "")
        raise ValueError(f"features has {item!r}; the model has {shown}")
    raise ValueError(f"features has {item!r}; give names, or positions from 0 to {len(names) - 1}")


def check_count(value: Any, name: str) -> int:
    """A whole number of 1 or more."""
    if not is_whole(value) or value < 1:
        raise ValueError(f"{name} is {value!r}; give a whole number of 1 or more")
    return int(value)


def check_share(value: Any, name: str) -> float:
    """A share above 0, at most 1."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0.0 < value <= 1.0:
        raise ValueError(f"{name} is {value!r}; give a share above 0, at most 1")
    return float(value)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, of Python or of numpy; truth values are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)
