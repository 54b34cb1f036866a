"""One model of every kind of feature, with steps that tell each bin from the others."""

import numpy as np
import pytest

from auctor.data import category_feature, number_feature
from auctor.models import AdditiveModel, Calibration


def build_model(classes=("no", "yes"), **changes):
    """An AdditiveModel over two numbers, a text, a coded number and an empty column."""
    fields = {
        "classes": classes,
        "threshold": 0.25,
        "calibration": Calibration(1.7, -0.3),
        "features": (
            number_feature("age", np.array([0.1, 30.5, 1e300])),
            number_feature("flat", np.array([])),
            category_feature("town", ("", "Ärger", "b")),
            category_feature("code", (-1, 2.5, 7)),
            category_feature("empty", ()),
        ),
        "steps": (
            np.array([0.125, -1.0, 0.1, 2.0 / 3.0, 3.0]),
            np.array([0.5, 0.0]),
            np.array([-0.75, 0.3, -0.2, 1e-9]),
            np.array([0.0, 11.0, -13.0, 17.0]),
            np.array([-0.0625]),
        ),
        "intercept": -0.1,
    }
    return AdditiveModel(**{**fields, **changes})


@pytest.fixture
def model():
    return build_model()


@pytest.fixture
def columns():
    """Rows that meet every bin, every category, unseen ones and missing values."""
    return {
        "age": [0.1, 0.2, 30.5, 31.0, 1e301, None, -1e308, 0.0],
        "flat": [1.0, None, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
        "town": ["", "Ärger", "b", "unseen", None, "b", "b", "b"],
        "code": [-1.0, 2.5, 7.0, 8.0, None, 7.0, 7.0, 7.0],
        "empty": ["x", None, "x", "x", "x", "x", "x", "x"],
    }
