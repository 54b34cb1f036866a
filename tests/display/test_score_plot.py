"""Score plots: their numbers, and that they can be drawn."""

from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest

from auctor import AUCBoost, SmoothAUCBoost, TreeRank
from auctor.data import number_feature
from auctor.display import ScorePlotDisplay
from auctor.metrics import auc
from auctor.models import Surface

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def rows(n=150):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "bent": np.exp(rng.normal(size=n)),
            "count": rng.poisson(2.0, size=n).astype(float),
            "kind": pd.Categorical(rng.choice(["a", "b", "c"], size=n)),
            "same": np.ones(n),
        }
    )
    z = np.log(X["bent"]) ** 2 + 0.5 * X["count"] + (X["kind"] == "b") + rng.normal(size=n)
    y = np.where(z > z.median(), "bad", "good")
    X.loc[rng.random(n) < 0.1, "bent"] = np.nan
    return X, y


@pytest.fixture(scope="module")
def fitted():
    X, y = rows()
    return SmoothAUCBoost(pos_label="bad", tol=1e-5).fit(X, y), X, y


@pytest.fixture(autouse=True)
def close():
    yield
    plt.close("all")


def panel_of(display, name):
    return next(panel for panel in display.panels if panel.name == name)


def test_numbers_are_those_of_the_model(fitted):
    ranker, X, y = fitted
    display = ScorePlotDisplay.from_model(ranker.model_, X, y)
    parts = dict(zip(X.columns, ranker.model_.contributions(X).T, strict=True))
    assert [panel.auc for panel in display.panels] == sorted(
        (auc(y, parts[name], pos_label="bad") for name in ("bent", "count", "kind")), reverse=True
    )
    assert display.n_left_out == 1  # the constant
    bent, part = panel_of(display, "bent"), parts["bent"]
    known = X["bent"].notna().to_numpy()
    mean = (part[y == "bad"].mean() + part[y == "good"].mean()) / 2
    place = np.searchsorted(bent.edges[1:-1], X["bent"][known])
    assert np.allclose(bent.values[place], part[known] - mean)
    assert bent.missing == pytest.approx(part[~known][0] - mean)
    kind = panel_of(display, "kind")
    assert kind.edges is None and (np.diff(kind.values) <= 0).all()
    assert kind.missing is None
    for name, value in zip(kind.categories, kind.values, strict=True):
        there = (X["kind"] == name).to_numpy()
        centre = np.mean([parts["kind"][y == label].mean() for label in ("bad", "good")])
        assert np.allclose(value, parts["kind"][there] - centre)


def test_bands_are_around_the_curve(fitted):
    ranker, X, y = fitted
    display = ScorePlotDisplay.from_estimator(ranker, X, y, n_resamples=6, level=0.9)
    plain = ScorePlotDisplay.from_model(ranker.model_, X, y)
    assert (display.level, display.n_resamples) == (0.9, 6)
    assert [panel.name for panel in display.panels] == [panel.name for panel in plain.panels]
    for panel in display.panels:
        band = panel.band
        assert len(band.low) == len(panel.values) + 1
        assert (band.simultaneous_low[1:] <= band.low[1:]).all()
        assert (band.low[1:] <= panel.values).all() and (panel.values <= band.high[1:]).all()
        assert panel.auc == panel_of(plain, panel.name).auc
    bent = panel_of(display, "bent")
    assert np.ptp(bent.values) == pytest.approx(np.ptp(panel_of(plain, "bent").values), abs=1e-6)
    assert bent.band.low[0] <= bent.missing <= bent.band.high[0]


def test_the_legend_says_what_the_bands_are(fitted):
    ranker, X, y = fitted
    display = ScorePlotDisplay.from_estimator(ranker, X, y, n_resamples=5)
    texts = [text.get_text() for text in display.figure_.legends[0].get_texts()]
    assert "95 % pointwise, 5 bootstrap refits" in texts
    assert "95 % simultaneous" in texts
    assert "rows of class bad" in texts
    labels = [label.get_text() for label in display.axes_[0].get_xticklabels()]
    titles = [axis.get_title(loc="left") for axis in display.axes_]
    assert titles == [panel.name for panel in display.panels]
    assert ("missing" in labels) == (titles[0] == "bent")
    display.figure_.canvas.draw()


def test_plot_draws_on_the_axes_it_is_given(fitted):
    ranker, X, y = fitted
    display = ScorePlotDisplay.from_model(ranker.model_, X, y)
    figure, ax = plt.subplots()
    assert display.plot(ax=ax) is display
    assert display.ax_ is ax and display.figure_ is figure
    assert len(display.axes_) == 3
    _, axes = plt.subplots(2, 2)
    assert display.plot(ax=axes).axes_[1] is axes[0, 1]
    one = ScorePlotDisplay.from_model(ranker.model_, X, y, features="bent")
    _, ax = plt.subplots()
    assert one.plot(ax=ax).axes_[0] is ax
    with pytest.raises(ValueError, match="ax has 1 axes for 3 panels"):
        display.plot(ax=[ax])
    outside = plt.figure().add_axes((0.1, 0.1, 0.8, 0.8))
    with pytest.raises(ValueError, match="one axes outside a grid; give 3"):
        display.plot(ax=outside)


def test_features_are_chosen_by_name_or_position(fitted):
    ranker, X, y = fitted
    display = ScorePlotDisplay.from_model(ranker.model_, X, y, features=["same", 0])
    assert [panel.name for panel in display.panels] == ["bent", "same"]
    display.plot()
    most = ScorePlotDisplay.from_model(ranker.model_, X, y, max_panels=1)
    assert len(most.panels) == 1 and most.n_left_out == 3
    assert most.plot().figure_.legends[0].get_title().get_text() == "3 more features not drawn"


def test_the_x_axis_holds_the_central_values():
    rng = np.random.default_rng(1)
    X = rng.standard_cauchy(size=(1000, 1))
    y = X[:, 0] + rng.normal(size=1000) > 0
    ranker = SmoothAUCBoost(tol=1e-4).fit(X, y)
    panel = ScorePlotDisplay.from_model(ranker.model_, X, y).panels[0]
    low, high = panel.limits
    x = X[:, 0]
    inside = (x >= low) & (x <= high)
    assert panel.n_outside == (~inside).sum() <= 10
    assert panel.strip.edges is not None  # too many rows for a rug
    assert panel.strip.pos.sum() == pytest.approx(inside[y].mean())
    display = ScorePlotDisplay.from_model(ranker.model_, X, y).plot()
    assert f"{panel.n_outside} rows lie further out" == display.ax_.get_xlabel()
    whole = ScorePlotDisplay.from_model(ranker.model_, X, y, central=1.0).panels[0]
    assert whole.n_outside == 0 and whole.limits == (X.min(), X.max())


def test_few_rows_are_a_rug_and_few_values_are_bars(fitted):
    ranker, X, y = fitted
    display = ScorePlotDisplay.from_model(ranker.model_, X, y)
    rug = panel_of(display, "bent").strip
    assert rug.edges is None
    assert len(rug.neg) + len(rug.pos) == X["bent"].notna().sum()
    for name in ("count", "kind"):
        strip = panel_of(display, name).strip
        assert len(strip.edges) == len(strip.neg) + 1
        assert strip.pos.sum() == strip.neg.sum() == pytest.approx(1.0)


def test_a_model_without_rows_starts_at_zero(fitted):
    display = ScorePlotDisplay.from_model(fitted[0].model_)
    for panel in display.panels:
        assert panel.values.min() == 0.0 and np.isnan(panel.auc)
        assert panel.missing is None and panel.strip is None
    ranges = [np.ptp(panel.values) for panel in display.panels]
    assert ranges == sorted(ranges, reverse=True)
    display.plot(share_y=False)
    assert display.ax_.get_ylabel().endswith("(0: lowest)")


def test_weights_are_copies_of_rows(fitted):
    ranker, X, y = fitted
    weight = np.arange(len(y)) % 3
    copies = np.repeat(np.arange(len(y)), weight)
    by_weight = ScorePlotDisplay.from_model(ranker.model_, X, y, sample_weight=weight)
    by_copies = ScorePlotDisplay.from_model(ranker.model_, X.iloc[copies], y[copies])
    for a, b in zip(by_weight.panels, by_copies.panels, strict=True):
        assert a.name == b.name and a.auc == pytest.approx(b.auc)
        assert np.allclose(a.values, b.values) and a.limits == b.limits


def test_surfaces_are_heat_maps(fitted):
    ranker, X, y = fitted
    model = ranker.model_
    axes = number_feature("bent", np.array([0.5, 1.0])), model.features[2]
    values = np.arange(16.0).reshape(4, 4)
    model = replace(model, surfaces=(Surface((0, 2), axes, values),))
    display = ScorePlotDisplay.from_model(model, X, y)
    panel = panel_of(display, "bent x kind")
    surface = model.contributions(X)[:, -1]
    assert panel.auc == auc(y, surface, pos_label="bad")
    mean = np.mean([surface[y == label].mean() for label in ("bad", "good")])
    assert np.allclose(panel.values, values[1:, 1:].T - mean)
    assert panel.y_categories == ("a", "b", "c") and len(panel.x_edges) == 4
    display.plot().figure_.canvas.draw()
    bare = ScorePlotDisplay.from_model(model)
    assert np.array_equal(panel_of(bare, "bent x kind").values, values[1:, 1:].T)
    bare.plot()


def test_other_additive_models_without_bands(fitted):
    _, X, y = fitted
    other = AUCBoost(n_estimators=5).fit(X, y)
    display = ScorePlotDisplay.from_estimator(other, X, y, band=None)
    assert display.n_resamples == 0 and display.panels[0].band is None
    with pytest.raises(ValueError, match="AUCBoost has no bands"):
        ScorePlotDisplay.from_estimator(other, X, y)
    with pytest.raises(ValueError, match="TreeRank holds no additive model"):
        ScorePlotDisplay.from_estimator(TreeRank().fit(X, y), X, y)


def test_bands_need_the_rows_of_the_fit(fitted):
    ranker, X, y = fitted
    with pytest.raises(ValueError, match="not the estimator's own fit"):
        ScorePlotDisplay.from_estimator(ranker, X[:80], y[:80], n_resamples=2)


def test_early_stopping_has_bands():
    X, y = rows()
    ranker = SmoothAUCBoost(early_stopping=True, random_state=1, tol=1e-4).fit(X, y)
    display = ScorePlotDisplay.from_estimator(ranker, X, y, n_resamples=3)
    assert display.panels[0].band is not None


def test_constants_and_columns_without_a_value():
    X = np.column_stack([np.ones(40), np.full(40, np.nan), np.arange(40.0)])
    ranker = SmoothAUCBoost().fit(X[:, :2], [0, 1] * 20)
    display = ScorePlotDisplay.from_estimator(ranker, X[:, :2], [0, 1] * 20, n_resamples=2)
    assert len(display.panels) == 1
    shown = ScorePlotDisplay.from_model(ranker.model_, X[:, :2], [0, 1] * 20, features=[0, 1])
    shown.plot().figure_.canvas.draw()


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ({"features": ["no"]}, "features has 'no'; the model has bent, count"),
        ({"features": [9]}, "features has 9"),
        ({"central": 0.0}, "central is 0.0; give a share above 0"),
        ({"max_panels": 0}, "max_panels is 0"),
        ({"band": "normal"}, "band is 'normal'; give 'bootstrap' or None"),
    ],
)
def test_requests_are_checked(fitted, told, words):
    ranker, X, y = fitted
    with pytest.raises(ValueError, match=words):
        ScorePlotDisplay.from_estimator(ranker, X, y, **{"band": None, **told})


def test_rows_need_labels(fitted):
    ranker, X, y = fitted
    with pytest.raises(ValueError, match="give both X and y, or neither"):
        ScorePlotDisplay.from_model(ranker.model_, X)
    with pytest.raises(ValueError, match="X has 150 rows and y has 149"):
        ScorePlotDisplay.from_model(ranker.model_, X, y[1:])
