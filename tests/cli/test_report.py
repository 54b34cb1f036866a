"""`auctor report` and `fit --report`: what they measure, write and print."""

import json
from dataclasses import replace
from datetime import date, datetime
from hashlib import sha256
from pathlib import Path

import pyarrow.csv as pa_csv
import pytest

import auctor
from auctor.estimators.base import RankingEstimator
from auctor.report import summarize

from .conftest import FAST, Run, files, make_table

DROP = ("--drop", "id", "--drop", "w")


def facts_of(page: Path) -> dict:  # type: ignore[type-arg]
    """The facts that a page carries."""
    text = page.read_text(encoding="utf-8")
    start = text.index('type="application/json"')
    body = text[text.index(">", start) + 1 : text.index("</script>", start)]
    return json.loads(body)


def test_the_page_of_a_fit_is_of_out_of_fold_scores(run: Run, train: Path) -> None:
    done = run("fit", train, "--target", "y", *DROP, *FAST, "--report", "--json")
    assert (done.code, done.err) == (0, "")
    assert done.json["report"] == "train.report.html"
    facts = facts_of(Path("train.report.html"))
    assert facts["data"]["is_out_of_fold"] and facts["data"]["n_folds"] == 2
    assert facts["headline"]["auc"] == done.json["cross_validation"]["auc"]
    for name in ("ks", "ks_low", "ks_high"):
        assert facts["separation"][name] == done.json["cross_validation"][name]
    assert "put on the scale of the final model" in Path("train.report.html").read_text("utf-8")
    assert facts["about"]["command"].startswith("auctor fit ")
    assert facts["about"]["target"] == "y" and facts["about"]["trained_for"] == "auc"
    assert facts["comparison"][0]["name"] == "logistic regression"


def test_the_address_of_the_page_is_printed(run: Run, train: Path) -> None:
    done = run("fit", train, "--target", "y", *DROP, *FAST, "--report", "p.html", "--no-baseline")
    assert done.out.splitlines()[-1] == f"report written to {Path('p.html').resolve().as_uri()}"
    assert facts_of(Path("p.html"))["comparison"] == []


def test_without_folds_the_page_says_so(run: Run, train: Path) -> None:
    done = run("fit", train, "--target", "y", *DROP, *FAST, "--cv", 0, "--report", "p.html")
    assert done.code == 0, done.err
    facts = facts_of(Path("p.html"))
    assert not facts["data"]["is_out_of_fold"]
    assert "too optimistic" in facts["about"]["notes"][-1]


def test_a_page_of_other_rows(run: Run, model: Path, train: Path) -> None:
    result = run("evaluate", model, train, "--target", "y", "--json").json
    done = run("report", model, train, "--target", "y", "--out", "p.html", "--facts", "f.json")
    assert done.code == 0, done.err
    assert done.out.splitlines()[-1] == f"report written to {Path('p.html').resolve().as_uri()}"
    facts = json.loads(Path("f.json").read_text())
    assert facts == facts_of(Path("p.html"))
    assert facts["headline"]["auc"] == pytest.approx(result["auc"])
    assert (facts["data"]["n_pos"], facts["data"]["n_neg"]) == (40, 40)


def test_weights_and_groups_reach_the_page(run: Run, model: Path, train: Path) -> None:
    options = ["--target", "y", "--weight", "w", "--group", "id", "--out", "p.html"]
    assert run("report", model, train, *options).code == 0
    data = facts_of(Path("p.html"))["data"]
    assert data["is_weighted"] and data["n_groups"] == 80
    page = Path("p.html").read_text("utf-8")
    assert "rows (weight)" in page and "flagged (weight)" in page
    # Bands of such rows have no intervals, and there was no row of weight 0.
    assert "the highest scores first</" in page and "of weight 0" not in page


@pytest.mark.parametrize("out", ["no/such/p.html", "train.csv", "."])
def test_a_page_that_cannot_be_written_is_an_error_before_any_work(
    run: Run, train: Path, monkeypatch: pytest.MonkeyPatch, out: str
) -> None:
    monkeypatch.setattr(RankingEstimator, "fit", None)
    before = files(train.parent)
    done = run("fit", train, "--target", "y", "--report", out)
    assert done.code == 1 and "cannot write" in done.error
    assert files(train.parent) == before


def test_an_interrupted_page_does_not_cost_the_model(
    run: Run, train: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("auctor.cli.fit_page.render", interrupted)
    before = files(train.parent)
    done = run("fit", train, "--target", "y", *DROP, *FAST, "--report")
    assert done.code == 130
    assert files(train.parent) == before | {"train.model.json"}
    assert run("score", "train.model.json", train).code == 0


def test_a_report_is_a_document(run: Run, train: Path) -> None:
    given = ("--title", "<b>Churn</b>", "--author", "A. Analyst", "--positive-name", "churned")
    done = run("fit", train, "--target", "y", *DROP, *FAST, "--report", "p.html", *given)
    assert done.code == 0, done.err
    page, facts = Path("p.html").read_text("utf-8"), facts_of(Path("p.html"))
    written = sha256(Path("train.model.json").read_bytes()).hexdigest()
    assert facts["about"]["model_hash"] == written and written[:16] in page
    assert "<h1>&lt;b&gt;Churn&lt;/b&gt;</h1>" in page and "<b>Churn" not in page
    day = date.fromisoformat(facts["about"]["made"])  # in words on the page
    assert "A. Analyst" in page and f"<dd>{day.day} {day:%B %Y}</dd>" in page
    fitted = {line["title"]: line["text"] for line in facts["card"]["model"]}["Fitted"]
    moment = datetime.fromisoformat(fitted)
    assert fitted not in page.partition("<script")[0]
    assert f"<td>{moment.day} {moment:%B %Y, %H:%M} UTC</td>" in page
    assert "80 rows, 40 positive" in page and "(2 folds)" in page
    assert (facts["data"]["positive"], facts["data"]["negative"]) == ("churned", "not churned")
    assert "is taken as the positive label" in done.log and "is taken as the" not in page
    assert "“churned” and a row with “not churned”" in page and "churned (y = “yes”)" in page
    again = ("report", "train.model.json", train, "--target", "y", "--out", "q.html")
    assert run(*again, "--no-example-rows").code == 0
    assert facts_of(Path("q.html"))["about"]["model_hash"] == written
    assert facts_of(Path("q.html"))["row"] is None
    other = Path("q.html").read_text("utf-8")
    assert "no rows of the table" in other and "Evaluated on" in other
    assert len(facts["row"]["rows"]) == 9 and "values of the nine rows" in page


@pytest.mark.parametrize(
    "option", [("--title", "x"), ("--author", "x"), ("--no-example-rows",)], ids=lambda o: o[0]
)
def test_options_of_a_report_need_one(run: Run, train: Path, option: tuple[str, ...]) -> None:
    done = run("fit", train, "--target", "y", *FAST, *option)
    assert done.code == 2 and done.error.startswith(f"{option[0]} is an option of the report")


@pytest.fixture
def trained_for_the_top(run: Run, train: Path) -> str:
    fast = ("--learner", "smooth-aucboost", "--cv", 0)
    done = run("fit", train, "--target", "y", *DROP, *fast, "--metric", "pauc:0-0.2")
    assert done.code == 0, done.err
    return "train.model.json"


def test_the_page_of_other_rows_says_what_the_model_was_trained_on(
    run: Run, trained_for_the_top: str
) -> None:
    pa_csv.write_csv(make_table(60, seed=1), "test.csv")
    test = Path("test.csv")
    done = run("report", trained_for_the_top, test, "--target", "y", "--facts", "f.json")
    facts = json.loads(Path("f.json").read_text())
    record = auctor.load(trained_for_the_top).training
    assert record is not None
    about, origin = facts["about"], record.origin
    words = f"{origin.table}: {record.n_rows:,} rows, {record.n_pos:,} positive"
    assert about["trained_on"] == f"{words}; fitted on {str(origin.date)[:10]}"
    assert about["evaluated_on"].startswith("test.csv: ")
    assert about["training_table_hash"] == origin.sha256
    assert about["trained_for"] == "pauc:0-0.2" and about["learner"] == origin.learner
    # The headline is in the metric of training, on the page and in the terminal.
    assert facts["judged"]["where"] == "over fpr 0 to 0.2"
    assert done.out.startswith(facts["judged"]["sentence"])
    page = Path("test.report.html").read_text("utf-8")
    assert "<dt>Trained on</dt>" in page and "The model was trained for the scaled partial" in page


@pytest.mark.parametrize("metric", ["p@k:100000", "nonsense", "", None])
def test_a_metric_of_no_use_for_these_rows_is_left_out(
    trained_for_the_top: str, train: Path, metric: str | None
) -> None:
    model = auctor.load(trained_for_the_top)
    assert model.training is not None
    origin = replace(model.training.origin, metric=metric)
    changed = replace(model, training=replace(model.training, origin=origin))
    rows = pa_csv.read_csv(train)
    assert summarize(changed, rows.drop_columns(["y"]), rows["y"].to_pylist())["judged"] is None


def test_the_page_has_the_result_of_a_holdout_and_names_no_folder(run: Run, train: Path) -> None:
    folder = train.parent / "private"
    folder.mkdir()
    pa_csv.write_csv(make_table(60, seed=1), folder / "test.csv")
    paths = [f"--holdout={folder / 'test.csv'}", "--report", folder / "p.html"]
    model = folder / "m.json"
    done = run("fit", train, "--target", "y", *DROP, *FAST, *paths, "--out", model, "--json")
    assert done.code == 0, done.err
    shown = ("report", model, folder / "test.csv", "--target", "y", "--out", "other.html")
    assert run(*shown).code == 0
    assert f"{train.parent}" not in model.read_text() + Path("other.html").read_text("utf-8")
    assert f"{train.parent}" not in (folder / "p.html").read_text("utf-8")
    about = facts_of(Path("other.html"))["about"]
    assert about["command"] == "auctor report m.json test.csv --target y --out other.html"
    assert "--holdout=test.csv --report p.html" in facts_of(folder / "p.html")["about"]["command"]
    note, area = facts_of(folder / "p.html")["about"]["notes"][-1], done.json["holdout"]["auc"]
    assert f"on test.csv (60 rows, 30 of them positive): AUC {area:.3f}" in note
