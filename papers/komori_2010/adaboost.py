"""AdaBoost (Freund and Schapire 1997) on the paper's stumps, with cross-validated rounds.

scikit-learn's takes many times as long, since it grows a tree per round, and its stumps have the
least Gini impurity, not the least weighted error. Here the rows of each feature are sorted once,
and a round is a sum along that order. A test compares the two.
"""

from typing import NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from papers.komori_2010.distributions import Labelled

MOST_ROUNDS = 300
# A stump without error would have an infinite weight.
_LEAST_ERROR = 1e-10


class Stumps(NamedTuple):
    """weight * (1 if x[feature] > cut else -1), one entry per round; < 0 for falling ones."""

    feature: Ints
    cut: Floats
    weight: Floats

    def parts(self, X: Floats) -> Floats:
        """What each feature adds to the score."""
        out = np.zeros(X.shape)
        for feature, cut, weight in zip(*self, strict=True):
            out[:, feature] += weight * np.where(X[:, feature] > cut, 1.0, -1.0)
        return out

    def staged(self, X: Floats) -> Floats:
        """The score of each row after each round: (rounds, rows)."""
        votes = np.where(X[:, self.feature] > self.cut, self.weight, -self.weight)
        return np.cumsum(votes, axis=1).T


class _Cuts:
    """Rows in the order of each feature, and the cuts between them."""

    def __init__(self, X: Floats) -> None:
        self.order = np.argsort(X, axis=0, kind="stable").T
        values = np.take_along_axis(X.T, self.order, axis=1)
        self.middle = (values[:, 1:] + values[:, :-1]) / 2
        self.is_cut = values[:, 1:] > values[:, :-1]

    def best(self, signed: Floats) -> tuple[int, int, float]:
        """The stump of the largest edge, the sum of weight * label * stump."""
        below = np.cumsum(signed[self.order], axis=1)
        edge = below[:, -1:] - 2 * below[:, :-1]  # above minus below
        index = int(np.argmax(np.where(self.is_cut, np.abs(edge), -1.0)))
        feature, position = divmod(index, edge.shape[1])
        return feature, position, float(edge[feature, position])


def boost(rows: Labelled, n_rounds: int) -> Stumps:
    """Rounds of AdaBoost; fewer if no stump is better than chance."""
    cuts, label = _Cuts(rows.X), np.where(rows.y > 0, 1.0, -1.0)
    weight = np.full(len(label), 1 / len(label))
    chosen: list[tuple[int, float, float]] = []
    for _ in range(n_rounds):
        feature, index, edge = cuts.best(weight * label)
        error = max((1 - abs(edge)) / 2, _LEAST_ERROR)
        if not error < 0.5:
            break
        alpha = 0.5 * np.log((1 - error) / error) * np.sign(edge)
        cut = float(cuts.middle[feature, index])
        chosen.append((feature, cut, float(alpha)))
        weight *= np.exp(-label * alpha * np.where(rows.X[:, feature] > cut, 1.0, -1.0))
        weight /= weight.sum()
    feature_, cut_, weight_ = (list(column) for column in zip(*chosen, strict=True))
    return Stumps(np.array(feature_), np.array(cut_), np.array(weight_))


def pair_fractions(scores: Floats, y: Ints) -> Floats:
    """The AUC of each row of scores by forming every pair, since held-out rows are few."""
    gaps = scores[:, y == 1][:, :, None] - scores[:, y == 0][:, None, :]
    return np.asarray(((np.sign(gaps) + 1) / 2).mean(axis=(1, 2)))


def fit_adaboost(rows: Labelled, n_folds: int, n_rounds: int = MOST_ROUNDS) -> Stumps:
    """The number of rounds with the largest mean AUC over the folds, as in section 4.1."""
    from sklearn.model_selection import StratifiedKFold

    total = np.zeros(n_rounds)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    for train, held_out in folds.split(rows.X, rows.y):
        stumps = boost(Labelled(rows.X[train], rows.y[train]), n_rounds)
        aucs = pair_fractions(stumps.staged(rows.X[held_out]), rows.y[held_out])
        total += np.pad(aucs, (0, n_rounds - len(aucs)), mode="edge")
    return boost(rows, int(np.argmax(total)) + 1)
