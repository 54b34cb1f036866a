"""`auctor evaluate`: how well a model ranks rows whose labels are known."""

import argparse
from typing import Any

import numpy as np
import numpy.typing as npt

from auctor.cli.fit import auc_facts
from auctor.cli.labels import match_labels, read_target, read_weight
from auctor.cli.output import emit
from auctor.cli.score import model_features
from auctor.cli.tables import TableFile, open_table
from auctor.metrics import OperatingPoint, auc_ci, precision_at_k, roc_curve
from auctor.models import Model, load

_REGION = (0.0, 0.1)  # the false positive rates that most users can afford
_TOP = 0.1


def run(args: argparse.Namespace) -> None:
    """Score a table and compare with its labels."""
    model = load(args.model)
    source = open_table(args.table, args.delimiter)
    positive, scores, weight = _read(model, source, args)
    facts = {
        "model": args.model,
        "table": source.name,
        "target": args.target,
        "rows": len(scores),
        "positive": model.classes[1],
        "n_pos": int(np.count_nonzero(positive)),
        "n_neg": int(np.count_nonzero(~positive)),
        **_measure(positive, scores, weight, model.threshold),
    }
    emit(facts, _text(facts), args.json)


def _read(
    model: Model, source: TableFile, args: argparse.Namespace
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64], npt.NDArray[np.float64] | None]:
    """Which rows are positive, their scores, and their weights."""
    more = [args.target, *([args.weight] if args.weight is not None else [])]
    source.require(more)
    # Labels that were text when fitting are text here, also if they look like numbers.
    text = [args.target] if isinstance(model.classes[1], str) else []
    table = model_features(model, source, more, text)
    target = read_target(table[args.target], args.target)
    positive = match_labels(target, model.classes, args.target)
    weight = None if args.weight is None else read_weight(table[args.weight], args.weight)
    _check_counts(positive, weight, args.target)
    scores = model.decision_function(table.select(list(model.feature_names)))
    return positive, scores, weight


def _check_counts(
    positive: npt.NDArray[np.bool_], weight: npt.NDArray[np.float64] | None, name: str
) -> None:
    """Two rows of each class that count: without them an AUC has no interval."""
    counted = positive if weight is None else positive[weight > 0]
    n_pos = int(np.count_nonzero(counted))
    if min(n_pos, len(counted) - n_pos) < 2:
        of_weight = "" if weight is None else " of weight above zero"
        raise ValueError(
            f"column {name!r} has {n_pos} positive and {len(counted) - n_pos} negative row(s)"
            f"{of_weight}; evaluation needs two of each"
        )


def _measure(
    positive: npt.NDArray[np.bool_],
    scores: npt.NDArray[np.float64],
    weight: npt.NDArray[np.float64] | None,
    threshold: float,
) -> dict[str, Any]:
    """All measures of a score, as plain values."""
    method: Any = "delong" if weight is None else "bootstrap"
    interval = auc_ci(positive, scores, method=method, sample_weight=weight, random_state=0)
    curve = roc_curve(positive, scores, sample_weight=weight)
    # A curve flags scores at its threshold or above, a model those above only.
    point = curve.at(threshold=float(np.nextafter(threshold, np.inf)))
    return {
        **auc_facts(interval),
        "ks": curve.ks(),
        "partial_auc": curve.partial_auc(fpr=_REGION, scaled=True),
        "partial_auc_fpr": list(_REGION),
        "precision_at_top": precision_at_k(positive, scores, _TOP, sample_weight=weight),
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
            f"KS {facts['ks']:.3f}",
            f"partial AUC {facts['partial_auc']:.3f} "
            f"(false positive rate {low:g} to {high:g}, scaled: 0.5 is chance, 1 perfect)",
            f"precision {facts['precision_at_top']:.3f} in the top {facts['top']:.0%}",
            f"at the model's threshold (score > {point['threshold']:g}): "
            f"tpr {point['tpr']:.3f}, fpr {point['fpr']:.3f}, {precision}",
        ]
    )
