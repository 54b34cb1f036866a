"""`auctor compare`: one set of folds, paired differences, ours and other libraries'."""

import re
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from auctor import RankBoost
from auctor.cli import compare
from auctor.cli.metric import Metric
from auctor.estimators.cross_validation import compare_instability, cross_val_auc
from auctor.estimators.peers import PEERS
from auctor.metrics import compare_auc, compare_metric

from .conftest import Run

DROP = ("--drop", "id", "--drop", "w")
LEARNERS = ("--learner", "rankboost", "--learner", "logistic", "--cv", "2")


def test_learners_share_their_folds(run: Run, train: Path, table: pa.Table) -> None:
    done = run("compare", train, "--target", "y", *DROP, *LEARNERS, "--json")
    assert (done.code, done.err) == (0, "")
    first, second = done.json["learners"]
    X, y = table.select(["x", "z", "flag", "city"]), table["y"].to_numpy()
    ours = cross_val_auc(RankBoost(), X, y, cv=2)
    theirs = cross_val_auc(PEERS["logistic"].make(), X, y, folds=ours.folds)
    assert (first["auc"], second["auc"]) == (ours.auc.value, theirs.auc.value)
    instability = compare_instability(y == "yes", theirs, ours)
    within = {"folds": ours.folds, "instability": instability}
    difference = compare_auc(y == "yes", theirs.scores, ours.scores, **within)
    assert second["against_first"]["difference"] == pytest.approx(difference.difference)
    assert second["against_first"]["p_value"] == pytest.approx(difference.p_value)
    assert "against_first" not in first


def test_the_table_is_for_people(run: Run, train: Path) -> None:
    done = run("compare", train, "--target", "y", *DROP, *LEARNERS, "--metric", "p@k:0.2")
    lines = done.out.splitlines()
    assert "80 rows, 40 of them positive" in lines[0]
    assert "Differences are the learner's value minus that of rankboost." in lines[1]
    assert lines[1].endswith(" p@k:0.2 is the precision in the top 0.2 of the rows.")
    head = "p@k:0.2 (95% CI)", "AUC", "KS", "p@k:0.2 difference (95% CI)", "p"
    assert re.split("  +", lines[3]) == ["learner", *head, "AUC difference (95% CI)", "seconds"]
    assert [line.split()[0] for line in lines[4:]] == ["rankboost", "logistic"]


@pytest.mark.parametrize(
    ("metric", "name", "options"),
    [
        ("ks", "KS", {"metric": "ks"}),
        ("p@k:20", "precision", {"metric": "precision_at_k", "k": 0.25}),
        (
            "pauc:0-0.3",
            "scaled partial AUC",
            {"metric": "partial_auc", "fpr_range": (0, 0.3), "scaled": True},
        ),
    ],
)
def test_the_difference_is_in_the_metric(
    run: Run, train: Path, table: pa.Table, metric: str, name: str, options: dict[str, Any]
) -> None:
    done = run("compare", train, "--target", "y", *DROP, *LEARNERS, "--metric", metric, "--json")
    assert done.code == 0, done.err
    first, second = done.json["learners"]
    key = "ks" if metric == "ks" else "metric_value"
    compared = second["against_first"]
    assert compared["metric_name"] == name and compared["value"] == first[key]
    assert compared["difference"] == pytest.approx(second[key] - first[key], abs=1e-12)
    assert compared["auc_difference"]["difference"] == pytest.approx(second["auc"] - first["auc"])
    assert (compared["p_value"] < 0.05) == (not compared["low"] <= 0 <= compared["high"])
    X, y = table.select(["x", "z", "flag", "city"]), table["y"].to_numpy()
    ours = cross_val_auc(RankBoost(), X, y, cv=2)
    theirs = cross_val_auc(PEERS["logistic"].make(), X, y, folds=ours.folds)
    own = compare_metric(
        y == "yes",
        theirs.scores,
        ours.scores,
        **options,
        folds=ours.folds,
        instability=compare_instability(y == "yes", theirs, ours),
        random_state=0,
    )
    assert (compared["low"], compared["high"]) == pytest.approx((own.low, own.high))


def test_groups_and_weights(run: Run, train: Path, table: pa.Table) -> None:
    options = ["--drop", "id", "--weight", "w", "--group", "city2", *LEARNERS]
    grouped = table.append_column("city2", [[str(i // 2) for i in range(80)]])
    pa.csv.write_csv(grouped, "g.csv")
    done = run("compare", "g.csv", "--target", "y", *options, "--json")
    assert done.code == 0, done.err
    assert done.json["learners"][0]["method"].startswith("DeLong by groups within folds, ")
    method = done.json["learners"][1]["against_first"]["method"]
    assert method.startswith("paired by groups within folds, MOVER limits, variance multiplied by ")


def test_the_usual_learners_are_those_that_are_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "installed_peers", lambda: ["random-forest", "ebm", "logistic"])
    assert compare.learner_names([], Metric("auc")) == ["smooth-aucboost-cv", "logistic", "ebm"]
    ours = ["exactboost-cv", "smooth-aucboost-cv", "logistic", "ebm"]
    assert compare.learner_names([], Metric("ks")) == ours
    assert compare.learner_names([], Metric("p@k", k=0.1)) == ours
    assert compare.learner_names([], Metric("pauc", fpr_range=(0.0, 0.1)))[:2] == ours[1:3]


def test_a_learner_that_is_not_installed(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compare, "installed_peers", lambda: ["logistic"])
    refused = run("compare", "t.csv", "--target", "y", "--learner", "lightgbm")
    assert refused.code == 2
    assert "lightgbm needs the package 'lightgbm'" in refused.error


def test_a_learner_for_another_metric_is_compared_all_the_same(run: Run, train: Path) -> None:
    options = ["--learner", "dmks", "--learner", "rankboost", "--metric", "ks", "--cv", 2]
    done = run("compare", train, "--target", "y", *DROP, *options, "--json")
    assert [one["name"] for one in done.json["learners"]] == ["dmks", "rankboost"]


@pytest.mark.parametrize("metric", ["ks", "p@k:20"])
def test_a_metric_has_the_usual_learner_beside_the_one_that_trains_on_it(
    run: Run, train: Path, monkeypatch: pytest.MonkeyPatch, metric: str
) -> None:
    monkeypatch.setattr(compare, "installed_peers", list)
    done = run("compare", train, "--target", "y", *DROP, "--metric", metric, "--cv", 2, "--json")
    assert (done.code, done.err) == (0, "")
    names = [one["name"] for one in done.json["learners"]]
    assert names == ["exactboost-cv", "smooth-aucboost-cv"]
    asked = ["--learner", "exactboost", "--metric", metric, "--cv", 2, "--json"]
    plain = run("compare", train, "--target", "y", *DROP, *asked)
    assert [one["name"] for one in plain.json["learners"]] == ["exactboost"]


def test_which_label_is_positive_changes_no_auc(run: Run, train: Path) -> None:
    result = {}
    for label in ("yes", "no"):
        options = ["--positive", label, *DROP, *LEARNERS, "--learner", "lightgbm", "--seed", 1]
        done = run("compare", train, "--target", "y", *options, "--json")
        assert done.code == 0, done.err
        first, *others = result[label] = done.json["learners"]
        for other in others:
            compared = other["against_first"]
            assert compared["difference"] == pytest.approx(other["auc"] - first["auc"])
        assert all(one["ks"] > 2 * one["auc"] - 1 - 0.25 for one in result[label])
    # Folds depend on which class is drawn first, so that the areas agree roughly only.
    for one, other in zip(result["yes"], result["no"], strict=True):
        assert one["auc"] == pytest.approx(other["auc"], abs=0.08)


@pytest.mark.parametrize("before", [0, 1])
def test_an_interrupt_keeps_the_learners_that_were_through(
    run: Run, train: Path, monkeypatch: pytest.MonkeyPatch, before: int
) -> None:
    real, begun = compare.validate, []

    def interrupted(*args: object, **options: object) -> object:
        if len(begun) == before:
            raise KeyboardInterrupt
        begun.append(args[0])
        return real(*args, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(compare, "validate", interrupted)
    done = run("compare", train, "--target", "y", *DROP, *LEARNERS, "--json")
    assert (done.code, done.err) == (130, "auctor: interrupted\n")
    if before == 0:
        assert done.out == ""
    else:
        assert [one["name"] for one in done.json["learners"]] == begun
        assert done.json["n_entrants"] == 2
        begun.clear()
        table = run("compare", train, "--target", "y", *DROP, *LEARNERS).out
        assert table.endswith("\ninterrupted: 1 of 2 learners were compared\n")
