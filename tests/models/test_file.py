"""Model files: the same bits after a round trip, and never half a file."""

import datetime
import json
import os
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import auctor
from auctor.data import category_feature, number_feature
from auctor.models import AdditiveModel, Calibration, from_json, load, to_json
from auctor.testing import strategies as own


def bits_of(model):
    """All that a model holds, to the last bit."""
    return (
        model.classes,
        [type(label) for label in model.classes],
        float(model.threshold).hex(),
        [float(x).hex() for x in model.calibration],
        float(model.intercept).hex(),
        [(f.name, f.kind, f.cuts.tobytes(), f.categories) for f in model.features],
        [s.tobytes() for s in model.steps],
    )


class TestRoundTrip:
    def test_same_bits_of_score(self, model, columns, tmp_path):
        path = tmp_path / "model.json"
        model.save(path)
        for loaded in (auctor.load(path), auctor.load(str(path))):
            assert bits_of(loaded) == bits_of(model)
            table = pd.DataFrame(columns)
            expected = model.decision_function(table)
            assert loaded.decision_function(table).tobytes() == expected.tobytes()
            assert str(loaded) == str(model)
            assert loaded.predict(table).tolist() == model.predict(table).tolist()

    def test_centres_stay_out_of_the_file(self, model):
        known = tuple(
            f if f.is_category else number_feature(f.name, f.cuts, np.arange(float(f.n_bins)))
            for f in model.features
        )
        text = to_json(replace(model, features=known))
        assert text == to_json(model)
        assert all(f.centres.shape == (0,) for f in from_json(text).features)

    def test_text_of_a_loaded_model_is_the_same(self, model):
        text = to_json(model)
        assert to_json(from_json(text)) == text

    @given(
        own.columns(max_size=10).map(np.unique),
        st.lists(st.floats(-1e299, 1e299), min_size=14, max_size=14),
        st.text(),
        st.lists(st.one_of(st.integers(-(2**70), 2**70), st.floats(-1e308, 1e308)), unique=True),
        st.lists(st.text(), unique=True),
    )
    def test_any_numbers_and_names(self, cuts, numbers, name, codes, texts):
        model = AdditiveModel(
            (0, 1),
            numbers[0],
            Calibration(abs(numbers[1]) + 1e-300, numbers[2]),
            (
                number_feature(name, cuts),
                category_feature(name + "!", tuple(codes)),
                category_feature(name + "?", tuple(texts)),
            ),
            (
                np.array(numbers[2:])[: len(cuts) + 2],
                np.arange(len(codes) + 1.0),
                np.arange(len(texts) + 1.0),
            ),
            numbers[-1],
        )
        assert bits_of(from_json(to_json(model))) == bits_of(model)

    @pytest.mark.parametrize(
        ("classes", "expected"),
        [
            (("no", "yes"), ("no", "yes")),
            ((0, 1), (0, 1)),
            ((-0.5, 0.1), (-0.5, 0.1)),
            ((False, True), (False, True)),
            ((np.int64(0), np.int64(1)), (0, 1)),
            ((np.float32(0.5), np.float32(1.5)), (0.5, 1.5)),
            ((np.False_, np.True_), (False, True)),
            ((np.str_("a"), np.str_("b")), ("a", "b")),
            ((2**70, 2**71), (2**70, 2**71)),
            (("", "\ud800"), ("", "\ud800")),
        ],
        ids=str,
    )
    def test_labels(self, model, classes, expected):
        loaded = from_json(to_json(replace(model, classes=classes)))
        assert loaded.classes == expected
        assert [type(label) for label in loaded.classes] == [type(label) for label in expected]

    @pytest.mark.parametrize(
        "label",
        [
            datetime.date(2020, 1, 1),
            Decimal(1),
            b"yes",
            ("a", "b"),
            None,
            1j,
            np.datetime64("2020"),
            pd.Timestamp(0),
        ],
        ids=str,
    )
    def test_labels_that_json_cannot_hold(self, model, label, tmp_path):
        with pytest.raises(ValueError, match=r"classes holds .* which JSON cannot hold; fit with"):
            replace(model, classes=("no", label)).save(tmp_path / "model.json")
        assert list(tmp_path.iterdir()) == []

    @pytest.mark.parametrize("number", [float("nan"), float("inf")])
    def test_numbers_that_json_cannot_hold(self, model, number):
        with pytest.raises(ValueError, match="cannot be written as JSON"):
            to_json(replace(model, threshold=number))

    def test_numpy_scalars_in_the_model(self, model):
        odd = replace(
            model,
            threshold=np.float32(0.25),
            intercept=np.float32(-0.5),
            calibration=Calibration(np.float32(1.5), np.int64(0)),
        )
        loaded = from_json(to_json(odd))
        assert (loaded.threshold, loaded.intercept, loaded.calibration) == (0.25, -0.5, (1.5, 0.0))

    def test_layout_of_the_file_does_not_matter(self, model):
        content = json.loads(to_json(model))
        shuffled = json.dumps(dict(reversed(content.items())), indent=7)
        assert bits_of(from_json(shuffled)) == bits_of(model)

    def test_large_values_of_a_column_can_be_saved(self, model):
        # Cuts are compared, never added: they may lie anywhere in the range.
        (cuts,) = [f.cuts for f in model.features if f.name == "age"]
        assert cuts[-1] == 1e300
        assert bits_of(from_json(to_json(model))) == bits_of(model)


class TestSaving:
    def test_a_failed_write_leaves_the_old_file(self, model, tmp_path, monkeypatch):
        path = tmp_path / "model.json"
        path.write_text("old")

        def fail(*arguments):
            raise OSError("no space left on device")

        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(OSError, match="no space left"):
            model.save(path)
        assert path.read_text() == "old"
        assert [p.name for p in tmp_path.iterdir()] == ["model.json"]

    def test_an_interrupt_leaves_the_old_file(self, model, tmp_path, monkeypatch):
        path = tmp_path / "model.json"
        path.write_text("old")

        def interrupt(*arguments):
            raise KeyboardInterrupt

        monkeypatch.setattr(Path, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.save(path)
        assert path.read_text() == "old"
        assert [p.name for p in tmp_path.iterdir()] == ["model.json"]

    def test_the_old_file_is_replaced(self, model, tmp_path):
        path = tmp_path / "model.json"
        path.write_text("old")
        model.save(path)
        assert bits_of(load(path)) == bits_of(model)
        assert [p.name for p in tmp_path.iterdir()] == ["model.json"]

    def test_a_relative_name(self, model, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        model.save("model.json")
        assert bits_of(load("model.json")) == bits_of(model)

    def test_the_longest_name(self, model, tmp_path):
        path = tmp_path / ("m" * 250 + ".json")
        model.save(path)
        assert bits_of(load(path)) == bits_of(model)

    @pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
    def test_permissions_are_those_of_a_new_file(self, model, tmp_path):
        model.save(tmp_path / "model.json")
        (tmp_path / "other").touch()
        assert (tmp_path / "model.json").stat().st_mode == (tmp_path / "other").stat().st_mode

    def test_a_folder_that_is_not_there(self, model, tmp_path):
        with pytest.raises(FileNotFoundError):
            model.save(tmp_path / "nowhere" / "model.json")

    def test_onto_a_folder(self, model, tmp_path):
        (tmp_path / "folder").mkdir()
        with pytest.raises(OSError):
            model.save(tmp_path / "folder")
        assert [p.name for p in tmp_path.iterdir()] == ["folder"]

    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(FileNotFoundError):
            load(tmp_path / "model.json")


def test_a_threshold_that_meets_a_criterion_is_kept(tmp_path):
    from auctor import load
    from auctor.datasets import load_kyphosis

    X, y = load_kyphosis()
    ranker = auctor.RankBoost(n_estimators=20).fit(X, y)
    threshold = ranker.threshold_at(X, y, tpr=0.8)
    model = ranker.model_.with_threshold(threshold)
    model.save(tmp_path / "m.json")
    flagged = load(tmp_path / "m.json").predict(X) == model.classes[1]
    assert flagged.sum() == threshold.point.flagged
    assert (flagged & (y == model.classes[1])).sum() >= 0.8 * (y == model.classes[1]).sum()
    assert ranker.model_.with_threshold(0.25).threshold == 0.25
    assert repr(model.threshold_at(X, y, tpr=0.8)) == repr(threshold)
    with pytest.raises(ValueError, match="threshold is 'high'; give a number"):
        model.with_threshold("high")


@pytest.mark.parametrize("threshold", [np.inf, -np.inf, 1.7e308])
def test_a_threshold_beyond_all_scores_can_be_saved(threshold, tmp_path):
    X, y = np.arange(8.0).reshape(-1, 1), [0, 1] * 4
    model = auctor.RankBoost(n_estimators=2).fit(X, y).model_.with_threshold(threshold)
    model.save(tmp_path / "m.json")
    predicted = load(tmp_path / "m.json").predict(X)
    assert set(predicted.tolist()) == {0 if threshold > 0 else 1}


def test_a_threshold_that_a_file_cannot_hold_is_refused_when_fitting():
    with pytest.raises(ValueError, match="The 'threshold' parameter"):
        auctor.RankBoost(n_estimators=2, threshold=1e308).fit([[0.0], [1.0]], [0, 1])
