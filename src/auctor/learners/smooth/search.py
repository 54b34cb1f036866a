"""Penalties of SmoothAUCBoost by K-fold cross-validation (Komori 2010, section 3.3).

Each fold is prepared once and evaluates the candidates one after the other, each starting from the
maximum of the one before. Shrinkage is searched first, at the automatic penalty, and then the
penalty at the chosen shrinkage: their effects hardly interact, and two searches in one dimension
cost less than a grid. Then the values that left their smooth curves are put back on them, and stay
there unless the held-out rows lose by it. Last, surfaces are tried. The stagewise solver is
searched differently: every lambda is evaluated after every round.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from auctor._progress import Progress
from auctor._typing import Bools, Floats
from auctor.data import RankingData, Workers
from auctor.learners.checkpoint.checkpoint import NO_JOURNAL, Journal
from auctor.learners.smooth.held_out import HeldOut
from auctor.learners.smooth.interactions import find_pairs
from auctor.learners.smooth.newton import Patience
from auctor.learners.smooth.objective import Point
from auctor.learners.smooth.problem import Problem
from auctor.learners.smooth.screening import narrow, screen
from auctor.learners.smooth.settings import Amounts, SmoothSettings, auto_amounts
from auctor.learners.smooth.stagewise import boost
from auctor.learners.smooth.surfaces import JointProblem

# Lambdas of the stagewise solver: those of Figure 2 in Komori (2010), and a larger one.
LAMBDAS = (0.1, 0.01, 0.001, 0.0001)
# Multiples of the automatic amounts.
SHRINKAGES = (30.0, 3.0, 1.0, 0.3)
PENALTIES = (10.0, 1.0, 0.1)
# The tolerance of a fit, close enough to the maximum for the AUC of held-out rows.
_TOL = 1e-5
_CELLS_FOR_THREADS = 1_000_000
# The work of a candidate with surfaces, in candidates without (measured on 1e6 rows: 6 to 8).
_WORK_OF_SURFACES = 6.0
# The rule "paired" replaces the automatic amounts for a gain of this many standard errors.
_SURE = 2.0

# The rows to train on and the rows to hold out, by their index in the table.
FoldMasks = tuple[Bools, Bools]


@dataclass(frozen=True)
class Candidate:
    """Amounts of penalty that were tried, and the AUC of every fold.

    ``n_rounds`` is that of the stagewise solver, and ``staged`` (folds, rounds) the AUC after each
    of its rounds. ``single_values`` is whether the held-out rows confirm that single values leave
    their smooth curves.
    """

    amounts: Amounts
    aucs: tuple[float, ...]
    interactions: int = 0
    n_rounds: int | None = None
    staged: Floats | None = None
    single_values: bool = False

    @property
    def mean(self) -> float:
        """Mean AUC over the folds."""
        return float(np.mean(self.aucs)) if self.aucs else float("nan")

    @property
    def error(self) -> float:
        """Standard error of the mean over the folds."""
        return _error(np.array(self.aucs))

    def sure_gain(self, other: "Candidate", n_errors: float) -> float:
        """Mean gain over ``other`` in the same folds, minus ``n_errors`` standard errors of it."""
        gains = np.array(self.aucs) - np.array(other.aucs)
        return float(gains.mean()) - n_errors * _error(gains)


class Fold:
    """One fold: its training rows as a problem, and its held-out rows.

    ``adapted`` are the features' own multiples of the penalties on the training rows, and ``last``
    is the last maximum, from which the next fit starts. ``scores`` are those of the held-out rows
    by amounts and number of pairs.
    """

    def __init__(
        self,
        train: RankingData,
        held_out: RankingData,
        settings: SmoothSettings,
        workers: Workers,
        journal: Journal = NO_JOURNAL,
    ) -> None:
        kept = screen(train, settings)  # on the training rows only
        if kept is not None:
            train, held_out = train.take_features(kept), held_out.take_features(kept)
            settings = narrow(settings, kept)
        self._rows, self._settings = held_out, settings
        self._held_out = HeldOut(held_out, settings)
        self.problem = Problem(train, settings, workers, journal)
        self.adapted = self.problem.adapted()
        self.last: Floats | None = None
        self.scores: dict[tuple[Amounts, int], list[Floats]] = {}

    def auc_at(self, amounts: Amounts) -> float:
        """The AUC of the held-out rows with these amounts; the next call starts from here."""
        point = self._climb(amounts)
        self.last = point.x
        return self._keep(self._held_out, point.x, amounts)

    @property
    def has_single_values(self) -> bool:
        """Whether values of some feature leave its smooth curve."""
        return self.adapted is not None and bool(np.isfinite(self.adapted.loose).any())

    def keep_on_curves(self) -> None:
        """Let no value leave its smooth curve in later fits."""
        if self.adapted is not None:
            loose = np.full_like(self.adapted.loose, np.inf)
            self.adapted = self.adapted._replace(loose=loose)

    def auc_with_surfaces(self, amounts: Amounts, most: int) -> float:
        """The AUC of the held-out rows with surfaces of up to ``most`` pairs."""
        problem, point = self.problem, self._climb(amounts)
        pairs = find_pairs(problem, point.x, most)
        if not pairs:
            return self._keep(self._held_out, point.x, amounts, most)
        joint = JointProblem(problem, problem.roughness.weigh(*amounts, self.adapted), pairs)
        point, _ = joint.climb(point, self._patience())
        return self._keep(HeldOut(self._rows, self._settings, pairs), point.x, amounts, most)

    def _keep(self, held_out: HeldOut, x: Floats, amounts: Amounts, most: int = 0) -> float:
        scores = held_out.scores(x)
        self.scores[amounts, most] = scores
        return held_out.auc_of(scores)

    def aucs_by_rounds(self, amounts: Amounts) -> list[float]:
        """The AUC of the held-out rows after each round of the stagewise solver."""
        aucs: list[float] = []
        journal = self.problem.journal.numbered("climb")
        log = journal.log("aucs", float)

        def after(point: Point) -> bool:
            aucs.append(log.next(lambda: self._held_out.auc(point.x)))
            return False

        def skipped(n_rounds: int, _: Callable[[Floats], Point]) -> None:
            aucs.extend(log.take(n_rounds))

        n_rounds = self._settings.n_estimators
        penalty = self.problem.roughness.weigh(*amounts, self.adapted)
        boost(
            self.problem, penalty, n_rounds=n_rounds, after=after, journal=journal, skipped=skipped
        )
        last = aucs[-1] if aucs else self._held_out.auc(np.zeros(int(np.prod(penalty.shape))))
        return aucs + [last] * (n_rounds - len(aucs))  # no stump had a slope after these rounds

    def _climb(self, amounts: Amounts) -> Point:
        penalty = self.problem.roughness.weigh(*amounts, self.adapted)
        point, _ = self.problem.climb(penalty, self.last, self._patience())
        return point

    def _patience(self) -> Patience:
        journal = self.problem.journal.numbered("climb")
        return Patience(_TOL, self._settings.max_iter, journal=journal)


class AmountSearch:
    """Tries amounts of penalty in all folds, with one thread for each fold."""

    def __init__(
        self,
        data: RankingData,
        settings: SmoothSettings,
        folds: Sequence[FoldMasks],
        workers: Workers,
        journal: Journal = NO_JOURNAL,
    ) -> None:
        self._workers, self._alone = workers, Workers(1)
        # At most so many candidates; surfaces take several times as long as the others.
        total = len(SHRINKAGES) + len(PENALTIES)
        work = total + _WORK_OF_SURFACES - 1.0
        is_known = settings.solver == "newton"
        self._progress = Progress(
            total if is_known else None, "cross-validation", settings.verbose, work=work
        )
        self.auto = auto_amounts(data, settings)
        self._folds = workers.map(
            lambda fold: Fold(
                data.take(fold[0]), data.take(fold[1]), settings, self._alone, fold[2]
            ),
            [(*masks, journal.part(f"fold {k}")) for k, masks in enumerate(folds)],
        )
        self.candidates: list[Candidate] = []

    def try_all(self, path: Sequence[Amounts]) -> None:
        """Try amounts one after the other, except those already tried."""
        known = [candidate.amounts for candidate in self.candidates]
        path = [amounts for amounts in path if amounts not in known]
        aucs = self._workers.map(lambda fold: [fold.auc_at(a) for a in path], self._folds)
        for i, amounts in enumerate(path):
            self._add(Candidate(amounts, tuple(own[i] for own in aucs)))

    def keep_penalties(self, penalties: Sequence[float]) -> None:
        """Drop the candidates with other penalties."""
        self.candidates = [c for c in self.candidates if c.amounts.penalty in set(penalties)]

    def try_outward(self, path: Sequence[Amounts]) -> None:
        """Try amounts from the automatic ones outward, on each side until one is clearly worse."""
        middle = min(range(len(path)), key=lambda i: _distance(path[i], self.auto))
        self.try_all([path[middle]])
        for side in (path[middle + 1 :], path[:middle][::-1]):
            for amounts in side:
                self.try_all([amounts])
                tried = self._of(amounts)
                best = max(self.candidates, key=lambda candidate: candidate.mean)
                if tried is not best and best.sure_gain(tried, 1.0) > 0.0:
                    break

    def _of(self, amounts: Amounts) -> Candidate:
        return next(c for c in self.candidates if c.amounts == amounts)

    def check_single_values(self, chosen: Candidate, rule: str) -> Candidate:
        """Put all values on their smooth curves, unless the held-out rows lose by it.

        A curve with single values that leave it is harder to read than one without, so that they
        need a sure gain, as surfaces do.
        """
        if not any(fold.has_single_values for fold in self._folds):
            return chosen
        before = [(fold.adapted, fold.scores[chosen.amounts, 0]) for fold in self._folds]
        for fold in self._folds:
            fold.keep_on_curves()
        aucs = self._workers.map(lambda fold: fold.auc_at(chosen.amounts), self._folds)
        tight, loose = replace(chosen, aucs=tuple(aucs)), replace(chosen, single_values=True)
        if only_if_sure(tight, chosen, rule) is tight:
            self.candidates = [tight if c is chosen else c for c in self.candidates]
            return tight
        for fold, (adapted, scores) in zip(self._folds, before, strict=True):
            fold.adapted, fold.scores[chosen.amounts, 0] = adapted, scores
        return loose

    def try_surfaces(self, chosen: Candidate, most: int) -> None:
        """Try the amounts of ``chosen`` with surfaces of up to ``most`` pairs."""
        aucs = self._workers.map(
            lambda fold: fold.auc_with_surfaces(chosen.amounts, most), self._folds
        )
        self._add(replace(chosen, aucs=tuple(aucs), interactions=most))

    def try_rounds(self, amounts: Amounts) -> None:
        """Try the stagewise solver after every round; the candidate is the best of them."""
        staged = np.array(self._workers.map(lambda fold: fold.aucs_by_rounds(amounts), self._folds))
        best = int(np.argmax(staged.mean(axis=0)))
        self._add(Candidate(amounts, tuple(staged[:, best].tolist()), 0, best + 1, staged))

    def scores_of(self, chosen: Candidate) -> list[list[Floats]]:
        """The scores of the held-out rows of each fold, by partition."""
        return [fold.scores[chosen.amounts, chosen.interactions] for fold in self._folds]

    def close(self) -> None:
        """End the progress bar."""
        self._progress.close(f"{len(self.candidates)} candidates", is_complete=True)

    def _add(self, candidate: Candidate) -> None:
        self.candidates.append(candidate)
        work = 1.0 if candidate.interactions == 0 else _WORK_OF_SURFACES
        self._progress.step(f"held-out value {candidate.mean:.4f}", work)


class Search(NamedTuple):
    """What a search found."""

    chosen: Candidate
    candidates: list[Candidate]  # in the order in which they were tried; empty without folds
    scores: list[list[Floats]]  # of the held-out rows of each fold, by partition


def find_amounts(
    data: RankingData,
    settings: SmoothSettings,
    folds: Sequence[FoldMasks],
    *,
    shrinkages: Sequence[float] | None = None,
    penalties: Sequence[float] | None = None,
    rule: str = "paired",
    surfaces: int = 0,
    journal: Journal = NO_JOURNAL,
) -> Search:
    """Choose the amounts of penalty by cross-validation.

    Parameters
    ----------
    data : RankingData
        The training rows.
    settings : SmoothSettings
        The settings of the fits; surfaces of ``settings.interactions`` pairs are always kept.
    folds : sequence of (ndarray of bool, ndarray of bool)
        The rows to train on and to hold out, by their index in the table.
    shrinkages, penalties : sequence of float, optional
        Amounts to try; None for multiples of the automatic ones.
    rule : {"paired", "best", "one_se"}, default="paired"
        The rule of ``choose_candidate``.
    surfaces : int, default=0
        Maximum number of pairs to try as surfaces, which the rule keeps or leaves out.
    journal : Journal, optional
        What the search notes of the iterations of each fold.

    Returns
    -------
    Search
        The choice of the rule, all candidates, and the scores of the held-out rows by the choice;
        there are none for the stagewise solver.
    """
    # On small tables threads wait more than they work (measured with 1e4 rows and 20 features).
    # Members of a group must try candidates in the same order, which threads do not keep.
    is_large = data.n_rows * data.n_features >= _CELLS_FOR_THREADS and data.group.size == 1
    n_jobs = settings.n_jobs if is_large else 1
    if not folds:
        return Search(Candidate(auto_amounts(data, settings), ()), [], [])
    with Workers(n_jobs) as workers:
        search = AmountSearch(data, settings, folds, workers, journal)
        choose = partial(choose_candidate, rule=rule, auto=search.auto)
        scores: list[list[Floats]] = []
        if settings.solver == "stagewise":
            _search_rounds(search, shrinkages, penalties)
            chosen = choose(search.candidates)
        else:
            _search_amounts(search, choose, shrinkages, penalties)
            chosen = search.check_single_values(choose(search.candidates), rule)
            if surfaces > 0 or settings.interactions > 0:
                search.try_surfaces(chosen, surfaces or settings.interactions)
                tried = search.candidates[-1]
                chosen = tried if surfaces == 0 else only_if_sure(chosen, tried, rule)
            scores = search.scores_of(chosen)
        search.close()
    return Search(chosen, search.candidates, scores)


def choose_candidate(candidates: Sequence[Candidate], rule: str, auto: Amounts) -> Candidate:
    """Choose one of the candidates by a rule.

    "best" takes the largest mean AUC; "one_se" the strongest penalties within one standard error of
    it. "paired" takes the automatic amounts, unless others gain more than two standard errors of
    the difference within the folds: among nearly equal candidates the largest mean is mostly luck.
    """
    best = max(candidates, key=lambda c: (c.mean, c.amounts.shrinkage, c.amounts.penalty))
    if rule == "best":
        return best
    if rule == "one_se":
        near = [c for c in candidates if c.mean >= best.mean - best.error]
        return max(near, key=lambda c: (c.amounts.shrinkage, c.amounts.penalty, c.mean))
    usual = min(candidates, key=lambda c: _distance(c.amounts, auto))
    return max(candidates, key=lambda c: (c.sure_gain(usual, _SURE), c.amounts == usual.amounts))


def only_if_sure(simple: Candidate, other: Candidate, rule: str) -> Candidate:
    """The model that is harder to read, ``other``, only for a sure gain in the same folds.

    With the rule "best" any gain is enough.
    """
    n_errors = 0.0 if rule == "best" else 1.0
    return other if other.sure_gain(simple, n_errors) > 0.0 else simple


def _search_amounts(
    search: AmountSearch,
    choose: Callable[[Sequence[Candidate]], Candidate],
    shrinkages: Sequence[float] | None,
    penalties: Sequence[float] | None,
) -> None:
    """Shrinkage at the automatic penalty, then the penalty at the chosen shrinkage."""
    first = _amounts(search.auto, shrinkages, SHRINKAGES, "shrinkage")
    search.try_all(first) if shrinkages is not None else search.try_outward(first)
    chosen = choose(search.candidates).amounts._replace(penalty=search.auto.penalty)
    second = _amounts(chosen, penalties, PENALTIES, "penalty")
    search.try_all(second) if penalties is not None else search.try_outward(second)
    if penalties is not None:  # the automatic penalty was not among those to choose from
        search.keep_penalties(penalties)


def _search_rounds(
    search: AmountSearch, shrinkages: Sequence[float] | None, penalties: Sequence[float] | None
) -> None:
    """Every penalty with every shrinkage, or with the automatic shrinkage if none is given."""
    bases = [search.auto]
    if shrinkages is not None:
        bases = _amounts(search.auto, shrinkages, (), "shrinkage")
    for base in bases:
        for amounts in _amounts(base, penalties or LAMBDAS, (), "penalty"):
            search.try_rounds(amounts)


def _amounts(
    base: Amounts, given: Sequence[float] | None, multiples: Sequence[float], name: str
) -> list[Amounts]:
    """Amounts that differ from ``base`` in the one called ``name``, the largest first.

    The ridge, which does for categories what shrinkage does for numbers, changes in proportion to
    the shrinkage.
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
    """Distance of penalty and shrinkage from the automatic ones, on a logarithmic scale."""
    pairs = zip(amounts[:2], auto[:2], strict=True)
    return float(sum(abs(np.log((a + 1e-300) / (b + 1e-300))) for a, b in pairs))


def _error(values: Floats) -> float:
    """Standard error of the mean; 0 for a single value."""
    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
