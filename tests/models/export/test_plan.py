"""Plans of all forms: the slow evaluation of a plan gives the scores of its model, bit for bit."""

import numpy as np
import pytest
from golden.cases import CASES, messy_table
from golden.machines import stored
from reference.plan import score_row

from auctor.models import FORMS, Model, ScorerModel, from_json
from auctor.models.serialization import Calibration


def golden_models():
    return {name: from_json(stored(name)) for name in CASES}


@pytest.mark.parametrize("name", CASES)
def test_plan_scores_as_its_model_does(name):
    model: Model = from_json(stored(name))
    X, _ = messy_table()
    results = [
        score_row(model.plan(), dict(zip(model.feature_names, row, strict=True)))
        for row in X.tolist()
    ]
    scores, probabilities, labels, contributions = zip(*results, strict=True)
    assert list(scores) == model.decision_function(X).tolist()
    assert probabilities == pytest.approx(model.predict_proba(X)[:, 1], rel=1e-12)
    assert list(labels) == model.predict(X).tolist()
    if contributions[0] is not None:
        expected = model.explain_rows(X).contributions
        assert [list(one.values()) for one in contributions] == pytest.approx(expected, abs=1e-12)


def test_golden_models_have_all_forms():
    assert {model.form for model in golden_models().values()} == set(FORMS)


def test_model_that_cannot_be_saved_has_no_plan():
    model = ScorerModel((0, 1), 0.0, Calibration(1.0, 0.0), ("a",), (len,), np.ones(1), 0.0)
    with pytest.raises(ValueError, match="a model file cannot hold"):
        model.plan()
