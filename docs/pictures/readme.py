"""Draws the README's picture: the ROC curve of unseen rows, and three features of the model."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from auctor import RankBoost
from auctor.metrics import auc_ci, roc_curve

INK, SOFT = "#1b4965", "#9db4c0"


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = 1 - y  # malignant is positive
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.4, stratify=y, random_state=0
    )
    ranker = RankBoost(n_estimators=200, learning_rate=0.1).fit(X_train, y_train)
    scores = ranker.decision_function(X_test)
    curve, interval = roc_curve(y_test, scores), auc_ci(y_test, scores)
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.3), width_ratios=[1.25, 1, 1, 1])
    axes[0].plot([0, 1], [0, 1], color=SOFT, linewidth=1, linestyle=":")
    axes[0].plot(curve.fpr, curve.tpr, color=INK, linewidth=2)
    axes[0].set(xlabel="false positive rate", ylabel="true positive rate", xlim=(-0.01, 1))
    axes[0].set_title(
        f"AUC {interval.value:.3f} (95% CI {interval.low:.3f} to {interval.high:.3f})", fontsize=10
    )
    model = ranker.model_
    for ax, j in zip(axes[1:], model.used[:3], strict=True):
        feature, steps = model.features[j], model.steps[j]
        values = X_train[feature.name]
        edges = np.concatenate([[values.min()], feature.cuts, [values.max()]])
        ax.stairs(steps[1:] - steps[1:].mean(), edges, color=INK, linewidth=2, baseline=None)
        ax.axhline(0, color=SOFT, linewidth=1, linestyle=":")
        ax.plot(values, np.full(len(values), ax.get_ylim()[0]), "|", color=SOFT, markersize=6)
        ax.set_title(feature.name, fontsize=10)
        ax.set_xlabel("value")
    axes[1].set_ylabel("adds to the score")
    for ax in axes:
        ax.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)


if __name__ == "__main__":
    main()
