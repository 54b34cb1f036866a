"""The AUC of features by themselves, from class histograms."""

import numpy as np
import numpy.typing as npt

from auctor.kernels.jit import kernel


@kernel
def feature_aucs(
    counts: npt.NDArray[np.int64],
    n_nodes: int,
    n_bins: npt.NDArray[np.int64],
    aucs: npt.NDArray[np.float64],
) -> None:
    """AUC of the codes in order, missing values lowest (aucs[j, i, 0]) and highest (.., 1).

    ``counts`` is (class, feature, node, code), of which the first ``n_nodes`` nodes are looked
    at; a node without one of the classes has AUC 1/2.
    """
    for j in range(len(n_bins)):
        for i in range(n_nodes):
            negative, positive = counts[0, j, i], counts[1, j, i]
            below = np.int64(0)
            total_pos = np.int64(0)
            known = 0.0  # twice the pairs in order, those that tie counted once
            for code in range(1, n_bins[j] + 1):
                here, there = negative[code], positive[code]
                known += np.float64(there) * np.float64(below + below + here)
                below += here
                total_pos += there
            missing_neg, missing_pos = np.float64(negative[0]), np.float64(positive[0])
            known_neg, known_pos = np.float64(below), np.float64(total_pos)
            pairs = (known_neg + missing_neg) * (known_pos + missing_pos)
            if pairs == 0.0:
                aucs[j, i, 0] = aucs[j, i, 1] = 0.5
                continue
            always = known / 2.0 + missing_pos * missing_neg / 2.0
            aucs[j, i, 0] = (always + known_pos * missing_neg) / pairs
            aucs[j, i, 1] = (always + missing_pos * known_neg) / pairs
