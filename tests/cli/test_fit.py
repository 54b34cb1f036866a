"""`auctor fit`: what it writes and prints, and what it refuses before any work."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import auctor
from auctor import RankBoost
from auctor.cli import fit
from auctor.estimators.base import RankingEstimator
from auctor.estimators.cross_validation import cross_val_auc

from .conftest import FAST, NO_CV, Run, files

DROP = ("--drop", "id", "--drop", "w")


@pytest.fixture
def no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail if a model is fitted: every mistake must be an error before that."""

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the fit was started")

    monkeypatch.setattr(RankingEstimator, "fit", refuse)


def test_fit_writes_the_model_of_the_library(run: Run, train: Path, table: pa.Table) -> None:
    done = run("fit", train, "--target", "y", *DROP, *FAST, "--seed", "3", "--json")
    assert (done.code, done.err) == (0, "")
    X, y = table.select(["x", "z", "flag", "city"]), table["y"].to_numpy()
    ranker = RankBoost(n_estimators=10, random_state=3).fit(X, y)
    model = auctor.load("train.model.json")
    assert model.classes == ("no", "yes")
    np.testing.assert_array_equal(model.decision_function(X), ranker.decision_function(X))
    result = cross_val_auc(RankBoost(n_estimators=10), X, y, cv=2, random_state=3)
    facts = done.json
    assert facts["cross_validation"]["auc"] == result.auc.value
    assert facts["cross_validation"]["low"] == result.auc.low
    assert facts["cross_validation"]["folds"] == 2
    assert facts["certificate"]["statement"] == ranker.certificate_.statement
    assert [facts[key] for key in ("rows", "n_pos", "n_neg")] == [80, 40, 40]
    assert (facts["features"], facts["categorical"]) == (4, 1)
    assert facts["params"]["n_estimators"] == 10
    best = int(np.argmax(ranker.feature_importances_))
    assert facts["importances"][0]["feature"] == X.column_names[best]
    assert facts["model"] == "train.model.json"


def test_fit_prints_for_people(run: Run, train: Path) -> None:
    lines = run("fit", train, "--target", "y", *DROP, *FAST).out.splitlines()
    assert lines[0].endswith(
        "train.csv: 80 rows, 40 of them positive (y = yes), 4 features, 1 of them categorical"
    )
    assert lines[1].startswith("RankBoost: cross-validated AUC 0.")
    assert "2 folds, 40 positives, 40 negatives)" in lines[1]
    assert lines[2].startswith("RankBoost: KS 0.") and lines[2].endswith("), corrected for bias")
    assert re.fullmatch(r"logistic regression on the same folds: AUC 0\.\d+, KS 0\.\d+", lines[3])
    assert re.fullmatch(
        r"difference \(ours - logistic regression\): [+-]?0\.\d+ in AUC \(95% CI .*, p = .*\)",
        lines[4],
    )
    assert re.match(r"training certificate: 0\.\d+ of the training pairs are misranked", lines[5])
    assert lines[6].startswith("most important features: ")
    assert lines[7] == "model written to train.model.json"
    assert len(lines) == 8


def test_a_fit_for_the_partial_auc_is_compared_by_it(run: Run, train: Path) -> None:
    options = [
        "--metric",
        "pauc:0-0.3",
        "--learner",
        "smooth-aucboost",
        "--cv",
        2,
        "--param",
        "tol=1e-3",
    ]
    command = ["fit", train, "--target", "y", *DROP, *options]
    lines = run(*command).out.splitlines()
    assert re.search(r"^SmoothAUCBoost: scaled partial AUC 0\.\d+ over fpr 0 to 0.3 \(", lines[3])
    assert re.search(r": [+-]0\.\d+ in scaled partial AUC over fpr 0 to 0.3 \(95% CI ", lines[5])
    assert re.search(r"\); [+-]0\.\d+ in AUC \(95% CI ", lines[5])
    facts = run(*command, "--json", "--report", "p.html").json
    ours, other = facts["cross_validation"], facts["baseline"]
    assert other["difference"] == pytest.approx(ours["metric_value"] - other["metric_value"])
    assert other["value"] == other["metric_value"]
    assert other["metric_name"] == "scaled partial AUC"
    difference = other["auc_difference"]["difference"]
    assert difference == pytest.approx(ours["auc"] - other["auc"])
    page = Path("p.html").read_text(encoding="utf-8")
    assert "trained for the scaled partial AUC over fpr 0 to 0.3, which is 0." in page
    assert page.index("<dt>Scaled partial AUC</dt>") < page.index("<dt>AUC</dt>")
    assert " in scaled partial AUC over fpr 0 to 0.3 between the model and logistic" in page


def without_record(path: Path) -> dict[str, object]:
    """A model file without what names the table, the date and the folds."""
    content = json.loads(path.read_text())
    return {name: content[name] for name in content if name not in ("training", "sha256")}


def test_formats_give_the_same_model(run: Run, train: Path, table: pa.Table) -> None:
    pq.write_table(table, "train.parquet")
    with pa.output_stream("zipped.csv.gz", compression="gzip") as file:
        csv.write_csv(table, file)
    csv.write_csv(table, "semi.csv", csv.WriteOptions(delimiter=";"))
    models = []
    for path in (train, "train.parquet", "zipped.csv.gz", "semi.csv"):
        done = run("fit", path, "--target", "y", *DROP, *FAST, "--out", "m.json")
        assert done.code == 0, done.err
        models.append(without_record(Path("m.json")))
    assert models == models[:1] * 4


def test_positive_weight_categorical_and_no_folds(run: Run, train: Path, table: pa.Table) -> None:
    done = run(
        *("fit", train, "--target", "y", "--positive", "no", "--weight", "w", "--drop", "id"),
        *("--categorical", "z", *FAST, "--cv", 0, "--json"),
    )
    assert done.code == 0, done.err
    assert (done.json["positive"], done.json["negative"]) == ("no", "yes")
    assert done.json["categorical"] == 2
    assert done.json["cross_validation"] is None
    X = table.select(["x", "z", "flag", "city"])
    ranker = RankBoost(n_estimators=10, pos_label="no", categorical_features=["z"])
    ranker.fit(X, table["y"].to_numpy(), table["w"].to_numpy())
    scores = auctor.load("train.model.json").decision_function(X)
    np.testing.assert_array_equal(scores, ranker.decision_function(X))


def test_weighted_cross_validation(run: Run, train: Path) -> None:
    done = run("fit", train, "--target", "y", "--drop", "id", "--weight", "w", *FAST, "--json")
    assert done.json["cross_validation"]["method"].startswith("DeLong within folds, ")


@pytest.mark.parametrize(
    ("labels", "positive", "classes"),
    [
        ([0, 1], None, (0, 1)),
        ([0, 1], "0", (1, 0)),
        ([0.0, 1.0], "1", (0.0, 1.0)),
        ([False, True], None, (False, True)),
        ([False, True], "FALSE", (True, False)),
        (["1", "2b"], "1", ("2b", "1")),
    ],
)
def test_targets_of_all_types(
    run: Run, table: pa.Table, labels: list[Any], positive: str | None, classes: tuple[Any, Any]
) -> None:
    y = [labels[label == "yes"] for label in table["y"].to_pylist()]
    changed = table.drop_columns(["y"]).append_column("y", [y])
    csv.write_csv(changed, "t.csv")
    pq.write_table(changed, "t.parquet")
    chosen = [] if positive is None else ["--positive", positive]
    for path in ("t.csv", "t.parquet"):
        done = run("fit", path, "--target", "y", *DROP, *FAST, *chosen)
        assert done.code == 0, done.err
        assert auctor.load("t.model.json").classes == classes


def test_dictionary_and_decimal_targets(run: Run, table: pa.Table) -> None:
    X = table.select(["x", "city"])
    coded = table["y"].combine_chunks().dictionary_encode()
    number = pa.array([int(label == "yes") for label in table["y"].to_pylist()])
    pq.write_table(X.append_column("y", coded), "d.parquet")
    pq.write_table(X.append_column("y", number.cast(pa.decimal128(22, 2))), "n.parquet")
    for name, classes in (("d", ("no", "yes")), ("n", (0.0, 1.0))):
        assert run("fit", f"{name}.parquet", "--target", "y", *FAST).code == 0
        assert auctor.load(f"{name}.model.json").classes == classes


def test_threshold_parameter_reaches_the_file(run: Run, train: Path) -> None:
    done = run("fit", train, "--target", "y", *DROP, *NO_CV, "--param", "threshold=0.25")
    assert done.code == 0, done.err
    assert auctor.load("train.model.json").threshold == 0.25


def test_dropped_date_column_is_not_even_parsed(run: Run, table: pa.Table) -> None:
    dates = pa.array(np.datetime64("2024-01-01") + np.arange(80))
    csv.write_csv(table.append_column("day", dates), "t.csv")
    done = run("fit", "t.csv", "--target", "y", *DROP, *FAST)
    assert done.code == 0
    assert "column 'day' looks like a date, which is read as text" in done.err
    assert run("score", "t.model.json", "t.csv").code == 0
    silent = run("fit", "t.csv", "--target", "y", *DROP, "--drop", "day", *NO_CV)
    assert silent.code == 0 and "day" not in silent.err
    assert run("score", "t.model.json", "t.csv").code == 0  # the date is still in the table


Bad = list[str]


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "Y"], "no column 'Y'; did you mean 'y'?"),
        (["--target", "y", "--drop", "cty"], "no column 'cty'; did you mean 'city'?"),
        (["--target", "y", "--weight", "ww"], "no column 'ww'"),
        (["--target", "y", "--categorical", "zz"], "no column 'zz'"),
        (["--target", "y", "--categorical", "w", "--weight", "w"], "--categorical 'w'"),
        (["--target", "y", "--weight", "y"], "both target and weight"),
        (["--target", "y", "--drop", "y"], "--drop 'y' is the target column"),
        (
            ["--target", "z"],
            "column 'z' has 5 different values (0, 1, 2, 3, 4); the target needs exactly two",
        ),
        (["--target", "city"], "missing values; every row needs a label"),
        (["--target", "y", "--positive", "maybe"], "--positive 'maybe'"),
        (["--target", "y", "--weight", "x"], "missing values; every row needs a weight"),
        (["--target", "y", "--weight", "id2"], "no column 'id2'; did you mean 'id'?"),
        (["--target", "y", "--weight", "city"], "give weights that are numbers"),
        (["--target", "y", "--cv", "21"], "use --cv 20"),
        (["--target", "y", "--param", "n_estimators=0"], "'n_estimators' parameter"),
        (["--target", "y", "--param", "n_estimators=many"], "'n_estimators' parameter"),
        (["--target", "y", "--out", "no/such/m.json"], "there is no folder no/such"),
        (["--target", "y", "--out", "."], "it is a folder"),
        (["--target", "y", "--out", "train.csv"], "the command reads this file"),
    ],
)
def test_errors_before_any_work(run: Run, train: Path, arguments: Bad, words: str) -> None:
    before = train.read_bytes()
    done = run("fit", train, *arguments)
    assert done.code == 1
    assert words in done.error
    assert files(Path()) == {"train.csv"}
    assert train.read_bytes() == before


@pytest.mark.usefixtures("no_work")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x,y\n1,a\n2,a\n", "column 'y' has 1 value ('a')"),
        ("x,y\n1,a\n2,\n3,b\n4,NA\n", "column 'y' has 2 missing values"),
        (
            "x,y\n1,2020-01-01\n2,2020-01-02\n",
            "give labels that are text, whole numbers or true and false",
        ),
        ("x,y\n1,0.5\n2,1.5\n", "give labels that are text or whole numbers"),
        ("x,y\n1,a\n2,b\n3,b\n", "label 'b' has 2 rows, but 5 folds need at least 10"),
        ("y\na\nb\n", "has no feature columns"),
        (",x,y\n0,1,a\n1,2,b\n", "column 1 has no name"),
        ("x,y,w\n1,a,1\n2,b,-1\n", "column 'w' has negative values"),
        ("x,y,w\n1,a,1\n2,b,inf\n", "column 'w' has NaN or infinite values"),
        ("x,y,w\n1,a,0\n2,b,0\n", "column 'w' is zero everywhere"),
        ("x,y,w\n1,a,1\n2,b,0\n", "every row with label 'b' has weight 0"),
        ("x,y\n1,a\n2\n", "Expected 2 columns, got 1"),
    ],
)
def test_bad_tables(run: Run, tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    weight = ["--weight", "w"] if ",w\n" in text else []
    done = run("fit", path, "--target", "y", *weight)
    assert done.code == 1
    assert words in done.error
    assert files(tmp_path) == {"t.csv"}


def test_few_rows_without_folds(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,a\n2,b\n")
    assert "--cv 0" in run("fit", path, "--target", "y").error
    assert run("fit", path, "--target", "y", "--cv", 0).code == 0


def test_infinity_names_its_column(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("x,y\n1,a\ninf,b\n")
    done = run("fit", path, "--target", "y", "--cv", 0)
    assert done.code == 1 and "column 'x' holds 1 infinity" in done.error
    assert files(tmp_path) == {"t.csv"}


def test_missing_file(run: Run) -> None:
    done = run("fit", "nowhere.csv", "--target", "y")
    assert (done.code, done.error) == (1, "nowhere.csv: No such file or directory")


def test_folder_that_cannot_be_written(
    run: Run, train: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.access", lambda *_, **__: False)  # root may write anywhere
    monkeypatch.setattr(fit, "open_table", None)  # found before the table is opened
    assert "is not writable" in run("fit", train, "--target", "y").error


def test_values_of_parameters_are_json_else_text(run: Run, train: Path) -> None:
    settings = ["--param", "early_stopping=true", "--param", "threshold=youden"]
    done = run("fit", train, "--target", "y", *DROP, *FAST, *settings, "--json")
    assert done.code == 0, done.err
    assert done.json["params"]["early_stopping"] is True
    assert done.json["params"]["threshold"] == "youden"


def test_jobs_and_seed_do_not_change_the_model(run: Run, train: Path) -> None:
    models = []
    for jobs, seed in ((1, 0), (2, 1)):
        options = ["--jobs", jobs, "--seed", seed]
        assert run("fit", train, "--target", "y", *DROP, *FAST, *options).code == 0
        models.append(without_record(Path("train.model.json")))
    assert models[0] == models[1]
    assert models[0]["format"] == "auctor-model"


def test_groups_reach_the_learners_own_folds(run: Run, table: pa.Table) -> None:
    pq.write_table(table.append_column("who", [[f"g{i // 2}" for i in range(80)]]), "g.parquet")
    few = ["--param", "penalties=[0.1]", "--param", "shrinkages=[0.1]", "--param", "interactions=0"]
    options = ["--group", "who", "--cv", 2, *few, "--report", "p.html", "--json"]
    done = run("fit", "g.parquet", "--target", "y", *DROP, *options)
    assert done.code == 0, done.err
    method = done.json["cross_validation"]["method"]
    assert method.startswith("DeLong by groups within folds, variance multiplied by 1.")
    assert "cv" not in done.json["params"]
    page = Path("p.html").read_text(encoding="utf-8")
    assert "array(" not in page and "cv=[" not in page and '"cv"' not in page


@pytest.mark.parametrize("command", ["fit", "compare"])
def test_copies_give_a_warning_and_count_once(run: Run, command: str) -> None:
    x = np.repeat(np.random.default_rng(0).normal(size=(2, 150)), 3, axis=1)
    y = np.repeat(np.arange(150) < 70, 3).astype(int)
    pq.write_table(pa.table({"a": x[0], "b": x[1], "y": y}), "dup.parquet")
    options = ["--target", "y", "--learner", "treerank", "--json"]
    done = run(command, "dup.parquet", *options)
    warning = "the 450 rows contain only 150 distinct rows; copies of a row stay in the same fold"
    assert [warning in line for line in done.json["warnings"]] == [True]
    assert warning in done.err
    result = done.json["cross_validation"] if command == "fit" else done.json["learners"][0]
    assert result["method"].startswith("DeLong by groups within folds")
    assert result["low"] < 0.5 < result["high"]
    if command == "fit":
        assert run("fit", "dup.parquet", *options, "--cv", 0).json["warnings"] == []
        low, high = (done.json["baseline"][name] for name in ("low", "high"))
        assert low < 0 < high


def test_ks_and_its_difference_agree(run: Run, train: Path) -> None:
    """Two KS and their difference stand in one line: they must add up."""
    done = run("fit", train, "--target", "y", "--metric", "ks", "--cv", "2", "--json")
    assert done.code == 0, done.err
    ours, other = done.json["cross_validation"], done.json["baseline"]
    assert other["value"] == other["ks"]
    assert ours["ks"] - other["ks"] == pytest.approx(other["difference"], abs=1e-12)
