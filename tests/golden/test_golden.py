"""Stored models: today's code must fit them again, and must load and score them alike."""

import json
from pathlib import Path

import numpy as np
import pytest
from golden.cases import CASES, messy_table

import auctor

FOLDER = Path(__file__).parent


@pytest.mark.parametrize("name", CASES)
def test_stored_model_loads_and_scores_as_it_did(name):
    model = auctor.load(FOLDER / f"{name}.model.json")
    X, _ = messy_table()
    stored = json.loads((FOLDER / f"{name}.scores.json").read_text())
    assert model.decision_function(X).tolist() == stored


@pytest.mark.parametrize("name", CASES)
def test_fit_gives_the_stored_model(name):
    stored = auctor.load(FOLDER / f"{name}.model.json")
    fitted = CASES[name]()
    assert fitted.body() == stored.body()
    # The calibration ends an iteration in floating point: its last digits may move.
    assert np.allclose(fitted.calibration, stored.calibration, rtol=1e-9)
