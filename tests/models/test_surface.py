"""Surfaces in an AdditiveModel: scores on any table, contributions, print, files."""

import dataclasses
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from models.conftest import build_model
from scipy import sparse

from auctor.data import category_feature, number_feature
from auctor.models import AdditiveModel, Calibration, Surface, from_json, load, to_json

NAN = float("nan")


def build_surfaces():
    """Age by town, and code by age: numbers and categories on either side."""
    rng = np.random.default_rng(0)
    age, town = number_feature("age", np.array([0.1, 30.5])), category_feature("town", ("b",))
    code = category_feature("code", (-1, 7))
    first = np.rint(rng.normal(size=(4, 2)) * 2**20) / 2**20
    second = np.rint(rng.normal(size=(3, 4)) * 2**20) / 2**20
    return Surface((0, 2), (age, town), first), Surface((3, 0), (code, age), second)


@pytest.fixture
def model():
    return build_model(surfaces=build_surfaces())


def slow_code(axis, value):
    """The bin of a value in Python."""
    if axis.is_category:
        return 1 + axis.categories.index(value) if value in axis.categories else 0
    return 0 if value is None else 1 + sum(value > cut for cut in axis.cuts)


def slow_cells(surface, columns):
    """Row by row, in Python."""
    lines = [[slow_code(axis, v) for v in columns[axis.name]] for axis in surface.axes]
    return [float(surface.values[a, b]) for a, b in zip(*lines, strict=True)]


class TestScores:
    def test_slow_reference(self, model, columns):
        plain = dataclasses.replace(model, surfaces=())
        expected = plain.decision_function(pa.table(columns))
        for surface in model.surfaces:
            expected = expected + slow_cells(surface, columns)
        assert model.decision_function(pa.table(columns)).tolist() == expected.tolist()

    def test_every_table_gives_the_same_bits(self, model, columns):
        expected = model.decision_function(pd.DataFrame(columns)).tobytes()
        rows = np.array(list(columns.values()), dtype=object).T
        for table in (pl.DataFrame(columns), pa.table(columns), rows, rows.tolist()):
            assert model.decision_function(table).tobytes() == expected
        mixed = pd.DataFrame(columns)[["code", "town", "empty", "age", "flat"]]
        assert model.decision_function(mixed).tobytes() == expected

    def test_contributions(self, model, columns):
        table = pd.DataFrame(columns)
        parts = model.contributions(table)
        assert model.term_names == ("age", "flat", "town", "code", "empty", *NAMES)
        assert parts.shape == (8, 7)
        assert parts[:, 5].tolist() == slow_cells(model.surfaces[0], columns)
        assert parts[:, 6].tolist() == slow_cells(model.surfaces[1], columns)
        np.testing.assert_allclose(
            parts.sum(axis=1) + model.intercept, model.decision_function(table), rtol=1e-12
        )

    def test_sparse_tables_score_the_same(self):
        rng = np.random.default_rng(1)
        X = rng.normal(size=(50, 3)) * (rng.random((50, 3)) < 0.4)
        X[0, 1] = NAN
        features = tuple(number_feature(f"x{j}", np.array([-0.5, 0.5])) for j in range(3))
        steps = tuple(rng.integers(-9, 9, 4) / 8 for _ in range(3))
        shape = Calibration(1.0, 0.0), features, steps, 0.5
        for values in (rng.integers(-9, 9, (4, 4)) / 8, rng.normal(size=(4, 4))):
            surface = Surface((0, 1), (features[0], features[1]), values)
            model = AdditiveModel((0, 1), 0.0, *shape, (surface,))
            assert model._zero_steps is not None
            dense = model.decision_function(X)
            assert model.decision_function(sparse.csr_array(X)).tobytes() == dense.tobytes()
            parts = model.contributions(sparse.csc_array(X))
            assert np.array_equal(parts, model.contributions(X))


NAMES = ("age x town", "code x age")


class TestForm:
    def test_read_only(self, model):
        with pytest.raises(dataclasses.FrozenInstanceError):
            model.surfaces[0].features = (0, 1)
        with pytest.raises(ValueError, match="read-only"):
            model.surfaces[0].values[0, 0] = 1.0

    def test_used(self, model):
        flat = tuple(np.zeros(len(steps)) for steps in model.steps)
        alone = dataclasses.replace(model, steps=flat)
        assert alone.used == [0, 2, 3]
        assert model.used == dataclasses.replace(model, surfaces=()).used  # all three had steps
        by_age = Surface((0, 2), model.surfaces[0].axes, np.arange(4.0)[:, None] * np.ones(2))
        assert dataclasses.replace(alone, surfaces=(by_age,)).used == [0]
        constant = Surface((0, 2), model.surfaces[0].axes, np.ones((4, 2)))
        assert dataclasses.replace(alone, surfaces=(constant,)).used == []

    def test_prints_something_to_read(self, model):
        text = str(model)
        assert "4 of 5 features + 2 surfaces" in text
        low = np.unravel_index(model.surfaces[0].values.argmin(), (4, 2))
        ages = ("missing", "<= 0.1", "0.1 to 30.5", "> 30.5")
        towns = ("missing", "= b")
        assert f"(age {ages[low[0]]}, town {towns[low[1]]}): " in text
        assert "  age x town (" in text
        assert "surface" not in str(build_model())

    def test_prints_much_in_few_lines(self, model):
        lines = str(dataclasses.replace(model, surfaces=model.surfaces * 20)).splitlines()
        assert len(lines) < 25
        assert lines[-1] == "  ... and 28 more surfaces"


class TestFile:
    def test_round_trip(self, model, columns, tmp_path):
        model.save(tmp_path / "model.json")
        loaded = load(tmp_path / "model.json")
        assert to_json(loaded) == to_json(model)
        assert str(loaded) == str(model)
        table = pd.DataFrame(columns)
        assert loaded.decision_function(table).tobytes() == model.decision_function(table).tobytes()
        for read, written in zip(loaded.surfaces, model.surfaces, strict=True):
            assert read.features == written.features
            assert read.values.tobytes() == written.values.tobytes()
            assert not read.values.flags.writeable

    def test_no_key_without_surfaces(self, model):
        assert "surfaces" not in json.loads(to_json(build_model()))["body"]
        assert len(json.loads(to_json(model))["body"]["surfaces"]) == 2

    def test_axes_without_bins(self):
        feature = category_feature("empty", ())
        surface = Surface((4, 1), (feature, number_feature("flat", np.array([]))), np.ones((1, 2)))
        loaded = from_json(to_json(build_model(surfaces=(surface,))))
        assert loaded.surfaces[0].values.tolist() == [[1.0, 1.0]]
        assert "flat any" in str(loaded) or "flat missing" in str(loaded)
