"""Penalties of SmoothAUCBoost by K-fold cross-validation (Komori 2010, section 3.3).

Each fold is made ready once and walks along the path of candidates, every one starting from the
maximum of the one before. Shrinkage is sought first, at the automatic penalty, then the penalty at
the shrinkage that was found: their effects hardly mix, and a line costs less than a grid. Last,
surfaces are tried. The stagewise solver has a path of its own: every lambda, after every round.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from auctor._progress import Progress
from auctor._typing import Bools, Floats
from auctor.data import RankingData, Workers
from auctor.learners.smooth.held_out import HeldOut
from auctor.learners.smooth.interactions import find_pairs
from auctor.learners.smooth.newton import Patience
from auctor.learners.smooth.objective import Point
from auctor.learners.smooth.problem import Amounts, Problem, Settings, auto_amounts
from auctor.learners.smooth.screening import narrow, screen
from auctor.learners.smooth.stagewise import boost
from auctor.learners.smooth.surfaces import JointProblem

# Lambdas of the stagewise solver: those of the paper's Figure 2, and one above.
LAMBDAS = (0.1, 0.01, 0.001, 0.0001)
# Multiples of the automatic amounts.
SHRINKAGES = (30.0, 3.0, 1.0, 0.3)
PENALTIES = (10.0, 1.0, 0.1)
# Near enough to a maximum for the AUC of held-out rows.
_TOL = 1e-5
_CELLS_FOR_THREADS = 1_000_000
# The "paired" rule leaves the automatic amounts for a gain of so many standard errors.
_SURE = 2.0


@dataclass(frozen=True)
class Candidate:
    """What was tried, and the AUC of every fold."""

    amounts: Amounts
    aucs: tuple[float, ...]
    interactions: int = 0
    n_rounds: int | None = None  # of the stagewise solver
    staged: Floats | None = None  # (folds, rounds): the AUC after each of its rounds

    @property
    def mean(self) -> float:
        return float(np.mean(self.aucs)) if self.aucs else float("nan")

    @property
    def error(self) -> float:
        """Standard error of the mean over the folds."""
        return _error(np.array(self.aucs))

    def sure_gain(self, other: "Candidate", n_errors: float) -> float:
        """Mean gain over ``other`` in the same folds, less so many of its standard errors."""
        gains = np.array(self.aucs) - np.array(other.aucs)
        return float(gains.mean()) - n_errors * _error(gains)


class Fold:
    """One fold: its training rows as a problem, and its held-out rows."""

    def __init__(
        self, train: RankingData, held_out: RankingData, settings: Settings, workers: Workers
    ) -> None:
        kept = screen(train, settings)  # on the training rows alone
        if kept is not None:
            train, held_out = train.take_features(kept), held_out.take_features(kept)
            settings = narrow(settings, kept)
        self._rows, self._settings = held_out, settings
        self._held_out = HeldOut(held_out, settings)
        self._problem = Problem(train, settings, workers)
        self._adapted = self._problem.adapted()
        self._last: Floats | None = None

    def auc_at(self, amounts: Amounts) -> float:
        """The AUC of the held-out rows with these amounts; the next call starts from here."""
        point = self._climb(amounts)
        self._last = point.x
        return self._held_out.auc(point.x)

    def auc_with_surfaces(self, amounts: Amounts, most: int) -> float:
        """The same with surfaces of the most useful pairs."""
        problem, point = self._problem, self._climb(amounts)
        pairs = find_pairs(problem, point.x, most)
        if not pairs:
            return self._held_out.auc(point.x)
        joint = JointProblem(problem, problem.roughness.weigh(*amounts, self._adapted), pairs)
        point, _ = joint.climb(point, Patience(_TOL, self._settings.max_iter))
        return HeldOut(self._rows, self._settings, pairs).auc(point.x)

    def aucs_by_rounds(self, amounts: Amounts) -> list[float]:
        """The AUC of the held-out rows after each round of the stagewise solver."""
        aucs: list[float] = []

        def after(point: Point) -> bool:
            aucs.append(self._held_out.auc(point.x))
            return False

        n_rounds = self._settings.n_estimators
        penalty = self._problem.roughness.weigh(*amounts, self._adapted)
        boost(self._problem, penalty, n_rounds=n_rounds, after=after)
        last = aucs[-1] if aucs else self._held_out.auc(np.zeros(int(np.prod(penalty.shape))))
        return aucs + [last] * (n_rounds - len(aucs))  # it stopped where no stump had a slope

    def _climb(self, amounts: Amounts) -> Point:
        penalty = self._problem.roughness.weigh(*amounts, self._adapted)
        # A monotone start must be well inside its bounds, which the end of the last climb is not.
        start = None if self._problem.signs.any() else self._last
        point, _ = self._problem.climb(penalty, start, Patience(_TOL, self._settings.max_iter))
        return point


class Path:
    """All folds side by side along the candidates."""

    def __init__(
        self,
        data: RankingData,
        settings: Settings,
        folds: Sequence[tuple[Bools, Bools]],
        workers: Workers,
    ) -> None:
        """``folds`` mark the rows to train on and to hold out by their place in the table."""
        self._workers, self._alone = workers, Workers(1)
        self._progress = Progress(None, "cross-validation", settings.verbose)
        self.auto = auto_amounts(data, settings)
        self._folds = workers.map(
            lambda fold: Fold(data.take(fold[0]), data.take(fold[1]), settings, self._alone), folds
        )
        self.candidates: list[Candidate] = []

    def along(self, path: Sequence[Amounts]) -> None:
        """Try amounts one after the other, those already tried left out."""
        known = [candidate.amounts for candidate in self.candidates]
        path = [amounts for amounts in path if amounts not in known]
        lines = self._workers.map(lambda fold: [fold.auc_at(a) for a in path], self._folds)
        for i, amounts in enumerate(path):
            self._add(Candidate(amounts, tuple(line[i] for line in lines)))

    def try_line(self, path: Sequence[Amounts], from_the_middle: bool) -> None:
        """All amounts of a line; or from the automatic ones outward, as long as they may help."""
        if not from_the_middle:
            self.along(path)
            return
        middle = min(range(len(path)), key=lambda i: _distance(path[i], self.auto))
        self.along([path[middle]])
        for side in (path[middle + 1 :], path[:middle][::-1]):
            for amounts in side:
                self.along([amounts])
                tried = self._of(amounts)
                best = max(self.candidates, key=lambda candidate: candidate.mean)
                if tried is not best and best.sure_gain(tried, 1.0) > 0.0:
                    break  # surely worse, and further out it gets no better

    def _of(self, amounts: Amounts) -> Candidate:
        return next(c for c in self.candidates if c.amounts == amounts)

    def with_surfaces(self, chosen: Candidate, most: int) -> None:
        """Try surfaces beside the chosen amounts."""
        aucs = self._workers.map(
            lambda fold: fold.auc_with_surfaces(chosen.amounts, most), self._folds
        )
        self._add(replace(chosen, aucs=tuple(aucs), interactions=most))

    def by_rounds(self, amounts: Amounts) -> None:
        """Try the stagewise solver after every round; the best of them counts."""
        staged = np.array(self._workers.map(lambda fold: fold.aucs_by_rounds(amounts), self._folds))
        best = int(np.argmax(staged.mean(axis=0)))
        self._add(Candidate(amounts, tuple(staged[:, best].tolist()), 0, best + 1, staged))

    def close(self) -> None:
        self._progress.close(f"{len(self.candidates)} candidates")

    def _add(self, candidate: Candidate) -> None:
        self.candidates.append(candidate)
        self._progress.step(f"AUC {candidate.mean:.4f}")


def find_amounts(
    data: RankingData,
    settings: Settings,
    folds: Sequence[tuple[Bools, Bools]],
    *,
    shrinkages: Sequence[float] | None = None,
    penalties: Sequence[float] | None = None,
    rule: str = "paired",
    surfaces: int = 0,
) -> tuple[Candidate, list[Candidate]]:
    """The candidate that the rule chooses, and all of them in the order in which they were tried.

    Amounts that are not given are multiples of the automatic ones. Up to ``surfaces`` pairs are
    tried, and left out where the rule says so; ``settings.interactions`` are kept in any case.
    """
    # On small tables threads wait for each other more than they work (measured at 1e4 x 20).
    n_jobs = settings.n_jobs if data.n_rows * data.n_features >= _CELLS_FOR_THREADS else 1
    with Workers(n_jobs) as workers:
        if not folds:
            return Candidate(auto_amounts(data, settings), ()), []
        path = Path(data, settings, folds, workers)
        choose = partial(choose_candidate, rule=rule, auto=path.auto)
        if settings.solver == "stagewise":
            _try_rounds(path, shrinkages, penalties)
            path.close()
            return choose(path.candidates), path.candidates
        path.try_line(_amounts(path.auto, shrinkages, SHRINKAGES, "shrinkage"), shrinkages is None)
        begun = choose(path.candidates).amounts._replace(penalty=path.auto.penalty)
        path.try_line(_amounts(begun, penalties, PENALTIES, "penalty"), penalties is None)
        if penalties is not None:  # the automatic one was only a point to look from
            given = [c for c in path.candidates if c.amounts.penalty in set(penalties)]
            path.candidates = given
        chosen = choose(path.candidates)
        if surfaces > 0 or settings.interactions > 0:
            path.with_surfaces(chosen, surfaces or settings.interactions)
            asked = path.candidates[-1]
            chosen = asked if surfaces == 0 else _with_or_without(chosen, asked, rule)
        path.close()
    return chosen, path.candidates


def choose_candidate(candidates: Sequence[Candidate], rule: str, auto: Amounts) -> Candidate:
    """By "best" mean AUC; by "one_se" the strongest penalties within its standard error.

    By "paired" the automatic amounts, unless others gain more than two standard errors of the
    difference within the folds: among nearly equal candidates the largest mean is mostly luck.
    """
    best = max(candidates, key=lambda c: (c.mean, c.amounts.shrinkage, c.amounts.penalty))
    if rule == "best":
        return best
    if rule == "one_se":
        near = [c for c in candidates if c.mean >= best.mean - best.error]
        return max(near, key=lambda c: (c.amounts.shrinkage, c.amounts.penalty, c.mean))
    usual = min(candidates, key=lambda c: _distance(c.amounts, auto))
    return max(candidates, key=lambda c: (c.sure_gain(usual, _SURE), c.amounts == usual.amounts))


def _with_or_without(without: Candidate, surfaces: Candidate, rule: str) -> Candidate:
    """Surfaces are harder to read than lines: unless asked for the best, they must be sure."""
    n_errors = 0.0 if rule == "best" else 1.0
    return surfaces if surfaces.sure_gain(without, n_errors) > 0.0 else without


def _try_rounds(
    path: Path, shrinkages: Sequence[float] | None, penalties: Sequence[float] | None
) -> None:
    """Every penalty with every shrinkage; of these only the automatic one unless given."""
    usual = [path.auto] if shrinkages is None else _amounts(path.auto, shrinkages, (), "shrinkage")
    for base in usual:
        for amounts in _amounts(base, penalties or LAMBDAS, (), "penalty"):
            path.by_rounds(amounts)


def _amounts(
    base: Amounts, given: Sequence[float] | None, multiples: Sequence[float], name: str
) -> list[Amounts]:
    """Amounts that differ from ``base`` in one, the largest first.

    The ridge, which does for categories what shrinkage does for numbers, goes along with it.
    """
    own = getattr(base, name)
    values = sorted(given, reverse=True) if given is not None else [m * own for m in multiples]
    out = []
    for value in values:
        changed = base._replace(**{name: value})
        if name == "shrinkage" and own not in (0.0, value):
            changed = changed._replace(ridge=base.ridge * value / own)
        out.append(changed)
    return out


def _distance(amounts: Amounts, auto: Amounts) -> float:
    """How many times larger or smaller than the automatic amounts, on a logarithmic scale."""
    pairs = zip(amounts[:2], auto[:2], strict=True)
    return float(sum(abs(np.log((a + 1e-300) / (b + 1e-300))) for a, b in pairs))


def _error(values: Floats) -> float:
    """Standard error of the mean; of a single value none."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
