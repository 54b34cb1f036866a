"""Cross-validation of a learner and of its baseline on the same folds, as plain facts."""

import time
from typing import Any, NamedTuple

from auctor.cli.learner import Loss
from auctor.cli.output import note
from auctor.cli.problem import Problem
from auctor.estimators.crossval import CrossValidation, cross_validate
from auctor.estimators.peers import PEERS
from auctor.metrics import (
    AucComparison,
    MetricInterval,
    compare_auc,
    ks_ci,
    partial_auc_ci,
    precision_at_k_ci,
)

BASELINE = "logistic"


class Validated(NamedTuple):
    """What a learner did on folds that it had not seen."""

    name: str
    found: CrossValidation
    ks: MetricInterval
    loss_value: MetricInterval | None  # of what was trained on, where that is neither AUC nor KS
    seconds: float  # of the fits


def validate(
    name: str, estimator: Any, problem: Problem, loss: Loss, told: dict[str, Any], quiet: bool
) -> Validated:
    """Cross-validate one learner; ``told`` says how the folds are made, or which they are."""
    note(f"cross-validating {name}", quiet)
    start = time.perf_counter()
    found = cross_validate(
        estimator,
        problem.X,
        problem.y,
        sample_weight=problem.weight,
        groups=problem.groups,
        pos_label=problem.labels[1],
        verbose=not quiet,
        **told,
    )
    seconds, seed = time.perf_counter() - start, told.get("random_state")
    value = None if loss.kind in ("auc", "ks") else _loss_interval(problem, found, loss, seed)
    within = _within_folds(problem, found, seed)
    return Validated(name, found, ks_ci(problem.positive, found.scores, **within), value, seconds)


def make_baseline(args: Any) -> Any:
    """Logistic regression on the same columns."""
    return PEERS[BASELINE].make(categorical_features=args.categorical or "from_dtype")


def compare(problem: Problem, ours: Validated, other: Validated, seed: int) -> AucComparison:
    """The paired difference of two learners within the folds they share."""
    resampled = problem.weight is not None or problem.groups is not None
    return compare_auc(
        problem.positive,
        ours.found.scores,
        other.found.scores,
        folds=ours.found.folds,
        sample_weight=problem.weight,
        groups=problem.groups,
        method="bootstrap" if resampled else "delong",
        n_resamples=500,
        random_state=seed,
    )


def auc_facts(interval: Any) -> dict[str, Any]:
    """An AucInterval as plain values, with its sentence."""
    return {
        "auc": interval.value,
        "low": interval.low,
        "high": interval.high,
        "level": interval.level,
        "method": interval.method,
        "standard_error": interval.standard_error,
        "folds": interval.n_folds,
        "sentence": str(interval),
    }


def validation_facts(validated: Validated, loss: Loss) -> dict[str, Any]:
    """A learner's cross-validation as plain values."""
    facts = {**auc_facts(validated.found.auc), **interval_facts("ks", validated.ks)}
    if validated.loss_value is not None:
        facts["loss"] = str(loss)
        facts["loss_name"], facts["loss_where"] = loss_words(loss)
        facts |= interval_facts("loss_value", validated.loss_value)
    return facts


def interval_facts(name: str, found: MetricInterval) -> dict[str, float]:
    """A metric and its interval as plain values."""
    return {name: found.value, f"{name}_low": found.low, f"{name}_high": found.high}


def comparison_facts(name: str, compared: AucComparison) -> dict[str, Any]:
    """A paired difference as plain values, with its sentence."""
    return {
        "name": name,
        "auc": compared.auc_b,
        "difference": compared.difference,
        "low": compared.low,
        "high": compared.high,
        "p_value": compared.p_value,
        "method": compared.method,
    }


def loss_words(loss: Loss) -> tuple[str, str]:
    """The metric of a loss, and over what."""
    if loss.kind == "p@k":
        assert loss.k is not None
        return "precision", f"in the top {loss.k:g}" + ("" if loss.k >= 1 else " of the rows")
    assert loss.region is not None
    return "scaled partial AUC", f"over fpr {loss.region[0]:g} to {loss.region[1]:g}"


def _within_folds(problem: Problem, found: CrossValidation, seed: Any) -> dict[str, Any]:
    """How an interval of out-of-fold scores is made."""
    return {
        "folds": found.folds,
        "sample_weight": problem.weight,
        "groups": problem.groups,
        "random_state": seed,
    }


def _loss_interval(
    problem: Problem, found: CrossValidation, loss: Loss, seed: Any
) -> MetricInterval:
    rows, within = (problem.positive, found.scores), _within_folds(problem, found, seed)
    if loss.k is None:
        return partial_auc_ci(*rows, fpr=loss.region, scaled=True, **within)
    # A count is meant of all rows: in a fold, its share of them.
    share = loss.k / len(problem.y) if loss.k >= 1 else loss.k
    return precision_at_k_ci(*rows, min(share, 1 - 1e-9), **within)
