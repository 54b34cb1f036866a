"""Ensembling: six models as features of a final model that is trained for the AUC.

Section 4 of Csillag et al. (2021) stacks six models: the out-of-fold predictions of each are the
features of a final model. scikit-learn's StackingClassifier does that with any final estimator. We
compare ExactBoost, trained for the AUC, with logistic regression as final estimator, and with the
best of the six models, on 20,000 unseen rows of Komori's t distribution. Because of its heavy
tails, two of the six models are no better than random, which does not harm either stack.

Both stacks have a higher AUC than each of the six models. Which stack is ahead, by a little,
depends on the training sample: the paired test compares two fitted scores, not two methods.

Run it with ``python examples/07_ensembling.py``. XGBoost is used if it is installed.
"""

from typing import Any

import numpy as np
from sklearn.ensemble import (
    AdaBoostClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from auctor import ExactBoost
from auctor.datasets import Sample, make_t_pair
from auctor.metrics import auc, auc_ci, compare_auc

BY_AUC = "stacked by ExactBoost"
BY_LOGISTIC = "stacked by logistic regression"


def boosted_trees() -> tuple[str, Any]:
    """XGBoost if it is installed, else scikit-learn's boosted trees."""
    try:
        from xgboost import XGBClassifier
    except ImportError:
        trees = HistGradientBoostingClassifier(max_iter=100, max_depth=3, random_state=0)
        return "boosted trees", trees
    return "XGBoost", XGBClassifier(n_estimators=100, max_depth=3, learning_rate=0.1, n_jobs=1)


def base_models() -> list[tuple[str, Any]]:
    """The six models of the paper, small; features are standardised for those that need it."""
    net = MLPClassifier((16,), early_stopping=True, random_state=0)
    return [
        ("AdaBoost", AdaBoostClassifier(random_state=0)),
        ("nearest neighbours", make_pipeline(StandardScaler(), KNeighborsClassifier(15))),
        ("logistic regression", make_pipeline(StandardScaler(), LogisticRegression())),
        ("neural net", make_pipeline(StandardScaler(), net)),
        ("random forest", RandomForestClassifier(50, min_samples_leaf=3, random_state=0)),
        boosted_trees(),
    ]


def stack_scores(train: Sample, X: np.ndarray, n_runs: int) -> dict[str, np.ndarray]:
    """Scores of X by each base model and by both stacks."""
    finals = {
        BY_AUC: ExactBoost("auc", n_runs=n_runs, n_jobs=-1),
        BY_LOGISTIC: LogisticRegression(),
    }
    models = base_models()
    scores: dict[str, np.ndarray] = {}
    for name, final in finals.items():
        stack = StackingClassifier(models, final_estimator=final, cv=3).fit(train.X, train.y)
        # The same as stack.decision_function(X), in two steps: the scores of the base models,
        # refitted to all training rows, then the final estimator on them.
        columns = stack.transform(X)
        scores |= {model: columns[:, k] for k, (model, _) in enumerate(models)}
        scores[name] = stack.final_estimator_.decision_function(columns)
    return scores


def main(n_rows: int = 1000, n_unseen: int = 20_000, n_runs: int = 50) -> dict[str, np.ndarray]:
    """Fit both stacks, compare on unseen rows, return the scores of all models."""
    train = make_t_pair(n_rows - n_rows // 5, n_rows // 5, random_state=0)
    unseen = make_t_pair(n_unseen - n_unseen // 5, n_unseen // 5, random_state=1)
    scores = stack_scores(train, unseen.X, n_runs)
    for name, score in scores.items():
        print(f"{name:<32}{auc_ci(unseen.y, score)}")
    base = [name for name in scores if name not in (BY_AUC, BY_LOGISTIC)]
    best = max(base, key=lambda name: auc(unseen.y, scores[name]))
    for other in (BY_LOGISTIC, best):
        comparison = compare_auc(unseen.y, scores[BY_AUC], scores[other])
        print(f"\n{BY_AUC}, compared with {other}:\n{comparison}")
    return scores


if __name__ == "__main__":
    main()
