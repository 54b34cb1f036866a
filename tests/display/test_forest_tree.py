"""The drawing of one tree of a forest."""

import matplotlib
import numpy as np
import pandas as pd
import pytest

from auctor import MartiRank, SmoothTreeBoost
from auctor.display import ForestTreeDisplay, ScorePlotDisplay, ScoreROCDisplay
from auctor.models import ForestModel

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    X["town"] = rng.choice(["here", "there"], 300)
    X.loc[:20, "a"] = np.nan
    return X, (X["b"] + (X["town"] == "here") + rng.normal(size=300) > 0.5).to_numpy()


@pytest.fixture(scope="module")
def fitted(rows):
    return SmoothTreeBoost(4, early_stopping=False, max_depth=3, subsample=1.0).fit(*rows)


@pytest.mark.parametrize("tree", [0, 3])
def test_leaves_add_what_the_tree_adds_to_the_scores(rows, fitted, tree):
    X, _ = rows
    display = ForestTreeDisplay.from_estimator(fitted, tree=tree)
    (forest,) = (part for part in fitted.model_.parts if isinstance(part, ForestModel))
    weight = fitted.model_.weights[fitted.model_.parts.index(forest)]
    added = weight * forest.walker.ranks(forest.codes(X), 0, len(X))[tree]
    is_leaf = ~np.isin(np.arange(len(display.x)), display.parent)
    values, counts = np.unique(added, return_counts=True)
    order = np.argsort(display.value[is_leaf])
    assert display.value[is_leaf][order] == pytest.approx(values)
    assert display.cover[is_leaf][order] / display.cover[0] == pytest.approx(counts / len(X))
    assert display.value[0] == pytest.approx(added.mean())


def test_children_add_up_and_the_higher_part_is_on_the_left(fitted):
    display = ForestTreeDisplay.from_estimator(fitted)
    for node in set(display.parent.tolist()) - {-1}:
        children = np.flatnonzero(display.parent == node)
        children = children[np.argsort(display.x[children])]
        assert display.cover[children].sum() == pytest.approx(display.cover[node])
        assert np.diff(display.value[children]) <= 0
        assert display.test[node]
    assert display.depth.max() <= 3 and display.parent[0] == -1


def test_tests_hold_for_the_rows_that_go_left(rows, fitted):
    X, _ = rows
    display = ForestTreeDisplay.from_estimator(fitted, max_depth=1)
    assert len(display.x) == 3
    name, sign, cut = display.test[0].split()[:3]
    assert name == "b" and sign == ">"
    left = int(np.argmin(display.x[1:])) + 1
    fraction = display.cover[left] / display.cover[0]
    assert fraction == pytest.approx((X["b"] > float(cut)).mean(), abs=0.02)


def test_plot_draws_on_the_axes_it_is_given(fitted):
    figure, ax = plt.subplots()
    display = ForestTreeDisplay.from_model(fitted.model_, tree=2)
    assert display.plot(ax=ax) is display and display.ax_ is ax
    assert ax.get_title() == "tree 2, counted from 0, of 4"
    assert sum(len(marks.get_offsets()) for marks in ax.collections) == len(display.x)
    plt.close(figure)


def test_what_cannot_be_drawn_is_named(rows, fitted):
    with pytest.raises(ValueError, match="tree is 4, but the forest has 4 trees; give a number"):
        ForestTreeDisplay.from_estimator(fitted, tree=4)
    with pytest.raises(ValueError, match="ProgramModel has no trees with the weight"):
        ForestTreeDisplay.from_estimator(MartiRank(n_layers=2).fit(rows[0][["b"]], rows[1]))


def test_score_plots_of_a_sum_say_what_to_draw_instead(rows, fitted):
    for display in (ScorePlotDisplay, ScoreROCDisplay):
        with pytest.raises(ValueError, match=r"a sum of models.*model\.parts"):
            display.from_estimator(fitted, *rows)
    additive = fitted.model_.parts[0]
    assert ScorePlotDisplay.from_model(additive, *rows).panels
