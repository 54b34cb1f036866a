"""Monitoring: verdicts, quality, periods, the page in Chromium, and hostile names."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from pytest import approx

from auctor import RankBoost
from auctor.metrics import auc_ci
from auctor.models import from_json, make_record, to_json
from auctor.models.make_record import make_validation
from auctor.models.serialization import checksum
from auctor.models.training_record import Measured
from auctor.report import monitor, render_monitoring
from auctor.report.monitor_bins import interval_labels
from auctor.report.monitor_charts import distribution_chart
from auctor.report.monitor_periods import read_periods
from auctor.report.monitor_quality import label_variance
from auctor.report.monitor_slope import calibration_slope

HOSTILE = "<script>window.__hacked=1</script>"


def draw(n, seed, shift=0.0):
    """Rows with a number, a skewed number with missing values, and categories."""
    rng = np.random.default_rng(seed)
    age = rng.normal(size=n) + shift
    income = np.where(rng.random(n) < 0.1, np.nan, rng.lognormal(size=n))
    town = rng.choice(["Rome", "Oslo", HOSTILE], n, p=[0.6, 0.3, 0.1])
    y = rng.random(n) < 1 / (1 + np.exp(1 - age - (town == "Oslo")))
    return pd.DataFrame({"age": age, "income": income, "town": town}), y


def recorded(X, y, weight=None):
    """A model with a record, whose validation is that of other rows."""
    model = RankBoost(n_estimators=10).fit(X, y, sample_weight=weight).model_
    record = make_record(model, X, y, weight, importances=[0.6, 0.1, 0.3])
    other, labels = draw(1_500, 99)
    scores = model.decision_function(other)
    auc = auc_ci(labels, scores)
    metrics = {"auc": Measured(auc.value, auc.low, auc.high, auc.level)}
    validation = make_validation(
        model, record, scores, labels, metrics, kind="cross-validation", description="5 folds"
    )
    return replace(model, training=replace(record, validations=(validation,)))


@pytest.fixture(scope="module")
def model():
    return recorded(*draw(1_500, 0))


def by_name(result):
    return {one.name: one for one in result.features}


def test_rows_of_the_same_population_have_not_moved(model):
    X, y = draw(1_000, 1)
    result = monitor(model, X, y)
    assert [one.verdict for one in (result.score, *result.features)] == ["unchanged"] * 4
    assert result.moved == () and result.findings == ()
    assert "0 of 3 features moved" in str(result)
    assert result.quality.auc.p_value > 0.05 and result.quality.rate_p_value > 0.05


def test_what_has_moved_is_said_and_sorted(model):
    X, _ = draw(1_000, 2, shift=0.5)
    X["town"] = np.where(np.arange(1_000) < 100, "Bonn", X["town"])
    X.loc[:299, "income"] = np.nan
    result = monitor(model, X)
    moved = by_name(result)
    assert {one.verdict for one in moved.values()} == {"moved"}
    assert moved["age"].how.startswith("higher values, in 6")
    assert "more missing values, 10.6% before and 38.0% now" in moved["income"].how
    assert moved["town"].how == "new categories in 10.0% of rows"
    assert result.score.verdict == "moved" and result.score.how.startswith("higher values")
    weights = [one.weight for one in result.features]
    assert weights == sorted(weights, reverse=True)


def test_few_rows_say_little(model):
    X, _ = draw(10, 3)
    result = monitor(model, X)
    assert {one.verdict for one in result.features} == {"too few rows"}
    assert monitor(model, X.iloc[:1]).n_rows == 1
    with pytest.raises(ValueError, match="X has 0 sample"):
        monitor(model, X.iloc[:0])


@pytest.mark.parametrize("frequent", [0, 1])
def test_a_count_that_is_mostly_one_value_is_tested(frequent):
    rng = np.random.default_rng(0)
    fractions = [0.95, 0.03, 0.02] if frequent == 0 else [0.03, 0.95, 0.02]

    def rows(changed):
        later = np.add(fractions, np.where(np.arange(3) == frequent, -0.1, 0.05) * changed)
        counts = rng.choice(3, 1_000, p=later).astype(float)
        return pd.DataFrame({"late": counts, "other": rng.normal(size=1_000)})

    X, y = rows(0), rng.random(1_000) < 0.5
    model = RankBoost(n_estimators=2).fit(X, y).model_
    model = replace(model, training=make_record(model, X, y))
    same, grown = (by_name(monitor(model, rows(changed)))["late"] for changed in (0, 1))
    assert same.psi.n_bins == 2 + frequent and same.verdict == "unchanged"
    assert grown.verdict == "moved" and grown.psi.p_value < 0.001


def test_a_rare_category_that_grew_is_found_among_few_rows():
    X, _ = draw(1_500, 0)
    X["town"] = np.where(np.arange(1_500) == 7, "Bonn", X["town"])
    rare = recorded(X, X["age"] > 0)
    new, _ = draw(60, 4)
    new["town"] = np.where(np.arange(60) < 20, "Bonn", new["town"])
    town = by_name(monitor(rare, new))["town"]
    assert town.verdict == "moved" and town.psi.value > 0.25


def test_order_of_rows_scale_of_weights_and_names_of_categories_do_not_matter(model):
    X, y = draw(600, 5, shift=0.1)
    weight = np.random.default_rng(0).lognormal(size=600)
    first = monitor(model, X, y, sample_weight=weight)
    order = np.random.default_rng(1).permutation(600)
    again = monitor(model, X.iloc[order], y[order], sample_weight=1e6 * weight[order])
    renamed = {"Rome": "Z", "Oslo": "A", HOSTILE: "M"}
    old, labels = draw(1_500, 0)
    other = recorded(old.assign(town=old["town"].map(renamed)), labels)
    third = monitor(other, X.assign(town=X["town"].map(renamed)), y, sample_weight=weight)
    for one in (again, third):
        for name, movement in by_name(one).items():
            assert movement.psi.value == approx(by_name(first)[name].psi.value), name
            assert movement.p_value == approx(by_name(first)[name].p_value), name
    assert again.quality.auc.now.value == approx(first.quality.auc.now.value)
    assert first.effective_rows < 300


def test_rows_of_weight_zero_are_absent(model):
    X, y = draw(500, 6)
    kept = np.arange(500) >= 100
    X.loc[:99, "age"] = 50.0
    result = monitor(model, X, y, sample_weight=kept.astype(float))
    assert result == monitor(model, X[kept].reset_index(drop=True), y[kept])


def test_weighted_training_rows_are_compared_with_weights():
    X, y = draw(1_500, 0)
    weight = np.where(X["town"] == "Oslo", 4.0, 1.0)  # Oslo has 63 % of the weight
    model = recorded(X, y, weight)
    assert from_json(to_json(model)).training.columns[2].weights.tolist() == (
        model.training.columns[2].weights.tolist()
    )
    new, _ = draw(1_000, 8)
    own = np.where(new["town"] == "Oslo", 4.0, 1.0)
    assert monitor(model, new, sample_weight=own).moved == ()
    assert [one.name for one in monitor(model, new, sample_weight=own[::-1] + 0).moved] == ["town"]
    plain = monitor(model, new)
    assert plain.moved == () and "the training rows had weights" in plain.notes[-1]


def test_the_difference_of_the_auc_has_the_noise_of_both(model):
    X, y = draw(800, 9)
    change = monitor(model, X, y).quality.auc
    own = auc_ci(y, model.decision_function(X))
    assert change.now.value == own.value and change.difference.value == approx(
        own.value - change.before.value
    )
    width = change.difference.high - change.difference.low
    widths = [one.high - one.low for one in (change.now, change.before)]
    assert width == approx(np.hypot(*widths), rel=0.02)
    worse = monitor(model, X, np.random.default_rng(0).permutation(y)).quality
    assert worse.auc.difference.high < 0 and worse.auc.p_value < 1e-6
    assert "too extreme" in worse.calibration.verdict


def test_labels_may_be_missing(model):
    X, y = draw(400, 10)
    labels = [bool(label) if k >= 100 else None for k, label in enumerate(y)]
    result = monitor(model, X, labels)
    assert (result.n_rows, result.quality.n_pos) == (400, y[100:].sum())
    assert result.notes == (
        "100 rows without a label: compared with training, and left out of AUC, KS, calibration "
        "and rates",
    )
    one_class = monitor(model, X, np.ones(400, dtype=bool))
    assert one_class.quality is None and "400 positive, 0 negative" in one_class.notes[0]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"y": [2] * 5}, "y has the label 2"),
        ({"y": [True] * 4}, "X has 5 rows and y has 4"),
        ({"y": [None] * 5}, "every label of y is missing"),
        ({"time": [1] * 4}, "time has 4 values for 5 rows"),
        ({"time": [1.0] * 4 + [np.nan]}, "time has 1 missing value"),
        ({"time": ["a"] * 5, "period": "month"}, "not dates"),
        ({"time": ["31.01.2024"] * 5}, "'31.01.2024', which does not sort in the order of time"),
        ({"time": ["2024-01-01"] * 5, "period": "era"}, "period is 'era'"),
    ],
)
def test_wrong_arguments_are_named(model, arguments, words):
    with pytest.raises(ValueError, match=words):
        monitor(model, draw(5, 0)[0], **arguments)


def test_a_model_without_a_record_says_how_to_get_one(model):
    with pytest.raises(ValueError, match=r"no record of its training rows.*auctor fit"):
        monitor(replace(model, training=None), draw(5, 0)[0])
    with pytest.raises(ValueError, match="model is of type int"):
        monitor(3, draw(5, 0)[0])


def test_a_hostile_record_is_refused():
    X, y = draw(300, 0)
    content = json.loads(to_json(recorded(X, y, np.linspace(1, 2, 300))))
    column = content["training"]["columns"][2]
    good = column["weights"]
    for bad in ([], [good[0]], [good[0], [0.0] * 5], [[2.0] * 5] * 2, [["a"] * 5] * 2, 3):
        column["weights"] = bad
        content["sha256"] = checksum(content)
        with pytest.raises(ValueError, match=r"field 'training.*weights"):
            from_json(json.dumps(content))


class TestPeriods:
    def test_dates_of_every_kind_give_the_same_months(self):
        texts = ["2024-01-31", "2024-02-01", "2024-02-29"]
        numbers = [int(text.replace("-", "")) for text in texts]
        for time in (texts, pd.to_datetime(texts), numbers, [202401, 202402, 202402]):
            periods = read_periods(time, 3, "month")
            assert periods.names == ("2024-01", "2024-02"), time
            assert periods.codes.tolist() == [0, 1, 1]

    def test_weeks_begin_on_mondays_and_quarters_have_names(self):
        days = ["2024-01-07", "2024-01-08", "2024-04-01"]
        assert read_periods(days, 3, "week").names[:2] == (
            "week of 2024-01-01",
            "week of 2024-01-08",
        )
        assert read_periods(days, 3, "quarter").names == ("2024-Q1", "2024-Q2")

    def test_the_unit_follows_the_rows(self):
        days = np.datetime64("2024-01-01") + np.arange(360)
        assert read_periods(np.repeat(days, 5), 1800).unit == "month"
        assert read_periods(np.repeat(days[:20], 100), 2000).unit == "day"
        assert read_periods(days, 360).unit == "quarter"
        assert len(read_periods(np.arange(1000.0), 1000).names) == 10


def test_periods_have_quality_and_small_ones_are_named(model):
    X, y = draw(900, 11)
    months = np.array(["2024-01"] * 500 + ["2024-02"] * 394 + ["2024-03"] * 6)
    result = monitor(model, X, y, time=months, period="month")
    first, second, third = result.periods
    own = auc_ci(y[500:894], model.decision_function(X)[500:894])
    assert second.quality.auc.now.value == own.value and first.n_rows == 500
    assert third.quality is None and "too few labelled rows" in third.why_not
    assert third.score.verdict == "too few rows" and 0 < result.auc_p_value <= 1


def test_the_variance_of_labels_is_that_of_predictions_or_of_residuals():
    y, weight = np.array([True, False, False, False]), np.full(4, 0.25)
    assert label_variance(np.array([0.01, 0.5, 0.5, 0.5]), y, weight) == approx(
        (0.99**2 + 3 * 0.25) / 4
    )
    rare = np.full(4, 0.01)  # no label is positive, which says little about the variance
    assert label_variance(rare, np.zeros(4, bool), weight) == approx(0.0099)


def test_the_slope_of_calibration_is_that_of_a_logistic_regression():
    rng = np.random.default_rng(0)
    odds = rng.normal(size=4_000)
    y = rng.random(4_000) < 1 / (1 + np.exp(-0.5 * odds - 0.2))
    slope = calibration_slope(odds, y.astype(float), (~y).astype(float))
    from sklearn.linear_model import LogisticRegression

    outside = LogisticRegression(C=1e10, tol=1e-10).fit(odds[:, None], y)
    assert slope.value == approx(outside.coef_[0, 0], abs=1e-4)
    assert calibration_slope(odds, (odds > 0) * 1.0, (odds <= 0) * 1.0) is None


def test_bins_of_large_numbers_have_labels_that_differ_and_do_not_overlap():
    assert interval_labels(np.array([20231230, 20231231]))[1] == "20,231,230 to 20,231,231"
    labels = ["missing", *interval_labels(np.linspace(-2_345_678, 2_345_678, 19))]
    assert labels[1] == "up to -2,346,000"
    cells = [{"label": label, "before": 0.05, "now": 0.05} for label in labels]
    chart = distribution_chart({"cells": cells, "kind": "number", "name": "x"})
    found = re.findall(r'x="([0-9.]+)" y="175" text-anchor="middle">([^<]+)<', chart)
    assert found[0][1] == "missing" and len(found) >= 4
    ends = [(float(x) - 3 * len(text), float(x) + 3 * len(text)) for x, text in found]
    assert all(before[1] < after[0] for before, after in pairwise(ends))
    assert ends[-1][1] <= 360


def test_the_page_shows_the_numbers_of_python(model, browser, tmp_path):
    X, y = draw(600, 12, shift=0.4)
    months = np.where(np.arange(600) < 300, "2024-01", "2024-02")
    result = monitor(model, X.assign(), y, time=months, period="month")
    facts = result.facts() | {"title": HOSTILE, "command": HOSTILE, "failed": [HOSTILE]}
    path = tmp_path / "monitor.html"
    path.write_text(render_monitoring(facts), encoding="utf-8")
    context = browser.new_context(viewport={"width": 390, "height": 800}, color_scheme="dark")
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto(path.as_uri())
    values = page.evaluate(
        "[...document.querySelectorAll('#movements data')].map(cell => Number(cell.value))"
    )
    assert values == [one.psi.value for one in (result.score, *result.features)]
    auc = page.evaluate("Number(document.querySelector('#metrics data').value)")
    assert auc == result.quality.auc.now.value
    assert page.locator("#cards svg").count() == 4 and page.locator(".periods svg").count() == 3
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.locator("h1").inner_text() == HOSTILE and said == []
    assert page.evaluate("window.__hacked") is None
    context.close()


def test_render_refuses_other_facts():
    with pytest.raises(ValueError, match="format None"):
        render_monitoring({})
