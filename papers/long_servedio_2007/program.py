"""Figure 2: the branching program, drawn as MartiRank builds it."""

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from auctor import MartiRank
from auctor.datasets import load_kyphosis
from auctor.display import ProgramDisplay
from papers.experiment import Case, CaseResults, Result, Setup
from papers.page import Page
from papers.tables import Rows, read_rows

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TABLE, EMBEDDED = "spambase", "kyphosis"


def cases(setup: Setup) -> list[Case]:
    """A real table and an included one."""
    n_layers = setup.pick(8, 8, 5)
    n_rows = setup.pick(None, None, 300)
    return [
        Case(TABLE, partial(on_table, setup.seed, n_rows, n_layers), (TABLE,)),
        Case(EMBEDDED, partial(on_kyphosis, setup.seed, n_layers)),
    ]


def on_table(seed: int, n_rows: int | None, n_layers: int) -> Result:
    """The program of a real table."""
    return nodes_of(read_rows(TABLE, seed, n_rows), n_layers, 10.0, seed)


def on_kyphosis(seed: int, n_layers: int) -> Result:
    """The program of 81 rows, whose nodes need fewer rows."""
    sample = load_kyphosis()
    return nodes_of(Rows(sample.X, sample.y), n_layers, 2.0, seed)


def nodes_of(rows: Rows, n_layers: int, min_class: float, seed: int) -> Result:
    """Return the weight that passes each node and the error of its classifier."""
    ranker = MartiRank(n_layers=n_layers, min_samples_leaf=min_class, random_state=seed).fit(*rows)
    shown = ProgramDisplay.from_estimator(ranker)
    nodes = [node for layer in ranker.history_.layers for node in layer]
    names = ("layer", "index", "weight_neg", "weight_pos", "frozen")
    arrays = {name: getattr(shown, name).tolist() for name in names}
    return {**arrays, "epsilon": [node.epsilon for node in nodes]}


def report(page: Page, results: CaseResults, setup: Setup) -> None:
    """Draw the program, describe it and check its structure."""
    name = next((name for name in (TABLE, EMBEDDED) if name in results), None)
    if name is None:
        return
    arrays = {key: np.array(value) for key, value in results[name].items()}
    page.text(
        f"MartiRank on `{name}`, {int(arrays['layer'].max())} layers. Each layer is a row of "
        "nodes, the first on top; from a node the left edge is for rows that its classifier calls "
        "negative and the right edge for the others. A node is larger if more rows of its layer "
        "pass it, and redder if more of these are positive; squares are frozen nodes. "
        f"{_drift(arrays)} The paper's text calls it Figure 3, but the paper has two figures, and "
        "this is Figure 2."
    )
    epsilon = arrays.pop("epsilon")
    page.figure(
        "figure2",
        lambda figure: _draw(figure, arrays),
        f"Figure 2 on a real table: the branching program of {name}",
    )
    page.check(
        "layer t has t nodes, and the rows of a class that are sent on are those of the next layer",
        _is_program(arrays),
        f"{len(epsilon)} nodes, {int(arrays['frozen'].sum())} of them frozen",
    )
    live = epsilon[~arrays["frozen"]]
    page.check(
        "each node that sends rows on errs on less than half of each class",
        bool((live < 0.5).all()),
        f"largest error {live.max():.3f}",
    )


def _drift(arrays: dict[str, Any]) -> str:
    """Describe the difference of the classes in the last layer."""
    last = arrays["layer"] == arrays["layer"].max()
    steps = arrays["layer"].max() - 1
    if steps < 1:
        return ""
    means = [
        float(arrays[name][last] @ arrays["index"][last] / max(arrays[name][last].sum(), 1))
        for name in ("weight_pos", "weight_neg")
    ]
    return (
        f"Of the {steps} steps down to the last layer, the rows that get there have gone right "
        f"{means[0]:.1f} times if positive and {means[1]:.1f} times if negative, on average: the "
        "two random walks of Lemma 7."
    )


def _is_program(arrays: dict[str, Any]) -> bool:
    layer, moving = arrays["layer"], ~arrays["frozen"]
    layers = range(1, int(layer.max()) + 1)
    counts_match = all((layer == t).sum() == t for t in layers)
    kept = [
        np.isclose(arrays[name][moving & (layer == t)].sum(), arrays[name][layer == t + 1].sum())
        for name in ("weight_neg", "weight_pos")
        for t in layers[:-1]
    ]
    return bool(counts_match and all(kept))


def _draw(figure: "Figure", arrays: dict[str, Any]) -> None:
    ax = figure.subplots()
    ProgramDisplay(**arrays).plot(ax)
    ax.set_xlabel("steps to the right (called positive), minus half of all steps so far")
