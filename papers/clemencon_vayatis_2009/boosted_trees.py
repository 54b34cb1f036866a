"""Section 1 suggests TreeRank as the weak learner of RankBoost: a trial of it.

RankBoost (Freund et al. 2003) keeps a weight for each row of either class; the weight of a pair is
their product. A round fits a TreeRank tree to the weighted rows and scales its score h to [0, 1].
The edge r is the weighted mean of h over positives minus that over negatives; h gets the weight
a = ln((1 + r) / (1 - r)) / 2, and rows are weighted by exp(-a h) (positives) and exp(a h).
"""

from collections.abc import Callable
from functools import partial
from statistics import mean
from typing import Any

import numpy as np

from auctor import RankBoost, TreeRank, TreeRankForest
from auctor._typing import Floats, Ints
from auctor.metrics import auc
from papers.clemencon_vayatis_2009.feature_distributions import DISTRIBUTIONS
from papers.experiment import Case, CaseResults, Result, Setup
from papers.page import Page
from papers.statistics import mean_sd, t_interval
from papers.tables import read_rows
from papers.verdicts import by_interval, over_rows

TABLES = ("heart", "german", "ionosphere")
BOOSTED, SINGLE, DEEP = "RankBoost of trees", "one tree of depth 3", "one tree, depth by folds"
FOREST, STUMPS = "forest", "RankBoost of stumps"
METHODS = (BOOSTED, SINGLE, DEEP, FOREST, STUMPS)
_DEPTH = 3
_DEPTHS = (1, 2, 3, 4, 6, 8)
_N_FOLDS = 5
# An edge nearer to 1 would give an infinite weight.
_LARGEST_EDGE = 1 - 1e-6


class BoostedTrees:
    """RankBoost with TreeRank trees as weak rankers."""

    def __init__(self, n_rounds: int, depth: int = _DEPTH) -> None:
        self.n_rounds, self.depth = n_rounds, depth
        self._parts: list[tuple[float, float, float, Any]] = []

    def fit(self, X: Floats, y: Ints) -> "BoostedTrees":
        """Fit the trees one after the other."""
        is_pos = y == 1
        weight = np.where(is_pos, 1 / is_pos.sum(), 1 / (~is_pos).sum())
        for _ in range(self.n_rounds):
            tree = TreeRank(self.depth).fit(X, y, sample_weight=weight * len(y))
            score = tree.decision_function(X)
            low, width = float(score.min()), float(np.ptp(score))
            if width == 0:
                break
            h = (score - low) / width
            edge = float(weight[is_pos] @ h[is_pos] - weight[~is_pos] @ h[~is_pos])
            edge = min(max(edge, -_LARGEST_EDGE), _LARGEST_EDGE)
            a = 0.5 * np.log((1 + edge) / (1 - edge))
            self._parts.append((float(a), low, width, tree))
            weight = weight * np.exp(np.where(is_pos, -a, a) * h)
            weight[is_pos] /= weight[is_pos].sum()
            weight[~is_pos] /= weight[~is_pos].sum()
        return self

    def decision_function(self, X: Floats) -> Floats:
        """The weighted sum of the trees."""
        total = np.zeros(len(X))
        for a, low, width, tree in self._parts:
            total += a * (tree.decision_function(X) - low) / width
        return total


def n_rounds(setup: Setup) -> int:
    """Trees that are boosted."""
    return setup.pick(50, 10, 5)


def make(method: str, rounds: int) -> Any:
    """An unfitted ranker."""
    makers: dict[str, Callable[[], Any]] = {
        BOOSTED: lambda: BoostedTrees(rounds),
        SINGLE: lambda: TreeRank(_DEPTH),
        FOREST: lambda: TreeRankForest(rounds, n_jobs=1),
        STUMPS: lambda: RankBoost(5 * rounds),
    }
    return makers[method]()


def fit_method(method: str, X: Floats, y: Ints, rounds: int, seed: int) -> Any:
    """A fitted ranker; the depth of the single tree is chosen by folds of these rows."""
    if method != DEEP:
        return make(method, rounds).fit(X, y)
    aucs = {}
    for depth in _DEPTHS:
        aucs[depth] = mean(
            auc(y[test], TreeRank(depth).fit(X[train], y[train]).decision_function(X[test]))
            for train, test in _folds(y, seed)
        )
    best = max(aucs, key=lambda depth: (aucs[depth], -depth))
    return TreeRank(best).fit(X, y)


def _folds(y: Ints, seed: int) -> list[tuple[Ints, Ints]]:
    from sklearn.model_selection import StratifiedKFold

    splitter = StratifiedKFold(_N_FOLDS, shuffle=True, random_state=seed)
    return list(splitter.split(np.zeros(len(y)), y))


def cases(setup: Setup) -> list[Case]:
    """Samples of the distributions of Theorem 21, and folds of real tables."""
    rounds, n_rows = n_rounds(setup), setup.pick(1000, 300, 150)
    made = [
        Case(f"{name}, sample {i}", partial(on_sample, name, n_rows, i, rounds, setup.seed),
             cost=4.0)
        for i in range(setup.pick(5, 2, 2))
        for name in setup.pick(list(DISTRIBUTIONS), ["diagonals"], ["diagonals"])
    ]  # fmt: skip
    for table in setup.pick(TABLES, (), ()):
        for fold in range(_N_FOLDS):
            work = partial(on_table, table, fold, rounds, setup.seed)
            made.append(Case(f"{table}, fold {fold}", work, tables=(table,), cost=4.0))
    return made


def on_sample(name: str, n_rows: int, repetition: int, rounds: int, seed: int) -> Result:
    """AUC of every method on a large test sample, and the best possible one."""
    distribution = DISTRIBUTIONS[name]()
    draws = [np.random.default_rng([seed, 51, repetition, part]) for part in range(2)]
    X, y = distribution.draw(n_rows, draws[0])
    X_test, y_test = distribution.draw(50_000, draws[1])
    result = {"optimal": float(auc(y_test, distribution.log_ratio(X_test)))}
    return result | _aucs(X, y, X_test, y_test, rounds, seed)


def on_table(table: str, fold: int, rounds: int, seed: int) -> Result:
    """AUC of every method on one fold."""
    X, y = read_rows(table, seed)
    train, test = _folds(y, seed)[fold]
    return _aucs(X[train], y[train], X[test], y[test], rounds, seed)


def _aucs(
    X: Floats, y: Ints, X_test: Floats, y_test: Ints, rounds: int, seed: int
) -> dict[str, float]:
    fitted = {method: fit_method(method, X, y, rounds, seed) for method in METHODS}
    return {m: float(auc(y_test, ranker.decision_function(X_test))) for m, ranker in fitted.items()}


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """AUCs, and the boosted trees beside the others."""
    groups: dict[str, list[Result]] = {}
    for name in [case.name for case in cases(setup) if case.name in results]:
        groups.setdefault(name.rpartition(", ")[0], []).append(results[name])
    rounds = n_rounds(setup)
    page.text(
        'Section 1: "such a tree-based ranker could serve as a weak learner and feed a '
        'boosting-type algorithm such as RankBoost". The paper makes no claim about it; a trial '
        f"with {rounds} trees of depth {_DEPTH}, beside one such tree, one tree whose depth (1 to "
        f"8) is chosen by folds of the training rows, a forest of {rounds} trees and RankBoost "
        f"with {5 * rounds} stumps. AUC, mean ± standard deviation over samples or {_N_FOLDS} "
        "folds, on 50,000 test rows or on the held-out fold:"
    )
    rows = []
    for name, group in groups.items():
        best = f"{mean(r['optimal'] for r in group):.3f}" if "optimal" in group[0] else "–"
        cells = [mean_sd([r[m] for r in group]) for m in METHODS]
        rows.append([_title(name), f"{len(group)}", *cells, best])
    page.table(["data", "runs", *METHODS, "best possible"], rows)
    for other in METHODS[1:]:
        found = {
            name: t_interval([r[BOOSTED] - r[other] for r in group],
                             0.0 if name in DISTRIBUTIONS else 1 / (_N_FOLDS - 1))
            for name, group in groups.items()
        }  # fmt: skip
        page.addition(
            f"{BOOSTED} is ahead of {other}",
            over_rows([by_interval(estimate) for estimate in found.values()]),
            "; ".join(f"{_title(name)} {estimate}" for name, estimate in found.items()),
        )


def _title(name: str) -> str:
    return DISTRIBUTIONS[name]().name if name in DISTRIBUTIONS else name
