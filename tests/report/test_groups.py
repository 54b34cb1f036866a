"""Subgroups, periods of time and the model card: their facts, and the page that shows them."""

import json

import numpy as np
import pytest

from auctor.metrics import by_group
from auctor.report import render, summarize
from auctor.report.periods import read_periods

HOSTILE = ["<script>window.__hacked=1</script>", "\"'><img src=x onerror=window.__hacked=2>"]
CARD = {"intended_use": "Ranking of rows.", "limits": ["None known.", "<b>Few rows.</b>"]}


@pytest.fixture(scope="module")
def rows(fitted):
    """The rows of the report with two columns of groups and a day; one group is tiny."""
    estimator, X, y = fitted
    groups = np.where(X[:, 1] > 0, HOSTILE[0], HOSTILE[1]).astype(object)
    groups[:3] = None
    days = np.datetime64("2024-01-01") + np.arange(len(y))
    return estimator, X, y, {"region": groups, "<i>age</i>": X[:, 2]}, days


@pytest.fixture(scope="module")
def summary(rows):
    estimator, X, y, by, days = rows
    about = {"table": "rows.csv", "target": "y", "model": "m.json", "model_hash": "ab" * 32}
    return summarize(estimator, X, y, by=by, time=days, card=CARD, about=about)


def test_subgroups_are_those_of_by_group(rows, summary):
    estimator, X, y, by, _ = rows
    scores = estimator.decision_function(X)
    table = by_group(
        y,
        scores,
        by["region"],
        threshold=estimator.threshold_,
        probability=estimator.predict_proba(X)[:, 1],
    )
    facts = summary["subgroups"][0]
    expected = json.loads(json.dumps(table.to_dict()))
    assert facts["groups"] == expected["groups"]
    assert facts["sentences"] == expected["sentences"]
    assert (facts["n_groups"], facts["n_small"]) == (3, 1)
    assert summary["subgroups"][1]["n_distinct"] == len(y)


def test_periods_are_in_the_order_of_time(rows, summary):
    y = rows[2]
    periods = summary["periods"]
    names = [group["name"] for group in periods["groups"]]
    assert len(names) == 8 and names == sorted(names)
    assert names[0].startswith("2024-01-01 to 2024-01-")
    assert sum(group["n_pos"] for group in periods["groups"]) == y.sum()
    assert all("groups" not in sentence for sentence in periods["sentences"])


def test_the_card_says_what_is_known_and_what_is_not(summary):
    card = summary["card"]
    stated = {entry["key"]: entry["text"] for entry in card["stated"]}
    assert stated["intended_use"] == ["Ranking of rows."] and stated["owner"] == []
    model = {line["title"]: line["text"] for line in card["model"]}
    assert model["SHA-256 of the model file"] == "ab" * 32
    assert model["Learner"] == "RankBoost"
    assert card["stability"][0].startswith("8 periods, with AUCs from 0.")
    assert card["subgroups"][0].startswith("By region, 3 groups: ")
    assert "1 group too small to be compared in every measure" in card["subgroups"][0]
    page = render(summary)
    assert page.count("not stated</em>") == 4
    assert "&lt;b&gt;Few rows.&lt;/b&gt;" in page and "<b>Few" not in page


def test_without_groups_and_time_the_card_says_so(facts):
    assert facts["subgroups"] == [] and facts["periods"] is None
    assert facts["card"]["subgroups"] == ["Not assessed: no column of subgroups was given."]
    page = render(facts)
    assert 'id="subgroups"' not in page and 'href="#periods"' not in page
    assert 'id="card"' in page and 'href="#card"' in page
    old = {key: facts[key] for key in facts if key not in ("subgroups", "periods", "card")}
    assert 'href="#card"' not in render(old)


def test_both_groups_of_a_pair_are_marked_and_named(rows):
    estimator, X, y, *_ = rows
    is_right = estimator.predict(X) == y
    groups = np.where(np.arange(len(y)) % 2 == 0, "mixed", np.where(is_right, "right", "wrong"))
    facts = summarize(estimator, X, y, by={"g": groups}, compare="pairs")
    of = facts["subgroups"][0]
    claims = {(t["group"], t["other"], t["measure"]) for t in of["tests"] if t["p_adjusted"] < 0.05}
    assert of["n_differing"] == len(claims) > 2
    assert ("right", "wrong", "fpr") in claims
    marked = {(name, m) for name, measures in of["differing"].items() for m in measures}
    assert marked == {(name, m) for *pair, m in claims for name in pair}
    page = render(facts)
    assert page.count("differs, p") == len(marked) and "“differs”: from one of the others" in page
    said = facts["card"]["subgroups"][0]
    assert "'right' and 'wrong' differ in " in said
    rest = summarize(estimator, X, y, by={"g": groups})["card"]["subgroups"][0]
    assert "'wrong' differs in" in rest and " against " in rest


def test_the_card_lists_the_most_significant_differences_and_counts_the_others(rows):
    estimator, X, y, *_ = rows
    is_right = estimator.predict(X) == y
    groups = np.char.add(np.where(is_right, "right", "wrong"), (np.arange(len(y)) % 4).astype(str))
    facts = summarize(estimator, X, y, by={"g": groups}, compare="pairs")
    left = facts["subgroups"][0]["n_differing"] - 12
    assert left > 0 and f"; and {left} more difference" in facts["card"]["subgroups"][0]


def test_out_of_fold_scores_and_their_instability(rows):
    estimator, X, y, by, _ = rows
    scores = estimator.decision_function(X)
    options = {"by": {"region": by["region"]}, "scores": scores, "folds": np.arange(len(y)) % 2}
    loose, tight = (
        summarize(estimator, X, y, instability=share, **options)["subgroups"][0]["groups"][0]["auc"]
        for share in (1.0, 0.0)
    )
    assert loose["value"] == tight["value"] and loose["low"] < tight["low"]


def test_groups_and_weights_reach_the_subgroups(rows):
    estimator, X, y, by, days = rows
    clusters, weight = np.arange(len(y)) // 2, np.arange(len(y)) % 3
    facts = summarize(estimator, X, y, by=by, time=days, groups=clusters, sample_weight=weight)
    for table in (*facts["subgroups"], facts["periods"]):
        assert sum(group["n_rows"] for group in table["groups"]) == (weight > 0).sum()
        assert all(group["effective_pos"] <= group["n_pos"] for group in table["groups"])


@pytest.mark.parametrize(
    ("times", "folds", "names"),
    [
        ([3, 1, 2, 1], None, ("1", "2", "3")),
        (["2024-02", "2024-01", "2024-02", "2024-01"], None, ("2024-01", "2024-02")),
        ([1, 2, 3, 4], [1, 1, 0, 0], ("1 to 2", "3 to 4")),
        ([1, 2, 3, 4], [1, 0, 1, 0], ("1", "2", "3", "4")),
        ([0.5, 1.5, 2.5, 3.5], [0, 0, 0, 1], ("0.5 to 2.5", "3.5")),
    ],
)
def test_periods(times, folds, names):
    periods = read_periods(times, 4, folds)
    assert periods.names == names
    for name, code in zip(times, periods.codes, strict=True):
        assert str(name) in periods.names[code] or "to" in periods.names[code]


def test_many_times_are_cut_into_periods_of_equal_size():
    times = np.repeat(np.arange(50), 4)
    sizes = np.bincount(read_periods(times, 200).codes)
    assert len(sizes) == 8 and sizes.max() - sizes.min() <= 4


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"by": {"a": ["x"]}}, r"by\['a'\]: groups has 1 values for 200 rows"),
        ({"time": [1, 2]}, "time has 2 values for 200 rows"),
        ({"time": [None] * 200}, "time has 200 missing"),
        ({"time": ["a", 1] * 100}, "time has values that cannot be sorted"),
        ({"time": ["31.01.2024"] * 200}, "'31.01.2024', which does not sort in the order of time"),
        ({"card": {"use": "x"}}, "card has the entry 'use'; give 'intended_use'"),
    ],
)
def test_bad_input(rows, options, words):
    estimator, X, y, _, _ = rows
    with pytest.raises(ValueError, match=words):
        summarize(estimator, X, y, **options)


def test_the_page_in_a_browser(open_page, summary):
    opened = open_page(summary, viewport={"width": 360, "height": 740})
    page = opened.page
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.locator("#subgroups tbody").first.locator("th").first.inner_text() in HOSTILE
    assert page.locator("#subgroups svg").count() > 10
    page.emulate_media(media="print")
    assert page.locator("#card").is_visible() and not page.locator(".tests").first.is_visible()
    page.set_viewport_size({"width": 700, "height": 990})  # a sheet of paper
    widths = "[...document.querySelectorAll('.groups table')].map(t => t.scrollWidth)"
    assert max(page.evaluate(widths)) <= 700
