"""The sections of the page on groups of rows: subgroups, and stability over time."""

from html import escape
from typing import Any

from auctor._text import p_words, signed, signless
from auctor.report.markup import Markup, paragraph, percent, table, text

# Columns of the table, with their titles.
_MEASURES = {
    "auc": "AUC",
    "calibration": "predicted − observed",
    "flagged": "flagged",
    "tpr": "sensitivity",
    "fpr": "false positive rate",
}
_WIDTH, _HEIGHT, _MARGIN = 104, 10, 5


def subgroups(facts: dict[str, Any]) -> Markup:
    """The section on subgroups; empty if there are none."""
    tables = facts.get("subgroups") or []
    if not tables:
        return Markup("")
    parts = [_intro(facts, tables[0])]
    for one in tables:
        parts.append(Markup(f"<h3>By {text(one['name'])}</h3>"))
        parts += [_groups(facts, one, f"Groups by {one['name']}"), _words(one), _tests(one)]
    return _section("subgroups", "Subgroups", parts)


def stability(facts: dict[str, Any]) -> Markup:
    """The section on periods of time; empty if there is no time."""
    periods = facts.get("periods")
    if not periods:
        return Markup("")
    intro = "The rows in the order of time. A model that ages has a falling AUC, or probabilities "
    intro += "that drift away from the observed fractions."
    if facts["data"]["n_folds"] is not None:
        intro += _pooled(facts)
    parts = [paragraph(intro), _groups(facts, periods, "Periods in the order of time", "period")]
    return _section("periods", "Stability over time", [*parts, _words(periods), _tests(periods)])


def _section(name: str, title: str, parts: list[Markup]) -> Markup:
    return Markup(
        f'<section id="{name}" aria-labelledby="h-{name}"><h2 id="h-{name}">{title}</h2>'
        f"{''.join(parts)}</section>"
    )


def _intro(facts: dict[str, Any], first: dict[str, Any]) -> Markup:
    words = (
        "The quality of the score in groups of rows. “Predicted − observed” is the mean predicted "
        "probability minus the observed fraction of positives: above 0, the probabilities are too "
        "high. Flagged fraction, sensitivity (true positive rate) and false positive rate are "
        "those at the threshold of the model. Measures "
        "with the note “few rows” are not compared: the sensitivity needs "
        f"{first['min_rows']:g} positive rows, the false positive rate as many negative rows, the "
        "AUC both, and calibration as many rows of any class."
    )
    return paragraph(words + _pooled(facts))


def _pooled(facts: dict[str, Any]) -> str:
    if facts["data"]["n_folds"] is None:
        return ""
    return " The scores are out-of-fold scores on the scale of the final model."


def _words(one: dict[str, Any]) -> Markup:
    """The verdicts as a list."""
    items = "".join(f"<li>{escape(sentence)}</li>" for sentence in one["sentences"])
    return Markup(f'<ul class="verdicts">{items}</ul>')


def _groups(facts: dict[str, Any], one: dict[str, Any], of: str, noun: str = "group") -> Markup:
    """The table of the groups, with a bar for each interval."""
    shown = [name for name in _MEASURES if one["overall"][name] is not None]
    rows = [*one["groups"], one["overall"]]
    # The intervals of small groups are wide; they may leave the axis.
    scales = {
        name: _scale([row[name] for row in rows if name not in row["too_small"]]) for name in shown
    }
    cells = []
    for row in rows:
        differs = one["differing"].get(row["name"], {})
        marks = [differs.get(name) for name in shown]
        estimates = [
            _estimate(row, one["overall"][name], name, scales[name], mark)
            for name, mark in zip(shown, marks, strict=True)
        ]
        cells.append([text(row["name"]), f"{row['n_rows']:,}", f"{row['n_pos']:,}", *estimates])
    caption = f"{of} ({100 * one['level']:g}% confidence intervals; the vertical line is all rows"
    caption += "; “differs”: from one of the others or more)" if one["compare"] == "pairs" else ")"
    left = one["n_groups"] - len(one["groups"])
    if left:
        caption += f"; the largest {len(one['groups'])}, {left:,} more are not listed"
    head = [noun, "rows", "positives", *(_MEASURES[name] for name in shown)]
    return Markup(f'<div class="groups">{table(caption, head, cells)}</div>')


Scale = tuple[float, float]


def _scale(estimates: list[dict[str, Any]]) -> Scale:
    """The ends of an axis on which all intervals of a column lie."""
    ends = [v for one in estimates for v in one.values() if v is not None]
    if not ends:
        return 0.0, 1.0
    low, high = min(ends), max(ends)
    return (low, high) if high > low else (low - 0.5, high + 0.5)


def _estimate(
    row: dict[str, Any], overall: dict[str, Any], name: str, scale: Scale, p_value: float | None
) -> Markup:
    """An estimate with its interval in words and as a bar, and whether it differs."""
    one = row[name]
    few = "<small>few rows</small>" if name in row["too_small"] else ""
    if one["value"] is None:
        return Markup(f"–{few}")
    value, ends = _words_of(one, name)
    if p_value is not None:
        value = f"<strong>{value}</strong>"
    note = "" if p_value is None else f"<small>differs, p {_p(p_value)}</small>"
    small = f"<small>{ends}</small>" if ends else ""
    return Markup(f"{value}{small}{_bar(one, overall, scale)}{note}{few}")


def _p(p_value: float) -> str:
    words = p_words(p_value)
    return escape(words if words.startswith("<") else f"= {words}")


def _words_of(one: dict[str, Any], name: str) -> tuple[str, str]:
    """An estimate, and the ends of its interval, which are empty if it has none."""
    value, low, high = one["value"], one["low"], one["high"]
    if name == "auc":
        return signless(value), "" if low is None else f"{signless(low)} to {signless(high)}"
    if name == "calibration":
        return signed(value), "" if low is None else f"{signed(low)} to {signed(high)}"
    return percent(value), "" if low is None else f"{100 * low:.1f} to {100 * high:.1f}"


def _bar(one: dict[str, Any], overall: dict[str, Any], scale: Scale) -> str:
    """The interval as a line, the estimate as a dot, and all rows as a dashed line."""

    def x(value: float) -> str:
        along = min(max((value - scale[0]) / (scale[1] - scale[0]), 0.0), 1.0)
        return f"{_MARGIN + along * (_WIDTH - 2 * _MARGIN):.1f}"

    middle = _HEIGHT / 2
    parts = []
    if overall["value"] is not None:
        at = x(overall["value"])
        parts.append(f'<line class="all-rows" x1="{at}" x2="{at}" y1="0" y2="{_HEIGHT}"/>')
    if one["low"] is not None:
        ends = f'x1="{x(one["low"])}" x2="{x(one["high"])}"'
        parts.append(f'<line class="whisker" {ends} y1="{middle:g}" y2="{middle:g}"/>')
    parts.append(f'<circle class="dot" cx="{x(one["value"])}" cy="{middle:g}" r="3"/>')
    size = f'width="{_WIDTH}" height="{_HEIGHT}" viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    return f'<svg {size} aria-hidden="true">{"".join(parts)}</svg>'


def _tests(one: dict[str, Any]) -> Markup:
    """All tests, under details."""
    if not one["tests"]:
        return Markup("")
    rows = [
        [
            test["group"],
            test["other"],
            _MEASURES[test["measure"]],
            signed(test["difference"]),
            f"{signed(test['low'])} to {signed(test['high'])}",
            p_words(test["p_value"]),
            p_words(test["p_adjusted"]),
        ]
        for test in one["tests"]
    ]
    caption = "Tests of differences, with Holm's correction for all of them"
    left = one["n_tests"] - len(rows)
    if left:
        caption += f"; {left:,} more are not listed"
    head = [
        "group",
        "against",
        "of",
        "difference",
        f"{100 * one['level']:g}% CI",
        "p",
        "adjusted p",
    ]
    listed = table(caption, head, rows)
    return Markup(f'<details class="tests"><summary>All tests</summary>{listed}</details>')


def groups_reading(facts: dict[str, Any]) -> Markup:
    """How to read the sections on groups; empty if the page has none."""
    if not facts.get("subgroups") and not facts.get("periods"):
        return Markup("")
    compared = "Each group is compared with all other groups together (two groups with each other)."
    if any(one["compare"] == "pairs" for one in facts.get("subgroups") or []):
        compared = "Every two subgroups are compared, and each period with all others together."
    return Markup(
        f"<dt>Subgroups and periods</dt><dd>{compared} Of many tests some would be significant by "
        "chance; Holm's correction keeps the probability of any false claim below that of a single "
        "test. A group that does not differ significantly may still differ: its intervals say by "
        "how much. The AUC of a group is about its own rows: thresholds and flagged fractions of "
        "groups with different fractions of positives differ even if the score is equally good in "
        "all.</dd>"
    )
