"""The examples run, on small sizes, and show what they say they show."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_first_model_writes_what_it_lists(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    load("01_first_model").run()
    out = capsys.readouterr().out
    for name in ("tumours.csv", "unseen.csv", "tumours.model.json", "scores.csv"):
        assert (tmp_path / "demo-output" / name).is_file()
        assert name in out
    assert "cross-validated AUC 0.99" in out


# LightGBM on plain arrays warns of feature names that it made up itself.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_label_noise_collapses_boosting_and_not_martirank(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = load("02_label_noise")
    monkeypatch.setattr(example, "ETAS", (0.3,))
    curves = example.noise_curves(10_000)
    assert curves[0.3][-1] > 0.97
    found = example.collapse(5000)
    assert found["MartiRank, T = 80"][1] > 0.95
    assert found["AdaBoost, 200 stumps"][0] > 0.99
    assert found["AdaBoost, 200 stumps"][1] < 0.87
    assert example.draw(curves, found).is_file()


def test_learning_from_a_stream_in_flat_memory(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert load("03_learning_from_a_stream").run(n_layers=8, draws=(3000, 6000)) > 0.85
    assert "ran dry" in capsys.readouterr().out
