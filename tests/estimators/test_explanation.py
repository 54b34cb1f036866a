"""What a score is made of, for one row and over many."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from auctor import RankBoost, SmoothAUCBoost
from auctor.datasets import load_kyphosis
from auctor.estimators.explanation import shorten
from auctor.metrics import auc, auc_ci


@pytest.fixture(scope="module")
def frame():
    sample = load_kyphosis()
    X = pd.DataFrame(sample.X, columns=list(sample.feature_names))
    X["side"] = pd.Categorical(np.where(np.arange(81) % 3 == 0, "left", "right"))
    X["same"] = 1.0
    X.loc[X.index % 7 == 0, "Age"] = np.nan
    return X, sample.y


@pytest.fixture(scope="module")
def ranker(frame):
    return SmoothAUCBoost().fit(*frame)


def test_contributions_add_up_and_are_in_order(frame, ranker):
    X, _ = frame
    for i in (0, 2, 5):
        explanation = ranker.explain(X.iloc[[i]])
        assert explanation.score == pytest.approx(float(ranker.decision_function(X.iloc[[i]])[0]))
        assert explanation.base + sum(explanation.contributions) == pytest.approx(explanation.score)
        assert (np.diff(np.abs(explanation.contributions)) <= 0).all()
        assert (
            dict(zip(explanation.names, explanation.values, strict=True))["Start"] == X["Start"][i]
        )


def test_the_average_row_is_that_of_the_training_rows(frame, ranker):
    X, _ = frame
    scores = ranker.decision_function(X)
    assert ranker.explain(X.iloc[1]).base == pytest.approx(scores.mean(), abs=1e-9)


def test_any_kind_of_row(frame, ranker):
    X, _ = frame
    usual = ranker.explain(X.iloc[[2]])
    row = X.iloc[2]
    for other in (row, row.to_dict(), pl.DataFrame([row.to_dict()]), pa.table(X.iloc[[2]])):
        assert ranker.explain(other).contributions == usual.contributions
    assert ranker.explain(row).values == usual.values
    turned = dict(reversed(list(row.to_dict().items())))
    assert ranker.explain(turned).names == usual.names


def test_rows_without_names():
    sample = load_kyphosis()
    ranker = SmoothAUCBoost().fit(sample.X, sample.y)
    row = sample.X[4]
    usual = ranker.explain(row)
    for other in (row.tolist(), tuple(row), row[None], [row.tolist()], pd.Series(row)):
        assert ranker.explain(other) == usual
    assert ranker.explain(pl.Series(row)) == usual


def test_missing_values_and_unknown_categories(frame, ranker):
    row = {**frame[0].iloc[2].to_dict(), "Age": None, "side": "middle"}
    explanation = {name: (value, part) for name, value, part in ranker.explain(row)}
    assert explanation["Age"][0] is None
    assert explanation["side"][0] == "middle"
    # no training row lacks a side: an unknown one adds the average of the two classes' averages
    X, y = frame
    parts = ranker.model_.contributions(X)[:, 3]
    both = (parts[y == 1].mean() + parts[y == 0].mean()) / 2
    assert explanation["side"][1] == pytest.approx(both - parts.mean(), abs=1e-8)
    assert "missing" in str(ranker.explain(row))


@pytest.mark.parametrize("none", [pd.NA, pd.NaT, np.nan, np.float64("nan"), np.datetime64("NaT")])
def test_every_kind_of_missing_value(frame, ranker, none):
    row = frame[0].iloc[2].to_dict()
    usual = ranker.explain({**row, "Age": None, "side": None})
    assert ranker.explain({**row, "Age": none, "side": none}) == usual
    assert ranker.explain(pd.Series({**row, "Age": none, "side": none}, dtype=object)) == usual
    sample = load_kyphosis()
    plain = SmoothAUCBoost().fit(sample.X, sample.y)
    assert plain.explain([none, 4.0, 5.0]) == plain.explain([None, 4.0, 5.0])


def test_long_names_keep_both_ends():
    assert shorten("short") == "short" and shorten("a" * 28) == "a" * 28
    names = [f"a_rather_long_feature_name_{k:02d}" for k in range(3)]
    short = [shorten(name, 14) for name in names]
    assert short == ["a_rath...me_00", "a_rath...me_01", "a_rath...me_02"]


def test_it_reads_as_a_table(frame, ranker):
    lines = str(ranker.explain(frame[0].iloc[2])).splitlines()
    assert lines[0].startswith("score +") and "1 is predicted where score >= 0" in lines[0]
    assert lines[1].split() == ["feature", "value", "adds"]
    assert len(lines) == 2 + 5 + 2
    assert lines[0].endswith("compared with the average training row")
    assert lines[-2].startswith("average training row") and lines[-1].startswith("score")


def test_many_rows_are_one_table(frame, ranker):
    X, _ = frame
    explanation = ranker.explain(X)
    assert explanation.contributions.shape == (81, 5) and explanation.names == tuple(X.columns)
    assert (explanation.base + explanation.contributions.sum(axis=1) == explanation.scores).all()
    assert explanation.scores.tolist() == ranker.decision_function(X).tolist()
    for i in (0, 2, 80):
        assert explanation[i] == ranker.explain(X.iloc[[i]])
    assert list(explanation)[-1] == explanation[-1]
    frame_of_parts = pd.DataFrame(explanation.to_dict())
    assert (
        frame_of_parts.shape == (81, 5)
        and frame_of_parts["Start"][4] == explanation.contributions[4, 2]
    )
    with pytest.raises(IndexError, match="there are 81 rows"):
        explanation[81]
    text = str(explanation)
    assert text.startswith("explanations of 81 rows by 5 terms, compared with the average training")
    assert len(text.splitlines()) == 12 and "row 0: score" in text


def test_no_rows_and_columns_that_are_not_there(frame, ranker):
    with pytest.raises(ValueError, match="give a table with rows"):
        ranker.explain(frame[0][:0])
    with pytest.raises(ValueError, match="lacks 1 column"):
        ranker.explain(frame[0].iloc[0].drop("Age"))


def test_reasons_name_what_moves_the_score_most(frame, ranker):
    X, _ = frame
    explanation = ranker.explain(X)
    first, second = explanation.reasons(2)
    for i in (0, 2, 5):
        one = explanation[i]
        for k, reason in enumerate((first[i], second[i])):
            value = "missing" if one.values[k] is None else f"{one.values[k]:g}"
            assert reason == f"{one.names[k]}={value} ({one.contributions[k]:+.3g})"
    assert "Age=missing (" in f"{first[0]}{second[0]}{explanation.reasons(3)[2][0]}"


@pytest.mark.parametrize(("direction", "sign"), [("up", "+"), ("down", "-")])
def test_reasons_of_one_direction(frame, ranker, direction, sign):
    explanation = ranker.explain(frame[0])
    for i, reasons in enumerate(zip(*explanation.reasons(5, direction), strict=True)):
        ours = [
            part for part in explanation[i].contributions if part * (1 if sign == "+" else -1) > 0
        ]
        assert [text for text in reasons if text] == list(reasons[: len(ours)])
        assert all(f" ({sign}" in text for text in reasons[: len(ours)])
    with pytest.raises(ValueError, match="direction is 'over'; give 'both', 'up' or 'down'"):
        explanation.reasons(5, "over")
    with pytest.raises(ValueError, match="n_reasons is 0; give a whole number of at least 1"):
        explanation.reasons(0)


def test_score_table_has_the_intervals_of_the_metrics_and_flat_features_last(frame, ranker):
    X, y = frame
    table = ranker.score_table(X, y, level=0.9)
    parts = dict(zip(X.columns, ranker.model_.contributions(X).T, strict=True))
    assert [row.name for row in table][-1] == "same"
    assert table["same"].auc == table["same"].low == table["same"].high == 0.5
    aucs = [row.auc for row in table][:-1]
    assert aucs == sorted(aucs, reverse=True)
    for row in table:
        assert row.range == np.ptp(parts[row.name])
        if row.range > 0:
            interval = auc_ci(y, parts[row.name], level=0.9)
            assert (row.auc, row.low, row.high) == (interval.value, interval.low, interval.high)
    assert table.total.value == ranker.score(X, y)
    assert len(table) == 5 and table[0] is table[table[0].name]
    with pytest.raises(KeyError):
        table["no such feature"]


def test_a_feature_that_ranks_backwards_stands_before_the_flat_one(frame, ranker):
    X, y = frame
    table = ranker.score_table(X, 1 - y)
    assert table[-1].name == "same"
    assert table[-2].auc < 0.5


def test_score_table_needs_a_label_for_each_row(frame, ranker):
    X, y = frame
    with pytest.raises(ValueError, match="X has 81 rows and y has 60"):
        ranker.score_table(X, y[:60])
    with pytest.raises(ValueError, match="y is of type NoneType; give a one-dimensional array"):
        ranker.score_table(X, None)


def test_score_table_with_weights(frame, ranker):
    X, y = frame
    weight = 1.0 + np.arange(81) % 3
    table = ranker.score_table(X, y, sample_weight=weight)
    start, row = ranker.model_.contributions(X)[:, 2], table["Start"]
    assert row.auc == pytest.approx(auc(y, start, sample_weight=weight))
    interval = auc_ci(y, start, sample_weight=weight)
    assert (row.auc, row.low, row.high) == (interval.value, interval.low, interval.high)
    assert table.total == auc_ci(y, ranker.decision_function(X), sample_weight=weight)


def test_the_table_prints(frame, ranker):
    table = ranker.score_table(*frame)
    lines = str(table).splitlines()
    assert "95% CI" in lines[0]
    assert lines[-2].startswith("all together")
    assert lines[-1] == f"({table.total.method}, 17 positives, 64 negatives)"
    assert table.total.method == "DeLong's variance, Wilson's limits"


def test_text_labels_and_a_positive_label():
    sample = load_kyphosis()
    y = np.where(sample.y == 1, "absent", "present")
    ranker = SmoothAUCBoost(pos_label="absent").fit(sample.X, y)
    assert ranker.score_table(sample.X, y).total.value > 0.8
    assert "'absent' is predicted where score >= 0" in str(ranker.explain(sample.X[0]))


def test_a_wide_explanation_prints_its_largest_terms():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 50))
    y = (X[:, 7] + 0.3 * rng.normal(size=60) > 0).astype(int)
    explanation = RankBoost(n_estimators=60).fit(X, y).explain(X[0])
    lines = str(explanation).splitlines()
    assert "20 more" in str(explanation) and len(explanation) == 50
    assert len(lines) < 40 and lines[2].split()[0] == explanation.names[0]
