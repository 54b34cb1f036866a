"""The drawings of a ranking tree and of its partition."""

import matplotlib
import numpy as np
import pytest

from auctor import MartiRank, TreeRank
from auctor.display import PartitionDisplay, TreeDisplay

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def fit(split="stump", n_features=2, **settings):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, n_features))
    y = rng.random(2000) < 1 / (1 + np.exp(-2 * X[:, 0] - 2 * X[:, 1]))
    return TreeRank(split=split, min_samples_leaf=20, **settings).fit(X, y), X


@pytest.mark.parametrize("split", ["stump", "tree"])
def test_numbers_are_those_of_the_tree(split):
    ranker, _ = fit(split, max_depth=3)
    display = TreeDisplay.from_estimator(ranker)
    total = display.weight_neg + display.weight_pos
    assert total[0] == 2000
    for cell in set(display.parent.tolist()) - {-1}:
        children = np.flatnonzero(display.parent == cell)
        assert len(children) == 2
        assert total[children].sum() == total[cell]
        # the left one is the upper one
        fraction = display.weight_pos[children] / total[children]
        assert (np.diff(fraction[np.argsort(display.x[children])]) < 0).all()
    is_leaf = ~np.isin(np.arange(len(total)), display.parent)
    leaves = ranker.model_.leaves
    order = np.argsort(display.x[is_leaf])
    assert np.array_equal(display.weight_pos[is_leaf][order], ranker.model_.pos[leaves])


def test_a_deep_tree_is_cut_off():
    ranker, _ = fit(max_depth=7)
    display = TreeDisplay.from_estimator(ranker, max_depth=2)
    assert len(display.x) == 7
    assert display.x[display.depth == 2].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("split", ["stump", "tree"])
def test_plot_draws_on_the_axes_it_is_given(split):
    ranker, _ = fit(split, max_depth=3)
    figure, ax = plt.subplots()
    display = TreeDisplay.from_estimator(ranker)
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax
    points = sum(len(collection.get_offsets()) for collection in ax.collections)
    assert points == len(display.x)
    plt.close(figure)


@pytest.mark.parametrize("split", ["stump", "tree"])
def test_rectangles_have_the_rank_of_the_rows_in_them(split):
    ranker, X = fit(split, max_depth=3)
    display = PartitionDisplay.from_estimator(ranker)
    scores = np.unique(ranker.decision_function(X))[::-1]
    row = np.searchsorted(display.y_edges[1:-1], X[:, 1])
    column = np.searchsorted(display.x_edges[1:-1], X[:, 0])
    rank = display.rank[row, column]
    assert np.array_equal(scores[rank - 1], ranker.decision_function(X))
    display.plot(x_limits=(-4, 4))
    assert display.ax_.get_xlim() == (-4, 4)
    plt.close(display.figure_)


def test_a_single_cell_and_features_that_are_not_used():
    flat = TreeRank().fit(np.ones((40, 2)), [0, 1] * 20)
    for display in (TreeDisplay.from_estimator(flat), PartitionDisplay.from_estimator(flat)):
        plt.close(display.plot().figure_)
    ranker, _ = fit(n_features=5, max_depth=2)
    assert PartitionDisplay.from_estimator(ranker).names == ("x0", "x1")


def test_errors_say_what_can_be_drawn():
    with pytest.raises(ValueError, match="MartiRank has no tree; give a fitted TreeRank"):
        TreeDisplay.from_estimator(MartiRank())
    ranker, _ = fit(n_features=5, max_depth=8)
    with pytest.raises(ValueError, match=r"the tree has 5 features \(x0, x1, x2, x3, x4\)"):
        PartitionDisplay.from_estimator(ranker)


def test_the_test_holds_for_the_part_that_is_drawn_on_the_left():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(100, 2))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=100) > 0
    model = TreeRank(3, min_samples_leaf=5, order="rate").fit(X, y).model_
    assert model.cells.upper[0] != model.nodes.left[0]  # the best leaf is on the right of the tree
    feature, cut = int(model.nodes.feature[0]), model.features[int(model.nodes.feature[0])].cuts
    text = TreeDisplay.from_model(model).test[0]
    above = X[:, feature] > cut[int(model.nodes.cut[0]) - 1]
    drawn = above if ">" in text else ~above
    upper = int(model.cells.upper[0])
    assert drawn.sum() == model.neg[upper] + model.pos[upper]
