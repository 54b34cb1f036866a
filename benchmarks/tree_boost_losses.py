"""Trees trained on the AUC, on the partial AUC and on log loss, where positives are rare.

The same trees (``SmoothTreeBoost``, alone and mixed with the smooth model) with each loss, and
the peers, on unbalanced tables of the folder AUCTOR_DATA, on the folds of tree_boost_quality.py:
AUC, partial AUC over false positive rates up to 0.05, and precision in the top 1 %. Every finished
run is stored in ``--keep FILE`` at once and not repeated. The file may be that of
tree_boost_quality.py, whose results of the same methods are then used.
"""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import tree_boost_quality as quality
from kept import read_kept
from result_tables import means_table

from auctor import SmoothTreeBoost

TABLES = ["mammography", "gmsc", "taiwan", "hypothyroid", "sick-euthyroid", "w1a", "cover-anomaly"]
RANGE = (0.0, quality.FPR)
LOSSES: dict[str, dict[str, Any]] = {
    "pairs": {"loss": "logistic"},
    "smoothed AUC": {"loss": "auc"},
    "partial AUC": {"fpr_range": RANGE},
    "log loss": {"loss": "log"},
}


def maker(init: str | None, settings: dict[str, Any]) -> Callable[[], Any]:
    """A function that makes the estimator."""
    return lambda: SmoothTreeBoost(init=init, n_jobs=2, **settings)


OURS = {f"trees, {name}": maker(None, settings) for name, settings in LOSSES.items()}
OURS |= {f"mixed, {name}": maker("smooth", settings) for name, settings in LOSSES.items()}
PEERS = ["CatBoost", "LightGBM", "XGBoost"]
# The names that the same methods have in tree_boost_quality.py.
STORED = {"trees, pairs": "trees alone", "mixed, pairs": "SmoothTreeBoost"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", nargs="+", default=TABLES)
    parser.add_argument("--methods", nargs="+", default=[*OURS, *PEERS], choices=[*OURS, *PEERS])
    parser.add_argument("--keep", type=Path, help="file of stored results")
    parser.add_argument("--report", action="store_true", help="run nothing, print stored results")
    options = parser.parse_args()
    quality.METHODS.update(OURS)
    methods = options.methods
    if options.report:
        kept = read_kept(options.keep)
    else:
        stored = [STORED.get(method, method) for method in methods]
        kept = quality.run(options.tables, stored, options.keep, again=False)
    titles = {"auc": "AUC", "partial": f"mean TPR up to FPR {quality.FPR}", "top": "precision, 1 %"}
    for name, title in titles.items():
        print(f"\n{title}\n")
        by_name = {method: STORED.get(method, method) for method in methods}
        print("\n".join(means_table(kept, options.tables, by_name, name)))


if __name__ == "__main__":
    main()
