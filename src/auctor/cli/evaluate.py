"""`auctor evaluate`: how well a model ranks rows whose labels are known."""

import argparse
import math
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from auctor._text import interval
from auctor._typing import Bools, Floats
from auctor.cli.errors import UsageError
from auctor.cli.labels import match_labels, read_group, read_target, read_weight
from auctor.cli.output import emit, warn
from auctor.cli.score import model_features
from auctor.cli.seen_rows import seen_warning
from auctor.cli.tables import TableFile, open_table
from auctor.cli.validation import auc_facts, interval_facts
from auctor.metrics import (
    OperatingPoint,
    auc_ci,
    ks_ci,
    partial_auc_ci,
    precision_at_k_ci,
    roc_curve,
    threshold_at,
)
from auctor.models import Model, load

_REGION = (0.0, 0.1)  # the false positive rates that most users can afford
_TOP = 0.1


def run(args: argparse.Namespace) -> None:
    """Score a table and compare with its labels."""
    wishes = [parse_wish(text) for text in args.at]
    _check_confidence(args.confidence, wishes)
    model = load(args.model)
    source = open_table(args.table, args.delimiter)
    rows = read_labelled(model, source, args)
    positive, scores = rows.positive, rows.scores
    warnings = [
        *seen_warning(model, positive, scores, rows.weight),
        *(line for wish in wishes for line in _budget_warning(wish, rows)),
    ]
    warn(warnings)
    facts = {
        "model": args.model,
        "table": source.name,
        "target": args.target,
        "rows": len(scores),
        "positive": model.classes[1],
        "n_pos": int(np.count_nonzero(positive)),
        "n_neg": int(np.count_nonzero(~positive)),
        **_measure(rows, model.threshold, args.seed),
        "at": [_wish_facts(rows, wish, args.confidence) for wish in wishes],
        "warnings": warnings,
    }
    emit(facts, _text(facts), args.json)


class Labelled(NamedTuple):
    """Rows whose labels are known, scored."""

    X: pa.Table
    positive: Bools
    scores: Floats
    weight: Floats | None
    groups: npt.NDArray[Any] | None


def parse_wish(text: str) -> dict[str, Any]:
    """``fpr=0.1``, ``tpr=0.9``, ``budget=100`` or ``cost=5``, as the argument of threshold_at."""
    name, _, value = text.partition("=")
    try:
        number = float(value)
    except ValueError:
        number = float("nan")
    if name not in ("fpr", "tpr", "budget", "cost") or math.isnan(number):
        raise UsageError(f"--at is {text!r}; give fpr=0.1, tpr=0.9, budget=100 or cost=5")
    if name in ("fpr", "tpr") and not 0 <= number <= 1:
        raise UsageError(f"--at is {text!r}; a rate lies between 0 and 1")
    if number < 0 or (name == "cost" and not 0 < number < math.inf):
        raise UsageError(f"--at is {text!r}; give a number above 0")
    is_count = name == "budget" and number >= 1
    if is_count and not number.is_integer():
        raise UsageError(f"--at is {text!r}; a budget is a whole number of rows or a share of them")
    return {name: int(number) if is_count else number}


def _budget_warning(wish: dict[str, Any], rows: Labelled) -> list[str]:
    """A budget is of the rows of this table: of more than there are, all are flagged."""
    budget, is_weighted = wish.get("budget", 0), rows.weight is not None
    total = float(rows.weight.sum()) if rows.weight is not None else len(rows.scores)
    if budget < 1 or budget <= total:
        return []
    there = f"the weight of {total:g}" if is_weighted else f"the {total} rows"
    return [
        f"--at budget={budget:g} is more than {there} of the table, and flags all rows; "
        "a share such as budget=0.05 carries over to a list of another length"
    ]


def _check_confidence(confidence: float | None, wishes: list[dict[str, Any]]) -> None:
    if confidence is None:
        return
    if not wishes:
        raise UsageError("--confidence goes with --at, such as --at fpr=0.1 --confidence 0.95")
    if not 0 < confidence < 1:
        raise UsageError(f"--confidence is {confidence:g}; give a number between 0 and 1")
    for wish in wishes:
        if "cost" in wish:
            raise UsageError("--confidence goes with fpr, tpr and budget, not with --at cost=...")


def _wish_facts(
    rows: Labelled, wish: dict[str, Any], confidence: float | None = None
) -> dict[str, Any]:
    """The threshold that meets a criterion, as plain values, with its sentence."""
    found = threshold_at(
        rows.positive,
        rows.scores,
        **wish,
        confidence=confidence,
        sample_weight=rows.weight,
        groups=rows.groups,
    )
    intervals = {name: list(getattr(found, name)) for name in ("tpr", "fpr", "precision")}
    return {
        **wish,
        "confidence": confidence,
        # The model flags scores above its threshold, a curve those at it too.
        "model_threshold": float(np.nextafter(found.value, -np.inf)),
        **_point_facts(found.point, found.value),
        "low": found.low,
        "high": found.high,
        "intervals": intervals,
        "sentence": str(found),
    }


def read_labelled(model: Model, source: TableFile, args: argparse.Namespace) -> Labelled:
    """The rows of a table: which are positive, their scores, weights and groups."""
    more = [name for name in (args.target, args.weight, args.group) if name is not None]
    source.require(more)
    # Labels that were text when fitting are text here, also if they look like numbers.
    text = [args.target] if isinstance(model.classes[1], str) else []
    table = model_features(model, source, more, text)
    target = read_target(table[args.target], args.target)
    positive = match_labels(target, model.classes, args.target)
    weight = (
        None
        if args.weight is None
        else read_weight(table[args.weight], args.weight, source.line_of)
    )
    groups = None if args.group is None else read_group(table[args.group], args.group)
    _check_counts(positive, weight, args.target)
    X = table.select(list(model.feature_names))
    return Labelled(X, positive, model.decision_function(X), weight, groups)


def _check_counts(positive: Bools, weight: Floats | None, name: str) -> None:
    """Two rows of each class that count: without them an AUC has no interval."""
    counted = positive if weight is None else positive[weight > 0]
    n_pos = int(np.count_nonzero(counted))
    if min(n_pos, len(counted) - n_pos) < 2:
        of_weight = "" if weight is None else " of weight above zero"
        raise ValueError(
            f"column {name!r} has {n_pos} positive and {len(counted) - n_pos} negative row(s)"
            f"{of_weight}; evaluation needs two of each"
        )


def _measure(rows: Labelled, threshold: float, seed: int) -> dict[str, Any]:
    """All measures of a score, as plain values."""
    positive, scores, weight = rows.positive, rows.scores, rows.weight
    interval = auc_ci(positive, scores, sample_weight=weight, groups=rows.groups)
    curve = roc_curve(positive, scores, sample_weight=weight)
    told: dict[str, Any] = {
        "sample_weight": weight,
        "groups": rows.groups,
        "random_state": seed,
    }
    area = partial_auc_ci(positive, scores, fpr_range=_REGION, scaled=True, **told)
    top = precision_at_k_ci(positive, scores, k=_TOP, **told)
    # A curve flags scores at its threshold or above, a model those above only.
    point = curve.at(threshold=float(np.nextafter(threshold, np.inf)))
    return {
        **auc_facts(interval),
        **interval_facts("ks", ks_ci(positive, scores, **told)),
        **interval_facts("partial_auc", area),
        "partial_auc_fpr": list(_REGION),
        **interval_facts("precision_at_top", top),
        "top": _TOP,
        "at_threshold": _point_facts(point, threshold),
    }


def _point_facts(point: OperatingPoint, threshold: float) -> dict[str, float]:
    return {
        "threshold": threshold,
        "tpr": point.tpr,
        "fpr": point.fpr,
        "precision": point.precision,
        "flagged": point.flagged,
    }


def _wish_line(wish: dict[str, Any], model: str) -> str:
    """The threshold's sentence, and how to use it."""
    if not math.isfinite(wish["model_threshold"]):
        return str(wish["sentence"])
    use = f"auctor score {model} NEW --threshold {wish['model_threshold']!r}"
    return f"{wish['sentence']}\n  to predict by it: {use}"


def _with_ends(facts: dict[str, Any], name: str) -> str:
    """A measure with its interval."""
    low, high = facts[f"{name}_low"], facts[f"{name}_high"]
    return f"{facts[name]:.3f} ({interval(low, high, facts['level'])})"


def _text(facts: dict[str, Any]) -> str:
    point = facts["at_threshold"]
    # Nothing flagged, no precision: NaN tells less than the words do.
    precision = f"precision {point['precision']:.3f}" if point["flagged"] else "nothing flagged"
    low, high = facts["partial_auc_fpr"]
    return "\n".join(
        [
            f"{facts['table']}: {facts['rows']} rows, {facts['n_pos']} of them positive "
            f"({facts['target']} = {facts['positive']})",
            facts["sentence"],
            f"KS {_with_ends(facts, 'ks')}",
            f"partial AUC {_with_ends(facts, 'partial_auc')}, "
            f"false positive rate {low:g} to {high:g}, scaled: 0.5 is chance, 1 perfect",
            f"precision {_with_ends(facts, 'precision_at_top')} in the top {facts['top']:.0%}",
            f"at the model's threshold (score > {point['threshold']:g}): "
            f"tpr {point['tpr']:.3f}, fpr {point['fpr']:.3f}, {precision}",
            *(_wish_line(wish, facts["model"]) for wish in facts["at"]),
        ]
    )
