"""The parts of the page that stand without JavaScript: sentences and tables."""

from html import escape
from typing import Any

from auctor._text import count
from auctor.report.markup import (
    Markup,
    interval,
    number,
    paragraph,
    percent,
    shortened,
    table,
    text,
    threshold,
)
from auctor.report.plain import LONGEST_SENTENCE, clean

# Longer lists are left to the script, which can search them.
MOST_LISTED = 200
_LONGEST_NOTE = 400
_PLACED = ("title", "notes", "certificate", "pooling")


def heading(facts: dict[str, Any]) -> str:
    """The title of the page."""
    about = facts["about"]
    if about.get("title"):
        return str(about["title"])
    model = about.get("learner") or f"a {facts['shape']['form']} model"
    target = about.get("target") or facts["data"]["positive"]
    return f"{model} for “{target}”"


def subtitle(facts: dict[str, Any]) -> Markup:
    """Which table, when, how many rows."""
    about, data = facts["about"], facts["data"]
    parts = [str(about[key]) for key in ("table", "made") if about.get(key)]
    parts.append(f"{data['n_rows']:,} rows")
    return paragraph(" · ".join(parts), "subtitle")


def headline(facts: dict[str, Any]) -> Markup:
    """The sentence, the tiles, the certificate, and what else must be said."""
    top, data, about = facts["headline"], facts["data"], facts["about"]
    # More pairs where 100 would round to all of them.
    pairs = 100 if 0.01 < top["auc"] < 0.99 else 10_000
    in_order = (
        f"Of {pairs:,} pairs of a row that is “{shortened(data['positive'])}” and one that is "
        f"“{shortened(data['negative'])}”, the model puts about {pairs * top['auc']:,.0f} in the "
        "right order."
    )
    parts = [paragraph(in_order, "lead"), paragraph(_sentence(top["sentence"])), _tiles(facts)]
    if facts.get("judged"):
        parts.insert(0, paragraph(_trained_for(facts), "lead"))
    parts.append(paragraph(_who_scored(data)))
    if about.get("certificate"):
        parts.append(
            paragraph(f"Certificate of the training: {about['certificate']}", "certificate")
        )
    notes = about.get("notes") or []
    notes = [notes] if isinstance(notes, str) else notes
    parts += [
        Markup(f'<p class="note">{text(_sentence(note), _LONGEST_NOTE)}</p>') for note in notes
    ]
    return Markup("\n".join(parts))


def _trained_for(facts: dict[str, Any]) -> str:
    """The metric of the loss in a sentence."""
    found = facts["judged"]
    metric = f"{found['name']} {found['where']}".strip()
    ends = interval(found["low"], found["high"])
    return (
        f"The model was trained for the {metric}, which is {number(found['value'])} "
        f"({100 * facts['level']:g}% CI {ends})."
    )


def _sentence(words: str) -> str:
    """With a capital letter and a full stop."""
    end = "" if words.endswith((".", "!", "?")) else "."
    return f"{words[:1].upper()}{words[1:]}{end}"


def _who_scored(data: dict[str, Any]) -> str:
    """Whether the numbers are those of rows that the model has not seen."""
    if data["is_out_of_fold"]:
        folds = "" if data["n_folds"] is None else f" ({count(data['n_folds'], 'fold')})"
        return (
            f"Every row was scored by a model that was fitted without it{folds}, so that the "
            "numbers are those of rows not seen in training."
        )
    return (
        "The model itself scored these rows. If it was fitted to them, the numbers are too good; "
        "if it has not seen them, they are what to expect of new rows like these."
    )


def _ks_note(facts: dict[str, Any]) -> str:
    apart = facts["separation"]
    where = f"at threshold {threshold(apart['ks_threshold'])}"
    if facts["data"]["n_folds"]:
        where = "bias-corrected, ranks within folds"
    if apart["ks_low"] is None:
        return where
    ends = interval(apart["ks_low"], apart["ks_high"])
    return f"{100 * facts['level']:g}% CI {ends}, {where}"


def _tiles(facts: dict[str, Any]) -> str:
    top, data, apart = facts["headline"], facts["data"], facts["separation"]
    level = f"{100 * facts['level']:g}%"
    share = data["weight_pos"] / (data["weight_pos"] + data["weight_neg"])
    weighted = ", by weight" if data["is_weighted"] else ""
    tiles = [
        *_judged_tile(facts),
        ("AUC", number(top["auc"]), f"{level} CI {interval(top['low'], top['high'])}"),
        ("KS", number(apart["ks"]), _ks_note(facts)),
        ("Gini", number(2 * top["auc"] - 1), "twice the AUC less 1"),
        ("Positive", percent(share), f"{data['n_pos']:,} of {data['n_rows']:,} rows{weighted}"),
    ]
    if (facts.get("judged") or {}).get("name") == "KS":
        tiles.insert(0, tiles.pop(1))
    cells = "".join(
        f"<div><dt>{name}</dt><dd>{escape(value)}<small>{escape(note)}</small></dd></div>"
        for name, value, note in tiles
    )
    return f'<dl class="tiles">{cells}</dl>'


def _judged_tile(facts: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What the model was trained for stands first, unless it has a tile of its own."""
    found = facts.get("judged")
    if found is None or found["name"] == "KS":
        return []
    ends = interval(found["low"], found["high"])
    note = f"{found['where']}, {100 * facts['level']:g}% CI {ends}"
    return [(_sentence(found["name"]).rstrip("."), number(found["value"]), note)]


def pooled_note(facts: dict[str, Any]) -> str:
    """Why the area under the drawn curve may not be the headline's."""
    if facts["headline"]["folds"] is None:
        return ""
    return (
        " The curve pools the folds, whose scores come from different models: its own area is "
        f"{facts['headline']['curve_auc']:.3f}. {facts['about'].get('pooling') or ''}"
    ).rstrip()


def threshold_table(facts: dict[str, Any]) -> Markup:
    """What flagging a share of the rows does."""
    found = facts["thresholds"]
    caption = f"Thresholds by the share of rows flagged ({100 * facts['level']:g}% intervals: "
    head = ["at most", "threshold", "flagged", "sensitivity", "specificity", "PPV", "lift"]
    lines = [
        [
            percent(row["share"], 0),
            threshold(row["threshold"]),
            number(row["flagged"], 0 if float(row["flagged"]).is_integer() else 1),
            _rate(row["tpr"]),
            _rate([None if v is None else 1 - v for v in row["fpr"]], turned=True),
            _rate(row["precision"]),
            number(row["lift"], 2),
        ]
        for row in found["rows"]
    ]
    return table(f"{caption}{found['method']})", head, lines, "threshold-table")


def _rate(values: list[float | None], turned: bool = False) -> str:
    """A rate with its interval, in percent."""
    value, low, high = values
    if turned:
        low, high = high, low
    if value is None:
        return "–"
    if low is None or high is None:
        return percent(value)
    return f"{100 * value:.1f}% ({100 * low:.1f}–{100 * high:.1f})"


def comparison(facts: dict[str, Any]) -> Markup:
    """A section of its own where there is another model to compare with."""
    found = facts["comparison"]
    if not found:
        return Markup("")
    head = ["compared with", "metric", "its value", "value here", "difference (here - its)"]
    head += [f"{100 * facts['level']:g}% interval", "p"]
    lines = []
    for one in found:
        metric = f"{one['metric']} {one['where']}".strip()
        lines.append(_difference_cells(one["name"], metric, one))
        if one["metric"] != "AUC":
            lines.append(_difference_cells(one["name"], "AUC", one["in_auc"]))
    words = "".join(paragraph(_verdict(one)) for one in found)
    listed = table(f"Paired comparison on the same rows ({found[0]['method']})", head, lines)
    return Markup(
        '<section id="comparison" aria-labelledby="h-comparison">'
        f'<h2 id="h-comparison">Beside the baseline</h2>{words}{listed}</section>'
    )


def _difference_cells(name: str, metric: str, one: dict[str, Any]) -> list[str]:
    return [
        name,
        metric,
        number(one["value"]),
        number(one["own_value"]),
        f"{one['difference']:+.3f}",
        interval(one["low"], one["high"]),
        "–" if one["p_value"] is None else f"{one['p_value']:.2g}",
    ]


def _verdict(one: dict[str, Any]) -> str:
    """The comparison in words that do not say more than the interval does."""
    low, high, name = one["low"], one["high"], one["name"]
    metric = f"{one['metric']} {one['where']}".strip()
    if low is not None and low > 0:
        return f"By {metric} the model is better than {name}: the whole interval is above 0."
    if high is not None and high < 0:
        return f"By {metric} {name} is better than the model: the whole interval is below 0."
    return (
        f"By {metric} these rows do not show a difference between the model and {name}: the "
        "interval of the difference contains 0."
    )


def calibration_table(facts: dict[str, Any]) -> Markup:
    """The numbers of the calibration drawing."""
    found = facts["calibration"]
    columns = ("mean_probability", "observed", "low", "high", "count")
    lines = [
        [percent(p), percent(o), f"{percent(low)} to {percent(high)}", number(n, 0)]
        for p, o, low, high, n in zip(*(found[name] for name in columns), strict=True)
    ]
    caption = (
        f"Calibration (Brier score {found['brier']:.4f}, mean distance "
        f"{found['expected_error']:.4f})"
    )
    listed = table(caption, ["predicted", "observed", "interval", "rows"], lines)
    return Markup(f"<details><summary>Calibration in numbers</summary>{listed}</details>")


def features_intro(facts: dict[str, Any]) -> Markup:
    """What the list of features shows."""
    found = facts["features"]
    if found["kind"] != "additive":
        return paragraph(f"In the order of: {found['order']}.")
    zero = found.get("reference") or "the average of these rows, both classes alike"
    words = (
        "The score is a sum with one part for each feature. A plot shows how far each value of a "
        f"feature raises or lowers the score, compared with {zero}; the strip below shows where "
        "the rows are, the positive ones above the line. The features are in the order of their "
        "score AUC: how well the part of one feature ranks the rows by itself."
    )
    if facts["data"]["is_out_of_fold"]:
        words += " These parts are of the model fitted to all rows, on those same rows."
    return paragraph(words)


def feature_table(facts: dict[str, Any]) -> Markup:
    """The first features; the script finds the others."""
    rows = facts["features"]["rows"]
    lines = [feature_cells(facts, row) for row in rows[:MOST_LISTED]]
    total = f"All {len(rows)} features" if len(rows) > 1 else "The feature"
    caption = total
    if len(rows) > MOST_LISTED:
        caption = f"{len(rows)} features, the first {MOST_LISTED} listed; search finds the others"
    return table(caption, feature_head(facts), lines, "feature-table")


def feature_head(facts: dict[str, Any]) -> list[str]:
    """The columns of the list of features."""
    if facts["features"]["kind"] == "additive":
        return ["feature", "score AUC", "interval", "range in the score", "missing"]
    return ["feature", "kind", "importance", "missing"]


def feature_cells(facts: dict[str, Any], row: dict[str, Any]) -> list[Any]:
    """One feature of the list."""
    missing = "–" if row["missing"] is None else f"{row['missing']:,}"
    if facts["features"]["kind"] != "additive":
        return [row["name"], row["kind"], number(row["importance"]), missing]
    if row["range"] == 0:
        return [row["name"], "not used", "–", "0", missing]
    ends = interval(row["low"], row["high"])
    return [row["name"], number(row["auc"]), ends, f"{row['range']:.3g}", missing]


def terms_table(facts: dict[str, Any]) -> Markup:
    """The coefficients of a linear model."""
    found = facts["shape"]["terms"]
    if found is None:
        return Markup("")
    lines = [[term["name"], _coefficient(term), f"{term['missing']:+.4g}"] for term in found]
    head = ["column", "adds to the score", "where missing"]
    return table("Coefficients, the largest first", head, lines)


def _coefficient(term: dict[str, Any]) -> str:
    if term["kind"] == "number":
        return f"{term['weight']:+.4g} × value"
    if term["low"] is None:
        return "nothing"
    return f"{term['low']:+.4g} to {term['high']:+.4g}, by category"


def facts_table(facts: dict[str, Any]) -> Markup:
    """What was trained on what, as two columns."""
    data, about = facts["data"], facts["about"]
    missing = [row["missing"] for row in facts["features"]["rows"] if row["missing"] is not None]
    rows: list[tuple[str, Any]] = [
        (key.replace("_", " "), about[key]) for key in about if key not in _PLACED
    ]
    rows += [
        ("rows", f"{data['n_rows']:,}"),
        (f"positive ({data['positive']})", f"{data['n_pos']:,}"),
        (f"negative ({data['negative']})", f"{data['n_neg']:,}"),
        ("columns used", f"{data['n_features']:,}"),
        ("missing values", f"{sum(missing):,} in {count(sum(n > 0 for n in missing), 'column')}"),
        ("form of the model", facts["shape"]["form"]),
        ("score above which the model predicts positive", f"{data['model_threshold']:g}"),
        ("auctor", facts["version"]),
    ]
    if data["is_weighted"]:
        total = data["weight_pos"] + data["weight_neg"]
        rows.append(
            ("total weight", f"{total:,.6g} ({data['n_absent']:,} rows of weight 0 left out)")
        )
    if data["n_groups"] is not None:
        rows.append(("groups", f"{data['n_groups']:,}"))
    lines = "".join(_fact(name, value) for name, value in rows)
    return Markup(f'<table class="facts"><caption>Facts</caption><tbody>{lines}</tbody></table>')


def _fact(name: str, value: Any) -> str:
    if isinstance(value, dict):
        value = ", ".join(f"{key}={item}" for key, item in value.items())
    elif isinstance(value, list):
        value = ", ".join(map(str, value))
    shown = text(clean(value, LONGEST_SENTENCE), 600)
    return f'<tr><th scope="row">{text(name)}</th><td>{shown}</td></tr>'
