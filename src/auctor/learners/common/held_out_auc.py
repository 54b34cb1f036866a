"""The AUC, or partial AUC, of scores of held-out rows."""

import numpy as np

from auctor._typing import Floats
from auctor.data import RankingData
from auctor.learners.common.finish import training_order
from auctor.metrics import partial_auc


def held_out_auc(
    data: RankingData, scores: list[Floats], fpr_range: tuple[float, float] | None = None
) -> float:
    """The AUC of scores, given for each partition; with ``fpr_range`` the mean TPR over it."""
    if fpr_range is None:
        return training_order(data, scores).auc
    positive = np.concatenate([part.positive for part in data.partitions])
    weight = np.concatenate([part.weight for part in data.partitions])
    area = partial_auc(positive, np.concatenate(scores), fpr_range=fpr_range, sample_weight=weight)
    return area / (fpr_range[1] - fpr_range[0])
