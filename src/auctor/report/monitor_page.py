"""Draws the facts of monitoring as one HTML page without scripts, which loads nothing."""

from base64 import b64encode
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import Any

from auctor import __version__
from auctor._text import p_words, signed
from auctor.report.markup import Markup, interval, number, paragraph, percent, table, text
from auctor.report.monitor_charts import distribution_chart, period_chart
from auctor.report.monitor_features import VERDICTS
from auctor.report.monitoring import FORMAT

_MOST_ROWS = 200  # of the table of features
_MOST_CARDS = 24
_MOST_HEAT = 30
_KEY = Markup(
    '<ul class="legend"><li><svg class="key" viewBox="0 0 24 12"><rect class="before" width="24" '
    'height="12"/></svg>training rows</li><li><svg class="key" viewBox="0 0 24 12"><rect '
    'class="now" width="24" height="12"/></svg>new rows</li></ul>'
)


def render_monitoring(facts: dict[str, Any]) -> str:
    """Render the result of :func:`auctor.report.monitor` as an HTML page.

    Parameters
    ----------
    facts : dict
        What ``facts()`` of the result returned, or the same read from JSON. Further entries are
        shown where they are there: ``title``, ``table``, ``model``, ``command``, ``failed``.

    Returns
    -------
    str
        The whole page. It has no scripts and loads nothing.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from auctor import RankBoost
    >>> from auctor.models import make_record
    >>> from auctor.report import monitor, render_monitoring
    >>> X, y = [[1], [2], [3], [4], [5], [6]], [0, 0, 1, 0, 1, 1]
    >>> model = RankBoost(n_estimators=5).fit(X, y).model_
    >>> model = replace(model, training=make_record(model, X, [label == 1 for label in y]))
    >>> page = render_monitoring(monitor(model, X).facts())
    >>> page.startswith("<!doctype html>"), "<script" in page
    (True, False)
    """
    if not isinstance(facts, dict) or facts.get("format") != FORMAT:
        given = facts.get("format") if isinstance(facts, dict) else type(facts).__name__
        raise ValueError(
            f"facts has format {given!r}, but this version of auctor draws format {FORMAT}; give "
            "the dict that Monitoring.facts returned"
        )
    style = _read("page.css") + _read("monitor.css")
    digest = b64encode(sha256(style.encode()).digest()).decode()
    title = facts.get("title") or f"{facts.get('table') or 'New rows'} beside the training rows"
    return Template(_read("monitor.html")).substitute(
        policy=f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; "
        "form-action 'none'",
        version=text(__version__),
        style=style,
        title=text(title, 120) if len(title) <= 120 else text(title[:120]),
        document=_document(facts),
        links=_links(facts),
        summary=_summary(facts),
        features=_features(facts),
        quality=_quality(facts),
        periods=_periods(facts),
    )


def _read(name: str) -> str:
    return files("auctor.report").joinpath(name).read_text(encoding="utf-8")


def _document(facts: dict[str, Any]) -> Markup:
    """The table, the model and the command, where they are known."""
    pairs = {"Table": facts.get("table"), "Model": facts.get("model")}
    pairs["Command"] = facts.get("command")
    items = "".join(
        f"<div><dt>{name}</dt><dd>{text(value, 300)}</dd></div>"
        for name, value in pairs.items()
        if value
    )
    return Markup(f'<dl class="document">{items}</dl>')


def _links(facts: dict[str, Any]) -> Markup:
    links = {"result": "Summary", "features": "What has moved"}
    links |= {"quality": "Quality"} if facts["quality"] else {}
    links |= {"periods": "By period"} if facts["periods"] else {}
    links["reading"] = "How to read this page"
    items = (f'<li><a href="#{name}">{words}</a></li>' for name, words in links.items())
    return Markup("".join(items))


def _summary(facts: dict[str, Any]) -> Markup:
    lead = paragraph(_sentence(facts["sentences"][0]), "lead")
    reasons = facts.get("failed") or []
    failed = paragraph(f"Limits are broken: {'; '.join(reasons)}.", "note") if reasons else ""
    others = [*(facts.get("warnings") or []), *facts["notes"]]
    notes = "".join(paragraph(_sentence(words), "note") for words in others)
    tiles = [
        ("New rows", f"{facts['rows']:,}", f"{facts['training_rows']:,} training rows"),
        ("Features moved", _n_moved(facts), f"of {len(facts['features'])}"),
        ("PSI of the score", _psi(facts["score"]), _noise_words(facts["score"])),
        *_quality_tiles(facts),
    ]
    items = "".join(
        f"<div><dt>{text(name)}</dt><dd>{text(value)}<small>{text(more, 120)}</small></dd></div>"
        for name, value, more in tiles
    )
    return Markup(f'{lead}{failed}{notes}<dl class="tiles">{items}</dl>')


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}{'' if words.endswith('.') else '.'}"


def _n_moved(facts: dict[str, Any]) -> str:
    return str(sum(one["verdict"] == "moved" for one in facts["features"]))


def _psi(movement: dict[str, Any]) -> str:
    return number(movement["psi"]) if (movement["n_bins"] or 0) > 1 else "–"


def _noise_words(movement: dict[str, Any]) -> str:
    verdict = VERDICTS[movement["verdict"]]
    if (movement["n_bins"] or 0) < 2:
        return verdict
    return f"noise up to {movement['psi_limit']:.3f}: {verdict}"


def _quality_tiles(facts: dict[str, Any]) -> list[tuple[str, str, str]]:
    quality = facts["quality"]
    if quality is None:
        flagged = facts["at_threshold"]["flagged"]
        return [("Flagged", percent(flagged["value"]), "at the model's threshold")]
    tiles = []
    for metric in (quality["auc"], quality["ks"]):
        difference = metric["difference"]
        more = f"95% CI {interval(metric['now']['low'], metric['now']['high'])}"
        if difference is not None:
            more = f"{signed(difference['value'])} since training (p {p_words(metric['p_value'])})"
        tiles.append((metric["name"], number(metric["now"]["value"]), more))
    calibration = quality["calibration"]
    gap = calibration["predicted"] - calibration["observed"]["value"]
    tiles.append(("Mean prediction − rate", signed(gap), calibration["verdict"]))
    return tiles


def _features(facts: dict[str, Any]) -> Markup:
    movements = [facts["score"], *facts["features"]]
    rows = [_feature_row(one) for one in movements[: _MOST_ROWS + 1]]
    head = ["", "verdict", "importance", "PSI", "noise", "p", "corrected p", "missing", "before"]
    listed = table("The score and the features; those that moved first", head, rows, "movements")
    left = len(movements) - len(rows)
    more = paragraph(f"{left} more features are not shown.") if left > 0 else ""
    named = {one["name"] for one in facts["features"] if one["verdict"] == "moved"}
    findings = "".join(
        paragraph(_sentence(one["sentence"]), "note")
        for one in facts["findings"]
        if one["column"] not in named
    )
    cards = "".join(_card(one) for one in movements[:_MOST_CARDS])
    return Markup(f'{listed}{more}{findings}{_KEY}<div class="grid" id="cards">{cards}</div>')


def _feature_row(one: dict[str, Any]) -> list[Any]:
    is_tested = (one["n_bins"] or 0) > 1
    return [
        _title(one),
        _verdict(one),
        percent(one["importance"]),
        _with_value(_psi(one), one["psi"]),
        number(one["psi_limit"]) if is_tested else "–",
        "–" if one["p_value"] is None else p_words(one["p_value"]),
        "–" if one["p_corrected"] is None else p_words(one["p_corrected"]),
        percent(one["missing_now"]),
        percent(one["missing_before"]),
    ]


def _title(one: dict[str, Any]) -> str:
    """The name of a feature; a feature may be called score, too."""
    return "the score" if one["kind"] == "score" else str(one["name"])


def _with_value(shown: str, value: float | None) -> Markup:
    """A number with all its digits for programs."""
    return Markup(f'<data value="{"" if value is None else value!r}">{text(shown)}</data>')


def _verdict(one: dict[str, Any]) -> Markup:
    kind = {"moved": "moved", "too few rows": "unsure"}.get(one["verdict"], "")
    how = f": {one['how']}" if one["how"] else ""
    return Markup(f'<span class="{kind}">{VERDICTS[one["verdict"]]}</span>{text(how, 300)}')


def _card(one: dict[str, Any]) -> str:
    return (
        f'<div class="card"><h3 class="name">{text(_title(one))}</h3><p>{_verdict(one)}</p>'
        f"{distribution_chart(one)}</div>"
    )


def _quality(facts: dict[str, Any]) -> Markup:
    quality = facts["quality"]
    if quality is None:
        return Markup("")
    rows = [_metric_row(quality[name]) for name in ("auc", "ks")]
    rate_p = quality["rate_p_value"]
    rows.append(
        [
            "fraction of positives",
            number(quality["rate"]["value"]),
            interval(quality["rate"]["low"], quality["rate"]["high"]),
            number(quality["rate_before"]),
            "–",
            signed(quality["rate"]["value"] - quality["rate_before"]),
            "–",
            "–" if rate_p is None else p_words(rate_p),
        ]
    )
    head = ["", "now", "95% CI", "training", "95% CI", "difference", "95% CI", "p"]
    metrics = table(
        f"{quality['n_pos']:,} positive and {quality['n_neg']:,} negative rows",
        head,
        rows,
        "metrics",
    )
    return Markup(
        '<section id="quality" aria-labelledby="h-quality"><h2 id="h-quality">How good the model '
        f"still is</h2>{metrics}{_calibration_words(quality['calibration'])}"
        f'<div class="two"><div>{_bands(quality["calibration"])}</div>'
        f"<div>{_rates(facts['at_threshold'])}</div></div></section>"
    )


def _metric_row(metric: dict[str, Any]) -> list[Any]:
    now, before, difference = metric["now"], metric["before"], metric["difference"]
    row = [
        metric["name"],
        _with_value(number(now["value"]), now["value"]),
        interval(now["low"], now["high"]),
    ]
    if before is None or difference is None:
        return [*row, "–", "–", "–", "–", "–"]
    return [
        *row,
        number(before["value"]),
        interval(before["low"], before["high"]),
        _with_value(signed(difference["value"]), difference["value"]),
        f"{signed(difference['low'])} to {signed(difference['high'])}",
        p_words(metric["p_value"]),
    ]


def _rates(at: dict[str, Any]) -> Markup:
    names = {
        "flagged": "flagged",
        "tpr": "true positive rate",
        "fpr": "false positive rate",
        "precision": "precision",
    }
    rows = [
        [
            name,
            percent(at[key]["value"]),
            f"{percent(at[key]['low'])} to {percent(at[key]['high'])}",
        ]
        for key, name in names.items()
        if at[key] is not None
    ]
    return table(f"At the model's threshold, {at['threshold']:.4g}", ["", "now", "95% CI"], rows)


def _calibration_words(calibration: dict[str, Any]) -> Markup:
    words = f"Calibration: {calibration['verdict']}."
    slope, before = calibration["slope"], calibration["slope_before"]
    if slope is not None:
        words += f" Slope {slope['value']:.2f} (95% CI {interval(slope['low'], slope['high'], 2)})"
        words += "." if before is None else f"; {before['value']:.2f} at training."
    return paragraph(words)


def _bands(calibration: dict[str, Any]) -> Markup:
    rows = [
        [
            str(k),
            f"{band['n_rows']:,.0f}",
            percent(band["predicted"]),
            percent(band["observed"]),
            f"{percent(band['low'])} to {percent(band['high'])}",
        ]
        for k, band in enumerate(calibration["bands"], start=1)
    ]
    head = ["tenth", "rows", "predicted", "positive", "95% CI"]
    return table("Calibration by tenths of the score, the lowest first", head, rows, "bands")


def _periods(facts: dict[str, Any]) -> Markup:
    periods = facts["periods"]
    if not periods:
        return Markup("")
    has_labels = any(one["quality"] for one in periods)
    charts = [_psi_chart(periods)]
    if has_labels:
        charts = [_metric_chart(periods, name) for name in ("auc", "ks")] + charts
    p_value = facts["auc_p_value"]
    test = (
        ""
        if p_value is None
        else paragraph(
            f"The AUC {'differs' if p_value < 0.05 else 'shows no difference'} between periods "
            f"(p {p_words(p_value)})."
        )
    )
    return Markup(
        '<section id="periods" aria-labelledby="h-periods"><h2 id="h-periods">By period</h2>'
        f'<div class="grid periods">{"".join(charts)}</div>{test}'
        f"{_period_table(periods, has_labels)}{_heat_table(periods)}</section>"
    )


def _metric_chart(periods: list[dict[str, Any]], name: str) -> str:
    changes = [one["quality"] and one["quality"][name] for one in periods]
    known = [change for change in changes if change]
    before = known[0]["before"] if known else None
    reference = None if before is None else (before["value"], before["low"], before["high"])
    chart = period_chart(
        f"{name.upper()} by period",
        [one["name"] for one in periods],
        [change["now"]["value"] if change else None for change in changes],
        [(change["now"]["low"], change["now"]["high"]) if change else None for change in changes],
        reference,
    )
    words = f"{name.upper()} with 95% confidence intervals"
    words += "; the band is the figure of training." if reference else "."
    return f"<figure>{chart}<figcaption>{words}</figcaption></figure>"


def _psi_chart(periods: list[dict[str, Any]]) -> str:
    scores = [one["score"] for one in periods]
    tested = [(one["n_bins"] or 0) > 1 for one in scores]
    chart = period_chart(
        "PSI of the score by period",
        [one["name"] for one in periods],
        [one["psi"] if ok else None for one, ok in zip(scores, tested, strict=True)],
        [None] * len(periods),
        limits=[one["psi_limit"] if ok else None for one, ok in zip(scores, tested, strict=True)],
    )
    return (
        f"<figure>{chart}<figcaption>PSI of the score; the dashed line is the noise level at the "
        "number of rows of the period.</figcaption></figure>"
    )


def _period_table(periods: list[dict[str, Any]], has_labels: bool) -> Markup:
    head = ["period", "rows", "flagged", "PSI of score", "noise", "score", "features moved"]
    head += ["AUC", "95% CI", "KS", "95% CI", "positive", "predicted"] if has_labels else []
    rows = []
    for one in periods:
        score, quality = one["score"], one["quality"]
        moved = sum(feature["verdict"] == "moved" for feature in one["features"])
        row = [
            one["name"],
            f"{one['n_rows']:,}",
            percent(one["at_threshold"]["flagged"]["value"]),
            _psi(score),
            number(score["psi_limit"]) if (score["n_bins"] or 0) > 1 else "–",
            Markup(
                f'<span class="{"moved" if score["verdict"] == "moved" else ""}">'
                f"{VERDICTS[score['verdict']]}</span>"
            ),
            str(moved),
        ]
        if quality is not None:
            auc, ks = quality["auc"]["now"], quality["ks"]["now"]
            row += [_with_value(number(auc["value"]), auc["value"])]
            row += [interval(auc["low"], auc["high"])]
            row += [number(ks["value"]), interval(ks["low"], ks["high"])]
            row += [percent(quality["rate"]["value"])]
            row += [percent(quality["calibration"]["predicted"])]
        elif has_labels:
            row += ["too few rows" if one["why_not"] else "no labels", "–", "–", "–", "–", "–"]
        rows.append(row)
    return table("All periods", head, rows, "period-table")


def _heat_table(periods: list[dict[str, Any]]) -> Markup:
    """PSI of every feature in every period; those that moved are marked."""
    n_features = min(len(periods[0]["features"]), _MOST_HEAT)
    if n_features == 0:
        return Markup("")
    rows = [
        [periods[0]["features"][j]["name"], *(_heat(one["features"][j]) for one in periods)]
        for j in range(n_features)
    ]
    caption = "PSI of the features; marked where a feature has moved in the period"
    return table(caption, ["feature", *(one["name"] for one in periods)], rows, "heat")


def _heat(one: dict[str, Any]) -> Markup:
    kind = " heat-moved" if one["verdict"] == "moved" else ""
    return Markup(f'<span class="heat{kind}">{_psi(one)}</span>')
