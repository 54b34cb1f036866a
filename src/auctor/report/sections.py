"""The parts of the page that need no JavaScript: sentences and tables."""

from typing import Any

from auctor._text import count, p_words, signed
from auctor.models.importance import WORDS
from auctor.report.markup import (
    Markup,
    interval,
    number,
    paragraph,
    percent,
    table,
    text,
    threshold,
)
from auctor.report.plain import LONGEST_SENTENCE, clean
from auctor.report.tree_sections import TREE_HEAD, tree_cells, tree_intro

# Features in the table; the script searches all of them.
MOST_LISTED = 200
# Entries of "about" that are shown elsewhere than in the table of data and settings.
_PLACED = (
    "title",
    "author",
    "made",
    "trained_on",
    "evaluated_on",
    "positive_name",
    "notes",
    "certificate",
    "pooling",
)


def pooled_note(facts: dict[str, Any]) -> str:
    """Why the area under the drawn curve may differ from the AUC of the summary."""
    if facts["headline"]["folds"] is None:
        return ""
    return (
        " The curve pools the folds, whose scores come from different models; the area under it "
        f"is {facts['headline']['curve_auc']:.3f}. {facts['about'].get('pooling') or ''}"
    ).rstrip()


def pooled_ks_note(facts: dict[str, Any]) -> str:
    """Why the KS of the chart may differ from that of the summary."""
    if facts["data"]["n_folds"] is None:
        return ""
    return (
        " The number is the KS of the summary, within folds and corrected for bias; the drawn gap "
        "is that of all folds pooled, where the best threshold looks a little better than it is."
    )


def threshold_table(facts: dict[str, Any]) -> Markup:
    """The results of flagging a fraction of the rows."""
    thresholds = facts["thresholds"]
    caption = (
        f"Thresholds by the fraction of rows that may be flagged ({100 * facts['level']:g}% "
        f"confidence intervals: {thresholds['method']})"
    )
    flagged = "flagged (weight)" if facts["data"]["is_weighted"] else "flagged"
    head = ["flag at most", "threshold", flagged, "sensitivity", "specificity", "PPV", "lift"]
    rows = [
        [
            percent(row["fraction"], 0),
            threshold(row["threshold"]),
            number(row["flagged"], 0 if float(row["flagged"]).is_integer() else 1),
            _rate(row["tpr"]),
            _rate([None if v is None else 1 - v for v in row["fpr"]], turned=True),
            _rate(row["precision"]),
            number(row["lift"], 2),
        ]
        for row in thresholds["rows"]
    ]
    return table(caption, head, rows, "threshold-table")


def band_table(facts: dict[str, Any]) -> Markup:
    """Groups of rows by score, with the rate of positives in each."""
    rows = [
        [
            str(k),
            f"{threshold(band['low'])} to {threshold(band['high'])}",
            number(band["rows"], 0),
            number(band["positives"], 0),
            _rate(band["rate"]),
            percent(band["predicted"]),
            percent(band["captured"]),
        ]
        for k, band in enumerate(facts["bands"], start=1)
    ]
    of = " (weight)" if facts["data"]["is_weighted"] else ""
    head = ["band", "scores", f"rows{of}", f"positives{of}", "rate of positives", "predicted rate"]
    head.append("cumulative positives")
    caption = "Score bands of a tenth of the rows each, the highest scores first"
    if any(band["rate"][1] is not None for band in facts["bands"]):
        caption += f" ({100 * facts['level']:g}% confidence intervals: Clopper-Pearson)"
    return table(caption, head, rows, "band-table")


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
    """The comparison with other models; empty if there are none."""
    compared = facts["comparison"]
    if not compared:
        return Markup("")
    head = ["baseline", "metric", "baseline value", "this model"]
    head += ["difference (this model - baseline)", f"{100 * facts['level']:g}% CI", "p"]
    rows = []
    for one in compared:
        metric = f"{one['metric']} {one['where']}".strip()
        rows.append(_difference_cells(one["name"], metric, one))
        if one["metric"] != "AUC":
            rows.append(_difference_cells(one["name"], "AUC", one["in_auc"]))
    words = "".join(paragraph(_verdict(one)) for one in compared)
    listed = table(f"Paired comparison on the same rows ({compared[0]['method']})", head, rows)
    return Markup(
        '<section id="comparison" aria-labelledby="h-comparison">'
        f'<h2 id="h-comparison">Comparison with the baseline</h2>{words}{listed}</section>'
    )


def _difference_cells(name: str, metric: str, one: dict[str, Any]) -> list[str]:
    return [
        name,
        metric,
        number(one["value"]),
        number(one["own_value"]),
        signed(one["difference"]),
        interval(one["low"], one["high"]),
        "–" if one["p_value"] is None else p_words(one["p_value"]),
    ]


def _verdict(one: dict[str, Any]) -> str:
    """The comparison in a sentence that claims no more than the interval shows."""
    low, high, name = one["low"], one["high"], one["name"]
    metric = f"{one['metric']} {one['where']}".strip()
    if low is not None and low > 0:
        return f"The model has a higher {metric} than {name}: the interval is entirely above 0."
    if high is not None and high < 0:
        return f"The model has a lower {metric} than {name}: the interval is entirely below 0."
    return (
        f"These rows do not show a difference in {metric} between the model and {name}: the "
        "confidence interval of the difference contains 0."
    )


def calibration_table(facts: dict[str, Any]) -> Markup:
    """The numbers of the calibration chart."""
    calibration = facts["calibration"]
    columns = ("mean_probability", "observed", "low", "high", "count")
    rows = [
        [percent(p), percent(o), f"{percent(low)} to {percent(high)}", number(n, 0)]
        for p, o, low, high, n in zip(*(calibration[name] for name in columns), strict=True)
    ]
    verdict = paragraph(calibration["verdict"])
    caption = (
        f"Calibration (Brier score {calibration['brier']:.4f}, expected calibration error "
        f"{calibration['expected_error']:.4f})"
    )
    listed = table(
        caption, ["predicted", "observed", f"{100 * facts['level']:g}% CI", "rows"], rows
    )
    return Markup(
        f'<div id="verdict">{verdict}</div>'
        f"<details><summary>Calibration table</summary>{listed}</details>"
    )


def features_intro(facts: dict[str, Any]) -> Markup:
    """What the feature plots and the table show."""
    features = facts["features"]
    if features["kind"] == "trees":
        return tree_intro(facts)
    if features["kind"] != "additive":
        return paragraph(f"Sorted by {features['order']}.")
    zero = features.get("reference") or "the class-balanced average of these rows"
    words = (
        "The score is a sum of contributions, one for each feature. A plot shows how much each "
        f"value of a feature raises or lowers the score, compared with {zero}. The histogram below "
        "it shows the values of the positive rows (upwards) and of the negative rows (downwards). "
        f"Features are sorted by importance: {WORDS}. The score AUC is the AUC of the feature's "
        "contribution alone."
    )
    if facts["data"]["is_out_of_fold"]:
        words += (
            " Unlike the results above, the score AUCs are not cross-validated: they belong to the "
            "model fitted to all rows."
        )
    return paragraph(words)


def feature_table(facts: dict[str, Any]) -> Markup:
    """The table of the first features."""
    rows = facts["features"]["rows"]
    cells = [feature_cells(facts, row) for row in rows[:MOST_LISTED]]
    caption = count(len(rows), "feature")
    if len(rows) > MOST_LISTED:
        caption += f", of which the first {MOST_LISTED} are listed; search finds the others"
    return table(caption, feature_head(facts), cells, "feature-table")


def feature_head(facts: dict[str, Any]) -> list[str]:
    """The column names of the table of features."""
    if facts["features"]["kind"] == "additive":
        return [
            "feature",
            "importance",
            "score AUC",
            f"{100 * facts['level']:g}% CI",
            "range of contribution",
            "missing values",
        ]
    if facts["features"]["kind"] == "trees":
        return TREE_HEAD
    return ["feature", "type", "importance", "missing values"]


def feature_cells(facts: dict[str, Any], row: dict[str, Any]) -> list[Any]:
    """One row of the table of features."""
    missing = "–" if row["missing"] is None else f"{row['missing']:,}"
    if facts["features"]["kind"] == "trees":
        return tree_cells(row, missing)
    if facts["features"]["kind"] != "additive":
        return [row["name"], row["kind"], percent(row["importance"]), missing]
    if row["range"] == 0:
        return [row["name"], "not used", "–", "–", "0", missing]
    ends, area = interval(row["low"], row["high"]), number(row["auc"])
    return [row["name"], percent(row["importance"]), area, ends, f"{row['range']:.3g}", missing]


def terms_table(facts: dict[str, Any]) -> Markup:
    """The coefficients of a linear model."""
    terms = facts["shape"]["terms"]
    if terms is None:
        return Markup("")
    rows = [[term["name"], _coefficient(term), f"{term['missing']:+.4g}"] for term in terms]
    head = ["column", "contribution to the score", "if missing"]
    return table("Coefficients, largest first", head, rows)


def _coefficient(term: dict[str, Any]) -> str:
    if term["kind"] == "number":
        return f"{term['weight']:+.4g} × value"
    if term["low"] is None:
        return "nothing"
    return f"{term['low']:+.4g} to {term['high']:+.4g}, by category"


def facts_table(facts: dict[str, Any]) -> Markup:
    """Data and settings, in two columns."""
    data, about = facts["data"], facts["about"]
    missing = [row["missing"] for row in facts["features"]["rows"] if row["missing"] is not None]
    rows: list[tuple[str, Any]] = [
        (key.replace("_", " "), about[key]) for key in about if key not in _PLACED
    ]
    rows += [
        ("rows", f"{data['n_rows']:,}"),
        (f"positive rows ({data['positive_label']})", f"{data['n_pos']:,}"),
        (f"negative rows ({data['negative_label']})", f"{data['n_neg']:,}"),
        ("columns used", f"{data['n_features']:,}"),
        ("missing values", f"{sum(missing):,} in {count(sum(n > 0 for n in missing), 'column')}"),
        ("type of model", facts["shape"]["form"]),
        ("threshold of the model", f"positive if score ≥ {data['model_threshold']:g}"),
        ("auctor version", facts["version"]),
    ]
    if data["is_weighted"]:
        total = data["weight_pos"] + data["weight_neg"]
        absent = count(data["n_absent"], "row") + " of weight 0 left out"
        rows.append(
            ("total weight", f"{total:,.6g}" + (f" ({absent})" if data["n_absent"] else ""))
        )
    if data["n_groups"] is not None:
        rows.append(("groups", f"{data['n_groups']:,}"))
    body = "".join(_fact(name, value) for name, value in rows)
    caption = '<caption class="visually-hidden">Data and settings</caption>'
    return Markup(f'<table class="facts">{caption}<tbody>{body}</tbody></table>')


def _fact(name: str, value: Any) -> str:
    if isinstance(value, dict):
        value = ", ".join(f"{key}={item}" for key, item in value.items())
    elif isinstance(value, list):
        value = ", ".join(map(str, value))
    shown = text(clean(value, LONGEST_SENTENCE), 600)
    return f'<tr><th scope="row">{text(name)}</th><td>{shown}</td></tr>'
