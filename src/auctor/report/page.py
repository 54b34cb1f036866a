"""From facts to the page: one HTML file that loads nothing."""

import json
from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from auctor._files import write_text_file
from auctor.report import sections
from auctor.report.markup import text
from auctor.report.static_roc import roc_svg
from auctor.report.summary import FORMAT

# In the order in which they must be read.
SCRIPTS = (
    "elements.js",
    "chart.js",
    "operating.js",
    "quality.js",
    "features.js",
    "tree.js",
    "page.js",
)
_LINKS = (
    ("result", "Result"),
    ("operating", "Threshold"),
    ("comparison", "Baseline"),
    ("quality", "Separation"),
    ("features", "Features"),
    ("model", "Model"),
    ("data", "Data"),
    ("reading", "How to read this"),
)
# What would end the element, or a line of old JavaScript, inside of the embedded JSON.
_ESCAPES = {
    character: f"\\u{ord(character):04x}" for character in ("<", ">", "&", "\u2028", "\u2029")
}
_LONGEST_LABEL = 40


def render(facts: dict[str, Any]) -> str:
    """The page of the facts that :func:`auctor.report.summarize` found.

    Examples
    --------
    >>> from auctor import RankBoost
    >>> from auctor.report import summarize
    >>> X, y = [[1], [2], [3], [4], [5], [6]], [0, 0, 1, 0, 1, 1]
    >>> page = render(summarize(RankBoost(n_estimators=5).fit(X, y), X, y))
    >>> page.startswith("<!doctype html>"), "src=" in page
    (True, False)
    """
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        found = facts.get("format") if isinstance(facts, dict) else type(facts).__name__
        raise ValueError(
            f"facts have format {found!r}, and this version of auctor draws format {FORMAT}; give "
            "what auctor.report.summarize returned"
        )
    style, script = _read("page.css"), "\n".join(_read(name) for name in SCRIPTS)
    return Template(_read("page.html")).substitute(
        policy=_policy(style, script),
        style=style,
        script=script,
        facts=embedded(facts),
        **_words(facts),
        **_parts(facts),
    )


def write_report(facts: dict[str, Any], path: str | Path) -> None:
    """Write the page; the file is complete or not there at all."""
    write_text_file(path, render(facts))


def embedded(facts: dict[str, Any]) -> str:
    """The facts as JSON that can stand inside a script element.

    Examples
    --------
    >>> embedded({"name": "</script>"})
    '{"name":"\\\\u003c/script\\\\u003e"}'
    """
    found = json.dumps(facts, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    for character, escaped in _ESCAPES.items():
        found = found.replace(character, escaped)
    return found


def _read(name: str) -> str:
    return files("auctor.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Nothing may be loaded, and no script or style runs but the page's own."""
    hashes = [b64encode(sha256(part.encode()).digest()).decode() for part in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def _words(facts: dict[str, Any]) -> dict[str, str]:
    """Single words and sentences, escaped."""
    data, title = facts["data"], sections.heading(facts)
    links = "".join(
        f'<li><a href="#{name}">{words}</a></li>'
        for name, words in _LINKS
        if name != "comparison" or facts["comparison"]
    )
    return {
        "version": text(facts["version"]),
        "title": text(title[:120], 120),
        "heading": text(title, 120),
        "subtitle": sections.subtitle(facts),
        "links": links,
        "percent": f"{100 * facts['level']:g}%",
        "band_method": text(facts["roc"]["band"]["method"]),
        "pooled": text(sections.pooled_note(facts), 300),
        "positive": text(data["positive"], _LONGEST_LABEL),
        "negative": text(data["negative"], _LONGEST_LABEL),
        "positive_full": text(data["positive"], 10_000),
        "negative_full": text(data["negative"], 10_000),
    }


def _parts(facts: dict[str, Any]) -> dict[str, str]:
    """Whole parts of the page, made of escaped pieces."""
    lines = "\n".join(facts["shape"]["text"])
    return {
        "headline": sections.headline(facts),
        "roc": roc_svg(facts),
        "threshold_table": sections.threshold_table(facts),
        "comparison": sections.comparison(facts),
        "calibration_table": sections.calibration_table(facts),
        "features_intro": sections.features_intro(facts),
        "feature_table": sections.feature_table(facts),
        "terms": sections.terms_table(facts),
        "model_text": text(lines, len(lines)),
        "facts_table": sections.facts_table(facts),
    }
