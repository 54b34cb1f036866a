"""Facts of small models, and a real Chromium for the page."""

import os
import shutil

import numpy as np
import pytest

from auctor import RankBoost
from auctor.report import render, summarize

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def sample(n_rows=400, n_columns=4, seed=0):
    """Numbers and labels that some of them tell apart."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = (X[:, 0] + rng.normal(size=n_rows) > 0.4).astype(int)
    return X, y


@pytest.fixture(scope="session")
def make_rows():
    return sample


@pytest.fixture(scope="session")
def fitted():
    """A fitted RankBoost with rows that it has not seen: (estimator, X, y)."""
    X, y = sample()
    return RankBoost(n_estimators=15).fit(X[:200], y[:200]), X[200:], y[200:]


@pytest.fixture(scope="session")
def facts(fitted):
    estimator, X, y = fitted
    about = {"table": "rows.csv", "target": "y", "command": "auctor report", "seed": 0}
    return summarize(estimator, X, y, baseline={"first column": X[:, 0]}, about=about)


def missing(words):
    """Skip on a developer's own machine; never in continuous integration."""
    if os.environ.get("CI"):
        pytest.fail(words)
    pytest.skip(words)


@pytest.fixture(scope="session")
def browser():
    """Headless Chromium: that of AUCTOR_CHROMIUM, or the first one on the path."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("no playwright: pip install playwright to test the report in a browser")
    path = os.environ.get("AUCTOR_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        missing(
            "no Chromium on the path: install chromium, or set AUCTOR_CHROMIUM, to test the page"
        )
    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


class OpenPage:
    """A report in the browser, with all that it said and asked for."""

    def __init__(self, browser, path, **context):
        self.context = browser.new_context(**context)
        self.page = self.context.new_page()
        self.said, self.asked = [], []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.said.append("dialog"), dialog.dismiss()))
        self.context.route("**/*", self._record)
        self.page.goto(path.as_uri())

    def _record(self, route):
        self.asked.append(route.request.url)
        route.continue_()

    def value(self, name):
        """The number behind a cell, in full; None where it shows a dash."""
        text = self.page.locator(f"#{name}").get_attribute("data-value")
        return float(text) if text else None


@pytest.fixture
def open_page(browser, tmp_path):
    """Open the page of some facts; afterwards nothing went wrong and nothing left the page."""
    opened = []

    def _open(facts, **context):
        path = tmp_path / f"report{len(opened)}.html"
        path.write_text(render(facts), encoding="utf-8")
        opened.append((OpenPage(browser, path, **context), path))
        return opened[-1][0]

    yield _open
    for one, path in opened:
        hacked = one.page.evaluate("window.__hacked")
        one.context.close()
        assert one.said == []
        assert one.asked == [path.as_uri()]
        assert hacked is None
