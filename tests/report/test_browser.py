"""The page in a real Chromium: what moves, what it shows, and that it keeps to itself."""

import csv

import numpy as np
import pandas as pd
import pytest
from pytest import approx

from auctor import DMKS, AUCBoost, MartiRank, RankBoost, SmoothAUCBoost, SmoothTreeBoost, TreeRank
from auctor.metrics import roc_curve
from auctor.metrics.rates import clopper_pearson
from auctor.models import PointScale
from auctor.report import render, summarize

PHONE, DESK = {"width": 360, "height": 740}, {"width": 1280, "height": 900}
NAMES = [
    "<script>window.__hacked=1;alert(1)</script>",
    "\"'><img src=x onerror=window.__hacked=3>",
    "two\nlines 🐴",
    "x" * 10_000,
    "__proto__",
    "constructor",
]


def expected(y, scores, threshold, size, prevalence):
    """What the page must show, from the rows themselves."""
    flagged = scores >= threshold
    tpr, fpr = flagged[y == 1].mean(), flagged[y == 0].mean()
    true_positives, alarms = tpr * prevalence, fpr * (1 - prevalence)
    missed, spared = (1 - tpr) * prevalence, (1 - fpr) * (1 - prevalence)
    ppv = true_positives / (true_positives + alarms) if flagged.any() else None
    return {
        "tp": size * true_positives,
        "fp": size * alarms,
        "fn": size * missed,
        "tn": size * spared,
        "sensitivity": tpr,
        "specificity": 1 - fpr,
        "ppv": ppv,
        "npv": spared / (spared + missed) if spared + missed > 0 else None,
        "lift": None if ppv is None else ppv / prevalence,
        "flagged-fraction": true_positives + alarms,
        "flagged": size * (true_positives + alarms),
    }


def read_words(opened, name):
    """The number that a person reads; None where a dash stands for it."""
    first = "cell => cell.firstChild.textContent"
    words = opened.page.locator(f"#{name}").evaluate(first).replace(",", "")
    if words == "–":
        return None
    return float(words[:-1]) / 100 if words.endswith("%") else float(words)


def check(opened, wanted):
    """The exact values that the page keeps, and the rounded ones that it shows."""
    for name, value in wanted.items():
        shown, words = opened.value(name), read_words(opened, name)
        assert shown == (None if value is None else approx(value, abs=1e-9)), name
        is_count = name in ("tp", "fp", "fn", "tn", "flagged")
        digits = 0.5001 if is_count else 0.00501 if name == "lift" else 0.000501
        assert words == (None if value is None else approx(value, abs=digits)), name


def test_the_slider_moves_numbers_that_are_pythons(open_page, fitted, facts):
    estimator, X, y = fitted
    scores = estimator.decision_function(X)
    opened = open_page(facts)
    page, slider = opened.page, opened.page.locator("#slider")
    # The slider begins where predict flags rows.
    assert opened.value("threshold") == estimator.threshold_
    assert opened.value("flagged") == estimator.predict(X).sum()
    indices = []
    slider.focus()
    for keys in (["Home"], ["ArrowRight"], ["ArrowRight"] * 7, ["PageUp"], ["End"], ["ArrowLeft"]):
        for key in keys:
            page.keyboard.press(key)
        index = int(slider.input_value())
        indices.append(index)
        threshold = facts["roc"]["threshold"][index]
        cut = np.inf if threshold is None else threshold
        check(opened, expected(y, scores, cut, len(y), y.mean()))
    assert len(set(indices)) == 6 and indices[0] == 0
    assert "sensitivity" in slider.get_attribute("aria-valuetext")


def test_every_threshold_has_the_numbers_of_python(open_page, fitted, facts):
    estimator, X, y = fitted
    scores = estimator.decision_function(X)
    opened = open_page(facts)
    result = opened.page.evaluate("roc.threshold.map((_, k) => ratesAt(k, SAMPLE.prevalence))")
    curve, thresholds = roc_curve(y, scores), facts["roc"]["threshold"][1:]
    points = [curve.at(threshold=threshold) for threshold in thresholds]
    assert [one["tpr"] for one in result[1:]] == approx([point.tpr for point in points])
    assert [one["fpr"] for one in result[1:]] == approx([point.fpr for point in points])
    assert [one["ppv"] for one in result[1:]] == approx([point.precision for point in points])
    flagged = [point.flagged / len(y) for point in points]
    assert [one["flagged"] for one in result] == approx([0.0, *flagged])


def test_intervals_beside_the_slider_are_exact(open_page, facts):
    opened = open_page(facts)
    roc = facts["roc"]
    n_pos, n_neg = roc["true_positives"][-1], roc["false_positives"][-1]
    tp, fp = (roc[name][roc["model"]] for name in ("true_positives", "false_positives"))
    fractions = {
        "sensitivity": (tp, n_pos),
        "specificity": (n_neg - fp, n_neg),
        "ppv": (tp, tp + fp),
        "npv": (n_neg - fp, n_neg - fp + n_pos - tp),
    }
    for name, counts in fractions.items():
        cell = opened.page.locator(f"#{name}")
        ends = clopper_pearson(*counts, 0.95)
        result = [float(cell.get_attribute(f"data-{end}")) for end in ("low", "high")]
        assert result == approx(list(ends), abs=1e-9), name
        assert f"{100 * ends[0]:.1f}%" in cell.locator("small").inner_text()
    # For another fraction of positives PPV and NPV are computed, not counted: no intervals.
    opened.page.fill("#prevalence", "2.5")
    for name, has_ends in (("sensitivity", True), ("ppv", False), ("npv", False)):
        cell = opened.page.locator(f"#{name}")
        assert (cell.get_attribute("data-low") is not None) == has_ends
        assert cell.locator("small").count() == has_ends


def test_another_number_of_rows_and_another_prevalence(open_page, fitted, facts):
    estimator, X, y = fitted
    scores = estimator.decision_function(X)
    opened = open_page(facts)
    page, threshold = opened.page, estimator.threshold_
    page.fill("#size", "10000")
    check(opened, expected(y, scores, threshold, 10_000, y.mean()))
    page.fill("#prevalence", "2.5")
    check(opened, expected(y, scores, threshold, 10_000, 0.025))
    page.fill(
        "#prevalence", "250"
    )  # not a percentage: the old value stays, and the field is marked
    check(opened, expected(y, scores, threshold, 10_000, 0.025))
    assert page.locator("#prevalence").get_attribute("aria-invalid") == "true"
    page.fill("#prevalence", "0")
    assert opened.value("lift") is None and opened.value("ppv") == 0
    page.click("#reset")
    check(opened, expected(y, scores, threshold, len(y), y.mean()))


def test_buttons_and_the_curve_itself_move_the_point(open_page, facts):
    opened = open_page(facts)
    page, roc = opened.page, facts["roc"]
    page.click("text=flag 10%")
    assert int(page.locator("#slider").input_value()) == roc["marks"][roc["fractions"].index(0.1)]
    before = page.locator("#roc-point").get_attribute("cx")
    page.locator("#roc svg").click(position={"x": 400, "y": 60})
    assert float(page.locator("#roc-point").get_attribute("cx")) > float(before) + 50
    rate = opened.value("specificity")
    assert 0.1 < 1 - rate < 0.95


def test_thresholds_can_be_downloaded(open_page, facts):
    page = open_page(facts).page
    with page.expect_download() as waiting:
        page.click("#download")
    rows = list(csv.DictReader(waiting.value.path().read_text().splitlines()))
    roc = facts["roc"]
    assert waiting.value.suggested_filename == "thresholds.csv"
    assert len(rows) == len(roc["threshold"])
    assert rows[0]["threshold"] == "inf" and rows[0]["ppv"] == ""
    assert [float(row["threshold"]) for row in rows[1:]] == roc["threshold"][1:]
    assert [float(row["true_positives"]) for row in rows] == roc["true_positives"]
    total = roc["true_positives"][-1]
    assert float(rows[5]["sensitivity"]) == roc["true_positives"][5] / total


def test_search_finds_features(open_page, facts):
    page = open_page(facts).page
    names = [row["name"] for row in facts["features"]["rows"]]
    listed = page.locator("#feature-table tbody th")
    assert listed.all_text_contents() == names
    page.fill("#search", "X2")
    assert listed.all_text_contents() == ["x2"]
    assert page.locator("#cards h3").all_text_contents() in (["x2"], [])
    assert page.locator("#found").text_content() == "1 of 4 features"
    page.fill("#search", "no such")
    assert listed.count() == 0
    page.fill("#search", "")
    assert listed.all_text_contents() == names


def test_many_features_are_searched_and_shown_in_parts(open_page, make_rows):
    X, y = make_rows(200, 250)
    facts = summarize(AUCBoost(n_estimators=100).fit(X, y), X, y)
    page = open_page(facts).page
    assert page.locator("#feature-table tbody tr").count() == 200
    last = facts["features"]["rows"][-1]["name"]
    page.fill("#search", last)
    assert last in page.locator("#feature-table tbody th").all_text_contents()
    page.fill("#search", "")
    assert page.locator("#cards article").count() == 12
    page.click("#more")
    assert page.locator("#cards article").count() == 36
    assert page.locator("#cards svg[role=img]").count() >= 36


def test_hostile_names_are_shown_and_not_run(open_page, make_rows):
    X, y = make_rows(300, len(NAMES))
    frame = pd.DataFrame(X, columns=NAMES)
    frame[NAMES[0]] = np.array(NAMES, dtype=object)[np.arange(300) % len(NAMES)]
    labels = np.where(y == 1, NAMES[0], NAMES[1])
    for learner in (RankBoost(n_estimators=60), TreeRank(max_depth=3)):
        about = {"title": NAMES[0], "notes": NAMES, NAMES[1]: NAMES[0]}
        facts = summarize(learner.fit(frame, labels), frame, labels, about=about)
        opened = open_page(facts, viewport=PHONE)
        for summary in opened.page.locator("summary:visible").all():
            summary.click()
        assert opened.page.locator("h1").text_content() == NAMES[0]
        shown = opened.page.locator("#feature-table tbody th").all_text_contents()
        assert NAMES[0] in shown and max(map(len, shown)) <= 60
        opened.page.wait_for_timeout(50)
        assert fits(opened.page)


def fits(page):
    """Whether nothing sticks out of the window to the right."""
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_light_and_dark_on_phone_and_desk(open_page, facts, viewport, scheme):
    page = open_page(facts, viewport=viewport, color_scheme=scheme).page
    paper = "getComputedStyle(document.body).backgroundColor"
    first = page.evaluate(paper)
    assert (first == "rgb(255, 255, 255)") == (scheme == "light")
    assert page.locator("#theme").get_attribute("aria-pressed") == str(scheme == "dark").lower()
    assert fits(page)
    assert page.evaluate(SMALLEST_TEXT) >= 11
    page.click("#theme")
    assert page.evaluate(paper) != first
    assert page.evaluate(WORST_CONTRAST) >= 4.5
    page.click("#theme")
    assert page.evaluate(WORST_CONTRAST) >= 4.5


SMALLEST_TEXT = """
Math.min(...[...document.querySelectorAll('p, td, th, dt, dd, li, small, label, svg text')]
  .filter((e) => e.getClientRects().length && e.textContent.trim())
  .map((e) => {
    const own = parseFloat(getComputedStyle(e).fontSize), svg = e.ownerSVGElement;
    return svg ? own * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width : own;
  }))
"""
# Of texts against the nearest background behind them.
WORST_CONTRAST = """
(() => {
  const numbers = (c) => c.match(/[\\d.]+/g).map(Number);
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => v / 255)
      .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = numbers(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const texts = 'p, td, th, dt, dd, li, a, small, label, button, caption, h1, h2, h3, svg text';
  const all = [...document.querySelectorAll(texts)].filter((e) => e.getClientRects().length);
  return Math.min(...all.map((e) => {
    const style = getComputedStyle(e);
    const pair = [numbers(e.ownerSVGElement ? style.fill : style.color), behind(e)].map(light);
    return (Math.max(...pair) + 0.05) / (Math.min(...pair) + 0.05);
  }));
})()
"""


def test_every_control_can_be_reached_and_every_drawing_has_words(open_page, facts):
    page = open_page(facts, viewport=DESK).page
    wanted = {"theme", "slider", "size", "prevalence", "reset", "download", "search"}
    for _ in range(60):
        page.keyboard.press("Tab")
        wanted.discard(page.evaluate("document.activeElement.id"))
        if not wanted:
            break
    assert not wanted
    unnamed = "[...document.querySelectorAll('svg[role=img]')].filter((s) => !s.ariaLabel).length"
    assert page.evaluate(unnamed) == 0
    assert page.locator("svg[role=img]").count() >= 6
    assert page.locator("table:not(:has(caption))").count() == 0
    assert page.locator("h1").count() == 1
    assert page.locator("main, nav, header, footer").count() == 4
    inputs = "[...document.querySelectorAll('input')].filter((i) => !i.labels.length).length"
    assert page.evaluate(inputs) == 0


def test_it_can_be_printed(open_page, facts):
    page = open_page(facts, viewport=DESK).page
    page.emulate_media(media="print", color_scheme="dark")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator("nav").is_hidden()
    assert len(page.pdf()) > 10_000
    assert page.locator("details:not([open])").count() == 0


def test_without_a_script_the_tables_and_the_curve_stand(browser, facts, tmp_path):
    (tmp_path / "page.html").write_text(render(facts), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "page.html").as_uri())
    text = page.inner_text("main")
    assert "JavaScript is off." in text
    assert facts["headline"]["sentence"] in text
    assert page.locator("#threshold-table tbody tr").count() == 7
    assert page.locator("#roc svg polyline").first.is_visible()
    assert page.locator("#controls").is_hidden()
    context.close()


def test_weights_and_a_tree(open_page, make_rows):
    X, y = make_rows(300)
    weight = np.where(np.arange(300) % 2, 0.5, 1.75)
    estimator = TreeRank(max_depth=3).fit(X, y)
    facts = summarize(estimator, X, y, sample_weight=weight)
    opened = open_page(facts)
    scores, threshold = estimator.decision_function(X), opened.value("threshold")
    flagged = scores >= threshold
    assert opened.value("tp") == approx(weight[flagged & (y == 1)].sum())
    assert opened.value("flagged") == approx(weight[flagged].sum())
    assert opened.page.locator("#sensitivity small").count() == 0
    assert "rows of the total weight 337.5, " in opened.page.inner_text("#size-text")
    opened.page.fill("#size", "1000")
    assert opened.page.inner_text("#size-text").startswith("1,000 rows, ")
    cells = opened.page.locator("#tree rect.cell").count()
    assert cells == len(facts["shape"]["tree"])


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_a_sum_of_an_additive_model_and_trees(open_page, viewport):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(300, 2)), columns=NAMES[:2])
    frame["town"] = rng.choice(NAMES[:3], 300)
    y = (frame[NAMES[0]] * frame[NAMES[1]] > 0) ^ (frame["town"] == NAMES[0])
    frame[NAMES[0]] = frame[NAMES[0]].where(rng.random(300) > 0.1)
    estimator = SmoothTreeBoost(15, max_depth=3, early_stopping=False).fit(frame, y)
    facts = summarize(estimator, frame, y)
    page = open_page(facts, viewport=viewport).page
    features = facts["features"]
    assert page.locator("#spread svg rect").count() == 4  # two in the bar, two in the legend
    assert features["spread"]["sentence"] in page.locator("#spread").inner_text()
    cards = page.locator("#cards article")
    assert cards.count() == 3 and cards.locator("details").count() == 0
    for kind in ("own", "additive-part", "tree-part"):
        for k in range(3):
            assert cards.nth(k).locator(f"svg[role=img] .{kind}").count() >= 1
    assert page.locator("#feature-table tbody tr").count() == 3
    assert page.locator("#interaction-table tbody tr").count() == len(
        features["interactions"]["rows"]
    )
    n_cells = sum(map(len, features["interactions"]["plot"]["grid"]))
    assert page.locator("#interaction svg[role=img]:not(.heat-key) rect").count() == n_cells
    assert page.locator("#interaction .heat-key text").count() == 4
    # Other values are scored, too, but only the rows of the table have reasons.
    page.locator("#row-choices button", has_text="25%").click()
    score = "Number(document.getElementById('row-result').dataset.score)"
    assert page.evaluate(score) == np.sort(estimator.decision_function(frame))[74]
    assert page.locator("#reason-table tbody tr").count() >= 3
    page.locator("#row-inputs label").nth(0).locator("input").fill("0.25")
    row = page.evaluate("rowValues")
    categories = estimator.model_._columns[2].categories
    values = {NAMES[0]: row["0"], NAMES[1]: row["1"], "town": categories[row["2"]]}
    assert page.evaluate(score) == estimator.decision_function(pd.DataFrame([values]))[0]
    assert page.locator("#reason-table").count() == 0
    assert "choose one of these" in page.locator("#row-reasons").inner_text()
    assert page.locator("#row-result dt", has_text="Points").count() == 0  # trees have no card
    assert fits(page)
    assert page.evaluate(SMALLEST_TEXT) >= 11
    for _ in range(2):
        assert page.evaluate(WORST_CONTRAST) >= 4.5
        page.click("#theme")


@pytest.fixture(scope="module")
def additive():
    """An additive model with missing values, hostile categories and a pair: (estimator, X, y)."""
    rng = np.random.default_rng(5)
    X = pd.DataFrame(rng.normal(size=(240, 2)).round(1), columns=["a", "b"])
    X["town"] = rng.choice(NAMES[:4], 240)
    y = (X["a"] * X["b"] + (X["town"] == NAMES[0]) + rng.normal(size=240) > 0.5).astype(int)
    X["b"] = X["b"].where(rng.random(240) > 0.1)
    return SmoothAUCBoost(interactions=1).fit(X, y), X, y


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
def test_long_names_break_between_words(open_page, make_rows, viewport):
    long = ["NumberOfTime30-59DaysPastDue", "average_monthly_balance_in_cents"]
    X, y = make_rows(200, 2)
    estimator = SmoothAUCBoost(interactions=0).fit(pd.DataFrame(X, columns=long), y)
    facts = summarize(estimator, pd.DataFrame(X, columns=long), y)
    page = open_page(facts, viewport=viewport).page
    # The name is still one word to copy and to search for.
    assert set(long) <= set(page.locator("#reason-table tbody th").all_text_contents())
    breaks = "labels => labels.map(label => label.querySelectorAll('wbr').length)"
    assert page.locator("#row-inputs label").evaluate_all(breaks) == [6, 4]
    width = "document.querySelector('#row-reasons .scroll')"
    if viewport is DESK:
        assert page.evaluate(f"{width}.scrollWidth <= {width}.clientWidth")
    assert fits(page)


def test_one_row_is_scored_as_python_does(open_page, additive):
    estimator, X, y = additive
    model = estimator.model_
    about = {"positive_name": "churned", "author": NAMES[1], "model_hash": "ab" * 32}
    opened = open_page(summarize(estimator, X, y, about=about))
    page, row = opened.page, opened.page.evaluate("facts.row")
    assert row["kind"] == "typed" and len(row["model"]["explained"]["terms"]) == 4
    # Values on the cuts and beyond them, missing ones, and a category that the model lacks.
    rows = X.copy()
    cuts = model.features[0].cuts
    rows.loc[: len(cuts) - 1, "a"] = cuts[: len(rows)]
    rows.loc[len(cuts), "a"], rows.loc[:20, "town"] = 1e9, None
    position = {name: k for k, name in enumerate(model.features[2].categories)}
    columns = {
        "a": [None if np.isnan(v) else v for v in rows["a"]],
        "b": [None if np.isnan(v) else v for v in rows["b"]],
        "town": [position.get(name) for name in rows["town"]],
    }
    typed = [
        dict(zip("012", values, strict=True)) for values in zip(*columns.values(), strict=True)
    ]
    result = page.evaluate("rows => rows.map((row) => scoreRow(row, facts.row.model))", typed)
    explained = model.explain_rows(rows)
    assert [one["score"] for one in result] == explained.scores.tolist()
    assert [one["probability"] for one in result] == approx(
        model.probabilities(explained.scores)[:, 1], abs=1e-9
    )
    adds = [[term["adds"] for term in one["contributions"]] for one in result]
    assert np.array(adds) == approx(explained.contributions, abs=1e-9)
    check_the_panel(page, row, model)
    assert "churned" in page.locator("#row-result").inner_text()
    assert page.locator(".document").inner_text().count(NAMES[1]) == 1


def check_the_panel(page, row, model):
    """Its buttons choose rows, and what is typed is scored and explained."""
    own = "document.getElementById('row-result').dataset"
    page.locator("#row-choices button", has_text="50%").click()
    score = page.evaluate(f"{own}.score")
    assert float(score) == approx(row["quantiles"][50], abs=1e-9)
    page.locator("#row-inputs label", has_text="a").locator("input").first.fill("1.5")
    values = dict(zip(("a", "b", "town"), row["rows"][4].values(), strict=True)) | {"a": 1.5}
    town = model.features[2].categories
    values["town"] = None if values["town"] is None else town[values["town"]]
    one = model.explain({name: values[name] for name in ("a", "b", "town")})
    assert float(page.evaluate(f"{own}.score")) == approx(one.score, abs=1e-9)
    assert float(page.evaluate(f"{own}.base")) == approx(one.base, abs=1e-9)
    exact = model.to_scorecard(digits=None).score(pd.DataFrame([values]))[0]
    assert float(page.evaluate(f"{own}.points")) == approx(exact, abs=1e-9)
    assert f"Points\n{exact:.0f}" in page.locator("#row-result").inner_text()
    assert page.locator("#reason-table tbody th").first.text_content() == one.names[0][:40]
    points = [float(text) for text in page.locator("#reason-table td.points").all_inner_texts()]
    scale, slope = PointScale(), model.calibration.slope
    added = scale.of_contributions(one.contributions, slope)
    assert points[: len(added)] == approx(added, abs=0.051)
    average = exact - added.sum()
    assert points[-2:] == approx([average, exact], abs=0.051)
    assert page.locator("#row-choices [aria-pressed=true]").count() == 0
    page.set_viewport_size(PHONE)
    page.locator("#row-inputs label", has_text="a").locator("input").first.fill("-163665.25")
    lines = """[...document.querySelectorAll("#reason-table td.whole")].map((cell) => {
        const words = document.createRange();
        words.selectNodeContents(cell);
        return [cell.textContent, words.getClientRects().length];
    })"""
    assert ["-163,665", 1] in page.evaluate(lines)  # a number is not broken


@pytest.mark.parametrize(
    "estimator",
    [TreeRank(max_depth=2), MartiRank(n_layers=3), DMKS()],
    ids=lambda e: type(e).__name__,
)
def test_other_forms_are_scored_too(open_page, make_rows, estimator):
    X, y = make_rows(200, 2)
    estimator.fit(X, y)
    opened = open_page(summarize(estimator, X, y))
    own = "document.getElementById('row-result').dataset"
    for typed in ("0.3", "", "-2"):
        opened.page.locator("#row-inputs input").first.fill(typed)
        row = opened.page.evaluate("rowValues")
        values = [[np.nan if row.get(j) is None else row[j] for j in ("0", "1")]]
        shown = [opened.page.evaluate(f"Number({own}.{name})") for name in ("score", "probability")]
        expected = [estimator.decision_function(values)[0], estimator.predict_proba(values)[0, 1]]
        assert shown == approx(expected, rel=1e-12)
    has_terms = opened.page.locator("#reason-table").count()
    assert has_terms == isinstance(estimator, DMKS)


def test_costs_choose_a_threshold(open_page, facts):
    opened = open_page(facts)
    page, roc = opened.page, facts["roc"]
    assert opened.value("profit") is None and page.locator("#best-profit").is_disabled()
    for name, value in (("gain-tp", 3), ("cost-fp", 1.5), ("cost-fn", 2)):
        page.fill(f"#{name}", str(value))
    tp, fp = np.array(roc["true_positives"]), np.array(roc["false_positives"])
    profit = 3 * tp - 1.5 * fp - 2 * (tp[-1] - tp)
    assert opened.value("profit") == approx(profit[roc["model"]])
    assert opened.value("profit-more") == approx(profit[roc["model"]] - profit[0])
    page.click("#best-profit")
    assert int(page.locator("#slider").input_value()) == int(np.argmax(profit))
    assert opened.value("profit") == approx(profit.max())


def test_plots_share_a_scale_until_it_is_switched_off(open_page, facts):
    page = open_page(facts, viewport=DESK).page
    ticks = """[...document.querySelectorAll('#cards article')].map((card) =>
      [...card.querySelectorAll('svg text[text-anchor=end]')].map((t) => t.textContent).join())"""
    common = page.evaluate(ticks)
    assert len(set(common)) == 1 and len(common) > 1
    page.click("#scale")
    assert len(set(page.evaluate(ticks))) > 1
    page.click("#scale")
    assert page.evaluate(ticks) == common


def test_an_axis_has_at_least_two_ticks(open_page, facts):
    page = open_page(facts, viewport=DESK).page
    ranges = [[-0.97, 1.2], [-0.4, 0.4], [0, 1], [-1.3, 0.1], [-9.9, 9.9], [3, 3.0001]]
    counts = page.evaluate("(all) => all.map(([a, b]) => ticksBetween(a, b, 2).length)", ranges)
    assert min(counts) >= 2 and max(counts) <= 5, counts


def test_options_in_notes_are_not_broken(open_page, facts):
    note = "Add --missing 'x=-9' " * 9
    page = open_page({**facts, "about": {**facts["about"], "notes": [note]}}, viewport=PHONE).page
    boxes = "[...document.querySelectorAll('.note .option')].map((e) => e.getClientRects().length)"
    assert page.evaluate(boxes) == [1] * 9


def test_wide_tables_say_that_they_scroll(open_page, facts):
    for viewport, least in ((PHONE, 1), (DESK, 0)):
        page = open_page(facts, viewport=viewport).page
        page.wait_for_timeout(50)
        assert (page.locator(".swipe.needed").count() > 0) == (least > 0)
        # Headers of tables are not broken within a word.
        heads = "[...document.querySelectorAll('.confusion thead th')].map((h) => h.clientHeight)"
        assert max(page.evaluate(heads)) < 70
