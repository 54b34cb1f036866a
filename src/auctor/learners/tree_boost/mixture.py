"""How many trees, and how much of the smooth model beside them: chosen on held-out rows.

The score is (1 - w) F / sd(F) + w T / sd(T), where F is the smooth additive model and T the sum of
the trees. Both are fitted to the same rows, independently of each other. Trees that start from the
scores of F instead keep the noise of F: on 13 tables of up to 2,000 rows their mean AUC was 0.8848,
although their number was chosen on the test rows, and that of the mixture 0.8867
(``benchmarks/tree_boost_start.py``).
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from auctor._progress import Progress
from auctor._typing import Bools, Floats
from auctor.data import RankingData, Workers
from auctor.learners.common.finish import codes_in, score_rows
from auctor.learners.common.held_out_auc import held_out_auc
from auctor.learners.smooth.fit import fit_smooth
from auctor.learners.smooth.settings import SmoothSettings
from auctor.learners.tree_boost.rounds import Booster, Scores, add_to_rows
from auctor.learners.tree_boost.settings import TreeBoostSettings
from auctor.models import AdditiveModel

WEIGHTS = np.linspace(0.0, 1.0, 9)  # of the trees
# The weight that few rows give no reason to leave, and what it costs to leave it.
_USUAL_WEIGHT, _COST = 0.375, 2.0
# Trees after which held-out rows are scored: every tenth part of the number of trees so far.
_FIRST_CHECK, _GROWTH = 10, 1.1


class Mixture(NamedTuple):
    """The chosen number of trees and their weight, and how held-out rows were ranked."""

    n_trees: int
    weight: float  # of the trees; the rest is that of the smooth model
    ratio: float  # sd(T) / sd(F) on held-out rows
    checks: list[int]  # numbers of trees
    aucs: Floats  # (check, weight, fold)

    @property
    def best_auc(self) -> float:
        """The mean AUC over the folds at the chosen number of trees and weight."""
        nearest = int(np.argmin(np.abs(np.array(self.checks) - self.n_trees)))
        return float(self.auc_by_size[nearest])

    @property
    def auc_by_size(self) -> Floats:
        """The mean AUC over the folds for each number of trees, at the chosen weight."""
        at = 0 if self.aucs.shape[1] == 1 else int(np.argmin(np.abs(WEIGHTS - self.weight)))
        return np.asarray(self.aucs[:, at].mean(axis=1))

    @property
    def smooth_auc(self) -> float:
        """The mean AUC over the folds of the smooth model alone."""
        return float(self.aucs[0, 0].mean())

    @property
    def smooth_factor(self) -> float:
        """The factor of the smooth model if the trees have factor 1; for a weight above 0."""
        return (1.0 - self.weight) / self.weight * self.ratio


class _Fold:
    """The trees of one fold, and the scores of its held-out rows."""

    def __init__(
        self,
        data: RankingData,
        masks: tuple[Bools, Bools],
        settings: TreeBoostSettings,
        smooth: SmoothSettings | None,
        workers: Workers,
    ) -> None:
        train, test = masks
        rows = data.take(train)
        self._booster = Booster(rows, settings, workers)
        self._trees = Scores.start(data.take(test), None)
        self._fpr_range = settings.fpr_range
        self.is_done = False
        self._smooth: list[Floats] | None = None
        if smooth is not None:
            model, _, _ = fit_smooth(rows, smooth)
            self._smooth = score_codes(model, self._trees.data)

    def step(self) -> None:
        """Add a tree."""
        if self.is_done:
            return
        added = self._booster.add()
        if added is None:
            self.is_done = True
        else:
            add_to_rows(self._trees, added[0])

    def aucs(self) -> Floats:
        """The AUC of the held-out rows for each weight of the trees."""
        data, trees = self._trees.data, self._trees.values
        if self._smooth is None:
            return np.array([held_out_auc(data, trees, self._fpr_range)])
        size_trees, size_smooth = spread(data, trees), spread(data, self._smooth)
        return np.array(
            [
                held_out_auc(
                    data,
                    [
                        (1.0 - w) / size_smooth * f + w / size_trees * t
                        for f, t in zip(self._smooth, trees, strict=True)
                    ],
                    self._fpr_range,
                )
                for w in WEIGHTS.tolist()
            ]
        )

    @property
    def ratio(self) -> float:
        """Spread of the trees relative to that of the smooth model."""
        if self._smooth is None:
            return 1.0
        data = self._trees.data
        return spread(data, self._trees.values) / spread(data, self._smooth)


def find_mixture(
    data: RankingData,
    settings: TreeBoostSettings,
    folds: list[tuple[Bools, Bools]],
    smooth: SmoothSettings | None,
    workers: Workers,
) -> Mixture:
    """Add trees to the models of all folds until held-out rows gain no more; choose the best."""
    inner = workers
    if len(folds) > 1:  # threads work on different folds
        inner = Workers(1)
        smooth = None if smooth is None else replace(smooth, n_jobs=1, verbose=False)
    runs = workers.map(lambda masks: _Fold(data, masks, settings, smooth, inner), folds)
    penalty = _penalty(data) if smooth is not None else np.zeros(1)
    progress = Progress(settings.n_estimators, "choosing the number of trees", settings.verbose)
    checks, aucs, ratios = [0], [np.array([run.aucs() for run in runs]).T], [1.0]
    best, next_check = 0, _FIRST_CHECK
    for n_trees in range(1, settings.n_estimators + 1):
        workers.map(_Fold.step, runs)
        progress.step()
        is_last = n_trees == settings.n_estimators or all(run.is_done for run in runs)
        if n_trees < next_check and not is_last:
            continue
        next_check = max(n_trees + 1, int(n_trees * _GROWTH))
        checks.append(n_trees)
        aucs.append(np.array(workers.map(_Fold.aucs, runs)).T)
        ratios.append(float(np.mean([run.ratio for run in runs])))
        if _quality(aucs[-1], penalty).max() > _quality(aucs[best], penalty).max():
            best = len(checks) - 1
        if is_last or n_trees - checks[best] >= settings.n_iter_no_change:
            break
    progress.close()
    return _choose(best, checks, np.array(aucs), ratios, penalty)


def _choose(
    best: int, checks: list[int], aucs: Floats, ratios: list[float], penalty: Floats
) -> Mixture:
    if len(penalty) == 1:  # trees alone: at least one
        return Mixture(max(checks[best], 1), 1.0, 1.0, checks, aucs)
    weight = float(WEIGHTS[int(np.argmax(_quality(aucs[best], penalty)))])
    n_trees = checks[best] if weight > 0.0 else 0
    return Mixture(n_trees, weight if n_trees else 0.0, ratios[best], checks, aucs)


def _quality(aucs: Floats, penalty: Floats) -> Floats:
    """The mean AUC over the folds for each weight, less the penalty."""
    return np.asarray(aucs.mean(axis=1) - penalty)


def _penalty(data: RankingData) -> Floats:
    """The cost, in AUC, of each weight: few rows give little reason to leave the usual one.

    The best of many candidates looks better than it is, by more the fewer rows there are. The cost
    is least at a weight slightly in favour of the smooth model, which varies less than trees, and
    is inversely proportional to the effective number of rows of the smaller class.
    """
    return _COST * (WEIGHTS - _USUAL_WEIGHT) ** 2 / min(data.effective_rows)


def score_codes(model: AdditiveModel, data: RankingData) -> list[Floats]:
    """Scores by a model that was fitted to rows with the same bins, for each partition."""
    tables = []
    for own, steps, feature in zip(model.features, model.steps, data.features, strict=True):
        table = np.zeros(data.n_codes)
        table[: feature.n_bins + 1] = steps[codes_in(feature, own)]
        tables.append(table)
    return [model.intercept + score_rows(part, tables) for part in data.partitions]


def spread(data: RankingData, scores: list[Floats]) -> float:
    """Half of the distance between the quantiles 0.16 and 0.84: the sd of a normal distribution.

    Unlike a sum of squares it does not depend on the order of the rows. A row of weight 2 counts as
    two rows.
    """
    every = np.concatenate(scores)
    weight = np.concatenate([part.weight for part in data.partitions])
    order = np.argsort(every, kind="stable")
    every, reached = every[order], np.cumsum(weight[order], dtype=np.int64)
    places = [int(q * (int(reached[-1]) - 1)) for q in (0.16, 0.84)]
    low, high = every[np.searchsorted(reached, places, side="right")].tolist()
    return (high - low) / 2.0 or float(every[-1] - every[0]) or 1.0
