"""ProgramModel: saved, loaded, printed, and hostile files refused."""

import json

import numpy as np
import pytest

from auctor.data import prepare
from auctor.learners.martirank.martirank import MartiRankSettings, fit_martirank
from auctor.models import from_json, to_json
from auctor.models.serialization import checksum
from auctor.testing import contracts


@pytest.fixture(scope="module")
def model():
    X, y = contracts.messy_table(0, n_rows=150)
    data = prepare(X, y, categorical_features=[4])
    return fit_martirank(data, MartiRankSettings(n_layers=5, min_samples_leaf=3))[0]


def test_saved_model_scores_the_same(model, tmp_path):
    contracts.check_saved_model(model, contracts.messy_table(1)[0], tmp_path)


def test_printing_names_layers_and_features(model):
    text = str(model)
    assert "5 layers and 15 nodes" in text
    assert "layer 1, node 0: probability of going right by x0: <= " in text


def test_unseen_categories_and_missing_values_score(model):
    X = np.full((2, 5), np.nan)
    X[1, 4] = 99.0
    scores = model.decision_function(X)
    assert scores[0] == scores[1]
    assert np.isfinite(scores).all()


def spoil(model, change):
    """The text of a file with one change and a checksum that fits."""
    content = json.loads(to_json(model))
    change(content["body"])
    content["sha256"] = checksum(content)
    return json.dumps(content)


HOSTILE = {
    "feature too large": lambda b: b["nodes"]["feature"].__setitem__(0, 99),
    "feature below -1": lambda b: b["nodes"]["feature"].__setitem__(0, -2),
    "feature no whole number": lambda b: b["nodes"]["feature"].__setitem__(0, 0.5),
    "cut too large": lambda b: b["nodes"]["cut"].__setitem__(0, 10**6),
    "cut negative": lambda b: b["nodes"]["cut"].__setitem__(0, -1),
    "start beyond the table": lambda b: b["nodes"]["start"].__setitem__(0, 10**6),
    "start of a number": lambda b: b["nodes"]["start"].__setitem__(0, 0),
    "chance above 1": lambda b: b["nodes"]["low"].__setitem__(0, 1.5),
    "chance negative": lambda b: b["nodes"]["missing"].__setitem__(0, -0.1),
    "value huge": lambda b: b["nodes"]["value"].__setitem__(0, 1e308),
    "a node less": lambda b: b["nodes"]["cut"].pop(),
    "a column less": lambda b: b["nodes"].pop("high"),
    "a column more": lambda b: b["nodes"].__setitem__("extra", []),
    "table too short": lambda b: b["nodes"]["table"].clear(),
    "no layers": lambda b: b.__setitem__("n_layers", 0),
    "too many layers": lambda b: b.__setitem__("n_layers", 10**9),
    "layers as text": lambda b: b.__setitem__("n_layers", "5"),
    "final too short": lambda b: b["final"].pop(),
    "no features": lambda b: b["features"].clear(),
    "feature without cuts": lambda b: b["features"][0].pop("cuts"),
    "cuts in disorder": lambda b: b["features"][0].__setitem__("cuts", [2.0, 1.0]),
    "nodes a list": lambda b: b.__setitem__("nodes", []),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_hostile_files_are_refused(model, case):
    with pytest.raises(ValueError, match="model file"):
        from_json(spoil(model, HOSTILE[case]))


def test_the_helper_itself_spoils_nothing(model):
    assert contracts.same_model(from_json(spoil(model, lambda b: None)), model)


def with_cut(model, cut):
    """The model with one cut at its first node, which asks for a number of two cuts or more."""
    assert len(model.features[int(model.nodes.feature[0])].cuts) >= 2
    return from_json(spoil(model, lambda body: body["nodes"]["cut"].__setitem__(0, cut)))


def test_a_cut_behind_the_last_bin_prints_and_scores(model):
    last = model.features[int(model.nodes.feature[0])].n_bins
    cut_model = with_cut(model, last)
    low, missing = cut_model.nodes.low[0], cut_model.nodes.missing[0]
    expected = f"probability of going right by x0: not missing {low:.0%}, missing {missing:.0%}"
    assert str(cut_model).split("layer 1, node 0: ")[1].split("\n")[0] == expected
    assert np.isfinite(cut_model.decision_function(np.zeros((1, 5)))).all()


def test_where_only_missing_informs_there_is_no_infinity(model):
    cut_model = with_cut(model, 0)
    high, missing = cut_model.nodes.high[0], cut_model.nodes.missing[0]
    assert "inf" not in str(cut_model)
    assert (
        f"node 0: probability of going right by x0: not missing {high:.0%}, missing {missing:.0%}"
        in str(cut_model)
    )
