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


def test_the_ideal_curve_is_approached(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    found = load("04_the_ideal_curve").main(n_rows=8000, n_unseen=40_000)
    out = capsys.readouterr().out
    assert "    8  0.656515   2.29e-06   4.00     4.72e-06   4.00" in out
    assert (tmp_path / "demo-output" / "ideal_curve.png").is_file()
    left_to_right, plug_in = found["left to right"], found["by share of positives"]
    # Theorem 21: both distances of the plug-in fall, on average over the seeds.
    assert (plug_in[-1] < 0.6 * plug_in[0]).all()
    assert (plug_in[-1] < left_to_right[-1]).all()
    # From left to right the tree improves a little, and d-infinity hardly at all.
    assert left_to_right[-1, 0] < left_to_right[0, 0]


def test_score_plots_are_drawn_and_explained(tmp_path, capsys):
    ranker = load("05_score_plots").main(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["score_plots.png", "score_roc.png"]
    for path in tmp_path.iterdir():
        assert path.read_bytes().startswith(b"\x89PNG")
    out = capsys.readouterr().out
    for words in ("training rows", "test rows", "smoothed AUC", "written to"):
        assert words in out
    assert ranker.model_.feature_names == ("Age", "Number", "Start")
    # What the paper says of age: the risk rises to a top and falls again.
    age = ranker.model_.steps[0][1:]
    assert 0 < age.argmax() < len(age) - 1
