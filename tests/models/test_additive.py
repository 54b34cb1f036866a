"""AdditiveModel: what it scores, on any table, and how it reads."""

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from auctor.data import category_feature, number_feature
from auctor.models import AdditiveModel, Calibration, compress, on_grid
from auctor.models.additive import GRID
from tests.reference import binning as reference

NAN = float("nan")


def slow_scores(model, columns):
    """Row by row and step by step, in Python."""
    scores = []
    for i in range(len(columns["age"])):
        score = model.intercept
        for feature, steps in zip(model.features, model.steps, strict=True):
            value = columns[feature.name][i]
            if feature.is_category:
                known = value in feature.categories
                code = 1 + feature.categories.index(value) if known else 0
            else:
                code = reference.code(NAN if value is None else value, feature.cuts)
            score += float(steps[code])
        scores.append(score)
    return scores


def tables_of(columns):
    """The same rows in every kind of table that has names."""
    arrow = pa.table(columns)
    encoded = arrow.set_column(2, "town", arrow["town"].dictionary_encode())
    return {
        "pandas": pd.DataFrame(columns),
        "pandas objects": pd.DataFrame({k: np.array(v, object) for k, v in columns.items()}),
        "pandas category": pd.DataFrame(columns).astype({"town": "category", "code": "category"}),
        "polars": pl.DataFrame(columns),
        "polars lazy": pl.LazyFrame(columns),
        "polars category": pl.DataFrame(columns).cast({"town": pl.Categorical}),
        "arrow": arrow,
        "arrow chunks": pa.concat_tables([arrow[:3], arrow[3:]]),
        "arrow dictionary": encoded,
    }


class TestScores:
    def test_slow_reference(self, model, columns):
        scores = model.decision_function(pa.table(columns))
        assert scores.dtype == np.float64
        assert scores.tolist() == slow_scores(model, columns)
        assert len(set(scores.tolist())) == 7  # all differ but the last two, of one bin

    def test_every_table_gives_the_same_bits(self, model, columns):
        expected = np.array(slow_scores(model, columns)).tobytes()
        for kind, table in tables_of(columns).items():
            assert model.decision_function(table).tobytes() == expected, kind
        rows = np.array(list(columns.values()), dtype=object).T
        assert model.decision_function(rows).tobytes() == expected
        assert model.decision_function(rows.tolist()).tobytes() == expected

    def test_numbers_of_every_width(self):
        model = AdditiveModel(
            (0, 1),
            0.0,
            Calibration(1.0, 0.0),
            (number_feature("a", np.array([1.0, 2.0])),),
            (np.array([9.0, 1.0, 2.0, 3.0]),),
            0.0,
        )
        X = np.array([[1], [2], [3]])
        for dtype in ("i1", "u8", ">i2", "f2", ">f4", "f8", "g"):
            assert model.decision_function(X.astype(dtype)).tolist() == [1.0, 2.0, 3.0]
        assert model.decision_function(sparse.csr_array(X)).tolist() == [1.0, 2.0, 3.0]
        X = X.astype(float)
        X.flags.writeable = False
        assert model.decision_function(X).tolist() == [1.0, 2.0, 3.0]

    def test_columns_by_name(self, model, columns):
        table = pd.DataFrame(columns)
        expected = model.decision_function(table).tobytes()
        mixed = table[["code", "town", "empty", "age", "flat"]].assign(extra=pd.Timestamp(0).year)
        assert model.decision_function(mixed).tobytes() == expected
        with pytest.raises(ValueError, match=r"lacks 2 columns .*: 'age', 'code'"):
            model.decision_function(table.drop(columns=["age", "code"]))

    def test_wrong_number_of_columns(self, model):
        with pytest.raises(ValueError, match="X has 4 features, but AdditiveModel is expecting 5"):
            model.decision_function(np.zeros((2, 4)))

    def test_one_row(self, model, columns):
        table = pd.DataFrame(columns)
        one_by_one = [model.decision_function(table[i : i + 1])[0] for i in range(len(table))]
        assert one_by_one == model.decision_function(table).tolist()

    def test_unseen_category_scores_as_missing(self, model, columns):
        table = pd.DataFrame(columns)[:1]
        unseen = model.decision_function(table.assign(town="nowhere"))
        assert unseen == model.decision_function(table.assign(town=None))

    @pytest.mark.parametrize("missing", [None, NAN, pd.NA])
    def test_text_column_of_missing_values_only(self, model, columns, missing):
        table = pd.DataFrame(columns)
        expected = np.array(slow_scores(model, {**columns, "town": [None] * 8})).tobytes()
        for column in (
            pd.Series([missing] * 8, dtype=object),
            pd.Series([missing] * 8, dtype="str"),
            pd.Series([missing] * 8, dtype="category"),
        ):
            assert model.decision_function(table.assign(town=column)).tobytes() == expected

    @pytest.mark.parametrize(
        "dtype", [object, "str", "float64", "Int64"], ids=["object", "str", "float64", "Int64"]
    )
    def test_number_column_of_missing_values_only(self, model, columns, dtype):
        table = pd.DataFrame(columns)
        expected = np.array(slow_scores(model, {**columns, "age": [None] * 8})).tobytes()
        column = pd.Series([None] * 8, dtype=dtype)
        assert model.decision_function(table.assign(age=column)).tobytes() == expected

    def test_other_kinds_are_refused(self, model, columns):
        table = pd.DataFrame(columns)
        with pytest.raises(ValueError, match="'town' holds numbers, but held text when"):
            model.decision_function(table.assign(town=1.5))
        with pytest.raises(ValueError, match="'code' holds text, but held numbers when"):
            model.decision_function(table.assign(code="7"))
        with pytest.raises(ValueError, match="'age' holds text or categories where numbers"):
            model.decision_function(table.assign(age="7"))
        with pytest.raises(ValueError, match="'age' holds 8 infinity"):
            model.decision_function(table.assign(age=np.inf))
        # Also where the step function is flat.
        with pytest.raises(ValueError, match="'flat' holds text"):
            model.decision_function(table.assign(flat="7"))

    def test_contributions_add_up(self, model, columns):
        table = pd.DataFrame(columns)
        parts = model.contributions(table)
        assert parts.shape == (8, 5)
        np.testing.assert_allclose(
            parts.sum(axis=1) + model.intercept, model.decision_function(table), rtol=1e-12
        )
        assert parts[:, 1].tolist() == [0.5 if v is None else 0.0 for v in columns["flat"]]


class TestClasses:
    def test_predict(self, model, columns):
        table = pd.DataFrame(columns)
        above = model.decision_function(table) > 0.25
        assert model.predict(table).tolist() == ["yes" if a else "no" for a in above]
        assert 0 < above.sum() < 8

    def test_a_score_on_the_threshold_is_positive(self, model, columns):
        table = pd.DataFrame(columns)
        score = model.decision_function(table)[0]
        on = dataclasses.replace(model, threshold=float(score))
        assert on.predict(table)[0] == "yes"
        just_above = on.with_threshold(float(np.nextafter(score, np.inf)))
        assert just_above.predict(table)[0] == "no"

    def test_probabilities(self, model, columns):
        table = pd.DataFrame(columns)
        scores = model.decision_function(table)
        probabilities = model.predict_proba(table)
        np.testing.assert_allclose(
            probabilities[:, 1], 1 / (1 + np.exp(-(1.7 * scores - 0.3))), rtol=1e-12
        )
        np.testing.assert_allclose(probabilities.sum(axis=1), 1.0, rtol=1e-15)
        assert (np.argsort(probabilities[:, 1]) == np.argsort(scores)).all()

    def test_probabilities_of_extreme_scores(self, model):
        probabilities = model.probabilities(np.array([-1e308, -1000.0, 0.0, 1000.0, 1.7e308]))
        assert probabilities[[0, 1, 3, 4]].tolist() == [
            [1.0, 0.0],
            [1.0, 0.0],
            [0.0, 1.0],
            [0.0, 1.0],
        ]
        assert np.isfinite(probabilities).all()
        assert model.probabilities(np.array([40.0]))[0, 0] > 0  # 1 - p would be 0


class TestForm:
    def test_frozen(self, model):
        with pytest.raises(dataclasses.FrozenInstanceError):
            model.threshold = 1.0
        with pytest.raises(ValueError, match="read-only"):
            model.steps[0][1] = 5.0
        with pytest.raises(ValueError, match="read-only"):
            model.features[0].cuts[0] = 5.0

    def test_prints_something_to_read(self, model):
        text = str(model)
        assert "score = -0.1 + step functions of 4 of 5 features" in text
        assert "'yes' is predicted where score >= 0.25" in text
        assert "<= 0.1: -1" in text
        assert "Ärger: -0.2" in text
        assert "missing: +0.125" in text
        assert text.index("code (") < text.index("age (")  # the widest range first

    def test_prints_much_in_few_lines(self):
        n = 40
        features = tuple(number_feature(f"f{j}", np.arange(200.0)) for j in range(n))
        steps = tuple(np.arange(202.0) for _ in range(n))
        model = AdditiveModel((0, 1), 0.0, Calibration(1.0, 0.0), features, steps, 0.0)
        lines = str(model).splitlines()
        assert len(lines) < 20
        assert max(map(len, lines)) < 200
        assert lines[-1] == "  ... and 28 more features"

    def test_prints_a_flat_model(self):
        flat = AdditiveModel(
            (0, 1),
            0.0,
            Calibration(1.0, 0.0),
            (number_feature("a", np.array([])),),
            (np.array([0.0, 0.0]),),
            0.0,
        )
        assert "0 of 1 feature" in str(flat)
        assert flat.decision_function([[1.0], [NAN]]).tolist() == [0.0, 0.0]

    def test_compress_drops_cuts_that_change_nothing(self):
        feature = number_feature("a", np.array([1.0, 2.0, 3.0]), np.arange(4.0))
        small, steps = compress(feature, np.array([9.0, 5.0, 5.0, 6.0, 6.0]))
        assert small.cuts.tolist() == [2.0]
        assert small.centres.shape == (0,)  # no longer known
        assert steps.tolist() == [9.0, 5.0, 6.0]
        flat, steps = compress(feature, np.array([9.0, 5.0, 5.0, 5.0, 5.0]))
        assert (flat.cuts.tolist(), steps.tolist()) == ([], [9.0, 5.0])
        category = category_feature("a", ("x", "y"))
        assert compress(category, np.array([0.0, 1.0, 1.0]))[0] is category

    def test_on_grid(self):
        values = on_grid(np.array([0.1, -0.1, 1.0, 0.0]))
        assert ((values / GRID) % 1 == 0).all()
        np.testing.assert_allclose(values, [0.1, -0.1, 1.0, 0.0], atol=GRID / 2)
