"""Cross-validation of a learner and of its baseline on the same folds, as plain facts."""

import time
from dataclasses import replace
from typing import Any, NamedTuple

from auctor._text import signed, signless
from auctor.cli.learner import Loss
from auctor.cli.output import note
from auctor.cli.problem import Problem
from auctor.estimators.cross_validation import CrossValidation, compare_instability, cross_validate
from auctor.estimators.peers import PEERS
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
_MOST_DRAWN = 1e8  # rows in all resamples of a comparison: seconds, not minutes


class Validated(NamedTuple):
    """What a learner did on folds that it had not seen."""

    name: str
    found: CrossValidation
    ks: MetricInterval
    loss_value: MetricInterval | None  # of what was trained on, where that is neither AUC nor KS
    seconds: float  # of the fits

    def in_loss(self, loss: Loss) -> AucInterval | MetricInterval:
        """The metric of the loss with its interval."""
        if loss.kind == "auc":
            return self.found.auc
        return self.ks if self.loss_value is None else self.loss_value


class Compared(NamedTuple):
    """The paired differences of two learners."""

    loss: MetricComparison  # in the metric of the loss
    auc: MetricComparison
    instability: float  # the share of their variance that comes from the training sets


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


def compare(problem: Problem, ours: Validated, other: Validated, loss: Loss, seed: int) -> Compared:
    """The paired differences of two learners within the folds they share."""
    instability = compare_instability(problem.positive, ours.found, other.found, problem.weight)
    told = _within_folds(problem, ours.found, seed) | {
        "y_true": problem.positive,
        "score_a": ours.found.scores,
        "score_b": other.found.scores,
        "instability": instability,
        "n_resamples": int(min(500, max(100, _MOST_DRAWN / len(problem.y)))),
    }
    auc = compare_metric(metric="auc", **told)
    if loss.kind == "auc":
        return Compared(auc, auc, instability)
    options = metric_options(loss, len(problem.y))
    return Compared(compare_metric(**options, **told), auc, instability)


def metric_options(loss: Loss, n_rows: int) -> dict[str, Any]:
    """The metric of a loss as the arguments of ``compare_metric``."""
    if loss.kind == "p@k":
        assert loss.k is not None
        # A number is meant of all rows: in a fold, its share of them.
        share = loss.k / n_rows if loss.k >= 1 else loss.k
        return {"metric": "precision_at_k", "k": min(share, 1 - 1e-9)}
    if loss.kind == "pauc":
        return {"metric": "partial_auc", "fpr_range": loss.region, "scaled": True}
    return {"metric": loss.kind}


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


def comparison_facts(name: str, compared: Compared, loss: Loss) -> dict[str, Any]:
    """The paired differences from a learner as plain values: in the metric of the loss, in AUC."""
    metric, where = loss_words(loss)
    return {
        "name": name,
        "auc": compared.auc.value_b,
        "metric": metric,
        "where": where,
        "value": compared.loss.value_b,
        **_difference(compared.loss),
        "auc_difference": _difference(compared.auc),
    }


def at_distance(other: Validated, value: float, loss: Loss) -> MetricInterval:
    """KS of a learner; where KS is the loss, at the distance that is printed beside it.

    Each KS is corrected for its own bias, which is known roughly; a difference needs no correction.
    """
    if loss.kind != "ks":
        return other.ks
    shift = min(max(value, 0.0), 1.0) - other.ks.value
    ends = (min(max(end + shift, 0.0), 1.0) for end in (other.ks.low, other.ks.high))
    low, high = ends
    return replace(other.ks, value=other.ks.value + shift, low=low, high=high)


def _difference(compared: MetricComparison) -> dict[str, Any]:
    names = ("difference", "low", "high", "p_value", "method")
    return {name: getattr(compared, name) for name in names}


def difference_words(told: dict[str, Any], digits: int = 3) -> str:
    """A difference with its interval, in words."""
    ends = f"{signless(told['low'], digits)} to {signless(told['high'], digits)}"
    return f"{signed(told['difference'], digits)} (95% CI {ends})"


def loss_words(loss: Loss) -> tuple[str, str]:
    """The metric of a loss, and over what."""
    if loss.kind in ("auc", "ks"):
        return loss.kind.upper(), ""
    if loss.kind == "p@k":
        assert loss.k is not None
        return "precision", f"in the top {loss.k:g}" + ("" if loss.k >= 1 else " of the rows")
    assert loss.region is not None
    return "scaled partial AUC", f"over fpr {loss.region[0]:g} to {loss.region[1]:g}"


def _within_folds(problem: Problem, found: CrossValidation, seed: Any) -> dict[str, Any]:
    """How an interval of out-of-fold scores is made."""
    return {
        "folds": found.folds,
        "instability": found.instability,
        "sample_weight": problem.weight,
        "groups": found.groups,
        "random_state": seed,
    }


def _loss_interval(
    problem: Problem, found: CrossValidation, loss: Loss, seed: Any
) -> MetricInterval:
    told: dict[str, Any] = {"y_true": problem.positive, "y_score": found.scores}
    told |= _within_folds(problem, found, seed) | metric_options(loss, len(problem.y))
    if told.pop("metric") == "partial_auc":
        return partial_auc_ci(**told)
    return precision_at_k_ci(**told)
