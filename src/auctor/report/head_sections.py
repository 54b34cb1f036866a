"""The head of the page: its title, what it is a document of, the main result and the notes."""

import re
from html import escape
from typing import Any

from auctor._text import count, file_name
from auctor.report.markup import (
    Markup,
    dated,
    interval,
    number,
    paragraph,
    percent,
    shortened,
    text,
    threshold,
)
from auctor.report.plain import sentence

_LONGEST_NOTE = 400


def heading(facts: dict[str, Any]) -> str:
    """The title of the page: the given one, or what the model is and what it was fitted to."""
    about = facts["about"]
    if about.get("title"):
        return str(about["title"])
    model = about.get("learner") or f"{facts['shape']['form'].capitalize()} model"
    name = facts["data"]["positive"] if facts["data"]["has_name"] else about.get("target")
    of = f" ({file_name(str(about['table']))})" if about.get("table") else ""
    return f"{model} for “{name or facts['data']['positive']}”{of}"


def class_words(facts: dict[str, Any], which: str) -> str:
    """The positive or the negative class in words, with the name of the target if it is known."""
    label, target = f"“{shortened(facts['data'][which])}”", facts["about"].get("target")
    if facts["data"]["has_name"] or not target:
        return label
    return f"{shortened(str(target))} = {label}"


def document(facts: dict[str, Any]) -> Markup:
    """Date, author, version, model and rows, as a list of terms."""
    about = facts["about"]
    hashed = about.get("model_hash")
    model = " ".join(
        [
            *([str(about["model"])] if about.get("model") else []),
            *([f"(SHA-256 {str(hashed)[:16]}…)"] if hashed else []),
        ]
    )
    entries = [
        ("Date", about.get("made")),
        ("Author", about.get("author")),
        ("Trained on", about.get("trained_on")),
        ("Evaluated on", about.get("evaluated_on") or _rows_words(facts)),
        ("Positive class", _positive_words(facts)),
        ("Model", model),
        ("Software", f"auctor {facts['version']}"),
    ]
    cells = "".join(
        f"<div><dt>{name}</dt><dd>{text(dated(value), 300)}</dd></div>"
        for name, value in entries
        if value
    )
    title = f' title="{escape(str(hashed))}"' if hashed else ""
    return Markup(f'<dl class="document"{title}>{cells}</dl>')


def _rows_words(facts: dict[str, Any]) -> str:
    of = f"{facts['about']['table']}, " if facts["about"].get("table") else ""
    return f"{of}{facts['data']['n_rows']:,} rows"


def _positive_words(facts: dict[str, Any]) -> str:
    data, target = facts["data"], facts["about"].get("target")
    label = f"“{shortened(data['positive_label'])}”"
    rule = f"{shortened(str(target))} = {label}" if target else label
    return f"{shortened(data['positive'])} ({rule})" if data["has_name"] else rule


def headline(facts: dict[str, Any]) -> Markup:
    """The main result in the metric of training, the tiles, the guarantee and the notes."""
    top, data = facts["headline"], facts["data"]
    in_order = paragraph(_in_order(facts), "" if facts.get("judged") else "lead")
    parts = [in_order, paragraph(sentence(top["sentence"])), _tiles(facts)]
    if facts.get("judged"):
        parts.insert(0, paragraph(_trained_for(facts), "lead"))
    parts.append(paragraph(_which_scores(data)))
    parts.append(_guarantee(facts))
    notes = facts["about"].get("notes") or []
    notes = [notes] if isinstance(notes, str) else notes
    parts += [Markup(f'<p class="note">{_with_options(sentence(note))}</p>') for note in notes]
    return Markup("\n".join(parts))


def _with_options(note: str) -> str:
    """A note as HTML in which an option such as --missing is not broken after its hyphens."""
    html = text(note, _LONGEST_NOTE)
    if len(note) > _LONGEST_NOTE:  # shortened, with the whole note as a title
        return html
    return re.sub(r"--[a-z][\w-]*", r'<span class="option">\g<0></span>', html)


def _in_order(facts: dict[str, Any]) -> str:
    """The AUC as a number of pairs."""
    area = facts["headline"]["auc"]
    # With an AUC near 1, a count out of 100 pairs would round to 100.
    pairs = 100 if 0.01 < area < 0.99 else 10_000
    return (
        f"In about {pairs * area:,.0f} of {pairs:,} pairs of a row with "
        f"{class_words(facts, 'positive')} and a row with {class_words(facts, 'negative')}, the "
        "first has the higher score."
    )


def _guarantee(facts: dict[str, Any]) -> Markup:
    """What training guarantees in a sentence, and the certificate under details."""
    certificate = facts["about"].get("certificate")
    words = paragraph(facts["guarantee"], "certificate") if facts.get("guarantee") else ""
    if not certificate:
        return Markup(words)
    return Markup(
        f"{words}<details><summary>Training certificate</summary>"
        f"{paragraph(str(certificate))}</details>"
    )


def _trained_for(facts: dict[str, Any]) -> str:
    """The metric that the model was trained for, in a sentence."""
    judged = facts["judged"]
    metric = f"{judged['name']} {judged['where']}".strip()
    ends = interval(judged["low"], judged["high"])
    return (
        f"The model was trained for the {metric}, which is {number(judged['value'])} "
        f"({100 * facts['level']:g}% CI {ends})."
    )


def _which_scores(data: dict[str, Any]) -> str:
    """Whether the rows were scored by models that had not seen them."""
    if data["is_out_of_fold"]:
        folds = "" if data["n_folds"] is None else f" ({count(data['n_folds'], 'fold')})"
        return (
            f"These results are cross-validated{folds}: every row was scored by a model that was "
            "fitted without it."
        )
    return (
        "The model scored these rows. If it was fitted to them, the results are too optimistic; if "
        "not, new rows like these will give similar results."
    )


def _ks_note(facts: dict[str, Any]) -> str:
    apart = facts["separation"]
    where = f"at threshold {threshold(apart['ks_threshold'])}"
    if facts["data"]["n_folds"]:
        where = "corrected for bias, within folds"
    if apart["ks_low"] is None:
        return where
    ends = interval(apart["ks_low"], apart["ks_high"])
    return f"{100 * facts['level']:g}% CI {ends}, {where}"


def _tiles(facts: dict[str, Any]) -> str:
    top, data, apart = facts["headline"], facts["data"], facts["separation"]
    level = f"{100 * facts['level']:g}%"
    fraction = data["weight_pos"] / (data["weight_pos"] + data["weight_neg"])
    weighted = ", weighted" if data["is_weighted"] else ""
    tiles = [
        *_judged_tile(facts),
        ("AUC", number(top["auc"]), f"{level} CI {interval(top['low'], top['high'])}"),
        ("KS", number(apart["ks"]), _ks_note(facts)),
        ("Gini", number(2 * top["auc"] - 1), "2 × AUC − 1"),
        ("Positives", percent(fraction), f"{data['n_pos']:,} of {data['n_rows']:,} rows{weighted}"),
    ]
    if (facts.get("judged") or {}).get("name") == "KS":
        tiles.insert(0, tiles.pop(1))
    cells = "".join(
        f"<div><dt>{name}</dt><dd>{escape(value)}<small>{escape(note)}</small></dd></div>"
        for name, value, note in tiles
    )
    return f'<dl class="tiles">{cells}</dl>'


def _judged_tile(facts: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The metric that the model was trained for, unless it is KS, which has a tile anyway."""
    judged = facts.get("judged")
    if judged is None or judged["name"] == "KS":
        return []
    ends = interval(judged["low"], judged["high"])
    note = f"{judged['where']}, {100 * facts['level']:g}% CI {ends}"
    return [(sentence(judged["name"]).rstrip("."), number(judged["value"]), note)]
