"""The metric itself: one table, and a score for each of the metrics that it may be judged by.

ExactBoost (Csillag et al. 2021) has no surrogate: a stump is taken for what it does to AUC, KS or
precision at k. Here is the Gaussian law of Komori (2010), one row in five positive. The same
750 rows train a model for each metric; 40,000 unseen rows judge every model by every metric. Beside
them stand a metric written here, DMKS (the linear score of the largest KS) and the law's optimal
score, the most that can be had.

Trained for the top, the score has the purest top, and here pays with a little AUC and KS. Whether
for AUC or for KS makes little difference on one sample, and neither has the best column of its own:
the metric written here, which looks at the top, too, is ahead of both. DMKS is far behind, as the
law is quadratic and a line cannot follow it. Bounds for new rows would need far more rows than
these, as the certificates say.

Run it with ``python examples/06_the_metric_itself.py``.
"""

import numba
import numpy as np

from auctor import DMKS, ExactBoost, RankMetric
from auctor.datasets import Sample, make_gaussian_pair
from auctor.metrics import auc, ks, precision_at_k, roc_curve

TOP = 0.05
COLUMNS = ("AUC", "KS", f"top {TOP:.0%}", f"TPR at {TOP:.0%}")


@numba.njit
def sensitivity(pos: np.ndarray, neg: np.ndarray) -> float:
    """Share of the positives above all but the highest 5 % of the negatives; both ascending."""
    threshold = neg[len(neg) - 1 - int(TOP * len(neg))]
    return (len(pos) - np.searchsorted(pos, threshold, side="right")) / len(pos)


@numba.njit
def sensitivity_bound(
    pos_low: np.ndarray, pos_high: np.ndarray, neg_low: np.ndarray, neg_high: np.ndarray
) -> float:
    """The most that any scores between the lows and the highs can reach.

    The search for a stump handles many at once and knows of each row's score only an interval.
    A higher positive can only be more often above the threshold, and a higher negative can only
    raise the threshold. So no choice within the intervals beats all positives at their highest
    and all negatives at their lowest, and as that is itself a choice, no bound could be tighter.
    A set of stumps whose bound is below the best value found needs no further look.
    """
    return sensitivity(pos_high, neg_low)


def judge(score: np.ndarray, y: np.ndarray) -> list[float]:
    """The score by every metric, in the order of COLUMNS."""
    curve = roc_curve(y, score)
    found = curve.tpr[np.searchsorted(curve.fpr, TOP, side="right") - 1]
    return [auc(y, score), ks(y, score), precision_at_k(y, score, k=TOP), float(found)]


def draw_rows(n_rows: int, seed: int) -> Sample:
    """Rows of the law, one in five positive."""
    return make_gaussian_pair(n_rows - n_rows // 5, n_rows // 5, random_state=seed)


def main(n_rows: int = 750, n_unseen: int = 40_000, n_runs: int = 20) -> dict[str, list[float]]:
    """Train for each metric, judge by all of them, and print the certificates."""
    train, unseen = draw_rows(n_rows, seed=0), draw_rows(n_unseen, seed=99)
    own = RankMetric(sensitivity, sensitivity_bound, name=f"sensitivity at {TOP:.0%} FPR")
    rankers = {
        f"ExactBoost for {title}": ExactBoost(metric, k=TOP, n_runs=n_runs, n_jobs=-1)
        for title, metric in zip(COLUMNS, ("auc", "ks", "precision_at_k", own), strict=True)
    }
    rankers["DMKS, linear, for KS"] = DMKS()
    head = f"On {n_unseen:,} unseen rows"
    print(f"{head:<26}{''.join(f'{title:>12}' for title in COLUMNS)}")
    found = {}
    for name, ranker in rankers.items():
        found[name] = judge(ranker.fit(train.X, train.y).decision_function(unseen.X), unseen.y)
        print(f"{name:<26}{''.join(f'{value:>12.3f}' for value in found[name])}", flush=True)
    assert unseen.optimal_score is not None
    found["optimal score"] = judge(unseen.optimal_score(unseen.X), unseen.y)
    print(f"{'optimal score':<26}{''.join(f'{value:>12.3f}' for value in found['optimal score'])}")
    for name, ranker in rankers.items():
        print(f"\n{name}. {ranker.certificate_}")
    return found


if __name__ == "__main__":
    main()
