"""The AUC, or partial AUC, of scores of held-out rows."""

import numpy as np

from auctor._typing import Floats
from auctor.data import RankingData
from auctor.data.cluster.sorted_line import gather_line
from auctor.learners.common.finish import training_order
from auctor.learners.common.score_line import shared_line
from auctor.metrics import partial_auc


def held_out_auc(
    data: RankingData, scores: list[Floats], fpr_range: tuple[float, float] | None = None
) -> float:
    """The AUC of scores, given for each partition; with ``fpr_range`` the mean TPR over it."""
    if fpr_range is None:
        return training_order(data, scores).auc
    if data.group.size > 1:
        values, (weight_neg, weight_pos) = gather_line(data.group, shared_line(data, scores))
        positive = np.repeat([False, True], len(values))
        weight, score = np.concatenate([weight_neg, weight_pos]), np.tile(values, 2)
    else:
        positive = np.concatenate([part.positive for part in data.partitions])
        weight = np.concatenate([part.weight for part in data.partitions])
        score = np.concatenate(scores)
    area = partial_auc(positive, score, fpr_range=fpr_range, sample_weight=weight)
    return area / (fpr_range[1] - fpr_range[0])
