"""The form of a scorecard in a real Chromium: it adds up as Python does, and keeps to itself."""

import numpy as np
import pytest
from models.scorecard.cards import FORMULA, MODELS, NAMES, SCRIPT
from models.scorecard.test_card import as_table

PHONE = {"width": 360, "height": 740}


@pytest.mark.parametrize("form", ["additive", "linear"])
def test_the_form_adds_up(browser, tmp_path, form):
    row = {NAMES[0]: [35.0], NAMES[1]: [None], NAMES[2]: ["@sum"]}
    card, X = MODELS[form].to_scorecard(), as_table(row)
    path = tmp_path / "card.html"
    card.to_html(path, title=f"{SCRIPT}{FORMULA}")
    context = browser.new_context(viewport=PHONE)
    page, said = context.new_page(), []
    page.on("console", lambda message: said.append(message.text))
    page.on("dialog", lambda dialog: (said.append("dialog"), dialog.dismiss()))
    page.goto(path.as_uri())
    assert page.locator("#total").text_content() == ""
    assert (" means above " in page.locator("p").first.text_content()) == (form == "additive")
    assert 16 <= page.locator(".scale tbody tr").count() <= 41
    for k, points in enumerate(card.points(X)[0].tolist()):
        number = page.locator("[data-term]").nth(k).locator("input[type=number]")
        value = X[card.terms[k].features[0].name][0].as_py()
        if number.count() and value is not None:
            number.fill(str(value))
        else:
            page.locator(f'input[name=t{k}][value="{points!r}"]').first.check()
    assert page.locator("#total").text_content() == card.text(card.score(X)[0])
    shown = float(page.locator("#probability").text_content().removesuffix("%"))
    assert shown == pytest.approx(100 * card.probability(card.score(X))[0], abs=0.0051)
    width = page.evaluate("document.documentElement.scrollWidth")
    page.locator("button[type=reset]").click()
    page.wait_for_function("document.getElementById('total').textContent === ''")
    assert width <= PHONE["width"] and said == [] and np.isfinite(shown)
    context.close()
