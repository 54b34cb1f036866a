"""Lemma 4 and Figure 1: from a weak ranker to a classifier with equal errors on both classes."""

from functools import partial
from typing import NamedTuple

import numpy as np

from auctor._typing import Floats
from auctor.datasets import load_kyphosis
from auctor.metrics import roc_curve
from auctor.weak.two_sided import two_sided
from papers.experiment import Case, Result, Setup
from papers.tables import Rows, read_rows

TABLE, EMBEDDED = "heart", "kyphosis"
_N_SHOWN = 300


class Groups(NamedTuple):
    """The weight of each class at each score of a ranker, the lowest score first."""

    neg: Floats
    pos: Floats

    @property
    def edge(self) -> float:
        """gamma = AUC - 1/2."""
        neg, pos = self.neg / self.neg.sum(), self.pos / self.pos.sum()
        below = np.cumsum(neg) - neg
        return float(pos @ (below + neg / 2)) - 0.5

    @property
    def largest_gap(self) -> float:
        """The largest v - u on the ROC curve."""
        neg, pos = (np.cumsum(part) / part.sum() for part in self)
        return max(0.0, float((neg - pos).max()))


def cases(setup: Setup) -> list[Case]:
    """A feature of a real table, one of an included table, and random rankers."""
    n_draws = setup.pick(20_000, 3000, 300)
    return [
        Case(TABLE, partial(on_table, TABLE, setup.seed), (TABLE,), cost=0.2),
        Case(EMBEDDED, on_kyphosis, cost=0.1),
        *(
            Case(f"draws {i}", partial(draws, setup.seed, i, n_draws), cost=n_draws / 1e4)
            for i in range(setup.pick(10, 2, 1))
        ),
    ]


def on_table(name: str, seed: int) -> Result:
    """The best single feature of a table."""
    return curve_of(read_rows(name, seed))


def on_kyphosis() -> Result:
    """The best single feature of the table that comes with the library."""
    sample = load_kyphosis()
    return curve_of(Rows(sample.X, sample.y))


def curve_of(rows: Rows) -> Result:
    """The ROC curve of the best feature with at least 10 values, and the result of Lemma 4.

    The curve of a feature with two values consists of two straight lines and shows little.
    """
    X, y = rows
    columns = [j for j in range(X.shape[1]) if len(np.unique(X[:, j])) >= 10]
    ranked = [sign * X[:, j] for j in columns for sign in (1.0, -1.0)]
    curve = max((roc_curve(y, scores) for scores in ranked), key=lambda curve: curve.auc())
    pos, neg = np.diff(curve.true_positives)[::-1], np.diff(curve.false_positives)[::-1]
    side, point = two_sided(neg, pos), curve.youden()
    return {
        "fpr": curve.fpr.tolist(),
        "tpr": curve.tpr.tolist(),
        "auc": curve.auc(),
        "p_neg": point.fpr,
        "p_pos": 1.0 - point.tpr,
        "epsilon": side.epsilon,
        "n_rows": len(y),
    }


def draws(seed: int, stream: int, n_draws: int) -> Result:
    """Draw rankers and distributions: gamma, the two errors, and the two-sided advantage."""
    rng = np.random.default_rng([seed, 4, stream])
    outcomes = np.array([examine(draw_groups(rng)) for _ in range(n_draws)])
    edge, gap, error_neg, error_pos = outcomes.T
    advantage = 0.5 - np.maximum(error_neg, error_pos)
    root = np.sqrt(np.maximum(1.0 - 2.0 * edge, 0.0))
    return {
        "n_draws": n_draws,
        "largest_difference": float(np.abs(error_neg - error_pos).max()),
        "least_over_lemma": float((advantage - edge / 4).min()),
        "least_ratio": float((advantage / (edge / 4)).min()),
        "least_over_gap": float((advantage - gap / (2 * (2 - gap))).min()),
        # From AUC <= 1/2 + J - J^2 / 2 for a largest gap J.
        "least_over_sharp": float((advantage - (1 - root) / (2 * (1 + root))).min()),
        "edges": edge[:_N_SHOWN].tolist(),
        "advantages": advantage[:_N_SHOWN].tolist(),
    }


def examine(groups: Groups) -> tuple[float, float, float, float]:
    """Return gamma, the largest gap, and the weighted errors of the classifier on both classes."""
    label = two_sided(*groups).values(len(groups.neg))
    error_neg = float(groups.neg @ (1 + label) / (2 * groups.neg.sum()))
    error_pos = float(groups.pos @ (1 - label) / (2 * groups.pos.sum()))
    return groups.edge, groups.largest_gap, error_neg, error_pos


def draw_groups(rng: np.random.Generator) -> Groups:
    """Draw a ranker with an edge: balanced, one-sided, or near the worst case."""
    n_groups = int(rng.integers(2, 40))
    spread = 10.0 ** rng.uniform(-1, 1)  # Dirichlet parameter: few heavy groups or many equal ones
    neg, pos = rng.dirichlet(np.full(n_groups, spread), size=2)
    kind = rng.integers(3)
    if kind == 1:  # one-sided: one class is spread out, the other has high or low scores
        pos = (
            pos * np.linspace(0.0, 1.0, n_groups) ** rng.uniform(-0.5, 4)
            if rng.random() < 0.5
            else pos
        )
    if kind == 2:  # a fraction J of the positives on top, then a curve along v = u + J
        gap = rng.uniform(0.01, 0.9)
        weights = np.full(n_groups, 1.0 / n_groups)
        neg = np.append(weights, 0.0)
        pos = np.append(np.where(np.cumsum(weights) > gap, weights, 0.0), gap)
    groups = Groups(neg, pos)
    if groups.edge < 0:
        groups = Groups(neg[::-1], pos[::-1])
    return groups if groups.edge > 1e-6 else draw_groups(rng)
