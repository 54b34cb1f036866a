"""From members, weights and held-out scores to the model of an ensemble and its intervals."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from auctor._typing import Floats, Ints
from auctor.data.labelled import LabelledRows
from auctor.estimators.base import RankingEstimator
from auctor.estimators.combiners import Combined
from auctor.estimators.folds import Fold
from auctor.estimators.members import FoldMember, MemberScores
from auctor.learners.certificate import Certificate
from auctor.learners.common.calibration import calibrate
from auctor.learners.common.finish import training_order
from auctor.learners.ensemble.held_out import HeldOut, Target
from auctor.metrics import (
    auc_ci,
    fold_instability,
    ks_ci,
    partial_auc_ci,
    precision_at_k_ci,
)
from auctor.models import FORMS, Calibration, MemberModel, Model, StackedModel, sum_models

METRIC_WORDS = {
    "auc": "AUC",
    "partial_auc": "scaled partial AUC",
    "ks": "KS",
    "precision_at_k": "precision at k",
}
_PLAIN = Calibration(1.0, 0.0)


@dataclass(frozen=True, eq=False)
class Fitted:
    """The members of an ensemble, fitted without each fold."""

    rows: LabelledRows
    folds: list[Fold]
    members: list[MemberScores]


def full_weight(rows: LabelledRows, n_rows: int) -> Floats:
    """The weight of every row of the table, 0 for those that were dropped."""
    weight = np.zeros(n_rows)
    weight[slice(None) if rows.kept is None else rows.kept] = rows.weight
    return weight


def held_out_rows(fitted: Fitted, n_rows: int) -> HeldOut:
    """The held-out rows of all folds with the scores of all members."""
    rows, folds = fitted.rows, fitted.folds
    row = np.concatenate([test for _, test in folds])
    positive = np.zeros(n_rows, dtype=bool)
    positive[slice(None) if rows.kept is None else rows.kept] = rows.positive
    fold = np.concatenate([np.full(len(test), k) for k, (_, test) in enumerate(folds)])
    scores = np.column_stack([member.held_out(folds) for member in fitted.members])
    sizes = rows.without_codes().effective_rows
    return HeldOut(scores, positive[row], full_weight(rows, n_rows)[row], fold, row, sizes)


def ensemble_model(
    members: Sequence[MemberScores], combined: Combined, scores: Floats, rows: LabelledRows
) -> tuple[Model, float]:
    """The model, and the score at its threshold, which has become 0.

    ``scores`` are the held-out scores of ``rows``: threshold and calibration come from them.
    """
    negative, positive = rows.classes.tolist()
    if combined.final is not None:
        shared = (negative, positive), 0.0, combined.final.calibration
        alone = [_member_sum([member], np.ones(1), rows) for member in members]
        return StackedModel(*shared, alone[0].feature_names, tuple(alone), combined.final), 0.0
    data = rows.without_codes()
    ordered = [scores[data.partitions[0].rows]]
    cut = training_order(data, ordered).cut
    model = _member_sum(members, combined.weights, rows)
    calibration = calibrate(data, ordered, cut)
    return replace(model, intercept=model.intercept - cut, calibration=calibration), cut


def _member_sum(members: Sequence[MemberScores], weights: Floats, rows: LabelledRows) -> Any:
    """The weighted sum over members of the mean of their models on the common scale."""
    negative, positive = rows.classes.tolist()
    models, factors, intercept = list[FoldMember](), list[float](), 0.0
    for member, weight in zip(members, weights.tolist(), strict=True):
        for model in member.final if weight else ():
            factors.append(weight / (len(member.final) * model.scale.spread))
            intercept -= factors[-1] * model.scale.middle
            models.append(model)
    if all(_can_be_saved(model.estimator) for model in models):
        parts = [model.estimator.model_ for model in models]
        return sum_models(parts, factors, intercept=intercept)
    names = _feature_names(members)
    shared = (negative, positive), 0.0, _PLAIN
    return MemberModel(*shared, names, tuple(models), np.array(factors), intercept)


def _can_be_saved(estimator: Any) -> bool:
    return isinstance(estimator, RankingEstimator) and estimator.model_.form in FORMS


def _feature_names(members: Sequence[MemberScores]) -> tuple[str, ...]:
    """The columns that the members were fitted on, as far as one of them knows."""
    for member in members:
        estimator = member.models[0].estimator
        if isinstance(estimator, RankingEstimator):
            return estimator.model_.feature_names
    names = getattr(members[0].models[0].estimator, "feature_names_in_", ())
    return tuple(map(str, names))


def importances(members: Sequence[MemberScores], weights: Floats) -> Floats | None:
    """The importance of each feature, averaged over members and folds; None if one has none."""
    total: Any = 0.0
    for member, weight in zip(members, np.abs(weights).tolist(), strict=True):
        for model in member.final if weight else ():
            own = getattr(model.estimator, "feature_importances_", None)
            if own is None:
                return None
            total = total + weight / len(member.final) * np.asarray(own)
    return np.asarray(total / total.sum()) if np.sum(total) > 0 else np.asarray(total)


def mean_by_row(rows: HeldOut, scores: Floats, n_rows: int) -> Floats:
    """The mean held-out score of each row of the table; NaN where no fold held it out."""
    counts = np.bincount(rows.row, minlength=n_rows)
    sums = np.bincount(rows.row, scores, minlength=n_rows)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Honest held-out scores of the rows of a table, for confidence intervals."""

    scores: Floats  # NaN for rows that no fold held out
    positive: Any
    weight: Floats | None
    folds: Ints | None  # the fold of each row; None if a row was held out more than once
    groups: Any  # copies of a row count as one
    by_fold: Floats | None  # scores by the models of all folds

    def interval(self, target: Target) -> Any:
        """The interval of the metric; None where a fold has fewer than two rows of a class."""
        known = np.isfinite(self.scores)
        options = {
            name: None if values is None else values[known]
            for name, values in (
                ("sample_weight", self.weight),
                ("folds", self.folds),
                ("groups", self.groups),
            )
        }
        if self.folds is not None:
            options["instability"] = self._instability(known)
        try:
            return _interval(target, self.positive[known], self.scores[known], options)
        except ValueError:  # too few rows or groups
            return None

    def _instability(self, known: Any) -> Any:
        """How much of the variance the training sets cause; 1, the worst case, if not known."""
        if self.by_fold is None or self.folds is None:
            return None
        groups = None if self.groups is None else self.groups[known]
        weight = None if self.weight is None else self.weight[known]
        labels, scores, folds = self.positive[known], self.by_fold[known], self.folds[known]
        try:
            return fold_instability(labels, scores, folds, groups=groups, sample_weight=weight)
        except ValueError:
            return None


def _interval(target: Target, positive: Any, scores: Floats, options: dict[str, Any]) -> Any:
    if target.metric == "ks":
        return ks_ci(positive, scores, **options)
    if target.metric == "precision_at_k":
        return precision_at_k_ci(positive, scores, k=target.k, **options)
    if target.fpr_range is not None:
        fpr_range = target.fpr_range
        return partial_auc_ci(positive, scores, fpr_range=fpr_range, scaled=True, **options)
    return auc_ci(positive, scores, **options)


def cv_results(
    target: Target, rows: HeldOut, members: Sequence[MemberScores], combined: Combined
) -> dict[str, Any]:
    """The held-out metric of each member, and its weight."""
    columns = rows.scores.T
    return {
        "member": np.array([member.name for member in members]),
        "weight": combined.weights,
        "value": np.array([target.value(rows, column) for column in columns]),
        "values": np.array([target.by_fold(rows, column) for column in columns]),
    }


def by_fold(members: Sequence[MemberScores], combined: Combined) -> Floats | None:
    """The ensemble's score of each row by the models of each fold, if all rows were scored."""
    total = np.zeros(members[0].by_fold.shape)
    for member, weight in zip(members, combined.weights.tolist(), strict=True):
        if weight:
            total += weight * member.by_fold
    return total if np.isfinite(total).all() else None


def certify(
    target: Target, value: float, honest: float, results: dict[str, Any], combined: Combined
) -> Certificate:
    """What is known of the held-out rows: the ensemble beside its members."""
    members = dict(zip(results["member"].tolist(), results["value"].tolist(), strict=True))
    words = METRIC_WORDS[target.metric]
    best = max(members, key=lambda name: members[name])
    sign = "No member alone has more" if value >= members[best] else "A member alone has more"
    statement = (
        f"The {words} of the held-out rows is {value:.4f} with the chosen combination, and "
        f"{honest:.4f} if the combination for each fold is chosen without it. {sign}: the best of "
        f"{len(members)}, {best}, has {members[best]:.4f}."
    )
    if combined.statement:
        statement += f" {combined.statement}"
    values = {"value": value, "cross_fitted": honest, "members": members, "best_member": best}
    return Certificate(statement, values)
