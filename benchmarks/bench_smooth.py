"""SmoothAUCBoost against LightGBM's stumps and EBM (whole fits), and time against n."""

import sys
from math import log

import lightgbm as lgb
import numpy as np
from interpret.glassbox import ExplainableBoostingClassifier
from timing import Row, print_table, race, seconds

from auctor import SmoothAUCBoost, SmoothAUCBoostCV
from auctor.datasets import make_gaussian_pair
from auctor.metrics import auc

N_NOISE = 16
Table = tuple[np.ndarray, np.ndarray]


def make_table(n_rows: int, seed: int = 0) -> Table:
    """Draw the four Gaussian features of Komori (2010), section 4.2, and columns of noise."""
    sample = make_gaussian_pair(n_rows // 2, n_rows // 2, random_state=seed)
    noise = np.random.default_rng(seed + 1).normal(size=(len(sample.X), N_NOISE))
    return np.hstack([sample.X, noise]), sample.y


def stumps() -> lgb.LGBMClassifier:
    return lgb.LGBMClassifier(
        n_estimators=300, num_leaves=2, learning_rate=0.2, n_jobs=2, verbose=-1
    )


def print_aucs(name: str, models: dict[str, object], train: Table, test: Table) -> None:
    """Print the AUC of each model on unseen rows, to show that the models are comparable."""
    results = {}
    for label, model in models.items():
        scores = model.fit(*train).predict_proba(test[0])[:, 1]  # type: ignore[attr-defined]
        results[label] = auc(test[1], scores)
    print(f"test AUC, {name}: " + ", ".join(f"{k} {v:.5f}" for k, v in results.items()))


def against_lightgbm(test: Table) -> Row:
    train = make_table(1_000_000)
    models = {"SmoothAUCBoost": SmoothAUCBoost(n_jobs=2), "LightGBM stumps": stumps()}
    print_aucs("1e6 x 20", models, train, test)
    return race(
        "SmoothAUCBoost, 1e6 x 20, 2 threads, against 300 LightGBM stumps",
        lambda: SmoothAUCBoost(n_jobs=2).fit(*train),
        lambda: stumps().fit(*train),
        "at least 2.5",
        n_rounds=5,
    )


def against_ebm(test: Table) -> Row:
    train = make_table(100_000)

    def ebm() -> ExplainableBoostingClassifier:
        return ExplainableBoostingClassifier(interactions=0, n_jobs=2, random_state=0)

    models = {"SmoothAUCBoost": SmoothAUCBoost(n_jobs=2), "EBM": ebm()}
    print_aucs("1e5 x 20", models, train, test)
    return race(
        "SmoothAUCBoost, 1e5 x 20, 2 threads, against EBM without interactions",
        lambda: SmoothAUCBoost(n_jobs=2).fit(*train),
        lambda: ebm().fit(*train),
        "at least 10",
        n_rounds=5,
    )


def path_against_fit() -> Row:
    train = make_table(10_000)
    return race(
        "a single fit, 1e4 x 20, 2 threads, against all of SmoothAUCBoostCV",
        lambda: SmoothAUCBoost(n_jobs=2).fit(*train),
        lambda: SmoothAUCBoostCV(n_jobs=2).fit(*train),
        "a few",
        n_rounds=7,
    )


def time_against_n(n_rows: int, n_rounds: int) -> Row:
    train = make_table(n_rows)
    times = sorted(seconds(lambda: SmoothAUCBoost(n_jobs=2).fit(*train)) for _ in range(n_rounds))
    return {
        "name": f"SmoothAUCBoost, {n_rows:.0e} x 20, 2 threads",
        "ours": times[len(times) // 2],
        "peer": None,
        "ratio": None,
        "spread": f"{times[0]:.2f}..{times[-1]:.2f}",
        "target": "",
    }


def run() -> list[Row]:
    """Every case, one row each."""
    SmoothAUCBoost().fit(*make_table(1000))  # compiles
    sizes = [(10_000, 7), (100_000, 7), (1_000_000, 5)]
    rows = []
    if "--large" in sys.argv:  # time against n alone, and one size more
        sizes.append((10_000_000, 3))
    else:
        test = make_table(200_000, seed=5)
        rows = [path_against_fit(), against_ebm(test), against_lightgbm(test)]
    timings = [time_against_n(n_rows, n_rounds) for n_rows, n_rounds in sizes]
    span = sizes[-1][0] / sizes[0][0]
    exponent = log(timings[-1]["ours"] / timings[0]["ours"]) / log(span)
    last = log(timings[-1]["ours"] / timings[-2]["ours"]) / log(sizes[-1][0] / sizes[-2][0])
    print(
        f"SmoothAUCBoost: time grows like n^{exponent:.2f} from 1e4 to {sizes[-1][0]:.0e} rows, "
        f"like n^{last:.2f} over the last step"
    )
    return rows + timings


if __name__ == "__main__":
    print_table(run())
