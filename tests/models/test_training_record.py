"""What a model remembers of its training rows, and what new rows are compared with."""

import copy
import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from auctor import RankBoost
from auctor.data import read_table
from auctor.models import compare_rows, from_json, make_record, to_json
from auctor.models.make_record import make_validation
from auctor.models.new_rows import tail_probability
from auctor.models.serialization import checksum
from auctor.models.training_record import Measured, Origin

N = 400


def draw(seed=0, n=N):
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 80, n).astype(float)
    age[rng.random(n) < 0.1] = np.nan
    town = rng.choice(["Rome", "Oslo", "Bonn"], n, p=[0.6, 0.3, 0.1])
    income = rng.normal(size=n)
    y = np.nan_to_num(age, nan=40.0) / 30 + (town == "Oslo") + income + rng.normal(size=n) > 2
    return pd.DataFrame({"age": age, "town": town, "income": income}), y


def with_record(X, y, weight=None):
    model = RankBoost(n_estimators=5).fit(X, y, sample_weight=weight).model_
    record = make_record(
        model,
        read_table(X),
        y,
        weight,
        origin=Origin(version="1", learner="rankboost", parameters={"k": [1, None, "a"]}),
        importances=[0.5, 0.25, 0.25],
    )
    metrics = {"auc": Measured(0.8, 0.7, 0.9, 0.95)}
    scores = model.decision_function(X)
    validation = make_validation(
        model, record, scores, y, metrics, kind="cross-validation", description="5 folds"
    )
    return replace(model, training=replace(record, validations=(validation,)))


@pytest.fixture(scope="module")
def model():
    return with_record(*draw())


class TestRecord:
    def test_counts_are_those_of_the_rows(self, model):
        X, y = draw()
        age, town, income = model.training.columns
        assert model.training.n_rows == N and model.training.n_pos == y.sum()
        assert age.n_missing == X["age"].isna().sum()
        assert (age.low, age.high) == (X["age"].min(), X["age"].max())
        edges = [-np.inf, *income.cuts, np.inf]
        for label in (0, 1):
            expected = np.histogram(-X["income"][y == label], -np.array(edges)[::-1])[0][::-1]
            assert income.counts[label, 1:].tolist() == expected.tolist()
        assert town.categories == ("Rome", "Oslo", "Bonn")
        assert town.counts[1, 1:4].tolist() == [
            int(((X["town"] == name) & y).sum()) for name in town.categories
        ]
        assert town.counts[:, [0, 4]].sum() == 0 and town.n_categories == 3

    def test_score_bands_hold_every_row_and_rise(self, model):
        bands, validation = model.training.scores, model.training.validations[0]
        assert bands.counts.sum() == N and (validation.counts == bands.counts).all()
        filled = validation.counts.sum(axis=0) > 0
        assert (np.diff(validation.probability[filled]) > 0).all()

    def test_rows_of_weight_zero_are_absent(self):
        X, y = draw()
        weight = np.where(np.arange(N) < 100, 0.0, 1.0)
        X.loc[0, "income"] = 99.0
        record = with_record(X, y, weight).training
        assert record.n_rows == record.scores.counts.sum() == N - 100
        assert record.columns[2].high < 99 and not record.has_weights
        uneven = np.linspace(1, 3, N)
        assert make_record(with_record(X, y), read_table(X), y, uneven).has_weights

    def test_an_empty_column_and_one_value_a_row(self):
        X, y = draw()
        X = X.assign(nothing=np.full(N, np.nan), name=[f"n{i}" for i in range(N)])
        model = RankBoost(n_estimators=2).fit(X, y).model_
        nothing, name = make_record(model, read_table(X), y).columns[3:]
        assert nothing.low is None and nothing.n_missing == N
        assert len(name.categories) == 50 and name.n_single == N and name.n_unknown == N - 255

    def test_it_is_in_the_file_and_optional(self, model):
        text = to_json(model)
        loaded = from_json(text)
        assert to_json(loaded) == text
        assert to_json(replace(loaded, training=None)) == to_json(replace(model, training=None))
        assert from_json(to_json(replace(model, training=None))).training is None
        assert loaded.with_threshold(1.0).training is loaded.training

    @pytest.mark.parametrize(
        ("path", "value", "field"),
        [
            (("n_neg",), -1, "n_neg"),
            (("n_pos",), 1.5, "n_pos"),
            (("effective_rows",), [1.0], "effective_rows"),
            (("origin", "date"), 5, "date"),
            (("origin", "parameters"), {"a": {"b": {"c": {"d": {"e": {}}}}}}, "parameters"),
            (("columns",), "x", "columns"),
            (("columns", 0, "name"), "other", "columns"),
            (("columns", 0, "low"), 1e9, "high"),
            (("columns", 0, "low"), None, "high"),
            (("columns", 0, "counts"), [[1], [2]], "counts"),
            (("columns", 0, "counts", 0, 0), -1, "counts"),
            (("columns", 0, "counts", 0, 0), True, "counts"),
            (("columns", 0, "counts", 0, 0), 2**60, "counts"),
            (("columns", 1, "categories"), ["a", "a", "b"], "categories"),
            (("columns", 1, "n_single"), "1", "n_single"),
            (("columns", 1, "extra"), 1, "extra"),
            (("scores", "cuts"), [2.0, 1.0], "cuts"),
            (("scores", "counts"), [], "counts"),
            (("validations", 0, "probability"), [2.0], "probability"),
            (("validations", 0, "metrics", "auc"), [0.5, 0.5, 0.5, 5.0], "auc"),
            (("validations", 0, "kind"), None, "kind"),
            (("extra",), 1, "extra"),
        ],
    )
    def test_a_wrong_field_is_named(self, model, path, value, field):
        content = json.loads(to_json(model))
        node = content["training"]
        for key in path[:-1]:
            node = node[key]
        node[path[-1]] = value
        content["sha256"] = checksum(content)
        with pytest.raises(ValueError, match=f"model file: field 'training.*{field}"):
            from_json(json.dumps(content))

    def test_no_row_is_in_the_file(self):
        X, y = draw()
        X["income"] = np.linspace(0.123456789, 7.98765432, N)
        text = to_json(with_record(X, y))
        body = json.loads(text)["training"]
        inner = [repr(value) for value in X["income"].tolist()[1:-1]]  # the ends are the range
        assert not any(value in json.dumps(body) for value in inner)


class TestNewRows:
    def test_rows_of_the_same_population_give_no_finding(self, model):
        assert [compare_rows(model, draw(seed)[0]) for seed in range(1, 30)] == [[]] * 29

    def test_each_kind_is_found_and_counted(self, model):
        X, _ = draw(1)
        X["income"] = np.nan
        X.loc[:2, "town"] = ["Mars", "Mars", "Pluto"]
        X.loc[:9, "age"] = 500.0
        X.loc[10, "age"] = -900.0
        found = {(f.column, f.kind): f for f in compare_rows(model, X)}
        assert {key: f.n_rows for key, f in found.items()} == {
            ("age", "above range"): 10,
            ("age", "below range"): 1,
            ("town", "unseen category"): 3,
            ("income", "missing"): N,
        }
        assert str(found["town", "unseen category"]) == (
            "column 'town' (25.0% of the importance): 3 of 400 rows have 2 categories that the "
            "model does not know ('Mars', 'Pluto'); it scores them as missing values"
        )
        assert "is missing in all 400 rows; it was never missing" in str(found["income", "missing"])
        assert "(down to -900)" in str(found["age", "below range"])
        assert next(iter(found))[0] == "age"  # the most important column first

    def test_more_missing_values_than_in_training(self, model):
        X, _ = draw(1)
        X.loc[:200, "age"] = np.nan
        (finding,) = compare_rows(model, X)
        assert finding.kind == "missing" and "of the training rows" in str(finding)

    def test_rare_categories_are_expected_where_training_had_some(self):
        X, y = draw()
        X.loc[:9, "town"] = [f"village {i}" for i in range(10)]
        model = with_record(X, y)
        new, _ = draw(1)
        new.loc[:9, "town"] = [f"hamlet {i}" for i in range(10)]
        assert compare_rows(model, new) == []
        new.loc[:99, "town"] = "suburb"
        assert [f.n_rows for f in compare_rows(model, new)] == [100]

    def test_a_few_missing_values_where_training_had_none(self, model):
        X, _ = draw(1)
        X.loc[:1, "income"] = np.nan
        assert compare_rows(model, X) == []
        assert [f.kind for f in compare_rows(model, X.iloc[:1])] == ["missing"]

    def test_an_outlier_is_found_unless_the_column_has_long_tails(self):
        X, y = draw()
        new, _ = draw(1)
        new.loc[0, "income"] = 40.0
        assert [f.kind for f in compare_rows(with_record(X, y), new)] == ["above range"]
        X.loc[0, "income"] = 15.0
        new.loc[0, "income"] = 80.0
        assert compare_rows(with_record(X, y), new) == []

    def test_one_row(self, model):
        X, _ = draw(1)
        assert compare_rows(model, X.iloc[:1]) == []
        (finding,) = compare_rows(model, X.iloc[:1].assign(town="Mars"))
        assert "1 of 1 row has a category" in str(finding)

    def test_without_a_record_nothing_is_found(self, model):
        X, _ = draw(1)
        assert compare_rows(replace(model, training=None), X.assign(town="Mars")) == []


@pytest.mark.parametrize("case", [(1, 5, 0, 5), (3, 7, 2, 9), (5, 5, 4, 6), (2, 30, 10, 40)])
def test_the_tail_is_that_of_fishers_test(case):
    from scipy.stats import hypergeom

    k, n, m, before = case
    expected = hypergeom.sf(k - 1, before + n, m + k, n)
    assert tail_probability(k, n, m, before) == pytest.approx(expected)


def test_a_changed_kind_in_the_file_is_not_compared(model):
    columns = list(copy.copy(model.training.columns))
    columns[1] = replace(columns[1], kind="number", cuts=np.empty(0), counts=np.zeros((2, 2), int))
    changed = replace(model, training=replace(model.training, columns=tuple(columns)))
    assert compare_rows(changed, draw(1)[0].assign(town="Mars")) == []
