"""ExactBoost by its definitions: losses row by row, trying every stump; Algorithm 1 in floats."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Ranks = npt.NDArray[np.int64]
Sides = npt.NDArray[np.bool_]

# A lead within this distance of the margin counts as equal to it: scores are sums of floats.
EQUAL = 1e-13
# Narrower ranges of steps come from rounding.
NARROW = 1e-9


def auc_loss(pos: Floats, neg: Floats, margin: float = 0.0) -> float:
    """Equation (1) of the scores of (6): positives lowered by the margin, all pairs formed."""
    won = sum(bool(s - margin > t + EQUAL) for s in pos for t in neg)
    return 1.0 - won / (len(pos) * len(neg))


def ks_loss(pos: Floats, neg: Floats, margin: float = 0.0) -> float:
    """Equation (2) of the scores of (6), with every negative's score as the threshold t."""
    gaps = [np.mean(neg <= t + EQUAL) - np.mean(pos - margin <= t + EQUAL) for t in neg]
    return 1.0 - max(0.0, float(max(gaps)))


def top_loss(pos: Floats, neg: Floats, top: float, margin: float = 0.0) -> float:
    """Equation (3) divided by k: the last row may count in part; negatives come first in ties."""
    left, total = float(top), 0.0
    rest = list(neg)
    for s in sorted(pos, reverse=True):
        above = [t for t in rest if t >= s - margin - EQUAL]
        rest = [t for t in rest if t < s - margin - EQUAL]
        left -= len(above)
        total += max(0.0, min(1.0, left))
        left -= 1.0
    return 1.0 - total / top


@dataclass(frozen=True)
class StumpSample:
    """Scores to which a stump is added; ``reach`` is their range among all rows.

    ``weight_pos`` and ``weight_neg`` are the weights of a row among the ``top`` of the table.
    """

    pos: Floats
    neg: Floats
    theta: float
    reach: float = 1.0
    weight_pos: float = 1.0
    weight_neg: float = 1.0
    top: float = 0.0


def stump_values(
    metric: str, sample: StumpSample, above_pos: Sides, above_neg: Sides, steps: Floats
) -> Floats:
    """Value of (7) for stumps that add each of the steps to the rows above a cut.

    "auc" counts pairs, "ks" is the gap times both numbers of rows, "precision_at_k" counts the
    positives among the top.
    """
    d = np.asarray(steps)[:, None]
    margin = (sample.reach + np.abs(d) / 2) * sample.theta
    pos = sample.pos + d * above_pos - margin
    neg = sample.neg + d * above_neg
    if metric == "auc":
        return (pos[:, :, None] > neg[:, None, :] + EQUAL).sum(axis=(1, 2)).astype(float)
    if metric == "ks":
        below_neg = (neg[:, None, :] <= neg[:, :, None] + EQUAL).sum(axis=2)
        below_pos = (pos[:, None, :] <= neg[:, :, None] + EQUAL).sum(axis=2)
        gaps = below_neg * pos.shape[1] - below_pos * neg.shape[1]
        return np.maximum(gaps.max(axis=1), 0).astype(float)
    pos = -np.sort(-pos, axis=1)
    above = (neg[:, None, :] >= pos[:, :, None] - EQUAL).sum(axis=2)
    position = np.arange(1, pos.shape[1] + 1)
    taken = position * sample.weight_pos + above * sample.weight_neg
    return (taken <= sample.top).sum(axis=1).astype(float)


def breakpoints(sample: StumpSample, above_pos: Sides, above_neg: Sides) -> Floats:
    """Steps at which the lead of some pair equals the margin; between them nothing changes."""
    points = [0.0]
    for s, is_up in zip(sample.pos, above_pos, strict=True):
        for t, is_neg_up in zip(sample.neg, above_neg, strict=True):
            sides = int(is_up) - int(is_neg_up)
            for sign in (1, -1):  # of d
                slope = sides - sign * sample.theta / 2
                if slope != 0:
                    d = (sample.theta * sample.reach - (s - t)) / slope
                    points += [d] if sign * d > 0 else []
    return np.unique(points)


def steps_between(points: Floats, largest: float) -> Floats:
    """The middle of every range of steps between two breakpoints.

    A lead must exceed the margin, so the value of a step is constant in an open range: the
    breakpoints themselves need not be tried.
    """
    ends = np.concatenate([[-largest], points[np.abs(points) < largest], [largest]])
    return ((ends[:-1] + ends[1:]) / 2)[np.diff(ends) > NARROW]


def whole_steps(points: Floats, largest: int) -> Floats:
    """At least one integer step between any two breakpoints that have one between them."""
    near = np.floor(points)[:, None] + np.arange(-1, 3)
    tried = np.unique(np.append(near, [-largest, 0, largest]))
    return tried[np.abs(tried) <= largest]


def every_cut(rank_pos: Ranks, rank_neg: Ranks) -> Iterator[tuple[int, int, Sides, Sides]]:
    """Yield (view, cut, positives above, negatives above) for every cut that splits the sample."""
    for view in range(len(rank_pos)):
        for cut in np.unique(np.concatenate([rank_pos[view], rank_neg[view]]))[:-1]:
            yield view, int(cut), rank_pos[view] > cut, rank_neg[view] > cut


def best_stump(
    metric: str,
    sample: StumpSample,
    rank_pos: Ranks,
    rank_neg: Ranks,
    largest: float,
    whole: bool = False,
) -> tuple[float, int, int, float]:
    """Return (value, view, cut, step) of the best stump with a step up to ``largest``."""
    best = (-1.0, -1, 0, 0.0)
    for view, cut, above_pos, above_neg in every_cut(rank_pos, rank_neg):
        points = breakpoints(sample, above_pos, above_neg)
        steps = whole_steps(points, int(largest)) if whole else steps_between(points, largest)
        values = stump_values(metric, sample, above_pos, above_neg, steps)
        k = int(values.argmax())
        if values[k] > best[0]:
            best = (float(values[k]), view, cut, float(steps[k]))
    return best


@dataclass(frozen=True)
class Round:
    """A round of Algorithm 1: the stump, whether it was accepted, and the loss after it."""

    view: int
    cut: int
    step: float
    is_kept: bool
    loss: float


Choose = Callable[[StumpSample, Ranks, Ranks], tuple[int, int, float]]


def algorithm_1(
    metric: str,
    ranks: Ranks,
    positive: npt.NDArray[np.bool_],
    samples: Sequence[npt.NDArray[np.int64]],
    theta: float,
    top: float = 0.0,
    start: Floats | None = None,
    choose: Choose | None = None,
) -> tuple[list[Round], Floats]:
    """Return the rounds of one run and its score, for given samples of row numbers.

    ``ranks`` (views, rows) orders the rows in each view. Many steps are equally good, and the
    next round depends on the choice, which ``choose`` can make.
    """

    def try_all(sample: StumpSample, rank_pos: Ranks, rank_neg: Ranks) -> tuple[int, int, float]:
        return best_stump(metric, sample, rank_pos, rank_neg, 2)[1:]

    pick = choose or try_all
    score = np.zeros(len(positive)) if start is None else start
    rounds = []
    for rows in samples:
        pos_rows, neg_rows = rows[positive[rows]], rows[~positive[rows]]
        sample = StumpSample(
            score[pos_rows],
            score[neg_rows],
            theta,
            weight_pos=float(positive.sum() / len(pos_rows)),
            weight_neg=float((~positive).sum() / len(neg_rows)),
            top=top,
        )
        view, cut, step = pick(sample, ranks[:, pos_rows], ranks[:, neg_rows])
        new = score + step * (ranks[view] > cut)
        before, after = (_loss(metric, s, positive, theta, top) for s in (score, new))
        is_kept = after <= before + EQUAL and float(np.ptp(new)) > 0
        if is_kept:
            score = (new - new.min()) / np.ptp(new)
        loss = _loss(metric, score, positive, theta, top)
        rounds.append(Round(view, cut, step, is_kept, loss))
    return rounds, score


def _loss(
    metric: str, score: Floats, positive: npt.NDArray[np.bool_], theta: float, top: float
) -> float:
    pos, neg = score[positive], score[~positive]
    if metric == "auc":
        return auc_loss(pos, neg, theta)
    return ks_loss(pos, neg, theta) if metric == "ks" else top_loss(pos, neg, top, theta)


@dataclass(frozen=True)
class StumpProblem:
    """A small sample of integer scores with its ranks (views, rows) and the largest step."""

    sample: StumpSample
    rank_pos: Ranks
    rank_neg: Ranks
    largest: int


def random_problem(
    seed: int, n_rows: int = 6, n_scores: int = 13, n_ranks: int = 4, n_views: int = 3
) -> StumpProblem:
    """Draw problems: unequal classes, ties in scores and ranks, any margin; exact numbers."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, n_rows + 1, size=2)
    pos, neg = (np.sort(rng.integers(0, n_scores, size=n)).astype(float) for n in sizes)
    reach = float(np.ptp(np.concatenate([pos, neg])) + rng.integers(1, 3))
    weight_pos, weight_neg = rng.choice([0.5, 1.0, 1.75, 4.0], size=2)
    heaviest = sizes @ [weight_pos, weight_neg]
    sample = StumpSample(
        pos,
        neg,
        theta=float(rng.choice([0.0, 0.0625, 0.25, 0.5, 1.0])),
        reach=reach,
        weight_pos=float(weight_pos),
        weight_neg=float(weight_neg),
        top=float(np.round(rng.uniform(0.25, heaviest + 1.0) * 4) / 4),
    )
    n_seen = rng.integers(1, n_ranks + 1, size=n_views)  # a view may have nothing to cut
    ranks = rng.integers(0, n_seen[:, None], size=(n_views, sizes.sum()))
    return StumpProblem(sample, ranks[:, : sizes[0]], ranks[:, sizes[0] :], int(2 * reach))


def in_finer_units(problem: StumpProblem, factor: int) -> StumpProblem:
    """Return the same problem in units that are ``factor`` times smaller."""
    sample = problem.sample
    finer = replace(
        sample, pos=sample.pos * factor, neg=sample.neg * factor, reach=sample.reach * factor
    )
    return replace(problem, sample=finer, largest=problem.largest * factor)
