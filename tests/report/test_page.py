"""The page without a browser: escaped, the same every time, small, complete or not there."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from auctor import AUCBoost, RankBoost
from auctor.report import render, summarize, write_report

HOSTILE = [
    "<script>window.__hacked=1;alert(1)</script>",
    "</script><script>window.__hacked=2</script>",
    "\"'><img src=x onerror=window.__hacked=3>",
    "two\nlines\r\nand\ttabs\u2028",
    "emoji 🐴 and ‮right to left",
    "nul\x00 and bell\x07",
    "${facts} {{facts}} $script",
    "x" * 10_000,
    "__proto__",
    "https://example.org/x.png",
]


class Reader(HTMLParser):
    """Elements, and the texts between them."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.texts = [], [], []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *pair) for pair in attrs]

    def handle_data(self, data):
        self.texts.append(data)


@pytest.fixture(scope="module")
def hostile_facts(make_rows):
    X, y = make_rows(300, len(HOSTILE))
    frame = pd.DataFrame(X, columns=HOSTILE)
    frame[HOSTILE[0]] = np.array(HOSTILE, dtype=object)[np.arange(300) % len(HOSTILE)]
    labels = np.where(y == 1, HOSTILE[0], HOSTILE[1])
    estimator = RankBoost(n_estimators=40).fit(frame, labels)
    about = {
        "title": HOSTILE[2],
        HOSTILE[1]: HOSTILE[0],
        "notes": [*HOSTILE, "half \ud83d"],
        "table": HOSTILE[3],
    }
    baseline = {HOSTILE[0]: X[:, 1]}
    return summarize(estimator, frame, labels, about=about, baseline=baseline)


def test_the_page_is_the_same_every_time(fitted, facts):
    estimator, X, y = fitted
    about = {"table": "rows.csv", "target": "y", "command": "auctor report", "seed": 0}
    again = summarize(estimator, X, y, baseline={"first column": X[:, 0]}, about=about)
    assert again == facts
    assert render(json.loads(json.dumps(facts))) == render(facts)


def test_the_facts_can_be_read_back_from_the_page(facts, hostile_facts):
    for one in (facts, hostile_facts):
        page = render(one)
        match = re.search(r'<script type="application/json" id="facts">(.*?)</script>', page)
        assert json.loads(match[1]) == one
        assert not set("<>&\u2028\u2029") & set(match[1])


def test_hostile_text_is_shown_and_not_run(hostile_facts):
    page = render(hostile_facts)
    page.encode("utf-8")
    read = Reader(page)
    assert read.tags.count("script") == 2
    assert not {"img", "iframe", "link", "object", "base", "form"} & set(read.tags)
    assert not [a for a in read.attributes if a[1].startswith("on") or a[1] == "style"]
    assert not [a for a in read.attributes if a[1] in ("src", "srcset", "action")]
    assert all(a[2].startswith("#") for a in read.attributes if a[1] == "href")
    assert any(HOSTILE[0] in text for text in read.texts)
    assert "x" * 2001 not in page
    assert max(map(len, (row["name"] for row in hostile_facts["features"]["rows"]))) == 300


def test_nothing_but_the_pages_own_script_may_run(facts):
    page = render(facts)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        inside = re.search(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)[1]
        digest = base64.b64encode(hashlib.sha256(inside.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in policy
    assert "unsafe" not in policy
    addresses = set(re.findall(r"https?://[^\s\"'<>\\]+", page)) - {"http://www.w3.org/2000/svg"}
    assert addresses == set()


def test_what_must_stand_without_a_script(facts):
    page = render(facts)
    text = " ".join(Reader(page.split('<script type="application/json"')[0]).texts)
    for words in (
        facts["headline"]["sentence"],
        facts["about"]["certificate"],
        "auctor report",
        "first column",
        "Brier score",
        "How to read this",
        *(row["name"] for row in facts["features"]["rows"]),
    ):
        assert words in text
    assert 'aria-label="ROC curve, area' in page
    assert page.count("<caption>") >= 5


def test_only_facts_of_this_format_are_drawn(facts):
    with pytest.raises(ValueError, match="facts has format 1, but this version"):
        render({**facts, "format": 1})
    with pytest.raises(ValueError, match="format 'list'"):
        render([])


def test_a_report_of_a_model_and_rows_is_complete_or_not_there(tmp_path):
    X, y = [[1], [2], [3], [4], [5], [6]], [0, 0, 1, 0, 1, 1]
    model = AUCBoost(n_estimators=5).fit(X, y).model_
    options = {"about": {"title": "Six rows", "made": "2020-01-01"}, "sample_weight": [1] * 6}
    write_report(model, X, y, tmp_path / "page.html", **options)
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert page == render(summarize(model, X, y, **options))
    with pytest.raises(ValueError, match="y has"):
        write_report(model, X, y[:3], tmp_path / "other.html")
    assert [path.name for path in tmp_path.iterdir()] == ["page.html"]


def test_many_rows_make_no_large_page(make_rows):
    X, y = make_rows(100_000, 5)
    estimator = AUCBoost(n_estimators=30).fit(X, y)
    page = render(summarize(estimator, X, y, scores=X[:, 0] + X[:, 1]))
    assert len(page.encode()) < 300_000


def test_many_columns_with_long_names_make_no_large_page(make_rows):
    X, y = make_rows(200, 2000)
    frame = pd.DataFrame(X, columns=[f"{'name ' * 100}{j}" for j in range(2000)])
    frame["town"] = [f"town {k} {'long ' * 50}" for k in range(200)]
    page = render(summarize(AUCBoost(n_estimators=60).fit(frame, y), frame, y))
    assert len(page.encode()) < 3_000_000
