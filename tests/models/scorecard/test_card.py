"""A card's points are those of its model; rounding and merging change them as stated."""

import math
from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from models.scorecard.cards import FORMULA, MODELS, NAMES, SCRIPT, additive, every_row, tables
from models.scorecard.cards import linear as linear_model
from pytest import approx
from scipy.sparse import csr_array

from auctor import RankBoost, TreeRank
from auctor.metrics import auc
from auctor.models import PointScale, PointsPerUnit, make_record


def as_table(columns):
    kinds = {NAMES[0]: pa.float64(), NAMES[1]: pa.float64(), NAMES[2]: pa.string()}
    return pa.table({name: pa.array(columns[name], kinds[name]) for name in NAMES})


def exact_points(model, X, scale):
    """The points by the definition: base score at the base odds, pdo to double them."""
    log_odds = model.calibration.slope * model.decision_function(X) + model.calibration.offset
    odds = scale.sign * log_odds - math.log(scale.odds)
    return scale.base_score + scale.pdo / math.log(2) * odds


@cache
def unrounded_card(form, direction, zero):
    model = replace(MODELS[form], missing_codes={"age": (-9.0,)})
    scale = {"pdo": 37, "odds": 19, "base_score": 480, "direction": direction}
    return model, model.to_scorecard(**scale, digits=None, zero=zero)


@pytest.mark.parametrize("form", MODELS)
@pytest.mark.parametrize("direction", ["lower_risk", "higher_risk"])
@settings(max_examples=10, deadline=None)
@given(columns=tables)
def test_unrounded_points_are_affine_in_the_score(form, direction, columns):
    X = as_table(columns)
    for zero in ("lowest", "average"):
        model, card = unrounded_card(form, direction, zero)
        assert card.score(X) == approx(exact_points(model, X, card.scale), rel=1e-9, abs=1e-9)
        # The linear model has no known range of its numbers, so that nothing is claimed.
        known = card.quality.largest_change
        assert known is None or known == approx(0, abs=1e-9)


ROUNDED = [
    (options, MODELS["additive"].to_scorecard(**options))
    for options in ({}, {"digits": 1}, {"max_bins": 2}, {"zero": "average"})
]


@settings(max_examples=15, deadline=None)
@given(columns=tables)
def test_rounding_changes_no_more_than_stated(columns):
    X = as_table(columns)
    for options, card in ROUNDED:
        change = np.abs(card.score(X) - exact_points(MODELS["additive"], X, card.scale))
        assert change.max() <= card.quality.largest_change + 1e-9
        if "max_bins" not in options:
            n_terms = len(card.terms) + 1  # each differs by less than 1 between its bins
            assert card.quality.largest_change <= n_terms / 10**card.digits


@pytest.mark.parametrize("max_bins", [None, 2])
def test_the_stated_change_is_reached_by_some_row(max_bins):
    # Without the surface, all combinations of bins occur.
    model, X = additive(surfaces=()), as_table(every_row())
    card = model.to_scorecard(max_bins=max_bins)
    change = np.abs(card.score(X) - exact_points(model, X, card.scale))
    assert change.max() == approx(card.quality.largest_change, abs=1e-9)


def test_doubling_the_odds_adds_pdo_points():
    scale = PointScale(pdo=25, odds=30, base_score=500)
    odds = np.array([30, 60, 120, 15])
    points = 500 + 25 * np.log2(odds / 30)
    assert scale.probability(points) == approx(1 / (1 + odds))
    risk = replace(scale, direction="higher_risk")
    assert risk.probability(points) == approx(odds / (1 + odds))
    assert scale.probability([-1e9, 1e9]).tolist() == [1.0, 0.0]


def test_points_are_whole_and_start_at_zero():
    card = additive().to_scorecard()
    for term in card.terms:
        assert (term.points == np.rint(term.points)).all() and term.low == 0
    assert card.base_points == card.range[0] == round(card.base_points)
    X = as_table(every_row())
    assert (card.score(X) == card.base_points + card.points(X).sum(axis=1)).all()


def test_decimals_add_up_exactly():
    card = additive().to_scorecard(digits=3)
    points = card.score(as_table(every_row()))
    assert all(float(f"{own:.3f}") == own for own in points.tolist())


def test_the_sum_of_decimals_is_the_nearest_number():
    card = additive(surfaces=()).to_scorecard(digits=2)
    # 100 * 0.57 is 56.99999999999999 in floating point.
    terms = tuple(replace(own, points=np.full(own.points.shape, 0.57)) for own in card.terms)
    points = replace(card, base_points=0.0, terms=terms).score(as_table(every_row()))
    assert len(terms) == 3 and set(points.tolist()) == {1.71}


def test_rows_in_the_same_order_as_by_the_model():
    model, X = additive(surfaces=()), as_table(every_row())
    card, scores = model.to_scorecard(digits=2), model.decision_function(X)
    gaps = 2 * card.quality.largest_change / (card.scale.factor * model.calibration.slope)
    higher = scores[:, None] > scores[None, :] + gaps
    points = card.score(X)
    assert (points[:, None] < points[None, :])[higher].all() and higher.mean() > 0.4


def test_unknown_categories_missing_values_and_codes_have_one_bin():
    model = replace(additive(), missing_codes={"age": (-9.0,)})
    card = model.to_scorecard(max_bins=2)
    X = as_table(
        {NAMES[0]: [None, -9.0, 5.0], NAMES[1]: [1.0] * 3, NAMES[2]: ["unseen", None, "b"]}
    )
    points = card.points(X)
    assert (points[0] == points[1]).all() and (points[0] != points[2]).any()


@pytest.mark.parametrize("options", [{}, {"max_bins": 2}, {"zero": "average"}, {"digits": 1}])
def test_base_points_make_up_for_the_average_error(options):
    X = as_table(every_row())
    weight = np.arange(X.num_rows) % 5 + 0.5
    card = additive().to_scorecard(X=X, sample_weight=weight, **options)
    change = card.score(X) - exact_points(additive(), X, card.scale)
    assert abs(np.average(change, weights=weight)) <= 0.5 / 10**card.digits + 1e-9


def test_tables_of_any_kind():
    X, y = np.arange(24.0).reshape(8, 3) % 7, [0, 1, 0, 1, 1, 0, 0, 1]
    card = RankBoost(n_estimators=3).fit(X, y).model_.to_scorecard(X=X, y=y)
    for other in (
        X.tolist(),
        X.astype(np.float32),
        csr_array(X),
        pl.DataFrame(X, schema=["a", "b", "c"]),
    ):
        assert (card.score(other) == card.score(X)).all()


def test_a_card_needs_the_columns_of_its_terms_only():
    steps = (*additive().steps[:1], np.zeros(3), *additive().steps[2:])
    card = additive(steps=steps).to_scorecard()
    X = as_table(every_row())
    assert card.used_features == (NAMES[0], NAMES[2])
    assert (card.score(X.drop_columns(NAMES[1])) == card.score(X)).all()
    with pytest.raises(ValueError, match="lacks 1 column that the model needs: 'age'"):
        card.score(X.drop_columns("age"))


def test_a_table_without_names_goes_by_order():
    X, y = np.arange(24.0).reshape(8, 3) % 7, [0, 1, 0, 1, 1, 0, 0, 1]
    card = RankBoost(n_estimators=3).fit(X, y).model_.to_scorecard()
    assert len(card.terms) < 3
    frame = pd.DataFrame(X, columns=["x0", "x1", "x2"])
    assert (card.score(X) == card.score(frame)).all()
    assert (card.score(X) == card.score(frame.rename(columns=lambda name: f"my {name}"))).all()


@pytest.mark.parametrize("form", MODELS)
def test_rows_give_fractions_rates_and_auc(form):
    model, X = MODELS[form], as_table(every_row())
    y = np.where(np.arange(X.num_rows) % 3 == 0, "bad", "good")
    weight = np.arange(X.num_rows) % 4
    X = X.set_column(0, "age", pa.array([v if v != 1e301 else 60.0 for v in X["age"].to_pylist()]))
    card = model.to_scorecard(X=X, y=y, sample_weight=weight, max_bins=3)
    assert card.quality.auc_card == auc(y, -card.score(X), sample_weight=weight, pos_label="bad")
    assert card.quality.auc_model == model.score(X, y, sample_weight=weight)
    assert card.quality.n_pos + card.quality.n_neg == np.count_nonzero(weight)
    for k, term in enumerate(card.terms):
        assert term.fraction.sum() == approx(1) and (term.points.shape == term.rate.shape)
        assert np.average(card.points(X)[:, k], weights=weight) == approx(term.average)
        rate = np.nansum(term.rate * term.fraction)
        assert rate == approx(weight[y == "bad"].sum() / weight.sum())
        assert all(size - 1 <= 3 for size in term.points.shape)


def test_short_cuts_keep_the_points_of_the_given_rows():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.integers(18, 80, 300), "b": rng.normal(0, 1, 300).round(3)})
    y = rng.random(300) < 1 / (1 + np.exp(-X["a"] / 20 - X["b"] + 2))
    model = RankBoost(n_estimators=40).fit(X, y).model_
    exact = model.to_scorecard(X=X, max_bins=4)
    short = model.to_scorecard(X=X, max_bins=4, cuts="short")
    assert (short.score(X) == exact.score(X)).all()
    texts = [term.axes[0].texts() for term in short.terms]
    assert max(len(text) for text in texts[0][1:]) <= len("[25, 40)")
    assert max(len(text) for text in texts[1][1:]) <= len("[-0.123, 0.123)")
    with pytest.raises(ValueError, match="cuts is 'short', which needs rows"):
        model.to_scorecard(cuts="short")


def test_a_training_record_weighs_the_bins():
    X = pd.DataFrame({"a": np.r_[np.zeros(5), np.arange(1.0, 96)], "b": ["x", "y"] * 50})
    y = np.arange(100) % 3 == 0
    model = RankBoost(n_estimators=30).fit(X, y).model_
    with_record = replace(model, training=make_record(model, X, y))
    ours = with_record.to_scorecard(max_bins=3)
    given = model.to_scorecard(max_bins=3, X=X)
    assert all(term.fraction is None for term in ours.terms)
    # The record has 20 bins: the card is about that of the rows.
    assert np.abs(ours.score(X) - given.score(X)).max() < 0.2 * np.ptp(given.score(X))
    assert ours.quality.auc_card is None and ours.quality.largest_change > 0


class TestLinear:
    def test_points_for_each_unit(self):
        card = linear_model().to_scorecard()
        age = card.terms[0]
        assert isinstance(age, PointsPerUnit) and age.range is None
        assert age.per_unit == approx(-20 / math.log(2) * 1.7 * 0.031, rel=1e-5)
        X = as_table({NAMES[0]: [30.0, None], NAMES[1]: [0.0, 0.0], NAMES[2]: ["b", "b"]})
        assert card.points(X)[:, 0].tolist() == [round(30 * age.per_unit), age.missing]
        assert card.quality.largest_change is None  # the range is not known
        with pytest.raises(ValueError, match=r"range of 'age'.* is not known; give 'average'"):
            card.reasons(X)

    def test_stated_change_within_the_range(self):
        model, rng = linear_model(), np.random.default_rng(0)
        columns = {NAMES[0]: rng.uniform(18, 90, 200), NAMES[1]: rng.normal(0, 3, 200)}
        X = as_table({**columns, NAMES[2]: ["b", "", "@sum", None] * 50})
        for max_bins in (None, 4):
            card = model.to_scorecard(X=X, max_bins=max_bins)
            change = np.abs(card.score(X) - exact_points(model, X, card.scale))
            assert 0.3 * card.quality.largest_change < change.max()
            assert change.max() <= card.quality.largest_change + 1e-9
        assert [len(term.points) - 1 for term in card.terms] == [4, 4, 3]

    def test_bins_need_values(self):
        with pytest.raises(ValueError, match=r"max_bins is 5, .*'age'.*; give rows \(X\)"):
            linear_model().to_scorecard(max_bins=5)


class TestReasons:
    X = as_table({NAMES[0]: [-3.0, 35.0], NAMES[1]: [0.0, 2.0], NAMES[2]: ["@sum", "unseen"]})

    def test_costs_against_the_best_bin(self):
        card = additive(surfaces=()).to_scorecard()
        lost, points = card.points_lost(self.X), card.points(self.X)
        highs = [term.high for term in card.terms]
        assert (lost == np.array(highs) - points).all() and (lost >= 0).all()
        first, second, third, fourth = card.reasons(self.X, n=4)
        assert first[1] == f"age=35 (-{lost[1, 0]:.0f})" and fourth == ["", ""]
        assert second[1].startswith(SCRIPT) and third[1] == ""
        # The first row has the best age, the second is unknown, and so the best town.
        assert "age" not in first[0] + second[0] + third[0]

    def test_costs_against_the_average(self):
        card = additive(surfaces=()).to_scorecard(X=self.X)
        lost = card.points_lost(self.X, reference="average")
        assert lost.sum(axis=0) == approx(0, abs=1e-9)
        texts = card.reasons(self.X, n=3, reference="average")
        assert [sum(bool(own[k]) for own in texts) for k in (0, 1)] == [1, 2]

    def test_more_points_are_the_reason_of_a_higher_risk(self):
        card = additive(surfaces=()).to_scorecard(direction="higher_risk")
        assert card.reasons(self.X, n=1)[0][1].startswith("age=35 (+")

    def test_pairs_are_reasons(self):
        reasons = additive().to_scorecard().reasons(self.X, n=4)
        assert any(f" x {FORMULA}=" in text for texts in reasons for text in texts)

    def test_wrong_reference(self):
        with pytest.raises(ValueError, match="reference is 'worst'; give 'best' or 'average'"):
            additive().to_scorecard().reasons(self.X, reference="worst")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"pdo": 0}, "pdo is 0; give a finite number above 0"),
        ({"odds": -1}, "odds is -1; give"),
        ({"base_score": math.inf}, "base_score is inf"),
        ({"direction": "up"}, "direction is 'up'; give 'lower_risk' or 'higher_risk'"),
        ({"digits": 10}, "digits is 10; give a whole number from 0 to 9"),
        ({"digits": True}, "digits is True"),
        ({"max_bins": 0}, "max_bins is 0; give"),
        ({"zero": "mean"}, "zero is 'mean'; give"),
        ({"y": [1]}, "y is given without X"),
        ({"sample_weight": [1]}, "sample_weight is given without X"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(ValueError, match=message):
        additive().to_scorecard(**options)


def test_a_model_with_trees_has_no_card():
    X, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
    with pytest.raises(ValueError, match="contains a tree, which has no table of points"):
        TreeRank().fit(X, y).model_.to_scorecard()


def test_a_constant_model_has_base_points_only():
    steps = tuple(np.zeros_like(own) for own in additive().steps)
    card = additive(steps=steps, surfaces=()).to_scorecard()
    assert card.terms == () and (card.score(as_table(every_row())) == card.base_points).all()
    assert card.reasons(as_table(every_row()), n=1)[0][0] == ""
