"""Compare the rates at thresholds on the report page of a fit with the rates of new rows.

    python benchmarks/page_thresholds.py
    python benchmarks/page_thresholds.py --learners treerank,rankboost --samples 2

The rates of the page come from out-of-fold scores on the scale of the final model. For each
learner this prints the false positive rate on the page minus that of 20,000 new rows, at the
page's thresholds for rates of 0.05, 0.1, 0.2 and 0.5: the mean over samples and the largest
deviation. With 1,000 rows, deviations of 0.015 to 0.02 are due to chance.
"""

import argparse
import warnings
from typing import Any

import numpy as np

from auctor.estimators.cross_validation import cross_val_auc
from auctor.estimators.registry import LEARNERS
from auctor.metrics import roc_curve

RATES = 0.05, 0.1, 0.2, 0.5
FAST = [name for name in LEARNERS if not name.endswith("-cv") and name != "exactboost"]


def draw(n: int, seed: int) -> tuple[Any, Any]:
    """Draw five columns: one main effect and one interaction."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, (X[:, 0] + X[:, 1] * X[:, 2] / 2 + rng.normal(size=n) > 1).astype(np.int64)


def deviations(learner: str, n_rows: int, seed: int) -> list[float]:
    """Return the false positive rates of the page minus those of new rows."""
    (X, y), (X_new, y_new) = draw(n_rows, seed), draw(20_000, 1000 + seed)
    results = cross_val_auc(LEARNERS[learner](), X, y)
    fitted = LEARNERS[learner]().fit(X, y)
    page = roc_curve(y, results.scores_of(fitted, X))
    new = roc_curve(y_new, fitted.decision_function(X_new))
    points = [page.at(fpr=rate) for rate in RATES]
    return [point.fpr - new.at(threshold=point.threshold).fpr for point in points]


def main() -> None:
    parser = argparse.ArgumentParser(description="Thresholds of the page on new rows.")
    parser.add_argument("--learners", default=",".join(FAST))
    parser.add_argument("--rows", type=int, default=1000)
    parser.add_argument("--samples", type=int, default=5)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(f"{'learner':20} " + " ".join(f"fpr {rate:<5}" for rate in RATES) + "  largest")
    for learner in args.learners.split(","):
        results = np.array([deviations(learner, args.rows, seed) for seed in range(args.samples)])
        means = " ".join(f"{mean:+9.3f}" for mean in results.mean(axis=0))
        print(f"{learner:20} {means} {np.abs(results).max():8.3f}", flush=True)


if __name__ == "__main__":
    main()
