"""Figure 1: the KS loss over a plane, and the paths of runs in it."""

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from auctor._typing import Floats
from auctor.data import prepare
from auctor.learners.common.finish import finish_additive
from auctor.learners.exact.fit import step_tables
from auctor.learners.exact.table import gather
from papers.csillag_2021.methods import Fold, exactboost, ks_loss, read_fold
from papers.experiment import Case, CaseResults, Experiment, Result, Setup
from papers.page import Page

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE = "heart"
_NAME = f"{TABLE}, fold 0"
_N_SIDE = 41  # points of the plane, each way
_MARGIN = 0.15  # of the plane around the paths


def cases(setup: Setup) -> list[Case]:
    """One case: the paths and the loss around them."""
    n_runs, n_side = setup.pick((50, _N_SIDE), (10, 21), (3, 7))
    work = partial(trace, setup.seed, n_runs, n_side)
    return [Case(_NAME, work, tables=(TABLE,), cost=0.1 * n_runs)]


def trace(seed: int, n_runs: int, n_side: int) -> Result:
    """Paths of the runs in the plane of their two main directions, and the loss on that plane."""
    fold = read_fold(TABLE, 0, seed)
    train, test = _paths(fold, seed, n_runs)  # (run, round, row)
    points = train.reshape(-1, train.shape[2])
    centre, axes = _plane(points)
    places = (train - centre) @ axes.T
    lattice = [_side(places[..., k].ravel(), n_side) for k in (0, 1)]
    losses = [
        [ks_loss(fold.y, centre + u * axes[0] + v * axes[1]) for u in lattice[0]]
        for v in lattice[1]
    ]
    spread = float(((points - centre) @ axes.T).var(axis=0).sum() / points.var(axis=0).sum())
    return {
        "paths": np.round(places, 5).tolist(),
        "lattice": [np.round(side, 5).tolist() for side in lattice],
        "losses": np.round(losses, 5).tolist(),
        "spread": spread,
        "train": [[ks_loss(fold.y, s) for s in run[[0, -1]]] for run in train],
        "test": [[ks_loss(fold.y_test, s) for s in run[[0, -1]]] for run in test],
        "mean_train": ks_loss(fold.y, train[:, -1].mean(axis=0)),
        "mean_test": ks_loss(fold.y_test, test[:, -1].mean(axis=0)),
        "mean_place": np.round((train[:, -1].mean(axis=0) - centre) @ axes.T, 5).tolist(),
    }


def _paths(fold: Fold, seed: int, n_runs: int) -> tuple[Floats, Floats]:
    """Scores of training and test rows after every accepted round of every run.

    Runs that accept fewer rounds stay where they are.
    """
    model = exactboost("KS", seed, n_runs).fit(fold.X, fold.y)
    data = prepare(fold.X, fold.y)
    table = gather(data)
    n_steps = max(len(run.steps) for run in model.history_.runs)
    found: list[list[list[Floats]]] = [[], []]
    for run in model.history_.runs:
        scores: list[list[Floats]] = [[np.zeros(len(fold.y))], [np.zeros(len(fold.y_test))]]
        for n in range(1, n_steps + 1):
            some = replace(run, steps=run.steps[:n])
            single, _ = finish_additive(data, step_tables(data, table, [some]))
            for part, X in zip(scores, (fold.X, fold.X_test), strict=True):
                part.append(single.decision_function(X) - single.intercept)
        for side, of in zip(found, scores, strict=True):
            side.append(of)
    return np.array(found[0]), np.array(found[1])


def _plane(points: Floats) -> tuple[Floats, Floats]:
    """The mean, and the two directions in which the points vary most; the first points onwards."""
    centre = points.mean(axis=0)
    _, _, directions = np.linalg.svd(points - centre, full_matrices=False)
    axes = directions[:2]
    start = -centre @ axes.T  # all runs start at the score 0
    return centre, axes * np.where(start > 0, -1.0, 1.0)[:, None]


def _side(values: Floats, n: int) -> Floats:
    width = float(np.ptp(values))
    return np.linspace(values.min() - _MARGIN * width, values.max() + _MARGIN * width, n)


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """The picture, and where the runs begin and end."""
    if _NAME not in results:
        return
    result = results[_NAME]
    train, test = np.array(result["train"]), np.array(result["test"])
    page.text(
        f"The landscape of Figure 1 on the first fold of {TABLE}, with {len(train)} runs. The "
        "paper draws it by UMAP, whose parameters are not given and whose plane has no scores "
        "between the points. Here the plane is that of the two main directions (principal "
        f"components, {result['spread']:.0%} of the variance) of the scores of all training rows "
        "after all rounds, so that every point of it is a score with a KS loss, and the shading is "
        "that loss. All runs start at the score 0, whose loss is 1."
    )
    page.figure(
        "landscape",
        partial(_draw, result=result),
        f"The KS loss on the training rows of {TABLE} over a plane of scores, the paths of ten "
        "runs, and the mean of all runs",
    )
    page.table(
        ["", "training rows", "test rows"],
        [
            ["one run at its end, mean", *(f"{part[:, 1].mean():.3f}" for part in (train, test))],
            ["one run at its end, best to worst", *(_span(part[:, 1]) for part in (train, test))],
            [f"the mean of {len(train)} runs",
             *(f"{result[key]:.3f}" for key in ("mean_train", "mean_test"))],
        ],
    )  # fmt: skip
    better = [
        int((part[:, 1] > result[f"mean_{side}"]).sum())
        for side, part in (("train", train), ("test", test))
    ]
    page.text(
        f"The mean of the runs has a lower loss than {better[0]} of {len(train)} single runs on "
        f"the training rows and than {better[1]} on the test rows; whether more runs are better "
        "is judged over all folds in the next section."
    )


def _span(values: Floats) -> str:
    return f"{values.min():.3f} to {values.max():.3f}"


def _draw(figure: "Figure", result: Result) -> None:
    axes = figure.subplots()
    shading = axes.contourf(*result["lattice"], np.array(result["losses"]), 20, cmap="viridis_r")
    figure.colorbar(shading, ax=axes, label="KS loss, training rows")
    for number, path in enumerate(result["paths"][:10]):
        x, y = np.array(path).T
        axes.plot(x, y, "-", color="white", linewidth=0.9, alpha=0.8)
        axes.plot(x[-1], y[-1], "o", color="white", markersize=4, markeredgecolor="black",
                  label="end of a run" if number == 0 else None)  # fmt: skip
    start = np.array(result["paths"])[0, 0]
    axes.plot(*start, "s", color="C1", markeredgecolor="black", label="start: score 0")
    axes.plot(*result["mean_place"], "*", color="C3", markersize=14, markeredgecolor="black",
              label="mean of all runs")  # fmt: skip
    axes.set_xlabel("first direction of the scores")
    axes.set_ylabel("second direction")
    axes.legend(fontsize=8, loc="lower left")


EXPERIMENT = Experiment("landscape", "Figure 1: the landscape", cases, report)
