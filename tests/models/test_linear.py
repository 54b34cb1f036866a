"""LinearModel: what it scores, how it is stored and how it reads."""

import copy
import hashlib
import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from auctor.models import Calibration, LinearModel, LinearTerm, ScorerModel, from_json, to_json
from auctor.models.linear import SCORE_GRID, round_scores
from auctor.testing.contracts import check_saved_model

NAN = float("nan")


def pairs(model, row):
    return zip(model.columns, row, strict=True)


def build(*columns, intercept=0.25):
    return LinearModel(("no", "yes"), 0.0, Calibration(1.5, -0.5), columns, intercept)


@pytest.fixture
def model():
    return build(
        LinearTerm("age", 0.5, -1.0),
        LinearTerm("town", 0.0, 0.125, ("north", "south"), (2.0, -3.0)),
        LinearTerm("flat", 0.0, 0.0),
    )


@pytest.fixture
def table():
    return pd.DataFrame(
        {
            "age": [2.0, NAN, -4.0, 0.0],
            "town": ["north", "south", "west", None],
            "flat": [1.0, 2.0, NAN, 4.0],
        }
    )


def test_scores_by_hand(model, table):
    scores = model.decision_function(table)
    assert scores.tolist() == [
        0.25 + 1.0 + 2.0,
        0.25 - 1.0 - 3.0,
        0.25 - 2.0 + 0.125,  # a town never seen
        0.25 + 0.0 + 0.125,
    ]
    assert model.predict(table).tolist() == ["yes", "no", "no", "yes"]
    assert model.decision_function(table[["town", "flat", "age"]]).tolist() == scores.tolist()


def test_sparse_and_dense_give_the_same_bits():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 8)) * (rng.random((50, 8)) < 0.3)
    X[rng.random((50, 8)) < 0.05] = NAN
    terms = [LinearTerm(f"x{j}", *rng.normal(size=2)) for j in range(7)]
    wide = build(*terms, LinearTerm("x7", 0.0, 0.7), intercept=0.1)
    dense = wide.decision_function(X)
    for make in (sparse.csr_array, sparse.csc_matrix, sparse.coo_array):
        assert wide.decision_function(make(X)).tobytes() == dense.tobytes()
    slow = [
        0.1 + sum(t.missing if np.isnan(v) else t.weight * v for t, v in pairs(wide, row))
        for row in X
    ]
    assert dense == pytest.approx(slow, abs=SCORE_GRID)


def test_other_kinds_are_refused(model, table):
    with pytest.raises(ValueError, match="'town' holds numbers, but held text when"):
        model.decision_function(table.assign(town=1.0))
    with pytest.raises(ValueError, match="'age' holds text"):
        model.decision_function(table.assign(age="old"))
    with pytest.raises(ValueError, match="'age' holds 4 infinity"):
        model.decision_function(table.assign(age=np.inf))
    numbers = build(LinearTerm("x0", 1.0, 0.0))
    with pytest.raises(ValueError, match="infinity"):
        numbers.decision_function(sparse.csr_array(np.array([[np.inf]])))
    with pytest.raises(ValueError, match="X has 2 features, but LinearModel is expecting 1"):
        numbers.decision_function(np.zeros((1, 2)))


def test_scores_stay_finite():
    both = build(LinearTerm("a", 9e299, 0.0), LinearTerm("b", -9e299, 0.0))
    assert np.isfinite(both.decision_function(np.array([[1e300, 1e300], [1e300, -1.0]]))).all()


def test_sums_that_are_equal_in_theory_tie():
    # 0.1 + 0.2 is not 0.3 in floats.
    sums = build(LinearTerm("a", 1.0, 0.0), LinearTerm("b", 1.0, 0.0), intercept=-0.25)
    low, high, other = sums.decision_function(np.array([[0.3, 0.0], [0.1, 0.2], [0.3, 1e-9]]))
    assert low == high < other
    assert low == pytest.approx(0.05, abs=SCORE_GRID)
    assert round_scores(np.array([1e10 + 0.3, -1e300])).tolist() == [1e10 + 0.3, -1e300]


def test_saved_and_loaded(model, table, tmp_path):
    check_saved_model(model, table, tmp_path)
    check_saved_model(
        build(LinearTerm("code", 0.0, 0.5, (1, 2.5), (0.1, 0.2))), [[1], [2.5], [7]], tmp_path
    )


def test_it_reads_well(model):
    text = str(model)
    assert "score = +0.25 + terms of 2 of 3 columns" in text
    assert "+0.5 * age; missing: -1" in text
    assert "town: north: +2, south: -3; missing: +0.125" in text
    assert "flat" not in text
    many = build(*[LinearTerm(f"x{j}", 1.0 + j, 0.0) for j in range(25)])
    assert "... and 5 more columns" in str(many)
    assert str(many).splitlines()[2].startswith("  +25 * x24")
    towns = tuple(f"town {j}" for j in range(9))
    assert "... 3 more; missing" in str(build(LinearTerm("t", 0.0, 0.0, towns, (1.0,) * 9)))


def test_a_column_that_counts_only_where_missing_is_used():
    odd = build(LinearTerm("a", 0.0, 0.5), LinearTerm("b", 0.0, 0.0))
    assert odd.used == [0]
    assert "+0 * a; missing: +0.5" in str(odd)


def sign(content):
    rest = {name: value for name, value in content.items() if name != "sha256"}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return json.dumps({**rest, "sha256": hashlib.sha256(canonical.encode()).hexdigest()})


DELETE = object()
HOSTILE = [
    (["intercept"], "0", "body.intercept"),
    (["intercept"], 1e308, "body.intercept"),
    (["intercept"], DELETE, "body.intercept"),
    (["extra"], 1, "body.extra"),
    (["columns"], [], "columns"),
    (["columns"], {}, "columns"),
    (["columns", 0], "age", "columns[0]"),
    (["columns", 0, "name"], 5, "columns[0].name"),
    (["columns", 0, "name"], "flat", "columns with different names"),
    (["columns", 0, "kind"], "text", "columns[0].kind"),
    (["columns", 0, "kind"], "category", "columns[0].categories"),
    (["columns", 0, "weight"], None, "columns[0].weight"),
    (["columns", 0, "weight"], True, "columns[0].weight"),
    (["columns", 0, "weight"], 1e301, "columns[0].weight"),
    (["columns", 0, "weight"], DELETE, "columns[0].weight"),
    (["columns", 0, "missing"], [0.0], "columns[0].missing"),
    (["columns", 0, "terms"], [1.0], "columns[0].terms"),
    (["columns", 1, "weight"], 1.0, "columns[1].weight"),
    (["columns", 1, "kind"], "number", "columns[1].weight"),
    (["columns", 1, "categories"], ["a"], "columns[1].terms"),
    (["columns", 1, "categories"], ["a", "a"], "columns[1].categories"),
    (["columns", 1, "categories"], ["a", 1], "columns[1].categories"),
    (["columns", 1, "categories"], ["a", None], "columns[1].categories[1]"),
    (["columns", 1, "terms"], [1.0, "2"], "columns[1].terms[1]"),
    (["columns", 1, "terms"], [1.0, 2.0, 3.0], "columns[1].terms"),
    (["columns", 1, "terms"], DELETE, "columns[1].terms"),
]


@pytest.mark.parametrize(
    ("where", "value", "word"), HOSTILE, ids=[f"{w[-1]}={str(v)[:20]}" for w, v, _ in HOSTILE]
)
def test_hostile_files_are_refused(model, where, value, word):
    content = copy.deepcopy(json.loads(to_json(model)))
    node = content["body"]
    for step in where[:-1]:
        node = node[step]
    if value is DELETE:
        del node[where[-1]]
    else:
        node[where[-1]] = value
    with pytest.raises(ValueError, match="model file: ") as caught:
        from_json(sign(content))
    assert word in str(caught.value)


class TestScorerModel:
    def scorers(self):
        return ScorerModel(
            (0, 1), 0.0, Calibration(1.0, 0.0), ("a",), (np.ravel, np.sum), np.array([0.5, 0]), 1.0
        )

    def test_scores(self):
        X = np.array([[1.0], [-0.5]])
        assert self.scorers().decision_function(X).tolist() == [1.5, 0.75]
        assert self.scorers().predict(X).tolist() == [1, 1]

    def test_it_is_never_saved(self, tmp_path):
        with pytest.raises(ValueError, match="holds the scorers that were given to the estimator"):
            self.scorers().save(tmp_path / "model.json")
        assert list(tmp_path.iterdir()) == []

    def test_it_reads_well(self):
        text = str(self.scorers())
        assert "a weighted sum of 1 of 2 scorers" in text
        assert "+0.5 * ravel" in text
