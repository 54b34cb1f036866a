"""The metrics against scikit-learn, and against the sort on which they are based."""

import numpy as np
from sklearn.metrics import roc_auc_score
from timing import Row, print_table, race

from auctor import metrics


def make_scores(n_rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Draw normal scores with a shift of 1 between the classes; three rows in four are negative."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n_rows) < 0.25).astype(np.int64)
    return y, rng.normal(size=n_rows) + y


def run() -> list[Row]:
    """Every case, one row each."""
    rows = []
    for n_rows, label in ((10**6, "1e6"), (10**7, "1e7")):
        y, s = make_scores(n_rows)
        rows.append(
            race(
                f"auc, {label} scores, against roc_auc_score",
                lambda y=y, s=s: metrics.auc(y, s),
                lambda y=y, s=s: roc_auc_score(y, s),
                "at least 4",
            )
        )
    y, s = make_scores(10**6)
    pos, neg = s[y == 1], s[y == 0]
    target = "about 1: the time of the sort"
    rows.append(
        race(
            "auc_ci DeLong, 1e6 scores, against one np.argsort",
            lambda: metrics.auc_ci(y, s),
            lambda: np.argsort(s),
            target,
        )
    )
    rows.append(
        race(
            "auc_ci DeLong, 1e6 scores, against np.sort of both classes",
            lambda: metrics.auc_ci(y, s),
            lambda: (np.sort(pos), np.sort(neg)),
            target,
        )
    )
    return rows


if __name__ == "__main__":
    print_table(run())
