"""Draws the facts of a report as one HTML page that loads nothing."""

import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import Any

from auctor.models.export.script import javascript_scorer
from auctor.report import head_sections, sections
from auctor.report.card_section import model_card
from auctor.report.group_sections import groups_reading, stability, subgroups
from auctor.report.markup import text
from auctor.report.static_roc import roc_svg
from auctor.report.summary import FORMAT
from auctor.report.tree_sections import interactions, tree_reading

# In the order in which the browser must read them, after the scorer of one row.
SCRIPTS = (
    "elements.js",
    "chart.js",
    "feature_drawings.js",
    "operating.js",
    "costs.js",
    "quality.js",
    "features.js",
    "tree.js",
    "row_panel.js",
    "page.js",
)
_LINKS = (
    ("result", "Summary"),
    ("operating", "Threshold"),
    ("comparison", "Comparison"),
    ("quality", "Separation"),
    ("subgroups", "Subgroups"),
    ("periods", "Stability"),
    ("features", "Features"),
    ("row", "One row"),
    ("model", "Model"),
    ("card", "Model card"),
    ("data", "Data"),
    ("reading", "How to read this report"),
)
# Sections of facts that earlier versions did not write.
_OPTIONAL = ("subgroups", "periods", "card")
# Characters that would end the script element, or a line in old JavaScript, within the JSON.
_ESCAPES = {
    character: f"\\u{ord(character):04x}" for character in ("<", ">", "&", "\u2028", "\u2029")
}
_LONGEST_LABEL = 40
# What the page has of the rows, without and with example rows.
_CONTENTS = (
    "It contains counts and curves, but no rows of the table.",
    "It contains counts and curves, and the values of the nine rows of the panel “One row”.",
)


def render(facts: dict[str, Any]) -> str:
    """Render the facts of :func:`auctor.report.summarize` as an HTML page.

    Parameters
    ----------
    facts : dict
        What ``summarize`` returned, or the same read from JSON.

    Returns
    -------
    str
        The whole page. It contains its scripts and styles, and loads nothing.

    Examples
    --------
    >>> from auctor import RankBoost
    >>> from auctor.report import render, summarize
    >>> X, y = [[1], [2], [3], [4], [5], [6]], [0, 0, 1, 0, 1, 1]
    >>> page = render(summarize(RankBoost(n_estimators=5).fit(X, y), X, y))
    >>> page.startswith("<!doctype html>"), "src=" in page
    (True, False)
    """
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        given = facts.get("format") if isinstance(facts, dict) else type(facts).__name__
        raise ValueError(
            f"facts has format {given!r}, but this version of auctor draws format {FORMAT}; give "
            "the dict that auctor.report.summarize returned"
        )
    style, script = _read("page.css"), "\n".join([javascript_scorer(), *map(_read, SCRIPTS)])
    return Template(_read("page.html")).substitute(
        policy=_policy(style, script),
        style=style,
        script=script,
        facts=embedded(facts),
        **_words(facts),
        **_parts(facts),
    )


def embedded(facts: dict[str, Any]) -> str:
    """The facts as JSON for a script element of the page.

    Examples
    --------
    >>> embedded({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    encoded = json.dumps(facts, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character, escape in _ESCAPES.items():
        encoded = encoded.replace(character, escape)
    return encoded


def _read(name: str) -> str:
    return files("auctor.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """The content security policy: only the page's own script and style, nothing loaded."""
    hashes = [b64encode(sha256(part.encode()).digest()).decode() for part in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _words(facts: dict[str, Any]) -> dict[str, str]:
    """Short texts for the template, escaped."""
    data, heading = facts["data"], head_sections.heading(facts)
    links = "".join(
        f'<li><a href="#{name}">{title}</a></li>'
        for name, title in _LINKS
        if facts.get(name, name not in _OPTIONAL)
    )
    return {
        "version": text(facts["version"]),
        "title": text(heading[:120], 120),
        "heading": text(heading, 120),
        "document": head_sections.document(facts),
        "rule": text(_rule(facts), 400),
        "contents": _CONTENTS[facts["row"] is not None],
        "links": links,
        "percent": f"{100 * facts['level']:g}%",
        "band_method": text(facts["roc"]["band"]["method"]),
        "pooled": text(sections.pooled_note(facts), 400),
        "ks_pooled": text(sections.pooled_ks_note(facts), 300),
        "positive": text(data["positive"], _LONGEST_LABEL),
        "negative": text(data["negative"], _LONGEST_LABEL),
        "positive_class": text(head_sections.class_words(facts, "positive"), 200),
        "negative_class": text(head_sections.class_words(facts, "negative"), 200),
        "positive_full": text(data["positive"], 10_000),
        "negative_full": text(data["negative"], 10_000),
    }


def _rule(facts: dict[str, Any]) -> str:
    """By which threshold the model predicts a class."""
    data = facts["data"]
    return (
        f"The model predicts “{data['positive']}” where the score is at or above "
        f"{data['model_threshold']:.4g}, and “{data['negative']}” elsewhere"
    )


def _parts(facts: dict[str, Any]) -> dict[str, str]:
    """Sections of the page as HTML, their texts escaped."""
    lines = "\n".join(facts["shape"]["text"])
    return {
        "headline": head_sections.headline(facts),
        "roc": roc_svg(facts),
        "threshold_table": sections.threshold_table(facts),
        "band_table": sections.band_table(facts),
        "comparison": sections.comparison(facts),
        "calibration_table": sections.calibration_table(facts),
        "subgroups": subgroups(facts),
        "stability": stability(facts),
        "card": model_card(facts),
        "groups_reading": groups_reading(facts),
        "features_intro": sections.features_intro(facts),
        "feature_table": sections.feature_table(facts),
        "interactions": interactions(facts),
        "tree_reading": tree_reading(facts),
        "terms": sections.terms_table(facts),
        "model_text": text(lines, len(lines)),
        "facts_table": sections.facts_table(facts),
    }
