"""A scorecard as one HTML page that loads nothing and prints as a form on paper."""

import math
from base64 import b64encode
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from auctor._text import without_controls
from auctor.models.scorecard.axis import Axis
from auctor.models.scorecard.labels import decimal_text
from auctor.models.scorecard.points import CardTerm, PointsPerUnit, PointsTable

if TYPE_CHECKING:
    from auctor.models.scorecard.card import Scorecard

_LONGEST = 120  # characters of a name or category
_MOST_CATEGORIES = 30  # of a group that are listed
_N_SCALE = 40  # at most so many lines of points and probabilities, and 16 or more


def render(card: "Scorecard", title: str) -> str:
    """The page of a card."""
    style, script = (
        files("auctor.models.scorecard").joinpath(name).read_text(encoding="utf-8")
        for name in ("form.css", "form.js")
    )
    alone = [_term(card, k, term) for k, term in enumerate(card.terms) if len(term.features) == 1]
    pairs = [_term(card, k, term) for k, term in enumerate(card.terms) if len(term.features) == 2]
    heading = "<h2>Pairs of features</h2>" if pairs else ""
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_policy(script)}">'
        f"<title>{_text(title)}</title><style>\n{style}</style></head><body>"
        f"<h1>{_text(title)}</h1>{_head(card)}<form{_data(card)}>"
        f'<div class="features">{"".join(alone)}</div>{heading}{"".join(pairs)}'
        f'{_total(card)}<p class="screen"><button type="reset">Clear the form</button></p></form>'
        f"{_scale(card)}{_notes(card)}<script>\n{script}</script></body></html>\n"
    )


def _policy(script: str) -> str:
    """What the page may do: load nothing, run its own script alone."""
    digest = b64encode(sha256(f"\n{script}".encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"


def _text(value: object, longest: int = _LONGEST) -> str:
    """Text of others as HTML, without control characters and not too long."""
    whole = without_controls(str(value).encode("utf-8", "replace").decode("utf-8"))
    return escape(whole if len(whole) <= longest else f"{whole[: longest - 1]}…")


def _data(card: "Scorecard") -> str:
    """What the script needs to know, as attributes of the form."""
    scale = card.scale
    values = {
        "digits": "" if card.digits is None else card.digits,
        "base": repr(card.base_points),
        "sign": scale.sign,
        "factor": repr(scale.factor),
        "start": repr(scale.base_score),
        "log-odds": repr(math.log(scale.odds)),
    }
    return "".join(f' data-{name}="{value}"' for name, value in values.items())


def _head(card: "Scorecard") -> str:
    more = "lower" if card.scale.direction == "lower_risk" else "higher"
    blanks = "".join(f"<span>{name}</span>" for name in ("Name", "Reference", "Date"))
    return (
        '<p class="quiet">Tick one line for each feature, write its points into the box, and add '
        f"them to the base points. More points mean a {more} probability of "
        f'“{_text(card.classes[1])}”.{_example(card)}</p><div class="filled">{blanks}</div>'
    )


def _example(card: "Scorecard") -> str:
    """How to read an interval, by the first of the card; empty if there is none."""
    axes = (axis for t in card.terms if isinstance(t, PointsTable) for axis in t.axes)
    texts = (text for axis in axes if not axis.feature.is_category for text in axis.texts())
    first = next((text for text in texts if text[0] in "[("), None)
    if first is None:
        return ""
    low, high = first[1:-1].split(", ")
    ends = f"from {low} to below {high}" if first[0] == "[" else f"above {low} up to {high}"
    return f" “{first}” means {ends}."


def _term(card: "Scorecard", k: int, term: CardTerm) -> str:
    if isinstance(term, PointsPerUnit):
        return _per_unit(card, k, term)
    return _one_way(card, k, term) if len(term.axes) == 1 else _two_way(card, k, term)


def _one_way(card: "Scorecard", k: int, term: PointsTable) -> str:
    texts = _bin_texts(term.axes[0])
    order = [*range(1, len(texts)), 0]  # missing values last
    rows = "".join(_bin(card, f"t{k}", i, texts[i], float(term.points[i])) for i in order)
    return _table(term.name, rows, "")


def _bin_texts(axis: Axis) -> list[str]:
    """The bins as people write them."""
    texts = axis.texts(most=_MOST_CATEGORIES)
    if axis.feature.is_category:
        return texts
    return [text.replace("<= ", "≤ ").replace(">= ", "≥ ") for text in texts]


def _bin(card: "Scorecard", term: str, i: int, text: str, points: float) -> str:
    """A line to tick; its number tells it apart from a category that is called as another bin."""
    shown, label = card.text(points), _text(text, 400)
    return (
        f'<tr class="bin"><td><label for="{term}b{i}">{label}</label></td>'
        f'<td class="points">{shown}</td><td class="tick"><input type="radio" name="{term}" '
        f'id="{term}b{i}" value="{points!r}"></td></tr>'
    )


def _table(name: str, rows: str, attributes: str) -> str:
    return (
        f'<div class="feature" data-term="1"{attributes}><table><caption>{_text(name)}</caption>'
        '<thead><tr><th scope="col">value</th><th scope="col" class="points">points</th>'
        '<th scope="col" class="tick">tick</th></tr></thead>'
        f'<tbody>{rows}</tbody><tfoot><tr><th scope="row">points of {_text(name, 40)}</th>'
        f'<td colspan="2">{_box()}</td></tr></tfoot></table></div>'
    )


def _box() -> str:
    """A box to write points into; on the screen the script fills it in."""
    return '<span class="write"><output></output></span>'


def _per_unit(card: "Scorecard", k: int, term: PointsPerUnit) -> str:
    per_unit = decimal_text(term.per_unit)
    rounded = "" if card.digits is None else ", rounded"
    name = _text(term.name)
    field = (
        f'<tr><td>value × {per_unit}{rounded}</td><td class="points"></td><td class="tick">'
        f'<input class="screen" type="number" step="any" aria-label="value of {name}"></td></tr>'
    )
    rows = field + _bin(card, f"t{k}", 0, "missing", term.missing)
    return _table(term.name, rows, f' data-per-unit="{term.per_unit!r}"')


def _two_way(card: "Scorecard", k: int, term: PointsTable) -> str:
    first, second = map(_bin_texts, term.axes)
    order, across = [*range(1, len(first)), 0], [*range(1, len(second)), 0]
    names = [_text(axis.name, 60) for axis in term.axes]
    top = "".join(f'<th scope="col">{_text(second[j], 80)}</th>' for j in across)
    rows = "".join(
        f'<tr><th scope="row">{_text(first[i], 80)}</th>'
        + "".join(_cell(card, k, float(term.points[i, j])) for j in across)
        + "</tr>"
        for i in order
    )
    return (
        f'<div class="pair" data-term="1"><table><caption>{_text(term.name)}</caption>'
        f'<thead><tr><th scope="col">{names[0]} ↓ &nbsp; {names[1]} →</th>{top}</tr></thead>'
        f'<tbody>{rows}</tbody></table><p class="quiet">points of {_text(term.name, 80)} '
        f"{_box()}</p></div>"
    )


def _cell(card: "Scorecard", k: int, points: float) -> str:
    tick = f'<input type="radio" name="t{k}" value="{points!r}">'
    return f"<td><label>{card.text(points)} {tick}</label></td>"


def _total(card: "Scorecard") -> str:
    positive = _text(card.classes[1], 40)
    return (
        '<div class="total"><table>'
        f'<tr><th scope="row">base points</th><td>{card.text(card.base_points)}</td></tr>'
        '<tr><th scope="row">+ points of all features</th><td><span class="write">'
        '<output id="sum"></output></span></td></tr>'
        '<tr><th scope="row">= total points</th><td><span class="write"><output id="total">'
        "</output></span></td></tr></table>"
        '<p class="quiet screen" id="left" role="status"></p>'
        f'<p class="quiet">Probability of “{positive}” by the table below: '
        '<span class="write"><output id="probability"></output></span></p></div>'
    )


def _scale(card: "Scorecard") -> str:
    """The table from points to probabilities."""
    points = scale_points(card)
    probabilities = card.probability(points).tolist()
    size = -(-len(points) // 4)
    parts = []
    for start in range(0, len(points), size):
        block = zip(points[start : start + size], probabilities[start : start + size], strict=True)
        rows = "".join(f"<tr><td>{own:g}</td><td>{_percent(p)}</td></tr>" for own, p in block)
        parts.append(
            '<table><thead><tr><th scope="col">points</th><th scope="col">probability</th></tr>'
            f"</thead><tbody>{rows}</tbody></table>"
        )
    positive = _text(card.classes[1], 60)
    return f'<h2>Probability of “{positive}”</h2><div class="scale">{"".join(parts)}</div>'


def scale_points(card: "Scorecard") -> list[float]:
    """Round numbers of points over the range that rows can have."""
    low, high = card.range
    if not math.isfinite(high - low):
        low, high = (card.scale.base_score + side * 4 * card.scale.pdo for side in (-1, 1))
    step = 10.0 ** math.floor(math.log10(max(high - low, 1e-9) / _N_SCALE))
    step = next(step * k for k in (1, 2, 5, 10) if (high - low) / (step * k) <= _N_SCALE)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [float(np.round(k * step, 12)) for k in range(first, last + 1)] or [low]


def _percent(probability: float) -> str:
    """A probability in percent with two or three digits."""
    percent = 100 * probability
    if percent < 0.01 or percent > 99.99:
        return "&lt; 0.01%" if percent < 50 else "&gt; 99.99%"
    return f"{percent:.2f}%" if percent < 10 or percent > 90 else f"{percent:.1f}%"


def _notes(card: "Scorecard") -> str:
    scale = card.scale
    other = card.classes[0 if scale.direction == "lower_risk" else 1]
    notes = [
        f"{scale.pdo:g} points double the odds of “{other}”; {scale.base_score:g} points stand for "
        f"odds of {scale.odds:g} to 1.",
        f"{card.quality}." if card.quality is not None and str(card.quality) else "",
        f"SHA-256 of the model file: {card.model_sha256}" if card.model_sha256 else "",
    ]
    shown = "".join(f'<p class="quiet">{_text(note, 1000)}</p>' for note in notes if note)
    return f"<h2>About this card</h2>{shown}"
