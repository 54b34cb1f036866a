"""Certificate of SmoothTreeBoost: a bound on the AUC of the training pairs, and what is left."""

from typing import Any

from auctor._text import count
from auctor._typing import Floats
from auctor.data import RankingData
from auctor.learners.certificate import Certificate
from auctor.learners.common.finish import TrainingOrder
from auctor.learners.smooth.smoothed_auc import smoothed_auc
from auctor.learners.tree_boost.history import TreeBoostHistory
from auctor.learners.tree_boost.settings import TreeBoostSettings


def certify(
    data: RankingData,
    scores: list[Floats],
    order: TrainingOrder,
    history: TreeBoostHistory,
    settings: TreeBoostSettings,
) -> Certificate:
    """The smoothed AUC of the training pairs, Komori's bound, and what a further tree would gain.

    H(z) >= 2 Phi(z) - 1 for every difference z of two scores if ties count as wrong, so that the
    AUC of any score is at least 2 A - 1, where A is its smoothed AUC (Komori 2010).
    """
    smoothed = smoothed_auc(data, scores)
    least = max(0.0, 2.0 * smoothed - 1.0) if smoothed is not None else 0.0
    gain_left = history.gains[-1] if history.gains else None
    values: dict[str, Any] = {
        "smoothed_auc": smoothed,
        "auc": order.auc,
        "least_auc": least,
        "n_trees": len(history.n_leaves),
        "tree_weight": history.weight,
        "gain_left": gain_left,
        "held_out_auc": None,
    }
    sentences = [
        f"The AUC of the training pairs is {order.auc:.4g}, at least "
        + (f"2 x {smoothed:.4g} - 1 = {least:.4g}" if least > 0.0 else "0")
        + " (Komori's bound from their smoothed AUC)."
    ]
    if gain_left is not None:
        loss = _loss_name(settings)
        sentences.append(
            f"By the quadratic model of the loss, a full step of the last of "
            f"{count(len(history.n_leaves), 'tree')} gains {gain_left:.2g} of {loss}."
        )
    if history.mixture is not None:
        values["held_out_auc"] = history.mixture.best_auc
        sentences.append(_choice_sentence(history, settings))
    return Certificate(" ".join(sentences), values)


def _loss_name(settings: TreeBoostSettings) -> str:
    if settings.fpr_range is not None:
        return "smoothed partial AUC (FPR {:g} to {:g})".format(*settings.fpr_range)
    if settings.loss == "auc":
        return "smoothed AUC"
    return "pairwise log-likelihood" if settings.loss == "logistic" else "log-likelihood"


def _choice_sentence(history: TreeBoostHistory, settings: TreeBoostSettings) -> str:
    mixture = history.mixture
    assert mixture is not None
    area = "AUC" if settings.fpr_range is None else "partial AUC"
    if mixture.n_trees == 0:
        return (
            f"Trees did not improve the {area} of held-out rows, {mixture.smooth_auc:.4f}: the "
            "model is the smooth one."
        )
    sentence = f"Held-out rows chose {count(mixture.n_trees, 'tree')}"
    if mixture.aucs.shape[1] == 1:
        return f"{sentence}; their {area} is {mixture.best_auc:.4f}."
    return (
        f"{sentence} with weight {history.weight:.3g}; their {area} is {mixture.best_auc:.4f} "
        f"({mixture.smooth_auc:.4f} for the smooth model alone)."
    )
