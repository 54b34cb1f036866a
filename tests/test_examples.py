"""The examples run, on small sizes, and show what they say they show."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
EXAMPLES = ROOT / "examples"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_first_model_writes_what_it_lists(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    example = load("01_first_model")
    monkeypatch.setattr(example, "N_LOANS", 500)  # fewer rows to learn from
    example.run()
    out = capsys.readouterr().out
    names = ("loans.csv", "new.csv", "loans.model.json", "scores.csv", "loans.report.html")
    for name in names:
        assert (tmp_path / "demo-output" / name).is_file()
        assert name in out
    assert "cross-validated AUC 0." in out and "for precision of at least 0.5" in out
    page = tmp_path / "demo-output" / "loans.report.html"
    assert out.splitlines()[-1] == page.as_uri()


# LightGBM on plain arrays warns of feature names that it made up itself.
@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
def test_label_noise_collapses_boosting_and_not_martirank(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    example = load("02_label_noise")
    monkeypatch.setattr(example, "ETAS", (0.3,))

    class OneThread(example.lgb.LGBMClassifier):
        """Threads of LightGBM spin while they wait for cores that other tests use."""

        def fit(self, X, y):
            self.n_jobs = 1
            return super().fit(X, y)

    monkeypatch.setattr(example.lgb, "LGBMClassifier", OneThread)
    curves = example.noise_curves(10_000)
    assert curves[0.3][-1] > 0.97
    result = example.collapse(5000)
    assert result["MartiRank, T = 80"][1] > 0.95
    assert result["AdaBoost, 200 stumps"][0] > 0.99
    assert result["AdaBoost, 200 stumps"][1] < 0.87
    assert example.draw(curves, result).is_file()


def test_learning_from_a_stream_in_flat_memory(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert load("03_learning_from_a_stream").run(n_layers=8, draws=(3000, 6000)) > 0.85
    assert "ran out of rows" in capsys.readouterr().out


def test_the_ideal_curve_is_approached(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    result = load("04_the_ideal_curve").main(n_rows=8000, n_unseen=40_000)
    out = capsys.readouterr().out
    assert "    8  0.656515   2.29e-06   4.00     4.72e-06   4.00" in out
    assert (tmp_path / "demo-output" / "ideal_curve.png").is_file()
    left_to_right, plug_in = result["left to right"], result["by fraction of positives"]
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


def test_the_metric_itself_is_what_comes_out(capsys):
    example = load("06_the_metric_itself")
    result = example.main(n_unseen=20_000, n_runs=5)
    out = capsys.readouterr().out
    for words in (
        "On 20,000 unseen rows",
        "no bound for new rows, because the metric is user-defined",
    ):
        assert words in out
    top, for_auc = result["ExactBoost for top 5%"], result["ExactBoost for AUC"]
    assert top[2] > for_auc[2] + 0.02
    # A linear score cannot follow the parabolas, and nothing beats the optimal score.
    dmks, best = result.pop("DMKS, linear, for KS"), result.pop("optimal score")
    for values in result.values():
        assert values[1] > dmks[1] + 0.04
        assert (np.array(values) < np.array(best) + 0.005).all()


def test_the_metric_of_ones_own_is_what_the_table_shows(monkeypatch):
    """Uncompiled: compiling the two functions takes longer than all else, and the fit does it."""
    example = load("06_the_metric_itself")
    monkeypatch.setattr(example, "sensitivity", example.sensitivity.py_func)
    bound = example.sensitivity_bound.py_func
    rng = np.random.default_rng(0)
    for _ in range(20):  # whole numbers, so that many are tied
        pos, neg = np.sort(rng.integers(5, 40, size=70)), np.sort(rng.integers(0, 35, size=130))
        y = np.repeat([1, 0], [len(pos), len(neg)])
        shown = example.judge(np.concatenate([pos, neg]).astype(float), y)[3]
        assert example.sensitivity(pos, neg) == pytest.approx(shown)
        assert bound(pos, pos + 3, neg - 2, neg) >= shown


def test_ensembling_beats_every_base_model(capsys):
    example = load("07_ensembling")
    scores = example.main(n_unseen=8000, n_runs=15)
    out = capsys.readouterr().out
    assert out.count("95% CI") == 10 and out.count("paired, MOVER limits") == 2
    y = example.make_t_pair(6400, 1600, random_state=1).y
    aucs = {name: example.auc(y, score) for name, score in scores.items()}
    assert len(aucs) == 8
    stacks = [aucs.pop(name) for name in (example.BY_AUC, example.BY_LOGISTIC)]
    assert min(stacks) > max(aucs.values())
    assert abs(stacks[0] - stacks[1]) < 0.015
    assert aucs["logistic regression"] < 0.55 < aucs["random forest"]


def test_the_example_of_the_readme(tmp_path, monkeypatch):
    """It runs line by line, draws one figure, and writes what it says."""
    monkeypatch.chdir(tmp_path)
    plt = pytest.importorskip("matplotlib.pyplot")
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(240, 2)), columns=["age", "income"])
    y = (X["age"] + rng.normal(size=240) > 0).astype(int)
    names = {"X_train": X[:120], "y_train": y[:120], "w": np.ones(120)}
    names |= {"X_test": X[120:], "y_test": y[120:], "others": X["income"][120:]}
    names["region"] = np.where(np.arange(120) % 2, "north", "south")
    blocks = (ROOT / "README.md").read_text(encoding="utf-8").split("```python\n")[1:]
    assert len(blocks) == 1
    plt.close("all")
    exec(blocks[0].split("```")[0], names)
    assert len(plt.get_fignums()) == 1
    plt.close("all")
    assert (tmp_path / "report.html").is_file()
    assert names["model"].score(X[120:], y[120:]) == names["ranker"].score(X[120:], y[120:])
