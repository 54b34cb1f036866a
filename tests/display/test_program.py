"""The drawing of a branching program."""

import matplotlib
import numpy as np
import pytest

from auctor import MartiRank
from auctor.datasets import make_r_of_k
from auctor.display import ProgramDisplay

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(scope="module")
def display():
    sample = make_r_of_k(2000, n_features=20, k=9, r=5, noise=0.1, random_state=0)
    return ProgramDisplay.from_estimator(MartiRank(n_layers=12).fit(sample.X, sample.y))


def test_numbers_are_those_of_the_program(display):
    assert len(display.layer) == 12 * 13 // 2
    assert (display.weight_neg[0], display.weight_pos[0]) == (
        pytest.approx(1000, abs=60),
        pytest.approx(1000, abs=60),
    )
    # rows neither appear nor vanish, but for those that end at frozen nodes
    ended = 0.0
    total = display.weight_neg + display.weight_pos
    for t in range(1, 13):
        here = display.layer == t
        assert total[here].sum() + ended == pytest.approx(2000)
        ended += total[here & display.frozen].sum()


def test_plot_draws_on_the_axes_it_is_given(display):
    figure, ax = plt.subplots()
    drawn = display.plot(ax=ax)
    assert drawn is display
    assert display.ax_ is ax
    points = sum(len(collection.get_offsets()) for collection in ax.collections)
    assert points == int((display.weight_neg + display.weight_pos > 0).sum())
    plt.close(figure)


def test_it_makes_axes_of_its_own(display):
    display.plot()
    assert np.isfinite(display.ax_.dataLim.bounds).all()
    plt.close(display.figure_)


def test_empty_layers_and_other_estimators():
    flat = MartiRank(n_layers=4).fit(np.ones((30, 2)), [0, 1] * 15)
    drawn = ProgramDisplay.from_estimator(flat).plot()
    plt.close(drawn.figure_)
    with pytest.raises(ValueError, match="MartiRank has no branching program"):
        ProgramDisplay.from_estimator(MartiRank())


def test_no_layers_to_draw():
    flat = MartiRank(n_layers=2).fit(np.ones((30, 2)), [0, 1] * 15)
    with pytest.raises(ValueError, match="max_layers is 0; give a whole number of at least 1"):
        ProgramDisplay.from_estimator(flat, max_layers=0)
