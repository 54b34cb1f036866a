"""Draws the README's picture: the ROC curve of unseen rows, and three features of the model."""

from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from auctor import SmoothAUCBoostCV
from auctor.display import ScorePlotDisplay
from auctor.metrics import auc_ci, roc_curve

NEGATIVE, POSITIVE = "benign", "malignant"
# One of each kind: shape, size, and how much the size varies.
FEATURES = ["mean concave points", "worst area", "area error"]


def main() -> None:
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.where(y == 0, POSITIVE, NEGATIVE)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y, test_size=0.4, stratify=y, random_state=0
    )
    ranker = SmoothAUCBoostCV(pos_label=POSITIVE).fit(X_train, y_train)
    figure, axes = plt.subplots(1, 4, figsize=(13, 3.6), layout="constrained")
    figure.get_layout_engine().set(w_pad=0.07, h_pad=0.07)
    draw_roc(axes[0], y_test, ranker.decision_function(X_test))
    display = ScorePlotDisplay.from_estimator(
        ranker, X_train, y_train, features=FEATURES, ax=axes[1:]
    )
    legend = display.axes_[0].get_legend()
    legend.remove()  # a line below the panels in its place
    figure.legend(
        handles=legend.legend_handles, loc="outside lower right", ncols=5, frameon=False, fontsize=8
    )
    figure.savefig(Path(__file__).with_suffix(".png"), dpi=110)


def draw_roc(ax: Any, y: Any, scores: Any) -> None:
    """The curve, and its area with the interval."""
    curve = roc_curve(y, scores, pos_label=POSITIVE)
    area = auc_ci(y, scores, pos_label=POSITIVE)
    ax.fill_between(curve.fpr, curve.tpr, color="#d9e7f2", linewidth=0)
    ax.plot([0, 1], [0, 1], color="white", linewidth=1.2)
    ax.plot(curve.fpr, curve.tpr, color="#1b1b1b", linewidth=1.8)
    right = {"x": 0.96, "ha": "right"}
    ax.text(y=0.26, s=f"AUC {area.value:.3f}", fontsize=13, fontweight="bold", **right)
    ax.text(y=0.16, s=f"{area.level:.0%} CI {area.low:.3f} to {area.high:.3f}", **right)
    counts = f"{area.n_pos} {POSITIVE}, {area.n_neg} {NEGATIVE}"
    ax.text(y=0.06, s=counts, fontsize=9, color="0.35", **right)
    ax.set_title("ROC curve of unseen rows", loc="left", fontsize=10, fontweight="bold")
    ax.set(xlim=(-0.015, 1), ylim=(0, 1.015))
    ax.set_xlabel("false positive rate", fontsize=9)
    ax.set_ylabel("true positive rate", fontsize=9)
    ax.tick_params(labelsize=8)
    ax.spines[["top", "right"]].set_visible(False)


if __name__ == "__main__":
    main()
