"""Score plots: their numbers, and that they can be drawn."""

from dataclasses import replace

import matplotlib
import numpy as np
import pandas as pd
import pytest

from auctor import AUCBoost, SmoothAUCBoost, TreeRank
from auctor.data import category_feature, number_feature
from auctor.display import ScorePlotDisplay
from auctor.metrics import auc
from auctor.models import Surface, from_json

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
    order = np.argsort(-ranker.feature_importances_, kind="stable")[:3]
    names = [X.columns[j] for j in order]
    assert [panel.name for panel in display.panels] == names
    areas = [auc(y, parts[name], pos_label="bad") for name in names]
    assert [panel.auc for panel in display.panels] == areas
    assert display.n_left_out == 1  # the constant
    bent, part = panel_of(display, "bent"), parts["bent"]
    known = X["bent"].notna().to_numpy()
    mean = (part[y == "bad"].mean() + part[y == "good"].mean()) / 2
    code = np.searchsorted(bent.edges[1:-1], X["bent"][known])
    assert np.allclose(bent.values[code], part[known] - mean)
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
    assert "95 % pointwise, 5 bootstrap samples" in texts
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
    with pytest.raises(ValueError, match="not part of a subplot grid; give 3"):
        display.plot(ax=outside)


def test_features_are_chosen_by_name_or_position(fitted):
    ranker, X, y = fitted
    display = ScorePlotDisplay.from_model(ranker.model_, X, y, features=["same", 0])
    assert [panel.name for panel in display.panels] == ["same", "bent"]  # the order given
    assert display.n_left_out == 0
    display.plot()
    one = ScorePlotDisplay.from_model(ranker.model_, X, y, features=np.int64(1))
    assert [panel.name for panel in one.panels] == ["count"]
    most = ScorePlotDisplay.from_model(ranker.model_, X, y, max_panels=1)
    assert len(most.panels) == 1 and most.n_left_out == 3
    assert most.plot().figure_.legends[0].get_title().get_text() == "3 more features not drawn"
    usual = ScorePlotDisplay.from_model(ranker.model_, X, y).plot()
    assert usual.figure_.legends[0].get_title().get_text() == "1 more feature not drawn"


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
    assert f"{panel.n_outside} rows outside the axis" == display.ax_.get_xlabel()
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
        assert min(panel.values.min(), panel.missing) == 0.0 and np.isnan(panel.auc)
        assert panel.strip is None
    ranges = [panel.range for panel in display.panels]
    assert ranges == sorted(ranges, reverse=True)
    display.plot(share_y=False)
    assert display.ax_.get_ylabel().endswith("(0: minimum)")


def test_weights_are_copies_of_rows(fitted):
    ranker, X, y = fitted
    weight = np.arange(len(y)) % 3
    copies = np.repeat(np.arange(len(y)), weight)
    by_weight = ScorePlotDisplay.from_model(ranker.model_, X, y, sample_weight=weight)
    by_copies = ScorePlotDisplay.from_model(ranker.model_, X.iloc[copies], y[copies])
    for a, b in zip(by_weight.panels, by_copies.panels, strict=True):
        assert a.name == b.name and a.auc == pytest.approx(b.auc)
        assert np.allclose(a.values, b.values) and a.limits == b.limits


def with_surface(model, values=None, times=1):
    """Bent by kind, where kind "c" is among the others."""
    axes = number_feature("bent", np.array([0.5, 1.0])), category_feature("kind", ("a", "b"))
    values = np.arange(12.0).reshape(4, 3) if values is None else values
    return replace(model, surfaces=(Surface((0, 2), axes, values),) * times, reference=None)


def test_surfaces_are_heat_maps(fitted):
    ranker, X, y = fitted
    model = with_surface(ranker.model_)
    values = model.surfaces[0].values
    display = ScorePlotDisplay.from_model(model, X, y)
    panel = panel_of(display, "bent x kind")
    surface = model.contributions(X)[:, -1]
    assert panel.auc == auc(y, surface, pos_label="bad")
    mean = np.mean([surface[y == label].mean() for label in ("bad", "good")])
    assert np.allclose(panel.values, values.T - mean)
    assert (panel.x.rest, panel.y.rest) == ("missing", "other")
    assert panel.x.cuts.tolist() == [0.5, 1.0] and panel.y.categories == ("a", "b")
    axis = display.plot().axes_[[panel.name for panel in display.panels].index("bent x kind")]
    display.figure_.canvas.draw()
    assert [label.get_text() for label in axis.get_xticklabels()] == ["missing", "0.5", "1"]
    assert axis.get_xticks().tolist() == [-0.5, 1.0, 2.0]  # all groups are equally wide
    assert [label.get_text() for label in axis.get_yticklabels()] == ["other", "a", "b"]


def test_a_heat_map_has_no_strip_where_no_row_is(fitted):
    ranker, X, y = fitted
    model = with_surface(ranker.model_)
    there = (X["bent"].notna() & (X["kind"] != "c")).to_numpy()
    display = ScorePlotDisplay.from_model(model, X[there], y[there], features="bent x kind")
    panel = display.panels[0]
    assert (panel.x.rest, panel.y.rest) == ("", "")
    assert panel.values.shape == (2, 3)
    display.plot().figure_.canvas.draw()


def test_heat_maps_without_rows(fitted):
    model = with_surface(fitted[0].model_)
    panel = ScorePlotDisplay.from_model(model, features=[4]).panels[0]
    assert np.array_equal(panel.values, model.surfaces[0].values.T)
    assert (panel.x.rest, panel.y.rest) == ("missing", "missing, other")
    inner = np.zeros((4, 3))
    inner[1:, 1:] = 1.0
    bare = ScorePlotDisplay.from_model(with_surface(fitted[0].model_, inner), features=[4])
    assert bare.panels[0].values.shape == (2, 3)
    ScorePlotDisplay.from_model(model).plot().figure_.canvas.draw()


def test_surfaces_share_their_colours_and_have_names_of_their_own(fitted):
    ranker, X, y = fitted
    model = with_surface(ranker.model_, times=2)
    small = Surface((0, 2), model.surfaces[0].axes, 0.1 * model.surfaces[0].values)
    model = replace(model, surfaces=(model.surfaces[0], small), reference=None)
    names = ["bent x kind (2)", "bent x kind", "count"]
    display = ScorePlotDisplay.from_model(model, X, y, features=names)
    assert [panel.name for panel in display.panels] == names

    def tops():
        return [axis.collections[0].norm.vmax for axis in display.axes_[:2]]

    display.plot()
    assert tops()[0] == tops()[1] == np.abs(display.panels[1].values).max()
    # The row begins with heat maps: the first F_k has the scale.
    assert display.axes_[2].get_ylabel().startswith("score")
    assert display.axes_[2].yaxis.get_tick_params()["labelleft"]
    display.plot(share_y=False)
    assert tops()[0] == pytest.approx(0.1 * tops()[1])


def test_left_out_surfaces_are_terms(fitted):
    ranker, X, y = fitted
    model = with_surface(ranker.model_, np.zeros((4, 3)))
    display = ScorePlotDisplay.from_model(model, X, y).plot()
    assert [panel.name for panel in display.left_out] == ["same", "bent x kind"]
    assert display.figure_.legends[0].get_title().get_text() == "2 more terms not drawn"


@pytest.mark.parametrize("kind", ["number", "category"])
def test_a_feature_that_acts_only_by_being_missing_is_drawn(kind):
    rng = np.random.default_rng(2)
    y = rng.random(200) < 0.5
    there = rng.random(200) < np.where(y, 0.8, 0.2)
    value, none = (1.0, np.nan) if kind == "number" else ("there", None)
    X = pd.DataFrame({"seen": np.where(there, value, none), "noise": rng.normal(size=200)})
    model = SmoothAUCBoost(tol=1e-5).fit(X, y).model_
    display = ScorePlotDisplay.from_model(model, X, y).plot()
    assert display.panels[0].name == "seen" and not display.panels[0].is_flat
    for panel in (display.panels[0], ScorePlotDisplay.from_model(model).panels[0]):
        assert panel.name == "seen"
        assert panel.values[0] - panel.missing == pytest.approx(panel.range)
    display.figure_.canvas.draw()


def test_ticks_are_values_that_occur():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.integers(0, 2, 300), rng.integers(0, 60, 300), rng.normal(size=300)])
    y = X.sum(axis=1) + 20 * rng.normal(size=300) > 30
    model = SmoothAUCBoost(tol=1e-4).fit(X, y).model_
    display = ScorePlotDisplay.from_model(model, X, y, features=[0, 1, 2]).plot()
    flag, whole, number = display.panels
    assert flag.ticks.tolist() == [0, 1] == display.axes_[0].get_xticks().tolist()
    assert flag.is_whole and whole.is_whole and not number.is_whole
    assert whole.ticks is None
    ticks = display.axes_[1].get_xticks()
    assert len(ticks) > 2 and (ticks == np.rint(ticks)).all()


def test_small_axes_drop_the_area(fitted):
    ranker, X, y = fitted
    _, ax = plt.subplots(figsize=(3, 2))
    display = ScorePlotDisplay.from_model(ranker.model_, X, y).plot(ax=ax)
    assert [axis.get_title(loc="right") for axis in display.axes_] == [""] * 3
    assert display.plot().axes_[0].get_title(loc="right").startswith("AUC")


def test_other_additive_models_without_bands(fitted):
    _, X, y = fitted
    other = AUCBoost(n_estimators=5).fit(X, y)
    display = ScorePlotDisplay.from_estimator(other, X, y)
    assert display.n_resamples == 0 and display.panels[0].band is None
    with pytest.raises(ValueError, match=r"type AUCBoost, and only .* has bands; give band=None"):
        ScorePlotDisplay.from_estimator(other, X, y, band="one-step")
    with pytest.raises(ValueError, match="TreeRank has no additive model"):
        ScorePlotDisplay.from_estimator(TreeRank().fit(X, y), X, y)


def test_a_loaded_model_is_drawn_at_once(fitted):
    ranker, X, y = fitted
    model = from_json(ranker.model_.to_json())
    display = ScorePlotDisplay.from_estimator(model, X, y)
    assert display.n_resamples == 0
    drawn = ScorePlotDisplay.from_estimator(ranker, X, y, n_resamples=5)
    assert drawn.n_resamples == 5
    assert [p.name for p in display.panels] == [p.name for p in drawn.panels]


def test_bands_need_the_rows_of_the_fit(fitted):
    ranker, X, y = fitted
    with pytest.raises(ValueError, match="does not reproduce the model of the estimator"):
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
    ("options", "words"),
    [
        ({"features": ["no"]}, "features has 'no'; give terms of the model: bent, count"),
        ({"features": [9]}, "features has 9; give names, or positions from 0 to 3"),
        ({"features": [-1]}, "features has -1"),
        ({"features": [True]}, "features has True"),
        ({"features": [None]}, "features has None"),
        ({"features": ["bent", 0]}, "features has 'bent' twice"),
        ({"features": []}, "features is empty"),
        ({"features": 1.5}, "features is 1.5; give a list of names or positions"),
        ({"features": b"bent"}, "give a list of names or positions"),
        ({"central": 0.0}, "central is 0.0; give a number above 0 and at most 1"),
        ({"central": "all"}, "central is 'all'; give a number above 0 and at most 1"),
        ({"max_panels": 0}, "max_panels is 0"),
        ({"max_panels": "all"}, "max_panels is 'all'; give a whole number"),
        ({"max_panels": None}, "max_panels is None"),
        ({"band": "one-step", "level": "high"}, "level is 'high'; give a number between"),
        ({"band": "one-step", "level": 95}, "level is 95; give a number between"),
        ({"band": "one-step", "n_resamples": True}, "n_resamples is True"),
        ({"band": "one-step", "random_state": "x"}, "random_state is 'x'; give a whole number"),
        ({"band": "one-step", "random_state": -1}, "random_state is -1"),
        ({"band": "normal"}, "band is 'normal'; give 'auto', 'one-step', 'refit' or None"),
    ],
)
def test_requests_are_checked(fitted, options, words):
    ranker, X, y = fitted
    with pytest.raises(ValueError, match=words):
        ScorePlotDisplay.from_estimator(ranker, X, y, **{"band": None, **options})


def test_columns_of_panels_are_counted(fitted):
    display = ScorePlotDisplay.from_model(fitted[0].model_)
    for wrong in (0, 1.5, None):
        with pytest.raises(ValueError, match=f"n_columns is {wrong}; give a whole number"):
            display.plot(n_columns=wrong)


def test_rows_need_labels(fitted):
    ranker, X, y = fitted
    with pytest.raises(ValueError, match="only one of X and y is given; give both or neither"):
        ScorePlotDisplay.from_model(ranker.model_, X)
    with pytest.raises(ValueError, match="X has 150 rows and y has 149"):
        ScorePlotDisplay.from_model(ranker.model_, X, y[1:])
    with pytest.raises(ValueError, match="sample_weight is given without X and y"):
        ScorePlotDisplay.from_model(ranker.model_, sample_weight=np.ones(150))
    with pytest.raises(ValueError, match="only one of X and y is given; give both or neither"):
        ScorePlotDisplay.from_estimator(ranker, None, y, band=None)
