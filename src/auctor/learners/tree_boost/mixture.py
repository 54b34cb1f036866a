"""How many trees, and how much of the smooth model beside them: chosen on held-out rows.

The score is (1 - w) F / sd(F) + w T / sd(T), where F is the smooth additive model and T the sum of
the trees. Both are fitted to the same rows, independently of each other. Trees that start from the
scores of F instead keep the noise of F: on 13 tables of up to 2,000 rows their mean AUC was 0.8848,
although their number was chosen on the test rows, and that of the mixture 0.8867
(``benchmarks/tree_boost_start.py``).
"""

from math import log
from typing import NamedTuple

import numpy as np

from auctor._progress import Progress
from auctor._typing import Bools, Floats
from auctor.data import RankingData, Workers
from auctor.data.row_arrays import row_blocks
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.common.finish import codes_in, score_rows
from auctor.learners.common.held_out_auc import held_out_auc
from auctor.learners.common.score_line import scores_at
from auctor.learners.tree_boost.rounds import Booster, Scores, add_to_rows
from auctor.learners.tree_boost.settings import TreeBoostSettings
from auctor.models import AdditiveModel

WEIGHTS = np.linspace(0.0, 1.0, 9)  # of the trees
# The weight and the number of trees that few rows give no reason to leave, and what it costs.
_USUAL_WEIGHT, _WEIGHT_COST = 0.375, 12.0
_USUAL_TREES, _TREES_COST = 20.0, 3.0  # trees times the learning rate
# How much the last trees must gain to go on while no mixture gains, in the same unit.
_CLEAR_GAIN = 12.0
# The AUC at a number of trees is averaged with those before and after it.
_NEIGHBOURS = np.array([0.25, 0.5, 0.25])
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
        smooth: list[Floats] | None,
        workers: Workers,
        journal: Journal,
    ) -> None:
        train, test = masks
        self._booster = Booster(data.take(train), settings, workers, journal=journal)
        self._trees = Scores.start(data.take(test), None)
        self._fpr_range = settings.fpr_range
        self.is_done = False
        self._smooth = smooth

    @property
    def n_known(self) -> int:
        """Number of trees of an earlier run."""
        return len(self._booster.log.known)

    def step(self) -> None:
        """Add a tree."""
        if self.is_done:
            return
        added = self._booster.add()
        if added is None:
            self.is_done = True
        else:
            assert self._booster.steps is not None
            add_to_rows(self._trees, added[0], self._booster.steps)

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
    smooth: list[list[Floats]] | None,
    workers: Workers,
    journal: Journal = NO_JOURNAL,
) -> Mixture:
    """Add trees to the models of all folds until held-out rows gain no more; choose the best.

    ``smooth`` are the scores of the held-out rows of each fold by the smooth model, by partition.
    """
    if data.group.size > 1:  # its members must work on the folds in the same order
        workers = Workers(1)
    inner = Workers(1) if len(folds) > 1 else workers  # threads work on different folds
    beside: list[list[Floats] | None] = [*smooth] if smooth else [None] * len(folds)
    runs = workers.map(
        lambda fold: _Fold(data, fold[0], settings, fold[1], inner, fold[2]),
        [
            (*own, journal.part(f"fold {k}"))
            for k, own in enumerate(zip(folds, beside, strict=True))
        ],
    )
    usual_trees = min(_USUAL_TREES / settings.learning_rate, settings.n_estimators)
    choice = Choice(min(data.effective_rows), usual_trees, smooth is not None)
    progress = Progress(
        settings.n_estimators,
        "choosing the number of trees",
        settings.verbose,
        resumed=min(run.n_known for run in runs),
    )
    checks, aucs, ratios = [0], [np.array([run.aucs() for run in runs]).T], [1.0]
    next_check = _FIRST_CHECK
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
        if is_last or not choice.gains(checks, np.array(aucs), settings.n_iter_no_change):
            break
    progress.close()
    best, weight = choice.find(checks, np.array(aucs))
    n_trees = checks[best] if weight > 0.0 else 0
    if smooth is None:
        return Mixture(max(n_trees, 1), 1.0, 1.0, checks, np.array(aucs))
    return Mixture(n_trees, weight if n_trees else 0.0, ratios[best], checks, np.array(aucs))


class Choice:
    """Chooses the number of trees and their weight by the AUC of held-out rows.

    The best of many candidates looks better than it is, by more the fewer rows there are, and few
    trees of a large weight look good by luck. Each candidate therefore has a cost, which is the
    larger the farther it is from a usual number of trees and from a usual weight, slightly in
    favour of the smooth model, which varies less than trees. It is proportional to A (1 - A) / n,
    the size of the variance of an AUC of A with n rows of the smaller class.
    """

    def __init__(self, n_rows: float, usual_trees: float, has_smooth: bool) -> None:
        self._n_rows, self._usual_trees = n_rows, usual_trees
        self._weights = WEIGHTS if has_smooth else np.ones(1)

    def find(self, checks: list[int], aucs: Floats) -> tuple[int, float]:
        """The chosen check and weight; ``aucs`` are by check, weight and fold."""
        means = aucs.mean(axis=2)
        quality = _average_neighbours(means) - self._unit(means) * self._costs(checks)
        if self._weights[0] == 0.0:  # no tree has any weight
            quality[0, 1:] = quality[1:, 0] = -np.inf
        check, at = np.unravel_index(int(np.argmax(quality)), quality.shape)
        return int(check), float(self._weights[at])

    def gains(self, checks: list[int], aucs: Floats, n_last: int) -> bool:
        """Whether the last ``n_last`` trees gained anything, for the mixture or by themselves.

        Where features interact, the first trees are far behind the smooth model and no mixture
        gains by them, although the trees overtake it later. Trees therefore go on as long as they
        improve by themselves, by more than few rows show by chance.
        """
        if checks[-1] - checks[self.find(checks, aucs)[0]] < n_last:
            return True
        alone = _average_neighbours(aucs.mean(axis=2))[:, -1]
        is_new = np.array(checks) > checks[-1] - n_last
        return bool(alone[is_new].max() - alone[~is_new].max() > _CLEAR_GAIN * self._unit(alone))

    def _unit(self, aucs: Floats) -> float:
        """The size of the variance of an AUC."""
        best = float(aucs.max())
        return best * (1.0 - best) / self._n_rows

    def _costs(self, checks: list[int]) -> Floats:
        """The cost (check, weight) in units of the variance."""
        far = [log(max(n_trees, 1) / self._usual_trees) for n_trees in checks]
        of_trees = _TREES_COST * np.array(far) ** 2
        if self._weights[0] == 0.0:
            of_trees[0] = 0.0
        return np.asarray(of_trees[:, None] + _WEIGHT_COST * (self._weights - _USUAL_WEIGHT) ** 2)


def _average_neighbours(means: Floats) -> Floats:
    """The AUCs (check, weight) averaged with those of the checks beside; the first is apart."""
    out = means.copy()
    if len(means) > 2:
        padded = np.concatenate([means[1:2], means[1:], means[-1:]])
        out[1:] = sum(f * padded[k : k + len(means) - 1] for k, f in enumerate(_NEIGHBOURS))
    return out


def score_codes(model: AdditiveModel, data: RankingData) -> list[Floats]:
    """Scores by a model that was fitted to rows with the same bins, for each partition."""
    tables = []
    for own, steps, feature in zip(model.features, model.steps, data.features, strict=True):
        table = np.zeros(data.n_codes)
        table[: feature.n_bins + 1] = steps[codes_in(feature, own)]
        tables.append(table)
    scores = [score_rows(part, tables) for part in data.partitions]
    for score in scores:
        score += model.intercept
    for surface in model.surfaces:
        (a, b), axes = surface.features, surface.axes
        first, second = codes_in(data.features[a], axes[0]), codes_in(data.features[b], axes[1])
        for score, part in zip(scores, data.partitions, strict=True):
            for rows in row_blocks(part.n_rows):
                cells = first[part.codes[a][rows]], second[part.codes[b][rows]]
                score[rows] += surface.values[cells]
    return scores


def spread(data: RankingData, scores: list[Floats]) -> float:
    """Half of the distance between the quantiles 0.16 and 0.84: the sd of a normal distribution.

    Unlike a sum of squares it does not depend on the order of the rows. A row of weight 2 counts as
    two rows.
    """
    places = [int(q * (sum(data.class_weights) - 1)) for q in (0.16, 0.84)]
    first, low, high, last = scores_at(data, scores, places)
    return (high - low) / 2.0 or last - first or 1.0
