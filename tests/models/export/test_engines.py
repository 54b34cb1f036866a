"""All exports of all forms in the engines they are for: the scores of the model, bit for bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from models.export.cases import FORMS, cases
from models.export.engines import ENGINES


@pytest.fixture(scope="module")
def engines():
    """Each engine started once; those with a process or a file are closed at the end."""
    started = [engine() for engine in ENGINES]
    yield started
    for engine in started:
        if hasattr(engine, "close"):
            engine.close()


def check(engine, model, table):
    """Scores, probabilities, labels, ranking and contributions are those of the model."""
    outputs = engine.run(model, table)
    scores, expected = np.array([o.score for o in outputs]), model.decision_function(table)
    assert scores.tolist() == expected.tolist(), engine.name
    same_ranks = (
        np.unique(scores, return_inverse=True)[1],
        np.unique(expected, return_inverse=True)[1],
    )
    assert np.array_equal(*same_ranks), engine.name
    assert [o.label for o in outputs] == model.predict(table).tolist(), engine.name
    probabilities = model.predict_proba(table)[:, 1]
    # Below exp(-708), a double loses digits, and databases stop there.
    assert [o.probability for o in outputs] == pytest.approx(probabilities, rel=1e-9, abs=1e-300)
    if outputs[0].contributions is not None:
        explained = model.explain_rows(table)
        values = [[o.contributions[name] for name in explained.names] for o in outputs]
        size = 1e-9 * max(1.0, np.abs(explained.contributions).max())
        assert np.array(values) == pytest.approx(explained.contributions, rel=1e-9, abs=size)


@pytest.mark.parametrize("form", FORMS)
@given(case=cases())
@settings(max_examples=6)
def test_every_engine_scores_as_the_model_does(engines, form, case):
    model, table = case.model(form), case.table()
    for engine in engines:
        check(engine, model, table)
