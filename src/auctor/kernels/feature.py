"""The AUC of features by themselves, from class histograms."""

import numpy as np
import numpy.typing as npt

from auctor.kernels.jit import kernel


@kernel
def feature_aucs(
    negative: npt.NDArray[np.int64],
    positive: npt.NDArray[np.int64],
    total_neg: npt.NDArray[np.int64],
    total_pos: npt.NDArray[np.int64],
    n_bins: npt.NDArray[np.int64],
    aucs: npt.NDArray[np.float64],
) -> None:
    """AUC of the codes in order, missing values lowest (aucs[j, 0]) and highest (aucs[j, 1]).

    Line j of the histograms holds one feature, or one node of a program, and adds up to
    ``total_neg[j]`` and ``total_pos[j]``; a line without one of the classes has AUC 1/2.
    """
    for j in range(len(n_bins)):
        if total_neg[j] == 0 or total_pos[j] == 0:
            aucs[j, 0] = aucs[j, 1] = 0.5
            continue
        missing_neg = negative[j, 0] / total_neg[j]
        missing_pos = positive[j, 0] / total_pos[j]
        below = 0.0
        known = 0.0
        for code in range(1, n_bins[j] + 1):
            here = negative[j, code] / total_neg[j]
            known += positive[j, code] / total_pos[j] * (below + here / 2)
            below += here
        tied = missing_pos * missing_neg / 2
        aucs[j, 0] = known + tied + (1.0 - missing_pos) * missing_neg
        aucs[j, 1] = known + tied + missing_pos * (1.0 - missing_neg)
