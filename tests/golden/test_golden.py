"""Golden models: the code must reproduce the stored models and score them as before.

On Linux models and scores are compared exactly, since they do not depend on the processor
(``test_machines.py``). Other C libraries may round the last bit of an exponential differently, so
numbers are compared to 1e-9 elsewhere.
"""

import json
import platform

import pytest
from golden.cases import CASES, messy_table
from golden.machines import FOLDER, stored

from auctor.estimators.registry import LEARNERS
from auctor.models import from_json, to_json

IS_LINUX = platform.system() == "Linux" and platform.machine() == "x86_64"
TOLERANCE = 0.0 if IS_LINUX else 1e-9
# Learners that choose settings of another one, whose model is stored.
CHOOSERS = {"MarginRankerCV", "SmoothAUCBoostCV"}


def assert_same(result, stored, path="model"):
    """Two JSON values are equal, numbers to the tolerance."""
    assert type(result) is type(stored), path
    if isinstance(stored, dict):
        assert list(result) == list(stored), path
        for name in stored:
            assert_same(result[name], stored[name], f"{path}.{name}")
    elif isinstance(stored, list):
        assert len(result) == len(stored), path
        for i, (a, b) in enumerate(zip(result, stored, strict=True)):
            assert_same(a, b, f"{path}[{i}]")
    elif isinstance(stored, float):
        assert result == pytest.approx(stored, rel=TOLERANCE, abs=TOLERANCE), path
    else:
        assert result == stored, path


@pytest.mark.parametrize("name", CASES)
def test_stored_model_loads_and_scores_as_it_did(name):
    model = from_json(stored(name))
    X, _ = messy_table()
    scores = json.loads((FOLDER / f"{name}.scores.json").read_text())
    assert model.decision_function(X) == pytest.approx(scores, rel=TOLERANCE, abs=TOLERANCE)


@pytest.mark.parametrize("name", CASES)
def test_fit_gives_the_stored_model(name):
    fitted, before = json.loads(to_json(CASES[name]())), json.loads(stored(name))
    if not IS_LINUX:  # of the digits that may differ
        del fitted["sha256"], before["sha256"]
    assert_same(fitted, before)


def test_every_learner_has_a_stored_model():
    used = {name for fit in CASES.values() for name in fit.__code__.co_names}
    missing = {learner.__name__ for learner in LEARNERS.values()} - used - CHOOSERS
    assert missing == set(), "add a case to golden/cases.py, then `make golden CASES=...`"
