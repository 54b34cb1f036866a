"""Cross-validation of learners on the same folds, and their paired differences."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from auctor._typing import Ints
from auctor.cli.facts import auc_facts, difference_facts, interval_facts
from auctor.cli.metric import Metric
from auctor.cli.options import Execution
from auctor.cli.output import note
from auctor.cli.problem import Problem
from auctor.estimators.cross_validation import CrossValidation, compare_instability, cross_val_auc
from auctor.estimators.peers import PEERS
from auctor.learners.checkpoint.checkpoint import Checkpoint
from auctor.metrics import (
    AucInterval,
    MetricComparison,
    MetricInterval,
    compare_metric,
    ks_ci,
    partial_auc_ci,
    precision_at_k_ci,
)

BASELINE = "logistic"
BASELINE_TITLE = "logistic regression"

# Rows in all resamples of a comparison together, so that it takes seconds and not minutes.
_MOST_DRAWN = 1e8

# The number of folds to draw, or the fold of each row.
Folds = int | Ints


@dataclass(frozen=True, eq=False)
class Validated:
    """The cross-validation of one learner, and the metrics of its out-of-fold scores."""

    name: str
    result: CrossValidation
    ks: MetricInterval
    metric_value: MetricInterval | None  # of --metric, where that is neither AUC nor KS
    seconds: float  # time of the fits

    def value_of(self, metric: Metric) -> AucInterval | MetricInterval:
        """The metric with its interval."""
        if metric.kind == "auc":
            return self.result.auc
        return self.ks if self.metric_value is None else self.metric_value


@dataclass(frozen=True, eq=False)
class Compared:
    """The paired differences of two learners, the first minus the second."""

    in_metric: MetricComparison
    in_auc: MetricComparison
    instability: float  # the fraction of their variance that comes from the training sets


def validate(
    name: str,
    estimator: Any,
    problem: Problem,
    metric: Metric,
    folds: Folds,
    execution: Execution,
    checkpoint: Checkpoint | None = None,
) -> Validated:
    """Cross-validate one learner."""
    note(f"cross-validating {name}", execution.quiet)
    start = time.perf_counter()
    split = {"cv": folds} if isinstance(folds, int) else {"folds": folds}
    if problem.time is not None:  # the folds are the same for all learners
        split = {"cv": folds if isinstance(folds, int) else int(folds.max()) + 1}
    result = cross_val_auc(
        estimator,
        problem.X,
        problem.y,
        sample_weight=problem.weight,
        groups=problem.groups,
        time=problem.time,
        pos_label=problem.labels[1],
        random_state=execution.seed,
        verbose=not execution.quiet,
        checkpoint=checkpoint,
        **split,
    )
    seconds = time.perf_counter() - start
    sample = _fold_sample(problem, result, execution.seed)
    ks = ks_ci(result.tested(problem.positive), result.scores, **sample)
    value = _metric_interval(problem, result, metric, sample) if metric.has_own_interval else None
    return Validated(name, result, ks, value, seconds)


def _fold_sample(problem: Problem, result: CrossValidation, seed: int) -> dict[str, Any]:
    """Keyword arguments of the intervals of out-of-fold scores."""
    return {
        "folds": result.folds,
        "instability": result.instability,
        "sample_weight": result.tested(problem.weight),
        "groups": result.groups,
        "random_state": seed,
    }


def _metric_interval(
    problem: Problem, result: CrossValidation, metric: Metric, sample: dict[str, Any]
) -> MetricInterval:
    """The metric of out-of-fold scores, where it is a partial AUC or a precision."""
    arguments = metric.arguments(len(problem.y))
    measure = partial_auc_ci if arguments.pop("metric") == "partial_auc" else precision_at_k_ci
    positive = result.tested(problem.positive)
    return measure(y_true=positive, y_score=result.scores, **arguments, **sample)


def make_baseline(categorical: Sequence[str]) -> Any:
    """Create logistic regression, for the same columns."""
    return PEERS[BASELINE].make(categorical_features=list(categorical) or "from_dtype")


def compare(
    problem: Problem, first: Validated, second: Validated, metric: Metric, seed: int
) -> Compared:
    """The paired differences of two learners within their common folds."""
    instability = compare_instability(problem.positive, first.result, second.result, problem.weight)
    arguments = _fold_sample(problem, first.result, seed) | {
        "y_true": first.result.tested(problem.positive),
        "score_a": first.result.scores,
        "score_b": second.result.scores,
        "instability": instability,
        "n_resamples": int(min(500, max(100, _MOST_DRAWN / len(problem.y)))),
    }
    in_auc = compare_metric(metric="auc", **arguments)
    if metric.kind == "auc":
        return Compared(in_auc, in_auc, instability)
    in_metric = compare_metric(**metric.arguments(len(problem.y)), **arguments)
    return Compared(in_metric, in_auc, instability)


def matched_ks(other: Validated, value: float, metric: Metric) -> MetricInterval:
    """KS of a learner, moved to ``value`` where learners are compared by KS.

    Each KS is corrected for a bias that is known only roughly, whereas a difference needs no
    correction. So the second KS is printed as the first one and the difference imply it.
    """
    if metric.kind != "ks":
        return other.ks
    shift = min(max(value, 0.0), 1.0) - other.ks.value
    low, high = (min(max(end + shift, 0.0), 1.0) for end in (other.ks.low, other.ks.high))
    return replace(other.ks, value=other.ks.value + shift, low=low, high=high)


def describe_folds(result: CrossValidation, problem: Problem) -> str:
    """The folds in a few words, such as "5 folds" or "4 folds in the order of 'month'"."""
    words = f"{int(result.folds.max()) + 1} folds"
    return words if result.rows is None else f"{words} in the order of {problem.time_name!r}"


def validation_facts(validated: Validated, metric: Metric, ks: MetricInterval) -> dict[str, Any]:
    """A cross-validation in plain values; ``ks`` as :func:`matched_ks` returns it."""
    facts = {**auc_facts(validated.result.auc), **interval_facts("ks", ks)}
    facts["in_time_order"] = validated.result.rows is not None
    if validated.metric_value is not None:
        facts["metric"] = str(metric)
        facts["metric_name"], facts["metric_where"] = metric.words
        facts |= interval_facts("metric_value", validated.metric_value)
    return facts


def comparison_facts(name: str, compared: Compared, metric: Metric, value: float) -> dict[str, Any]:
    """The differences from the learner ``name``, whose metric is ``value``, in plain values."""
    metric_name, metric_where = metric.words
    return {
        "name": name,
        "auc": compared.in_auc.value_b,
        "metric_name": metric_name,
        "metric_where": metric_where,
        "value": value,
        **difference_facts(compared.in_metric),
        "auc_difference": difference_facts(compared.in_auc),
    }
