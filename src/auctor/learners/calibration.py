"""Platt's logistic curve from training scores to probabilities."""

from math import log

import numpy as np
import numpy.typing as npt

from auctor.data import RankingData
from auctor.kernels.scores import logistic_sums
from auctor.models import Calibration

# A term may be as large as the loss of a row far on the wrong side; 2^8 is beyond any.
_TERM_BITS = 8


def calibrate(data: RankingData, scores: list[npt.NDArray[np.float64]], cut: float) -> Calibration:
    """The logistic line of the class on score - cut, with Platt's smoothed targets.

    The slope is kept positive, so that probabilities rank as the scores do.
    """
    low = min(float(s.min()) for s in scores if len(s))
    spread = max(float(s.max()) for s in scores if len(s)) - low
    weight_neg, weight_pos = (w * data.weight_unit for w in data.class_weights)
    # Targets (n + 1) / (n + 2) instead of 1: separated classes then have a finite slope.
    targets = 1 / (weight_neg + 2), (weight_pos + 1) / (weight_pos + 2)
    hits = weight_neg * targets[0] + weight_pos * targets[1]
    prior = log(hits / (weight_neg + weight_pos - hits))
    if spread == 0.0:
        return Calibration(1.0, prior)
    sums = _Sums(data, scores, targets, low, spread)
    slope, offset = _newton(sums, np.array([0.0, prior]))
    slope = max(slope / spread, 1e-6)
    return Calibration(slope, offset + slope * (cut - low))


class _Sums:
    """Loss, gradient and curvature of a line over all rows, in whole numbers underneath."""

    def __init__(
        self,
        data: RankingData,
        scores: list[npt.NDArray[np.float64]],
        targets: tuple[float, float],
        low: float,
        spread: float,
    ) -> None:
        self._parts = list(zip(data.partitions, scores, strict=True))
        self._targets, self._low, self._spread = targets, low, spread
        bits = sum(data.class_weights).bit_length()
        self._unit = 2.0 ** (bits + _TERM_BITS - 62)

    def at(self, beta: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Loss, two gradients, three curvatures for slope and offset ``beta``."""
        sums = np.zeros(6, dtype=np.int64)
        line = (self._low, self._spread, float(beta[0]), float(beta[1]))
        for part, scores in self._parts:
            for label, rows in ((1, slice(0, part.n_pos)), (0, slice(part.n_pos, None))):
                logistic_sums(
                    scores[rows], part.weight[rows], self._targets[label], line, self._unit, sums
                )
        return np.asarray(sums * self._unit, dtype=np.float64)


def _newton(sums: _Sums, beta: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Newton's method with step halving; the loss is convex and the targets keep it bounded."""
    current = sums.at(beta)
    for _ in range(50):
        loss, g_slope, g_offset, c_slope, c_both, c_offset = current
        ridge = 1e-12 * (c_slope + c_offset)
        curvature = np.array([[c_slope + ridge, c_both], [c_both, c_offset + ridge]])
        step = np.linalg.solve(curvature, np.array([g_slope, g_offset]))
        fraction, trial = 1.0, sums.at(beta - step)
        while trial[0] > loss and fraction > 1e-4:
            fraction /= 2
            trial = sums.at(beta - fraction * step)
        if trial[0] >= loss:
            break
        beta = beta - fraction * step
        gained = loss - trial[0]
        current = trial
        if gained <= 1e-10 * loss:
            break
    return float(beta[0]), float(beta[1])
