"""The part of a model that every form has: its classes, its threshold and its calibration."""

from typing import NamedTuple

from auctor.data.features import Category


class Calibration(NamedTuple):
    """The probability of the positive class for a score: 1 / (1 + exp(-(slope * score + offset))).

    ``slope`` is positive, so that a larger score never has a smaller probability.
    """

    slope: float
    offset: float


class Shared(NamedTuple):
    """The fields of a model file that do not depend on the form of the model."""

    classes: tuple[Category, Category]  # (negative, positive)
    threshold: float
    calibration: Calibration
