"""Stored models: today's code must fit them again, and must load and score them alike.

Numbers are compared to 1e-12: a processor may fuse a multiplication and an addition. What a fit
found by climbing is compared more loosely; what a stored model scores never is.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from golden.cases import CASES, messy_table

import auctor
from auctor.models import to_json

FOLDER = Path(__file__).parent
# SmoothAUCBoost climbs until a step promises less than 1e-7, some of it through libraries for
# banded systems: what these round differently moves where it stops.
FIT_TOLERANCE = {"smooth_aucboost": 1e-6, "exactboost_cv": 1e-6}


def assert_same(found, stored, tolerance, path="model"):
    """Two JSON values are equal, numbers to the tolerance."""
    assert type(found) is type(stored), path
    if isinstance(stored, dict):
        assert list(found) == list(stored), path
        for name in stored:
            assert_same(found[name], stored[name], tolerance, f"{path}.{name}")
    elif isinstance(stored, list):
        assert len(found) == len(stored), path
        for i, (a, b) in enumerate(zip(found, stored, strict=True)):
            assert_same(a, b, tolerance, f"{path}[{i}]")
    elif isinstance(stored, float):
        assert found == pytest.approx(stored, rel=tolerance, abs=tolerance), path
    else:
        assert found == stored, path


@pytest.mark.parametrize("name", CASES)
def test_stored_model_loads_and_scores_as_it_did(name):
    model = auctor.load(FOLDER / f"{name}.model.json")
    X, _ = messy_table()
    stored = json.loads((FOLDER / f"{name}.scores.json").read_text())
    assert model.decision_function(X) == pytest.approx(stored, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_fit_gives_the_stored_model(name):
    stored = json.loads((FOLDER / f"{name}.model.json").read_text())
    fitted = json.loads(to_json(CASES[name]()))
    # The calibration ends an iteration in floating point: more of its digits may move.
    calibrations = [list(model.pop("calibration").values()) for model in (fitted, stored)]
    tolerance = FIT_TOLERANCE.get(name, 1e-12)
    assert np.allclose(*calibrations, rtol=max(1e-9, tolerance))
    del fitted["sha256"], stored["sha256"]
    assert_same(fitted, stored, tolerance)
