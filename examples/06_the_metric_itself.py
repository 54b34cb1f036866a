"""Training for the metric itself: one table, and one model for each metric.

ExactBoost (Csillag et al. 2021) uses no surrogate loss: it chooses each stump by its effect on
AUC, KS or precision at k. The data are the Gaussian distribution of Komori (2010), with 20 %
positives. We train one model for each metric on the same 750 rows and evaluate every model by
every metric on 40,000 unseen rows. We compare with a metric defined in this file, with DMKS (the
linear score with the largest KS) and with the optimal score of the distribution, which no model
can beat.

The model trained for the top of the list has the highest precision there and a slightly lower AUC
and KS. Training for AUC or for KS makes little difference on one sample, and neither is best by
its own metric: the model trained for the metric of this file is ahead of both. DMKS is far behind,
because the optimal score is quadratic and DMKS is linear. As the certificates state, bounds for
new rows would need far more training rows.

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
    """Fraction of the positives above all but the highest 5 % of the negatives; both ascending."""
    threshold = neg[len(neg) - 1 - int(TOP * len(neg))]
    return (len(pos) - np.searchsorted(pos, threshold, side="right")) / len(pos)


@numba.njit
def sensitivity_bound(
    pos_low: np.ndarray, pos_high: np.ndarray, neg_low: np.ndarray, neg_high: np.ndarray
) -> float:
    """The largest sensitivity of any scores between the lows and the highs.

    The search handles many stumps at once, so that it knows only an interval for each row's score.
    Raising a positive cannot lower the sensitivity, and raising a negative can only raise the
    threshold. So the sensitivity is largest with all positives at their highest and all negatives
    at their lowest score. A set of stumps whose bound is below the best value so far is skipped.
    """
    return sensitivity(pos_high, neg_low)


def judge(score: np.ndarray, y: np.ndarray) -> list[float]:
    """The value of every metric, in the order of COLUMNS."""
    curve = roc_curve(y, score)
    tpr = curve.tpr[np.searchsorted(curve.fpr, TOP, side="right") - 1]
    return [auc(y, score), ks(y, score), precision_at_k(y, score, k=TOP), float(tpr)]


def draw_rows(n_rows: int, seed: int) -> Sample:
    """Rows of the distribution, 20 % of them positive."""
    return make_gaussian_pair(n_rows - n_rows // 5, n_rows // 5, random_state=seed)


def main(n_rows: int = 750, n_unseen: int = 40_000, n_runs: int = 20) -> dict[str, list[float]]:
    """Train for each metric, evaluate by all of them, and print the certificates."""
    train, unseen = draw_rows(n_rows, seed=0), draw_rows(n_unseen, seed=99)
    own = RankMetric(sensitivity, sensitivity_bound, name=f"sensitivity at {TOP:.0%} FPR")
    rankers = {
        f"ExactBoost for {title}": ExactBoost(metric, k=TOP, n_runs=n_runs, n_jobs=-1)
        for title, metric in zip(COLUMNS, ("auc", "ks", "precision_at_k", own), strict=True)
    }
    rankers["DMKS, linear, for KS"] = DMKS()
    head = f"On {n_unseen:,} unseen rows"
    print(f"{head:<26}{''.join(f'{title:>12}' for title in COLUMNS)}")
    values = {}
    for name, ranker in rankers.items():
        values[name] = judge(ranker.fit(train.X, train.y).decision_function(unseen.X), unseen.y)
        print(f"{name:<26}{''.join(f'{value:>12.3f}' for value in values[name])}", flush=True)
    assert unseen.optimal_score is not None
    values["optimal score"] = judge(unseen.optimal_score(unseen.X), unseen.y)
    print(f"{'optimal score':<26}{''.join(f'{value:>12.3f}' for value in values['optimal score'])}")
    for name, ranker in rankers.items():
        print(f"\n{name}. {ranker.certificate_}")
    return values


if __name__ == "__main__":
    main()
