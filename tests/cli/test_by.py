"""Subgroups, periods and the model card by the command line."""

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv as csv
import pytest

from auctor import load
from auctor.metrics import by_group

from .conftest import FAST, Run

ROWS = ("--drop", "id", "--drop", "w")
ODD = "\x1b[31m<b>\nred"


@pytest.fixture
def people(train: Path) -> Path:
    """The table with a column that no model knows, three of its cells empty, and a month."""
    table = csv.read_csv(train)
    n = table.num_rows
    region = [None if k < 3 else ODD if k % 2 else "north" for k in range(n)]
    month = [f"2024-{1 + 6 * k // n:02d}" for k in range(n)]
    path = Path("people.csv")
    more = table.append_column("region", pa.array(region)).append_column("month", pa.array(month))
    csv.write_csv(more, path)
    return path


def test_evaluate_by(run: Run, model: Path, people: Path) -> None:
    done = run("evaluate", model, people, "--target", "y", "--by", "region,city", "--json")
    assert done.code == 0
    table = csv.read_csv(people, convert_options=csv.ConvertOptions(strings_can_be_null=True))
    loaded = load(model)
    X = table.select(list(loaded.feature_names))
    scores = loaded.decision_function(X)
    expected = by_group(
        np.array(table["y"]) == "yes",
        scores,
        table["region"],
        threshold=loaded.threshold,
        probability=loaded.probabilities(scores)[:, 1],
    )
    assert done.json["by"]["region"] == json.loads(json.dumps(expected.to_dict()))
    assert {group["name"] for group in done.json["by"]["city"]["groups"]} >= {"Rome", "Oslo"}
    plain = run("evaluate", model, people, "--target", "y", "--by", "region").out
    assert "\x1b" not in plain and "by region:\ngroup " in plain
    assert (
        "�[31m<b> red" in plain
        and "too small to be compared in some measures: '(missing)'" in plain
    )


def test_every_two_groups(run: Run, model: Path, people: Path) -> None:
    options = (model, people, "--target", "y", "--by", "city")
    pairs = run("evaluate", *options, "--compare", "pairs", "--json").json["by"]["city"]
    names = {group["name"] for group in pairs["groups"]}
    assert pairs["compare"] == "pairs" and pairs["tests"]
    assert {test["other"] for test in pairs["tests"]} <= names
    usual = run("evaluate", *options, "--json").json["by"]["city"]
    assert usual == run("evaluate", *options, "--compare", "rest", "--json").json["by"]["city"]
    assert usual["compare"] == "rest"
    page = run("report", *options, "--compare", "pairs", "--facts", "-").out
    facts = json.loads(page)["subgroups"][0]
    assert facts["compare"] == "pairs" and facts["n_tests"] == len(pairs["tests"])
    html = next(Path().glob("*.html")).read_text(encoding="utf-8")
    assert "Every two subgroups are compared" in html


def test_compare_without_groups_is_an_error(run: Run, model: Path, people: Path) -> None:
    for command in ("evaluate", "report"):
        done = run(command, model, people, "--target", "y", "--compare", "pairs")
        assert done.code == 2 and "--compare is about the groups of --by; give --by" in done.err
    done = run("evaluate", model, people, "--target", "y", "--by", "city", "--compare", "all")
    assert done.code == 2 and "choose from" in done.err


def test_subgroups_are_at_the_threshold_of_the_first_criterion(
    run: Run, model: Path, people: Path
) -> None:
    options = ("--target", "y", "--by", "region", "--at", "budget=20", "--json")
    done = run("evaluate", model, people, *options).json
    assert done["by"]["region"]["threshold"] == done["at"][0]["threshold"]
    assert done["by"]["region"]["overall"]["flagged"]["value"] == done["at"][0]["flagged"] / 80


def test_a_fit_by_a_column_that_is_no_feature(run: Run, people: Path) -> None:
    config = Path("run.toml")
    config.write_text(
        'table = "people.csv"\ntarget = "y"\ndrop = ["id", "w", "region"]\ntime = "month"\n'
        'by = "region"\nreport = "page.html"\nout = "m.json"\n'
        '[card]\nintended_use = "A <test>."\nlimits = ["One.", "Two."]\n'
    )
    done = run("fit", "--config", config, *FAST, "--quiet")
    assert done.code == 0, done.err
    page = Path("page.html").read_text(encoding="utf-8")
    facts = json.loads(page.split('id="facts">')[1].split("</script>")[0])
    assert "region" not in load("m.json").feature_names
    tested = facts["data"]["n_rows"]
    groups = facts["subgroups"][0]["groups"]
    assert sum(group["n_rows"] for group in groups) == tested < 80
    # Each fold is predicted by a model of the rows before it, and is a period.
    names = [group["name"] for group in facts["periods"]["groups"]]
    assert len(names) == 2 and names == sorted(names) and names[0] > "2024-01"
    stated = {entry["key"]: entry["text"] for entry in facts["card"]["stated"]}
    assert stated["intended_use"] == ["A <test>."] and stated["limits"] == ["One.", "Two."]
    assert "A &lt;test&gt;." in page and "<b>" not in page.split("<main")[1].split("<script")[0]
    # A report takes the card of the same file, and ignores options of the fit such as out.
    other = run(
        "report", "m.json", "people.csv", "--target", "y", "--config", config, "--facts", "-"
    )
    again = json.loads(other.out)
    assert again["card"]["stated"] == facts["card"]["stated"]
    assert again["periods"]["n_groups"] == 6 and again["subgroups"][0]["name"] == "region"
    assert Path("people.report.html").exists() and load("m.json")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--by", "nothing"), "no column 'nothing'"),
        (("--by", "y"), "--by 'y' is the target; give another column"),
    ],
)
def test_bad_columns(run: Run, model: Path, people: Path, options: tuple, words: str) -> None:
    done = run("evaluate", model, people, "--target", "y", *options)
    assert done.code != 0 and words in done.error


def test_errors_come_before_the_fit(run: Run, people: Path) -> None:
    start = ("fit", people, "--target", "y", *ROWS, *FAST)
    assert "--by is an option of the report" in run(*start, "--by", "region").error
    assert "--card is an option of the report" in run(*start, "--card", "owner=me").error
    wrong = run(*start, "--report", "--card", "ownr=me").error
    assert "--card 'ownr' is not an entry of a model card; did you mean 'owner'?" in wrong
    assert not Path("people.model.json").exists()


def test_a_report_refuses_unknown_settings(run: Run, model: Path, people: Path) -> None:
    Path("run.toml").write_text('learner = "rankboost"\ntitel = "x"\n')
    done = run("report", model, people, "--target", "y", "--config", "run.toml")
    assert "unknown option 'titel'; did you mean 'title'?" in done.error
