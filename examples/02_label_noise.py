"""Label noise: boosting of a convex loss fails, MartiRank does not.

Two distributions of Long and Servedio. The first is the majority of 9 among 20 boolean features,
with a fraction eta of the labels flipped: we plot the AUC on clean labels by the number of layers
T. The second is the distribution on which every booster of a convex loss fails when 10 % of the
labels are flipped. Writes demo-output/label_noise.png; needs matplotlib and LightGBM (both in the
dev extra).

Run it with ``python examples/02_label_noise.py [ROWS]``; the default is 100,000 rows.
"""

import sys
from pathlib import Path
from typing import Any

import lightgbm as lgb
import matplotlib
import numpy as np
from sklearn.ensemble import AdaBoostClassifier

from auctor import AUCBoost, MartiRank, RankBoost
from auctor.datasets import make_long_servedio, make_r_of_k
from auctor.metrics import auc

matplotlib.use("Agg")
import matplotlib.pyplot as plt

FOLDER = Path("demo-output")
ETAS = (0.0, 0.2, 0.3, 0.4)
LAYERS = (5, 10, 20, 40)


def majority_of_nine(n_rows: int, eta: float, seed: int) -> Any:
    """At least 5 of the first 9 of 20 features are +1, in half of the rows."""
    return make_r_of_k(n_rows, n_features=20, k=9, r=5, noise=eta, random_state=seed)


def noise_curves(n_rows: int) -> dict[float, list[float]]:
    """For each noise rate the AUC on clean labels, one value for each number of layers."""
    unseen = majority_of_nine(20_000, 0.0, seed=1)
    curves: dict[float, list[float]] = {}
    for eta in ETAS:
        noisy = majority_of_nine(n_rows, eta, seed=0)
        curves[eta] = [
            auc(
                unseen.y,
                MartiRank(n_layers=T).fit(noisy.X, noisy.y).decision_function(unseen.X),
            )
            for T in LAYERS
        ]
        shown = "  ".join(f"{value:.4f}" for value in curves[eta])
        print(f"eta = {eta:.1f}: {shown}", flush=True)
    return curves


def collapse(n_rows: int) -> dict[str, tuple[float, float]]:
    """AUC on clean labels after training on clean and on noisy labels, for each method."""
    unseen = make_long_servedio(20_000, random_state=1)
    methods: dict[str, Any] = {
        "MartiRank, T = 80": lambda: MartiRank(n_layers=80),
        "AdaBoost, 200 stumps": lambda: AdaBoostClassifier(n_estimators=200),
        "RankBoost, 200 stumps": lambda: RankBoost(200),
        "AUCBoost, 200 features": lambda: AUCBoost(n_estimators=200),
        "LightGBM, 1000 stumps": lambda: lgb.LGBMClassifier(
            n_estimators=1000, num_leaves=2, verbose=-1
        ),
        "LightGBM, 200 trees": lambda: lgb.LGBMClassifier(n_estimators=200, verbose=-1),
    }
    aucs = {}
    for name, make in methods.items():
        values = []
        for noise in (0.0, 0.1):
            sample = make_long_servedio(n_rows, noise=noise, random_state=0)
            model = make().fit(sample.X, sample.y)
            values.append(auc(unseen.y, score(model, unseen.X)))
        aucs[name] = (values[0], values[1])
        print(f"{name:<24} {values[0]:.4f}  {values[1]:.4f}", flush=True)
    return aucs


def score(model: Any, X: np.ndarray) -> np.ndarray:
    """The score by which the model ranks."""
    if isinstance(model, lgb.LGBMClassifier):
        return np.asarray(model.booster_.predict(X))
    return np.asarray(model.decision_function(X))


def draw(curves: dict[float, list[float]], aucs: dict[str, tuple[float, float]]) -> Path:
    """Draw both results side by side."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 3.8), width_ratios=[1, 1.3])
    for eta, values in curves.items():
        left.plot(LAYERS, values, marker="o", label=f"{eta:.0%} of the labels flipped")
    left.set(xlabel="layers T", ylabel="AUC on clean labels", title="Majority of 9 of 20 features")
    left.legend(frameon=False)
    names = list(aucs)[::-1]
    positions = np.arange(len(names))
    clean, noisy = ([aucs[name][k] for name in names] for k in (0, 1))
    right.barh(
        positions + 0.2, clean, height=0.38, color="#9db4c0", label="trained on clean labels"
    )
    right.barh(positions - 0.2, noisy, height=0.38, color="#1b4965", label="10 % flipped")
    right.set_yticks(positions, names)
    right.set(
        xlim=(0.5, 1.0), xlabel="AUC on clean labels", title="Long and Servedio's distribution"
    )
    right.legend(frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.17))
    for ax in (left, right):
        ax.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    FOLDER.mkdir(exist_ok=True)
    path = FOLDER / "label_noise.png"
    figure.savefig(path, dpi=110)
    return path


def main(n_rows: int) -> None:
    print(f"AUC on clean labels, MartiRank with T = {', '.join(map(str, LAYERS))} layers:")
    curves = noise_curves(n_rows)
    print("\nLong and Servedio's distribution, trained on clean labels and with 10 % flipped:")
    aucs = collapse(20_000)
    print(f"\nwritten to {draw(curves, aucs)}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
