"""How the members of an ensemble become one score: five combiners of held-out scores."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from auctor._typing import Floats
from auctor.estimators.dmks import DMKS
from auctor.estimators.exactboost import ExactBoost
from auctor.estimators.margin_ranker import MarginRanker
from auctor.exceptions import MarginWarning
from auctor.learners.ensemble.held_out import HeldOut, Target, weighted_sum
from auctor.learners.ensemble.weights import find_weights
from auctor.models import LinearModel, Model

# Combiner -> the metrics that it can maximise.
COMBINERS: dict[str, tuple[str, ...]] = {
    "weights": ("auc", "partial_auc", "ks", "precision_at_k"),
    "equal": ("auc", "partial_auc", "ks", "precision_at_k"),
    "margin": ("auc",),
    "exactboost": ("auc", "ks", "precision_at_k"),
    "dmks": ("ks",),
}


@dataclass(frozen=True, eq=False)
class Combined:
    """The weight of each member, and the model of their scores where that is no weighted sum."""

    weights: Floats
    final: Model | None = None
    statement: str = ""  # what is proved about the weights, if anything

    def scores(self, members: Floats) -> Floats:
        """The score of each row from the scores (rows, members)."""
        if self.final is not None:
            return self.final.decision_function(members)
        return weighted_sum(members, self.weights)


@dataclass(frozen=True)
class CombinerSettings:
    """The settings of a combiner."""

    combiner: str
    target: Target
    frequency_weights: bool
    random_state: Any
    n_jobs: int | None


def check_combiner(combiner: str, metric: str) -> None:
    """Raise an error for a combiner that cannot maximise the metric."""
    if metric not in COMBINERS[combiner]:
        able = " or ".join(repr(name) for name, known in COMBINERS.items() if metric in known)
        raise ValueError(
            f"combiner is {combiner!r}, which cannot be trained for metric={metric!r}; give {able}"
        )


def combine(rows: HeldOut, settings: CombinerSettings) -> Combined:
    """Combine the members by their held-out scores."""
    return _FUNCTIONS[settings.combiner](rows, settings)


def _weights(rows: HeldOut, settings: CombinerSettings) -> Combined:
    return Combined(find_weights(rows, settings.target).weights)


def _equal(rows: HeldOut, settings: CombinerSettings) -> Combined:
    return Combined(np.full(rows.n_members, 1.0 / rows.n_members))


def _margin(rows: HeldOut, settings: CombinerSettings) -> Combined:
    """The weights of largest soft margin (Suehiro et al. 2011), members as hypotheses."""
    largest = float(np.abs(rows.scores).max()) or 1.0
    ranker = MarginRanker(
        hypotheses="columns",
        negations=False,
        constant=False,
        frequency_weights=settings.frequency_weights,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", MarginWarning)
        _fit(ranker, rows, rows.scores / largest)
    weights = np.maximum(_linear_weights(ranker), 0.0)
    if not weights.sum() > 0:
        return _equal(rows, settings)
    return Combined(weights / weights.sum(), None, str(ranker.certificate_))


def _exactboost(rows: HeldOut, settings: CombinerSettings) -> Combined:
    """A step function of each member's score (Csillag et al. 2021, Tables 3 and 4)."""
    booster = ExactBoost(
        settings.target.metric,
        k=settings.target.k,
        frequency_weights=settings.frequency_weights,
        random_state=settings.random_state,
        n_jobs=settings.n_jobs,
    )
    _fit(booster, rows, rows.scores)
    return Combined(booster.feature_importances_, booster.model_)


def _dmks(rows: HeldOut, settings: CombinerSettings) -> Combined:
    """The linear score of largest KS (Fang & Chen 2019), a weighted sum unless one is negative."""
    scorer = DMKS(frequency_weights=settings.frequency_weights)
    _fit(scorer, rows, rows.scores)
    weights = _linear_weights(scorer)
    size = float(np.abs(weights).sum())
    if not size > 0:
        return _equal(rows, settings)
    final: Model | None = scorer.model_ if (weights < 0).any() else None
    return Combined(weights / size, final, str(scorer.certificate_))


def _linear_weights(estimator: Any) -> Floats:
    """The weight of every member; ``coef_`` has none for members whose scores are all equal."""
    assert isinstance(estimator.model_, LinearModel)
    return np.array([term.weight for term in estimator.model_.columns])


def _fit(estimator: Any, rows: HeldOut, columns: Floats) -> None:
    estimator.fit(columns, rows.positive, sample_weight=rows.weight)


_FUNCTIONS: dict[str, Callable[[HeldOut, CombinerSettings], Combined]] = {
    "weights": _weights,
    "equal": _equal,
    "margin": _margin,
    "exactboost": _exactboost,
    "dmks": _dmks,
}


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """Each held-out row scored by a combiner that was fitted to the other folds."""

    scores: Floats
    weights: Floats  # (folds, members)


def cross_fit(rows: HeldOut, settings: CombinerSettings, whole: Combined) -> CrossFitted:
    """Scores of combiners that have not seen the fold; of ``whole`` if there is a single fold."""
    scores, weights = whole.scores(rows.scores), []
    for fold in range(rows.n_folds if rows.n_folds > 1 else 0):
        own = rows.fold == fold
        other = ~np.isin(rows.row, rows.row[own])  # of repeated folds: not these rows either
        part = combine(rows.take(other), settings) if _has_both(rows, other) else whole
        scores[own] = part.scores(rows.scores[own])
        weights.append(part.weights)
    return CrossFitted(scores, np.array(weights).reshape(-1, rows.n_members))


def _has_both(rows: HeldOut, chosen: Any) -> bool:
    return bool(0 < rows.positive[chosen].sum() < chosen.sum())
