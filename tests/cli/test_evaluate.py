"""`auctor evaluate`: the numbers of auctor.metrics on the scores of the model."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest

import auctor
from auctor import metrics

from .conftest import NO_CV, Run, make_table


@pytest.fixture
def unseen() -> pa.Table:
    return make_table(60, seed=2)


@pytest.fixture
def path(tmp_path: Path, unseen: pa.Table) -> Path:
    csv.write_csv(unseen, tmp_path / "unseen.csv")
    return tmp_path / "unseen.csv"


def scored(model: Path, table: pa.Table) -> tuple[Any, Any]:
    loaded = auctor.load(model)
    scores = loaded.decision_function(table.select(list(loaded.feature_names)))
    return table["y"].to_numpy() == loaded.classes[1], scores


def test_measures(run: Run, model: Path, path: Path, unseen: pa.Table) -> None:
    facts = run("evaluate", model, path, "--target", "y", "--json").json
    y, s = scored(model, unseen)
    interval = metrics.auc_ci(y, s)
    assert (facts["auc"], facts["low"], facts["high"]) == (
        interval.value,
        interval.low,
        interval.high,
    )
    assert facts["method"] == "DeLong's variance, Wilson's limits"
    assert facts["ks"] == metrics.ks(y, s)
    assert facts["partial_auc"] == metrics.partial_auc(y, s, fpr_range=(0, 0.1), scaled=True)
    assert facts["precision_at_top"] == pytest.approx(metrics.precision_at_k(y, s, k=0.1))
    for name, result in {
        "ks": metrics.ks_ci(y, s, random_state=0),
        "partial_auc": metrics.partial_auc_ci(
            y, s, fpr_range=(0, 0.1), scaled=True, random_state=0
        ),
        "precision_at_top": metrics.precision_at_k_ci(y, s, k=0.1, random_state=0),
    }.items():
        assert (facts[f"{name}_low"], facts[f"{name}_high"]) == (result.low, result.high)
    assert facts["warnings"] == []
    assert (facts["rows"], facts["n_pos"], facts["n_neg"]) == (60, y.sum(), (~y).sum())
    point = facts["at_threshold"]
    assert point["tpr"] == (s[y] > 0).mean()
    assert point["fpr"] == (s[~y] > 0).mean()
    assert point["precision"] == y[s > 0].mean()


def test_weighted_measures(run: Run, model: Path, path: Path, unseen: pa.Table) -> None:
    facts = run("evaluate", model, path, "--target", "y", "--weight", "w", "--json").json
    y, s = scored(model, unseen)
    w = unseen["w"].to_numpy()
    assert facts["auc"] == pytest.approx(metrics.auc(y, s, sample_weight=w))
    assert facts["auc"] != metrics.auc(y, s)
    assert facts["method"] == "DeLong's variance, Wilson's limits"
    assert facts["at_threshold"]["tpr"] == pytest.approx(w[y & (s > 0)].sum() / w[y].sum())
    assert facts["at_threshold"]["precision"] == pytest.approx(
        w[y & (s > 0)].sum() / w[s > 0].sum()
    )


def test_text_for_people(run: Run, model: Path, path: Path) -> None:
    lines = run("evaluate", model, path, "--target", "y").out.splitlines()
    assert lines[0].endswith("unseen.csv: 60 rows, 30 of them positive (y = yes)")
    assert lines[1].startswith("AUC 0.") and "Wilson's limits" in lines[1]
    assert [line.split()[0] for line in lines[2:]] == ["KS", "partial", "precision", "at"]


def test_a_score_on_the_threshold_is_flagged(run: Run, path: Path, train: Path) -> None:
    """As in predict and on the page."""
    command = ("fit", train, "--target", "y", "--drop", "id", "--drop", "w", *NO_CV)
    assert run(*command).code == 0
    _, scores = scored(Path("train.model.json"), make_table(60, seed=2))
    cut = float(np.sort(scores)[len(scores) // 2])
    assert (scores == cut).any()
    assert run(*command, "--param", f"threshold={cut!r}").code == 0
    point = run("evaluate", "train.model.json", path, "--target", "y", "--json").json[
        "at_threshold"
    ]
    assert point["flagged"] == (scores >= cut).sum()


def test_nothing_flagged_is_null_and_said(run: Run, train: Path, path: Path) -> None:
    options = ["--drop", "id", "--drop", "w", *NO_CV, "--param", "threshold=1e6"]
    assert run("fit", train, "--target", "y", *options).code == 0
    done = run("evaluate", "train.model.json", path, "--target", "y", "--json")
    assert done.json["at_threshold"]["precision"] is None
    assert "no row is flagged" in run("evaluate", "train.model.json", path, "--target", "y").out


@pytest.mark.parametrize("label", ["yes", "no"])
def test_positive_class_is_the_models(run: Run, train: Path, path: Path, label: str) -> None:
    options = ["--drop", "id", "--drop", "w", *NO_CV]
    assert run("fit", train, "--target", "y", *options, "--positive", label).code == 0
    facts = run("evaluate", "train.model.json", path, "--target", "y", "--json").json
    assert facts["positive"] == label
    assert facts["auc"] > 0.7


@pytest.mark.parametrize(
    ("fitted", "in_file"),
    [([0, 1], [0.0, 1.0]), ([False, True], [False, True]), (["0", "1x"], None)],
)
def test_labels_are_compared_as_text(
    run: Run, table: pa.Table, fitted: list[Any], in_file: list[Any] | None
) -> None:
    """A CSV file has no types: 1 in one file is 1.0 in another."""
    X = table.select(["x", "z"])
    positive = [label == "yes" for label in table["y"].to_pylist()]
    pq.write_table(X.append_column("y", [[fitted[p] for p in positive]]), "t.parquet")
    csv.write_csv(X.append_column("y", [[(in_file or fitted)[p] for p in positive]]), "e.csv")
    assert run("fit", "t.parquet", "--target", "y", *NO_CV).code == 0
    done = run("evaluate", "t.model.json", "e.csv", "--target", "y", "--json")
    assert done.code == 0, done.err
    assert done.json["n_pos"] == sum(positive)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--target", "yy"], "no column 'yy'; did you mean 'y'?"),
        (
            ["--target", "z"],
            "labels that the model does not know: '0', '1', '2', '3', '4'; it knows",
        ),
        (["--target", "city"], "missing values"),
        (["--target", "y", "--weight", "wt"], "no column 'wt'; did you mean 'w'?"),
        (["--target", "y", "--weight", "city"], "give weights that are numbers"),
    ],
)
def test_errors(run: Run, model: Path, path: Path, arguments: list[str], words: str) -> None:
    done = run("evaluate", model, path, *arguments)
    assert done.code == 1
    assert words in done.error


def test_one_class_only(run: Run, model: Path, unseen: pa.Table) -> None:
    csv.write_csv(unseen.filter(pa.compute.equal(unseen["y"], "yes")), "one.csv")
    done = run("evaluate", model, "one.csv", "--target", "y")
    assert "only the label 'yes'" in done.error


@pytest.mark.parametrize("option", [[], ["--weight", "w"]])
def test_too_few_rows_of_a_class(
    run: Run, model: Path, unseen: pa.Table, option: list[str]
) -> None:
    y = unseen["y"].to_numpy()
    positives = np.flatnonzero(y == "yes")
    rows = np.concatenate([np.flatnonzero(y == "no"), positives[: 3 if option else 1]])
    few = unseen.take(rows)
    weight = np.ones(len(rows), dtype=int)
    weight[-2:] = 0  # of three positives one is left
    csv.write_csv(few.set_column(5, "w", [weight]), "few.csv")
    done = run("evaluate", model, "few.csv", "--target", "y", *option)
    assert done.code == 1
    assert "column 'y' has 1 positive row and 30 negative rows" in done.error


@pytest.mark.parametrize("weight", [(), ("--weight", "w")])
def test_training_rows_give_a_warning(run: Run, train: Path, weight: tuple[str, ...]) -> None:
    drop = ("--drop", "id") if weight else ("--drop", "id", "--drop", "w")
    run("fit", train, "--target", "y", *drop, *weight, *NO_CV, "--out", "m.json")
    done = run("evaluate", "m.json", train, "--target", "y", *weight, "--json")
    assert done.code == 0
    assert "auctor: warning: this is the table that the model was fitted to" in done.err
    assert done.json["warnings"] == [done.err.removeprefix("auctor: warning: ").strip()]


@pytest.mark.parametrize(("budget", "is_warned"), [("60", False), ("61", True), ("0.5", False)])
def test_a_budget_of_more_rows_than_the_table_has(
    run: Run, model: Path, path: Path, budget: str, is_warned: bool
) -> None:
    done = run("evaluate", model, path, "--target", "y", "--at", f"budget={budget}")
    assert done.code == 0
    assert ("is more than the 60 rows of the table" in done.err) == is_warned


def test_a_budget_is_a_whole_number_or_a_fraction(run: Run, model: Path, path: Path) -> None:
    refused = run("evaluate", model, path, "--target", "y", "--at", "budget=60.5")
    assert refused.code == 2 and "give a whole number of rows, or a fraction" in refused.error


def test_a_budget_is_of_weight_where_rows_have_weights(
    run: Run, model: Path, path: Path, unseen: pa.Table
) -> None:
    total = int(unseen["w"].to_numpy().sum())
    command = ("evaluate", model, path, "--target", "y", "--weight", "w", "--at")
    warning = f"is more than the total weight {total} of the table"
    assert warning not in run(*command, f"budget={total}").err
    assert warning in run(*command, f"budget={total + 1}").err


def test_a_threshold_with_confidence_flags_less(run: Run, model: Path, path: Path) -> None:
    options = ("evaluate", model, path, "--target", "y", "--at", "budget=0.5", "--json")
    plain, sure = run(*options).json["at"], run(*options, "--confidence", "0.9").json["at"]
    assert sure[0]["threshold"] > plain[0]["threshold"]
    assert (plain[0]["confidence"], sure[0]["confidence"]) == (None, 0.9)
    assert "for a budget of 0.5 on new rows with 90% confidence" in sure[0]["sentence"]


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        (("--at", "fpr=0.01", "--confidence", "0.95"), 1, "needs at least 299 negative rows"),
        (("--confidence", "0.95"), 2, "--confidence needs --at"),
        (("--at", "fpr=0.1", "--confidence", "95"), 2, "--confidence is 95; give a number"),
        (("--at", "cost=5", "--confidence", "0.9"), 2, "not with --at cost"),
    ],
)
def test_a_confidence_that_cannot_be_had(
    run: Run, model: Path, path: Path, options: tuple[str, ...], code: int, words: str
) -> None:
    done = run("evaluate", model, path, "--target", "y", *options)
    assert done.code == code and words in done.error
