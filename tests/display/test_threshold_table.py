"""The table of thresholds, drawn: what its cells say."""

import matplotlib
import numpy as np
import pytest

from auctor.display import ThresholdTableDisplay
from auctor.metrics import threshold_table

matplotlib.use("Agg")
import matplotlib.pyplot as plt


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def draw(n=200):
    rng = np.random.default_rng(0)
    y = rng.random(n) < 0.3
    return y, rng.normal(size=n) + y


def written(display):
    """The texts of the drawn table by row."""
    cells = display.ax_.tables[0].get_celld()
    n_rows, n_columns = (1 + max(position[axis] for position in cells) for axis in (0, 1))
    return [[cells[i, j].get_text().get_text() for j in range(n_columns)] for i in range(n_rows)]


def test_cells_are_those_of_the_table():
    y, s = draw()
    display = ThresholdTableDisplay.from_predictions(y, s, fractions=[0.05, 0.2], name="ours")
    expected = threshold_table(y, s, fractions=[0.05, 0.2])
    assert repr(display.table) == repr(expected)
    assert written(display)[1:] == expected.cells()[1]
    assert display.ax_.get_title() == "ours: 95 % intervals (Clopper-Pearson)"


def test_in_narrow_axes_intervals_go_below_and_fit():
    y, s = draw()
    figure, axes = plt.subplots(1, 2, figsize=(9, 4))
    display = ThresholdTableDisplay.from_predictions(y, s, ax=axes[0])
    assert "\n(" in written(display)[1][3]
    figure.canvas.draw()
    cells = display.ax_.tables[0].get_celld()
    for cell in cells.values():
        text, box = cell.get_text().get_window_extent(), cell.get_window_extent()
        assert text.width <= box.width and text.height <= 1.1 * box.height


def test_wide_tables_fit_too():
    y, s = draw(2000)
    display = ThresholdTableDisplay.from_predictions(y, s * 1e6)
    display.figure_.canvas.draw()
    for cell in display.ax_.tables[0].get_celld().values():
        assert cell.get_text().get_window_extent().width <= cell.get_window_extent().width


def test_weights_and_groups():
    y, s = draw()
    for options in ({"sample_weight": 1.0 + y}, {"groups": np.arange(200) // 4}):
        display = ThresholdTableDisplay.from_predictions(y, s, **options)
        assert display.table.method == "Clopper-Pearson at the effective number of rows"
        assert repr(display.table) == repr(threshold_table(y, s, **options))
    with pytest.raises(ValueError, match="fractions"):
        ThresholdTableDisplay.from_predictions(y, s, fractions=[2.0])
