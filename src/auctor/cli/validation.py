"""Cross-validation of a learner and of its baseline on the same folds, as plain facts."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor.cli.learner import Loss
from auctor.cli.output import note
from auctor.cli.problem import Problem
from auctor.estimators.crossval import CrossValidation, cross_validate
from auctor.estimators.peers import PEERS
from auctor.metrics import AucComparison, compare_auc, ks, partial_auc, precision_at_k

BASELINE = "logistic"


class Validated(NamedTuple):
    """What a learner did on folds that it had not seen."""

    name: str
    found: CrossValidation
    ks: float
    loss_value: float | None  # of what was trained on, where that is neither AUC nor KS


def validate(
    name: str, estimator: Any, problem: Problem, loss: Loss, told: dict[str, Any], quiet: bool
) -> Validated:
    """Cross-validate one learner; ``told`` says how the folds are made, or which they are."""
    note(f"cross-validating {name}", quiet)
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
    value = None if loss.kind in ("auc", "ks") else _mean_loss(problem, found, loss)
    return Validated(name, found, _mean(problem, found, ks), value)


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
    facts = {**auc_facts(validated.found.auc), "ks": validated.ks}
    if validated.loss_value is not None:
        facts["loss"] = str(loss)
        facts["loss_value"] = validated.loss_value
    return facts


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


def loss_words(loss: Loss) -> str:
    """The metric of a loss, in words."""
    if loss.kind == "p@k":
        return f"precision in the top {loss.k:g}"
    assert loss.region is not None
    return f"partial AUC over fpr {loss.region[0]:g} to {loss.region[1]:g}, scaled"


def _mean_loss(problem: Problem, found: CrossValidation, loss: Loss) -> float:
    if loss.k is not None:
        # A count is meant of all rows: in a fold, its share of them.
        share = loss.k / len(problem.y) if loss.k >= 1 else loss.k
        return _mean(problem, found, partial(_precision, share=share))
    return _mean(problem, found, partial(partial_auc, fpr=loss.region, scaled=True))


def _precision(y: Any, scores: Any, *, share: float, **weight: Any) -> float:
    return precision_at_k(y, scores, min(share, 1 - 1e-9), **weight)


def _mean(problem: Problem, found: CrossValidation, metric: Any) -> float:
    """The mean over the folds of a metric within them."""
    return float(np.mean([_in_fold(problem, found, metric, k) for k in np.unique(found.folds)]))


def _in_fold(problem: Problem, found: CrossValidation, metric: Any, fold: int) -> float:
    rows: npt.NDArray[np.bool_] = found.folds == fold
    weight = {} if problem.weight is None else {"sample_weight": problem.weight[rows]}
    return float(metric(problem.positive[rows], found.scores[rows], **weight))
