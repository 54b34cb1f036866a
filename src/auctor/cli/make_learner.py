"""Create the learner of a command; wrong settings are errors before any table is read."""

import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from auctor.cli.errors import UsageError, nearest
from auctor.cli.metric import Metric
from auctor.cli.options import Execution
from auctor.data import Table
from auctor.estimators.base import RankingEstimator
from auctor.estimators.peers import PEERS
from auctor.estimators.registry import LEARNERS

# An additive model that chooses its own settings.
DEFAULT_LEARNER = "smooth-aucboost-cv"

# Parameters of learners that have a command line option of their own.
_OPTIONS = {
    "categorical_features": "--categorical",
    "monotonic_cst": "--monotone",
    "pos_label": "--positive",
    "random_state": "--seed",
    "n_jobs": "--jobs",
    "verbose": "--quiet",
}

# Kind of metric -> the learners that can be trained for it, the default one first.
TRAINS_FOR: dict[str, tuple[str, ...]] = {
    "auc": (DEFAULT_LEARNER, *sorted(set(LEARNERS) - {DEFAULT_LEARNER, "dmks", "exactboost-cv"})),
    "ks": ("exactboost-cv", "exactboost", "dmks", "ensemble"),
    "p@k": ("exactboost-cv", "exactboost", "ensemble"),
    "pauc": (DEFAULT_LEARNER, "smooth-aucboost", "smooth-tree-boost", "ensemble"),
}


def default_learner(metric: Metric) -> str:
    """The learner for a metric where ``--learner`` is not given."""
    return TRAINS_FOR[metric.kind][0]


def make_learner(name: str, metric: Metric, execution: Execution) -> RankingEstimator:
    """Create the learner of that name, to be trained for the metric."""
    if name in PEERS:
        raise UsageError(
            f"{name} is a learner of another library; only `auctor compare` can run it"
        )
    if name not in LEARNERS:
        raise UsageError(f"unknown learner {name!r}{nearest(name, LEARNERS)}")
    if name not in TRAINS_FOR[metric.kind]:
        able = ", ".join(TRAINS_FOR[metric.kind])
        raise UsageError(f"{name} cannot be trained for {metric}; these learners can: {able}")
    estimator = LEARNERS[name]()
    estimator.set_params(**_metric_parameters(name, metric))
    _set_common(estimator, execution)
    return estimator


def set_columns(
    estimator: RankingEstimator,
    name: str,
    categorical: Sequence[str],
    monotone: Sequence[str],
    features: Sequence[str],
) -> None:
    """Set the parameters of ``--categorical`` and ``--monotone``, which name columns."""
    if "categorical_features" in estimator.get_params():
        estimator.set_params(categorical_features=list(categorical) or "from_dtype")
    signs = parse_monotone(monotone, features)
    if not signs:
        return
    if "monotonic_cst" not in estimator.get_params():
        able = [
            learner for learner in LEARNERS if "monotonic_cst" in LEARNERS[learner]().get_params()
        ]
        raise UsageError(
            f"{name} has no --monotone; these learners have: {', '.join(sorted(able))}"
        )
    estimator.set_params(monotonic_cst=signs)


def parse_monotone(texts: Sequence[str], features: Collection[str]) -> dict[str, int]:
    """Read ``x=+,y=-``: the score rises with x and falls with y.

    Examples
    --------
    >>> parse_monotone(["x=+,y=-"], ["x", "y"])
    {'x': 1, 'y': -1}
    """
    signs: dict[str, int] = {}
    for part in (part for text in texts for part in text.split(",")):
        column, equals, sign = part.rpartition("=")
        if not equals or sign.strip() not in ("+", "-"):
            raise UsageError(f"--monotone is {part!r}; give x=+ (rising) or x=- (falling)")
        if column not in features:
            raise UsageError(
                f"--monotone {column!r} is not a feature column{nearest(column, features)}"
            )
        signs[column] = 1 if sign.strip() == "+" else -1
    return signs


def check_monotone(
    signs: Mapping[str, int] | None, categorical: Collection[str], table: Table
) -> None:
    """Columns of categories have no order that a score could follow."""
    for name in signs or {}:
        if name in categorical or table.is_text(table.names.index(name)):
            raise UsageError(
                f"--monotone {name!r} holds categories, which have no order; leave it out"
            )


def set_parameters(
    estimator: RankingEstimator, name: str, settings: Iterable[tuple[str, str]]
) -> None:
    """Set the parameters of ``--param``; ``name`` is the learner's, for errors."""
    known = sorted(set(estimator.get_params()) - set(_OPTIONS))
    for parameter, text in settings:
        if parameter in _OPTIONS:
            raise UsageError(f"--param {parameter}: use {_OPTIONS[parameter]} instead")
        if parameter not in known:
            raise UsageError(f"{name} has no parameter {parameter!r}; known: {', '.join(known)}")
        estimator.set_params(**{parameter: _parse_value(text)})
    estimator._validate_params()


def _metric_parameters(name: str, metric: Metric) -> dict[str, Any]:
    """What the learner calls the metric."""
    parameters: dict[str, Any] = {}
    if name in ("exactboost", "exactboost-cv", "ensemble"):
        names = {"auc": "auc", "ks": "ks", "p@k": "precision_at_k", "pauc": "partial_auc"}
        parameters["metric"] = names[metric.kind]
    if metric.kind == "p@k":
        parameters["k"] = metric.k
    if metric.kind == "pauc":
        parameters["fpr_range"] = metric.fpr_range
    return parameters


def _set_common(estimator: RankingEstimator, execution: Execution) -> None:
    """Set the parameters that have options of their own, as far as the learner has them."""
    common = {
        "random_state": execution.seed,
        "n_jobs": execution.jobs,
        # The learner's own progress bar is for a terminal; in a log file, one per fold is enough.
        "verbose": not execution.quiet and sys.stderr.isatty(),
    }
    # A learner without randomness, for example, has no random_state.
    parameters = estimator.get_params()
    estimator.set_params(**{name: value for name, value in common.items() if name in parameters})


def _parse_value(text: str) -> Any:
    """The value as JSON (0.1, true, null, [1, 2]); text that is not JSON stays text."""
    try:
        return json.loads(text)
    except ValueError:
        return text
