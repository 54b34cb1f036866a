"""Score plots: what each measurement adds to a score, with confidence bands.

The real data of Komori (2010), section 5: 81 children after spinal surgery, and whether kyphosis,
a deformity of the spine, was present. As in the paper the first 70 children are for training and
the other 11 for testing; 2 of these have kyphosis, so that the test AUC is a count over 18 pairs.
Writes score_plots.png (the paper's Figure 5, with bands) and score_roc.png; needs matplotlib.

Run it with ``python examples/05_score_plots.py [FOLDER]``; the default is demo-output/.
"""

import sys
from pathlib import Path

import pandas as pd

from auctor import SmoothAUCBoost
from auctor.datasets import load_kyphosis
from auctor.metrics import auc_ci

N_TRAIN = 70


def draw(ranker: SmoothAUCBoost, X: pd.DataFrame, y: pd.Series, folder: Path) -> list[Path]:
    """The score plots and the score ROC curves of the training rows, as pictures."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    from auctor.display import ScorePlotDisplay, ScoreROCDisplay

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, display in (
        ("score_plots", ScorePlotDisplay.from_estimator(ranker, X, y)),
        ("score_roc", ScoreROCDisplay.from_estimator(ranker, X, y)),
    ):
        paths.append(folder / f"{name}.png")
        display.figure_.savefig(paths[-1], dpi=120)
        plt.close(display.figure_)
    return paths


def describe_risk(ranker: SmoothAUCBoost) -> str:
    """The ages with the highest score, in a sentence."""
    cuts, risk = ranker.model_.features[0].cuts, ranker.model_.steps[0][1:]
    top = int(risk.argmax())
    if top == 0:
        return "The risk is highest for the youngest children."
    start = f"By age, the risk is highest from about {cuts[top - 1]:.0f} months on"
    return f"{start} and falls after {cuts[top]:.0f} months." if top < len(cuts) else f"{start}."


def main(folder: Path = Path("demo-output")) -> SmoothAUCBoost:
    """Fit, print how good the score is and why, and draw."""
    sample = load_kyphosis()
    X = pd.DataFrame(sample.X, columns=list(sample.feature_names))
    y = pd.Series(sample.y)
    train, test = slice(None, N_TRAIN), slice(N_TRAIN, None)
    ranker = SmoothAUCBoost().fit(X[train], y[train])
    for name, rows in (("training", train), ("test", test)):
        print(f"{name} rows: {auc_ci(y[rows], ranker.decision_function(X[rows]))}")
    print(f"\n{ranker.certificate_.statement}")
    print(f"\nThe score AUC of each feature, on the training rows:\n"
          f"{ranker.score_table(X[train], y[train])}")  # fmt: skip
    print(f"\nWhy the third child has the score it has:\n{ranker.explain(X.iloc[2])}")
    print(f"\n{describe_risk(ranker)}")
    for path in draw(ranker, X[train], y[train], folder):
        print(f"written to {path}")
    return ranker


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("demo-output"))
