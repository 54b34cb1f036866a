"""Checks of arguments that the displays of additive models share."""

from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from auctor._checks import is_whole
from auctor._text import first_few
from auctor.models import AdditiveModel, SumModel


def additive_model(estimator: Any) -> AdditiveModel:
    """The additive model of a fitted estimator; a model is returned itself."""
    model = getattr(estimator, "model_", estimator)
    if isinstance(model, SumModel):
        raise ValueError(
            "the score is a sum of models, of which score plots would show the additive part only; "
            "auctor.report draws the partial dependence of both parts. To draw the additive part "
            "alone, give it: model.parts[0]"
        )
    if not isinstance(model, AdditiveModel):
        raise ValueError(
            f"{type(estimator).__name__} has no additive model; give a fitted SmoothAUCBoost or "
            "another estimator whose model_ is an AdditiveModel"
        )
    return model


def read_terms(features: Any, names: Sequence[str]) -> list[int]:
    """Positions of the requested terms, which are given by name or position.

    Examples
    --------
    >>> read_terms(["b", 0, "a x b"], ["a", "b", "a x b"])
    [1, 0, 2]
    """
    if isinstance(features, (str, Integral)):
        features = [features]
    if isinstance(features, bytes) or not isinstance(features, Iterable):
        raise ValueError(f"features is {features!r}; give a list of names or positions")
    terms = [_read_term(item, names) for item in features]
    if not terms:
        raise ValueError("features is empty; give one or more, or None for all")
    for position, term in enumerate(terms):
        if term in terms[:position]:
            raise ValueError(f"features has {names[term]!r} twice; give it once")
    return terms


def _read_term(item: Any, names: Sequence[str]) -> int:
    if isinstance(item, str) and item in names:
        return list(names).index(item)
    if is_whole(item) and 0 <= item < len(names):
        return int(item)
    if isinstance(item, str):
        raise ValueError(
            f"features has {item!r}; give terms of the model: "
            f"{first_few(names, most=10, quote=False)}"
        )
    raise ValueError(f"features has {item!r}; give names, or positions from 0 to {len(names) - 1}")


def check_central(value: Any) -> float:
    """Return the fraction of values that an x axis covers, above 0 and at most 1."""
    is_number = isinstance(value, (int, float, np.number)) and not isinstance(value, bool)
    if not is_number or not 0 < value <= 1:
        raise ValueError(f"central is {value!r}; give a number above 0 and at most 1")
    return float(value)
