"""Sentences and tables of the page that only models with trees have."""

from html import escape
from typing import Any

from auctor._text import count
from auctor.models.importance import WORDS
from auctor.report.markup import Markup, paragraph, percent, table, text

TREE_HEAD = ["feature", "type", "importance", "missing values"]
# CSS classes of the parts of the score, in the order of the facts.
_PARTS = ("fill-single", "fill-pairs", "fill-trees")
_BAR_WIDTH, _BAR_HEIGHT = 640, 22


def tree_intro(facts: dict[str, Any]) -> Markup:
    """What the curves show, and how much of the score is due to trees."""
    features = facts["features"]
    is_sum = facts["shape"]["form"] == "sum"
    score = (
        "The score is the sum of an additive part, in which each feature has a function of its "
        "own, and of trees, in which features act together."
        if is_sum
        else "The score is a sum over trees, in which features act together."
    )
    words = (
        f"{score} A plot shows the partial dependence on a feature: the mean score of "
        f"{count(features['n_sample'], 'row')} if all of them had this value of the feature, "
        f"compared with {features['reference']}. The histogram below it shows the values of the "
        "positive rows (upwards) and of the negative rows (downwards). Features are sorted by "
        f"importance: {WORDS}. What a feature adds to a row is its Shapley value."
    )
    if facts["data"]["is_out_of_fold"]:
        words += (
            " Unlike the results above, contributions and curves are not cross-validated: they "
            "belong to the model fitted to all rows."
        )
    return Markup(paragraph(words) + _spread(features["spread"], is_sum))


def _spread(spread: dict[str, Any], is_sum: bool) -> str:
    """The variance of the score, divided among its parts, as a sentence and a bar."""
    if not is_sum:
        return paragraph(spread["sentence"])
    note = " Trees may also contain effects of single features."
    shown = [part for part in zip(_PARTS, spread["parts"], strict=True) if part[1]["fraction"]]
    entries = "".join(
        f'<li><svg width="28" height="12" aria-hidden="true"><rect class="{kind}" x="1" y="1" '
        f'width="26" height="10"/></svg><span class="name">{escape(part["name"])}: '
        f"{percent(part['fraction'])}</span></li>"
        for kind, part in shown
    )
    return (
        f'<div id="spread">{paragraph(spread["sentence"] + note)}{_bar(shown)}'
        f'<ul class="legend">{entries}</ul></div>'
    )


def _bar(parts: list[tuple[str, dict[str, Any]]]) -> str:
    """A bar with a piece for each part; a part that takes back what others add has none."""
    drawn = [(kind, part) for kind, part in parts if part["fraction"] > 0]
    total = sum(part["fraction"] for _, part in drawn)
    pieces, x = [], 0.0
    for kind, part in drawn:
        width = _BAR_WIDTH * part["fraction"] / total
        pieces.append(
            f'<rect class="{kind}" x="{x:.1f}" y="0" width="{width:.1f}" height="{_BAR_HEIGHT}"/>'
        )
        x += width
    words = ", ".join(f"{part['name']} {percent(part['fraction'])}" for _, part in parts)
    return (
        f'<svg class="spread" role="img" width="{_BAR_WIDTH}" height="{_BAR_HEIGHT}" '
        f'viewBox="0 0 {_BAR_WIDTH} {_BAR_HEIGHT}" preserveAspectRatio="none" '
        f'aria-label="Variance of the score: {escape(words)}">{"".join(pieces)}</svg>'
    )


def tree_cells(row: dict[str, Any], missing: str) -> list[Any]:
    """One row of the table of features."""
    kind = "pair" if row["kind"] == "surface" else row["kind"]
    return [row["name"], kind, percent(row["importance"]), missing]


def interactions(facts: dict[str, Any]) -> Markup:
    """The strongest interactions as a table, with a place for the heat map; empty without them."""
    pairs = facts["features"].get("interactions")
    if pairs is None:
        return Markup("")
    heading = '<h3 id="h-interactions">Interactions</h3>'
    if not pairs["rows"]:
        words = (
            f"The {pairs['n_features']} most important features do not interact: the score is a "
            "sum of functions of single features."
        )
        return Markup(heading + paragraph(words))
    words = (
        "Two features interact if the effect of one depends on the value of the other. The "
        f"interaction is measured for the {count(pairs['n_pairs'], 'pair')} of the "
        f"{pairs['n_features']} most important features, as what the partial dependence on both "
        "has beyond the sum of those on each. Small values may be due to chance."
    )
    rows = [
        [
            Markup(" x ".join(text(name, 40) for name in row["features"])),
            percent(row["share"]),
            percent(row["of_pair"]),
        ]
        for row in pairs["rows"]
    ]
    head = ["features", "part of the score's variance", "part of the pair's effect"]
    caption = f"Strongest interactions, by partial dependence on {count(pairs['n_rows'], 'row')}"
    listed = table(caption, head, rows, "interaction-table")
    return Markup(
        f'{heading}{paragraph(words)}<div class="two">{listed}<div id="interaction"></div></div>'
    )


def tree_reading(facts: dict[str, Any]) -> Markup:
    """How to read the plots of trees."""
    if facts["features"]["kind"] != "trees":
        return Markup("")
    return Markup(
        "<dt>Partial dependence and interactions</dt><dd>In a model with trees the effect of a "
        "feature depends on the other ones. Its partial dependence is the mean of that effect over "
        "rows of the table. It also uses combinations of values that do not occur together, which "
        "matters where features are strongly correlated. The contributions of the features to the "
        "score of a row are Shapley values, and add up to the score.</dd>"
    )
