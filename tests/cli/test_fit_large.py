"""`auctor fit --max-memory`: the model of the library, one held-out fold, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import auctor
from auctor import ExactBoost, RankBoost
from auctor.data.copies import find_copies
from auctor.data.table import read_table

from .conftest import FAST, Run

DROP = ("--drop", "id", "--drop", "w")
LARGE = ("--target", "y", *DROP, "--max-memory", "1GB")
FEATURES = ["x", "z", "flag", "city"]


@pytest.fixture
def folder(table: pa.Table, tmp_path: Path) -> Path:
    """The table in three Parquet files."""
    path = tmp_path / "parts"
    path.mkdir()
    for k in range(3):
        size = len(table) // 3 + 1
        pq.write_table(table.slice(k * size, size), path / f"{k}.parquet")
    return path


def test_model_is_that_of_the_library(run: Run, folder: Path, table: pa.Table) -> None:
    done = run("fit", folder, *LARGE, *FAST, "--out", "large.json", "--json")
    assert (done.code, done.err) == (0, "")
    X, y = table.select(FEATURES), table["y"].to_numpy()
    RankBoost(n_estimators=10).fit(X, y).save("memory.json", X, y)
    large, memory = (json.loads(Path(f"{name}.json").read_text()) for name in ("large", "memory"))
    origin = large["training"].pop("origin")
    assert origin["table"] == "parts" and origin["target"] == "y"
    validation = large["training"].pop("validations")[0]
    assert validation["description"] == "one of 2 folds"
    assert validation["metrics"]["auc"][0] == done.json["held_out_fold"]["auc"]
    memory["training"] = {key: memory["training"][key] for key in large["training"]}
    assert large | {"sha256": None} == memory | {"sha256": None}
    assert done.json["rows"] == len(table)
    assert done.json["features"] == len(FEATURES)


def test_csv_file_gives_the_same_model(run: Run, folder: Path, table: pa.Table) -> None:
    csv.write_csv(table, "all.csv")
    models = []
    for source in (folder, "all.csv"):
        assert run("fit", source, *LARGE, *FAST, "--out", "model.json").code == 0
        models.append(json.loads(Path("model.json").read_text()))
        models[-1]["training"].pop("origin")
        models[-1].pop("sha256")
    assert models[0] == models[1]


def test_held_out_fold_is_not_trained_on(run: Run, tmp_path: Path) -> None:
    # With many columns of noise, a model is nearly perfect on the rows that it has seen.
    rng = np.random.default_rng(0)
    noise = {f"x{j}": rng.normal(size=400) for j in range(20)}
    table = pa.table({**noise, "y": rng.integers(0, 2, 400)})
    pq.write_table(table, tmp_path / "noise.parquet")
    options = ("--learner", "rankboost", "--param", "n_estimators=300")
    done = run("fit", "noise.parquet", "--target", "y", "--max-memory", "1GB", *options, "--json")
    fold = done.json["held_out_fold"]
    assert fold["rows"] == 80
    assert fold["auc_low"] < 0.5 < fold["auc_high"]
    assert auctor.load("noise.model.json").score(table.select(list(noise)), table["y"]) > 0.9


def test_copies_are_held_out_together(run: Run, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=100), rng.integers(0, 2, 100)
    table = pa.table({"x": np.tile(x, 4), "y": np.tile(y, 4)})
    assert find_copies(read_table(table.select(["x"])), None, np.tile(y, 4) == 1) is not None
    pq.write_table(table, tmp_path / "noise.parquet")
    options = ("--learner", "rankboost", "--param", "n_estimators=300")
    done = run("fit", "noise.parquet", "--target", "y", "--max-memory", "1GB", *options, "--json")
    assert done.json["held_out_fold"]["auc"] < 0.8  # near 1 if copies were seen


def test_other_commands_know_the_training_rows(run: Run, folder: Path) -> None:
    assert run("fit", folder, *LARGE, *FAST, "--out", "m.json").code == 0
    shown = run("show", "m.json").out
    assert "parts" in shown and "training rows: 80" in shown
    assert "this is the table that the model was fitted to" in (
        run("evaluate", "m.json", folder, "--target", "y").err
    )
    pq.write_table(pq.read_table(folder / "0.parquet"), "new.parquet")
    assert run("monitor", "m.json", "new.parquet", "--target", "y").code == 0


def test_report_is_of_the_held_out_fold(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("auctor.cli.fit_large_page.SAMPLE_ROWS", 30)
    done = run("fit", folder, *LARGE, *FAST, "--out", "m.json", "--report", "--json")
    assert done.code == 0 and done.json["report"] == "m.report.html"
    page = Path("m.report.html").read_text()
    n_rows = done.json["held_out_fold"]["rows"]
    assert f"30 rows, drawn at random from the {n_rows} rows of one of 2 folds" in page
    assert f"Of the whole fold: AUC {done.json['held_out_fold']['auc']:.3f}" in page


def test_ks_by_exactboost(run: Run, folder: Path, table: pa.Table) -> None:
    learner = ("--learner", "exactboost", "--metric", "ks", "--param", "n_runs=2", "--cv", "0")
    assert run("fit", folder, *LARGE, *learner, "--out", "m.json").code == 0
    model = auctor.load("m.json")
    X, y = table.select(FEATURES), table["y"].to_numpy()
    memory = ExactBoost("ks", n_runs=2).fit(X, y).decision_function(X)
    assert model.decision_function(X).tolist() == memory.tolist()
    assert model.training.origin.metric == "ks"


def test_text_says_what_was_not_done(run: Run, folder: Path) -> None:
    done = run("fit", folder, *LARGE, *FAST)
    assert "RankBoost on one of 2 folds, fitted to the others: AUC" in done.out
    assert "no baseline, and only one fold is tested" in done.out
    done = run("fit", folder, *LARGE, *FAST[:-1], "0")
    assert "folds" not in done.out
    assert "no baseline, and --cv 0 tests no fold" in done.out


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (None, "b.parquet lacks the column 'y'; give all parts the same columns"),
        (["1", "0"], "column 'y' has numbers and text in different parts; give it one type"),
        ([1, None], "column 'y' has 1 missing value; every row needs a label"),
        (["no", None], "column 'y' has 1 missing value; every row needs a label"),
        ([], "source has no rows: all Parquet files of"),
    ],
)
def test_labels_that_differ_by_file(
    run: Run, tmp_path: Path, labels: list[object] | None, message: str
) -> None:
    (tmp_path / "odd").mkdir()
    first = pa.table({"x": [1.0, 2.0], "y": ["no", "yes"] if labels and "no" in labels else [0, 1]})
    second = first.select(["x"]) if labels is None else first.slice(0, len(labels))
    if labels:
        second = second.set_column(1, "y", pa.array(labels))
    if labels != []:
        pq.write_table(first, tmp_path / "odd" / "a.parquet")
    pq.write_table(second, tmp_path / "odd" / "b.parquet")
    done = run("fit", tmp_path / "odd", "--target", "y", "--max-memory", "1GB", *FAST)
    assert message in done.error


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--report", "--cv", "0"), "--report with --max-memory shows the held-out fold"),
        (("--report", "--by", "city"), "--by needs the whole table in memory"),
        (("--holdout", "a.csv"), "--holdout needs the whole table in memory"),
        (("--group", "id"), "--group needs the whole table in memory"),
        (("--metric", "ks"), "give --learner exactboost"),
        (("--learner", "treerank-forest"), "TreeRankForest needs the whole table in memory"),
        (("--drop", "nothing"), "nothing"),
        (("--spill-dir", "/no/such"), "spill_dir is '/no/such', which is not a folder"),
        (("--max-memory", "lots"), "max_memory is 'lots'"),
        (("--max-memory", "1MB"), "max_memory is 1 MB, and RankBoost needs about"),
        (("--positive", "maybe"), "--positive 'maybe' is not a label"),
    ],
)
def test_refused(run: Run, folder: Path, options: tuple[str, ...], message: str) -> None:
    done = run("fit", folder, *LARGE, *FAST, *options)
    assert done.code != 0
    assert message in done.error
    assert not Path("parts.model.json").exists()


def test_spill_dir_alone(run: Run, train: Path) -> None:
    done = run("fit", train, "--target", "y", *FAST, "--spill-dir", ".")
    assert "--spill-dir is given without --max-memory" in done.error
