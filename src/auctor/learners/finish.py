"""From step tables over codes to a finished AdditiveModel with threshold and calibration.

Everything here is computed from weights summed per distinct training score, in whole
numbers and in the order of the scores: the order of the rows and how they were cut
into partitions cannot show in a single bit.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from auctor.data import RankingData
from auctor.kernels.boosting import add_table
from auctor.models import AdditiveModel, Calibration, compress


class ScoreGroups(NamedTuple):
    """Weight of each class at each distinct score, the lowest score first."""

    scores: npt.NDArray[np.float64]
    negative: npt.NDArray[np.int64]
    positive: npt.NDArray[np.int64]

    def misranked(self) -> tuple[float, float]:
        """Share of pairs in the wrong order, with ties counted half (1 - AUC) and whole."""
        total = float(self.positive.sum()) * float(self.negative.sum())
        above = self.negative.sum() - np.cumsum(self.negative)  # negatives of higher score
        wrong = float(np.dot(self.positive.astype(np.float64), above.astype(np.float64)))
        tied = float(np.dot(self.positive.astype(np.float64), self.negative.astype(np.float64)))
        return (wrong + tied / 2) / total, (wrong + tied) / total


def score_partition(
    codes: npt.NDArray[Any], tables: list[npt.NDArray[np.float64]]
) -> npt.NDArray[np.float64]:
    """Sum of the tables' entries for each row's codes; flat tables are passed over."""
    out = np.zeros(codes.shape[1])
    for line, table in zip(codes, tables, strict=True):
        if table.any():
            add_table(line, table, out)
    return out


def group_scores(data: RankingData, tables: list[npt.NDArray[np.float64]]) -> ScoreGroups:
    """Class weights by distinct training score."""
    scores = np.concatenate([score_partition(part.codes, tables) for part in data.partitions])
    weight = np.concatenate([part.weight for part in data.partitions]).astype(np.int64)
    positive = np.concatenate([part.positive for part in data.partitions])
    order = np.argsort(scores)
    scores, weight, positive = scores[order], weight[order], positive[order]
    first = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]]))
    return ScoreGroups(
        scores[first],
        np.add.reduceat(np.where(positive, 0, weight), first),
        np.add.reduceat(np.where(positive, weight, 0), first),
    )


def youden_cut(groups: ScoreGroups) -> float:
    """Midway between two scores, where the share of positives above exceeds that of negatives most.

    The scores lie on a grid of powers of two, so that the middle is exact and no
    training row lies on it. Where all scores are equal the cut is that score.
    """
    above_pos = groups.positive.sum() - np.cumsum(groups.positive)[:-1]
    above_neg = groups.negative.sum() - np.cumsum(groups.negative)[:-1]
    if len(above_pos) == 0:
        return float(groups.scores[0])
    gap = above_pos / groups.positive.sum() - above_neg / groups.negative.sum()
    best = int(np.argmax(gap))
    return float((groups.scores[best] + groups.scores[best + 1]) / 2)


def calibrate(groups: ScoreGroups, unit: float, cut: float) -> Calibration:
    """Platt's logistic fit of the class on the score minus ``cut``, with his smoothed targets.

    The slope is kept positive, so that probabilities rank as the scores do.
    """
    x = groups.scores - cut
    positive, negative = groups.positive * unit, groups.negative * unit
    n_pos, n_neg = float(positive.sum()), float(negative.sum())
    # Targets (n + 1) / (n + 2) instead of 1: separated classes then have a finite slope.
    hits = positive * (n_pos + 1) / (n_pos + 2) + negative / (n_neg + 2)
    size = positive + negative
    prior = float(np.log(hits.sum() / (size.sum() - hits.sum())))
    spread = float(np.ptp(x))
    if spread == 0.0:
        return Calibration(1.0, prior)
    slope, offset = _logistic_fit(x / spread, hits, size, prior)
    return Calibration(max(slope / spread, 1e-6), offset)


def _logistic_fit(
    x: npt.NDArray[np.float64],
    hits: npt.NDArray[np.float64],
    size: npt.NDArray[np.float64],
    prior: float,
) -> tuple[float, float]:
    """Maximum likelihood of a logistic line by Newton's method with step halving."""
    beta = np.array([0.0, prior])
    design = np.column_stack([x, np.ones_like(x)])

    def loss(b: npt.NDArray[np.float64]) -> float:
        z = design @ b
        return float(np.sum(size * np.logaddexp(0.0, z) - hits * z))

    current = loss(beta)
    for _ in range(100):
        p = 1.0 / (1.0 + np.exp(-np.clip(design @ beta, -500, 500)))
        gradient = design.T @ (size * p - hits)
        hessian = (design * (size * p * (1 - p))[:, None]).T @ design
        step = np.linalg.solve(hessian + 1e-12 * np.trace(hessian) * np.eye(2), gradient)
        fraction, trial = 1.0, loss(beta - step)
        while trial > current and fraction > 1e-6:
            fraction /= 2
            trial = loss(beta - fraction * step)
        if trial >= current:
            break
        done = current - trial <= 1e-12 * abs(current)
        beta, current = beta - fraction * step, trial
        if done:
            break
    return float(beta[0]), float(beta[1])


def finish_additive(
    data: RankingData, tables: list[npt.NDArray[np.float64]]
) -> tuple[AdditiveModel, ScoreGroups]:
    """The model of the tables, shifted so that Youden's point lies at score 0."""
    groups = group_scores(data, tables)
    cut = youden_cut(groups)
    pairs = [compress(f, t[: f.n_bins + 1]) for f, t in zip(data.features, tables, strict=True)]
    negative, positive = data.classes.tolist()
    model = AdditiveModel(
        (negative, positive),
        0.0,
        calibrate(groups, data.weight_unit, cut),
        tuple(feature for feature, _ in pairs),
        tuple(steps for _, steps in pairs),
        0.0 - cut,  # not -cut: the intercept of a flat model is +0.0
    )
    return model, groups
