"""MartiRank and AUCBoost on 1e6 x 20 against as many rounds of RankBoost."""

import numpy as np
from timing import Row, print_table, race

from auctor.data import prepare
from auctor.learners.boosting import aucboost, rankboost
from auctor.learners.martirank import martirank

N_ROWS, N_FEATURES, N_LAYERS = 1_000_000, 20, 40


def run() -> list[Row]:
    """Every case, one row each; the ratio is RankBoost's time over ours."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_FEATURES))
    y = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=N_ROWS) > 0
    data = prepare(X, y, n_jobs=2)
    rows = []
    for n_jobs in (1, 2):
        rounds = rankboost.RankBoostSettings(N_LAYERS, n_jobs=n_jobs)
        layers = martirank.MartiRankSettings(n_layers=N_LAYERS, n_jobs=n_jobs)
        features = aucboost.AUCBoostSettings(n_estimators=N_LAYERS, n_jobs=n_jobs)
        rows.append(
            race(
                f"MartiRank, T = 40, {n_jobs} thread(s), against 40 RankBoost rounds",
                lambda layers=layers: martirank.fit_martirank(data, layers),
                lambda rounds=rounds: rankboost.fit_rankboost(data, rounds),
                "at least 0.5",
                n_rounds=5,
            )
        )
        rows.append(
            race(
                f"AUCBoost, 40 rounds, {n_jobs} thread(s), against 40 RankBoost rounds",
                lambda features=features: aucboost.fit_aucboost(data, features),
                lambda rounds=rounds: rankboost.fit_rankboost(data, rounds),
                "about 1",
                n_rounds=5,
            )
        )
    model, *_ = martirank.fit_martirank(data, layers)
    rows.append(
        race(
            "scoring 1e6 rows in expectation, against MartiRank's fit, 2 threads",
            lambda: model.decision_function(X),
            lambda: martirank.fit_martirank(data, layers),
            "at least 0.5",
            n_rounds=5,
        )
    )
    return rows


if __name__ == "__main__":
    print_table(run())
