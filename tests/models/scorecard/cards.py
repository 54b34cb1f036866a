"""Models with every kind of term and hostile names, and rows that meet every bin."""

import numpy as np
from hypothesis import strategies as st

from auctor.data import category_feature, number_feature
from auctor.models import (
    AdditiveModel,
    Calibration,
    LinearModel,
    LinearTerm,
    Surface,
    sum_models,
)

SCRIPT = "<script>alert(1)</script>"
FORMULA = "=1+cmd|' /C calc'!A0"
NAMES = ("age", SCRIPT, FORMULA)
TOWNS = ("", "@sum", "b", SCRIPT)
CUTS = (-0.5, 0.15000000000000002, 30.5, 1e300)
_SHARED = (("good", "bad"), 0.25, Calibration(1.7, -0.3))


def additive(**changes):
    """Steps of two numbers and a text, and a surface of the first number and the text."""
    axes = (number_feature("age", np.array([20.0, 40.0])), category_feature(FORMULA, TOWNS[:2]))
    values = np.array([[0.0, 0.4, -0.2], [0.1, 0.2, 0.3], [-0.5, 0.0, 1.1], [0.7, -0.9, 0.05]])
    fields = {
        "features": (
            number_feature("age", np.array(CUTS)),
            number_feature(SCRIPT, np.array([1.0])),
            category_feature(FORMULA, TOWNS),
        ),
        "steps": (
            np.array([0.125, -1.0, 0.1, 2.0 / 3.0, 3.0, 3.5]),
            np.array([0.5, 0.0, 0.03]),
            np.array([-0.75, 0.3, -0.2, 1e-9, 0.3]),
        ),
        "intercept": -0.1,
        "surfaces": (Surface((0, 2), axes, values),),
    }
    return AdditiveModel(*_SHARED, **{**fields, **changes})


def linear(**changes):
    """Two numbers with a weight, and a text."""
    columns = (
        LinearTerm("age", 0.031, 0.4),
        LinearTerm(SCRIPT, -0.7, 0.0),
        LinearTerm(FORMULA, 0.0, 0.1, TOWNS, (0.3, -0.2, 0.5, 0.5)),
    )
    return LinearModel(*_SHARED, columns, 0.2, **changes)


MODELS = {
    "additive": additive(),
    "linear": linear(),
    "sum": sum_models([additive(), linear()], weights=[1.0, 0.5]),
}


def _neighbours(number):
    return [number, np.nextafter(number, -np.inf), np.nextafter(number, np.inf)]


# Cuts, their neighbours in floating point, and what float32 makes of them.
BORDERS = [
    float(value)
    for cut in (*CUTS[:3], 1.0, 20.0, 40.0)
    for value in (*_neighbours(cut), np.float32(cut))
]
numbers = st.one_of(st.sampled_from(BORDERS), st.floats(-1e6, 1e6), st.none(), st.just(-9.0))
towns = st.sampled_from([*TOWNS, "unseen", None])
tables = st.lists(st.tuples(numbers, numbers, towns), min_size=1, max_size=12).map(
    lambda rows: dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))
)


def every_row():
    """A row for each combination of bins of the additive model, as a dict of columns."""
    ages = [None, -3.0, 0.0, 5.0, 25.0, 35.0, 41.0, 1e301]
    rows = [(a, b, c) for a in ages for b in (None, 0.0, 2.0) for c in (*TOWNS, None)]
    return dict(zip(NAMES, map(list, zip(*rows, strict=True)), strict=True))
