"""AdaBoost (Freund and Schapire 1997) on the paper's stumps, with cross-validated rounds.

scikit-learn's is in the tables too, with fewer repetitions: it takes many times as long, for it
grows a tree a round. Here the rows of each feature are put in order once, and a round is a sum
along that order. Nor is it quite the same: its stumps are those of the least Gini impurity, not of
the least weighted error.
"""

from typing import Any, NamedTuple

import numpy as np

from auctor._typing import Floats, Ints
from auctor.metrics import auc
from papers.komori_2010.distributions import Labelled

MOST_ROUNDS = 300
_ROUNDS_SKLEARN = (10, 20, 50, 100, 200)  # candidates of the cross-validation
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


def fit_sklearn(rows: Labelled, n_folds: int) -> Any:
    """scikit-learn's AdaBoost at its defaults, but for the number of rounds."""
    from sklearn.ensemble import AdaBoostClassifier
    from sklearn.model_selection import StratifiedKFold

    total = dict.fromkeys(_ROUNDS_SKLEARN, 0.0)
    folds = StratifiedKFold(n_folds, shuffle=True, random_state=0)
    for train, held_out in folds.split(rows.X, rows.y):
        model = AdaBoostClassifier(n_estimators=max(total), random_state=0)
        model.fit(rows.X[train], rows.y[train])
        for n_rounds, scores in enumerate(model.staged_decision_function(rows.X[held_out]), 1):
            if n_rounds in total:
                total[n_rounds] += auc(rows.y[held_out], scores)
    best = max(total, key=total.__getitem__)
    return AdaBoostClassifier(n_estimators=best, random_state=0).fit(rows.X, rows.y)


def sklearn_parts(model: Any, X: Floats) -> Floats:
    """What each feature's stumps add to the score."""
    out = np.zeros(X.shape)
    for stump, weight in zip(model.estimators_, model.estimator_weights_, strict=False):
        out[:, stump.tree_.feature[0]] += weight * (2 * stump.predict(X) - 1)
    return out
