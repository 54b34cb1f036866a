"""The model card on the page: what a reviewer asks of a model, on one sheet."""

from html import escape
from typing import Any

from auctor.report.card import NOT_STATED
from auctor.report.markup import Markup, dated, text

_PARTS = (("model", "Model"), ("data", "Data"), ("validation", "Validation"))
_SENTENCES = (
    ("stability", "Stability over time"),
    ("subgroups", "Subgroups"),
    ("limits", "Limits of the results"),
)


def model_card(facts: dict[str, Any]) -> Markup:
    """The section of the model card."""
    card = facts.get("card")
    if not card:
        return Markup("")
    rows = [(entry["title"], _stated(entry["text"])) for entry in card["stated"]]
    parts = [_table("Purpose and responsibility", rows)]
    for key, title in _PARTS:
        lines = [(line["title"], text(dated(line["text"]), 2000)) for line in card[key]]
        parts.append(_table(title, lines))
    sentences = [(title, _paragraphs(card[key])) for key, title in _SENTENCES]
    parts.append(_table("Where the results hold", sentences))
    return Markup(
        '<section id="card" aria-labelledby="h-card"><h2 id="h-card">Model card</h2>'
        f"{''.join(parts)}</section>"
    )


def _stated(paragraphs: list[str]) -> Markup:
    """What the user stated; marked if it is nothing."""
    if not paragraphs:
        return Markup(f'<em class="not-stated">{NOT_STATED}</em>')
    return _paragraphs(paragraphs)


def _paragraphs(words: list[str]) -> Markup:
    return Markup("".join(f"<p>{escape(one)}</p>" for one in words))


def _table(title: str, rows: list[tuple[str, Markup]]) -> Markup:
    body = "".join(
        f'<tr><th scope="row">{text(name, 120)}</th><td>{shown}</td></tr>' for name, shown in rows
    )
    caption = f"<caption><strong>{escape(title)}</strong></caption>"
    return Markup(f'<table class="facts card-table">{caption}<tbody>{body}</tbody></table>')
